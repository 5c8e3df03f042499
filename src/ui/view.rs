//! Draws model and state into a buffer. Pure but for [`Scratch`], which only keeps what could be reckoned again.

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

/// What the view learns while it draws. Dropping it changes nothing on the screen.
#[derive(Default)]
pub struct ViewCache {
    step_rows: HashMap<RowKey, CachedRows>,
    /// Where the panes lay at the last draw, for the mouse and for pages.
    pub layout: ScreenLayout,
    /// How far a pane of steps can be scrolled from its resting place: rows towards the past, rows towards the end.
    pub scroll_limits: HashMap<PaneContent, (i32, i32)>,
    /// Which step lies in which row of which pane.
    pub step_hits: Vec<(Pane, u16, u32)>,
    /// Which column of the time bar is which step.
    pub ruler: Option<timeline_bar::StepRuler>,
    /// How far the world pane can be scrolled.
    pub world_max_scroll: u16,
}

/// The digit that focuses the first lane; Story has 1, World 2, and what comes after the lanes the digits after theirs.
const FIRST_LANE: usize = 3;

/// Where a step lies in memory, how its rows are laid out, whether its episode goes on, and what is on offer at it.
type RowKey = (usize, RowLayout, bool, Option<Offer>);

/// A step and its rows.
type CachedRows = (Arc<Step>, Arc<[Row]>);

/// Rows of steps that are kept at most; a screen shows far fewer.
const MAX_CACHED_STEPS: usize = 1024;

impl ViewCache {
    /// The rows of a step, kept for as long as the step is the same one.
    fn cached_step_rows(
        &mut self,
        step: &Arc<Step>,
        state: &State,
        offer: Option<&Offer>,
        measure: RowLayout,
        glyphs: &Glyphs,
    ) -> Arc<[Row]> {
        // A kept step holds its memory, so no other step can have the same address.
        let key = (Arc::as_ptr(step) as usize, measure, state.open_episode().is_some(), offer.cloned());
        if let Some((_, rows)) = self.step_rows.get(&key) {
            return rows.clone();
        }
        if self.step_rows.len() >= MAX_CACHED_STEPS {
            self.step_rows.clear();
        }
        let rows: Arc<[Row]> = rows::step_rows(step, state, offer, measure, glyphs).into();
        self.step_rows.insert(key, (step.clone(), rows.clone()));
        rows
    }
}

/// Draws one frame into the buffer.
pub fn draw(model: &Model, look: &Context<'_>, scratch: &mut ViewCache, buffer: &mut Buffer) {
    let screen = buffer.area;
    let mut canvas = Canvas { buffer, theme: look.theme, glyphs: look.glyphs };
    canvas.clear(screen);
    let plan =
        compute_layout(screen, model.arrangement(), look.lanes().len(), model.zoomed_pane(look.lanes()));
    status::draw(model, look, plan.status, &mut canvas);
    let role = if look.frame.is_in_past() { Role::FramePast } else { Role::Frame };
    pane_frame::draw(&plan, screen, role, &mut canvas);
    scratch.step_hits.clear();
    scratch.ruler = None;
    let covered = model.overlays.iter().map(|o| o.rows_covered(look, screen)).max().unwrap_or(0);
    for block in &plan.areas {
        draw_pane(model, look, &shrink_above(*block, screen.bottom() - covered), scratch, &mut canvas);
    }
    footer::draw(model, look, plan.footer, &mut canvas);
    for overlay in &model.overlays {
        // The keys of one that lies below another do not count.
        if model.notice.is_none() && look.halt_reason().is_none() && !look.has_driver_died() {
            canvas.clear(plan.footer);
        }
        overlay.draw(look, screen, &mut canvas);
    }
    scratch.layout = plan;
}

/// A pane of steps ends above what lies at the lower edge, so that its newest rows are to be seen; where that would leave
/// next to nothing of it, it stays as it is.
fn shrink_above(block: PaneArea, end: u16) -> PaneArea {
    const MIN_ROWS: u16 = 3;
    let steps = matches!(block.pane, Pane::Story | Pane::Thoughts | Pane::Observations);
    let height = end.saturating_sub(block.body.y);
    if !steps || height < MIN_ROWS || height >= block.body.height {
        return block;
    }
    PaneArea { body: Rect { height, ..block.body }, ..block }
}

fn draw_pane(
    model: &Model,
    look: &Context<'_>,
    block: &PaneArea,
    scratch: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let simple = |words: &str, focus: Focus, canvas: &mut Canvas<'_>| {
        let role = if model.focus == focus { Role::TitleFocus } else { Role::Title };
        if let Some(area) = block.title {
            let digit = match focus {
                Focus::Story => 1,
                Focus::World => 2,
                Focus::Lanes => FIRST_LANE,
                Focus::Observations => FIRST_LANE + look.lanes().len(),
                Focus::Timeline => FIRST_LANE + 1 + look.lanes().len(),
            };
            pane_frame::draw_title(area, &[(Role::Muted, &format!("{digit} ")), (role, words)], canvas);
            // The first row of a narrow screen has no room for the branch.
            let narrow = canvas.buffer.area.width < status::MIN_BRANCH_COLUMNS;
            let branch =
                model.branch_name().filter(|_| narrow).map(|b| format!("on {}", truncate(b, 16, "")));
            if look.frame.is_in_past() && focus == Focus::Story {
                // The letter is for those who see no colour.
                let branch = branch.map_or_else(String::new, |b| format!("{b} {} ", look.glyphs.separator));
                pane_frame::draw_right_title(area, Role::FramePast, &format!("{branch}P"), canvas);
            } else if focus == Focus::Story {
                pane_frame::draw_right_title(
                    area,
                    Role::Muted,
                    &branch.unwrap_or_else(|| actor_and_method(look)),
                    canvas,
                );
            }
        }
    };
    match block.pane {
        Pane::Story => {
            simple(&title_with_episode("Story", look), Focus::Story, canvas);
            story::draw(model, look, PaneContent::All, block, scratch, canvas);
        }
        Pane::Thoughts => {
            simple(&title_with_episode("Thoughts & actions", look), Focus::Story, canvas);
            story::draw(model, look, PaneContent::ThoughtsAndActions, block, scratch, canvas);
        }
        Pane::Observations => {
            simple("Observations", Focus::Observations, canvas);
            story::draw(model, look, PaneContent::Observations, block, scratch, canvas);
        }
        Pane::World => world::draw(model, look, block, scratch, canvas),
        Pane::LaneTabs | Pane::Lane(_) => lanes::draw(model, look, block, canvas),
        Pane::Timeline => {
            simple("Time", Focus::Timeline, canvas);
            scratch.ruler = timeline_bar::draw(look, first_row(block.body), canvas);
        }
    }
}

/// The title of a pane of steps, with the episode where it is not the only one.
fn title_with_episode(name: &str, look: &Context<'_>) -> String {
    let number = look.episode().map_or(0, |e| e.number);
    if number > 1 { format!("{name} {} episode {number}", look.glyphs.separator) } else { name.to_owned() }
}

/// Who acts and by which method; the built-in actor is named as what it is. Where a plan is followed, who writes it.
fn actor_and_method(look: &Context<'_>) -> String {
    let Some(run) = &look.frame.head.run else { return String::new() };
    let plans = run.method == "planning" && look.frame.head.autonomy != Autonomy::Human;
    let who = if plans { &run.mentor } else { &run.actor };
    let who = match who.as_str() {
        "rules" => "rules, a stand-in",
        "symbolic" if plans => "rules, a stand-in",
        "human" => "you play",
        other => other,
    };
    format!("{who} {} {}", look.glyphs.separator, run.method)
}

fn first_row(area: Rect) -> Rect {
    Rect { height: area.height.min(1), ..area }
}
