//! Runs, their settings, and the summaries of their episodes.

use super::{EpisodeRole, Settings, Task, TokenCounts, setting_words};
use serde::{Deserialize, Serialize};

/// The `format` of a session exported as a JSON document, by which such a document is recognized.
pub const JSON_EXPORT_FORMAT: &str = "retrospect-trajectory";

/// Autonomy says who decides on actions: the program, the program with a person's approval, or the person alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Every proposal is executed.
    #[default]
    Auto,
    /// Every proposal waits for a person's decision.
    Confirm,
    /// A person chooses every action; the actor isn't asked.
    Human,
}

setting_words! {
    /// An interface is how actions and observations are rewritten between environment and prompt, like the wrappers of
    /// public code do.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Interface {
        /// Nothing is rewritten.
        #[default]
        Raw = "raw",
        /// As in ReAct's code.
        React = "react",
        /// As in AgentBoard's code.
        Agentboard = "agentboard",
    }
}

/// Limits bound an episode by its number of steps, its number of environment actions and its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of counted steps (including thoughts if the method counts them).
    pub steps: u32,
    /// Maximum number of environment actions; `None`: unlimited.
    #[serde(default)]
    pub moves: Option<u32>,
    /// Maximum duration in seconds; `None`: unlimited. Counts only active time: neither waiting for a person nor the
    /// time between stopping and resuming the session. A change takes effect at once.
    #[serde(default)]
    pub wall_seconds: Option<u64>,
}

/// A run specification is everything a run (one method over a list of tasks) is started with; equal specifications give
/// equal runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    pub method: String,
    /// The actor, as on the command line (`rules`, `human`, `openai:MODEL`).
    pub actor: String,
    /// The mentor, as on the command line (`symbolic`, `none`, ...).
    pub mentor: String,
    /// The interface between environment and prompt.
    pub interface: Interface,
    pub tasks: Vec<Task>,
    /// Maximum number of trials of each task.
    pub trials: u32,
    /// The random seed of the run.
    pub seed: u64,
    /// Autonomy at the start.
    pub autonomy: Autonomy,
    /// Limits of each episode.
    pub limits: Limits,
    /// Whether an episode ends when two consecutive actions are equal (Reflexion's public code).
    pub loop_detector: bool,
    /// All other settings, by name.
    #[serde(default)]
    pub settings: Settings,
}

/// An end reason says why an episode ended, such as reaching the goal or the step limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The goal was reached.
    Won,
    /// The environment ended it without the goal being reached.
    Done,
    /// The step limit was reached.
    StepLimit,
    /// The limit on environment actions was reached.
    MoveLimit,
    /// The limit on duration was reached.
    TimeLimit,
    /// Two consecutive actions were equal.
    Loop,
    /// All actions of the plan were executed (planning-only).
    PlanEnd,
    /// The action had none of the forms that the instruction lists (setting `form_ends`).
    UnknownForm,
    /// Successive reflections on the task repeated each other (setting `early_stop`).
    RepeatedAdvice,
    /// A person ended it.
    Person,
    /// A call to a model failed and the error policy skipped the task.
    Error,
    /// The environment failed and the error policy skipped the task. Never a failure of the agent: no rate counts the episode.
    EnvDied,
    /// The same, of an environment that didn't answer in time.
    EnvTimeout,
}

impl EndReason {
    /// Describes the reason in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Won => "goal reached",
            Self::Done => "ended by the environment",
            Self::StepLimit => "step limit",
            Self::MoveLimit => "move limit",
            Self::TimeLimit => "time limit",
            Self::Loop => "repeated action",
            Self::PlanEnd => "end of the plan",
            Self::UnknownForm => "action of unknown form",
            Self::RepeatedAdvice => "repeated advice",
            Self::Person => "ended by a person",
            Self::Error => "failed call",
            Self::EnvDied => "environment failed",
            Self::EnvTimeout => "environment timed out",
        }
    }

    /// Returns whether the environment failed, which says nothing about the agent.
    pub fn is_env_failure(self) -> bool {
        matches!(self, Self::EnvDied | Self::EnvTimeout)
    }

    /// Describes the reason like [`Self::describe`]; if the environment ended the episode, in its own words
    /// ([`EpisodeStats::lost_because`]), if it has any.
    pub fn describe_with(self, lost_because: &str) -> &str {
        if self == Self::Done && !lost_because.is_empty() { lost_because } else { self.describe() }
    }

    /// Returns `won`, `lost` and the reason, or why the episode counts as neither.
    pub fn verdict(self, won: bool, lost_because: &str) -> String {
        match self {
            Self::EnvDied | Self::EnvTimeout => format!("not counted ({})", self.describe()),
            _ if won || self == Self::Won => "won".to_owned(),
            _ => format!("lost ({})", self.describe_with(lost_because)),
        }
    }
}

/// An episode summary is the record of an ended episode (one attempt at a task), small enough to keep thousands in
/// memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeSummary {
    /// Number in the run, counted from 1.
    pub number: u32,
    pub task: Task,
    /// Counted from 1.
    pub trial: u32,
    pub role: EpisodeRole,
    /// Whether the goal was reached.
    pub won: bool,
    pub reason: EndReason,
    /// Number of counted steps.
    pub steps: u32,
    /// Number of environment actions.
    pub moves: u32,
    /// The progress rate at the end; 1 if the goal was reached.
    pub progress: f64,
    /// Number of calls to the actor and mentor.
    pub calls: u32,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Whether there was any human intervention.
    pub assisted: bool,
    /// First and last event.
    #[serde(rename = "span")]
    pub seq_range: (u64, u64),
    /// What the fold computes in addition; not part of the event, so that old sessions have it too.
    #[serde(default, skip_serializing_if = "EpisodeStats::is_empty")]
    #[serde(rename = "hindsight")]
    pub stats: EpisodeStats,
}

impl EpisodeSummary {
    /// Returns whether the task gets no further trial after it: it was won, the environment asked for none, or it failed, so that
    /// nothing can be learnt from the attempt.
    pub fn ends_task(&self) -> bool {
        self.won || self.stats.ends_task || self.reason.is_env_failure()
    }

    /// Describes why it ended in a few words.
    pub fn describe_end(&self) -> &str {
        self.reason.describe_with(&self.stats.lost_because)
    }

    /// Returns `won`, `lost` and the reason, or why it counts as neither.
    pub fn verdict(&self) -> String {
        self.reason.verdict(self.won, &self.stats.lost_because)
    }

    /// Returns the verdict, and whether a person helped.
    pub fn ending(&self) -> String {
        self.verdict() + if self.assisted { ", assisted" } else { "" }
    }

    /// Returns whether it is an attempt at a task of the run, which counts in rates unless it is assisted: no calibration, and no episode
    /// at which the environment failed.
    pub fn is_attempt(&self) -> bool {
        self.role == EpisodeRole::Test && !self.reason.is_env_failure()
    }

    /// Returns the share of environment actions that were valid, from 0 to 1, or `None` if there were no actions.
    pub fn grounding(&self) -> Option<f64> {
        let invalid = self.stats.invalid_moves.min(self.moves);
        (self.moves > 0).then(|| f64::from(self.moves - invalid) / f64::from(self.moves))
    }
}

/// Episode statistics are what the fold computes about an ended episode beyond its closing event, for lists and rates
/// over many episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeStats {
    /// The last step that raised the progress rate; 0 if none did.
    #[serde(default)]
    pub progress_step: u32,
    /// Number of environment actions that the environment rejected.
    #[serde(default)]
    #[serde(rename = "invalid")]
    pub invalid_moves: u32,
    /// Milliseconds of active time, without waiting for a person.
    #[serde(default)]
    #[serde(rename = "millis")]
    pub active_millis: u64,
    /// Mistakes that detectors noted, as (detector, count), sorted by name.
    #[serde(default)]
    pub mistakes: Vec<(String, u32)>,
    /// Tokens of its calls by who counted them, and their cost.
    #[serde(default, skip_serializing_if = "TokenCounts::is_empty")]
    #[serde(rename = "counted")]
    pub token_counts: TokenCounts,
    /// Whether the environment asked for no further trial of the task ([`ENDS_TASK`](super::ENDS_TASK)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_task: bool,
    /// Why the environment ended it as lost, in the environment's words ([`LOST_BECAUSE`](super::LOST_BECAUSE)); empty if it didn't, or
    /// says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lost_because: String,
}

impl EpisodeStats {
    /// Returns whether no value differs from its default.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl RunSpec {
    /// Returns the calibration tasks: the first ones of the list, which are played only to learn from.
    pub fn calibration_tasks(&self) -> &[Task] {
        &self.tasks[..self.phase_bounds().0]
    }

    /// Returns the exploration tasks, which are played without a goal between calibration and tests.
    pub fn exploration_tasks(&self) -> &[Task] {
        let (from, to) = self.phase_bounds();
        &self.tasks[from..to]
    }

    /// Returns the test tasks, the only ones that count in rates.
    pub fn test_tasks(&self) -> &[Task] {
        &self.tasks[self.phase_bounds().1..]
    }

    /// Returns the indices of the first exploration task and of the first test task.
    fn phase_bounds(&self) -> (usize, usize) {
        let count = |tasks| usize::try_from(tasks).unwrap_or(usize::MAX);
        let place = &self.settings.typed().place;
        let exploration = count(place.calibration_tasks.unwrap_or(0)).min(self.tasks.len());
        (exploration, exploration.saturating_add(count(place.exploration_tasks)).min(self.tasks.len()))
    }
}

#[cfg(test)]
impl RunSpec {
    /// Returns a run of 50 steps without tasks and settings.
    pub(crate) fn sample() -> Self {
        Self {
            method: String::new(),
            actor: String::new(),
            mentor: String::new(),
            interface: Interface::Raw,
            tasks: Vec::new(),
            trials: 1,
            seed: 0,
            autonomy: Autonomy::Auto,
            limits: Limits { steps: 50, moves: None, wall_seconds: None },
            loop_detector: false,
            settings: Settings::default(),
        }
    }
}
