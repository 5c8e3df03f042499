//! Names, notes and archived flags of branches in plain mode. They have their own undo and redo, because they are not
//! journaled.

use super::PlainSession;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::domain::BranchId;
use crate::journal::LabelChange;

/// A change to a branch's name, note or archived flag, with the value before it.
#[derive(Clone)]
struct LabelEdit {
    branch: BranchId,
    before: LabelChange,
    after: LabelChange,
}

/// Label edits since the last command that wasn't a label edit.
#[derive(Default)]
pub(super) struct LabelHistory {
    done: Vec<LabelEdit>,
    undone: Vec<LabelEdit>,
}

impl PlainSession {
    /// Renames, annotates, archives or unarchives a branch, then lists the branches.
    pub(super) fn edit_label(&mut self, branch: &str, after: LabelChange) -> Result<(), CliError> {
        let session = self.open_session()?;
        let edit = locate::find_branch(&session, branch).and_then(|branch| {
            let label = session.labels()?.remove(&branch).unwrap_or_default();
            let before = match after {
                LabelChange::Name(_) => LabelChange::Name(label.name),
                LabelChange::Note(_) => LabelChange::Note(label.note),
                LabelChange::Archived(_) => LabelChange::Archived(label.archived),
            };
            session.set_label(&branch, after.clone())?;
            Ok(LabelEdit { branch, before, after })
        });
        match edit {
            Ok(edit) => {
                self.label_history.undone.clear();
                self.label_history.done.push(edit);
                self.list_branches()
            }
            Err(error) => self.print_message(&format!("{}; {}", error.message, error.hint)),
        }
    }

    /// Undoes the last label edit (`undo`) or redoes the last undone one; returns whether there was one.
    pub(super) fn undo_or_redo_label(&mut self, undo: bool) -> Result<bool, CliError> {
        let from = if undo { &mut self.label_history.done } else { &mut self.label_history.undone };
        let Some(last) = from.pop() else { return Ok(false) };
        let (to, verb) = if undo { (&last.before, "undone") } else { (&last.after, "redone") };
        if let Err(error) = self.open_session()?.set_label(&last.branch, to.clone()) {
            self.print_line(&error.to_string())?;
            return Ok(true);
        }
        let id = &last.branch;
        let description = match &last.after {
            LabelChange::Name(Some(name)) => format!("branch {id} named {name}"),
            LabelChange::Name(None) => format!("name of branch {id} cleared"),
            LabelChange::Note(Some(note)) => format!("note on branch {id}: {note}"),
            LabelChange::Note(None) => format!("note on branch {id} cleared"),
            LabelChange::Archived(true) => format!("branch {id} archived"),
            LabelChange::Archived(false) => format!("branch {id} unarchived"),
        };
        self.print_line(&format!("{verb}: {description}"))?;
        if undo { &mut self.label_history.undone } else { &mut self.label_history.done }.push(last);
        Ok(true)
    }
}
