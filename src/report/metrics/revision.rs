//! How the actions of a failed attempt change, by FCRF's labels: in the plan written after it, as in the paper, and in
//! the next attempt (ours).
//!
//! The paper doesn't specify how actions are labelled. Here an action is *correct* if the progress rate rose at it. It is
//! *erroneous* if the environment did not accept it or a detector noted a mistake on it. Actions are compared as distinct
//! texts.

use super::plan_actions::PlanActions;
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

/// Counts over pairs of a failed attempt and its revision: the plan written after it, or the next attempt at the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RevisionCounts {
    /// Pairs.
    pub pairs: usize,
    /// Correct actions of the failed attempts.
    pub correct: usize,
    /// Correct actions that the revision has too.
    pub retained: usize,
    /// Erroneous actions of the failed attempts.
    pub erroneous: usize,
    /// Erroneous actions that the plan doesn't have, or that are not erroneous in the next attempt.
    pub corrected: usize,
}

impl RevisionCounts {
    /// Counts the actions of a failed attempt that the plan written after it retains and corrects.
    pub(super) fn from_plan(failed: &AttemptActions, plan: &str) -> Self {
        let plan = PlanActions::parse(plan);
        Self {
            pairs: 1,
            correct: failed.correct.len(),
            retained: failed.correct.iter().filter(|action| plan.has(action)).count(),
            erroneous: failed.erroneous.len(),
            corrected: failed.erroneous.iter().filter(|action| !plan.has(action)).count(),
        }
    }

    /// Counts the actions of a failed attempt that the next one retains and corrects.
    pub(super) fn from_next_attempt(failed: &AttemptActions, next: &AttemptActions) -> Self {
        Self {
            pairs: 1,
            correct: failed.correct.len(),
            retained: failed.correct.intersection(&next.all).count(),
            erroneous: failed.erroneous.len(),
            corrected: failed.erroneous.difference(&next.erroneous).count(),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.correct += other.correct;
        self.retained += other.retained;
        self.erroneous += other.erroneous;
        self.corrected += other.corrected;
    }

    /// Returns the share of correct actions that were retained; `None` if there are none.
    pub fn recall(self) -> Option<f64> {
        share(self.retained, self.correct)
    }

    /// Returns the share of erroneous actions that were corrected; `None` if there are none.
    pub fn precision(self) -> Option<f64> {
        share(self.corrected, self.erroneous)
    }
}

fn share(part: usize, total: usize) -> Option<f64> {
    (total > 0).then(|| part as f64 / total as f64)
}
