//! The lesson editor: kind, reach, text, and for an Error what to do instead.

use super::choice::around;
use super::field::Field;
use super::window::{Place, Window, put_line};
use super::{Answer, Overlay, Response};
use crate::domain::{Lesson, LessonId, LessonText, ReflectionKind, Scope, Step};
use crate::driver::Fork;
use crate::engine::{Command, LessonCommand};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

/// What was typed and not saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The lesson that was edited; none: a new one.
    pub of: Option<LessonId>,
    /// Its kind.
    pub kind: ReflectionKind,
    /// Its reach.
    pub scope: Scope,
    /// Its words.
    pub text: String,
    /// What to do instead.
    pub solution: String,
}

const SCOPES: [Scope; 4] = [Scope::Episode, Scope::Task, Scope::TaskType, Scope::Environment];

/// The fields, in the order of Tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Text,
    Solution,
    Kind,
    Scope,
}

/// The editor.
pub struct Editor {
    of: Option<(LessonId, u32)>,
    before: Draft,
    kinds: Vec<ReflectionKind>,
    kind: ReflectionKind,
    scope: Scope,
    text: Field,
    solution: Field,
    at: At,
    evidence: String,
    note: Option<&'static str>,
    from_draft: bool,
    /// The words are the mentor's: where they stay as they are, the lesson is the mentor's, accepted by the person.
    of_mentor: bool,
    /// The branch that begins with the lesson.
    fork: Option<Fork>,
    /// The person chose the kind: what is typed does not change it any more.
    is_kind_chosen: bool,
}

/// The word for a reach.
pub(crate) fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Episode => "this episode",
        Scope::Task => "this task",
        Scope::TaskType => "tasks of this type",
        Scope::Environment => "the environment",
    }
}

/// The reach that a kind has of itself.
fn usual(kind: ReflectionKind) -> Scope {
    match kind {
        ReflectionKind::Progress => Scope::Episode,
        ReflectionKind::Plan => Scope::Task,
        _ => Scope::Environment,
    }
}

impl Draft {
    /// An empty lesson of a kind.
    pub fn new(kind: ReflectionKind) -> Self {
        Self { of: None, kind, scope: usual(kind), text: String::new(), solution: String::new() }
    }

    /// A lesson as it stands.
    pub fn of(lesson: &Lesson) -> Self {
        Self {
            of: Some(lesson.id.clone()),
            kind: lesson.kind,
            scope: lesson.scope,
            text: lesson.text().text.clone(),
            solution: lesson.text().solution.clone().unwrap_or_default(),
        }
    }

    /// The lesson of an override: what the agent wanted was the mistake, what the person did is the solution. Numbers go,
    /// so that it also holds for other things of the kind.
    pub fn of_override(step: &Step, kind: ReflectionKind) -> Option<Self> {
        let wanted = step.proposal_text()?;
        let done = step.executed.as_ref().filter(|_| step.is_person_action())?;
        let (wanted, done) = (without_numbers(&wanted), without_numbers(&done.action));
        let mut draft = Self::new(kind);
        if kind == ReflectionKind::Error {
            draft.text = format!("Wanted to {wanted}.");
            draft.solution = format!("Do this instead: {done}.");
        } else {
            draft.text = format!("Do not {wanted}; {done}.");
        }
        Some(draft)
    }
}

fn without_numbers(action: &str) -> String {
    let words = action.split_whitespace().filter(|w| w.parse::<u32>().is_err());
    words.collect::<Vec<_>>().join(" ")
}

/// The two parts of `mistake -> solution`, where both are there.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (mistake, solution) = text.split_once("->")?;
    let (mistake, solution) = (mistake.trim(), solution.trim());
    (!mistake.is_empty() && !solution.is_empty()).then_some((mistake, solution))
}

impl Editor {
    /// An editor over a draft. `kinds` are those of the method; `number` is that of the edited lesson.
    pub fn new(draft: &Draft, before: Draft, kinds: &[ReflectionKind], number: u32) -> Self {
        Self {
            of: draft.of.clone().map(|id| (id, number)),
            kinds: kinds.to_vec(),
            kind: draft.kind,
            scope: draft.scope,
            text: Field::lines(&draft.text),
            solution: Field::lines(&draft.solution),
            at: At::Text,
            evidence: String::new(),
            note: None,
            from_draft: *draft != before,
            of_mentor: false,
            fork: None,
            is_kind_chosen: false,
            before,
        }
    }

    /// Says what the lesson rests on.
    #[must_use]
    pub fn resting_on(mut self, evidence: String) -> Self {
        self.evidence = evidence;
        self
    }

    /// Says that the words are the mentor's.
    #[must_use]
    pub fn of_mentor(mut self) -> Self {
        self.of_mentor = true;
        self
    }

    /// Saves it as the first thing on a new branch.
    #[must_use]
    pub fn on_branch(mut self, fork: Fork) -> Self {
        self.fork = Some(fork);
        self
    }

    fn draft(&self) -> Draft {
        Draft {
            of: self.of.as_ref().map(|o| o.0.clone()),
            kind: self.kind,
            scope: self.scope,
            text: self.text.text(),
            solution: self.solution.text(),
        }
    }

    fn fields(&self) -> Vec<At> {
        let mut all = vec![At::Text];
        if self.has_solution() {
            all.push(At::Solution);
        }
        if self.of.is_none() {
            all.push(At::Kind);
        }
        all.push(At::Scope);
        all
    }

    /// Whether it is a mistake with what to do instead. A pair of the mentor is one in every kind.
    fn has_solution(&self) -> bool {
        self.kind == ReflectionKind::Error || self.at == At::Solution || !self.solution.text().is_empty()
    }

    fn go(&mut self, by: isize) {
        let all = self.fields();
        let at = all.iter().position(|f| *f == self.at).unwrap_or(0);
        self.at = all[around(at, by, all.len())];
    }

    fn turn(&mut self, by: isize) {
        let next = |len: usize, at: Option<usize>| around(at.unwrap_or(0), by, len);
        if self.at == At::Kind && !self.kinds.is_empty() {
            // What is typed as a pair is shown as an Error already.
            let shown = if self.typed_pair().is_some() { ReflectionKind::Error } else { self.kind };
            let at = self.kinds.iter().position(|k| *k == shown);
            // A reach that was not chosen by hand follows the kind.
            let follows = [self.kind, shown].map(usual).contains(&self.scope);
            self.kind = self.kinds[next(self.kinds.len(), at)];
            self.is_kind_chosen = true;
            if follows {
                self.scope = usual(self.kind);
            }
            let text = self.text.text();
            if self.kind == ReflectionKind::Error
                && self.solution.text().is_empty()
                && let Some((mistake, solution)) = pair(&text)
            {
                self.text.replace(mistake);
                self.solution.replace(solution);
            }
        } else if self.at == At::Scope {
            self.scope = SCOPES[next(SCOPES.len(), SCOPES.iter().position(|s| *s == self.scope))];
        }
    }

    fn typed(&mut self) -> Option<&mut Field> {
        match self.at {
            At::Text => Some(&mut self.text),
            At::Solution => Some(&mut self.solution),
            At::Kind | At::Scope => None,
        }
    }

    /// The mistake and what to do instead, where a new lesson is typed as `mistake -> solution` and its kind was not chosen.
    fn typed_pair(&self) -> Option<(String, String)> {
        let open =
            self.of.is_none() && !self.of_mentor && !self.is_kind_chosen && self.kind == self.before.kind;
        let kind = self.kind == ReflectionKind::Abstract && self.kinds.contains(&ReflectionKind::Error);
        let text = self.text.text();
        let (mistake, solution) = pair(&text).filter(|_| open && kind)?;
        Some((mistake.to_owned(), solution.to_owned()))
    }

    fn save(&mut self, look: &Context<'_>) -> Response {
        let mut draft = self.draft();
        if let Some((mistake, solution)) = self.typed_pair() {
            if self.scope == usual(self.kind) {
                self.scope = usual(ReflectionKind::Error);
            }
            self.kind = ReflectionKind::Error;
            (draft.text, draft.solution) = (mistake, solution);
        }
        if draft.text.is_empty() {
            self.note = Some("write the lesson first");
            self.at = At::Text;
            return Response::default();
        }
        let solution = Some(draft.solution).filter(|s| !s.is_empty());
        let text = LessonText { text: draft.text, solution };
        let wish = |w| Request::Send(Command::Lesson(w));
        let mut requests = vec![Request::Keep { of: draft.of.clone(), draft: None }];
        if self.of_mentor {
            // What was typed and kept for a lesson of one's own is another matter.
            requests.clear();
        }
        if let Some(id) = draft.of {
            let was = LessonText {
                text: self.before.text.clone(),
                solution: Some(self.before.solution.clone()).filter(|s| !s.is_empty()),
            };
            if text != was {
                requests.push(wish(LessonCommand::Edit { id: id.clone(), text }));
            }
            if self.scope != self.before.scope {
                requests.push(wish(LessonCommand::Rescope { id, scope: self.scope }));
            }
        } else {
            let (kind, scope, evidence) = (self.kind, self.scope, self.evidence.clone());
            let was = (&*self.before.text, &*self.before.solution);
            let edited = (&*text.text, text.solution.as_deref().unwrap_or_default()) != was;
            requests.push(wish(if self.of_mentor {
                LessonCommand::Accept { kind, scope, text, edited, evidence }
            } else {
                LessonCommand::add(kind, scope, text, evidence)
            }));
        }
        if let Some(fork) = &self.fork {
            let wishes = requests.iter().filter_map(|r| match r {
                Request::Send(command) => Some(command.clone()),
                _ => None,
            });
            let mut then: Vec<Command> = wishes.collect();
            if then.is_empty() {
                self.note = Some("change something first; Esc leaves everything as it is");
                return Response::default();
            }
            then.extend(fork.then.iter().cloned());
            requests.truncate(1);
            requests.push(Request::Fork(Fork { then, ..fork.clone() }));
            return Response { requests, close: true };
        }
        if requests.iter().any(|r| matches!(r, Request::Send(_))) {
            let again = look.keymap.label(Action::AskAgain).unwrap_or_default();
            let asked = look.thinking() || look.moment.head.step_awaiting_decision().is_some();
            let saved = match &self.of {
                None => format!("saved as {}; ", self.kind.name()),
                Some(_) => String::new(),
            };
            requests.push(Request::Say(if asked && !again.is_empty() {
                format!("{saved}counts from the next prompt; {again} asks this turn again with it")
            } else {
                format!("{saved}counts from the next prompt")
            }));
        }
        Response { requests, close: true }
    }
}

impl Overlay for Editor {
    fn name(&self) -> &'static str {
        "lesson"
    }

    fn mode(&self) -> Mode {
        Mode::Editor
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        self.note = None;
        match action {
            Action::Close => {
                let draft = self.draft();
                let of = draft.of.clone();
                let kept = (draft != self.before).then_some(draft);
                if self.of_mentor && kept.is_none() {
                    return Response::close();
                }
                let mut requests = Vec::new();
                if kept.is_some() {
                    requests.push(Request::Say("the draft is kept".to_owned()));
                }
                requests.push(Request::Keep { of, draft: kept });
                return Response { requests, close: true };
            }
            Action::Accept | Action::Open => return self.save(look),
            Action::NextField => self.go(1),
            Action::PreviousField => self.go(-1),
            Action::NewLine => {
                if let Some(field) = self.typed() {
                    field.new_line();
                }
            }
            Action::Editor => {
                if let Some(field) = self.typed() {
                    return Response::want(Request::Editor(field.text()));
                }
                self.note = Some("go to a text first (Tab)");
            }
            _ => {}
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        self.note = None;
        if let Some(field) = self.typed() {
            field.key(key);
        } else {
            match key.code {
                KeyCode::Left | KeyCode::Up => self.turn(-1),
                KeyCode::Right | KeyCode::Down | KeyCode::Char(' ') => self.turn(1),
                _ => {}
            }
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        if let Some(field) = self.typed() {
            field.paste(text);
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, _: &Context<'_>) -> Response {
        if let (Answer::Edited(Some(text)), Some(field)) = (answer, self.typed()) {
            field.replace(&text);
        }
        Response::default()
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let error = self.has_solution();
        let title = match &self.of {
            Some((_, number)) => format!("Lesson {number}"),
            None => "A new lesson".to_owned(),
        };
        let title = if self.from_draft { format!("{title} (draft)") } else { title };
        let window =
            Window { title: &title, place: Place::Middle, rows: 12, columns: 76, mode: Mode::Editor };
        let inside = window.draw(look, screen, canvas);
        let mut y = inside.y;
        let mut take = |rows: u16| {
            let rows = rows.min(inside.bottom().saturating_sub(y));
            let area = Rect { y, height: rows, ..inside };
            y += rows;
            area
        };
        let room = inside.height.saturating_sub(if error { 4 } else { 3 });
        let label = |at: At| if self.at == at { Role::Focus } else { Role::Title };
        let head = take(1);
        put_line(
            &[(label(At::Text), if error { "The mistake" } else { "The lesson" }.to_owned())],
            head,
            canvas,
        );
        self.text.draw(self.at == At::Text, take(if error { room.div_ceil(2) } else { room }), canvas);
        if error {
            put_line(&[(label(At::Solution), "What to do instead".to_owned())], take(1), canvas);
            self.solution.draw(self.at == At::Solution, take(room / 2), canvas);
        }
        let value = |at: At| if self.at == at { Role::Chosen } else { Role::Text };
        let turn = |at: At, word: &str| if self.at == at { format!("< {word} >") } else { word.to_owned() };
        let pair = self.typed_pair().is_some();
        let kind = if pair { ReflectionKind::Error } else { self.kind };
        let pieces = [
            (label(At::Kind), "Kind ".to_owned()),
            (value(At::Kind), turn(At::Kind, kind.name())),
            (label(At::Scope), "   Reach ".to_owned()),
            (value(At::Scope), turn(At::Scope, scope_word(self.scope))),
        ];
        put_line(&pieces, take(1), canvas);
        let told = match (self.note, self.evidence.is_empty()) {
            (None, _) if pair && !matches!(self.at, At::Kind | At::Scope) => {
                (Role::Dim, "Saved as an Error: a mistake -> what to do instead.".to_owned())
            }
            (Some(note), _) => (Role::Warn, note.to_owned()),
            (None, _) if matches!(self.at, At::Kind | At::Scope) => {
                (Role::Dim, "Left and Right change it.".to_owned())
            }
            (None, false) => (Role::Dim, format!("rests on: {}", self.evidence)),
            (None, true) => (Role::Dim, "In the next prompt; every version is kept.".to_owned()),
        };
        put_line(&[told], take(1), canvas);
    }
}
