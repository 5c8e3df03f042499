//! What stands around an event: its place, its cause, and why a session stands still.

use super::Event;
use crate::domain::Seq;
use serde::{Deserialize, Serialize};

/// An event with its place, its time and what brought it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Place in its branch.
    pub seq: Seq,
    /// When the driver stamped it; no decision ever reads it.
    #[serde(rename = "at")]
    pub timestamp: jiff::Timestamp,
    /// What brought it.
    pub cause: Cause,
    /// The next event belongs to the same batch; a batch that is not whole at the end of a file was never acknowledged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "more")]
    pub batch_continues: bool,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What an event goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A person's or a script's command.
    Person,
    /// A model's reply.
    Model,
    /// The world's reply.
    World,
    /// The method and the engine's own rules.
    Policy,
    /// A timer.
    Timer,
}
