//! What is to be done.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// One thing to do in one environment. The goal text is what the world states; it is empty until the world was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Name of the environment: `household`, `alfworld`, ...
    pub env: String,
    /// Name of the task inside its environment, stable across machines where the environment's is.
    pub id: String,
    /// The goal sentence, without its introduction.
    #[serde(default)]
    pub goal: String,
    /// The environment's own type name, such as `pick_heat_then_place_in_recep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// AgentBoard's word of difficulty, `easy` or `hard`, where a label file gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<String>,
    /// Seed of the world's own chance.
    #[serde(default)]
    pub seed: u64,
}

impl Task {
    /// What makes it the same task as another: environment, id and seed.
    pub fn key(&self) -> String {
        format!("{}\n{}\n{}", self.env, self.id, self.seed)
    }

    /// [`Task::key`] as a number, for lists of many tasks: two tasks of the same number are the same.
    pub fn key_hash(&self) -> u64 {
        let hash = Sha256::digest(self.key().as_bytes());
        hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// What an episode is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeRole {
    /// Counted in every rate.
    #[default]
    Test,
    /// Played to learn from; never counted.
    Calibrate,
    /// As [`Calibrate`](Self::Calibrate), and the agent is not told the goal: it explores (OmniReflect's task-agnostic setting).
    Explore,
}

impl EpisodeRole {
    /// Played to learn from: in no rate.
    pub fn is_calibration(self) -> bool {
        self != Self::Test
    }
}
