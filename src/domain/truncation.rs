//! Why a reply ended early.

use serde::{Deserialize, Serialize};

/// A truncation is the reason why a reply ended early, as reported by the server (`finish_reason`). A complete reply
/// has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// The token limit (`length`).
    Length,
    /// The server's content filter (`content_filter`).
    Filter,
    /// The model refused to answer (`refusal`): the text is the refusal, not an answer.
    Refusal,
    /// An unknown reason, or one that only a later version knows.
    #[serde(other)]
    Other,
}

impl Truncation {
    /// Returns what cut the reply off, as the object of "cut off by".
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "the token limit",
            Self::Filter => "the server's content filter",
            Self::Refusal => "a refusal",
            Self::Other => "the server",
        }
    }
}
