//! What was taken back or made again, in words, and what people call branches among it: that is in no journal.

use crate::domain::{BranchId, Seq};
use crate::engine::Command;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::context::Context;
use crate::ui::model::{Model, Tone};
use crate::ui::msg::Request;

/// Events that are looked through at most.
const MOST: u64 = 1_000;

/// Another name, note or place of a branch, with what it was.
#[derive(Clone, Debug, PartialEq)]
struct Labelled {
    branch: BranchId,
    was: BranchEdit,
    now: BranchEdit,
}

/// Changes of what branches are called since the person last did something else.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    done: Vec<Labelled>,
    /// Each with the changes of the journal that were taken back after it: they are made again before it.
    undone: Vec<(Labelled, u32)>,
}

/// Says what an undo took back or a redo made again, from the journal: whether it was granted is known there alone.
pub(super) fn hear(model: &mut Model, look: &Context<'_>) {
    let head = &look.moment.head;
    let Some(told) = model.undo_told.replace(head.head).filter(|told| *told < head.head) else { return };
    let from = told.max(Seq(head.head.0.saturating_sub(MOST)));
    let events = look.store.timeline().events_between(from, head.head);
    if let Some(words) = events.iter().rev().find_map(|e| head.describe_undo(&e.event)) {
        model.say(words, Tone::Told, look.now);
    }
}

/// A wish to the outside, where it is about what branches are called another one in its place.
pub(super) fn turned(model: &mut Model, look: &Context<'_>, request: Request) -> Request {
    match request {
        Request::Relabel(branch, now) => {
            let was = model.twigs.iter().find(|t| t.id == branch).map(|twig| label(twig, &now));
            if let Some(was) = was.filter(|was| *was != now) {
                model.labels.undone.clear();
                model.labels.done.push(Labelled { branch: branch.clone(), was, now: now.clone() });
            }
            Request::Relabel(branch, now)
        }
        Request::Send(Command::Undo) => {
            let Some(last) = model.labels.done.pop() else {
                if let Some((_, since)) = model.labels.undone.last_mut() {
                    *since += 1;
                }
                return Request::Send(Command::Undo);
            };
            model.say(format!("taken back: {}", words(model, &last)), Tone::Told, look.now);
            let wish = Request::Relabel(last.branch.clone(), last.was.clone());
            model.labels.undone.push((last, 0));
            wish
        }
        Request::Send(Command::Redo) => {
            if let Some((_, since)) = model.labels.undone.last_mut().filter(|(_, since)| *since > 0) {
                *since -= 1;
                return Request::Send(Command::Redo);
            }
            let Some((next, _)) = model.labels.undone.pop() else { return Request::Send(Command::Redo) };
            model.say(format!("made again: {}", words(model, &next)), Tone::Told, look.now);
            let wish = Request::Relabel(next.branch.clone(), next.now.clone());
            model.labels.done.push(next);
            wish
        }
        Request::Send(_) | Request::Fork(_) => {
            model.labels = Labels::default();
            request
        }
        other => other,
    }
}

/// What is there now of what a change is about.
fn label(twig: &BranchInfo, change: &BranchEdit) -> BranchEdit {
    match change {
        BranchEdit::Name(_) => BranchEdit::Name(twig.name.clone()),
        BranchEdit::Note(_) => BranchEdit::Note(twig.note.clone()),
        BranchEdit::Archived(_) => BranchEdit::Archived(twig.archived),
    }
}

fn words(model: &Model, of: &Labelled) -> String {
    let id = &of.branch;
    match &of.now {
        BranchEdit::Name(name) if name.trim().is_empty() => format!("branch {id} without a name"),
        BranchEdit::Name(name) => format!("branch {id} called {name}"),
        BranchEdit::Note(note) if note.trim().is_empty() => {
            format!("no note on branch {}", super::fork::called(model, id))
        }
        BranchEdit::Note(note) => format!("note on branch {}: {note}", super::fork::called(model, id)),
        BranchEdit::Archived(true) => format!("branch {} archived", super::fork::called(model, id)),
        BranchEdit::Archived(false) => {
            format!("branch {} taken out of the archive", super::fork::called(model, id))
        }
    }
}
