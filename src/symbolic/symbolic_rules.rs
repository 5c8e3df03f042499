//! The detectors and rules of all environments behind one value.

use super::common_findings;
use super::environment_rules::{COMMON_DETECTORS, EnvironmentRules};
use super::evidence::shorten;
use super::rules::{self, NoteRange};
use crate::domain::{Note, NoteKind, Question, ReflectionItem, ReflectionKind, Step};
use crate::engine::{Episode, Intent, State};
use std::collections::BTreeMap;

/// Finds the rules of an environment by its name, and applies them to the episode of a state.
#[derive(Clone, Copy)]
pub struct SymbolicRules {
    /// Returns the rules of an environment.
    pub for_environment: fn(&str) -> &'static EnvironmentRules,
}

impl SymbolicRules {
    /// Returns the notes of the last step of the open episode; empty if the step has no answer. A thought-only step is
    /// checked only for too many thoughts in a row.
    ///
    /// # Panics
    /// Panics in this crate's own tests if a built-in detector isn't declared.
    pub fn detect(self, state: &State) -> Vec<Note> {
        let Some(episode) = state.open_episode() else { return Vec::new() };
        let Some((step, answer)) = episode.last_step().and_then(|s| Some((s, s.answer.as_ref()?))) else {
            return Vec::new();
        };
        if step.is_thought_only() {
            return detect_only_thoughts(episode, step);
        }
        let notes = (self.of(episode).detect)(state, episode, step, answer);
        let is_declared = |note: &Note| self.declares(&episode.task.env, &note.detector);
        assert!(
            !cfg!(test) || notes.iter().all(is_declared),
            "every built-in detector is declared: {notes:?}"
        );
        notes
    }

    /// Returns whether an environment has a detector of this name: one of its own, or one that all have.
    pub fn declares(self, environment: &str, detector: &str) -> bool {
        let own = (self.for_environment)(environment).detectors;
        own.iter().chain(COMMON_DETECTORS).any(|known| known.name == detector)
    }

    /// Says which part of the episode's goal was not reached; see [`EnvironmentRules::missing_part`].
    pub fn missing_part(self, episode: &Episode) -> Option<String> {
        (self.of(episode).missing_part)(episode)
    }

    /// Returns whether an action only goes to another place; see [`EnvironmentRules::is_navigation`].
    pub fn is_navigation(self, episode: &Episode, action: &str) -> bool {
        (self.of(episode).is_navigation)(action)
    }

    /// Says what a note found at a step of the episode, with the names of the objects; `None` if the name of its detector
    /// has to do. See [`EnvironmentRules::describe_finding`].
    pub fn describe_finding(self, episode: &Episode, step: &Step, note: &Note) -> Option<String> {
        (self.of(episode).describe_finding)(episode, step, note)
            .or_else(|| common_findings::describe_finding(episode, step, note))
    }

    /// Returns the rules' reflections of these kinds after the last step, with the lesson commands that store them.
    /// Leaves out kinds already reflected on after this step, so that nothing is returned again once the intents have
    /// been executed.
    pub fn reflect(self, state: &State, range: NoteRange, kinds: &[ReflectionKind]) -> Vec<Intent> {
        let Some(episode) = state.episode.as_deref() else { return Vec::new() };
        rules::reflect(self.of(episode), state, episode, range, kinds)
    }

    /// Returns the rules' answer to a mentor question: items with their evidence; empty if no detector found anything.
    /// The rules can reflect, contrast, and build or write plans. Summarizing and choosing lessons
    /// ([`Purpose::Summarise`](crate::domain::Purpose), [`Purpose::Choose`](crate::domain::Purpose)) need a model: the
    /// answer is empty, and the method proceeds without it.
    pub fn answer_question(self, state: &State, question: Question) -> Vec<ReflectionItem> {
        let Some(episode) = state.episode.as_deref() else { return Vec::new() };
        rules::answer_question(self.of(episode), state, episode, question)
    }

    /// Returns whether the rules can plan the tasks of an environment.
    pub fn can_plan(self, environment: &str) -> bool {
        (self.for_environment)(environment).plan.is_some()
    }

    fn of(self, episode: &Episode) -> &'static EnvironmentRules {
        (self.for_environment)(&episode.task.env)
    }
}

/// Detects three thoughts in a row, after which AgentBoard's agent prompts the model to act (methods.md 3.1).
fn detect_only_thoughts(episode: &Episode, step: &Step) -> Vec<Note> {
    let is_thought = |back: u32| {
        step.number.checked_sub(back).and_then(|n| episode.step(n)).is_some_and(Step::is_thought_only)
    };
    let already_noted = is_thought(3);
    if !(is_thought(1) && is_thought(2)) || already_noted {
        return Vec::new();
    }
    let action = step.action().unwrap_or_default();
    vec![Note {
        detector: "only_thoughts".to_owned(),
        kind: NoteKind::Mistake,
        evidence: shorten(action),
        parts: BTreeMap::new(),
    }]
}
