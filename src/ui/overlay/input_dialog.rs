//! A one-line input dialog: for the reason of a rejection, or for a remark.

use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Window, WindowPosition, paragraph, put_line, put_lines};
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

/// The purpose of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The reason for rejecting a proposal. The agent sees it.
    Reject { proposal: String },
    /// A remark on a step, or on the episode if `step` is 0.
    Remark { episode: u32, step: u32 },
}

/// One-line input dialog.
pub(super) struct InputDialog {
    purpose: Purpose,
    field: TextField,
    warns_empty: bool,
}

impl InputDialog {
    /// Creates the dialog with an empty line.
    pub(super) fn new(purpose: Purpose) -> Self {
        Self { purpose, field: TextField::single_line(""), warns_empty: false }
    }
}

impl Component for InputDialog {
    fn name(&self) -> &'static str {
        match self.purpose {
            Purpose::Reject { .. } => "reject",
            Purpose::Remark { .. } => "remark",
        }
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::LineInput
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => Response::close(),
            Action::Accept | Action::Open => {
                let text = self.field.text();
                self.warns_empty = text.is_empty();
                if self.warns_empty {
                    return Response::default();
                }
                Response::request_and_close(Request::Send(match &self.purpose {
                    Purpose::Reject { .. } => Command::Reject(text),
                    Purpose::Remark { episode, step } => {
                        Command::Remark { episode: Some(*episode), step: *step, text }
                    }
                }))
            }
            _ => Response::default(),
        }
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        self.warns_empty &= !self.field.on_key(key);
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        self.warns_empty &= !self.field.on_paste(text);
        Response::default()
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(4, screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (title, about) = match &self.purpose {
            Purpose::Reject { proposal } => {
                ("Reject: why?".to_owned(), format!("{} {proposal}", context.glyphs.proposal))
            }
            Purpose::Remark { step: 0, .. } => ("Remark on this episode".to_owned(), String::new()),
            Purpose::Remark { step, .. } => (format!("Remark on step {step}"), String::new()),
        };
        let help = match (&self.purpose, self.warns_empty) {
            (_, true) => "type something first",
            (Purpose::Reject { .. }, _) => {
                "The agent sees the reason, and the actor is called again for this step."
            }
            (Purpose::Remark { .. }, _) => {
                "Remarks are for people: they stay in the session and never enter a prompt."
            }
        };
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: 4,
            columns: 84,
            mode: Mode::LineInput,
        };
        let inside = window.draw(context, screen, canvas);
        let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
        put_line(&[(Role::Proposal, about)], row(0), canvas);
        self.field.draw(true, row(1), canvas);
        let role = if self.warns_empty { Role::Warning } else { Role::Muted };
        let below = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2).min(2), ..inside };
        put_lines(&paragraph((role, ""), role, help, inside.width), below, canvas);
    }
}
