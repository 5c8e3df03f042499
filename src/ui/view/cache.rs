//! What the view computes while it draws, kept for the next frame and for the mouse.

use crate::catalog;
use crate::domain::{Picture, PictureRequest, Step, Task};
use crate::engine::{Episode, State};
use crate::ui::glyphs::Glyphs;
use crate::ui::layout::{Pane, ScreenLayout, StepRuler};
use crate::ui::view::rows;
use crate::ui::view::rows::{Offer, PaneContent, Row, RowLayout};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What the view computes while it draws. Dropping it changes nothing on the screen.
#[derive(Default)]
pub struct ViewCache {
    step_rows: HashMap<RowKey, CachedRows>,
    /// The last pictures of the environment, newest first.
    pictures: Vec<CachedPicture>,
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

/// The area of a picture of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureArea {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Whether only ASCII characters may be drawn.
    pub(super) is_ascii: bool,
}

/// A picture and what it was drawn from.
struct CachedPicture {
    /// What the agent may know. Holding the values keeps their addresses, which tell whether they are the same.
    shown: Arc<Value>,
    /// The ground truth, if it is drawn.
    truth: Option<Arc<Value>>,
    task: Task,
    progress: f64,
    area: PictureArea,
    picture: Arc<Picture>,
}

impl CachedPicture {
    fn new(episode: &Episode, shows_truth: bool, area: PictureArea) -> Self {
        let truth = shows_truth.then(|| episode.truth.clone());
        let request = PictureRequest {
            shown: &episode.shown,
            truth: truth.as_deref(),
            goal: &episode.task.goal,
            progress: episode.progress,
            columns: area.columns,
            rows: area.rows,
            is_ascii: area.is_ascii,
        };
        let picture = Arc::new(catalog::draw_picture(&episode.task.env, &request));
        Self {
            shown: episode.shown.clone(),
            truth,
            task: episode.task.clone(),
            progress: episode.progress,
            area,
            picture,
        }
    }

    /// Returns whether a picture of this episode would be the same.
    fn is_of(&self, episode: &Episode, shows_truth: bool, area: PictureArea) -> bool {
        let is_same_truth = match &self.truth {
            Some(truth) => shows_truth && Arc::ptr_eq(truth, &episode.truth),
            None => !shows_truth,
        };
        is_same_truth
            && Arc::ptr_eq(&self.shown, &episode.shown)
            && self.task == episode.task
            && self.progress.to_bits() == episode.progress.to_bits()
            && self.area == area
    }
}

/// Maximum number of steps whose rows are cached; a screen shows far fewer.
const MAX_CACHED_STEPS: usize = 1024;
/// A picture is asked for with two areas: to see whether it is cut off, and with the rows it has got then.
const MAX_CACHED_PICTURES: usize = 2;

impl ViewCache {
    /// Returns the picture of an episode's environment, drawn again only if what it shows or its area has changed.
    pub(super) fn cached_picture(
        &mut self,
        episode: &Episode,
        shows_truth: bool,
        area: PictureArea,
    ) -> Arc<Picture> {
        let known = self.pictures.iter().position(|cached| cached.is_of(episode, shows_truth, area));
        let cached = match known {
            Some(place) => self.pictures.remove(place),
            None => CachedPicture::new(episode, shows_truth, area),
        };
        let picture = cached.picture.clone();
        self.pictures.insert(0, cached);
        self.pictures.truncate(MAX_CACHED_PICTURES);
        picture
    }

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
