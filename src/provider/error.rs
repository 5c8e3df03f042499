//! Why no answer came, as a person reads it and as a policy may ask for it.

pub use crate::domain::FailureKind;

/// Why no answer came, in words for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Which kind of failure.
    pub kind: FailureKind,
    /// The status of the HTTP answer, where there was one.
    pub status: Option<u16>,
    /// What had come of the answer before it failed; it is no answer.
    pub partial_reply: String,
}

impl ProviderError {
    /// A failure in words, of no more precise a kind.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { message: what.into(), hint: next.into(), ..Self::default() }
    }

    /// The same failure of this kind.
    pub fn with_kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
        self
    }
}
