//! The list of mark kinds that `<` and `>` stop at.

use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::mark::{MarkFilter, MarkKind};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::picker::Picker;
use crate::ui::widget::window::{Window, WindowPosition};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Overlay that selects mark kinds.
pub(super) struct MarkList {
    filter: MarkFilter,
    /// The steps at which branches were forked.
    forked: Vec<u32>,
    picker: Picker<MarkKind>,
}

impl MarkList {
    /// Creates the list with the current filter.
    pub(super) fn new(marks: MarkFilter, forked: Vec<u32>) -> Self {
        Self { filter: marks, forked, picker: Picker::unfiltered(MarkKind::ALL.to_vec()) }
    }

    /// Changes the filter for the selected kind.
    fn change(&mut self, change: fn(&mut MarkFilter, MarkKind)) -> Response {
        let Some(kind) = self.picker.selected() else { return Response::default() };
        change(&mut self.filter, *kind);
        Response::request(Request::SetMarkFilter(self.filter))
    }
}

impl Component for MarkList {
    fn name(&self) -> &'static str {
        "marks"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::MarkList
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Open | Action::Accept | Action::RejectOrToggle => return self.change(MarkFilter::toggle),
            Action::OnlyThisMark => return self.change(MarkFilter::toggle_only),
            other => self.picker.on_action(other, self.picker.page_rows()),
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.picker.on_mouse(event).map_or_else(Response::default, |_| self.change(MarkFilter::toggle))
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
        self.picker.draw_list(inside, canvas, |kind, here| {
            let on = if self.filter.has_kind(*kind) { context.glyphs.subgoal } else { " " };
            let count =
                episode.map_or(0, |e| e.steps.iter().filter(|s| kind.is_set_on(s, &self.forked)).count());
            vec![
                (Role::Proposal, if here { context.glyphs.proposal } else { " " }.to_owned()),
                (kind.role(), format!(" [{on}] ")),
                (if here { Role::Selection } else { Role::Text }, format!("{:<14}", kind.name())),
                (Role::Muted, format!(" {count:>4}  {}", kind.description())),
            ]
        });
    }
}
