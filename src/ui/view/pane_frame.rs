//! Lines between the panes, their joints, and the titles on them.

use crate::text::fits;
use crate::ui::canvas::Canvas;
use crate::ui::layout::ScreenLayout;
use crate::ui::theme::Role;
use ratatui::layout::Rect;

const UP: u8 = 1;
const RIGHT: u8 = 2;
const DOWN: u8 = 4;
const LEFT: u8 = 8;

/// Draws all lines of the layout with the right joints.
pub fn draw(layout: &ScreenLayout, screen: Rect, role: Role, canvas: &mut Canvas<'_>) {
    let style = canvas.style(role);
    let is_horizontal = |y: u16, x: u16| {
        layout
            .areas
            .iter()
            .filter_map(|b| b.title)
            .chain(layout.bottom_rule)
            .any(|t| t.y == y && x >= t.x && x < t.right())
    };
    let is_vertical = |y: u16, x: u16| layout.dividers.iter().any(|u| u.0 == x && y >= u.1 && y < u.2);
    for title in layout.areas.iter().filter_map(|b| b.title).chain(layout.bottom_rule) {
        for x in title.left()..title.right() {
            let mut arms = LEFT | RIGHT;
            if title.y > screen.y && is_vertical(title.y - 1, x) {
                arms |= UP;
            }
            if is_vertical(title.y + 1, x) {
                arms |= DOWN;
            }
            canvas.put(x, title.y, 1, canvas.glyphs.box_drawing[usize::from(arms)], style);
        }
    }
    for &(x, from, to) in &layout.dividers {
        for y in from..to {
            let mut arms = UP | DOWN;
            if x > screen.x && is_horizontal(y, x - 1) {
                arms |= LEFT;
            }
            if is_horizontal(y, x + 1) {
                arms |= RIGHT;
            }
            if y == from && !is_vertical(y.wrapping_sub(1), x) {
                arms &= !UP;
            }
            if arms == DOWN {
                arms |= UP;
            }
            canvas.put(x, y, 1, canvas.glyphs.box_drawing[usize::from(arms)], style);
        }
    }
}

/// Draws the pieces of a title, starting one cell in, with a space at each end.
pub fn draw_title(area: Rect, pieces: &[(Role, &str)], canvas: &mut Canvas<'_>) {
    let last = area.right().saturating_sub(1);
    let mut x = area.x + 1;
    if pieces.is_empty() || area.width < 5 {
        return;
    }
    canvas.put(x, area.y, 1, " ", canvas.style(Role::Text));
    x += 1;
    for (role, text) in pieces {
        x += canvas.put(x, area.y, last.saturating_sub(x + 1), text, canvas.style(*role));
    }
    canvas.put(x, area.y, last.saturating_sub(x).min(1), " ", canvas.style(Role::Text));
}

/// Draws a text at the right end of a title row, if it fits in half the row.
pub fn draw_right_title(area: Rect, role: Role, text: &str, canvas: &mut Canvas<'_>) {
    draw_right_title_in(area, area.width / 2, role, text, canvas);
}

/// Draws a text at the right end of a title row, if it fits in so many columns.
pub fn draw_right_title_in(area: Rect, columns: u16, role: Role, text: &str, canvas: &mut Canvas<'_>) {
    let words = format!(" {text} ");
    if text.is_empty() || !fits(&words, usize::from(columns)) {
        return;
    }
    canvas.put_right(area.right().saturating_sub(2), area.y, columns, &words, canvas.style(role));
}
