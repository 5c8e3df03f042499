//! What was taken back or made again, in words, and what people call branches among it: that is in no journal.

use crate::domain::{BranchId, Seq};
use crate::engine::Command;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::context::Context;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;

/// Events that are looked through at most.
const MAX_EVENTS_SCANNED: u64 = 1_000;

/// Another name, note or place of a branch, with what it was.
#[derive(Clone, Debug, PartialEq)]
struct BranchEditRecord {
    branch: BranchId,
    before: BranchEdit,
    after: BranchEdit,
}

/// Changes of what branches are called since the person last did something else.
#[derive(Clone, Debug, Default)]
pub struct BranchEditHistory {
    done: Vec<BranchEditRecord>,
    /// Each with the changes of the journal that were taken back after it: they are made again before it.
    undone: Vec<(BranchEditRecord, u32)>,
}

/// Says what an undo took back or a redo made again, from the journal: whether it was granted is known there alone.
pub(super) fn report_undo(model: &mut Model, look: &Context<'_>) {
    let head = &look.frame.head;
    let Some(told) = model.undo_scanned_to.replace(head.head).filter(|told| *told < head.head) else {
        return;
    };
    let from = told.max(Seq(head.head.0.saturating_sub(MAX_EVENTS_SCANNED)));
    let events = look.frame.timeline.events_between(from, head.head);
    if let Some(words) = events.iter().rev().find_map(|e| head.describe_undo(&e.event)) {
        model.show_notice(words, Severity::Info, look.now);
    }
}

/// A wish to the outside, where it is about what branches are called another one in its place.
pub(super) fn apply_branch_undo(model: &mut Model, look: &Context<'_>, request: Request) -> Request {
    match request {
        Request::EditBranch(branch, now) => {
            let was = model.branches.iter().find(|t| t.id == branch).map(|twig| current_value(twig, &now));
            if let Some(was) = was.filter(|was| *was != now) {
                model.branch_edits.undone.clear();
                model.branch_edits.done.push(BranchEditRecord {
                    branch: branch.clone(),
                    before: was,
                    after: now.clone(),
                });
            }
            Request::EditBranch(branch, now)
        }
        Request::Send(Command::Undo) => {
            let Some(last) = model.branch_edits.done.pop() else {
                if let Some((_, since)) = model.branch_edits.undone.last_mut() {
                    *since += 1;
                }
                return Request::Send(Command::Undo);
            };
            model.show_notice(format!("undone: {}", describe_edit(model, &last)), Severity::Info, look.now);
            let wish = Request::EditBranch(last.branch.clone(), last.before.clone());
            model.branch_edits.undone.push((last, 0));
            wish
        }
        Request::Send(Command::Redo) => {
            if let Some((_, since)) = model.branch_edits.undone.last_mut().filter(|(_, since)| *since > 0) {
                *since -= 1;
                return Request::Send(Command::Redo);
            }
            let Some((next, _)) = model.branch_edits.undone.pop() else {
                return Request::Send(Command::Redo);
            };
            model.show_notice(format!("redone: {}", describe_edit(model, &next)), Severity::Info, look.now);
            let wish = Request::EditBranch(next.branch.clone(), next.after.clone());
            model.branch_edits.done.push(next);
            wish
        }
        Request::Send(_) | Request::Fork(_) => {
            model.branch_edits = BranchEditHistory::default();
            request
        }
        other => other,
    }
}

/// What is there now of what a change is about.
fn current_value(twig: &BranchInfo, change: &BranchEdit) -> BranchEdit {
    match change {
        BranchEdit::Name(_) => BranchEdit::Name(twig.name.clone()),
        BranchEdit::Note(_) => BranchEdit::Note(twig.note.clone()),
        BranchEdit::Archived(_) => BranchEdit::Archived(twig.archived),
    }
}

fn describe_edit(model: &Model, of: &BranchEditRecord) -> String {
    let id = &of.branch;
    match &of.after {
        BranchEdit::Name(name) if name.trim().is_empty() => format!("branch {id} without a name"),
        BranchEdit::Name(name) => format!("branch {id} called {name}"),
        BranchEdit::Note(note) if note.trim().is_empty() => {
            format!("no note on branch {}", super::fork::branch_name(model, id))
        }
        BranchEdit::Note(note) => format!("note on branch {}: {note}", super::fork::branch_name(model, id)),
        BranchEdit::Archived(true) => format!("branch {} archived", super::fork::branch_name(model, id)),
        BranchEdit::Archived(false) => {
            format!("branch {} taken out of the archive", super::fork::branch_name(model, id))
        }
    }
}
