//! The page of recent sessions.

use super::{draw_heading, spread};
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::start::chooser::Chooser;
use crate::ui::theme::Role;
use crate::ui::widget::window::put_line;
use ratatui::layout::Rect;

/// The fewest columns of a list that says how many branches a session has.
const WIDTH_WITH_BRANCHES: u16 = 60;

pub(super) fn draw(chooser: &Chooser, area: Rect, canvas: &mut Canvas<'_>) {
    draw_heading("Recent sessions", true, area, canvas);
    let rows = usize::from(area.height.saturating_sub(1));
    let top = (chooser.selected_session + 1).saturating_sub(rows);
    for (place, session) in chooser.model.sessions.iter().enumerate().skip(top).take(rows) {
        let is_selected = place == chooser.selected_session;
        let mark = if is_selected { canvas.glyphs.proposal } else { " " };
        // The branches take room from the goal only where there is enough.
        let branches = match session.branches {
            count @ 2.. if area.width >= WIDTH_WITH_BRANCHES => format!("{count} branches  "),
            _ => String::new(),
        };
        let status = if session.status == "crashed" { Role::Warning } else { Role::Muted };
        let line = spread(
            vec![
                (Role::Proposal, format!(" {mark} ")),
                (status, format!("{:<9}", session.status)),
                (
                    if is_selected { Role::Selection } else { Role::Text },
                    one_line(&session.goal).into_owned(),
                ),
            ],
            (Role::Muted, format!("{branches}{}", one_line(&session.about))),
            area.width,
        );
        put_line(&line, Rect { y: area.y + 1 + (place - top) as u16, height: 1, ..area }, canvas);
    }
}
