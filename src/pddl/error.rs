//! Errors of the PDDL parser and grounder.

use std::fmt;

/// Which of the two PDDL texts an error refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PddlText {
    Domain,
    Problem,
}

impl fmt::Display for PddlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Domain => "PDDL domain",
            Self::Problem => "PDDL problem",
        })
    }
}

/// Why a PDDL text was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PddlError {
    /// The text is malformed.
    #[error("{part}, line {line}, column {column}: {reason}")]
    Text {
        part: PddlText,
        /// Line, 1-based.
        line: usize,
        /// Column in bytes, 1-based.
        column: usize,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// The task exceeds a size limit.
    #[error("{place}: more than {limit} {what}; the problem is too large for this program")]
    TooLarge {
        /// The part of the task that is too large.
        place: String,
        /// The quantity that exceeds the limit.
        what: &'static str,
        limit: u64,
    },
}

impl PddlError {
    /// Returns the location of the error as text.
    pub fn place(&self) -> String {
        match self {
            Self::Text { part, line, column, .. } => format!("{part}, line {line}, column {column}"),
            Self::TooLarge { place, .. } => place.clone(),
        }
    }

    /// Returns the reason without the location.
    pub fn reason(&self) -> String {
        match self {
            Self::Text { reason, .. } => reason.clone(),
            Self::TooLarge { what, limit, .. } => {
                format!("more than {limit} {what}; the problem is too large for this program")
            }
        }
    }
}

/// Returns the error for a limit exceeded during grounding.
pub(super) fn too_large(what: &'static str, limit: usize) -> PddlError {
    PddlError::TooLarge { place: "PDDL grounding".to_owned(), what, limit: limit as u64 }
}
