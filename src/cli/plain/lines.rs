//! The branches of a session, line by line.

use super::PlainSession;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::driver::Fork;
use crate::engine::Command;
use crate::journal::{Branch, Session, SessionStatus};

impl PlainSession {
    pub(super) fn open_session(&self) -> Result<Session, CliError> {
        Ok(Session::open(std::path::Path::new(&self.printer.path))?)
    }

    /// Goes back to the proposal of a step and on from there.
    pub(super) async fn fork_at_step(&mut self, step: u32, then: Vec<Command>) -> Result<(), CliError> {
        let Some(at) = crate::driver::decision_seq(&self.handle.store.timeline(), step) else {
            return self.print_line(&format!("step {step} is not in the episode that is open here"));
        };
        match self.handle.fork(Fork { at_seq: at, commands: then, ..Fork::default() }).await {
            // The branch is told with its events.
            Ok(_) => Ok(()),
            Err(refusal) => self.print_line(&format!("{}; {}", refusal.message, refusal.hint)),
        }
    }

    pub(super) async fn switch_branch(&mut self, to: &str) -> Result<(), CliError> {
        let branch = match locate::find_branch(&self.open_session()?, to) {
            Ok(branch) => branch,
            Err(error) => return self.print_line(&format!("{}; {}", error.message, error.hint)),
        };
        match self.handle.switch(branch).await {
            Ok(()) => Ok(()),
            Err(refusal) => self.print_line(&format!("{}; {}", refusal.message, refusal.hint)),
        }
    }

    pub(super) fn list_branches(&mut self) -> Result<(), CliError> {
        let here = self.handle.store.branch();
        for branch in self.open_session()?.branches()? {
            let mark = if branch.header.id == here { "*" } else { " " };
            self.print_line(&format!("{mark} {}", format_branch(&branch)))?;
        }
        Ok(())
    }
}

/// A branch in one line.
fn format_branch(branch: &Branch) -> String {
    if let Some(error) = &branch.read_error {
        return format!("{} cannot be read: {error}", branch.header.id);
    }
    let name = branch.label.name.as_deref().map_or(String::new(), |n| format!(" ({n})"));
    let from = branch.header.parent.as_ref().map_or(String::new(), |parent| {
        format!(" from {parent} after event {}: {}", branch.header.at_seq, branch.root_change)
    });
    let standing = match branch.status {
        SessionStatus::Live => ", being written",
        SessionStatus::Crashed => ", was not closed in order",
        SessionStatus::Closed => "",
    };
    let note = branch.label.note.as_deref().map_or(String::new(), |n| format!("; {n}"));
    let archived = if branch.label.archived { " [archived]" } else { "" };
    format!(
        "{}{name}{archived}{from}; {}, {} steps, {} tokens{standing}{note}",
        branch.header.id, branch.outcome, branch.steps, branch.tokens
    )
}
