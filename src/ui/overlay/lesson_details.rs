//! All that is known about one lesson.

use super::lesson_editor::scope_label;
use super::row_cache::RowCache;
use super::window::{Line, Page, Scroll, paragraph};
use super::{Overlay, Response, scroll_or_close};
use crate::domain::{Lesson, LessonId, LessonOrigin, LessonStatus, Scope};
use crate::engine::{Command, Event, LessonCommand};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// The details of a lesson.
pub struct LessonDetails {
    id: LessonId,
    scroll: Scroll,
    cache: RowCache,
}

impl LessonDetails {
    /// Of this lesson.
    pub fn new(id: LessonId) -> Self {
        Self { id, scroll: Scroll::default(), cache: RowCache::default() }
    }

    fn lines(lesson: &Lesson, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut say = |label: &str, role: Role, text: &str| {
            lines.extend(paragraph((Role::Muted, &format!("{label:<12}")), role, text, columns));
        };
        let text = lesson.text();
        say(if text.solution.is_some() { "mistake" } else { "lesson" }, Role::Lesson, &text.text);
        if let Some(solution) = &text.solution {
            say("instead", Role::Lesson, solution);
        }
        say("reach", Role::Text, scope_label(lesson.scope));
        say("state", Role::Text, status_text(lesson.status));
        say("from", Role::Text, &origin_details(lesson));
        if !lesson.evidence.is_empty() {
            say("rests on", Role::Observation, &lesson.evidence);
        }
        if let Some(moment) = &lesson.transition {
            say("saw", Role::Observation, &moment.observation);
            say("did", Role::Action, &moment.action);
            say("reward", Role::Text, &moment.reward.to_string());
        }
        for (place, id) in lesson.parents.iter().enumerate() {
            say(if place == 0 { "made from" } else { "" }, Role::Text, &parent_text(id, look));
        }
        if let Some(rule) = &lesson.rule {
            say("rule", Role::Text, rule);
        }
        if lesson.recurred > 0 {
            say("drawn again", Role::Text, &count_text(lesson.recurred));
        }
        say("in prompts", Role::Text, &uses_text(lesson, look));
        if lesson.versions.len() > 1 {
            for (place, version) in lesson.versions.iter().enumerate().rev() {
                let solution =
                    version.text.solution.as_ref().map(|s| format!(" {} {s}", look.glyphs.solution));
                let text = format!("{}{}", version.text.text, solution.unwrap_or_default());
                say(&format!("version {}", place + 1), Role::Muted, &text);
            }
        }
        say("id", Role::Muted, &lesson.id.0);
        lines
    }
}

/// A lesson that another was made from, as it was last worded.
fn parent_text(id: &LessonId, look: &Context<'_>) -> String {
    let Some(lesson) = look.displayed_state().pool.get(id) else {
        return format!("a lesson of an earlier episode ({})", id.0);
    };
    let text = lesson.text();
    let solution = text.solution.as_ref().map(|s| format!(" {} {s}", look.glyphs.solution));
    let gone = if lesson.status == LessonStatus::Retired { ", replaced" } else { "" };
    format!("lesson {}{gone}: {}{}", lesson.number, text.text, solution.unwrap_or_default())
}

fn status_text(status: LessonStatus) -> &'static str {
    match status {
        LessonStatus::On => "on: it enters prompts",
        LessonStatus::Pinned => "pinned: it enters prompts, and only a person removes it",
        LessonStatus::Off => "off: it is kept, and enters no prompt",
        LessonStatus::Retired => "deleted: only the history has it",
    }
}

/// Who a lesson comes from.
pub(crate) fn origin_label(origin: LessonOrigin) -> &'static str {
    match origin {
        LessonOrigin::Symbolic => "symbolic rules",
        LessonOrigin::Mentor => "the mentor",
        LessonOrigin::Person => "you",
        LessonOrigin::File => "the pool the run began with",
    }
}

fn origin_details(lesson: &Lesson) -> String {
    if let (Some(_), Some(file)) = (lesson.file_name(), lesson.file.as_deref()) {
        let by = match lesson.origin {
            LessonOrigin::File => String::new(),
            other => format!("; there it came from {}", origin_label(other)),
        };
        return format!("the file {file} that the run began with{by}");
    }
    match lesson.learnt_at {
        (0, _) => origin_label(lesson.origin).to_owned(),
        (episode, step) => format!("{}, in episode {episode} at turn {step}", origin_label(lesson.origin)),
    }
}

fn count_text(n: u32) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

fn uses_text(lesson: &Lesson, look: &Context<'_>) -> String {
    if lesson.uses == 0 {
        return "none yet".to_owned();
    }
    let timeline = &look.frame.timeline;
    let last = lesson.last_used.and_then(|seq| timeline.event(seq).map(|e| e.event.clone()));
    match last {
        Some(Event::PromptSent { prompt }) => {
            format!("{}, last at episode {} turn {}", lesson.uses, prompt.episode, prompt.step)
        }
        _ => lesson.uses.to_string(),
    }
}

impl Overlay for LessonDetails {
    fn name(&self) -> &'static str {
        "details"
    }

    fn mode(&self) -> Mode {
        Mode::LessonDetails
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        let Some(lesson) = look.displayed_state().pool.get(&self.id) else { return Response::close() };
        let id = self.id.clone();
        let send = |wish| Response::request(Request::Send(Command::Lesson(wish)));
        let status = |status| send(LessonCommand::Status { id: id.clone(), status });
        match action {
            Action::Open => Response::close(),
            Action::EditLesson => Response::request_and_close(Request::RunAction(Action::EditLesson)),
            Action::RejectOrToggle if lesson.is_active() => status(LessonStatus::Off),
            Action::RejectOrToggle => status(LessonStatus::On),
            Action::PinLesson if lesson.status == LessonStatus::Pinned => status(LessonStatus::On),
            Action::PinLesson => status(LessonStatus::Pinned),
            Action::ChangeLessonScope => {
                let scope = match lesson.scope {
                    Scope::Episode => Scope::Task,
                    Scope::Task => Scope::TaskType,
                    Scope::TaskType => Scope::Environment,
                    Scope::Environment => Scope::Episode,
                };
                send(LessonCommand::Rescope { id, scope })
            }
            Action::DeleteLesson => Response { close: true, ..status(LessonStatus::Retired) },
            _ => scroll_or_close(&self.scroll, action),
        }
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(lesson) = look.displayed_state().pool.get(&self.id) else { return };
        let title = format!("{} lesson {}", lesson.kind.name(), lesson.number);
        let page = Page { title: &title, columns: 80, mode: Mode::LessonDetails, scroll: &self.scroll };
        page.draw(look, screen, canvas, |columns| {
            self.cache.get_or_make(look, columns, |columns| Self::lines(lesson, look, columns))
        });
    }
}
