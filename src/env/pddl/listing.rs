//! The actions that can be listed and looked up, with their texts.
//!
//! An *entry* is an action with its arguments; a disjunctive precondition gives it several instances. Entries that name
//! no object twice are listed and come first, sorted by text; the others can only be typed.

use super::sentences;
use crate::pddl::{ActionId, FastMap, ObjectId, OpId, Task};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct ActionListing {
    text: String,
    /// The offset of each listed entry in `text`. Has one more element than there are listed entries.
    starts: Vec<u32>,
    /// The action of each listed entry.
    actions: Vec<u16>,
    /// The entry of each instance.
    entries: Vec<u32>,
    /// The offset in `ops` of each entry's first instance. Has one more element than there are entries.
    first_op: Vec<u32>,
    ops: Vec<OpId>,
    by_arguments: FastMap<Box<[u16]>, u32>,
    by_name: FastMap<Arc<str>, ActionId>,
    /// Whether every entry has exactly one instance.
    pub(super) has_single_instances: bool,
}

impl ActionListing {
    pub(super) fn new(task: &Task) -> Self {
        let mut text = String::new();
        let mut spans: Vec<(usize, usize, OpId)> = Vec::new();
        let mut unlisted = Vec::new();
        let mut key = Vec::new();
        let mut seen: FastMap<Box<[u16]>, Vec<OpId>> = FastMap::default();
        for op in task.ops() {
            write_key(task.action_of(op), task.bound_objects(op), &mut key);
            if let Some(others) = seen.get_mut(key.as_slice()) {
                others.push(op);
                continue;
            }
            seen.insert(key.as_slice().into(), vec![op]);
            if has_repeats(task.bound_objects(op)) {
                unlisted.push(op);
                continue;
            }
            let from = text.len();
            let name = task.action_name(task.action_of(op));
            let bound = task.bound_objects(op);
            let words = bound.iter().map(|&object| task.object_name(object));
            sentences::write_sentence(sentences::action_sentence(name, bound.len()), name, words, &mut text);
            spans.push((from, text.len(), op));
        }
        spans.sort_unstable_by(|left, right| text[left.0..left.1].cmp(&text[right.0..right.1]));
        let mut listing =
            Self { entries: vec![0; task.op_count()], has_single_instances: true, ..Self::default() };
        listing.text.reserve_exact(text.len());
        for &(from, to, op) in &spans {
            listing.starts.push(listing.text.len() as u32);
            listing.text.push_str(&text[from..to]);
            listing.actions.push(task.action_of(op).index() as u16);
        }
        listing.starts.push(listing.text.len() as u32);
        for op in spans.iter().map(|&(_, _, op)| op).chain(unlisted) {
            let entry = listing.first_op.len() as u32;
            write_key(task.action_of(op), task.bound_objects(op), &mut key);
            listing.first_op.push(listing.ops.len() as u32);
            for &op in seen.get(key.as_slice()).map_or(&[][..], Vec::as_slice) {
                listing.ops.push(op);
                listing.entries[op.index()] = entry;
            }
            listing.by_arguments.insert(key.as_slice().into(), entry);
        }
        listing.first_op.push(listing.ops.len() as u32);
        listing.has_single_instances = listing.ops.len() == listing.first_op.len() - 1;
        listing.by_name = task.actions().map(|action| (task.action_name(action).into(), action)).collect();
        listing
    }

    /// Returns the number of listed entries.
    pub(super) fn listed_count(&self) -> usize {
        self.actions.len()
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.first_op.len() - 1
    }

    #[inline]
    pub(super) fn text(&self, entry: usize) -> &str {
        match self.starts.get(entry..entry + 2) {
            Some(&[from, to]) => &self.text[from as usize..to as usize],
            _ => "",
        }
    }

    /// Returns the action of a listed entry, or `None` for other entries.
    #[inline]
    pub(super) fn action(&self, entry: usize) -> Option<usize> {
        self.actions.get(entry).map(|&action| usize::from(action))
    }

    #[inline]
    pub(super) fn entry_of(&self, op: OpId) -> usize {
        self.entries[op.index()] as usize
    }

    /// Returns whether an instance belongs to a listed entry.
    pub(super) fn is_listed(&self, op: OpId) -> bool {
        self.action(self.entry_of(op)).is_some()
    }

    /// Returns the text of a listed instance.
    pub(super) fn op_text(&self, op: OpId) -> &str {
        self.text(self.entry_of(op))
    }

    /// Returns the instances of the entry with this action and these arguments. `scratch` is a reusable buffer.
    pub(super) fn find_instances(
        &self,
        action: ActionId,
        bound: &[ObjectId],
        scratch: &mut Vec<u16>,
    ) -> &[OpId] {
        write_key(action, bound, scratch);
        let Some(&entry) = self.by_arguments.get(scratch.as_slice()) else { return &[] };
        let (from, to) = (self.first_op[entry as usize] as usize, self.first_op[entry as usize + 1] as usize);
        &self.ops[from..to]
    }

    /// Returns the action with this name.
    #[inline]
    pub(super) fn action_named(&self, name: &str) -> Option<ActionId> {
        self.by_name.get(name).copied()
    }
}

fn write_key(action: ActionId, bound: &[ObjectId], key: &mut Vec<u16>) {
    key.clear();
    key.push(action.index() as u16);
    key.extend(bound.iter().map(|object| object.index() as u16));
}

/// Returns whether an object occurs twice.
fn has_repeats(bound: &[ObjectId]) -> bool {
    bound.iter().enumerate().any(|(at, object)| bound[..at].contains(object))
}
