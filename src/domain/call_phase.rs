//! The phases of a model call.

use std::time::Duration;

/// What a model call is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallPhase {
    #[default]
    Connecting,
    /// The request is sent; no token has arrived.
    Waiting,
    Reasoning,
    Answering,
    /// The attempt failed; the next one begins after this time.
    Retrying(Duration),
}
