//! The World pane: the picture that an environment draws of what the agent knows. A key switches to the ground truth.

use super::pane_frame;
use crate::domain::{Picture, PictureRow, pluralize};
use crate::text::{fits, width};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::layout::{Pane, PaneArea, ScreenLayout};
use crate::ui::model::Model;
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use crate::ui::view::cache::{PictureArea, ViewCache};
use std::sync::Arc;

/// Draws the pane.
pub(super) fn draw(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let picture = picture_for(model, context, area, cache)
        .unwrap_or_else(|| Arc::new(Picture { shows_truth: model.show_truth, ..Picture::default() }));
    place_picture(&picture, model, area, cache, canvas);
}

/// Returns the picture for an area. `None` if no episode has begun.
fn picture_for(
    model: &Model,
    context: &Context<'_>,
    area: &PaneArea,
    cache: &mut ViewCache,
) -> Option<Arc<Picture>> {
    let episode = context.displayed_state().episode.as_ref()?;
    let area = PictureArea {
        columns: usize::from(area.body.width.saturating_sub(2)),
        rows: usize::from(area.body.height),
        is_ascii: context.glyphs.ellipsis.is_ascii(),
    };
    Some(cache.cached_picture(episode, model.show_truth, area))
}

/// Returns the rows, title included, that the picture needs if its pane in a layout is too low for it.
pub(super) fn rows_of_cut_picture(
    model: &Model,
    context: &Context<'_>,
    layout: &ScreenLayout,
    cache: &mut ViewCache,
) -> Option<u16> {
    let area = layout.areas.iter().find(|area| area.pane == Pane::World && area.body.height > 0)?;
    let rows = picture_for(model, context, area, cache)?.rows.len();
    (rows > usize::from(area.body.height)).then(|| u16::try_from(rows + 1).unwrap_or(u16::MAX))
}

/// Places a picture in the pane: its title, and its rows from the scroll offset.
fn place_picture(
    picture: &Picture,
    model: &Model,
    area: &PaneArea,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    draw_title(picture, model, area, canvas);
    let height = usize::from(area.body.height);
    let most = picture.rows.len().saturating_sub(height);
    cache.world_max_scroll = most as u16;
    let offset = usize::from(model.scroll.world).min(most);
    let (mut more, mut visible) = (String::new(), height);
    if most > offset && height > 0 {
        let note =
            |hidden: usize| format!(" {} {}", canvas.glyphs.ellipsis, pluralize(hidden as u64, "more row"));
        more = note(most - offset);
        // Where no item of the last row fits beside the note, the note takes its place.
        let room = usize::from(area.body.width.saturating_sub(2)).saturating_sub(width(&more));
        if height > 1 && picture.rows.get(offset + height - 1).is_some_and(|row| !shows_an_item(row, room)) {
            more = note(most - offset + 1);
            visible -= 1;
        }
    }
    for (place, row) in picture.rows.iter().skip(offset).take(visible).enumerate() {
        let mut x = area.body.x + 1;
        let note = if place + 1 == height { width(&more) } else { 0 };
        let right = usize::from(area.body.right().saturating_sub(1)).saturating_sub(note);
        for (role, text) in row {
            let max_width = right.saturating_sub(usize::from(x));
            let fitting = if note > 0 { fitting_items(text, max_width) } else { text.as_str() };
            let style = canvas.style((*role).into());
            x += canvas.put(x, area.body.y + place as u16, max_width as u16, fitting, style);
            if fitting.len() < text.len() {
                break;
            }
        }
    }
    if !more.is_empty() {
        let (right, y) = (area.body.right().saturating_sub(1), area.body.bottom() - 1);
        canvas.put_right(right, y, area.body.width / 2, &more, canvas.style(Role::Muted));
    }
}

/// Labels of a pane that shows the ground truth, from long to short.
const TRUTH_LABELS: [&str; 3] = ["  ground truth (hidden from the agent)", "  ground truth", "  truth"];

/// Draws the title. If the pane has no other rows, the picture's line is in it, else the summary is at its end.
fn draw_title(picture: &Picture, model: &Model, area: &PaneArea, canvas: &mut Canvas<'_>) {
    let Some(title) = area.title else { return };
    let own = if model.focus == Focus::World { Role::TitleFocus } else { Role::Title };
    let summary = if area.body.height > 0 { picture.summary.as_str() } else { "" };
    let mut pieces = vec![(Role::Muted, "2 "), (own, "World")];
    let labels: &[&str] = if picture.shows_truth { &TRUTH_LABELS } else { &[""] };
    if area.body.height == 0 {
        // The longest line that fits beside a label, and the longest label that fits beside it.
        let max_width = usize::from(title.width).saturating_sub(17);
        let pairs = picture.one_line.iter().flat_map(|line| labels.iter().map(move |label| (line, *label)));
        let fitting = pairs.clone().find(|(line, label)| width(line) + width(label) <= max_width);
        if let Some((line, label)) = fitting.or_else(|| pairs.last()) {
            pieces.extend([(Role::Warning, label), (Role::Text, "  "), (Role::Text, line.as_str())]);
        }
    } else {
        // The longest label that fits beside the summary, never half a phrase.
        let taken = 6 + "World".len() + if summary.is_empty() { 0 } else { width(summary) + 4 };
        let max_width = usize::from(title.width).saturating_sub(taken);
        let label = labels.iter().find(|label| fits(label, max_width)).or(labels.last());
        pieces.extend(label.map(|label| (Role::Warning, *label)));
    }
    pane_frame::draw_title(title, &pieces, canvas);
    // A blank, the title, a blank, and a piece of the rule at each end.
    let used: usize = pieces.iter().map(|(_, text)| width(text)).sum::<usize>() + 6;
    let room = usize::from(title.width).saturating_sub(used) as u16;
    pane_frame::draw_right_title_in(title, room, Role::Muted, summary, canvas);
}

/// Returns whether a row fits, or at least one of its items, which commas divide.
fn shows_an_item(row: &PictureRow, mut room: usize) -> bool {
    let mut has_item = false;
    for (_, text) in row {
        let shown = fitting_items(text, room);
        has_item |= shown.contains(',');
        if shown.len() < text.len() {
            return has_item;
        }
        room = room.saturating_sub(width(shown));
    }
    true
}

/// Returns as many items as fit completely: a truncated name could be mistaken for another item.
fn fitting_items(text: &str, max_width: usize) -> &str {
    if fits(text, max_width) {
        return text;
    }
    let borders = text.match_indices(", ").map(|(at, _)| &text[..=at]);
    borders.filter(|part| fits(part, max_width)).last().unwrap_or("")
}

#[cfg(test)]
mod tests;
