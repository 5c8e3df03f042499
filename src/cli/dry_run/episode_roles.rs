//! Which prompts of a prepared run belong to an exploration.

use crate::domain::{EpisodeRole, PromptRecord, Purpose};
use crate::engine::{Envelope, State};
use std::sync::Arc;

/// The roles of a finished run's episodes.
pub(super) struct EpisodeRoles(State);

impl EpisodeRoles {
    /// Reads the roles from the events of a run.
    pub(super) fn of(events: &[Arc<Envelope>]) -> Self {
        let mut state = State::default();
        for envelope in events {
            state.apply(envelope);
        }
        Self(state)
    }

    /// Returns whether a prompt belongs to an exploration, which has no goal. What is asked after the episode, such as a
    /// summary, doesn't.
    pub(super) fn explores(&self, record: &PromptRecord) -> bool {
        let is_about_episode = record.question.is_none_or(|question| question.purpose == Purpose::Reflect);
        let episode = self.0.ended_episode(record.episode);
        is_about_episode && episode.is_some_and(|episode| episode.role == EpisodeRole::Explore)
    }
}
