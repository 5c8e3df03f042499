//! Why a session stands still.

use serde::{Deserialize, Serialize};

/// Why a session stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A person asked for it.
    Person,
    /// A call failed.
    Failure,
    /// A step was granted and is done.
    StepDone,
    /// The episode ended.
    EpisodeEnd,
    /// The session was taken up again.
    Resume,
    /// A breakpoint's condition came true.
    Breakpoint,
}
