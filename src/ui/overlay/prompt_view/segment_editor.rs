//! The words of one segment of a drafted prompt, changed before it is sent.

use super::lines::origin_text;
use crate::domain::{CallId, PromptRecord, SegmentOrigin};
use crate::engine::{Command, State};
use crate::prompt::render;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::overlay::Response;
use crate::ui::overlay::text_field::TextField;
use crate::ui::overlay::window::{Window, WindowPosition, paragraph, put_line};
use crate::ui::theme::Role;
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

/// The box.
pub(super) struct SegmentEditor {
    segment: usize,
    /// The call and the body of the prompt that the segment belongs to.
    draft_id: (CallId, String),
    name: String,
    is_lesson: bool,
    original: String,
    field: TextField,
    message: Option<&'static str>,
}

impl SegmentEditor {
    /// Over a segment of a prompt that waits; none where it has no such segment.
    pub(super) fn new(state: &State, draft: &PromptRecord, segment: usize) -> Option<Self> {
        let found = render(state, draft).segments.into_iter().nth(segment)?;
        let before = found.text.trim_matches('\n').to_owned();
        let name = format!("{} {}", found.label.name(), origin_text(state, &found.origin));
        Some(Self {
            segment,
            draft_id: (draft.call, draft.sha256.clone()),
            name: name.trim().to_owned(),
            is_lesson: matches!(found.origin, SegmentOrigin::Lesson { .. }),
            field: TextField::multi_line(&before),
            original: before,
            message: None,
        })
    }

    /// It is over the same segment of the same draft.
    pub(super) fn is_same_segment(&self, other: &Self) -> bool {
        (self.segment, &self.draft_id) == (other.segment, &other.draft_id)
    }

    pub(super) fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        self.message = None;
        match action {
            Action::Close => return Response::close(),
            Action::NewLine => self.field.insert_newline(),
            Action::Editor => return Response::request(Request::OpenEditor(self.field.text())),
            Action::Accept | Action::Open => {
                let waits = look.frame.head.waiting_prompt(self.draft_id.0);
                if waits.is_none_or(|d| d.sha256 != self.draft_id.1) {
                    self.message =
                        Some("the prompt was put together anew meanwhile; close this and look again");
                    return Response::default();
                }
                let text = self.field.text();
                if text == self.original.trim() {
                    return Response::close();
                }
                let (call, segment) = (Some(self.draft_id.0), self.segment);
                return Response::request_and_close(Request::Send(Command::EditPrompt {
                    call,
                    segment,
                    text,
                }));
            }
            _ => {}
        }
        Response::default()
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) {
        self.message = None;
        self.field.on_key(key);
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        self.field.on_paste(text);
    }

    pub(super) fn replace(&mut self, text: &str) {
        self.field.replace(text);
    }

    pub(super) fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = format!("Change before it is sent: {}", self.name);
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: 14,
            columns: 96,
            mode: Mode::LessonEditor,
        };
        let inside = window.draw(look, screen, canvas);
        let told = match (self.message, self.is_lesson) {
            (Some(note), _) => note,
            (None, true) => {
                "For this prompt alone; the lesson stays as it is. The episode counts as assisted."
            }
            (None, false) => "For this prompt alone. The episode counts as assisted.",
        };
        let role = if self.message.is_some() { Role::Warning } else { Role::Muted };
        let rows = paragraph((role, ""), role, told, inside.width);
        let told_rows = (rows.len() as u16).min(inside.height.saturating_sub(1));
        self.field.draw(true, Rect { height: inside.height - told_rows, ..inside }, canvas);
        for (place, line) in rows.iter().take(usize::from(told_rows)).enumerate() {
            let y = inside.bottom() - told_rows + place as u16;
            put_line(line, Rect { y, height: 1, ..inside }, canvas);
        }
    }
}
