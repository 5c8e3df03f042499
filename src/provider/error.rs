//! Failures of calls: a message for the person and a kind for the policy.

pub use crate::domain::FailureKind;

/// Why a call failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What failed, and where.
    pub message: String,
    /// What to do next.
    pub hint: String,
    pub kind: FailureKind,
    /// The HTTP status, if the server sent a response.
    pub status: Option<u16>,
    /// Text that had arrived before the failure. It is not a reply.
    pub partial_reply: String,
}

impl ProviderError {
    /// Creates a failure of the default kind.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), ..Self::default() }
    }

    /// Returns the failure with another kind.
    pub fn with_kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
        self
    }
}
