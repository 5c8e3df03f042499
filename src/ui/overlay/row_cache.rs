//! Rows that are made once. Words of a world or a model may be of any length, and wrapping a megabyte at every frame holds
//! up the keys; so the rows stay until something of what they say may have changed.

use super::window::Line;
use crate::domain::Seq;
use crate::ui::context::Context;
use std::cell::RefCell;
use std::sync::Arc;

/// What rows are made from: line and moments of the states, which tell all of them, columns, and the set of glyphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CacheKey {
    epoch: u64,
    state_heads: [Seq; 3],
    columns: u16,
    ascii: bool,
}

/// The rows that were made last.
#[derive(Debug, Default)]
pub(super) struct RowCache(RefCell<Option<(CacheKey, Arc<[Line]>)>>);

impl RowCache {
    /// The rows for these columns, made where none are kept.
    pub(super) fn get_or_make(
        &self,
        look: &Context<'_>,
        columns: u16,
        make: impl FnOnce(u16) -> Vec<Line>,
    ) -> Arc<[Line]> {
        let moment = look.frame;
        let of = CacheKey {
            epoch: look.frame.epoch,
            state_heads: [moment.head.head, moment.story.head, moment.displayed.head],
            columns,
            ascii: look.glyphs.ellipsis.is_ascii(),
        };
        let mut kept = self.0.borrow_mut();
        match kept.as_ref().filter(|(was, _)| *was == of) {
            Some((_, rows)) => rows.clone(),
            None => kept.insert((of, make(columns).into())).1.clone(),
        }
    }
}
