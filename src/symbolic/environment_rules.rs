//! What the detectors and the rules need to know about an environment.

use crate::domain::{LessonText, Note, Observation, ReflectionItem, Scope, Step};
use crate::engine::{Episode, State};

/// A lesson without its evidence: the id of its rule, its scope and its text.
pub type LessonTemplate = (String, Scope, LessonText);

/// The detectors of an environment and the sentences drawn from their notes.
pub struct EnvironmentRules {
    /// The names of its detectors (`docs/SYMBOLIC.md`, `docs/PDDL.md`).
    pub detectors: &'static [&'static str],
    /// Returns the notes of an episode's last step, which has been answered and is not only a thought.
    pub detect: fn(&State, &Episode, &Step, &Observation) -> Vec<Note>,
    /// Returns what a note teaches about the environment in general.
    pub abstract_lessons: fn(&Note) -> Vec<LessonTemplate>,
    /// Returns the mistake a note shows, and what to do instead.
    pub error_lessons: fn(&Note) -> Vec<LessonTemplate>,
    /// Describes how far the episode has come and what comes next, if the last step says so.
    pub progress_text: fn(&Episode) -> Option<String>,
    /// Plans a task before its first action, one action per line; `None` if the rules can't plan in this environment.
    pub plan: Option<fn(&State, &Episode) -> Option<ReflectionItem>>,
}

impl EnvironmentRules {
    /// Returns whether this is the name of one of its detectors.
    pub(super) fn declares(&self, detector: &str) -> bool {
        self.detectors.contains(&detector)
    }
}

/// The rules of an environment that has none: nothing is noted, and nothing is learnt.
pub static NO_RULES: EnvironmentRules = EnvironmentRules {
    detectors: &[],
    detect: |_, _, _, _| Vec::new(),
    abstract_lessons: |_| Vec::new(),
    error_lessons: |_| Vec::new(),
    progress_text: |_| None,
    plan: None,
};
