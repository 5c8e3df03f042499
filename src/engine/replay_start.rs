//! The state in which a replayed episode starts, except for the run specification and the lessons, which have events of
//! their own. It is stored because the session that replays the episode doesn't contain the earlier episodes.

use super::{Episode, NoteTally};
use crate::domain::{EpisodeRole, LessonId, Observation, Seq, Step, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The initial state of a replayed episode, taken from its original session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayStart {
    /// The original session and episode, as `SESSION#EPISODE`.
    pub source: String,
    /// The last attempt at the task before the episode, if the original session kept one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Box<Attempt>>,
    /// The successful attempts at training tasks that the original session kept, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub successes: Vec<Attempt>,
    /// The method's memory.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    /// Episode and step of the original session at which each loaded lesson was learnt, as (lesson, episode, step).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "learnt")]
    pub learnt_at: Vec<(LessonId, u32, u32)>,
}

/// A finished attempt at a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The number of the episode.
    pub number: u32,
    pub task: Task,
    /// Counted from 1.
    pub trial: u32,
    #[serde(default)]
    #[serde(rename = "reset")]
    pub first_observation: Option<Observation>,
    pub steps: Vec<Arc<Step>>,
    /// The progress rate at the end.
    #[serde(default)]
    pub progress: f64,
    /// The detectors' findings.
    #[serde(default)]
    #[serde(rename = "noted")]
    pub note_tallies: Vec<NoteTally>,
}

impl Attempt {
    /// Creates an attempt from a finished episode.
    pub fn from_episode(episode: &Episode) -> Self {
        // Indices of reflections are only valid in their own session.
        let step = |step: &Arc<Step>| Arc::new(Step { reflections: Vec::new(), ..(**step).clone() });
        let mut note_tallies: Vec<NoteTally> = episode.note_tallies.values().cloned().collect();
        note_tallies.sort_by(|a, b| a.last.detector.cmp(&b.last.detector));
        Self {
            number: episode.number,
            task: episode.task.clone(),
            trial: episode.trial,
            first_observation: episode.first_observation.clone(),
            steps: episode.steps.iter().map(step).collect(),
            progress: episode.progress,
            note_tallies,
        }
    }

    /// Converts the attempt back to an [`Episode`], the form in which the state stores attempts.
    pub(super) fn to_episode(&self) -> Episode {
        let note_tallies = self.note_tallies.iter().map(|tally| (tally.last.detector.clone(), tally.clone()));
        Episode {
            first_observation: self.first_observation.clone(),
            steps: self.steps.iter().cloned().collect(),
            progress: self.progress,
            note_tallies: note_tallies.collect(),
            ..Episode::new(self.number, &self.task, self.trial, EpisodeRole::Test, Seq::default())
        }
    }
}
