//! What an episode that is played again had at its start, beside run and lessons: it was not played in this session.

use super::{Episode, NoteTally, State};
use crate::domain::{EpisodeRole, EpisodeSummary, LessonId, Observation, RunSpec, Seq, Step, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The setting that names the number of the first episode: an episode that is played again keeps its own.
pub const FIRST_EPISODE_SETTING: &str = "from.number";
/// The setting that names the trial of the one episode of a run that plays it again.
pub const FIRST_TRIAL_SETTING: &str = "from.trial";

/// What was brought along.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplaySeed {
    /// The session and the episode, as `SESSION#EPISODE`.
    pub source: String,
    /// The last attempt at the task before it, where one was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Box<Attempt>>,
    /// The method's own memory.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    /// The episode and step that each loaded lesson was learnt at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "learnt")]
    pub learnt_at: Vec<(LessonId, u32, u32)>,
}

/// An attempt at a task that was not won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The number its episode had.
    pub number: u32,
    /// The task.
    pub task: Task,
    /// Its trial, from 1.
    pub trial: u32,
    /// The first observation.
    #[serde(default)]
    #[serde(rename = "reset")]
    pub first_observation: Option<Observation>,
    /// Its steps.
    pub steps: Vec<Arc<Step>>,
    /// The progress rate at its end.
    #[serde(default)]
    pub progress: f64,
    /// What the detectors found in it.
    #[serde(default)]
    #[serde(rename = "noted")]
    pub note_tallies: Vec<NoteTally>,
}

impl Attempt {
    /// Of an episode.
    pub fn from_episode(episode: &Episode) -> Self {
        // Reflections are numbered in their session.
        let step = |step: &Arc<Step>| Arc::new(Step { reflections: Vec::new(), ..(**step).clone() });
        let mut noted: Vec<NoteTally> = episode.note_tallies.values().cloned().collect();
        noted.sort_by(|a, b| a.last.detector.cmp(&b.last.detector));
        Self {
            number: episode.number,
            task: episode.task.clone(),
            trial: episode.trial,
            first_observation: episode.first_observation.clone(),
            steps: episode.steps.iter().map(step).collect(),
            progress: episode.progress,
            note_tallies: noted,
        }
    }

    /// As the state holds attempts.
    pub(super) fn to_episode(&self) -> Episode {
        let noted = self.note_tallies.iter().map(|tally| (tally.last.detector.clone(), tally.clone()));
        Episode {
            first_observation: self.first_observation.clone(),
            steps: self.steps.iter().cloned().collect(),
            progress: self.progress,
            note_tallies: noted.collect(),
            ..Episode::new(self.number, &self.task, self.trial, EpisodeRole::Test, Seq::default())
        }
    }
}

impl State {
    /// The number of the next episode.
    pub fn next_episode_number(&self) -> u32 {
        setting_or_one(self.run.as_deref(), FIRST_EPISODE_SETTING)
            .saturating_add(self.ended_episodes.len() as u32)
    }

    /// An ended episode by its number.
    pub fn ended_episode(&self, number: u32) -> Option<&EpisodeSummary> {
        let place = number.checked_sub(setting_or_one(self.run.as_deref(), FIRST_EPISODE_SETTING))?;
        self.ended_episodes.get(place as usize).map(Arc::as_ref)
    }
}

/// The trial of the first episode at each task; none where the run plays its trials from the first.
pub fn fixed_trial(run: &RunSpec) -> Option<u32> {
    u32::try_from(run.settings.number(FIRST_TRIAL_SETTING, 0)).ok().filter(|trial| *trial > 0)
}

fn setting_or_one(run: Option<&RunSpec>, name: &str) -> u32 {
    run.map_or(1, |r| u32::try_from(r.settings.number(name, 1)).unwrap_or(1)).max(1)
}
