//! A run: a method over a list of tasks, and the settings it obeys.

use super::{EpisodeRole, Task, TokenCounts};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Who decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Proposals run.
    #[default]
    Auto,
    /// Every proposal waits for a person.
    Confirm,
    /// The person plays.
    Human,
}

/// Bounds of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Steps that count (thoughts too, where the method says so).
    pub steps: u32,
    /// World actions; none: no bound.
    #[serde(default)]
    pub moves: Option<u32>,
    /// Seconds an episode may take; none: no bound. Only the time in which it moves counts: not while it waits for a
    /// person, nor while the session was put down; a resume goes on counting. A changed bound holds at once.
    #[serde(default)]
    pub wall_seconds: Option<u64>,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    /// A paper states it.
    Paper,
    /// Public code does it.
    Code,
    /// Nobody specified it; it is our choice.
    #[serde(rename = "ours")]
    BuiltIn,
    /// The configuration file.
    Config,
    /// A flag of the command line.
    Flag,
    /// A person, while the run was going on.
    Person,
    /// It follows from who the mentor is: a model, or a recording of one.
    Mentor,
}

/// A named value with its origin, as the start screen and the journal list it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub origin: SettingOrigin,
}

/// All settings that a method or the engine obeys, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub BTreeMap<String, Setting>);

/// Everything a run is started with; the same spec gives the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Name of the method.
    pub method: String,
    /// The actor, as on the command line (`rules`, `human`, `openai:MODEL`).
    pub actor: String,
    /// The mentor, as on the command line (`symbolic`, `none`, ...).
    pub mentor: String,
    /// The pure view between world and prompt: `raw`, `react` or `agentboard`.
    pub interface: String,
    /// The tasks, in order.
    pub tasks: Vec<Task>,
    /// Trials a task gets at most.
    pub trials: u32,
    /// Seed of every chance in the run.
    pub seed: u64,
    /// Who decides at the start.
    pub autonomy: Autonomy,
    /// Bounds of each episode.
    pub limits: Limits,
    /// End an episode when two equal actions follow each other (Reflexion's public code).
    pub loop_detector: bool,
    /// The rest, by name.
    #[serde(default, deserialize_with = "deserialize_settings")]
    pub settings: Settings,
}

/// Settings as they are said now. Sessions from before `keep_attempts` was all that decides kept attempts for a `strategy`.
fn deserialize_settings<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Settings, D::Error> {
    let mut settings = Settings::deserialize(from)?;
    if settings.0.contains_key("strategy") && !settings.0.contains_key("keep_attempts") {
        settings.set("keep_attempts", true, SettingOrigin::BuiltIn);
    }
    Ok(settings)
}

/// Why an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The goal was reached.
    Won,
    /// The world ended it without the goal.
    Done,
    /// The cap on steps.
    StepLimit,
    /// The cap on world actions.
    MoveLimit,
    /// The cap on wall time.
    TimeLimit,
    /// Two equal actions followed each other.
    Loop,
    /// All actions of the plan were taken (planning-only).
    PlanEnd,
    /// A person ended it.
    Person,
    /// A call failed and the error policy gave the task up.
    Error,
}

impl EndReason {
    /// It in a few words, wherever a person reads why an episode ended.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Won => "the goal holds",
            Self::Done => "the world ended it",
            Self::StepLimit => "out of turns",
            Self::MoveLimit => "out of moves",
            Self::TimeLimit => "out of time",
            Self::Loop => "it went in a loop",
            Self::PlanEnd => "the plan came to its end",
            Self::Person => "a person ended it",
            Self::Error => "a call failed",
        }
    }

    /// It with how the episode went: `won`, or `not won` and why it ended.
    pub fn verdict(self, won: bool) -> String {
        if won || self == Self::Won { "won".to_owned() } else { format!("not won: {}", self.describe()) }
    }
}

/// An ended episode, small enough to keep thousands of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeSummary {
    /// Its number in the run, counted from 1.
    pub number: u32,
    /// Its task.
    pub task: Task,
    /// Its trial, counted from 1.
    pub trial: u32,
    /// What it was for.
    pub role: EpisodeRole,
    /// The goal held at its end.
    pub won: bool,
    /// Why it ended.
    pub reason: EndReason,
    /// Steps that counted.
    pub steps: u32,
    /// World actions.
    pub moves: u32,
    /// The progress rate at its end.
    pub progress: f64,
    /// Calls to the actor and mentor.
    pub calls: u32,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// A person had a hand in it.
    pub assisted: bool,
    /// Its first and last event.
    #[serde(rename = "span")]
    pub seq_range: (u64, u64),
    /// What the fold of the episode adds; it does not stand in the event, so old sessions have it too.
    #[serde(default, skip_serializing_if = "EpisodeStats::is_empty")]
    #[serde(rename = "hindsight")]
    pub stats: EpisodeStats,
}

impl EpisodeSummary {
    /// The share of its world actions that the world accepted, from 0 to 1; none where there was no action.
    pub fn grounding(&self) -> Option<f64> {
        let refused = self.stats.invalid_moves.min(self.moves);
        (self.moves > 0).then(|| f64::from(self.moves - refused) / f64::from(self.moves))
    }
}

/// What is known of an ended episode beyond the event of its end: small, for lists and rates of many episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeStats {
    /// The last step that raised the progress rate; 0: none did.
    #[serde(default)]
    pub progress_step: u32,
    /// World actions that the world did not accept.
    #[serde(default)]
    #[serde(rename = "invalid")]
    pub invalid_moves: u32,
    /// Milliseconds in which it moved: not while it waited for a person.
    #[serde(default)]
    #[serde(rename = "millis")]
    pub active_millis: u64,
    /// Mistakes that detectors noted, (detector, how often), by name.
    #[serde(default)]
    pub mistakes: Vec<(String, u32)>,
    /// Tokens of its calls by who counted them, and what they cost.
    #[serde(default, skip_serializing_if = "TokenCounts::is_empty")]
    #[serde(rename = "counted")]
    pub token_counts: TokenCounts,
}

impl EpisodeStats {
    /// Nothing is known, or there is nothing to be known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Name of the setting that says how many of a run's tasks, its first, are played to learn from.
pub const CALIBRATION_SETTING: &str = "calibration";
/// Name of the setting that says how many of the tasks behind those are explored without a goal.
pub const EXPLORATION_SETTING: &str = "exploration";

impl RunSpec {
    /// The tasks that are played to learn from before any is tested: the first of the list.
    pub fn calibration_tasks(&self) -> &[Task] {
        &self.tasks[..self.phase_bounds().0]
    }

    /// The tasks that are explored without a goal, between calibration and tests.
    pub fn exploration_tasks(&self) -> &[Task] {
        let (from, to) = self.phase_bounds();
        &self.tasks[from..to]
    }

    /// The tasks that count.
    pub fn test_tasks(&self) -> &[Task] {
        &self.tasks[self.phase_bounds().1..]
    }

    /// Where exploration and tests begin in the list of tasks.
    fn phase_bounds(&self) -> (usize, usize) {
        let number = |name| usize::try_from(self.settings.number(name, 0)).unwrap_or(usize::MAX);
        let from = number(CALIBRATION_SETTING).min(self.tasks.len());
        (from, from.saturating_add(number(EXPLORATION_SETTING)).min(self.tasks.len()))
    }
}

impl Settings {
    /// The value of a setting as a whole number, or `or` where it is absent or of another type.
    pub fn number(&self, name: &str, or: u64) -> u64 {
        self.0.get(name).and_then(|s| s.value.as_u64()).unwrap_or(or)
    }

    /// The value of a setting as a switch, or `or` where it is absent or of another type.
    pub fn flag(&self, name: &str, or: bool) -> bool {
        self.0.get(name).and_then(|s| s.value.as_bool()).unwrap_or(or)
    }

    /// The value of a setting as a word, or `or` where it is absent or of another type.
    pub fn text<'a>(&'a self, name: &str, or: &'a str) -> &'a str {
        self.0.get(name).and_then(|s| s.value.as_str()).unwrap_or(or)
    }

    /// Sets a value and says where it comes from.
    pub fn set(&mut self, name: &str, value: impl Into<Value>, origin: SettingOrigin) {
        self.0.insert(name.to_owned(), Setting { value: value.into(), origin });
    }
}
