//! What people call branches, line by line, and taking that back: no journal has it.

use super::Talk;
use crate::cli::error::CliError;
use crate::cli::locate;
use crate::domain::BranchId;
use crate::journal::LabelChange;

/// Another name, note or place of a branch, with what it was.
#[derive(Clone)]
struct Labelled {
    branch: BranchId,
    was: LabelChange,
    now: LabelChange,
}

/// Changes of what branches are called since the person last did something else.
#[derive(Default)]
pub(super) struct Labels {
    done: Vec<Labelled>,
    undone: Vec<Labelled>,
}

impl Talk {
    /// Calls a branch otherwise, or puts it away.
    pub(super) fn label(&mut self, branch: &str, now: LabelChange) -> Result<(), CliError> {
        let session = self.session()?;
        let labelled = locate::branch_of(&session, branch).and_then(|branch| {
            let label = session.labels()?.remove(&branch).unwrap_or_default();
            let was = match now {
                LabelChange::Name(_) => LabelChange::Name(label.name),
                LabelChange::Note(_) => LabelChange::Note(label.note),
                LabelChange::Archived(_) => LabelChange::Archived(label.archived),
            };
            session.label(&branch, now.clone())?;
            Ok(Labelled { branch, was, now })
        });
        match labelled {
            Ok(labelled) => {
                self.labels.undone.clear();
                self.labels.done.push(labelled);
                self.branches()
            }
            Err(error) => self.line(&format!("{}; {}", error.message, error.hint)),
        }
    }

    /// Takes back the last of them, or makes it again; whether there was one.
    pub(super) fn relabel(&mut self, back: bool) -> Result<bool, CliError> {
        let from = if back { &mut self.labels.done } else { &mut self.labels.undone };
        let Some(last) = from.pop() else { return Ok(false) };
        let (to, verb) = if back { (&last.was, "taken back") } else { (&last.now, "made again") };
        if let Err(error) = self.session()?.label(&last.branch, to.clone()) {
            self.line(&error.to_string())?;
            return Ok(true);
        }
        let id = &last.branch;
        let what = match &last.now {
            LabelChange::Name(name) => format!("branch {id} called {}", name.as_deref().unwrap_or("nothing")),
            LabelChange::Note(note) => format!("note on branch {id}: {}", note.as_deref().unwrap_or("none")),
            LabelChange::Archived(true) => format!("branch {id} archived"),
            LabelChange::Archived(false) => format!("branch {id} taken out of the archive"),
        };
        self.line(&format!("{verb}: {what}"))?;
        if back { &mut self.labels.undone } else { &mut self.labels.done }.push(last);
        Ok(true)
    }
}
