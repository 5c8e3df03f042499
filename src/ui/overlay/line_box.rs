//! A box of one line: why a proposal is rejected, a remark.

use super::field::Field;
use super::window::{Place, Window, paragraph, put_line};
use super::{Overlay, Response};
use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

/// What the line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The proposal is rejected; the agent is told why.
    Reject {
        /// The proposal.
        proposal: String,
    },
    /// A remark on a step; 0: on the episode.
    Remark {
        /// The step.
        step: u32,
    },
}

/// The box.
pub struct LineBox {
    purpose: Purpose,
    field: Field,
    empty: bool,
}

impl LineBox {
    /// An empty line.
    pub fn new(purpose: Purpose) -> Self {
        Self { purpose, field: Field::line(""), empty: false }
    }
}

impl Overlay for LineBox {
    fn name(&self) -> &'static str {
        match self.purpose {
            Purpose::Reject { .. } => "reject",
            Purpose::Remark { .. } => "remark",
        }
    }

    fn mode(&self) -> Mode {
        Mode::Line
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => Response::close(),
            Action::Accept | Action::Open => {
                let text = self.field.text();
                self.empty = text.is_empty();
                if self.empty {
                    return Response::default();
                }
                Response::done(Request::Send(match &self.purpose {
                    Purpose::Reject { .. } => Command::Reject(text),
                    Purpose::Remark { step } => Command::Remark { step: *step, text },
                }))
            }
            _ => Response::default(),
        }
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        self.empty &= !self.field.key(key);
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        self.empty &= !self.field.paste(text);
        Response::default()
    }

    fn covers(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::covers(4, screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let (title, about) = match &self.purpose {
            Purpose::Reject { proposal } => {
                ("Reject: why?".to_owned(), format!("{} {proposal}", look.glyphs.proposal))
            }
            Purpose::Remark { step: 0 } => ("A remark on this episode".to_owned(), String::new()),
            Purpose::Remark { step } => (format!("A remark on turn {step}"), String::new()),
        };
        let told = match (&self.purpose, self.empty) {
            (_, true) => "write a few words first",
            (Purpose::Reject { .. }, _) => "The agent is told the reason, and is asked this turn again.",
            (Purpose::Remark { .. }, _) => {
                "Remarks are for people: they stay in the session and reach no prompt."
            }
        };
        let window = Window { title: &title, place: Place::Below, rows: 4, columns: 84, mode: Mode::Line };
        let inside = window.draw(look, screen, canvas);
        let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
        put_line(&[(Role::Proposal, about)], row(0), canvas);
        self.field.draw(true, row(1), canvas);
        let role = if self.empty { Role::Warn } else { Role::Dim };
        for (place, line) in paragraph((role, ""), role, told, inside.width).iter().take(2).enumerate() {
            if row(2 + place as u16).height > 0 {
                put_line(line, row(2 + place as u16), canvas);
            }
        }
    }
}
