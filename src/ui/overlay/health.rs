//! The health of the session's lessons: findings, and one key for each thing that can be done about them.

use crate::domain::{Lesson, LessonOrigin, LessonStatus};
use crate::engine::{Command, LessonCommand};
use crate::text::one_line;
use crate::timeline::lesson_health::{Finding, LessonHealth, LessonRef, Remedy};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{PtrEqArc, WorkKind};
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::window::{Line, MouseTarget, Page, PresentKeys, Scroll, paragraph};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::cell::Cell;

/// Preferred inner width.
const WINDOW_COLUMNS: u16 = 110;

/// The actions about a finding.
const REMEDY_KEYS: [Action; 4] =
    [Action::MergeLessons, Action::DeleteLesson, Action::EditLesson, Action::MeasureEffect];

/// Overlay with the findings about the lessons.
#[derive(Default)]
pub(super) struct HealthList {
    /// `None` until they have been checked.
    checked: Option<Result<PtrEqArc<LessonHealth>, String>>,
    selected: usize,
    scroll: Scroll,
    /// The first row of each entry in the last draw.
    rows: Cell<Vec<usize>>,
}

/// What can be selected.
#[derive(Clone, Copy)]
enum Entry<'a> {
    Finding(&'a Finding),
    /// A lesson of the finding before it.
    Lesson(&'a Finding, &'a LessonRef),
}

impl HealthList {
    /// Returns the findings that still hold, each followed by its lessons: none about lessons that were retired or reworded since.
    fn entries<'a>(&'a self, context: &Context<'_>) -> Vec<Entry<'a>> {
        let Some(Ok(health)) = &self.checked else { return Vec::new() };
        let pool = &context.frame.head.pool;
        let is_current = |lesson: &LessonRef| {
            let known = pool.get(&lesson.id);
            known.is_some_and(|known| known.is_active() && LessonRef::new(known) == *lesson)
        };
        let findings = health.0.findings.iter().filter(|finding| finding.lessons().iter().all(is_current));
        let with_lessons = |finding: &'a Finding| {
            let lessons = finding.lessons().iter().map(move |lesson| Entry::Lesson(finding, lesson));
            std::iter::once(Entry::Finding(finding)).chain(lessons)
        };
        findings.flat_map(with_lessons).collect()
    }

    fn selected_entry<'a>(&'a self, context: &Context<'_>) -> Option<Entry<'a>> {
        let entries = self.entries(context);
        entries.get(clamped_index(self.selected, 0, entries.len())).copied()
    }

    /// Does what a key is for about the selected entry, or says why it can't.
    fn apply(&self, remedy: Remedy, context: &Context<'_>) -> Response {
        let Some(entry) = self.selected_entry(context) else {
            return notice("nothing was found about a lesson");
        };
        let finding = entry.finding();
        let pool = &context.frame.head.pool;
        if remedy == Remedy::Merge {
            let [first, second] = finding.lessons() else { return notice("only two lessons can be merged") };
            let (Some(a), Some(b)) = (pool.get(&first.id), pool.get(&second.id)) else {
                return Response::default();
            };
            let (kept, dropped) = if keeping_rank(a) >= keeping_rank(b) { (a, b) } else { (b, a) };
            return merge(kept, dropped);
        }
        let lesson = match entry {
            Entry::Lesson(_, lesson) => pool.get(&lesson.id),
            Entry::Finding(finding) => affected_lesson(finding, context),
        };
        let Some(lesson) = lesson else { return notice("no lesson to change; select one in its lane") };
        let id = lesson.id.clone();
        match remedy {
            Remedy::Retire => {
                let retire = LessonCommand::Status { id, status: LessonStatus::Retired };
                Response::request(Request::Send(Command::Lesson(retire)))
            }
            Remedy::Shorten => Response::request(Request::EditLesson(id)),
            Remedy::Measure => Response::request(Request::MeasureLesson(id)),
            Remedy::Merge => Response::default(),
        }
    }

    fn lines(&self, context: &Context<'_>, columns: u16) -> (Vec<Line>, (usize, usize)) {
        let text = match &self.checked {
            None => Some(context.cancellable_work_text("checking the lessons ...", WorkKind::Health)),
            Some(Err(error)) => Some(error.clone()),
            Some(Ok(_)) => None,
        };
        if let Some(text) = text {
            return (paragraph((Role::Muted, ""), Role::Text, &text, columns), (0, 0));
        }
        let entries = self.entries(context);
        if entries.is_empty() {
            let text = "nothing found: no lessons that say the same or the opposite, no repeated advice, none unused, not \
                        obeyed, toxic or without effect, and no large share of the prompt";
            return (paragraph((Role::Muted, ""), Role::Text, text, columns), (0, 0));
        }
        let selected = clamped_index(self.selected, 0, entries.len());
        let (mut lines, mut first_rows) = (Vec::new(), Vec::new());
        for (index, entry) in entries.iter().enumerate() {
            first_rows.push(lines.len());
            lines.extend(entry_lines(*entry, index == selected, context, columns));
        }
        let first = first_rows.get(selected).copied().unwrap_or(0);
        let end = first_rows.get(selected + 1).copied().unwrap_or(lines.len());
        self.rows.set(first_rows);
        (lines, (first, end.saturating_sub(1)))
    }

    fn title(&self, context: &Context<'_>) -> String {
        let Some(Ok(health)) = &self.checked else { return "Health of lessons".to_owned() };
        let active = context.frame.head.pool.all().filter(|lesson| lesson.is_active()).count();
        format!("Health of lessons: {active} active{}", health.0.describe_share())
    }
}

impl<'a> Entry<'a> {
    fn finding(self) -> &'a Finding {
        match self {
            Self::Finding(finding) | Self::Lesson(finding, _) => finding,
        }
    }
}

fn notice(text: &str) -> Response {
    Response::request(Request::ShowNotice(text.to_owned()))
}

/// Orders lessons by which of two is kept: a person's, then a pinned one, then the older one.
fn keeping_rank(lesson: &Lesson) -> (bool, bool, std::cmp::Reverse<u32>) {
    let is_persons = lesson.origin == LessonOrigin::Person || lesson.edited_by_person;
    (is_persons, lesson.status == LessonStatus::Pinned, std::cmp::Reverse(lesson.number))
}

/// Keeps one of two lessons, counts that it was learned again, and retires the other.
fn merge(kept: &Lesson, dropped: &Lesson) -> Response {
    let commands = [
        LessonCommand::Recur { id: kept.id.clone() },
        LessonCommand::Merge { id: dropped.id.clone(), into: kept.id.clone() },
    ];
    let mut requests: Vec<Request> =
        commands.into_iter().map(|command| Request::Send(Command::Lesson(command))).collect();
    requests
        .push(Request::ShowNotice(format!("lesson {} merged into lesson {}", dropped.number, kept.number)));
    Response { requests, close: false }
}

/// Returns the lesson that a finding is about: of two, the one that would be dropped; of a large share, the longest.
fn affected_lesson<'a>(finding: &Finding, context: &Context<'a>) -> Option<&'a Lesson> {
    let pool = &context.frame.head.pool;
    if matches!(finding, Finding::LargeShare { .. }) {
        let length = |lesson: &&Lesson| {
            let text = lesson.text();
            text.text.len() + text.solution.as_ref().map_or(0, String::len)
        };
        return pool.all().filter(|lesson| lesson.is_active()).max_by_key(length);
    }
    finding
        .lessons()
        .iter()
        .filter_map(|lesson| pool.get(&lesson.id))
        .min_by_key(|lesson| keeping_rank(lesson))
}

fn entry_lines(entry: Entry<'_>, is_selected: bool, context: &Context<'_>, columns: u16) -> Vec<Line> {
    let mark = if is_selected { context.glyphs.proposal } else { " " };
    let role = |normal| if is_selected { Role::Selection } else { normal };
    match entry {
        Entry::Finding(finding) => {
            let mut lines = paragraph(
                (Role::Proposal, &format!("{mark} ")),
                role(Role::Title),
                &finding.describe(),
                columns,
            );
            let keys: Vec<String> =
                finding.remedies().iter().map(|remedy| remedy_text(*remedy, context)).collect();
            let keys = keys.join(&format!(" {} ", context.glyphs.separator));
            lines.extend(paragraph((Role::Muted, "    "), Role::Muted, &keys, columns));
            lines
        }
        Entry::Lesson(_, lesson) => {
            let lead = format!("{mark} {:>4}  ", lesson.number);
            paragraph((Role::Muted, &lead), role(Role::Lesson), &one_line(&lesson.text), columns)
        }
    }
}

/// Returns the key of a remedy and its name: `m merges`.
fn remedy_text(remedy: Remedy, context: &Context<'_>) -> String {
    let (action, verb) = match remedy {
        Remedy::Merge => (Action::MergeLessons, "merges them"),
        Remedy::Retire => (Action::DeleteLesson, "retires"),
        Remedy::Shorten => (Action::EditLesson, "shortens the longest"),
        Remedy::Measure => (Action::MeasureEffect, "measures"),
    };
    let key = context.keymap.key_label_in(Mode::Health, action).unwrap_or_default();
    format!("{key} {verb}")
}

impl Component for HealthList {
    fn name(&self) -> &'static str {
        "health"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Health
    }

    fn awaits(&self) -> Option<WorkKind> {
        self.checked.is_none().then_some(WorkKind::Health)
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::MergeLessons => return self.apply(Remedy::Merge, context),
            Action::DeleteLesson => return self.apply(Remedy::Retire, context),
            Action::EditLesson | Action::Open => return self.apply(Remedy::Shorten, context),
            Action::MeasureEffect => return self.apply(Remedy::Measure, context),
            other => {
                let count = self.entries(context).len();
                if let Some(by) = row_delta(other, self.scroll.page_rows()) {
                    self.selected = clamped_index(self.selected, by, count);
                }
            }
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::Health(checked) = answer {
            self.checked = Some(checked);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        let count = self.entries(context).len();
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                let rows = self.rows.take();
                self.selected = rows.iter().rposition(|first| *first <= row).unwrap_or(0);
                self.rows.set(rows);
            }
            Some(MouseTarget::Wheel(by)) => self.selected = clamped_index(self.selected, by, count),
            None => {}
        }
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = self.title(context);
        let page = Page { title: &title, columns: WINDOW_COLUMNS, mode: Mode::Health, scroll: &self.scroll };
        let without_effect: &[Action] = if self.entries(context).is_empty() { &REMEDY_KEYS } else { &[] };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        page.draw_with_selected(keys, context, screen, canvas, |columns| self.lines(context, columns));
    }
}
