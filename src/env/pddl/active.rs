//! Which listed actions apply now, followed change by change.

use super::listing::Listing;
use crate::pddl::{ActionId, Bits, Flip, State, Task};

#[derive(Debug, Default)]
pub(super) struct Active {
    /// The listed entries that apply.
    pub(super) listed: Bits,
    /// By action: how many of its listed entries apply.
    open: Vec<u32>,
    /// By entry, where several instances may stand for one: how many of them apply.
    counts: Vec<u16>,
}

impl Clone for Active {
    fn clone(&self) -> Self {
        Self { listed: self.listed.clone(), open: self.open.clone(), counts: self.counts.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.listed.copy_from(&other.listed);
        self.open.clone_from(&other.open);
        self.counts.clone_from(&other.counts);
    }
}

impl Active {
    pub(super) fn of(task: &Task, listing: &Listing, state: &State) -> Self {
        let mut active = Self {
            listed: Bits::new(listing.listed()),
            open: vec![0; task.actions().count()],
            counts: vec![0; if listing.simple { 0 } else { listing.len() }],
        };
        for op in state.applicable(task) {
            active.flip(listing, Flip { op, now: true });
        }
        active
    }

    /// Whether a valid action has this name.
    #[inline]
    pub(super) fn is_open(&self, action: ActionId) -> bool {
        self.open[action.index()] > 0
    }

    #[inline]
    pub(super) fn flip(&mut self, listing: &Listing, flip: Flip) {
        let entry = listing.entry_of(flip.op);
        let Some(action) = listing.action(entry) else { return };
        if !listing.simple {
            let count = &mut self.counts[entry];
            let before = *count;
            *count = if flip.now { before + 1 } else { before - 1 };
            if before > 0 && *count > 0 {
                return;
            }
        }
        self.listed.set(entry, flip.now);
        self.open[action] = if flip.now { self.open[action] + 1 } else { self.open[action] - 1 };
    }
}
