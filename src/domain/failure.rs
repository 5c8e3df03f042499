//! Why a call to a model failed.

use serde::{Deserialize, Serialize};

/// A failure kind says why a call to a model failed, such as a timeout or a missing key. A call to an environment has one only if
/// it timed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The recording or script has no reply to this prompt.
    #[default]
    NoAnswer,
    /// The endpoint's configuration cannot work; nothing was sent.
    #[serde(rename = "setup")]
    Misconfigured,
    /// No connection, or it was lost before any part of the reply arrived.
    Unreachable,
    /// No reply within the time limit.
    TimedOut,
    /// The key is missing or invalid (401).
    Credentials,
    /// No credit or quota is left (402, or 429 with that reason).
    #[serde(rename = "credit")]
    OutOfCredit,
    /// The server denies access (403).
    Forbidden,
    /// The address or the model doesn't exist (404).
    NotFound,
    /// The server rejects the request (400, 422 and similar).
    #[serde(rename = "refused")]
    BadRequest,
    /// The prompt exceeds the model's context length.
    TooLong,
    /// The server is overloaded or limits the request rate, or a gateway doesn't reach it (408, 409, 429, 502, 503, 504).
    Busy,
    /// The server failed (any other 5xx, or an error inside the stream).
    ServerFault,
    /// The stream ended without any content.
    #[serde(rename = "empty")]
    EmptyReply,
    /// The stream was interrupted; what had arrived doesn't count as a reply.
    #[serde(rename = "cut_off")]
    Interrupted,
    /// The response isn't in the format of a model server.
    #[serde(rename = "odd")]
    InvalidResponse,
    /// The model replied, in every attempt, with text from which no action can be parsed.
    Unusable,
    /// The provider panicked.
    #[serde(rename = "broken")]
    Panicked,
    /// A kind written by a later version of the program.
    #[serde(other)]
    Unknown,
}

impl FailureKind {
    /// Returns whether a retry without changes may succeed. For every other kind something must be changed first.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Unreachable
                | Self::TimedOut
                | Self::Busy
                | Self::ServerFault
                | Self::Interrupted
                | Self::Panicked
                | Self::Unknown
        )
    }
}
