//! How the actions of an attempt change in the next one, by FCRF's labels.
//!
//! The paper doesn't specify how actions are labelled. Here the next attempt is compared with the failed one, by
//! distinct actions. An action is *correct* if the progress rate rose at it, and *retained* if the next attempt takes
//! it too. It is *erroneous* if the environment did not accept it or a detector noted a mistake on it, and *corrected*
//! if the next attempt never makes that mistake again. The numbers thus measure what the agent did with a reflection,
//! not its text.

use crate::domain::NoteKind;
use crate::engine::Episode;
use serde::Serialize;
use std::collections::BTreeSet;

/// The actions of an attempt by label.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptActions {
    all: BTreeSet<String>,
    correct: BTreeSet<String>,
    erroneous: BTreeSet<String>,
}

impl AttemptActions {
    pub(super) fn from_episode(episode: &Episode) -> Self {
        let mut actions = Self::default();
        let mut progress = episode.first_observation.as_ref().map_or(0.0, |r| r.progress);
        for step in episode.steps.iter().filter(|s| !s.is_thought_only()) {
            let (Some(action), Some(answer)) = (step.action(), &step.answer) else { continue };
            actions.all.insert(action.to_owned());
            if answer.progress > progress {
                actions.correct.insert(action.to_owned());
            }
            progress = answer.progress;
            if !answer.valid || step.notes.iter().any(|n| n.kind == NoteKind::Mistake) {
                actions.erroneous.insert(action.to_owned());
            }
        }
        actions
    }
}

/// Counts over all pairs of a failed attempt and the next one at the same task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RevisionCounts {
    /// Pairs of attempts.
    pub pairs: usize,
    /// Correct actions of the failed attempts.
    pub correct: usize,
    /// Correct actions that the next attempt took too.
    pub retained: usize,
    /// Erroneous actions of the failed attempts.
    pub erroneous: usize,
    /// Erroneous actions that were not erroneous in the next attempt.
    pub corrected: usize,
}

impl RevisionCounts {
    pub(super) fn add(&mut self, failed: &AttemptActions, next: &AttemptActions) {
        self.pairs += 1;
        self.correct += failed.correct.len();
        self.retained += failed.correct.intersection(&next.all).count();
        self.erroneous += failed.erroneous.len();
        self.corrected += failed.erroneous.difference(&next.erroneous).count();
    }
}
