//! An episode in the state.

use crate::domain::{
    EpisodeRole, EpisodeSummary, Intervention, Note, Observation, Seq, Step, Task, TokenCounts,
};
use rpds::{HashTrieMapSync, VectorSync};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// How many notes (findings) a detector has made in an episode, and the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteTally {
    pub count: u32,
    /// The last step with a note.
    pub last_step: u32,
    /// The note on that step.
    pub last: Note,
}

/// An open episode, or the one that ended last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Number in the run, counted from 1.
    pub number: u32,
    /// The task. Its goal is empty until the environment has been reset.
    pub task: Task,
    /// Number of the attempt at the task, counted from 1.
    pub trial: u32,
    pub role: EpisodeRole,
    pub first_observation: Option<Observation>,
    /// The steps; the last one may be incomplete.
    pub steps: VectorSync<Arc<Step>>,
    /// What the agent may know, merged from every step result.
    pub shown: Arc<Value>,
    /// The ground truth, merged from every step result.
    pub truth: Arc<Value>,
    /// The current progress rate; 1 once the goal is reached, whatever the environment rewards.
    pub progress: f64,
    /// The last step that raised the progress rate.
    pub progress_step: u32,
    /// Number of environment actions so far.
    pub moves: u32,
    /// Number of environment actions that the environment rejected.
    pub invalid_moves: u32,
    /// How many times each action was executed, and the last step that executed it.
    pub action_counts: HashTrieMapSync<String, (u32, u32)>,
    /// The notes so far, by detector.
    pub note_tallies: HashTrieMapSync<String, NoteTally>,
    /// Number of calls to models.
    pub calls: u32,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// The same tokens by source, and their cost.
    #[serde(default)]
    pub token_counts: TokenCounts,
    /// Whether there was any human intervention.
    pub assisted: bool,
    /// What a person did before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interventions: Vec<Intervention>,
    /// The summary, once the episode has ended.
    pub outcome: Option<Box<EpisodeSummary>>,
    /// The event that started the episode.
    pub first_seq: Seq,
}

impl Episode {
    /// Returns the last step, complete or not.
    pub fn last_step(&self) -> Option<&Step> {
        self.steps.last().map(Arc::as_ref)
    }

    /// Returns a step by its number, counted from 1.
    pub fn step(&self, number: u32) -> Option<&Step> {
        self.step_arc(number).map(Arc::as_ref)
    }

    /// Returns a shared step by its number, counted from 1. Steps are copied on write, so a clone of the `Arc` never
    /// changes.
    pub fn step_arc(&self, number: u32) -> Option<&Arc<Step>> {
        self.steps.get(number.checked_sub(1)? as usize)
    }

    /// Returns the step whose reply planned the proposal of a step, and its index in [`Step::planned`]. `None` if the actor was asked in the
    /// step itself, or if the action comes from elsewhere.
    pub fn planned_by(&self, number: u32) -> Option<(&Step, usize)> {
        let proposed = self.step(number)?.proposed.as_ref()?;
        let mut first = number;
        while self.step(first)?.call.is_none() {
            self.step(first)?.proposed.as_ref()?;
            first -= 1;
        }
        let plan = self.step(first)?;
        let index = (number - first).checked_sub(1)? as usize;
        plan.planned.get(index).is_some_and(|planned| planned.action == *proposed).then_some((plan, index))
    }

    /// Returns the sum of the rewards so far. This takes time proportional to the number of steps, so call it for a
    /// mentor's prompt, not at every step.
    pub fn total_reward(&self) -> f64 {
        self.steps.iter().filter_map(|s| s.answer.as_ref()).map(|a| a.reward).sum()
    }

    /// Returns how much the progress rate has risen since the first observation.
    pub fn progress_gain(&self) -> f64 {
        (self.progress - self.first_observation.as_ref().map_or(0.0, |first| first.progress)).max(0.0)
    }

    /// Returns the number of steps that have an observation.
    pub fn answered_steps(&self) -> u32 {
        let len = self.steps.len() as u32;
        match self.last_step() {
            Some(step) if step.answer.is_none() => len - 1,
            _ => len,
        }
    }
}
