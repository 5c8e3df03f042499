//! Kinds and scopes of lessons, by the words that a person types.

use super::error::CliError;
use crate::domain::{ReflectionKind, Scope};

/// A kind by its word.
pub(super) fn parse_kind(word: &str) -> Result<ReflectionKind, CliError> {
    serde_json::from_value(word.to_lowercase().into()).map_err(|_error| {
        CliError::usage(
            format!("there is no kind {word:?}"),
            "choose abstract, error, progress, plan, experience, lesson, positive, negative or advice",
        )
    })
}

/// A scope by its word.
pub(super) fn parse_scope(word: &str) -> Result<Scope, CliError> {
    serde_json::from_value(word.to_lowercase().replace([' ', '-'], "_").into()).map_err(|_error| {
        CliError::usage(
            format!("there is no scope {word:?}"),
            "choose episode, task, task_type or environment",
        )
    })
}
