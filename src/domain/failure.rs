//! What kind of failure a call to a model came to.

use serde::{Deserialize, Serialize};

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Nobody has an answer to this question (a recording, a script).
    #[default]
    NoAnswer,
    /// The endpoint is described in a way that cannot work; nothing was sent.
    #[serde(rename = "setup")]
    Misconfigured,
    /// No connection, or it broke before anything of an answer had come.
    Unreachable,
    /// Nothing came in time.
    TimedOut,
    /// The key is missing or wrong (401).
    Credentials,
    /// There is no credit or quota left (402, or 429 with that reason).
    #[serde(rename = "credit")]
    OutOfCredit,
    /// The server forbids it (403).
    Forbidden,
    /// There is no such address or model (404).
    NotFound,
    /// The server does not take the request (400, 422 and the like).
    #[serde(rename = "refused")]
    BadRequest,
    /// The prompt is longer than the model's context.
    TooLong,
    /// The server has no room now (408, 409, 429, 503).
    Busy,
    /// The server failed (other 5xx, or an error in the stream).
    ServerFault,
    /// The stream ended without a word.
    #[serde(rename = "empty")]
    EmptyReply,
    /// The answer broke off; what had come is no answer.
    #[serde(rename = "cut_off")]
    Interrupted,
    /// What came is no answer of a model server.
    #[serde(rename = "odd")]
    InvalidResponse,
    /// The model answered, as often as it was asked, and nothing in it says what to do.
    Unusable,
    /// The program that answers broke (a panic).
    #[serde(rename = "broken")]
    Panicked,
    /// A kind that a later version knows.
    #[serde(other)]
    Unknown,
}

impl FailureKind {
    /// Its name in the journal and in JSON lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoAnswer => "no_answer",
            Self::Misconfigured => "setup",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Credentials => "credentials",
            Self::OutOfCredit => "credit",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::BadRequest => "refused",
            Self::TooLong => "too_long",
            Self::Busy => "busy",
            Self::ServerFault => "server_fault",
            Self::EmptyReply => "empty",
            Self::Interrupted => "cut_off",
            Self::InvalidResponse => "odd",
            Self::Unusable => "unusable",
            Self::Panicked => "broken",
            Self::Unknown => "unknown",
        }
    }

    /// The same question may well be answered when it is asked again as it is; of all others something has to change first.
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
