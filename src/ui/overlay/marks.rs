//! At which marks `<` and `>` stop.

use super::window::{Line, Place, Pointed, Scroll, Window};
use super::{Overlay, Response, moved};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::mark::{MarkKind, Marks};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// The list of kinds.
pub struct MarkList {
    marks: Marks,
    chosen: usize,
    scroll: Scroll,
}

impl MarkList {
    /// With those in force.
    pub fn new(marks: Marks) -> Self {
        Self { marks, chosen: 0, scroll: Scroll::default() }
    }

    fn kind(&self) -> MarkKind {
        MarkKind::ALL[self.chosen.min(MarkKind::ALL.len() - 1)]
    }

    fn toggle(&mut self) -> Response {
        self.marks.toggle(self.kind());
        Response::want(Request::Marks(self.marks))
    }

    fn by(&mut self, by: isize) {
        self.chosen = self.chosen.saturating_add_signed(by).min(MarkKind::ALL.len() - 1);
    }
}

impl Overlay for MarkList {
    fn name(&self) -> &'static str {
        "marks"
    }

    fn mode(&self) -> Mode {
        Mode::Marks
    }

    fn act(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept | Action::RejectOrToggle => return self.toggle(),
            Action::OnlyThis => {
                self.marks.only(self.kind());
                return Response::want(Request::Marks(self.marks));
            }
            other => self.by(moved(other, self.scroll.page()).unwrap_or(0)),
        }
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => {
                self.chosen = row;
                return self.toggle();
            }
            Some(Pointed::Wheel(by)) => self.by(by),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let key = |action| look.keymap.label(action).unwrap_or_default();
        let (back, on) = (key(Action::PreviousMark), key(Action::NextMark));
        let title = format!("Marks: where {back} and {on} stop");
        let rows = MarkKind::ALL.len() as u16;
        let window = Window { title: &title, place: Place::Middle, rows, columns: 60, mode: Mode::Marks };
        let inside = window.draw(look, screen, canvas);
        let episode = look.episode();
        self.scroll.list(self.chosen, MarkKind::ALL.len(), inside, canvas, |place| {
            let Some(kind) = MarkKind::ALL.get(place).copied() else { return Line::new() };
            let here = place == self.chosen;
            let on = if self.marks.has(kind) { look.glyphs.done } else { " " };
            let count = episode.map_or(0, |e| e.steps.iter().filter(|s| kind.marks(s)).count());
            vec![
                (Role::Proposal, if here { look.glyphs.proposal } else { " " }.to_owned()),
                (kind.role(), format!(" [{on}] ")),
                (if here { Role::Chosen } else { Role::Text }, format!("{:<12}", kind.name())),
                (Role::Dim, format!(" {count:>4}  {}", kind.about())),
            ]
        });
    }
}
