//! Editor for one segment of a prompt before it is sent.

use super::lines::origin_text;
use crate::domain::{CallId, PromptRecord, SegmentOrigin};
use crate::engine::{Command, State};
use crate::prompt::render;
use crate::ui::canvas::Canvas;
use crate::ui::component::Response;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{PresentKeys, Window, WindowPosition, paragraph, put_line};
use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

/// Dialog that edits a segment.
pub(super) struct SegmentEditor {
    segment: usize,
    /// The call and the body hash of the segment's prompt.
    draft_id: (CallId, String),
    name: String,
    is_lesson: bool,
    original: String,
    field: TextField,
    message: Option<&'static str>,
}

impl SegmentEditor {
    /// Creates the editor for a segment of a waiting prompt. Returns `None` if there is no such segment.
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

    /// Returns whether both editors are for the same segment of the same draft.
    pub(super) fn is_same_segment(&self, other: &Self) -> bool {
        (self.segment, &self.draft_id) == (other.segment, &other.draft_id)
    }

    pub(super) fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        self.message = None;
        match action {
            Action::Close => return Response::close(),
            Action::NewLine => self.field.insert_newline(),
            Action::Editor => return Response::request(Request::OpenEditor(self.field.text())),
            Action::Accept | Action::Open => {
                let waits = context.frame.head.waiting_prompt(self.draft_id.0);
                if waits.is_none_or(|d| d.sha256 != self.draft_id.1) {
                    self.message = Some("the prompt has been rebuilt meanwhile; close this and try again");
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

    pub(super) fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = format!("Edit before sending: {}", self.name);
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: 14,
            columns: 96,
            mode: Mode::LessonEditor,
        };
        // There is one field, and no lesson to measure.
        let without_effect: &[Action] = &[Action::NextField, Action::PreviousField, Action::TeachAndMeasure];
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        let help = match (self.message, self.is_lesson) {
            (Some(note), _) => note,
            (None, true) => {
                "For this prompt only; the lesson itself doesn't change. The episode counts as assisted."
            }
            (None, false) => "For this prompt only. The episode counts as assisted.",
        };
        let role = if self.message.is_some() { Role::Warning } else { Role::Muted };
        let rows = paragraph((role, ""), role, help, inside.width);
        let help_rows = (rows.len() as u16).min(inside.height.saturating_sub(1));
        self.field.draw(true, Rect { height: inside.height - help_rows, ..inside }, canvas);
        for (place, line) in rows.iter().take(usize::from(help_rows)).enumerate() {
            let y = inside.bottom() - help_rows + place as u16;
            put_line(line, Rect { y, height: 1, ..inside }, canvas);
        }
    }
}
