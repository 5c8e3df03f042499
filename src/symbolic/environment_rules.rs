//! What the detectors and the rules need to know about an environment.

use crate::domain::{LessonText, Note, Observation, ReflectionItem, Scope, Step};
use crate::engine::{Episode, State};

/// A lesson without its evidence: the id of its rule, its scope and its text.
pub type LessonTemplate = (String, Scope, LessonText);

/// Returns what a note teaches about its environment in general.
pub fn abstract_lesson(note: &Note, scope: Scope, text: &str) -> Vec<LessonTemplate> {
    vec![(format!("abstract.{}", note.detector), scope, LessonText::plain(text))]
}

/// Returns the mistake that a note shows, with what to do instead.
pub fn error_lesson(note: &Note, scope: Scope, mistake: &str, solution: &str) -> Vec<LessonTemplate> {
    vec![(format!("error.{}", note.detector), scope, LessonText::error(mistake, solution))]
}

/// The detectors of an environment and the sentences drawn from their notes.
pub struct EnvironmentRules {
    /// Its detectors (`docs/SYMBOLIC.md`, `docs/PDDL.md`).
    pub detectors: &'static [Detector],
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
    /// Says which part of the goal was not reached, as a clause such as "the mug was not heated"; `None` if the goal has no known
    /// parts, or all were reached.
    pub missing_part: fn(&Episode) -> Option<String>,
    /// Returns whether an action only goes to another place, so that repeating it may be needed.
    pub is_navigation: fn(&str) -> bool,
    /// Says what a note found at this step, with the names of the objects, as a clause such as "drawer 5 was left closed";
    /// `None` if the name of the detector has to do. It may read the steps up to this one.
    pub describe_finding: fn(&Episode, &Step, &Note) -> Option<String>,
}

/// A detector: the name of the notes that it writes, and how a list of lost episodes says what it found.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    pub name: &'static str,
    /// A phrase that follows "n episodes", such as "went in circles"; empty if the name says it.
    pub cause: &'static str,
}

/// Detectors of every environment.
pub const COMMON_DETECTORS: &[Detector] = &[Detector::described("only_thoughts", "only thought")];

impl Detector {
    /// Creates a detector whose name, its underscores read as blanks, says what it found.
    pub const fn named(name: &'static str) -> Self {
        Self { name, cause: "" }
    }

    /// Creates a detector with a phrase for what it found.
    pub const fn described(name: &'static str, cause: &'static str) -> Self {
        Self { name, cause }
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
    missing_part: |_| None,
    is_navigation: |_| false,
    describe_finding: |_, _, _| None,
};
