//! Draws model and state into a buffer. Pure except for [`ViewCache`], which holds only what can be recomputed.

pub mod footer;
pub mod lanes;
mod live;
pub mod pane_frame;
pub mod rows;
pub mod status;
mod story;
pub mod timeline_bar;
mod world;

pub use live::SPINNER_FRAME_MILLIS;
pub(super) use status::live_position;

use super::canvas::Canvas;
use super::context::Context;
use super::glyphs::Glyphs;
use super::layout::{Pane, PaneArea, ScreenLayout, compute_layout};
use super::model::{Focus, Model};
use super::theme::Role;
use crate::domain::{Autonomy, Step};
use crate::engine::State;
use crate::text::truncate;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rows::{Offer, PaneContent, Row, RowLayout};
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
    pub ruler: Option<timeline_bar::StepRuler>,
    /// How many rows the World pane can scroll.
    pub world_max_scroll: u16,
}

/// The digit that focuses the first lane. Story has 1 and World 2; what follows the lanes has the next digits.
const FIRST_LANE: usize = 3;

/// The step's address, the row layout, whether its episode is open, and the offer shown at it.
type RowKey = (usize, RowLayout, bool, Option<Offer>);

/// A step and its rows.
type CachedRows = (Arc<Step>, Arc<[Row]>);

/// Maximum number of steps whose rows are cached; a screen shows far fewer.
const MAX_CACHED_STEPS: usize = 1024;

impl ViewCache {
    /// Returns the rows of a step, cached as long as the step stays the same.
    fn cached_step_rows(
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

/// Draws one frame into the buffer.
pub fn draw(model: &Model, context: &Context<'_>, cache: &mut ViewCache, buffer: &mut Buffer) {
    let screen = buffer.area;
    let mut canvas = Canvas { buffer, theme: context.theme, glyphs: context.glyphs };
    canvas.clear(screen);
    let layout = compute_layout(
        screen,
        model.arrangement(),
        context.lanes().len(),
        model.zoomed_pane(context.lanes()),
    );
    status::draw(model, context, layout.status, &mut canvas);
    let role = if context.frame.is_in_past() { Role::FramePast } else { Role::Frame };
    pane_frame::draw(&layout, screen, role, &mut canvas);
    cache.step_hits.clear();
    cache.ruler = None;
    let covered = model.overlays.iter().map(|o| o.rows_covered(context, screen)).max().unwrap_or(0);
    for area in &layout.areas {
        draw_pane(model, context, &shrink_above(*area, screen.bottom() - covered), cache, &mut canvas);
    }
    footer::draw(model, context, layout.footer, &mut canvas);
    for overlay in &model.overlays {
        // The keys of an overlay below another one don't apply.
        if model.notice.is_none() && context.halt_reason().is_none() && !context.has_driver_died() {
            canvas.clear(layout.footer);
        }
        overlay.draw(context, screen, &mut canvas);
    }
    cache.layout = layout;
}

/// Shrinks a step pane so that it ends above an overlay at the bottom and its newest rows stay visible. If too few
/// rows would remain, returns it unchanged.
fn shrink_above(area: PaneArea, end: u16) -> PaneArea {
    const MIN_ROWS: u16 = 3;
    let steps = matches!(area.pane, Pane::Story | Pane::Thoughts | Pane::Observations);
    let height = end.saturating_sub(area.body.y);
    if !steps || height < MIN_ROWS || height >= area.body.height {
        return area;
    }
    PaneArea { body: Rect { height, ..area.body }, ..area }
}

fn draw_pane(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let draw_title = |title: &str, focus: Focus, canvas: &mut Canvas<'_>| {
        let role = if model.focus == focus { Role::TitleFocus } else { Role::Title };
        if let Some(title_area) = area.title {
            let digit = match focus {
                Focus::Story => 1,
                Focus::World => 2,
                Focus::Lanes => FIRST_LANE,
                Focus::Observations => FIRST_LANE + context.lanes().len(),
                Focus::Timeline => FIRST_LANE + 1 + context.lanes().len(),
            };
            pane_frame::draw_title(title_area, &[(Role::Muted, &format!("{digit} ")), (role, title)], canvas);
            // The first row of a narrow screen has no room for the branch.
            let narrow = canvas.buffer.area.width < status::MIN_BRANCH_COLUMNS;
            let branch =
                model.branch_name().filter(|_| narrow).map(|b| format!("on {}", truncate(b, 16, "")));
            if context.frame.is_in_past() && focus == Focus::Story {
                // The letter is for people who see no colour.
                let branch =
                    branch.map_or_else(String::new, |b| format!("{b} {} ", context.glyphs.separator));
                pane_frame::draw_right_title(title_area, Role::FramePast, &format!("{branch}P"), canvas);
            } else if focus == Focus::Story {
                pane_frame::draw_right_title(
                    title_area,
                    Role::Muted,
                    &branch.unwrap_or_else(|| actor_and_method(context)),
                    canvas,
                );
            }
        }
    };
    match area.pane {
        Pane::Story => {
            draw_title(&title_with_episode("Story", context), Focus::Story, canvas);
            story::draw(model, context, PaneContent::All, area, cache, canvas);
        }
        Pane::Thoughts => {
            draw_title(&title_with_episode("Thoughts & actions", context), Focus::Story, canvas);
            story::draw(model, context, PaneContent::ThoughtsAndActions, area, cache, canvas);
        }
        Pane::Observations => {
            draw_title("Observations", Focus::Observations, canvas);
            story::draw(model, context, PaneContent::Observations, area, cache, canvas);
        }
        Pane::World => world::draw(model, context, area, cache, canvas),
        Pane::LaneTabs | Pane::Lane(_) => lanes::draw(model, context, area, canvas),
        Pane::Timeline => {
            draw_title("Time", Focus::Timeline, canvas);
            cache.ruler = timeline_bar::draw(context, first_row(area.body), canvas);
        }
    }
}

/// Returns the title of a step pane, with the episode's number unless it is the first.
fn title_with_episode(name: &str, context: &Context<'_>) -> String {
    let number = context.episode().map_or(0, |e| e.number);
    if number > 1 { format!("{name} {} episode {number}", context.glyphs.separator) } else { name.to_owned() }
}

/// Returns the actor and the method; the built-in actor is labelled as a stand-in. For the planning method, names the
/// mentor, who writes the plan.
fn actor_and_method(context: &Context<'_>) -> String {
    let Some(run) = &context.frame.head.run else { return String::new() };
    let plans = run.method == "planning" && context.frame.head.autonomy != Autonomy::Human;
    let who = if plans { &run.mentor } else { &run.actor };
    let who = match who.as_str() {
        "rules" => "rules (a stand-in)",
        "symbolic" if plans => "rules (a stand-in)",
        "human" => "you play",
        other => other,
    };
    format!("{who} {} {}", context.glyphs.separator, run.method)
}

fn first_row(area: Rect) -> Rect {
    Rect { height: area.height.min(1), ..area }
}
