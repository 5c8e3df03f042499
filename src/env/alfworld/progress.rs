//! AgentBoard's progress rate: the number of patterns of a task type that some observation has matched.
//!
//! Each pattern is searched for in every observation and stays matched; the order doesn't matter. The rate is hits / (n
//! + 1), and 1 if the goal holds. Both wordings of placing are recognized ("put ... in/on", "move ... to").
//!
//! The patterns of a label are searched for in the text that AgentBoard's wrapper shows, whichever interface the run has.

use super::subgoals::{Subgoal, Subgoals};
use super::targets::{Targets, TaskType};

/// A pattern to search for in an observation.
#[derive(Clone, Debug)]
enum Pattern {
    /// One line contains `you see` and `a X <number>`.
    See(String),
    Pick(String),
    Treat(&'static str, String),
    /// The object is put in, or moved to, the receptacle.
    Place(String, String),
    /// A subgoal from a label.
    Label(Subgoal),
}

/// The patterns of one task, and which of them have been matched.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    patterns: Vec<(Pattern, bool)>,
    /// What AgentBoard's wrapper answers to `look`; `None` if the patterns aren't those of a label.
    view: Option<String>,
}

impl Progress {
    pub(super) fn new(targets: &Targets) -> Self {
        let object = targets.object.clone();
        let see = Pattern::See(object.clone());
        let pick = Pattern::Pick(object.clone());
        let last = match targets.task_type {
            None => return Self::default(),
            Some(TaskType::PickAndPlaceSimple) => None,
            Some(TaskType::LookAtObjInLight) => Some(Pattern::See(targets.lamp.clone())),
            Some(TaskType::PickCleanThenPlaceInRecep) => Some(Pattern::Treat("clean", object)),
            Some(TaskType::PickHeatThenPlaceInRecep) => Some(Pattern::Treat("heat", object)),
            Some(TaskType::PickCoolThenPlaceInRecep) => Some(Pattern::Treat("cool", object)),
            Some(TaskType::PickTwoObjAndPlace) => Some(Pattern::Place(object, targets.receptacle.clone())),
        };
        let patterns = [see, pick].into_iter().chain(last).map(|pattern| (pattern, false)).collect();
        Self { patterns, view: None }
    }

    /// Measures progress by the subgoals of a label.
    pub(super) fn from_subgoals(Subgoals(all): Subgoals) -> Self {
        let patterns = all.into_iter().map(|subgoal| (Pattern::Label(subgoal), false)).collect();
        Self { patterns, view: Some(String::new()) }
    }

    /// Returns whether progress is measured by a label.
    pub(super) fn has_label(&self) -> bool {
        self.view.is_some()
    }

    /// Clears the matches. `intro` is the first observation.
    pub(super) fn reset(&mut self, intro: &str) {
        for (_, met) in &mut self.patterns {
            *met = false;
        }
        if let Some(view) = &mut self.view {
            let room = intro.split_once("\n\n").map_or(intro, |(_, rest)| rest);
            room.lines().next().unwrap_or_default().clone_into(view);
        }
    }

    /// Searches the observation of an action for every pattern.
    pub(super) fn observe(&mut self, action: &str, observation: &str) {
        let shown = match &mut self.view {
            None => observation,
            Some(view) => {
                if (action.contains("go to") || action.contains("open"))
                    && !observation.contains("Nothing happens")
                {
                    observation.clone_into(view);
                }
                without_location(if action.trim() == "look" { view } else { observation })
            }
        };
        for (pattern, met) in &mut self.patterns {
            *met = *met || pattern.matches(shown);
        }
    }

    /// Returns the current rate; without patterns it equals the reward.
    pub(super) fn rate(&self, won: bool) -> f64 {
        if won {
            return 1.0;
        }
        let met = self.patterns.iter().filter(|(_, met)| *met).count();
        met as f64 / (self.patterns.len() + 1) as f64
    }
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::See(kind) => {
                let article = format!("a {kind} ");
                text.lines().any(|line| line.contains(" you see") && after_number(line, &article).is_some())
            }
            Self::Label(subgoal) => subgoal.matches(text),
            Self::Pick(kind) => after_number(text, &format!("You pick up the {kind} ")).is_some(),
            Self::Treat(verb, kind) => after_number(text, &format!("You {verb} the {kind} "))
                .is_some_and(|rest| rest.starts_with(" using the")),
            Self::Place(kind, receptacle) => ["put", "move"].iter().any(|verb| {
                let rest = after_number(text, &format!("You {verb} the {kind} ")).unwrap_or_default();
                [" in/on the ", " to the "].iter().any(|to| {
                    rest.strip_prefix(to)
                        .is_some_and(|rest| after_number_at(rest, &format!("{receptacle} ")).is_some())
                })
            }),
        }
    }
}

/// Drops the first sentence of an arrival, which games of the data version 2.1.1 begin with a number of the place.
fn without_location(observation: &str) -> &str {
    let rest = observation.starts_with("You arrive at loc ").then(|| observation.split_once(". ")).flatten();
    rest.map_or(observation, |(_, rest)| rest)
}

/// Returns the text after the first `prefix <number>`.
fn after_number<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    text.match_indices(prefix).find_map(|(at, _)| after_number_at(&text[at..], prefix))
}

/// Returns the text after `prefix <number>` at the start of a text.
fn after_number_at<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(prefix)?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    (after.len() < rest.len()).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the texts of the data version 2.1.1 kept a prefix that AgentBoard removes.
    #[test]
    fn a_label_sees_what_agentboard_shows() {
        /// A pattern, actions with the game's answers, and whether the pattern is met.
        type Case = (&'static str, &'static [(&'static str, &'static str)], bool);
        const DESK: &str = "You arrive at loc 3. On the desk 1, you see a mug 2.";

        let subgoals = |pattern: &str| Subgoals::compile(&[pattern.to_owned()]).unwrap();
        let cases: [Case; 6] = [
            ("^On the desk", &[("go to desk 1", DESK)], true),
            ("You arrive at loc", &[("go to desk 1", DESK)], false),
            ("^You are here", &[("look", "You are facing nothing.")], true),
            ("facing nothing", &[("look", "You are facing nothing.")], false),
            ("^You are here", &[("open it", "Nothing happens."), ("look", "")], true),
            ("^On the desk 1, you see a mug", &[("go to desk 1", DESK), ("look", "")], true),
        ];
        for (pattern, steps, met) in cases {
            let mut progress = Progress::from_subgoals(subgoals(pattern));
            progress.reset("-= Welcome =-\n\nYou are here.\n\nYour task is to: look.");
            for (action, answer) in steps {
                progress.observe(action, answer);
            }
            assert_eq!(progress.rate(false) > 0.0, met, "{pattern} {steps:?}");
        }
    }
}
