//! Which kind of reflection is asked for now.

use super::choice::Choice;
use super::window::{Place, Scroll, Window};
use super::{Overlay, Reaction};
use crate::domain::Kind;
use crate::engine::Command;
use crate::ui::canvas::Canvas;
use crate::ui::keymap::{Action, Mode};
use crate::ui::look::Look;
use crate::ui::msg::Request;
use ratatui::layout::Rect;

/// The question.
pub struct AskReflection {
    kinds: &'static [Kind],
    choice: Choice,
}

impl AskReflection {
    /// The kinds that the method knows.
    pub fn new(kinds: &'static [Kind]) -> Self {
        let names: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
        Self { kinds, choice: Choice::new("Which kind?", &names) }
    }
}

impl Overlay for AskReflection {
    fn name(&self) -> &'static str {
        "reflect"
    }

    fn mode(&self) -> Mode {
        Mode::Overlay
    }

    fn act(&mut self, action: Action, _: &Look<'_>) -> Reaction {
        match action {
            Action::Close => return Reaction::close(),
            Action::Open | Action::Accept => {
                let kind = self.kinds.get(self.choice.at).copied();
                return kind.map_or_else(Reaction::close, |k| Reaction::done(Request::Send(Command::Reflect(k))));
            }
            Action::Down | Action::NextField => self.choice.by(1),
            Action::Up | Action::PreviousField => self.choice.by(-1),
            _ => {}
        }
        Reaction::default()
    }

    fn draw(&self, look: &Look<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let rows = self.kinds.len() as u16 + 1;
        let window = Window { title: "Reflect now", place: Place::Middle, rows, columns: 40, mode: Mode::Overlay };
        let inside = window.draw(look, screen, canvas);
        Scroll::default().draw(&self.choice.lines(look, inside.width), inside, canvas);
    }
}
