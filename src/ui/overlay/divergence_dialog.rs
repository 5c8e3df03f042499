//! The dialog shown if a restored environment responds differently from the recording: both texts, and the choices.

use crate::domain::BranchId;
use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::choice::Choice;
use crate::ui::widget::list_index::row_delta;
use crate::ui::widget::row_cache::RowCache;
use crate::ui::widget::window::{Line, Scroll, Window, WindowPosition, paragraph};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Dialog for a divergence that awaits a decision.
pub(super) struct DivergenceDialog {
    /// The name and id of the branch to go back to, if there is one.
    return_branch: Option<(String, BranchId)>,
    choice: Choice,
    /// Scroll state of the answers; `text_scroll` is that of the texts above them.
    answer_scroll: Scroll,
    text_scroll: Scroll,
    cache: RowCache,
}

impl DivergenceDialog {
    /// Creates the dialog; `back` is the name and id of a branch to go back to.
    pub(super) fn new(back: Option<(String, BranchId)>) -> Self {
        let mut answers = vec!["accept it and continue in this environment".to_owned()];
        answers.extend(back.iter().map(|(name, _)| format!("go back to branch {name}")));
        answers.push("decide later".to_owned());
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let choice = Choice::new("What now?", &answers);
        Self {
            choice,
            return_branch: back,
            answer_scroll: Scroll::default(),
            text_scroll: Scroll::default(),
            cache: RowCache::default(),
        }
    }

    fn difference_lines(context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some((episode, step, recorded, now)) = &context.frame.head.divergence {
            let place = match step {
                0 => format!("at the start of episode {episode}"),
                n => format!("at step {n} of episode {episode}"),
            };
            let words = format!("The restored environment responds differently {place}.");
            lines.extend(paragraph((Role::Bad, ""), Role::Bad, &words, columns));
            lines.extend(paragraph((Role::Muted, "recorded  "), Role::Observation, recorded, columns));
            lines.extend(paragraph((Role::Muted, "now       "), Role::Observation, now, columns));
        }
        lines
    }
}

impl Component for DivergenceDialog {
    fn name(&self) -> &'static str {
        "differs"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Choice
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept => {
                return match (self.choice.selected, &self.return_branch) {
                    (0, _) => Response::request_and_close(Request::Send(Command::Retry)),
                    (1, Some((_, id))) => Response::request_and_close(Request::SwitchBranch(id.clone())),
                    _ => Response::close(),
                };
            }
            Action::PageDown => self.text_scroll.scroll_pages(1),
            Action::PageUp => self.text_scroll.scroll_pages(-1),
            other => self.choice.move_by(row_delta(other, 1).map_or(0, isize::signum)),
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.choice.on_mouse(&self.answer_scroll, event);
        Response::default()
    }

    fn is_stale(&self, context: &Context<'_>) -> bool {
        context.frame.head.divergence.is_none()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        const COLUMNS: u16 = 78;
        let columns = Window::inner_columns(COLUMNS, context, screen);
        let answers = |columns| self.choice.lines(context, columns);
        let rows = (self
            .cache
            .get_or_make(context, columns, |columns| Self::difference_lines(context, columns))
            .len()
            + answers(columns).len()) as u16
            + 1;
        let window = Window {
            title: "The environment differs from the recording",
            position: WindowPosition::Middle,
            rows,
            columns: COLUMNS,
            mode: Mode::Choice,
        };
        let inside = window.draw(context, screen, canvas);
        // The answers always stay visible; long texts scroll in the rows that are left.
        let answers = answers(inside.width);
        let high = (answers.len() as u16).min(inside.height);
        let above = Rect { height: inside.height.saturating_sub(high + 1), ..inside };
        let texts =
            self.cache.get_or_make(context, inside.width, |columns| Self::difference_lines(context, columns));
        self.text_scroll.draw(&texts, above, canvas);
        let below = Rect { y: inside.bottom() - high, height: high, ..inside };
        self.answer_scroll.draw(&answers, below, canvas);
    }
}
