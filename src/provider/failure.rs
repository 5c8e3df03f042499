//! Why no answer came, as a person reads it and as a policy may ask for it.

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// Nobody has an answer to this question (a recording, a script).
    #[default]
    NoAnswer,
    /// The endpoint is described in a way that cannot work; nothing was sent.
    Setup,
    /// No connection, or it broke before anything of an answer had come.
    Unreachable,
    /// Nothing came in time.
    TimedOut,
    /// The key is missing or wrong (401).
    Credentials,
    /// There is no credit or quota left (402, or 429 with that reason).
    Credit,
    /// The server forbids it (403).
    Forbidden,
    /// There is no such address or model (404).
    NotFound,
    /// The server does not take the request (400, 422 and the like).
    Refused,
    /// The prompt is longer than the model's context.
    TooLong,
    /// The server has no room now (408, 409, 429, 503).
    Busy,
    /// The server failed (other 5xx, or an error in the stream).
    ServerFault,
    /// The stream ended without a word.
    Empty,
    /// The answer broke off; [`ProviderError::partial`] keeps what had come.
    CutOff,
    /// What came is no answer of a model server.
    Odd,
}

/// Why no answer came, in words for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ProviderError {
    /// What happened.
    pub what: String,
    /// What to do next.
    pub next: String,
    /// Which kind of failure.
    pub kind: FailureKind,
    /// The status of the HTTP answer, where there was one.
    pub status: Option<u16>,
    /// What had come of the answer before it failed; it is no answer.
    pub partial: String,
}

impl ProviderError {
    /// A failure in words, of no more precise a kind.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into(), ..Self::default() }
    }

    /// The same failure of this kind.
    pub fn of_kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
        self
    }
}
