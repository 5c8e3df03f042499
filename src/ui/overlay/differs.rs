//! The world that was brought back answers other than recorded: both texts, and what can be done.

use super::choice::Choice;
use super::row_cache::RowCache;
use super::window::{Line, Place, Scroll, Window, paragraph};
use super::{Overlay, Response, moved};
use crate::domain::BranchId;
use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// The difference that waits for a decision.
pub struct Differs {
    /// The branch one can go back to, and what it is called.
    back: Option<(String, BranchId)>,
    choice: Choice,
    /// The answers, and the texts above them.
    scroll: Scroll,
    texts: Scroll,
    made: RowCache,
}

impl Differs {
    /// With a way back to a branch, where there is one.
    pub fn new(back: Option<(String, BranchId)>) -> Self {
        let mut answers = vec!["accept it: go on in the world as it is now".to_owned()];
        answers.extend(back.iter().map(|(called, _)| format!("go back to branch {called}")));
        answers.push("leave it open, and look around".to_owned());
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let choice = Choice::new("What now?", &answers);
        Self { choice, back, scroll: Scroll::default(), texts: Scroll::default(), made: RowCache::default() }
    }

    fn texts(look: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some((episode, step, recorded, now)) = &look.moment.head.divergence {
            let place = match step {
                0 => format!("at the beginning of episode {episode}"),
                n => format!("at turn {n} of episode {episode}"),
            };
            let words = format!("The world was brought back, and answers other than recorded {place}.");
            lines.extend(paragraph((Role::Bad, ""), Role::Bad, &words, columns));
            lines.extend(paragraph((Role::Dim, "recorded  "), Role::Observation, recorded, columns));
            lines.extend(paragraph((Role::Dim, "now       "), Role::Observation, now, columns));
        }
        lines
    }
}

impl Overlay for Differs {
    fn name(&self) -> &'static str {
        "differs"
    }

    fn mode(&self) -> Mode {
        Mode::Choice
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept => {
                return match (self.choice.at, &self.back) {
                    (0, _) => Response::done(Request::Send(Command::Retry)),
                    (1, Some((_, id))) => Response::done(Request::Switch(id.clone())),
                    _ => Response::close(),
                };
            }
            Action::PageDown => self.texts.pages(1),
            Action::PageUp => self.texts.pages(-1),
            other => self.choice.by(moved(other, 1).map_or(0, isize::signum)),
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.choice.mouse(&self.scroll, event);
        Response::default()
    }

    fn stale(&self, look: &Context<'_>) -> bool {
        look.moment.head.divergence.is_none()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        const COLUMNS: u16 = 78;
        let columns = COLUMNS.min(screen.width.saturating_sub(4));
        let answers = |columns| self.choice.lines(look, columns);
        let rows = (self.made.rows(look, columns, |columns| Self::texts(look, columns)).len()
            + answers(columns).len()) as u16
            + 1;
        let window = Window {
            title: "The world differs",
            place: Place::Middle,
            rows,
            columns: COLUMNS,
            mode: Mode::Choice,
        };
        let inside = window.draw(look, screen, canvas);
        // The answers stay to be seen; texts too long for what is left scroll.
        let answers = answers(inside.width);
        let high = (answers.len() as u16).min(inside.height);
        let above = Rect { height: inside.height.saturating_sub(high + 1), ..inside };
        let texts = self.made.rows(look, inside.width, |columns| Self::texts(look, columns));
        self.texts.draw(&texts, above, canvas);
        let below = Rect { y: inside.bottom() - high, height: high, ..inside };
        self.scroll.draw(&answers, below, canvas);
    }
}
