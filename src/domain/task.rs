//! Tasks and the roles of their episodes.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A task is what an agent has to do: an environment, a task id, a goal and a seed. The goal is the environment's own
/// text; it is empty until the environment has been reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Name of the environment.
    pub env: String,
    /// Name of the task within its environment; identical on every machine only if the environment's own task names
    /// are.
    pub id: String,
    /// The goal sentence, without its introduction.
    #[serde(default)]
    pub goal: String,
    /// The environment's own type name, such as `pick_heat_then_place_in_recep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// AgentBoard's difficulty, `easy` or `hard`, if the task comes from an AgentBoard label file, whose rows may have
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<String>,
    /// Seed of the environment.
    #[serde(default)]
    pub seed: u64,
}

impl Task {
    /// Returns the task's identity: environment, id and seed.
    pub fn key(&self) -> String {
        Self::key_of(&self.env, &self.id, self.seed)
    }

    /// Returns whether two tasks have the same [`Task::key`].
    pub fn is_same(&self, other: &Self) -> bool {
        self.id == other.id && self.seed == other.seed && self.env == other.env
    }

    /// Returns the identity of the task with these parts.
    pub fn key_of(env: &str, id: &str, seed: u64) -> String {
        format!("{env}\n{id}\n{seed}")
    }

    /// Returns a hash of [`Task::key`] for long lists of tasks; tasks with equal hashes are treated as equal.
    pub fn key_hash(&self) -> u64 {
        let hash = Sha256::digest(self.key().as_bytes());
        hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// An episode's role says what the episode is for: counted as a test, or played only to learn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeRole {
    /// Counted in every rate.
    #[default]
    Test,
    /// Played to learn from; never counted.
    Calibrate,
    /// Like [`Calibrate`](Self::Calibrate), but the agent explores without knowing the goal (task-agnostic).
    Explore,
}

impl EpisodeRole {
    /// Returns whether the episode is played to learn from and so counts in no rate.
    pub fn is_calibration(self) -> bool {
        self != Self::Test
    }
}
