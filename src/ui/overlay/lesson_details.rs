//! The details of one lesson.

use crate::domain::{Lesson, LessonId, LessonOrigin, LessonStatus, Scope};
use crate::engine::{Command, Event, LessonCommand};
use crate::timeline::ReadPast as _;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::{origin_label, scope_label};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::row_cache::RowCache;
use crate::ui::widget::window::{Line, Page, Scroll, paragraph, scroll_or_close};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// Overlay with the details of a lesson.
pub(super) struct LessonDetails {
    id: LessonId,
    scroll: Scroll,
    cache: RowCache,
}

impl LessonDetails {
    /// Creates the overlay for a lesson.
    pub(super) fn new(id: LessonId) -> Self {
        Self { id, scroll: Scroll::default(), cache: RowCache::default() }
    }

    fn lines(lesson: &Lesson, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut add = |label: &str, role: Role, text: &str| {
            lines.extend(paragraph((Role::Muted, &format!("{label:<12}")), role, text, columns));
        };
        let text = lesson.text();
        add(if text.solution.is_some() { "mistake" } else { "lesson" }, Role::Lesson, &text.text);
        if let Some(solution) = &text.solution {
            add("instead", Role::Lesson, solution);
        }
        add("scope", Role::Text, scope_label(lesson.scope));
        add("status", Role::Text, status_text(lesson.status));
        add("from", Role::Text, &origin_details(lesson));
        if !lesson.evidence.is_empty() {
            add("evidence", Role::Observation, &lesson.evidence);
        }
        if let Some(transition) = &lesson.transition {
            add("saw", Role::Observation, &transition.observation);
            add("did", Role::Action, &transition.action);
            add("reward", Role::Text, &transition.reward.to_string());
        }
        for (place, id) in lesson.parents.iter().enumerate() {
            add(if place == 0 { "made from" } else { "" }, Role::Text, &parent_text(id, context));
        }
        if let Some(rule) = &lesson.rule {
            add("rule", Role::Text, rule);
        }
        if lesson.recurrences > 0 {
            add("recurred", Role::Text, &count_text(lesson.recurrences));
        }
        add("in prompts", Role::Text, &uses_text(lesson, context));
        if lesson.versions.len() > 1 {
            for (place, version) in lesson.versions.iter().enumerate().rev() {
                let solution =
                    version.text.solution.as_ref().map(|s| format!(" {} {s}", context.glyphs.solution));
                let text = format!("{}{}", version.text.text, solution.unwrap_or_default());
                add(&format!("version {}", place + 1), Role::Muted, &text);
            }
        }
        add("id", Role::Muted, &lesson.id.0);
        lines
    }
}

/// Returns the latest text of a lesson that another was made from.
fn parent_text(id: &LessonId, context: &Context<'_>) -> String {
    let Some(lesson) = context.displayed_state().pool.get(id) else {
        return format!("a lesson of an earlier episode ({})", id.0);
    };
    let text = lesson.text();
    let solution = text.solution.as_ref().map(|s| format!(" {} {s}", context.glyphs.solution));
    let gone = if lesson.status == LessonStatus::Retired { ", replaced" } else { "" };
    format!("lesson {}{gone}: {}{}", lesson.number, text.text, solution.unwrap_or_default())
}

fn status_text(status: LessonStatus) -> &'static str {
    match status {
        LessonStatus::On => "on: in prompts",
        LessonStatus::Pinned => "pinned: in prompts, and only a person can remove it",
        LessonStatus::Off => "off: kept, but not in prompts",
        LessonStatus::Retired => "deleted: only in the history",
    }
}

fn origin_details(lesson: &Lesson) -> String {
    // `file_name` is `None` for a lesson learnt in this session or in the one it replays, even if a file has it.
    if let (Some(_), Some(file)) = (lesson.file_name(), lesson.file.as_deref()) {
        let by = match lesson.origin {
            LessonOrigin::File => String::new(),
            other => format!(", originally from {}", origin_label(other)),
        };
        return format!("the pool file {file} loaded at start{by}");
    }
    match lesson.learnt_at {
        (0, _) => origin_label(lesson.origin).to_owned(),
        (episode, step) => format!("{}, in episode {episode} at step {step}", origin_label(lesson.origin)),
    }
}

fn count_text(n: u32) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

fn uses_text(lesson: &Lesson, context: &Context<'_>) -> String {
    if lesson.uses == 0 {
        return "none yet".to_owned();
    }
    let timeline = &context.frame.timeline;
    let last = lesson.last_used.and_then(|seq| timeline.event(seq).map(|e| e.event.clone()));
    match last {
        Some(Event::PromptSent { prompt }) => {
            format!("{}, last in episode {} at step {}", lesson.uses, prompt.episode, prompt.step)
        }
        _ => lesson.uses.to_string(),
    }
}

impl Component for LessonDetails {
    fn name(&self) -> &'static str {
        "details"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::LessonDetails
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        let Some(lesson) = context.displayed_state().pool.get(&self.id) else { return Response::close() };
        let id = self.id.clone();
        let send = |command| Response::request(Request::Send(Command::Lesson(command)));
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

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let Some(lesson) = context.displayed_state().pool.get(&self.id) else { return };
        let title = format!("{} lesson {}", lesson.kind.name(), lesson.number);
        let page = Page { title: &title, columns: 80, mode: Mode::LessonDetails, scroll: &self.scroll };
        page.draw(context, screen, canvas, |columns| {
            self.cache.get_or_make(context, columns, |columns| Self::lines(lesson, context, columns))
        });
    }
}
