//! What the actor thinks aloud: at the start, and where a part of the task is behind it.

use super::belief::HistoryEvent;
use super::knowledge::Habit;
use super::prompt_parser::Goal;
use super::rule_context::RuleContext;
use super::vocabulary::Treatment;

impl RuleContext<'_> {
    /// A thought, where one is due: nothing was thought or done since the last turning point.
    pub(super) fn turning_point_thought(&self) -> Option<String> {
        let goal = self.prompt.goal.as_ref()?;
        let words = match self.belief.last_event {
            HistoryEvent::Start => self.opening_thought(goal),
            HistoryEvent::Took => {
                let held = self.belief.holding()?;
                if !self.is_useful(goal, held.name.kind) {
                    return None;
                }
                format!("I have the {}. {}", held.name, self.announce_next_part(goal))
            }
            HistoryEvent::Treated => {
                let held = self.belief.holding()?;
                let done = match goal.treatment {
                    Some(Treatment::Heat) => "hot",
                    Some(Treatment::Cool) => "cool",
                    Some(Treatment::Clean) => "clean",
                    None => "ready",
                };
                format!("The {} is {done} now. {}", held.name, self.announce_next_part(goal))
            }
            HistoryEvent::Placed => self.after_placing(goal),
            HistoryEvent::Failed => self.failure_thought()?.to_owned(),
            HistoryEvent::UsedLamp | HistoryEvent::Nothing => return None,
        };
        Some(format!("think: {words}"))
    }

    fn opening_thought(&self, goal: &Goal<'_>) -> String {
        let place = self.explore(goal.thing);
        let place = place.as_deref().and_then(|line| line.strip_prefix("go to "));
        let first = place.map_or_else(String::new, |place| format!(" I look at the {place} first."));
        let thing = goal.thing;
        match (goal.treatment, goal.wants_two, goal.under_lamp) {
            (_, _, true) => {
                format!(
                    "I need {} {thing} and a {}. I look for the {thing} first.{first}",
                    article(thing),
                    goal.target
                )
            }
            (Some(what), ..) => {
                let verb = what.verb();
                format!(
                    "I find {} {thing}, {verb} it, and put it in/on the {}.{first}",
                    article(thing),
                    goal.target
                )
            }
            (None, true, _) => {
                format!("I need two of them: {thing}. Both go in/on the {}.{first}", goal.target)
            }
            (None, false, _) => {
                format!("I find {} {thing} and put it in/on the {}.{first}", article(thing), goal.target)
            }
        }
    }

    fn announce_next_part(&self, goal: &Goal<'_>) -> String {
        if goal.under_lamp {
            return format!("Now I need the {}.", goal.target);
        }
        let untreated = |what: &Treatment| !self.belief.holding().is_some_and(|held| held.is_treated(*what));
        match goal.treatment.filter(untreated) {
            Some(what) => format!("Now I {} it.", what.verb()),
            None => format!("Now I put it in/on the {}.", goal.target),
        }
    }

    fn after_placing(&self, goal: &Goal<'_>) -> String {
        let faults = &self.belief.mistakes;
        if goal.wants_two && faults.look_alikes == 0 {
            format!("One {} is there. I need another {}.", goal.thing, goal.thing)
        } else if faults.placed_untreated > 0 || faults.look_alikes > 0 {
            format!("That was not it. I go over the task again: {}.", describe_goal(goal))
        } else {
            "My hands are free. I go on.".to_owned()
        }
    }

    fn failure_thought(&self) -> Option<&'static str> {
        Some(match self.habit_given_up()? {
            Habit::HeatsElsewhere => "None of this heats. What in a kitchen makes food hot?",
            Habit::CoolsElsewhere => "None of this cools. What in a kitchen is cold?",
            Habit::CleansElsewhere => "None of this cleans. Where is water?",
            Habit::ReachesThroughDoors => "It is closed. I open it.",
            Habit::GrabsWithFullHands => "My hands are full. First I get rid of what I hold.",
            Habit::OmitsNumbers => "Maybe I must say which one, with its number.",
            _ => "Maybe I am too far away.",
        })
    }
}

fn describe_goal(goal: &Goal<'_>) -> String {
    let how = match goal.treatment {
        Some(Treatment::Heat) => "hot ",
        Some(Treatment::Cool) => "cool ",
        Some(Treatment::Clean) => "clean ",
        None => "",
    };
    format!("a {how}{} for the {}", goal.thing, goal.target)
}

fn article(thing: &str) -> &'static str {
    if thing.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
