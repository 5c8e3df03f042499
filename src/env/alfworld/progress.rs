//! AgentBoard's progress rate: how many of a task type's patterns some observation has matched.
//!
//! Each pattern is looked for in every observation and stays met; their order does not matter. The rate is hits / (n + 1),
//! and 1 when the goal holds. Both wordings of placing are known ("put ... in/on", "move ... to").

use super::subgoals::{Subgoal, Subgoals};
use super::targets::{Targets, TaskType};

/// What an observation is searched for.
#[derive(Clone, Debug)]
enum Pattern {
    /// One line says `you see` and `a X <number>`.
    See(String),
    /// `You pick up the X <number>`.
    Pick(String),
    /// `You <verb> the X <number> using the`.
    Treat(&'static str, String),
    /// The thing is put, or moved, to the receptacle.
    Place(String, String),
    /// What a label says.
    Label(Subgoal),
}

/// The patterns of one task and which of them were met.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    patterns: Vec<(Pattern, bool)>,
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
        Self { patterns: [see, pick].into_iter().chain(last).map(|pattern| (pattern, false)).collect() }
    }

    /// Measures by the subgoals of a label.
    pub(super) fn from_subgoals(Subgoals(all): Subgoals) -> Self {
        Self { patterns: all.into_iter().map(|subgoal| (Pattern::Label(subgoal), false)).collect() }
    }

    /// Forgets what was met.
    pub(super) fn reset(&mut self) {
        for (_, met) in &mut self.patterns {
            *met = false;
        }
    }

    /// Looks for every pattern in an observation.
    pub(super) fn observe(&mut self, observation: &str) {
        for (pattern, met) in &mut self.patterns {
            *met = *met || pattern.matches(observation);
        }
    }

    /// The rate now; without patterns it is the reward.
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

/// What follows the first `prefix <number>` in a text.
fn after_number<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    text.match_indices(prefix).find_map(|(at, _)| after_number_at(&text[at..], prefix))
}

/// What follows `prefix <number>` at the start of a text.
fn after_number_at<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(prefix)?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    (after.len() < rest.len()).then_some(after)
}
