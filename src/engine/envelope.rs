//! The envelope of an event: its position, time and cause.

use super::Event;
use crate::domain::Seq;
use serde::{Deserialize, Serialize};

/// An event with its position in the branch, its time and its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Position in its branch.
    pub seq: Seq,
    /// When the driver wrote the event.
    #[serde(rename = "at")]
    pub timestamp: jiff::Timestamp,
    pub cause: Cause,
    /// Whether the next event belongs to the same batch. If a journal file ends within a batch, the program was
    /// interrupted while it wrote the batch, and readers ignore the whole batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "more")]
    pub batch_continues: bool,
    #[serde(flatten)]
    pub event: Event,
}

/// What caused an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A person's or a script's command.
    Person,
    /// A model's reply.
    Model,
    /// The environment's answer.
    World,
    /// The method or the engine itself, without input.
    Policy,
    /// The result of a job.
    Job,
    /// The timer of the episode's time limit.
    Timer,
}
