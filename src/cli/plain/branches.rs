//! Forks, switches and lists branches in plain mode.

use super::PlainSession;
use super::interpret::override_command;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::domain::{ShownAs, pluralize};
use crate::driver::{DecisionPoint, Fork, decision_point};
use crate::engine::Command;
use crate::journal::{Branch, Session, SessionStatus};

impl PlainSession {
    pub(super) fn open_session(&self) -> Result<Session, CliError> {
        Ok(Session::open(std::path::Path::new(&self.printer.path))?)
    }

    /// Opens a branch where `step` awaits its decision, and takes an action there: in place of the proposal, or if a person
    /// played the step, as their own.
    pub(super) async fn fork_at_step(&mut self, step: u32, action: Option<String>) -> Result<(), CliError> {
        let timeline = self.handle.store.timeline();
        let step_at = timeline.head().episode.as_deref().and_then(|episode| episode.step(step));
        let Some(point) = step_at.and_then(|step| decision_point(&timeline, step)) else {
            return self.print_line(&format!("step {step} is not in the current episode"));
        };
        let at = point.last_kept_seq();
        let command = action.map(|action| match point {
            DecisionPoint::Proposed(_) => {
                override_command(action, ShownAs::AgentAction, &self.handle.store.state_at(at))
            }
            DecisionPoint::Played(_) => Command::Act(action),
        });
        let commands = command.into_iter().collect();
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
