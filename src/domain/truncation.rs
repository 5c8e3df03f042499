//! Why a reply ended before its author was done.

use serde::{Deserialize, Serialize};

/// What ended a reply early, as its server reports it (`finish_reason`). A reply without one is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// The token limit (`length`).
    Length,
    /// The server's content filter (`content_filter`).
    Filter,
    /// The model declined to answer: the text is its refusal (`refusal`) and no part of an answer.
    Refusal,
    /// A reason that is not known, or that only a later version knows.
    #[serde(other)]
    Other,
}

impl Truncation {
    /// What cut the reply off, as the object of "cut off by".
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "the token limit",
            Self::Filter => "the server's content filter",
            Self::Refusal => "a refusal",
            Self::Other => "the server",
        }
    }
}
