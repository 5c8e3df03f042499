//! The branches of a session, line by line.

use super::Talk;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::driver::Fork;
use crate::engine::Command;
use crate::journal::{Branch, Session, Standing};

impl Talk {
    pub(super) fn session(&self) -> Result<Session, CliError> {
        Ok(Session::open(std::path::Path::new(&self.teller.path))?)
    }

    /// Goes back to the proposal of a step and on from there.
    pub(super) async fn fork(&mut self, step: u32, then: Vec<Command>) -> Result<(), CliError> {
        let Some(at) = self.handle.store.proposal_of(step) else {
            return self.line(&format!("step {step} is not in the episode that is open here"));
        };
        match self.handle.fork(Fork { at, then, ..Fork::default() }).await {
            // The branch is told with its events.
            Ok(_) => Ok(()),
            Err(refusal) => self.line(&format!("{}; {}", refusal.message, refusal.hint)),
        }
    }

    pub(super) async fn switch(&mut self, to: &str) -> Result<(), CliError> {
        let branch = match locate::branch_of(&self.session()?, to) {
            Ok(branch) => branch,
            Err(error) => return self.line(&format!("{}; {}", error.message, error.hint)),
        };
        match self.handle.switch(branch).await {
            Ok(()) => Ok(()),
            Err(refusal) => self.line(&format!("{}; {}", refusal.message, refusal.hint)),
        }
    }

    pub(super) fn branches(&mut self) -> Result<(), CliError> {
        let here = self.handle.store.branch();
        for branch in self.session()?.branches()? {
            let mark = if branch.header.id == here { "*" } else { " " };
            self.line(&format!("{mark} {}", row(&branch)))?;
        }
        Ok(())
    }
}

/// A branch in one line.
fn row(branch: &Branch) -> String {
    if let Some(error) = &branch.fault {
        return format!("{} cannot be read: {error}", branch.header.id);
    }
    let name = branch.label.name.as_deref().map_or(String::new(), |n| format!(" ({n})"));
    let from = branch.header.parent.as_ref().map_or(String::new(), |parent| {
        format!(" from {parent} after event {}: {}", branch.header.at_seq, branch.root)
    });
    let standing = match branch.standing {
        Standing::Live => ", being written",
        Standing::Crashed => ", was not closed in order",
        Standing::Closed => "",
    };
    let note = branch.label.note.as_deref().map_or(String::new(), |n| format!("; {n}"));
    let archived = if branch.label.archived { " [archived]" } else { "" };
    format!(
        "{}{name}{archived}{from}; {}, {} steps, {} tokens{standing}{note}",
        branch.header.id, branch.outcome, branch.steps, branch.tokens
    )
}
