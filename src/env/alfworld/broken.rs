//! What is wrong with a game, before the file's name is known to it.

use crate::env::EnvError;

/// A place in a game file and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) place: String,
    pub(super) reason: String,
}

impl Broken {
    pub(super) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }

    /// The same with the file it is about.
    pub(super) fn of(self, file: &str) -> EnvError {
        EnvError::Broken { file: file.to_owned(), place: self.place, reason: self.reason }
    }
}

/// A piece of hostile text, short enough for a message.
pub(super) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut short: String = text.chars().take(LENGTH).collect();
    if text.chars().nth(LENGTH).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}
