//! A text from the environment that a person asked for: a hint towards the goal, or what its program has printed.

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

/// What the overlay shows.
#[derive(Clone, Copy)]
enum Kind {
    Hint,
    ProgramOutput,
}

/// Overlay with a text that the environment, or a copy of it, may take seconds to give. It opens at once; closing it cancels
/// the request.
pub(super) struct EnvironmentText {
    kind: Kind,
    /// `None` until it arrives.
    text: Option<(Role, String)>,
    scroll: Scroll,
    cache: RowCache,
}

impl EnvironmentText {
    pub(super) fn hint() -> Self {
        Self::new(Kind::Hint)
    }

    pub(super) fn program_output() -> Self {
        Self::new(Kind::ProgramOutput)
    }

    fn new(kind: Kind) -> Self {
        Self { kind, text: None, scroll: Scroll::default(), cache: RowCache::default() }
    }

    fn lines(&self, columns: u16) -> Vec<Line> {
        let waiting = match self.kind {
            Kind::Hint => "finding a path to the goal ...",
            Kind::ProgramOutput => "reading ...",
        };
        let (role, text) =
            self.text.as_ref().map_or((Role::Muted, waiting), |(role, text)| (*role, text.as_str()));
        text.lines().flat_map(|line| paragraph((Role::Muted, ""), role, line, columns)).collect()
    }
}

/// Returns the text of an answer and its role. `None` if it answers another request.
fn answered_text(kind: Kind, answer: Answer) -> Option<(Role, String)> {
    let note = |text: &str| (Role::Muted, text.to_owned());
    Some(match (kind, answer) {
        (Kind::Hint, Answer::Hint(Ok(Some(hint)))) => (Role::Text, hint),
        (Kind::Hint, Answer::Hint(Ok(None))) => {
            note("no hint: this environment can't search for a path to the goal")
        }
        (Kind::Hint, Answer::Hint(Err(why))) => (Role::Warning, format!("no hint: {why}")),
        (Kind::ProgramOutput, Answer::ProgramOutput(None)) => {
            note("this environment is part of the program: it prints nothing")
        }
        (Kind::ProgramOutput, Answer::ProgramOutput(Some(text))) if text.trim().is_empty() => {
            note("it has printed nothing besides its replies")
        }
        (Kind::ProgramOutput, Answer::ProgramOutput(Some(text))) => {
            // What was printed last comes first: it is what a person looks for.
            (Role::Text, text.lines().rev().collect::<Vec<_>>().join("\n"))
        }
        _ => return None,
    })
}

impl Component for EnvironmentText {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Hint => "hint",
            Kind::ProgramOutput => "output",
        }
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
        if let Some(text) = answered_text(self.kind, answer) {
            self.text = Some(text);
            self.cache = RowCache::default();
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        let work = match self.kind {
            Kind::Hint => WorkKind::Hint,
            Kind::ProgramOutput => WorkKind::ProgramOutput,
        };
        self.text.is_none().then_some(work)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = match self.kind {
            Kind::Hint => "Hint: a path to the goal",
            Kind::ProgramOutput => "Output of the environment's program, newest first",
        };
        let page = Page { title, columns: 100, mode: Mode::Overlay, scroll: &self.scroll };
        page.draw(context, screen, canvas, |columns| {
            self.cache.get_or_make(context, columns, |columns| self.lines(columns))
        });
    }
}
