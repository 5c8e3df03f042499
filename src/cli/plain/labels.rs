//! What people call branches, line by line, and taking that back: no journal has it.

use super::PlainSession;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::domain::BranchId;
use crate::journal::LabelChange;

/// Another name, note or place of a branch, with what it was.
#[derive(Clone)]
struct LabelEdit {
    branch: BranchId,
    before: LabelChange,
    after: LabelChange,
}

/// Changes of what branches are called since the person last did something else.
#[derive(Default)]
pub(super) struct LabelHistory {
    done: Vec<LabelEdit>,
    undone: Vec<LabelEdit>,
}

impl PlainSession {
    /// Calls a branch otherwise, or puts it away.
    pub(super) fn edit_label(&mut self, branch: &str, now: LabelChange) -> Result<(), CliError> {
        let session = self.open_session()?;
        let labelled = locate::find_branch(&session, branch).and_then(|branch| {
            let label = session.labels()?.remove(&branch).unwrap_or_default();
            let was = match now {
                LabelChange::Name(_) => LabelChange::Name(label.name),
                LabelChange::Note(_) => LabelChange::Note(label.note),
                LabelChange::Archived(_) => LabelChange::Archived(label.archived),
            };
            session.set_label(&branch, now.clone())?;
            Ok(LabelEdit { branch, before: was, after: now })
        });
        match labelled {
            Ok(labelled) => {
                self.label_history.undone.clear();
                self.label_history.done.push(labelled);
                self.list_branches()
            }
            Err(error) => self.print_line(&format!("{}; {}", error.message, error.hint)),
        }
    }

    /// Takes back the last of them, or makes it again; whether there was one.
    pub(super) fn undo_or_redo_label(&mut self, back: bool) -> Result<bool, CliError> {
        let from = if back { &mut self.label_history.done } else { &mut self.label_history.undone };
        let Some(last) = from.pop() else { return Ok(false) };
        let (to, verb) = if back { (&last.before, "undone") } else { (&last.after, "redone") };
        if let Err(error) = self.open_session()?.set_label(&last.branch, to.clone()) {
            self.print_line(&error.to_string())?;
            return Ok(true);
        }
        let id = &last.branch;
        let what = match &last.after {
            LabelChange::Name(name) => format!("branch {id} called {}", name.as_deref().unwrap_or("nothing")),
            LabelChange::Note(note) => format!("note on branch {id}: {}", note.as_deref().unwrap_or("none")),
            LabelChange::Archived(true) => format!("branch {id} archived"),
            LabelChange::Archived(false) => format!("branch {id} taken out of the archive"),
        };
        self.print_line(&format!("{verb}: {what}"))?;
        if back { &mut self.label_history.undone } else { &mut self.label_history.done }.push(last);
        Ok(true)
    }
}
