//! Parses kinds and scopes of lessons as typed by a person.

use super::error::CliError;
use crate::domain::{ReflectionKind, Scope};

/// Parses a kind; ignores case.
pub(super) fn parse_kind(word: &str) -> Result<ReflectionKind, CliError> {
    serde_json::from_value(word.to_lowercase().into()).map_err(|_error| {
        CliError::usage(
            format!("unknown lesson kind {word:?}"),
            "choose abstract, error, progress, plan, experience, lesson, positive, negative or advice",
        )
    })
}

/// Parses a scope; ignores case and accepts `task type` and `task-type`.
pub(super) fn parse_scope(word: &str) -> Result<Scope, CliError> {
    serde_json::from_value(word.to_lowercase().replace([' ', '-'], "_").into()).map_err(|_error| {
        CliError::usage(
            format!("unknown lesson scope {word:?}"),
            "choose episode, task, task_type or environment",
        )
    })
}
