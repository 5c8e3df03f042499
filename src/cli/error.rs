//! Errors of verbs: a message, a hint what to do next, and the exit code.

use crate::domain::Task;
use crate::driver::DriverError;
use crate::env::EnvError;
use crate::env::TaskError;
use crate::journal::JournalError;
use crate::signals::{self, EndSignal};
use crate::text::{program_name, with_program_name};
use serde_json::json;
use std::path::Path;

/// Kind of an error; [`CliErrorKind::name`] is the value of `{"error":{"kind":..}}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CliErrorKind {
    /// Invalid command line.
    Usage,
    /// Invalid configuration file or environment variable.
    Config,
    /// A file that could not be read or written.
    File,
    /// A session that cannot be opened, read or continued.
    Session,
    /// An environment or a task.
    World,
    /// A method, actor or template.
    Method,
    /// A run stopped by its error policy or by a breakpoint.
    Stopped,
    /// A check that found a problem.
    Check,
    /// Ctrl-C or a signal.
    Interrupted,
    /// Standard output is closed (broken pipe); nothing is printed.
    OutputClosed,
}

/// An error of a verb.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    pub kind: CliErrorKind,
    /// What failed, with which value, where.
    pub message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

/// Truncates a text to 2,000 characters: quoted file content may have any length.
fn truncate_message(mut text: String) -> String {
    const MAX_CHARS: usize = 2000;
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        text.push_str(" ... (cut)");
    }
    text
}

impl CliError {
    /// Creates an error with a hint.
    pub fn new(kind: CliErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let named = |text: String| truncate_message(with_program_name(&text).into_owned());
        Self { kind, message: named(message.into()), hint: named(hint.into()) }
    }

    /// Creates an error of the command line.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CliErrorKind::Usage, message, hint)
    }

    /// Creates the error for a file that could not be read or written.
    pub fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<std::str::Utf8Error>) {
            let message = format!("{}: {action}: it isn't a text file ({error})", path.display());
            return Self::new(CliErrorKind::File, message, "name a file with UTF-8 text");
        }
        Self::new(
            CliErrorKind::File,
            format!("{}: {action}: {error}", path.display()),
            "check the path and its permissions",
        )
    }

    /// Creates the error of a verb that Ctrl-C or a signal ended.
    pub fn interrupted(hint: impl Into<String>) -> Self {
        let message = match signals::pending_signal() {
            None | Some(EndSignal::INTERRUPT) => "interrupted".to_owned(),
            Some(signal) => format!("interrupted by {}", signal.name()),
        };
        Self::new(CliErrorKind::Interrupted, message, hint)
    }

    /// Creates the error for a closed standard output.
    pub fn output_closed() -> Self {
        Self::new(CliErrorKind::OutputClosed, "", "")
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            CliErrorKind::OutputClosed => 0,
            CliErrorKind::Usage => 2,
            CliErrorKind::Stopped => 3,
            CliErrorKind::Interrupted => {
                signals::pending_signal().unwrap_or(EndSignal::INTERRUPT).exit_code()
            }
            _ => 1,
        }
    }

    /// Formats the error as one JSON object.
    pub fn json(&self) -> String {
        // The order of the fields is part of the interface, so the object is formatted by hand.
        format!(
            "{{\"error\":{{\"kind\":{},\"message\":{},\"hint\":{}}}}}",
            json!(self.kind.name()),
            json!(self.message),
            json!(self.hint)
        )
    }
}

impl CliErrorKind {
    /// Returns the value of `kind` in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Config => "config",
            Self::File => "file",
            Self::Session => "session",
            Self::World => "world",
            Self::Method => "method",
            Self::Stopped => "stopped",
            Self::Check => "check",
            Self::Interrupted => "interrupted",
            Self::OutputClosed => "gone",
        }
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        let hint = match &error {
            JournalError::Io { .. } => "check the path, its permissions and the free disk space",
            JournalError::TooDeep { .. } => {
                "fork from an event that it shares with an earlier branch, or use `retrospect rerun`"
            }
            JournalError::Changed { .. } => "restore the file, or continue from a copy of the session",
            JournalError::Malformed { .. } => {
                "the file was changed or damaged outside this program; restore it from a copy"
            }
            JournalError::BadName { .. } => "choose a name that no other branch has, without `#`, `@` or `/`",
            JournalError::TooLong { .. } => "give the branch a short name and put the rest in a note",
            JournalError::Stopped(_) => "open it again",
            JournalError::Locked { .. } => "wait for the other program to finish, or end it",
            JournalError::NoSession { .. } | JournalError::NoBranch { .. } => {
                "`retrospect sessions` lists the sessions"
            }
        };
        Self::new(CliErrorKind::Session, error.to_string(), hint)
    }
}

impl From<DriverError> for CliError {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::Journal(error) => error.into(),
            DriverError::Thread(_) => {
                Self::new(CliErrorKind::Session, error.to_string(), "close other programs and try again")
            }
            DriverError::Refused(why, next) => Self::new(CliErrorKind::Session, why, next),
        }
    }
}

impl From<TaskError> for CliError {
    fn from(error: TaskError) -> Self {
        let kind = match &error {
            TaskError::UnknownEnv { .. }
            | TaskError::UnknownTask { .. }
            | TaskError::UnknownSplit { .. }
            | TaskError::NoTaskChosen { .. }
            | TaskError::Unplayable { .. }
            | TaskError::NoData { .. } => CliErrorKind::Usage,
            TaskError::Io { .. } | TaskError::List { .. } | TaskError::Env(_) => CliErrorKind::World,
        };
        Self::new(kind, error.to_string(), error.hint())
    }
}

/// Converts an error of opening or running an environment.
pub fn world_error(task: &Task, error: &EnvError) -> CliError {
    let hint = match error {
        EnvError::Broken { .. } => "fix or replace the file, or choose another task",
        EnvError::Refused { .. } => "choose another task: `retrospect tasks` lists them",
        EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
            "try again; `retrospect doctor` checks what works here"
        }
        EnvError::NotStarted { .. } => {
            "install or correct the program; `retrospect doctor` checks what works here"
        }
    };
    CliError::new(CliErrorKind::World, format!("{} {}: {error}", task.env, task.id), hint)
}

/// Returns the command that resumes a session, as the program was started: it may not be in the search path, and it may be
/// another one than `retrospect`, with environments of its own.
pub fn resume_command(session: &str) -> String {
    let invoked = std::env::args_os().next().unwrap_or_default();
    format_resume_command(&invoked.to_string_lossy(), session)
}

fn format_resume_command(invoked: &str, session: &str) -> String {
    let program = if invoked.is_empty() { program_name() } else { invoked };
    format!("{program} resume {session}")
}

#[cfg(test)]
mod tests {
    use super::format_resume_command;

    #[test]
    fn resume_command_keeps_the_path_of_the_program() {
        assert_eq!(
            format_resume_command("target/release/retrospect", "s/1"),
            "target/release/retrospect resume s/1"
        );
        assert_eq!(format_resume_command("retrospect", "s/1"), "retrospect resume s/1");
        assert_eq!(format_resume_command("counter", "s/1"), "counter resume s/1");
        assert_eq!(format_resume_command("", "--last"), "retrospect resume --last");
    }
}
