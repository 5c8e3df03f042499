//! What the program of the environment has printed: its log and its standard error.

use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Answer;
use crate::ui::theme::Role;
use crate::ui::types::WorkKind;
use crate::ui::widget::row_cache::RowCache;
use crate::ui::widget::window::{Line, Page, Scroll, paragraph, scroll_or_close};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Overlay with the last output of the program that is the environment.
#[derive(Default)]
#[expect(clippy::option_option, reason = "the answer is an option, and it may not have arrived")]
pub(super) struct ProgramOutput {
    /// `None` until it arrives; then `None` if the environment is no program.
    text: Option<Option<String>>,
    scroll: Scroll,
    cache: RowCache,
}

impl ProgramOutput {
    fn lines(&self, columns: u16) -> Vec<Line> {
        let note = |text: &str| paragraph((Role::Muted, ""), Role::Muted, text, columns);
        match &self.text {
            None => note("reading"),
            Some(None) => note("this environment is part of the program: it prints nothing"),
            Some(Some(text)) if text.trim().is_empty() => note("it has printed nothing besides its replies"),
            Some(Some(text)) => {
                // What was printed last comes first: it is what a person looks for.
                let lines = text.lines().rev();
                lines.flat_map(|line| paragraph((Role::Muted, ""), Role::Text, line, columns)).collect()
            }
        }
    }
}

impl Component for ProgramOutput {
    fn name(&self) -> &'static str {
        "output"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Overlay
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        scroll_or_close(&self.scroll, action)
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::ProgramOutput(text) = answer {
            self.text = Some(text);
            self.cache = RowCache::default();
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        self.text.is_none().then_some(WorkKind::ProgramOutput)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = "Output of the environment's program, newest first";
        let page = Page { title, columns: 100, mode: Mode::Overlay, scroll: &self.scroll };
        page.draw(context, screen, canvas, |columns| {
            self.cache.get_or_make(context, columns, |columns| self.lines(columns))
        });
    }
}
