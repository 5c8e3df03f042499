//! Saved lessons: takes a lesson of a saved pool over into the run, or saves one or all of the run's lessons in a pool file.

use crate::catalog;
use crate::domain::{Lesson, LessonId, LessonStatus, LessonText, ReflectionKind, pluralize};
use crate::engine::{Command, LessonCommand};
use crate::text::{one_line, prefix};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::{origin_label, scope_label};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{SavedPool, WorkKind};
use crate::ui::widget::picker::{Picker, marked_row, rank};
use crate::ui::widget::window::{Line, PresentKeys, Window, WindowPosition, paragraph, put_line, put_lines};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::path::Path;
use std::sync::Arc;

/// Width of the window's inside, if there is room.
const COLUMNS: u16 = 96;
/// How many bytes of a lesson a row shows at most.
const MAX_ROW_BYTES: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    TakeOver,
    Promote,
    /// Saves all lessons that outlast an episode; there are this many.
    PromoteAll(usize),
}

/// A row: a saved lesson, or a pool file.
#[derive(Clone, Debug)]
enum Row {
    Lesson { lesson: Box<Lesson>, pool: Arc<str> },
    File { path: String, lessons: usize },
}

impl Row {
    /// Returns what the filter searches.
    fn text(&self) -> String {
        match self {
            Self::Lesson { lesson, pool } => {
                format!("{} {} {pool}", lesson.kind.name(), sentence(lesson.text(), "->"))
            }
            Self::File { path, .. } => path.clone(),
        }
    }
}

fn sentence(text: &LessonText, arrow: &str) -> String {
    let solution = text.solution.as_ref().map_or_else(String::new, |solution| format!(" {arrow} {solution}"));
    one_line(&format!("{}{solution}", text.text)).into_owned()
}

/// Overlay with the lessons of saved pools, or with the pool files into which a lesson can be saved.
pub(super) struct SavedLessons {
    purpose: Purpose,
    /// The lesson that is selected in the lanes, with its number and text.
    selected: Option<(LessonId, u32, String)>,
    picker: Picker<Row>,
    /// The saved pools, or why they can't be listed. `None` until they have been.
    pools: Option<Result<Arc<Vec<SavedPool>>, String>>,
}

impl SavedLessons {
    /// Creates the list of saved lessons. The caller must request them.
    pub(super) fn to_take_over(selected: Option<&Lesson>) -> Self {
        Self::new(Purpose::TakeOver, selected)
    }

    /// Creates the list of pool files for a lesson. The caller must request the saved pools.
    pub(super) fn to_promote(lesson: &Lesson) -> Self {
        Self::new(Purpose::Promote, Some(lesson))
    }

    /// Creates the list of pool files for all lessons that outlast an episode. The caller must request the saved pools.
    pub(super) fn to_promote_all(lessons: usize) -> Self {
        Self::new(Purpose::PromoteAll(lessons), None)
    }

    fn new(purpose: Purpose, selected: Option<&Lesson>) -> Self {
        let selected =
            selected.map(|lesson| (lesson.id.clone(), lesson.number, sentence(lesson.text(), "->")));
        let search = |all: &[Row], query: &str| rank(all, query, |row| [row.text()]);
        Self { purpose, selected, picker: Picker::new(Vec::new(), search), pools: None }
    }

    /// Lists what the purpose chooses from. A lesson that several pools have is listed once.
    fn fill(&mut self) {
        let Some(Ok(pools)) = &self.pools else { return };
        let rows = match self.purpose {
            Purpose::Promote | Purpose::PromoteAll(_) => {
                let files = pools.iter().filter(|pool| pool.is_file);
                files.map(|pool| Row::File { path: pool.path.clone(), lessons: pool.lessons.len() }).collect()
            }
            Purpose::TakeOver => {
                let mut rows: Vec<Row> = Vec::new();
                let mut known: Vec<(&LessonId, ReflectionKind, &LessonText)> = Vec::new();
                for pool in pools.iter() {
                    let name: Arc<str> = if pool.is_file {
                        pool.name.as_str().into()
                    } else {
                        format!("session {}", pool.name).into()
                    };
                    for lesson in &pool.lessons {
                        let (id, kind, text) = (&lesson.id, lesson.kind, lesson.text());
                        if known.iter().any(|k| k.0 == id || (k.1 == kind && k.2 == text)) {
                            continue;
                        }
                        known.push((id, kind, text));
                        rows.push(Row::Lesson { lesson: Box::new(lesson.clone()), pool: name.clone() });
                    }
                }
                rows
            }
        };
        self.picker.set_items(rows);
    }

    fn switch_purpose(&mut self) {
        if self.selected.is_some() {
            self.purpose = match self.purpose {
                Purpose::TakeOver => Purpose::Promote,
                Purpose::Promote | Purpose::PromoteAll(_) => Purpose::TakeOver,
            };
            self.picker.set_text("");
            self.fill();
        }
    }

    /// Returns the path typed for a pool file that isn't listed.
    fn typed_file(&self) -> Option<String> {
        let typed = self.picker.text();
        let is_pool = Path::new(&typed).extension().is_some_and(|ending| ending == "jsonl");
        let is_new = is_pool && self.purpose != Purpose::TakeOver;
        let is_listed = self.picker.items().iter().any(|row| row.text() == typed);
        (is_new && !is_listed).then_some(typed)
    }

    fn accept(&self, context: &Context<'_>) -> Response {
        let lesson = self.selected.as_ref().map(|(lesson, ..)| lesson.clone());
        let promote = |pool: String| {
            let can_save = lesson.is_some() || matches!(self.purpose, Purpose::PromoteAll(_));
            let request = || Request::PromoteLesson { lesson: lesson.clone(), pool };
            if can_save { Response::request_and_close(request()) } else { Response::default() }
        };
        if let Some(path) = self.typed_file() {
            return promote(path);
        }
        match self.picker.selected() {
            Some(Row::File { path, .. }) => promote(path.clone()),
            Some(Row::Lesson { lesson, pool }) => take_over(lesson, pool, context),
            None => Response::default(),
        }
    }

    fn title(&self) -> String {
        match (self.purpose, &self.selected) {
            (Purpose::Promote, Some((_, number, _))) => format!("Save lesson {number} in a pool file"),
            (Purpose::PromoteAll(_), _) => "Save all lessons in a pool file".to_owned(),
            _ => "Take a saved lesson over".to_owned(),
        }
    }

    /// Returns what to say in place of rows.
    fn empty_text(&self, context: &Context<'_>) -> String {
        match &self.pools {
            None => context.work_text("Reading the saved pools ...", WorkKind::SavedPools),
            Some(Err(why)) => why.clone(),
            Some(Ok(_)) if !self.picker.items().is_empty() && self.purpose != Purpose::TakeOver => {
                "no such file; the name of a new one ends with .jsonl".to_owned()
            }
            Some(Ok(_)) if !self.picker.items().is_empty() => "no matching lesson".to_owned(),
            Some(Ok(_)) => "no saved lessons yet: neither pool files nor other sessions have one".to_owned(),
        }
    }

    fn preview(&self, row: Option<&Row>, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut add = |label: &str, role: Role, text: &str| {
            lines.extend(paragraph((Role::Muted, &format!("{label:<9}")), role, text, columns));
        };
        match row {
            Some(Row::Lesson { lesson, pool }) => {
                let text = lesson.text();
                add(if text.solution.is_some() { "mistake" } else { "lesson" }, Role::Lesson, &text.text);
                if let Some(solution) = &text.solution {
                    add("instead", Role::LessonSolution, solution);
                }
                let pinned = if lesson.status == LessonStatus::Pinned { ", pinned" } else { "" };
                let from = format!("{pool}, written by {}", origin_label(lesson.origin));
                let known = known_number(lesson, context)
                    .map_or_else(String::new, |number| format!("; this run has it as lesson {number}"));
                add("from", Role::Text, &format!("{from}{known}"));
                let kind = kind_here(lesson, context);
                add("here", Role::Text, &format!("{}, {}{pinned}", kind.name(), scope_label(lesson.scope)));
            }
            Some(Row::File { .. }) => {
                match (&self.selected, self.purpose) {
                    (_, Purpose::PromoteAll(lessons)) => {
                        let words = format!(
                            "{} that {} an episode",
                            pluralize(lessons as u64, "lesson"),
                            if lessons == 1 { "outlasts" } else { "outlast" }
                        );
                        add("saves", Role::Lesson, &words);
                    }
                    (selected, _) => {
                        add("lesson", Role::Lesson, selected.as_ref().map_or("", |selected| &selected.2));
                    }
                }
                add("", Role::Muted, "The file keeps its versions; --pool FILE loads it into another run.");
            }
            None => {}
        }
        lines
    }
}

/// Returns the number of the run's lesson that is the saved one.
fn known_number(lesson: &Lesson, context: &Context<'_>) -> Option<u32> {
    context.displayed_state().pool.get(&lesson.id).map(|known| known.number)
}

/// Returns the kind that a saved lesson has in this run: its own, if the method has that.
fn kind_here(lesson: &Lesson, context: &Context<'_>) -> ReflectionKind {
    let kinds = context.lesson_kinds();
    let is_pair = lesson.text().solution.is_some();
    let own = Some(lesson.kind).filter(|kind| kinds.contains(kind));
    let error = Some(ReflectionKind::Error).filter(|kind| is_pair && kinds.contains(kind));
    own.or(error).unwrap_or_else(|| catalog::kind_of_new_lesson(context.method()))
}

/// Adds a saved lesson to the run, as the person's act, with its id and the place it comes from.
fn take_over(saved: &Lesson, pool: &str, context: &Context<'_>) -> Response {
    if let Some(number) = known_number(saved, context) {
        let text = format!("this run has it already, as lesson {number}");
        return Response::request(Request::ShowNotice(text));
    }
    let lesson = Lesson {
        kind: kind_here(saved, context),
        // Its scope means the task at hand, not the one where it was learned.
        task_key: None,
        task_type: None,
        // These are lessons of another session.
        parents: Arc::default(),
        taken_from: Some(pool.into()),
        ..saved.clone()
    };
    let used = if context.asks_actor() { "; counts from the next prompt" } else { "" };
    let notice = format!("taken over as {}{used}", lesson.kind.name());
    let command = Command::Lesson(LessonCommand::Load(Box::new(lesson)));
    let mut requests = vec![Request::Send(command)];
    if !context.is_read_only() && !context.frame.is_in_past() {
        requests.push(Request::ShowNotice(notice));
    }
    Response { requests, close: true }
}

impl Component for SavedLessons {
    fn name(&self) -> &'static str {
        "saved-lessons"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::PickList
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept(context),
            Action::NextField | Action::PreviousField => self.switch_purpose(),
            other => self.picker.on_action(other, self.picker.page_rows()),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        self.picker.on_key(key);
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        self.picker.on_paste(text);
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.picker.on_mouse(event);
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let Answer::SavedPools(pools) = answer {
            self.pools = Some(pools.map(|pools| pools.0));
            self.fill();
        }
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        self.pools.is_none().then_some(WorkKind::SavedPools)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = self.title();
        let is_empty = self.picker.items().is_empty() && self.typed_file().is_none();
        // Without rows, the window is as high as what it says.
        let rows = if is_empty {
            let (columns, text) = (Window::inner_columns(COLUMNS, context, screen), self.empty_text(context));
            paragraph((Role::Muted, ""), Role::Muted, &text, columns).len() as u16 + 1
        } else {
            18
        };
        let without_effect: &[Action] = if is_empty { &[Action::Accept, Action::Open] } else { &[] };
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows,
            columns: COLUMNS,
            mode: Mode::PickList,
        };
        let keys = PresentKeys { without_effect, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        if inside.height < 2 {
            return;
        }
        self.picker.draw_field((Role::Key, "/"), true, inside, canvas);
        if self.selected.is_some() {
            let key = context.keymap.key_label_in(Mode::PickList, Action::NextField).unwrap_or_default();
            let text = match self.purpose {
                Purpose::TakeOver => format!("{key}: save one of this run"),
                Purpose::Promote | Purpose::PromoteAll(_) => format!("{key}: take one over"),
            };
            canvas.put_right(inside.right(), inside.y, inside.width / 2, &text, canvas.style(Role::Muted));
        }
        let list = Rect { y: inside.y + 1, height: inside.height - 1, ..inside };
        if let Some(path) = self.typed_file() {
            put_line(&[(Role::Selection, format!("new pool file {path}"))], list, canvas);
            return;
        }
        if self.picker.matches().len() == 0 {
            let text = self.empty_text(context);
            put_lines(&paragraph((Role::Muted, ""), Role::Muted, &text, list.width), list, canvas);
            return;
        }
        let arrow = context.glyphs.solution;
        let row = |row: &Row, here: bool, _| match row {
            Row::Lesson { lesson, .. } => {
                let known = if known_number(lesson, context).is_some() { " (in this run)" } else { "" };
                let kind = format!("{:<11}", lesson.kind.name());
                let text = sentence(lesson.text(), arrow);
                let (mark, role) =
                    if here { (context.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
                vec![
                    (Role::Proposal, format!("{mark} ")),
                    (Role::Muted, kind),
                    (role, prefix(&text, MAX_ROW_BYTES).to_owned()),
                    (Role::Muted, known.to_owned()),
                ]
            }
            Row::File { path, lessons } => {
                let about = match lessons {
                    0 => "  new or empty".to_owned(),
                    1 => "  1 lesson".to_owned(),
                    count => format!("  {count} lessons"),
                };
                marked_row(context, "", here, path.clone(), [about])
            }
        };
        let columns = inside.width;
        let rows = self.preview(self.picker.selected(), context, columns).len() as u16;
        self.picker.draw_with_preview(rows, list, canvas, row, |selected, area, canvas| {
            put_lines(&self.preview(selected, context, columns), area, canvas);
        });
    }
}
