//! A cache of wrapped rows. Texts of environments and models may be of any length, and wrapping a megabyte for each
//! frame delays key handling, so the rows are kept until their content may have changed.

use crate::domain::Seq;
use crate::ui::frame_data::Context;
use crate::ui::widget::window::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// What the rows depend on: epoch and heads identify the states, and loading may add
/// old events to them; the width and the glyph set matter too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CacheKey {
    epoch: u64,
    state_heads: [Seq; 3],
    load_count: u64,
    /// Results of measurements that aren't in the states.
    measured: usize,
    columns: u16,
    ascii: bool,
}

/// Caches the rows built last.
#[derive(Debug, Default)]
pub struct RowCache(RefCell<Option<(CacheKey, Arc<[Line]>)>>);

impl RowCache {
    /// Returns the rows for this width, building them if they aren't cached.
    pub fn get_or_make(
        &self,
        context: &Context<'_>,
        columns: u16,
        make: impl FnOnce(u16) -> Vec<Line>,
    ) -> Arc<[Line]> {
        let frame = context.frame;
        let key = CacheKey {
            epoch: context.frame.epoch,
            state_heads: [frame.head.head, frame.story.head, frame.displayed.head],
            load_count: frame.timeline.load_count(),
            measured: frame.measured.len(),
            columns,
            ascii: context.glyphs.ellipsis.is_ascii(),
        };
        let mut cached = self.0.borrow_mut();
        match cached.as_ref().filter(|(cached_key, _)| *cached_key == key) {
            Some((_, rows)) => rows.clone(),
            None => cached.insert((key, make(columns).into())).1.clone(),
        }
    }
}
