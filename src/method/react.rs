//! ReAct: think and act, one attempt per task unless more trials are requested, nothing learned (docs/METHODS.md). A
//! person's lessons still appear in its prompts.

use super::schedule;
use crate::domain::ReflectionKind;
use crate::engine::{Intent, Method, State};
use crate::symbolic::{NoteRange, SymbolicRules};

/// The method `react`.
pub struct ReAct {
    /// The rules that reflect if a person asks them to.
    pub rules: SymbolicRules,
}

impl Method for ReAct {
    fn name(&self) -> &'static str {
        "react"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        match state.open_episode() {
            Some(open) if open.first_observation.is_none() => Vec::new(),
            Some(_) => vec![Intent::AskActor],
            None => schedule::next_by_task(state),
        }
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        // ReAct itself never reflects; a person may still ask the symbolic rules for reflections.
        self.rules.reflect(state, NoteRange::WholeEpisode, &[kind])
    }
}
