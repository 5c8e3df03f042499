//! The caption of a demo's chapter, above the key line.

use crate::text::wrap_at_most;
use crate::ui::canvas::Canvas;
use crate::ui::chapters::{chapter_of, shown_step};
use crate::ui::frame_data::Context;
use crate::ui::model::Model;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// The most rows of a caption.
const MAX_ROWS: usize = 3;
/// The fewest rows of a screen that has room for captions.
const MIN_SCREEN_ROWS: u16 = 12;

/// Returns the number of rows that captions need on a screen: as many as the longest, so that the panes don't move.
pub(super) fn rows_needed(model: &Model, screen: Rect) -> u16 {
    if screen.height < MIN_SCREEN_ROWS {
        return 0;
    }
    let room = text_columns(model, screen.width);
    let rows = model.chapters.iter().map(|chapter| wrap_at_most(&chapter.text, room, MAX_ROWS).0.len());
    rows.max().unwrap_or(0) as u16
}

/// Returns the columns of the number before the text.
fn lead_columns(model: &Model) -> usize {
    let digits = model.chapters.len().max(1).ilog10() as usize + 1;
    2 * digits + 4
}

fn text_columns(model: &Model, width: u16) -> usize {
    usize::from(width).saturating_sub(lead_columns(model) + 1).max(8)
}

/// Draws the caption of the chapter on screen.
pub(super) fn draw(model: &Model, context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
    let shown = shown_step(context);
    let Some(index) = chapter_of(&model.chapters, shown) else { return };
    let Some(chapter) = model.chapters.get(index) else { return };
    // Where the chapter begins, the caption is new.
    let role = if chapter.at == shown { Role::Title } else { Role::Text };
    let (lines, _) = wrap_at_most(&chapter.text, text_columns(model, area.width), usize::from(area.height));
    let number = format!(" {}/{}", index + 1, model.chapters.len());
    canvas.put(area.x, area.y, area.width, &number, canvas.style(Role::Key));
    let x = area.x + lead_columns(model) as u16;
    for (y, line) in (area.y..area.bottom()).zip(&lines) {
        canvas.put(x, y, area.right().saturating_sub(x), line, canvas.style(role));
    }
}
