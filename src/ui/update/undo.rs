//! Notices about undo and redo, and the undo history of branch names, notes and archiving, which are in no journal.

use crate::domain::{Seq, Step};
use crate::engine::Command;
use crate::timeline::ReadPast as _;
use crate::ui::branches::{BranchEdit, BranchEditHistory, BranchEditRecord, BranchInfo};
use crate::ui::frame_data::Context;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::Request;
use crate::ui::types::Focus;

/// The most events that are searched for an undo or redo.
const MAX_EVENTS_SCANNED: u64 = 1_000;

/// Shows what was undone or redone. Reads it from the journal, since only there it is known whether the command took
/// effect.
pub(super) fn report_undo(model: &mut Model, context: &Context<'_>) {
    let head = &context.frame.head;
    let Some(scanned) = model.undo_scanned_to.replace(head.head).filter(|scanned| *scanned < head.head)
    else {
        return;
    };
    let from = scanned.max(Seq(head.head.0.saturating_sub(MAX_EVENTS_SCANNED)));
    let events = context.frame.timeline.events_between(from, head.head).unwrap_or_default();
    if let Some(text) = events.iter().rev().find_map(|e| head.describe_undo(&e.event)) {
        model.show_notice(text, Severity::Info, context.now);
    }
}

/// Returns whether an undo takes back the action that the environment has failed to answer: nothing was changed after it.
pub(super) fn is_about_failed_action(model: &Model, context: &Context<'_>) -> bool {
    let head = &context.frame.head;
    let is_last_change = |step: &Step| head.newest_undoable().is_none_or(|change| change < step.last_seq);
    model.focus != Focus::Lanes
        && model.branch_edits.done.is_empty()
        && head.unanswered_step().is_some_and(is_last_change)
}

/// Records branch edits, and replaces an undo or redo of such an edit by the branch edit that performs it. Returns all
/// other requests unchanged.
pub(super) fn apply_branch_undo(model: &mut Model, context: &Context<'_>, request: Request) -> Request {
    match request {
        Request::EditBranches(edits) => {
            for (branch, after) in &edits {
                let info = model.branches.iter().find(|b| b.id == *branch);
                let before = info.map(|info| current_value(info, after));
                if let Some(before) = before.filter(|before| before != after) {
                    model.branch_edits.undone.clear();
                    let (branch, after) = (branch.clone(), after.clone());
                    model.branch_edits.done.push(BranchEditRecord { branch, before, after });
                }
            }
            Request::EditBranches(edits)
        }
        Request::Send(Command::Undo) => {
            let Some(last) = model.branch_edits.done.pop() else {
                if let Some((_, since)) = model.branch_edits.undone.last_mut() {
                    *since += 1;
                }
                return Request::Send(Command::Undo);
            };
            model.show_notice(
                format!("undone: {}", describe_edit(model, &last)),
                Severity::Info,
                context.now,
            );
            let request = Request::EditBranches(vec![(last.branch.clone(), last.before.clone())]);
            model.branch_edits.undone.push((last, 0));
            request
        }
        Request::Send(Command::Redo) => {
            if let Some((_, since)) = model.branch_edits.undone.last_mut().filter(|(_, since)| *since > 0) {
                *since -= 1;
                return Request::Send(Command::Redo);
            }
            let Some((next, _)) = model.branch_edits.undone.pop() else {
                return Request::Send(Command::Redo);
            };
            model.show_notice(
                format!("redone: {}", describe_edit(model, &next)),
                Severity::Info,
                context.now,
            );
            let request = Request::EditBranches(vec![(next.branch.clone(), next.after.clone())]);
            model.branch_edits.done.push(next);
            request
        }
        Request::Send(_) | Request::Fork(_) => {
            model.branch_edits = BranchEditHistory::default();
            request
        }
        other => other,
    }
}

/// Returns the current value of what an edit changes.
fn current_value(branch: &BranchInfo, change: &BranchEdit) -> BranchEdit {
    match change {
        BranchEdit::Name(_) => BranchEdit::Name(branch.name.clone()),
        BranchEdit::Note(_) => BranchEdit::Note(branch.note.clone()),
        BranchEdit::Archived(_) => BranchEdit::Archived(branch.archived),
    }
}

/// Describes a branch edit for the notice of an undo or redo.
fn describe_edit(model: &Model, edit: &BranchEditRecord) -> String {
    let id = &edit.branch;
    match &edit.after {
        BranchEdit::Name(name) if name.trim().is_empty() => format!("name of branch {id} cleared"),
        BranchEdit::Name(name) => format!("branch {id} named {name}"),
        BranchEdit::Note(note) if note.trim().is_empty() => {
            format!("note on branch {} cleared", super::fork::branch_name(model, id))
        }
        BranchEdit::Note(note) => format!("note on branch {}: {note}", super::fork::branch_name(model, id)),
        BranchEdit::Archived(true) => format!("branch {} archived", super::fork::branch_name(model, id)),
        BranchEdit::Archived(false) => {
            format!("branch {} unarchived", super::fork::branch_name(model, id))
        }
    }
}
