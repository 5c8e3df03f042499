//! The lesson editor: kind, scope, text, and for an Error the solution.

use crate::domain::{LessonId, LessonText, ReflectionKind, Scope};
use crate::driver::Fork;
use crate::engine::{Command, LessonCommand};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::draft::LessonDraft;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::scope_label;
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::widget::list_index::wrapped_index;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Window, WindowPosition, put_line};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

const SCOPES: [Scope; 4] = [Scope::Episode, Scope::Task, Scope::TaskType, Scope::Environment];

/// The editor's fields, in Tab order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditorField {
    Text,
    Solution,
    Kind,
    Scope,
}

/// Overlay that edits a lesson.
pub(super) struct LessonEditor {
    lesson: Option<(LessonId, u32)>,
    original: LessonDraft,
    kinds: Vec<ReflectionKind>,
    kind: ReflectionKind,
    scope: Scope,
    text: TextField,
    solution: TextField,
    focus: EditorField,
    evidence: String,
    message: Option<&'static str>,
    is_restored_draft: bool,
    /// Whether the mentor wrote the text. If it stays unchanged, the mentor remains the lesson's author.
    is_from_mentor: bool,
    /// The fork whose branch starts with the lesson.
    fork: Option<Fork>,
    /// Whether the person chose the kind, so that typing no longer changes it.
    is_kind_chosen: bool,
}

/// Splits `mistake -> solution`. Returns `None` if either part is missing.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (mistake, solution) = text.split_once("->")?;
    let (mistake, solution) = (mistake.trim(), solution.trim());
    (!mistake.is_empty() && !solution.is_empty()).then_some((mistake, solution))
}

impl LessonEditor {
    /// Creates the editor. `before` is the saved text, `kinds` are the method's, and `number` is the edited lesson's.
    pub(super) fn new(
        draft: &LessonDraft,
        before: LessonDraft,
        kinds: &[ReflectionKind],
        number: u32,
    ) -> Self {
        Self {
            lesson: draft.lesson.clone().map(|id| (id, number)),
            kinds: kinds.to_vec(),
            kind: draft.kind,
            scope: draft.scope,
            text: TextField::multi_line(&draft.text),
            solution: TextField::multi_line(&draft.solution),
            focus: EditorField::Text,
            evidence: String::new(),
            message: None,
            is_restored_draft: *draft != before,
            is_from_mentor: false,
            fork: None,
            is_kind_chosen: false,
            original: before,
        }
    }

    /// Sets the lesson's evidence.
    #[must_use]
    pub(super) fn with_evidence(mut self, evidence: String) -> Self {
        self.evidence = evidence;
        self
    }

    /// Marks the text as the mentor's.
    #[must_use]
    pub(super) fn written_by_mentor(mut self) -> Self {
        self.is_from_mentor = true;
        self
    }

    /// Saves the lesson as the first command on a new branch.
    #[must_use]
    pub(super) fn saving_on_branch(mut self, fork: Fork) -> Self {
        self.fork = Some(fork);
        self
    }

    fn draft(&self) -> LessonDraft {
        LessonDraft {
            lesson: self.lesson.as_ref().map(|o| o.0.clone()),
            kind: self.kind,
            scope: self.scope,
            text: self.text.text(),
            solution: self.solution.text(),
        }
    }

    fn tab_order(&self) -> Vec<EditorField> {
        let mut all = vec![EditorField::Text];
        if self.has_solution() {
            all.push(EditorField::Solution);
        }
        if self.lesson.is_none() {
            all.push(EditorField::Kind);
        }
        all.push(EditorField::Scope);
        all
    }

    /// Returns whether the lesson has a solution field. A mentor's lesson may have one in any kind.
    fn has_solution(&self) -> bool {
        self.kind == ReflectionKind::Error
            || self.focus == EditorField::Solution
            || !self.solution.text().is_empty()
    }

    fn move_focus(&mut self, by: isize) {
        let all = self.tab_order();
        let at = all.iter().position(|f| *f == self.focus).unwrap_or(0);
        self.focus = all[wrapped_index(at, by, all.len())];
    }

    fn cycle_value(&mut self, by: isize) {
        let next = |len: usize, at: Option<usize>| wrapped_index(at.unwrap_or(0), by, len);
        if self.focus == EditorField::Kind && !self.kinds.is_empty() {
            // A typed `mistake -> solution` is already displayed as an Error.
            let shown =
                if self.typed_mistake_and_solution().is_some() { ReflectionKind::Error } else { self.kind };
            let at = self.kinds.iter().position(|k| *k == shown);
            // A scope that wasn't chosen explicitly follows the kind.
            let follows = [self.kind, shown].map(ReflectionKind::scope_of_new_lesson).contains(&self.scope);
            self.kind = self.kinds[next(self.kinds.len(), at)];
            self.is_kind_chosen = true;
            if follows {
                self.scope = self.kind.scope_of_new_lesson();
            }
            let text = self.text.text();
            if self.kind == ReflectionKind::Error
                && self.solution.text().is_empty()
                && let Some((mistake, solution)) = pair(&text)
            {
                self.text.replace(mistake);
                self.solution.replace(solution);
            }
        } else if self.focus == EditorField::Scope {
            self.scope = SCOPES[next(SCOPES.len(), SCOPES.iter().position(|s| *s == self.scope))];
        }
    }

    fn focused_text_field(&mut self) -> Option<&mut TextField> {
        match self.focus {
            EditorField::Text => Some(&mut self.text),
            EditorField::Solution => Some(&mut self.solution),
            EditorField::Kind | EditorField::Scope => None,
        }
    }

    /// Returns the mistake and the solution if a new lesson is typed as `mistake -> solution` and no kind was chosen.
    fn typed_mistake_and_solution(&self) -> Option<(String, String)> {
        let open = self.lesson.is_none()
            && !self.is_from_mentor
            && !self.is_kind_chosen
            && self.kind == self.original.kind;
        let kind = self.kind == ReflectionKind::Abstract && self.kinds.contains(&ReflectionKind::Error);
        let text = self.text.text();
        let (mistake, solution) = pair(&text).filter(|_| open && kind)?;
        Some((mistake.to_owned(), solution.to_owned()))
    }

    fn save(&mut self, context: &Context<'_>) -> Response {
        let mut draft = self.draft();
        if let Some((mistake, solution)) = self.typed_mistake_and_solution() {
            if self.scope == self.kind.scope_of_new_lesson() {
                self.scope = ReflectionKind::Error.scope_of_new_lesson();
            }
            self.kind = ReflectionKind::Error;
            (draft.text, draft.solution) = (mistake, solution);
        }
        if draft.text.is_empty() {
            self.message = Some("type the lesson first");
            self.focus = EditorField::Text;
            return Response::default();
        }
        let solution = Some(draft.solution).filter(|s| !s.is_empty());
        let text = LessonText { text: draft.text, solution };
        let send = |command| Request::Send(Command::Lesson(command));
        let mut requests = vec![Request::SaveDraft { of: draft.lesson.clone(), draft: None }];
        if self.is_from_mentor {
            // Keep the saved draft of the person's own new lesson.
            requests.clear();
        }
        if let Some(id) = draft.lesson {
            let was = LessonText {
                text: self.original.text.clone(),
                solution: Some(self.original.solution.clone()).filter(|s| !s.is_empty()),
            };
            if text != was {
                requests.push(send(LessonCommand::Edit { id: id.clone(), text }));
            }
            if self.scope != self.original.scope {
                requests.push(send(LessonCommand::Rescope { id, scope: self.scope }));
            }
        } else {
            let (kind, scope, evidence) = (self.kind, self.scope, self.evidence.clone());
            let was = (&*self.original.text, &*self.original.solution);
            let edited = (&*text.text, text.solution.as_deref().unwrap_or_default()) != was;
            requests.push(send(if self.is_from_mentor {
                LessonCommand::Accept { kind, scope, text, edited, evidence }
            } else {
                LessonCommand::add(kind, scope, text, evidence)
            }));
        }
        if let Some(fork) = &self.fork {
            let lesson_commands = requests.iter().filter_map(|r| match r {
                Request::Send(command) => Some(command.clone()),
                _ => None,
            });
            let mut commands: Vec<Command> = lesson_commands.collect();
            if commands.is_empty() {
                self.message = Some("change something first; Esc cancels");
                return Response::default();
            }
            commands.extend(fork.commands.iter().cloned());
            requests.truncate(1);
            requests.push(Request::Fork(Fork { commands, ..fork.clone() }));
            return Response { requests, close: true };
        }
        if requests.iter().any(|r| matches!(r, Request::Send(_))) {
            let again = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
            let step_is_open = context.is_thinking() || context.frame.head.step_awaiting_decision().is_some();
            let saved = self.lesson.is_none().then(|| format!("saved as {}", self.kind.name()));
            let used = context.asks_actor().then(|| "counts from the next prompt".to_owned());
            let retry = (used.is_some() && step_is_open && !again.is_empty())
                .then(|| format!("{again} retries this step with it"));
            let notice: Vec<String> = [saved, used, retry].into_iter().flatten().collect();
            if !notice.is_empty() {
                requests.push(Request::ShowNotice(notice.join("; ")));
            }
        }
        Response { requests, close: true }
    }
}

impl Component for LessonEditor {
    fn name(&self) -> &'static str {
        "lesson"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::LessonEditor
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        self.message = None;
        match action {
            Action::Close => {
                let draft = self.draft();
                let of = draft.lesson.clone();
                let kept = (draft != self.original).then_some(draft);
                if self.is_from_mentor && kept.is_none() {
                    return Response::close();
                }
                let mut requests = Vec::new();
                if kept.is_some() {
                    requests.push(Request::ShowNotice("draft kept".to_owned()));
                }
                requests.push(Request::SaveDraft { of, draft: kept });
                return Response { requests, close: true };
            }
            Action::Accept | Action::Open => return self.save(context),
            Action::NextField => self.move_focus(1),
            Action::PreviousField => self.move_focus(-1),
            Action::NewLine => {
                if let Some(field) = self.focused_text_field() {
                    field.insert_newline();
                }
            }
            Action::Editor => {
                if let Some(field) = self.focused_text_field() {
                    return Response::request(Request::OpenEditor(field.text()));
                }
                self.message = Some("select a text field first (Tab)");
            }
            _ => {}
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        self.message = None;
        if let Some(field) = self.focused_text_field() {
            field.on_key(key);
        } else {
            match key.code {
                KeyCode::Left | KeyCode::Up => self.cycle_value(-1),
                KeyCode::Right | KeyCode::Down | KeyCode::Char(' ') => self.cycle_value(1),
                _ => {}
            }
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(field) = self.focused_text_field() {
            field.on_paste(text);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Answer::Edited(Some(text)), Some(field)) = (answer, self.focused_text_field()) {
            field.replace(&text);
        }
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let error = self.has_solution();
        let title = match &self.lesson {
            Some((_, number)) => format!("Lesson {number}"),
            None => "New lesson".to_owned(),
        };
        let title = if self.is_restored_draft { format!("{title} (draft)") } else { title };
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: 12,
            columns: 76,
            mode: Mode::LessonEditor,
        };
        let inside = window.draw(context, screen, canvas);
        let mut y = inside.y;
        let mut take = |rows: u16| {
            let rows = rows.min(inside.bottom().saturating_sub(y));
            let area = Rect { y, height: rows, ..inside };
            y += rows;
            area
        };
        let room = inside.height.saturating_sub(if error { 4 } else { 3 });
        let label = |at: EditorField| if self.focus == at { Role::TitleFocus } else { Role::Title };
        let head = take(1);
        put_line(
            &[(label(EditorField::Text), if error { "Mistake" } else { "Lesson" }.to_owned())],
            head,
            canvas,
        );
        self.text.draw(
            self.focus == EditorField::Text,
            take(if error { room.div_ceil(2) } else { room }),
            canvas,
        );
        if error {
            put_line(&[(label(EditorField::Solution), "What to do instead".to_owned())], take(1), canvas);
            self.solution.draw(self.focus == EditorField::Solution, take(room / 2), canvas);
        }
        let value = |at: EditorField| if self.focus == at { Role::Selection } else { Role::Text };
        let with_arrows = |at: EditorField, word: &str| {
            if self.focus == at { format!("< {word} >") } else { word.to_owned() }
        };
        let pair = self.typed_mistake_and_solution().is_some();
        let kind = if pair { ReflectionKind::Error } else { self.kind };
        let pieces = [
            (label(EditorField::Kind), "Kind ".to_owned()),
            (value(EditorField::Kind), with_arrows(EditorField::Kind, kind.name())),
            (label(EditorField::Scope), "   Scope ".to_owned()),
            (value(EditorField::Scope), with_arrows(EditorField::Scope, scope_label(self.scope))),
        ];
        put_line(&pieces, take(1), canvas);
        let message = match (self.message, self.evidence.is_empty()) {
            (None, _) if pair && !matches!(self.focus, EditorField::Kind | EditorField::Scope) => {
                (Role::Muted, "Saved as an Error: mistake -> what to do instead.".to_owned())
            }
            (Some(note), _) => (Role::Warning, note.to_owned()),
            (None, _) if matches!(self.focus, EditorField::Kind | EditorField::Scope) => {
                (Role::Muted, "Change with Left and Right.".to_owned())
            }
            (None, false) => (Role::Muted, format!("evidence: {}", self.evidence)),
            (None, true) if context.asks_actor() => {
                (Role::Muted, "Enters the next prompt; every version is kept.".to_owned())
            }
            (None, true) => (Role::Muted, "Every version is kept.".to_owned()),
        };
        put_line(&[message], take(1), canvas);
    }
}
