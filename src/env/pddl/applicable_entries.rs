//! The listed actions that are applicable now, updated incrementally.

use super::listing::ActionListing;
use crate::pddl::{ActionId, Bits, Flip, State, Task};

#[derive(Debug, Default)]
pub(super) struct ApplicableEntries {
    /// The listed entries that are applicable.
    pub(super) entries: Bits,
    /// By action: the number of its applicable listed entries.
    applicable_by_action: Vec<u32>,
    /// By entry, if entries may have several instances: the number of applicable instances.
    instance_counts: Vec<u16>,
}

impl Clone for ApplicableEntries {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            applicable_by_action: self.applicable_by_action.clone(),
            instance_counts: self.instance_counts.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.entries.copy_from(&other.entries);
        self.applicable_by_action.clone_from(&other.applicable_by_action);
        self.instance_counts.clone_from(&other.instance_counts);
    }
}

impl ApplicableEntries {
    pub(super) fn new(task: &Task, listing: &ActionListing, state: &State) -> Self {
        let mut active = Self {
            entries: Bits::new(listing.listed_count()),
            applicable_by_action: vec![0; task.actions().count()],
            instance_counts: vec![0; if listing.has_single_instances { 0 } else { listing.len() }],
        };
        for op in state.applicable(task) {
            active.apply_flip(listing, Flip { op, is_applicable: true });
        }
        active
    }

    /// Returns whether a valid action has this name.
    #[inline]
    pub(super) fn has_applicable(&self, action: ActionId) -> bool {
        self.applicable_by_action[action.index()] > 0
    }

    #[inline]
    pub(super) fn apply_flip(&mut self, listing: &ActionListing, flip: Flip) {
        let entry = listing.entry_of(flip.op);
        let Some(action) = listing.action(entry) else { return };
        if !listing.has_single_instances {
            let count = &mut self.instance_counts[entry];
            let before = *count;
            *count = if flip.is_applicable { before + 1 } else { before - 1 };
            if before > 0 && *count > 0 {
                return;
            }
        }
        self.entries.set(entry, flip.is_applicable);
        self.applicable_by_action[action] = if flip.is_applicable {
            self.applicable_by_action[action] + 1
        } else {
            self.applicable_by_action[action] - 1
        };
    }
}
