//! Why a verb failed: said once, in words, with what to do next, and mapped to the exit code.

use crate::domain::Task;
use crate::driver::DriverError;
use crate::driver::worlds::WorldError;
use crate::env::EnvError;
use crate::journal::JournalError;
use crate::signals::{self, EndSignal};
use serde_json::json;
use std::path::Path;

/// What kind of failure; the word in `{"error":{"kind":..}}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CliErrorKind {
    /// The command line.
    Usage,
    /// The configuration file or an environment variable.
    Config,
    /// A file that could not be read or written.
    File,
    /// A session.
    Session,
    /// A world or a task.
    World,
    /// A method, actor or template.
    Method,
    /// A run that stopped by its error policy or by a breakpoint.
    Stopped,
    /// A check that found something.
    Check,
    /// Ctrl-C or a signal.
    Interrupted,
    /// Nobody reads our output any more; nothing is said.
    OutputClosed,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// Its kind.
    pub kind: CliErrorKind,
    /// What happened, and where.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

/// What is quoted of a file or a line may be of any length; a sentence for a person is not.
fn shortened(mut words: String) -> String {
    const MAX_CHARS: usize = 2000;
    if let Some((end, _)) = words.char_indices().nth(MAX_CHARS) {
        words.truncate(end);
        words.push_str(" ... (cut)");
    }
    words
}

impl CliError {
    /// A failure with its advice.
    pub fn new(kind: CliErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: shortened(message.into()), hint: shortened(hint.into()) }
    }

    /// The command line asks for what cannot be.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(CliErrorKind::Usage, message, hint)
    }

    /// A file that could not be read or written.
    pub fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        Self::new(
            CliErrorKind::File,
            format!("{}: {action}: {error}", path.display()),
            "check the path and its permissions",
        )
    }

    /// A signal ended it.
    pub fn interrupted(hint: impl Into<String>) -> Self {
        let message = match signals::pending_signal() {
            None | Some(EndSignal::INTERRUPT) => "interrupted".to_owned(),
            Some(signal) => format!("interrupted by {}", signal.name()),
        };
        Self::new(CliErrorKind::Interrupted, message, hint)
    }

    /// Nobody reads our output.
    pub fn output_closed() -> Self {
        Self::new(CliErrorKind::OutputClosed, "", "")
    }

    /// The exit code it comes to.
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

    /// As one JSON object.
    pub fn json(&self) -> String {
        // The order of the fields is part of the interface, so the object is put together by hand.
        format!(
            "{{\"error\":{{\"kind\":{},\"message\":{},\"hint\":{}}}}}",
            json!(self.kind.name()),
            json!(self.message),
            json!(self.hint)
        )
    }
}

impl CliErrorKind {
    /// The word for it.
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
            JournalError::Io { .. } => "check the path, its permissions and the space on the disk",
            JournalError::TooDeep { .. } => "fork from an earlier branch",
            JournalError::Changed { .. } => "put the file back, or go on from a copy of the session",
            JournalError::Malformed { .. } => {
                "the file was changed or damaged outside of this program; restore it from a copy"
            }
            JournalError::BadName { .. } => {
                "choose a name that no other branch has, without `#`, `@` and `/`"
            }
            JournalError::TooLong { .. } => "give the branch a short name, and say more in a note",
            JournalError::Locked { .. } => "wait for the other program, or end it",
            JournalError::NoSession { .. } | JournalError::NoBranch { .. } => {
                "`retrospect sessions` lists what there is"
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
                Self::new(CliErrorKind::Session, error.to_string(), "close other programs, then try again")
            }
            DriverError::Refused(why, next) => Self::new(CliErrorKind::Session, why, next),
        }
    }
}

impl From<WorldError> for CliError {
    fn from(error: WorldError) -> Self {
        let kind = match &error {
            WorldError::UnknownEnv { .. }
            | WorldError::UnknownTask { .. }
            | WorldError::NoTaskChosen { .. }
            | WorldError::Unplayable { .. }
            | WorldError::NoData { .. } => CliErrorKind::Usage,
            WorldError::Io { .. } | WorldError::List { .. } | WorldError::Env(_) => CliErrorKind::World,
        };
        Self::new(kind, error.to_string(), error.hint())
    }
}

/// A world that could not be opened or played.
pub fn world_error(task: &Task, error: &EnvError) -> CliError {
    let hint = match error {
        EnvError::Broken { .. } => "mend or replace the file, or choose another task",
        EnvError::Refused { .. } => "choose another task: `retrospect tasks` lists them",
        EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
            "start again; `retrospect doctor` says what works here"
        }
    };
    CliError::new(CliErrorKind::World, format!("{} {}: {error}", task.env, task.id), hint)
}

/// The command that takes a session up again. Who started the program by its path may not have it in the search path.
pub fn resume_command(session: &str) -> String {
    let invoked = std::env::args_os().next().unwrap_or_default();
    format_resume_command(&invoked.to_string_lossy(), session)
}

fn format_resume_command(invoked: &str, session: &str) -> String {
    let program = if invoked.contains(['/', '\\']) { invoked } else { "retrospect" };
    format!("{program} resume {session}")
}

#[cfg(test)]
mod tests {
    use super::format_resume_command;

    #[test]
    fn the_resume_line_works_for_who_ran_cargo() {
        assert_eq!(
            format_resume_command("target/release/retrospect", "s/1"),
            "target/release/retrospect resume s/1"
        );
        assert_eq!(format_resume_command("retrospect", "s/1"), "retrospect resume s/1");
        assert_eq!(format_resume_command("", "--last"), "retrospect resume --last");
    }
}
