//! Text environments. The native ones are pure: they take bytes and never open a file. Those that are other programs are
//! built on [`external`].

pub mod alfworld;
pub mod babyai;
#[cfg(unix)]
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "starts processes, speaks to them and ends them"
)]
pub mod external;
mod external_program;
pub mod hotpotqa;
pub mod household;
mod label;
mod labelled_rng;
#[cfg(unix)]
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "finds and starts the browser, speaks to its driver and waits for pages"
)]
pub mod miniwob;
mod parsed_file;
pub mod pddl;
mod picture;
#[cfg(test)]
mod played_attempts;
#[cfg(unix)]
#[allow(clippy::disallowed_methods, reason = "waits until the system has removed killed processes")]
pub mod programming;
#[cfg(unix)]
#[cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "a test plays the gateway and the Java that starts it")
)]
pub mod scienceworld;
#[cfg(unix)]
pub mod stdio;
mod stop_handle;
mod task_access;
mod task_error;
mod task_name;
mod task_source;
mod time_limits;

pub use external_program::{ExternalProgram, ProgramLimits};
pub use label::{Label, LabelSource};
pub use stop_handle::{StopHandle, StopRegistration};
pub use task_access::{EnvironmentOption, OptionValues, TaskAccess, TaskFiles, TaskOptions};
pub use task_error::TaskError;
pub use task_source::{ExportedGame, TaskCheck, TaskSource};
pub use time_limits::TimeLimits;

pub use picture::list_values;

use crate::domain::{EnvInfo, StepResult, TrialInfo};
use std::any::Any;
use std::time::Duration;

/// An environment opened for one task.
///
/// If [`EnvInfo::deterministic`] is set, the same bytes, seed and actions produce the same step results.
pub trait Environment: Send {
    /// Returns the capabilities of this environment.
    fn info(&self) -> EnvInfo;

    /// Receives which trial of a run the next reset begins. Without it, the environment plays the only trial, without a run. One
    /// with snapshots must not depend on it: a snapshot of another trial may be restored.
    fn set_trial(&mut self, trial: TrialInfo) {
        drop(trial);
    }

    /// Starts the episode from the beginning and returns the first observation.
    ///
    /// # Errors
    /// [`EnvError`] if the environment can't be brought to its initial state.
    fn reset(&mut self) -> Result<StepResult, EnvError>;

    /// Executes one action. An action that the environment doesn't understand yields a result with `valid` false, not
    /// an error.
    ///
    /// # Errors
    /// [`EnvError`] if the environment itself fails.
    fn step(&mut self, action: &str) -> Result<StepResult, EnvError>;

    /// Executes an action after which the run ends the episode, because a limit allows no other. The result may also have what is
    /// kept of an episode's end, such as a picture in [`StepResult::truth`].
    ///
    /// # Errors
    /// The same as [`Environment::step`].
    fn last_step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.step(action)
    }

    /// Returns the actions that the environment would accept now, in its own order.
    ///
    /// # Errors
    /// [`EnvError`] if the environment itself fails.
    fn admissible(&mut self) -> Result<Vec<String>, EnvError>;

    /// Describes a plan to the goal for a person who asks, starting with the next action. Doesn't change the
    /// environment. Returns `None` if this environment cannot search for plans; an unsuccessful search is described in
    /// the text.
    ///
    /// # Errors
    /// [`EnvError`] if the environment itself fails.
    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        Ok(None)
    }

    /// Returns whether [`Environment::hint`] may fail or take long, because another program answers, or ends the episode. The
    /// environment of a run is not asked then, but a copy of it.
    fn is_hint_risky(&self) -> bool {
        false
    }

    /// Returns the fields of the `world` object in `play --json` (such as `inventory`).
    fn world_summary(&self) -> serde_json::Value {
        serde_json::Value::Object(serde_json::Map::new())
    }

    /// Looks at the state, as a person does who asks. Returns `None` if the environment can't be looked at.
    ///
    /// # Errors
    /// [`EnvError`] if looking fails, of which [`Environment::world_summary`] says nothing.
    fn peek(&self) -> Result<Option<serde_json::Value>, EnvError> {
        let summary = self.world_summary();
        Ok(summary.as_object().is_some_and(|fields| !fields.is_empty()).then_some(summary))
    }

    /// Returns a snapshot of the state, cheap to create and to keep, or `None` if snapshots are not supported.
    fn snapshot(&self) -> Option<Snapshot> {
        None
    }

    /// Returns whether a restored snapshot may be another state than it claims, as one that another program keeps. Then an
    /// action is replayed after each restore, so that a difference is noticed, and no action is tried in advance.
    fn snapshots_need_check(&self) -> bool {
        false
    }

    /// Restores a snapshot of this environment.
    ///
    /// # Errors
    /// [`EnvError::Refused`] if the snapshot belongs to another environment or snapshots are not supported.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let _ = snapshot;
        Err(EnvError::Refused { what: "this environment has no snapshots".to_owned() })
    }
}

/// The state of an environment, opaque to all code outside that environment.
pub struct Snapshot(pub Box<dyn Any + Send + Sync>);

/// Why an environment could not answer.
///
/// After [`EnvError::Refused`] it is unchanged and can be asked again. After any other error it is dropped; another one
/// takes its place, and the recorded actions are replayed there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EnvError {
    /// A file of the environment is malformed; `place` is the location (line and column, or the part).
    #[error("{file}: {place}: {reason}")]
    Broken {
        /// The file, or the label given with its bytes.
        file: String,
        place: String,
        reason: String,
    },
    /// The environment rejected a request.
    #[error("the environment reports an error: {what}")]
    Refused {
        /// The rejected request.
        what: String,
    },
    /// The environment didn't answer before the deadline.
    #[error("the environment did not answer within {millis} ms{}{}", unanswered(.request), after_semicolon(.last_output))]
    TimedOut {
        /// The deadline, in milliseconds.
        millis: u64,
        /// The request of our protocol that it has not answered; empty if it speaks no such protocol.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        request: String,
        /// What its program has printed last, in one line; empty if that is nothing or isn't known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        last_output: String,
    },
    /// The environment's program can't be executed, so nothing has been started.
    #[error("the environment's program can't be started: {what}")]
    NotStarted {
        /// The program, the reason, and what to do.
        what: String,
    },
    /// The environment's process ended.
    #[error("the environment crashed: {what}")]
    Died {
        /// What is known about the cause.
        what: String,
    },
    /// The environment's answer could not be understood.
    #[error("the environment violated its protocol: {what}")]
    Protocol { what: String },
}

impl EnvError {
    /// Returns the error for a deadline that has passed.
    pub fn timed_out(limit: Duration) -> Self {
        Self::TimedOut {
            millis: limit.as_millis() as u64,
            request: String::new(),
            last_output: String::new(),
        }
    }
}

fn unanswered(request: &str) -> String {
    if request.is_empty() {
        return String::new();
    }
    format!(" (request `{request}`; a program must flush its standard output after each reply)")
}

fn after_semicolon(last_output: &str) -> String {
    if last_output.is_empty() { String::new() } else { format!("; last output: {last_output}") }
}
