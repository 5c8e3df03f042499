//! The outcome of an episode, for comparison with another.

use crate::domain::{EndReason, NoteKind};
use crate::engine::Episode;
use std::collections::BTreeMap;

/// The outcome of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why it ended; `None` while it is in progress.
    pub reason: Option<EndReason>,
    /// Why its environment ended it as lost, in the environment's words; may be empty.
    pub lost_because: String,
    /// Whether the goal was reached (in an episode in progress: as of its last observation).
    pub won: bool,
    /// Completed steps, including those with only a thought; a waiting proposal isn't counted.
    pub steps: u32,
    /// Number of environment actions, that is, without thoughts.
    pub moves: u32,
    /// Progress rate at its end or now, between 0 and 1.
    pub progress: f64,
    /// Calls to models, including the mentor's.
    pub calls: u32,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Whether a person intervened.
    pub assisted: bool,
    /// Where the progress rate rose: (step, rate after it).
    pub progress_gains: Vec<(u32, f64)>,
    /// Mistakes noted by detectors, by detector.
    pub mistakes: BTreeMap<String, u32>,
    /// Completed steps from the first difference on.
    pub steps_after: u32,
    /// Mistakes from the first difference on.
    pub mistakes_after: u32,
}

impl Outcome {
    /// Returns the outcome of an episode; `from` is its first step that differs, or `None` if no step does.
    pub fn from_episode(episode: &Episode, from: Option<u32>) -> Self {
        let mut outcome = Self {
            reason: episode.outcome.as_ref().map(|o| o.reason),
            lost_because: episode.outcome.as_ref().map(|o| o.stats.lost_because.clone()).unwrap_or_default(),
            won: episode.outcome.as_ref().map_or_else(
                || episode.last_step().and_then(|s| s.answer.as_ref()).is_some_and(|a| a.won),
                |o| o.won,
            ),
            steps: episode.answered_steps(),
            moves: episode.moves,
            progress: episode.progress,
            calls: episode.calls,
            tokens: episode.tokens,
            assisted: episode.assisted,
            progress_gains: Vec::new(),
            mistakes: BTreeMap::new(),
            steps_after: 0,
            mistakes_after: 0,
        };
        let mut best = episode.first_observation.as_ref().map_or(0.0, |r| r.progress);
        for step in &episode.steps {
            let is_after = from.is_some_and(|from| step.number >= from);
            outcome.steps_after += u32::from(is_after && step.answer.is_some());
            for note in step.notes.iter().filter(|n| n.kind == NoteKind::Mistake) {
                *outcome.mistakes.entry(note.detector.clone()).or_default() += 1;
                outcome.mistakes_after += u32::from(is_after);
            }
            if let Some(answer) = step.answer.as_ref().filter(|a| a.progress > best) {
                best = answer.progress;
                outcome.progress_gains.push((step.number, best));
            }
        }
        outcome
    }

    /// Returns the total number of mistakes.
    pub fn mistake_count(&self) -> u32 {
        self.mistakes.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Describes how the episode ended in a few words.
    pub fn verdict(&self) -> String {
        match self.reason {
            Some(reason) => reason.verdict(self.won, &self.lost_because),
            None if self.won => "won".to_owned(),
            None => "in progress".to_owned(),
        }
    }

    /// Returns the verdict, and whether a person helped.
    pub fn ending(&self) -> String {
        self.verdict() + if self.assisted { ", assisted" } else { "" }
    }
}
