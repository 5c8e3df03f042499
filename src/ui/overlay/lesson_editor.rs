//! The lesson editor: one line for the lesson, what to do instead of a mistake one key away, kind, scope and pin.

mod draw;

use crate::catalog::{LessonReader, ignored_lesson_reason};
use crate::domain::{LessonId, LessonStatus, LessonText, ModelRole, ReflectionKind, Scope};
use crate::driver::Fork;
use crate::engine::{Command, LessonCommand};
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::draft::LessonDraft;
use crate::ui::effect::TaughtLesson;
use crate::ui::facts::ended_episode;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::widget::list_index::wrapped_index;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::Window;
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
    Pin,
}

/// Overlay that edits a lesson.
pub(super) struct LessonEditor {
    lesson: Option<(LessonId, u32)>,
    original: LessonDraft,
    /// The kinds of the method's lessons.
    kinds: Vec<ReflectionKind>,
    /// The kind that the person chose. Without one the words decide.
    chosen_kind: Option<ReflectionKind>,
    /// The scope that the person chose. Without one it follows the kind.
    chosen_scope: Option<Scope>,
    is_pinned: bool,
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
}

/// Splits `mistake -> solution`. Returns `None` if either part is missing.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (mistake, solution) = text.split_once("->").or_else(|| text.split_once('\u{2192}'))?;
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
        let follows_kind = draft.lesson.is_none() && draft.scope == draft.kind.scope_of_new_lesson();
        Self {
            lesson: draft.lesson.clone().map(|id| (id, number)),
            kinds: kinds.to_vec(),
            chosen_kind: Some(draft.kind).filter(|kind| *kind != before.kind),
            chosen_scope: Some(draft.scope).filter(|_| !follows_kind),
            is_pinned: draft.pinned,
            text: TextField::multi_line(&draft.text),
            solution: TextField::multi_line(&draft.solution),
            focus: EditorField::Text,
            evidence: String::new(),
            message: None,
            is_restored_draft: *draft != before,
            is_from_mentor: false,
            fork: None,
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
        let kind = self.chosen_kind.unwrap_or(self.original.kind);
        let scope = if self.chosen_kind.is_some() { kind.scope_of_new_lesson() } else { self.original.scope };
        LessonDraft {
            lesson: self.lesson.as_ref().map(|o| o.0.clone()),
            kind,
            scope: self.chosen_scope.unwrap_or(scope),
            text: self.text.text(),
            solution: self.solution.text(),
            pinned: self.is_pinned,
        }
    }

    /// Returns the kind it is saved as: the chosen one, else Error if the words are a mistake and what to do instead.
    fn kind(&self) -> ReflectionKind {
        self.chosen_kind.unwrap_or(if self.is_error_by_its_words() {
            ReflectionKind::Error
        } else {
            self.original.kind
        })
    }

    fn scope(&self) -> Scope {
        self.chosen_scope.unwrap_or_else(|| self.kind().scope_of_new_lesson())
    }

    /// Returns whether the words of a lesson decide its kind: a person's new advice, unless its kind was chosen.
    fn follows_words(&self) -> bool {
        self.chosen_kind.is_none()
            && self.lesson.is_none()
            && !self.is_from_mentor
            && self.original.kind == ReflectionKind::Abstract
            && self.kinds.contains(&ReflectionKind::Error)
    }

    fn is_error_by_its_words(&self) -> bool {
        self.follows_words() && (!self.solution.is_blank() || self.typed_pair().is_some())
    }

    /// Returns whether the rule-based actor plays and doesn't understand what is typed, which is long enough to be a lesson.
    fn is_ignored(&self, context: &Context<'_>) -> bool {
        let Some(forms) = context.lesson_forms() else { return false };
        let (text, solution) = (self.text.text(), self.solution.text());
        let solution = self.typed_pair().map_or(solution, |(_, solution)| solution);
        let is_long_enough = [&text, &solution].iter().any(|text| text.split_whitespace().nth(2).is_some());
        let is_typing = matches!(self.focus, EditorField::Text | EditorField::Solution);
        // The kind that the words decide is said first; the notice after saving says both.
        is_typing
            && is_long_enough
            && !self.is_error_by_its_words()
            && context.lesson_reader(self.kind()) == LessonReader::Actor
            && !forms.teach(&LessonText { text, solution: Some(solution) })
    }

    /// Returns the mistake and the solution, if both are typed into the first field of an Error.
    fn typed_pair(&self) -> Option<(String, String)> {
        let is_error = self.follows_words() || self.chosen_kind == Some(ReflectionKind::Error);
        if !is_error || !self.solution.is_blank() {
            return None;
        }
        let text = self.text.text();
        pair(&text).map(|(mistake, solution)| (mistake.to_owned(), solution.to_owned()))
    }

    /// Moves what is typed as `mistake -> solution` into the two fields.
    fn split_typed_pair(&mut self) {
        if let Some((mistake, solution)) = self.typed_pair() {
            self.text.replace(&mistake);
            self.solution.replace(&solution);
        }
    }

    fn tab_order(&self) -> Vec<EditorField> {
        let mut all = vec![EditorField::Text];
        if self.shows_solution() || self.follows_words() {
            all.push(EditorField::Solution);
        }
        if self.lesson.is_none() {
            all.push(EditorField::Kind);
        }
        all.extend([EditorField::Scope, EditorField::Pin]);
        all
    }

    /// Returns whether the field of the solution is shown. A mentor's lesson may have a solution in any kind.
    fn shows_solution(&self) -> bool {
        let is_error = self.chosen_kind.unwrap_or(self.original.kind) == ReflectionKind::Error;
        is_error || self.focus == EditorField::Solution || !self.solution.is_blank()
    }

    fn move_focus(&mut self, by: isize) {
        let all = self.tab_order();
        let at = all.iter().position(|f| *f == self.focus).unwrap_or(0);
        self.focus = all[wrapped_index(at, by, all.len())];
        if self.focus != EditorField::Text {
            self.split_typed_pair();
        }
    }

    /// Changes the value of the focused field, which isn't a text.
    fn cycle_value(&mut self, by: isize) {
        let next = |len: usize, at: Option<usize>| wrapped_index(at.unwrap_or(0), by, len);
        match self.focus {
            EditorField::Kind if !self.kinds.is_empty() => {
                let shown = self.kind();
                let at = self.kinds.iter().position(|kind| *kind == shown);
                self.chosen_kind = Some(self.kinds[next(self.kinds.len(), at)]);
                self.split_typed_pair();
            }
            EditorField::Scope => {
                let shown = self.scope();
                let at = SCOPES.iter().position(|scope| *scope == shown);
                self.chosen_scope = Some(SCOPES[next(SCOPES.len(), at)]);
            }
            EditorField::Pin => self.is_pinned = !self.is_pinned,
            EditorField::Kind | EditorField::Text | EditorField::Solution => {}
        }
    }

    fn focused_text_field(&mut self) -> Option<&mut TextField> {
        match self.focus {
            EditorField::Text => Some(&mut self.text),
            EditorField::Solution => Some(&mut self.solution),
            EditorField::Kind | EditorField::Scope | EditorField::Pin => None,
        }
    }

    /// Saves the lesson, and opens its measurement once the session has it.
    fn save_and_measure(&mut self, context: &Context<'_>) -> Response {
        let before = match &self.lesson {
            None => context.frame.head.pool.len(),
            Some((id, _)) => {
                let text = self.draft();
                let is_changed =
                    (&text.text, &text.solution) != (&self.original.text, &self.original.solution);
                let version = context.frame.head.pool.get(id).map_or(0, |lesson| lesson.version() as usize);
                if is_changed { version } else { version.saturating_sub(1) }
            }
        };
        let taught = TaughtLesson {
            lesson: self.lesson.as_ref().map(|(id, _)| id.clone()),
            before,
            epoch: context.frame.epoch,
            on_branch: self.fork.is_some(),
        };
        let mut response = self.save(context);
        if response.close {
            // The measurement says more than the notice.
            response.requests.retain(|request| !matches!(request, Request::ShowNotice(_)));
            response.requests.insert(0, Request::MeasureWhenTaught(taught));
        }
        response
    }

    /// Says what becomes of a text that only the mentor is shown, if the mentor is a model, and how many others of its kind are in
    /// force beside it.
    fn describe_mentor_use(&self, kind: ReflectionKind, context: &Context<'_>) -> Option<String> {
        let head = &context.frame.head;
        let is_model =
            head.run.as_deref().is_some_and(|run| run.role_source(ModelRole::Mentor).replies_as_model());
        let others = head
            .pool
            .active_of_kind(kind)
            .filter(|lesson| self.lesson.as_ref().is_none_or(|(edited, _)| *edited != lesson.id));
        let beside = match others.count() {
            0 => String::new(),
            1 => format!(", after the other {}: switch that off to replace it", kind.name()),
            n => format!(", after the {n} others: switch them off to replace them"),
        };
        is_model.then(|| format!("the mentor reads it in its next question{beside}"))
    }

    fn save(&mut self, context: &Context<'_>) -> Response {
        let (kind, scope, pinned) = (self.kind(), self.scope(), self.is_pinned);
        let mut draft = self.draft();
        if let Some((mistake, solution)) = self.typed_pair() {
            (draft.text, draft.solution) = (mistake, solution);
        }
        if draft.text.is_empty() {
            self.message = Some("type the lesson first");
            self.focus = EditorField::Text;
            return Response::default();
        }
        let solution = Some(draft.solution).filter(|s| !s.is_empty());
        let text = LessonText { text: draft.text, solution };
        let saved_text = text.normalized();
        let head = &context.frame.head;
        let ignored = head
            .run
            .as_deref()
            .zip(context.episode())
            .and_then(|(run, episode)| ignored_lesson_reason(run, &episode.task.env, kind, &text));
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
            if scope != self.original.scope {
                requests.push(send(LessonCommand::Rescope { id: id.clone(), scope }));
            }
            if pinned != self.original.pinned {
                let status = if pinned { LessonStatus::Pinned } else { LessonStatus::On };
                requests.push(send(LessonCommand::Status { id, status }));
            }
        } else {
            let evidence = self.evidence.clone();
            let was = (&*self.original.text, &*self.original.solution);
            let edited = (&*text.text, text.solution.as_deref().unwrap_or_default()) != was;
            requests.push(send(if self.is_from_mentor {
                LessonCommand::Accept { kind, scope, text, edited, evidence, pinned }
            } else {
                let (rule, parents, transition) = (None, Vec::new(), None);
                LessonCommand::Add { kind, scope, text, rule, evidence, parents, transition, pinned }
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
            requests.extend(ignored.map(Request::ShowNotice));
            return Response { requests, close: true };
        }
        if requests.iter().any(|r| matches!(r, Request::Send(_))) {
            let again = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
            let step_is_open = context.is_thinking() || context.frame.head.step_awaiting_decision().is_some();
            let until = if scope == Scope::Episode { " until this episode ends" } else { "" };
            let saved = self.lesson.is_none().then(|| format!("saved as {}{until}", kind.name()));
            let mut same = context.frame.head.pool.with_normalized_text(kind, &saved_text);
            let same = same.find(|lesson| self.lesson.is_none() && lesson.is_active()).map(|lesson| {
                let key = context.keymap.key_label(Action::LessonHealth).unwrap_or_default();
                let number = lesson.number;
                format!("lesson {number} says the same, so this one may change nothing: {key} merges them")
            });
            let reader = context.lesson_reader(kind);
            let is_used = context.asks_actor() && ignored.is_none() && reader == LessonReader::Actor;
            let has_ended = ended_episode(context).is_some();
            let used = match reader {
                LessonReader::Mentor => self.describe_mentor_use(kind, context),
                _ => (is_used && !has_ended).then(|| "counts from the next prompt".to_owned()),
            };
            // At the end of an episode it helps only in another one.
            let retry = if has_ended {
                Some("plays the task again with it")
            } else {
                step_is_open.then_some("retries this step with it")
            };
            let retry = retry.filter(|_| is_used && !again.is_empty()).map(|what| format!("{again} {what}"));
            let notice: Vec<String> = [same, saved, ignored, used, retry].into_iter().flatten().collect();
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
            Action::TeachAndMeasure => return self.save_and_measure(context),
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

    fn rows_covered(&self, context: &Context<'_>, screen: Rect) -> u16 {
        self.covered_rows(context, screen)
    }

    fn columns_covered(&self, context: &Context<'_>, screen: Rect) -> (u16, u16) {
        Window::columns_covered(draw::COLUMNS, context, screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        self.draw_box(context, screen, canvas);
    }
}
