//! The details of one lesson.

use crate::catalog::LessonReader;
use crate::domain::{Author, Lesson, LessonId, LessonOrigin, LessonStatus, Scope};
use crate::engine::{Command, Event, LessonCommand};
use crate::timeline::ReadPast as _;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::{measured_role, origin_label, scope_text};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::row_cache::RowCache;
use crate::ui::widget::window::{Line, Page, PresentKeys, Scroll, paragraph, scroll_or_close};
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
        add("scope", Role::Text, &scope_text(lesson, context.displayed_state()));
        let is_elsewhere = context.displayed_state().is_out_of_scope(lesson);
        let status = status_text(lesson.status, context.lesson_reader(lesson.kind), is_elsewhere);
        add("status", Role::Text, &status);
        add("from", Role::Text, &origin_details(lesson));
        if !lesson.evidence.is_empty() {
            add("evidence", Role::Observation, &lesson.evidence);
        }
        if let Some(transition) = &lesson.transition {
            add("saw", Role::Observation, &transition.observation);
            add("did", Role::Action, &transition.action);
            add("reward", Role::Text, &transition.reward.to_string());
        }
        if let Some(note) = crate::catalog::lesson_note(context.displayed_state(), lesson) {
            add("search", Role::Text, &note);
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
        if context.is_ignored_lesson(lesson) {
            let help = context.keymap.key_label(Action::Help).unwrap_or_default();
            let text = format!(
                "the built-in rules ignore this wording, so it changes nothing that they do; {help} form lists theirs"
            );
            add("", Role::Warning, &text);
        }
        if lesson.versions.len() > 1 {
            for (place, version) in lesson.versions.iter().enumerate().rev() {
                let solution =
                    version.text.solution.as_ref().map(|s| format!(" {} {s}", context.glyphs.solution));
                let text = format!("{}{}", version.text.text, solution.unwrap_or_default());
                let (author, is_by_person) = version_author(lesson, place, context);
                let role = if is_by_person { Role::Person } else { Role::Text };
                add(&format!("version {}", place + 1), role, &author);
                add("", Role::Muted, &text);
            }
        }
        let measured = context.measured_results(lesson);
        let has_without = measured.iter().any(|result| result.arms.1.starts_with("without"));
        for result in measured {
            let role = if result.version == lesson.version() { measured_role(result) } else { Role::Muted };
            add("measured", role, &format!("{}: {}", result.describe(), result.describe_verdict()));
            if let Some(counts) = result.describe_advice() {
                add("", role, &counts);
            }
            add("", Role::Muted, &result.describe_measurement());
            if let Some(edited) = result.describe_edited(lesson.text()) {
                add("", Role::Lesson, &edited);
            }
        }
        if has_without {
            add("", Role::Muted, "without: the same prompts without this lesson; all others stay in them");
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

/// Returns who wrote a version of a lesson and when, such as `edited by you at step 8`, and whether it was a person.
fn version_author(lesson: &Lesson, place: usize, context: &Context<'_>) -> (String, bool) {
    let Some(version) = lesson.versions.get(place) else { return (String::new(), false) };
    if place == 0 {
        return (format!("from {}", origin_details(lesson)), lesson.origin == LessonOrigin::Person);
    }
    let author = version.edit.map(|edit| edit.author);
    let who = match author {
        Some(Author::Person) => "edited by you",
        Some(Author::Symbolic) => "edited by symbolic rules",
        Some(Author::Mentor) => "edited by the mentor",
        Some(Author::File) => "edited by the pool file",
        None => "edited",
    };
    let at = version.edit.map_or_else(String::new, |edit| describe_place(edit.at, context));
    (format!("{who}{at}"), author == Some(Author::Person))
}

/// Returns ` at step 8`, and the episode if it isn't the one on screen.
fn describe_place((episode, step): (u32, u32), context: &Context<'_>) -> String {
    let place = match step {
        0 => "before step 1".to_owned(),
        step => format!("at step {step}"),
    };
    match context.episode() {
        Some(shown) if shown.number == episode => format!(" {place}"),
        _ => format!(" in episode {episode} {place}"),
    }
}

fn status_text(status: LessonStatus, reader: LessonReader, is_elsewhere: bool) -> String {
    let goes_into = match reader {
        LessonReader::Nobody => "a record, in no prompt",
        _ if is_elsewhere => "not in this task's prompts, since it is about another task",
        LessonReader::Actor => "goes into prompts",
        LessonReader::Mentor => "goes into the mentor's questions",
    };
    match status {
        LessonStatus::On => format!("on: {goes_into}"),
        LessonStatus::Pinned => format!("pinned: {goes_into}, and only a person can remove it"),
        LessonStatus::Off => "off: kept, but goes into no prompt".to_owned(),
        LessonStatus::Retired => "deleted or replaced: only in the history".to_owned(),
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
    if let Some(from) = &lesson.taken_from {
        let (episode, step) = lesson.learnt_at;
        let by = origin_label(lesson.origin);
        return format!(
            "taken over by you from {from}, in episode {episode} at step {step}; written by {by}"
        );
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
    let uses = lesson.uses_of_wording();
    let earlier = match lesson.uses - uses {
        0 => String::new(),
        earlier => format!("; {earlier} with another wording"),
    };
    if uses == 0 {
        return format!("none yet{earlier}");
    }
    let timeline = &context.frame.timeline;
    let last = lesson.last_used.and_then(|seq| timeline.event(seq).map(|e| e.event.clone()));
    match last {
        Some(Event::PromptSent { prompt }) => {
            format!("{uses}, last in episode {} at step {}{earlier}", prompt.episode, prompt.step)
        }
        _ => format!("{uses}{earlier}"),
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
            Action::MeasureEffect => Response::request_and_close(Request::RunAction(Action::MeasureEffect)),
            Action::EditLesson => Response::request_and_close(Request::RunAction(Action::EditLesson)),
            Action::SampleLesson => Response::request(Request::RunAction(Action::SampleLesson)),
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
        // A lane may have a name of its own for what it keeps, such as the records of a search.
        let lane = context.lanes().iter().find(|lane| lane.kinds == [lesson.kind]);
        let title = match lane.map_or(lesson.kind.name(), |lane| lane.title) {
            "Lesson" => format!("Lesson {}", lesson.number),
            kind => format!("{kind} lesson {}", lesson.number),
        };
        let page = Page { title: &title, columns: 80, mode: Mode::LessonDetails, scroll: &self.scroll };
        let changes = [
            Action::EditLesson,
            Action::RejectOrToggle,
            Action::MeasureEffect,
            Action::PinLesson,
            Action::ChangeLessonScope,
            Action::DeleteLesson,
            Action::SampleLesson,
        ];
        let without_effect = if context.is_read_only() { &changes[..] } else { &[] };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        page.draw_with_keys(keys, context, screen, canvas, |columns| {
            self.cache.get_or_make(context, columns, |columns| Self::lines(lesson, context, columns))
        });
    }
}
