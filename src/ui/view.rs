//! Draws model and state into a buffer. Pure but for [`Scratch`], which only keeps what could be reckoned again.

pub mod footer;
pub mod frame;
pub mod lanes;
mod live;
pub mod rows;
pub mod status;
mod story;
pub mod time;
mod world;

pub use live::BEAT_MILLIS;
pub(super) use status::behind;

use super::canvas::Canvas;
use super::context::Context;
use super::glyphs::Glyphs;
use super::layout::{Block, Pane, Plan, plan};
use super::model::{Focus, Model};
use super::theme::Role;
use crate::domain::{Autonomy, Step};
use crate::engine::State;
use crate::text::truncate;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rows::{Measure, Offer, Parts, Row};
use std::collections::HashMap;
use std::sync::Arc;

/// What the view learns while it draws. Dropping it changes nothing on the screen.
#[derive(Default)]
pub struct Scratch {
    rows: HashMap<Key, Kept>,
    /// Where the panes lay at the last draw, for the mouse and for pages.
    pub plan: Plan,
    /// How far a pane of steps can be scrolled from its resting place: rows towards the past, rows towards the end.
    pub room: HashMap<Parts, (i32, i32)>,
    /// Which step lies in which row of which pane.
    pub hits: Vec<(Pane, u16, u32)>,
    /// Which column of the time bar is which step.
    pub ruler: Option<time::Ruler>,
    /// How far the world pane can be scrolled.
    pub world_most: u16,
}

/// The digit that focuses the first lane; Story has 1, World 2, and what comes after the lanes the digits after theirs.
const FIRST_LANE: usize = 3;

/// Where a step lies in memory, how its rows are laid out, whether its episode goes on, and what is on offer at it.
type Key = (usize, Measure, bool, Option<Offer>);

/// A step and its rows.
type Kept = (Arc<Step>, Arc<[Row]>);

/// Rows of steps that are kept at most; a screen shows far fewer.
const KEPT: usize = 1024;

impl Scratch {
    /// The rows of a step, kept for as long as the step is the same one.
    fn rows_of(
        &mut self,
        step: &Arc<Step>,
        state: &State,
        offer: Option<&Offer>,
        measure: Measure,
        glyphs: &Glyphs,
    ) -> Arc<[Row]> {
        // A kept step holds its memory, so no other step can have the same address.
        let key = (Arc::as_ptr(step) as usize, measure, state.open_episode().is_some(), offer.cloned());
        if let Some((_, rows)) = self.rows.get(&key) {
            return rows.clone();
        }
        if self.rows.len() >= KEPT {
            self.rows.clear();
        }
        let rows: Arc<[Row]> = rows::step_rows(step, state, offer, measure, glyphs).into();
        self.rows.insert(key, (step.clone(), rows.clone()));
        rows
    }
}

/// Draws one frame into the buffer.
pub fn draw(model: &Model, look: &Context<'_>, scratch: &mut Scratch, buffer: &mut Buffer) {
    let screen = buffer.area;
    let mut canvas = Canvas { buffer, theme: look.theme, glyphs: look.glyphs };
    canvas.clear(screen);
    let plan = plan(screen, model.arrangement(), look.lanes().len(), model.zoom(look.lanes()));
    status::draw(model, look, plan.status, &mut canvas);
    let role = if look.moment.past() { Role::Past } else { Role::Frame };
    frame::draw(&plan, screen, role, &mut canvas);
    scratch.hits.clear();
    scratch.ruler = None;
    let covered = model.overlays.iter().map(|o| o.covers(look, screen)).max().unwrap_or(0);
    for block in &plan.blocks {
        pane(model, look, &above(*block, screen.bottom() - covered), scratch, &mut canvas);
    }
    footer::draw(model, look, plan.footer, &mut canvas);
    for overlay in &model.overlays {
        // The keys of one that lies below another do not count.
        if model.notice.is_none() && look.halted().is_none() && !look.broken() {
            canvas.clear(plan.footer);
        }
        overlay.draw(look, screen, &mut canvas);
    }
    scratch.plan = plan;
}

/// A pane of steps ends above what lies at the lower edge, so that its newest rows are to be seen; where that would leave
/// next to nothing of it, it stays as it is.
fn above(block: Block, end: u16) -> Block {
    const LEAST: u16 = 3;
    let steps = matches!(block.pane, Pane::Story | Pane::Thoughts | Pane::Observations);
    let height = end.saturating_sub(block.body.y);
    if !steps || height < LEAST || height >= block.body.height {
        return block;
    }
    Block { body: Rect { height, ..block.body }, ..block }
}

fn pane(model: &Model, look: &Context<'_>, block: &Block, scratch: &mut Scratch, canvas: &mut Canvas<'_>) {
    let simple = |words: &str, focus: Focus, canvas: &mut Canvas<'_>| {
        let role = if model.focus == focus { Role::Focus } else { Role::Title };
        if let Some(area) = block.title {
            let digit = match focus {
                Focus::Story => 1,
                Focus::World => 2,
                Focus::Lanes => FIRST_LANE,
                Focus::Observations => FIRST_LANE + look.lanes().len(),
                Focus::Time => FIRST_LANE + 1 + look.lanes().len(),
            };
            frame::title(area, &[(Role::Dim, &format!("{digit} ")), (role, words)], canvas);
            // The first row of a narrow screen has no room for the branch.
            let narrow = canvas.buffer.area.width < status::NAMED;
            let branch = model.called().filter(|_| narrow).map(|b| format!("on {}", truncate(b, 16, "")));
            if look.moment.past() && focus == Focus::Story {
                // The letter is for those who see no colour.
                let branch = branch.map_or_else(String::new, |b| format!("{b} {} ", look.glyphs.dot));
                frame::aside(area, Role::Past, &format!("{branch}P"), canvas);
            } else if focus == Focus::Story {
                frame::aside(area, Role::Dim, &branch.unwrap_or_else(|| players(look)), canvas);
            }
        }
    };
    match block.pane {
        Pane::Story => {
            simple(&titled("Story", look), Focus::Story, canvas);
            story::draw(model, look, Parts::All, block, scratch, canvas);
        }
        Pane::Thoughts => {
            simple(&titled("Thoughts & actions", look), Focus::Story, canvas);
            story::draw(model, look, Parts::Done, block, scratch, canvas);
        }
        Pane::Observations => {
            simple("Observations", Focus::Observations, canvas);
            story::draw(model, look, Parts::Seen, block, scratch, canvas);
        }
        Pane::World => world::draw(model, look, block, scratch, canvas),
        Pane::Tabs | Pane::Lane(_) => lanes::draw(model, look, block, canvas),
        Pane::Time => {
            simple("Time", Focus::Time, canvas);
            scratch.ruler = time::draw(look, first_row(block.body), canvas);
        }
    }
}

/// The title of a pane of steps, with the episode where it is not the only one.
fn titled(name: &str, look: &Context<'_>) -> String {
    let number = look.episode().map_or(0, |e| e.number);
    if number > 1 { format!("{name} {} episode {number}", look.glyphs.dot) } else { name.to_owned() }
}

/// Who acts and by which method; the built-in actor is named as what it is. Where a plan is followed, who writes it.
fn players(look: &Context<'_>) -> String {
    let Some(run) = &look.moment.head.run else { return String::new() };
    let plans = run.method == "planning" && look.moment.head.autonomy != Autonomy::Human;
    let who = if plans { &run.mentor } else { &run.actor };
    let who = match who.as_str() {
        "rules" => "rules, a stand-in",
        "symbolic" if plans => "rules, a stand-in",
        "human" => "you play",
        other => other,
    };
    format!("{who} {} {}", look.glyphs.dot, run.method)
}

fn first_row(area: Rect) -> Rect {
    Rect { height: area.height.min(1), ..area }
}
