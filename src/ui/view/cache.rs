//! What the view computes while it draws, kept for the next frame and for the mouse.

use crate::domain::Step;
use crate::engine::State;
use crate::ui::glyphs::Glyphs;
use crate::ui::layout::{Pane, ScreenLayout, StepRuler};
use crate::ui::view::rows;
use crate::ui::view::rows::{Offer, PaneContent, Row, RowLayout};
use std::collections::HashMap;
use std::sync::Arc;

/// What the view computes while it draws. Dropping it changes nothing on the screen.
#[derive(Default)]
pub struct ViewCache {
    step_rows: HashMap<RowKey, CachedRows>,
    /// The layout of the last draw, for the mouse and for page scrolling.
    pub layout: ScreenLayout,
    /// How far each step pane can scroll from its default position: rows towards the past, rows towards the end.
    pub scroll_limits: HashMap<PaneContent, (i32, i32)>,
    /// The step shown in each row of each pane: pane, row, step.
    pub step_hits: Vec<(Pane, u16, u32)>,
    /// The timeline's mapping from columns to steps.
    pub ruler: Option<StepRuler>,
    /// How many rows the World pane can scroll.
    pub world_max_scroll: u16,
}

/// The step's address, the row layout, whether its episode is open, and the offer shown at it.
type RowKey = (usize, RowLayout, bool, Option<Offer>);

/// A step and its rows.
type CachedRows = (Arc<Step>, Arc<[Row]>);

/// Maximum number of steps whose rows are cached; a screen shows far fewer.
const MAX_CACHED_STEPS: usize = 1024;

impl ViewCache {
    /// Returns the rows of a step, cached as long as the step stays the same.
    pub fn cached_step_rows(
        &mut self,
        step: &Arc<Step>,
        state: &State,
        offer: Option<&Offer>,
        layout: RowLayout,
        glyphs: &Glyphs,
    ) -> Arc<[Row]> {
        // A cached step keeps its memory, so no other step can have the same address.
        let key = (Arc::as_ptr(step) as usize, layout, state.open_episode().is_some(), offer.cloned());
        if let Some((_, rows)) = self.step_rows.get(&key) {
            return rows.clone();
        }
        if self.step_rows.len() >= MAX_CACHED_STEPS {
            self.step_rows.clear();
        }
        let rows: Arc<[Row]> = rows::step_rows(step, state, offer, layout, glyphs).into();
        self.step_rows.insert(key, (step.clone(), rows.clone()));
        rows
    }
}
