//! The words of one segment of a drafted prompt, changed before it is sent.

use super::lines::source;
use crate::domain::{CallId, PromptRecord, SegmentOrigin};
use crate::engine::{Command, State};
use crate::prompt::render;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::overlay::Response;
use crate::ui::overlay::field::Field;
use crate::ui::overlay::window::{Place, Window, paragraph, put_line};
use crate::ui::theme::Role;
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

/// The box.
pub(super) struct SegmentBox {
    segment: usize,
    /// The call and the body of the prompt that the segment belongs to.
    of: (CallId, String),
    name: String,
    lesson: bool,
    before: String,
    field: Field,
    note: Option<&'static str>,
}

impl SegmentBox {
    /// Over a segment of a prompt that waits; none where it has no such segment.
    pub(super) fn new(state: &State, draft: &PromptRecord, segment: usize) -> Option<Self> {
        let found = render(state, draft).segments.into_iter().nth(segment)?;
        let before = found.text.trim_matches('\n').to_owned();
        let name = format!("{} {}", found.label.name(), source(state, &found.origin));
        Some(Self {
            segment,
            of: (draft.call, draft.sha256.clone()),
            name: name.trim().to_owned(),
            lesson: matches!(found.origin, SegmentOrigin::Lesson { .. }),
            field: Field::lines(&before),
            before,
            note: None,
        })
    }

    /// It is over the same segment of the same draft.
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.segment, &self.of) == (other.segment, &other.of)
    }

    pub(super) fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        self.note = None;
        match action {
            Action::Close => return Response::close(),
            Action::NewLine => self.field.new_line(),
            Action::Editor => return Response::want(Request::Editor(self.field.text())),
            Action::Accept | Action::Open => {
                let waits = look.moment.head.waiting_prompt(self.of.0);
                if waits.is_none_or(|d| d.sha256 != self.of.1) {
                    self.note = Some("the prompt was put together anew meanwhile; close this and look again");
                    return Response::default();
                }
                let text = self.field.text();
                if text == self.before.trim() {
                    return Response::close();
                }
                let (call, segment) = (Some(self.of.0), self.segment);
                return Response::done(Request::Send(Command::EditPrompt { call, segment, text }));
            }
            _ => {}
        }
        Response::default()
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        self.note = None;
        self.field.key(key);
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.field.paste(text);
    }

    pub(super) fn replace(&mut self, text: &str) {
        self.field.replace(text);
    }

    pub(super) fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = format!("Change before it is sent: {}", self.name);
        let window =
            Window { title: &title, place: Place::Middle, rows: 14, columns: 96, mode: Mode::Editor };
        let inside = window.draw(look, screen, canvas);
        let told = match (self.note, self.lesson) {
            (Some(note), _) => note,
            (None, true) => {
                "For this prompt alone; the lesson stays as it is. The episode counts as assisted."
            }
            (None, false) => "For this prompt alone. The episode counts as assisted.",
        };
        let role = if self.note.is_some() { Role::Warn } else { Role::Dim };
        let rows = paragraph((role, ""), role, told, inside.width);
        let told_rows = (rows.len() as u16).min(inside.height.saturating_sub(1));
        self.field.draw(true, Rect { height: inside.height - told_rows, ..inside }, canvas);
        for (place, line) in rows.iter().take(usize::from(told_rows)).enumerate() {
            let y = inside.bottom() - told_rows + place as u16;
            put_line(line, Rect { y, height: 1, ..inside }, canvas);
        }
    }
}
