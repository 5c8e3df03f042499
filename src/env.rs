//! Worlds that answer text with text. The native ones are pure: they take bytes and never open a file.

pub mod alfworld;
pub mod babyai;
pub mod household;
mod labelled_rng;
pub mod pddl;
mod task_name;

use crate::domain::{EnvInfo, StepResult};
use std::any::Any;

/// A world opened for one task.
///
/// Implementations are deterministic where [`EnvInfo::deterministic`] says so: the same bytes, seed and
/// actions give the same turns.
pub trait Environment: Send {
    /// What this world can do.
    fn info(&self) -> EnvInfo;

    /// Begins the episode anew and gives the first observation.
    ///
    /// # Errors
    /// [`EnvError`] when the world cannot be brought to its start.
    fn reset(&mut self) -> Result<StepResult, EnvError>;

    /// Takes one action. An action that the world does not understand is a turn with `valid` false, not an error.
    ///
    /// # Errors
    /// [`EnvError`] when the world itself failed.
    fn step(&mut self, action: &str) -> Result<StepResult, EnvError>;

    /// The actions the world would accept now, in the environment's own order.
    ///
    /// # Errors
    /// [`EnvError`] when the world itself failed.
    fn admissible(&mut self) -> Result<Vec<String>, EnvError>;

    /// A way to the goal from here, for a person who asks: what to do next, in words. The world does not move. None where this
    /// world knows no way to look for one; what was looked for and not found is said in the words.
    fn hint(&mut self) -> Option<String> {
        None
    }

    /// The fields of `play --json`'s `world` object (ALFWorld: `inventory`).
    fn world_summary(&self) -> serde_json::Value {
        serde_json::Value::Object(serde_json::Map::new())
    }

    /// A copy of the world's state, cheap to make and to keep; none where snapshots are not offered.
    fn snapshot(&self) -> Option<Snapshot> {
        None
    }

    /// Returns to a snapshot of this same world.
    ///
    /// # Errors
    /// [`EnvError::BadRequest`] when the snapshot is not one of this world.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let _ = snapshot;
        Err(EnvError::Refused { what: "this world offers no snapshots".to_owned() })
    }
}

/// The state of a world, opaque to everyone but the world it came from.
pub struct Snapshot(pub Box<dyn Any + Send + Sync>);

/// Why a world could not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EnvError {
    /// A file of the world is broken; `place` says where (line and column, or the part).
    #[error("{file}: {place}: {reason}")]
    Broken {
        /// The file, or the name under which its bytes were given.
        file: String,
        /// Where in it.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The world will not do what was asked.
    #[error("the world refused: {what}")]
    Refused {
        /// What was refused.
        what: String,
    },
    /// The world did not answer in time.
    #[error("the world did not answer within {millis} ms")]
    TimedOut {
        /// The deadline, in milliseconds.
        millis: u64,
    },
    /// The world's program ended.
    #[error("the world died: {what}")]
    Died {
        /// What is known of its end.
        what: String,
    },
    /// The world's answer was not understood.
    #[error("the world broke its protocol: {what}")]
    Protocol {
        /// What was wrong with it.
        what: String,
    },
}
