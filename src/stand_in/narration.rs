//! The actor's thoughts: at the start of an episode, when a part of the task is done, and when it gives up a habit.

use super::belief::HistoryEvent;
use super::knowledge::Habit;
use super::prompt_parser::Goal;
use super::rule_context::RuleContext;
use super::vocabulary::Treatment;

impl RuleContext<'_> {
    /// Returns a thought if the last event calls for one.
    pub(super) fn event_thought(&self) -> Option<String> {
        let goal = self.prompt.goal.as_ref()?;
        let words = match self.belief.last_event {
            HistoryEvent::Start => self.opening_thought(goal),
            HistoryEvent::Took => {
                let held = self.belief.holding()?;
                if !self.is_useful(goal, held.name.kind) {
                    return None;
                }
                format!("I have {}. {}", held.name, self.announce_next_part(goal))
            }
            HistoryEvent::Treated => {
                let held = self.belief.holding()?;
                let next = self.announce_next_part(goal);
                match goal.treatment {
                    Some(treatment) => format!("I've {}ed {}. {next}", treatment.verb(), held.name),
                    None => format!("I'm done with {}. {next}", held.name),
                }
            }
            HistoryEvent::Placed => self.after_placing(goal),
            HistoryEvent::Failed => self.failure_thought()?.to_owned(),
            HistoryEvent::UsedLamp | HistoryEvent::Nothing => return None,
        };
        Some(format!("think: {words}"))
    }

    fn opening_thought(&self, goal: &Goal<'_>) -> String {
        let place = self.try_search(goal.thing);
        let place = place.as_deref().and_then(|line| line.strip_prefix("go to "));
        let first = place.map_or_else(String::new, |place| format!(" I'll check {place} first."));
        let thing = goal.thing;
        match (goal.treatment, goal.wants_two, goal.under_lamp) {
            (_, _, true) => {
                format!(
                    "I'll find {} {thing} and look at it under the {}.{first}",
                    article(thing),
                    goal.target
                )
            }
            (Some(treatment), ..) => {
                let verb = treatment.verb();
                format!(
                    "I'll find {} {thing}, {verb} it, and put it in/on the {}.{first}",
                    article(thing),
                    goal.target
                )
            }
            (None, true, _) => {
                format!("I'll find two {} and put both in/on the {}.{first}", plural(thing), goal.target)
            }
            (None, false, _) => {
                format!("I'll find {} {thing} and put it in/on the {}.{first}", article(thing), goal.target)
            }
        }
    }

    fn announce_next_part(&self, goal: &Goal<'_>) -> String {
        if goal.under_lamp {
            return format!("Now I need the {}.", goal.target);
        }
        let untreated =
            |treatment: &Treatment| !self.belief.holding().is_some_and(|held| held.is_treated(*treatment));
        match goal.treatment.filter(untreated) {
            Some(treatment) => format!("Now I'll {} it.", treatment.verb()),
            None => format!("Now I'll put it in/on the {}.", goal.target),
        }
    }

    fn after_placing(&self, goal: &Goal<'_>) -> String {
        let mistakes = &self.belief.mistakes;
        if goal.wants_two && mistakes.wrong_things_handled == 0 {
            format!("One {} is in place. I need another one.", goal.thing)
        } else if mistakes.placed_untreated > 0 || mistakes.wrong_things_handled > 0 {
            format!("That didn't solve the task. It asks for {}.", describe_goal(goal))
        } else {
            "My hands are free again. I'll carry on.".to_owned()
        }
    }

    fn failure_thought(&self) -> Option<&'static str> {
        Some(match self.habit_given_up()? {
            Habit::HeatsElsewhere => "None of these can heat it. What makes food hot in a kitchen?",
            Habit::CoolsElsewhere => "None of these can cool it. What is cold in a kitchen?",
            Habit::CleansElsewhere => "None of these can clean it. Where is there water?",
            Habit::ReachesThroughDoors => "It's closed. I'll open it.",
            Habit::GrabsWithFullHands => "My hands are full. First I'll put down what I'm holding.",
            Habit::OmitsNumbers => "Maybe I need to say which one, by its number.",
            _ => "Maybe I'm too far away.",
        })
    }
}

fn describe_goal(goal: &Goal<'_>) -> String {
    let adjective = match goal.treatment {
        Some(Treatment::Heat) => "hot ",
        Some(Treatment::Cool) => "cool ",
        Some(Treatment::Clean) => "clean ",
        None => "",
    };
    let article = article(if adjective.is_empty() { goal.thing } else { adjective });
    format!("{article} {adjective}{} in/on the {}", goal.thing, goal.target)
}

fn plural(thing: &str) -> String {
    match thing.strip_suffix("fe") {
        Some(stem) => format!("{stem}ves"),
        None if thing.ends_with(['s', 'x', 'o']) || thing.ends_with("ch") || thing.ends_with("sh") => {
            format!("{thing}es")
        }
        None => format!("{thing}s"),
    }
}

fn article(thing: &str) -> &'static str {
    if thing.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
