//! What the start screen offers, and what a person chooses there.

use crate::domain::SettingOrigin;
use serde_json::Value;
use std::path::PathBuf;

/// A task that can be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRow {
    pub id: String,
    /// The goal text; empty if it isn't known before the start.
    pub goal: String,
    /// A short name; tasks of the same type are listed together.
    pub task_type: String,
}

/// An environment with its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRow {
    /// The name that `--env` takes.
    pub name: String,
    /// Whether it is built in, where its data are, or why it has no tasks here.
    pub description: String,
    pub tasks: Vec<TaskRow>,
}

/// What the screen does when a setting changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SettingRole {
    /// A row of a paper's table, or a preset of the configuration; it brings its own settings.
    Preset,
    /// It brings its own settings.
    Method,
    /// Whether the paper or its public code is followed; it brings its own defaults.
    PaperOrCode,
    Actor,
    /// Some defaults depend on it.
    Mentor,
    /// The server profile of the actor's model.
    ActorProfile,
    /// The server profile of the mentor's model.
    MentorProfile,
    #[default]
    Other,
}

impl SettingRole {
    /// Returns whether settings of this role change which settings there are ([`SettingsWanted`]).
    pub(super) const fn decides_settings(self) -> bool {
        matches!(self, Self::Preset | Self::Method | Self::PaperOrCode)
    }
}

/// The page of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingGroup {
    /// Who acts and who reflects.
    Agent,
    Method,
    /// All others, below this heading.
    Advanced(&'static str),
}

/// A setting with its value and where that comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRow {
    /// The name in the configuration, such as `run.method`.
    pub name: String,
    pub role: SettingRole,
    pub group: SettingGroup,
    /// The name on the screen.
    pub label: String,
    pub value: String,
    pub origin: SettingOrigin,
    pub allowed: AllowedValues,
    /// One sentence about what the setting does.
    pub summary: String,
    /// Values with what each means; not all need one.
    pub meanings: Vec<(String, String)>,
    /// The environments that it concerns; empty for all. It is shown only if one of them is selected.
    pub environments: Vec<String>,
    /// Its values where they depend on the environment, the one for all others last; empty if they don't.
    pub by_environment: Vec<ValueInEnvironment>,
}

/// The value that a setting has in an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueInEnvironment {
    /// `None`: all that aren't listed.
    pub environment: Option<&'static str>,
    pub value: String,
    pub origin: SettingOrigin,
}

/// The values that a setting accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedValues {
    /// One of these words.
    OneOf(Vec<String>),
    /// An integer between the two, both included.
    Number(u64, u64),
    /// Free text, such as a path or the name of a model.
    Text {
        /// What is shown for an empty value.
        none_label: &'static str,
        suggestions: Vec<String>,
        /// A phrase for what to type, such as "a path".
        expected: &'static str,
    },
}

/// The value of the setting [`SettingRole::Preset`] that stands for no preset.
pub const NO_PRESET: &str = "none";

/// A combination of preset, method and `run.as`, each of which brings settings of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsWanted<'a> {
    /// The preset, or [`NO_PRESET`].
    pub preset: &'a str,
    /// `None` stands for the first method that the preset applies to.
    pub method: Option<&'a str>,
    /// `paper` or `code`.
    pub paper_or_code: &'a str,
}

/// Returns the settings of a combination, or `None` if the preset doesn't apply to the method.
pub type SettingsSource = Box<dyn Fn(SettingsWanted<'_>) -> Option<Vec<SettingRow>> + Send>;

/// A session that can be resumed or, once it is finished, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The session's folder.
    pub path: PathBuf,
    pub goal: String,
    /// `crashed`, `stopped` or `finished`.
    pub status: String,
    pub branches: u32,
    /// Episodes and time, for a list; of the branch written last.
    pub about: String,
    /// Steps, method, actor and mentor.
    pub details: String,
}

impl SessionRow {
    /// Returns whether the run has ended.
    pub fn is_finished(&self) -> bool {
        self.status == "finished"
    }
}

/// Everything the start screen offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartModel {
    pub environments: Vec<EnvironmentRow>,
    /// How many sessions there are, listed or not.
    pub session_count: usize,
    /// The index of the preselected environment.
    pub environment: usize,
    /// The index of the preselected task of that environment.
    pub task: usize,
    /// The settings, such as method and actor.
    pub settings: Vec<SettingRow>,
    /// Models (`openai:MODEL`), each with the server profile it uses.
    pub model_profiles: Vec<(String, String)>,
    /// The sessions, newest first.
    pub sessions: Vec<SessionRow>,
}

/// The person's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartChoice {
    /// Start a run.
    Run {
        env: String,
        task: String,
        /// The settings that the person changed: name and value.
        changed: Vec<(String, String)>,
    },
    /// Resume the session in this folder.
    Resume(PathBuf),
}

/// Data that is loaded while the screen is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartUpdate {
    /// Replaces the environment of the same name.
    Environment(EnvironmentRow),
    /// Replaces the list of sessions: the newest ones, and how many there are in all.
    Sessions { rows: Vec<SessionRow>, all: usize },
}

/// What an environment says at the start of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPreview {
    /// The goal, if the environment states it.
    pub goal: String,
    /// The first observation.
    pub text: String,
    /// What the agent knows then, for the environment's picture.
    pub shown: Value,
}

/// The task whose first observation is wanted: environment and task id.
pub type PreviewKey = (String, String);
