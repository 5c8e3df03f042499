//! The list of mark kinds that `<` and `>` stop at.

use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::mark::{MarkFilter, MarkKind};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::list_index::row_delta;
use crate::ui::widget::window::{Line, MouseTarget, Scroll, Window, WindowPosition};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Overlay that selects mark kinds.
pub(super) struct MarkList {
    filter: MarkFilter,
    selected: usize,
    scroll: Scroll,
}

impl MarkList {
    /// Creates the list with the current filter.
    pub(super) fn new(marks: MarkFilter) -> Self {
        Self { filter: marks, selected: 0, scroll: Scroll::default() }
    }

    fn selected_kind(&self) -> MarkKind {
        MarkKind::ALL[self.selected.min(MarkKind::ALL.len() - 1)]
    }

    fn toggle(&mut self) -> Response {
        self.filter.toggle(self.selected_kind());
        Response::request(Request::SetMarkFilter(self.filter))
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by).min(MarkKind::ALL.len() - 1);
    }
}

impl Component for MarkList {
    fn name(&self) -> &'static str {
        "marks"
    }

    fn mode(&self) -> Mode {
        Mode::MarkList
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept | Action::RejectOrToggle => return self.toggle(),
            Action::OnlyThisMark => {
                self.filter.toggle_only(self.selected_kind());
                return Response::request(Request::SetMarkFilter(self.filter));
            }
            other => self.move_selection(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                self.selected = row;
                return self.toggle();
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let key = |action| context.keymap.key_label(action).unwrap_or_default();
        let (back, on) = (key(Action::PreviousMark), key(Action::NextMark));
        let title = format!("Marks: {back} and {on} stop at");
        let rows = MarkKind::ALL.len() as u16;
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows,
            columns: 60,
            mode: Mode::MarkList,
        };
        let inside = window.draw(context, screen, canvas);
        let episode = context.episode();
        self.scroll.draw_list(self.selected, MarkKind::ALL.len(), inside, canvas, |place| {
            let Some(kind) = MarkKind::ALL.get(place).copied() else { return Line::new() };
            let here = place == self.selected;
            let on = if self.filter.has_kind(kind) { context.glyphs.subgoal } else { " " };
            let count = episode.map_or(0, |e| e.steps.iter().filter(|s| kind.is_set_on(s)).count());
            vec![
                (Role::Proposal, if here { context.glyphs.proposal } else { " " }.to_owned()),
                (kind.role(), format!(" [{on}] ")),
                (if here { Role::Selection } else { Role::Text }, format!("{:<12}", kind.name())),
                (Role::Muted, format!(" {count:>4}  {}", kind.description())),
            ]
        });
    }
}
