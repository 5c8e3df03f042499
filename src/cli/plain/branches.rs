//! Forks, switches and lists branches in plain mode.

use super::PlainSession;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::domain::pluralize;
use crate::driver::Fork;
use crate::engine::Command;
use crate::journal::{Branch, Session, SessionStatus};

impl PlainSession {
    pub(super) fn open_session(&self) -> Result<Session, CliError> {
        Ok(Session::open(std::path::Path::new(&self.printer.path))?)
    }

    /// Opens a branch at the proposal of `step` and sends it `commands`.
    pub(super) async fn fork_at_step(&mut self, step: u32, commands: Vec<Command>) -> Result<(), CliError> {
        let Some(at) = crate::driver::decision_seq(&self.handle.store.timeline(), step) else {
            return self.print_line(&format!("step {step} is not in the current episode"));
        };
        match self.handle.fork(Fork { at_seq: at, commands, ..Fork::default() }).await {
            // The events of the new branch are printed, which announces it.
            Ok(_) => Ok(()),
            Err(error) => self.print_message(&format!("{}; {}", error.message, error.hint)),
        }
    }

    pub(super) async fn switch_branch(&mut self, to: &str) -> Result<(), CliError> {
        let branch = match locate::find_branch(&self.open_session()?, to) {
            Ok(branch) => branch,
            Err(error) => return self.print_message(&format!("{}; {}", error.message, error.hint)),
        };
        match self.handle.switch(branch).await {
            Ok(()) => Ok(()),
            Err(error) => self.print_message(&format!("{}; {}", error.message, error.hint)),
        }
    }

    pub(super) fn list_branches(&mut self) -> Result<(), CliError> {
        let current = self.handle.store.branch();
        for branch in self.open_session()?.branches()? {
            let mark = if branch.header.id == current { "*" } else { " " };
            self.print_line(&format!("{mark} {}", format_branch(&branch)))?;
        }
        Ok(())
    }
}

/// Describes a branch in one line.
fn format_branch(branch: &Branch) -> String {
    if let Some(error) = &branch.read_error {
        return format!("{} cannot be read: {error}", branch.header.id);
    }
    let name = branch.label.name.as_deref().map_or(String::new(), |n| format!(" ({n})"));
    let parent = branch.header.parent.as_ref().map_or(String::new(), |parent| {
        format!(" from {parent} after event {}: {}", branch.header.at_seq, branch.first_change)
    });
    let status = match branch.status {
        SessionStatus::Live => ", being written",
        SessionStatus::Crashed => ", not closed properly",
        SessionStatus::Closed => "",
    };
    let note = branch.label.note.as_deref().map_or(String::new(), |n| format!("; {n}"));
    let archived = if branch.label.archived { " [archived]" } else { "" };
    format!(
        "{}{name}{archived}{parent}; {}, {}, {} tokens{status}{note}",
        branch.header.id,
        branch.outcome,
        pluralize(branch.steps as u64, "step"),
        branch.tokens
    )
}
