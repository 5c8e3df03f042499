//! Errors in a game before the file name is attached.

use crate::env::EnvError;

/// A location in a game file and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocatedError {
    pub(super) place: String,
    pub(super) reason: String,
}

impl LocatedError {
    pub(super) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }

    /// Attaches the file name.
    pub(super) fn in_file(self, file: &str) -> EnvError {
        EnvError::Broken { file: file.to_owned(), place: self.place, reason: self.reason }
    }
}

/// Returns an excerpt of untrusted text, short enough for an error message.
pub(super) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut short: String = text.chars().take(MAX_CHARS).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}
