//! Why a PDDL text was refused.

use std::fmt;

/// Which of the two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PddlText {
    /// The domain: types, predicates, actions.
    Domain,
    /// The problem: objects, initial facts, goal.
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

/// Why a PDDL text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PddlError {
    /// The text is not what it must be.
    #[error("{part}, line {line}, column {column}: {reason}")]
    Text {
        /// Which text.
        part: PddlText,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// The task is larger than what is offered.
    #[error("{place}: more than {limit} {what}; the problem is too large for this program")]
    TooLarge {
        /// The part of the task.
        place: String,
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

impl PddlError {
    /// Where, in words.
    pub fn place(&self) -> String {
        match self {
            Self::Text { part, line, column, .. } => format!("{part}, line {line}, column {column}"),
            Self::TooLarge { place, .. } => place.clone(),
        }
    }

    /// What is wrong, without the place.
    pub fn reason(&self) -> String {
        match self {
            Self::Text { reason, .. } => reason.clone(),
            Self::TooLarge { what, limit, .. } => {
                format!("more than {limit} {what}; the problem is too large for this program")
            }
        }
    }
}

/// Grounding passed one of its limits.
pub(super) fn too_large(what: &'static str, limit: usize) -> PddlError {
    PddlError::TooLarge { place: "PDDL grounding".to_owned(), what, limit: limit as u64 }
}
