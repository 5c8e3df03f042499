//! Draws model and state into a buffer. Pure except for [`ViewCache`], which holds only what can be recomputed.

pub mod cache;
mod caption;
pub mod footer;
pub mod lanes;
mod live;
pub mod pane_frame;
pub mod rows;
mod stage;
pub mod status;
mod story;
pub mod timeline_bar;
mod world;

pub use live::SPINNER_FRAME_MILLIS;

use crate::catalog::{ActionSource, action_source, has_no_mentor};
use crate::domain::{Autonomy, RoleSource};
use crate::text::truncate;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::layout::{FIRST_LANE, Pane, PaneArea, compute_layout, stacked_lane_columns};
use crate::ui::model::Model;
use crate::ui::position::forked_steps;
use crate::ui::stage::{content_area, gap_rows};
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use crate::ui::view::cache::ViewCache;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rows::PaneContent;

/// Returns the part of the screen that dialogs may cover, its last row for the footer included: an audience also sees which keys
/// are pressed in a dialog, and the margins stay free. Messages of several rows and a demo's caption stay readable.
pub fn overlay_area(model: &Model, context: &Context<'_>, screen: Rect) -> Rect {
    if !model.stage_mode {
        let taken = message_rows(model, context, screen) + caption::rows_needed(model, screen);
        return Rect { height: screen.height.saturating_sub(taken), ..screen };
    }
    // The goal stays readable.
    let gap = gap_rows(screen);
    let area = Rect { y: screen.y + gap, height: screen.height - 2 * gap, ..content_area(screen) };
    let row = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
    let keys = stage::pressed_key_columns(model, context.glyphs, row);
    let above = footer::notice_rows(model, context, Rect { width: row.width.saturating_sub(keys), ..row });
    let above_caption = screen.height.saturating_sub(stage::caption_rows(model, screen) + gap);
    Rect { height: (area.height - above).min(above_caption), ..area }
}

/// Returns how many rows above the last one a message takes.
fn message_rows(model: &Model, context: &Context<'_>, screen: Rect) -> u16 {
    let row = Rect { y: screen.bottom().saturating_sub(1), height: screen.height.min(1), ..screen };
    footer::notice_rows(model, context, row)
}

/// The fewest rows of a screen whose panes end above a message of several rows; on a smaller one it covers them.
const MIN_ROWS_BESIDE_MESSAGE: u16 = 12;

/// Draws what the footer says while a dialog is open: a message of several rows, which covers what the dialog drew there, and in
/// stage mode the pressed keys. The other keys don't apply.
pub fn draw_footer_above_overlays(
    model: &Model,
    context: &Context<'_>,
    footer: Rect,
    canvas: &mut Canvas<'_>,
) {
    let keys = if model.stage_mode { stage::draw_pressed_keys(model, footer, canvas) } else { 0 };
    if model.notice.is_some() {
        footer::draw(model, context, Rect { width: footer.width - keys, ..footer }, canvas);
    }
}

/// Draws the panes into the buffer. `covered` is what overlays cover at the bottom, down to the last row; the panes behind it
/// that show steps end above it.
pub fn draw(model: &Model, context: &Context<'_>, covered: Rect, cache: &mut ViewCache, buffer: &mut Buffer) {
    let screen = buffer.area;
    let mut canvas = Canvas { buffer, theme: context.theme, glyphs: context.glyphs };
    canvas.clear(screen);
    if model.stage_mode {
        return stage::draw(model, context, covered.height, cache, &mut canvas);
    }
    // A demo doesn't tell its end.
    let present =
        (context.frame.is_in_past() && !model.chapters.is_empty()).then(|| context.frame.without_future());
    let context = &Context { frame: present.as_ref().unwrap_or(context.frame), ..*context };
    let caption_rows = caption::rows_needed(model, screen);
    let message_rows = match screen.height {
        MIN_ROWS_BESIDE_MESSAGE.. => message_rows(model, context, screen),
        _ => 0,
    };
    let area = Rect { height: screen.height - caption_rows - message_rows, ..screen };
    let columns = stacked_lane_columns(area, model.arrangement());
    let lanes = lanes::wanted_rows(model, context, Rect { width: columns, ..area });
    let lay_out =
        |world: u16| compute_layout(area, model.arrangement(), (world, &lanes), model.zoomed_pane(context));
    let mut layout = lay_out(0);
    if let Some(rows) = world::rows_of_cut_picture(model, context, &layout, cache) {
        layout = lay_out(rows);
    }
    status::draw(model, context, layout.status, &mut canvas);
    let role = if looks_back(model, context) { Role::FramePast } else { Role::Frame };
    pane_frame::draw(&layout, screen, role, &mut canvas);
    cache.step_hits.clear();
    cache.ruler = None;
    for area in &layout.areas {
        draw_pane(model, context, &shrink_above(*area, covered), cache, &mut canvas);
    }
    let caption_area = Rect { height: caption_rows, ..layout.footer };
    layout.footer.y += caption_rows + message_rows;
    caption::draw(model, context, caption_area, &mut canvas);
    footer::draw(model, context, layout.footer, &mut canvas);
    cache.layout = layout;
}

/// Shrinks a step pane so that it ends above an overlay at the bottom and its newest rows stay visible. If too few
/// rows would remain, returns it unchanged.
fn shrink_above(area: PaneArea, covered: Rect) -> PaneArea {
    const MIN_ROWS: u16 = 3;
    let steps = matches!(area.pane, Pane::Story | Pane::Thoughts | Pane::Observations);
    let height = covered.y.saturating_sub(area.body.y);
    if !steps || !area.body.intersects(covered) || height < MIN_ROWS || height >= area.body.height {
        return area;
    }
    PaneArea { body: Rect { height, ..area.body }, ..area }
}

/// Returns whether the screen shows the past. What a demo shows before its end is its present.
fn looks_back(model: &Model, context: &Context<'_>) -> bool {
    context.frame.is_in_past() && model.chapters.is_empty()
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
            if looks_back(model, context) && focus == Focus::Story {
                // The word is for people who see no colour.
                let branch =
                    branch.map_or_else(String::new, |b| format!("{b} {} ", context.glyphs.separator));
                pane_frame::draw_right_title(title_area, Role::FramePast, &format!("{branch}past"), canvas);
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
            draw_title("Timeline", Focus::Timeline, canvas);
            let forked = forked_steps(&model.branches, context);
            cache.ruler = timeline_bar::draw(context, &forked, area.body, canvas);
            if let (Some(title), Some((role, label))) =
                (area.title, timeline_bar::nearest_mark_label(context, &forked))
            {
                pane_frame::draw_right_title(title, role, &label, canvas);
            }
        }
    }
}

/// Returns the title of a step pane, with the episode's number unless it is the first.
fn title_with_episode(name: &str, context: &Context<'_>) -> String {
    let number = context.episode().map_or(0, |e| e.number);
    if number > 1 { format!("{name} {} episode {number}", context.glyphs.separator) } else { name.to_owned() }
}

/// Returns the actor and the method; the built-in actor is labelled as a stand-in. If no actor is asked, names the
/// mentor that writes the plan, or nobody.
fn actor_and_method(context: &Context<'_>) -> String {
    let Some(run) = &context.frame.head.run else { return String::new() };
    let source = action_source(&run.method);
    let has_actor = source == ActionSource::Actor || context.frame.head.autonomy == Autonomy::Human;
    let plans = !has_actor && source == ActionSource::Plan && !has_no_mentor(&run.method);
    if !has_actor && !plans {
        return run.method.clone();
    }
    let who = if plans { &run.mentor } else { &run.actor };
    let who = match RoleSource::parse(who) {
        RoleSource::Rules => "rules (a stand-in)",
        RoleSource::Symbolic if plans => "rules (a stand-in)",
        RoleSource::Person => "you play",
        _ => who,
    };
    format!("{who} {} {}", context.glyphs.separator, run.method)
}
