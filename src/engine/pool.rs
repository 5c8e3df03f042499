//! The lesson pool: the lessons in force and those that were.

use crate::domain::{
    Author, Lesson, LessonId, LessonOp, LessonStatus, LessonVersion, ReflectionKind, Scope, Seq,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All lessons of a session, in the order in which prompts show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    lessons: Arc<Vec<Arc<Lesson>>>,
    /// How many there ever were.
    added: u32,
    /// The file whose lessons are being loaded, or were last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<Arc<str>>,
}

impl Pool {
    /// Every lesson, retired ones too.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.lessons.iter().map(Arc::as_ref)
    }

    /// The lessons a person sees: all but the retired, of one kind.
    pub fn visible_of_kind(&self, kind: ReflectionKind) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.all().filter(move |l| l.kind == kind && l.status != LessonStatus::Retired)
    }

    /// The lessons that enter the next prompt, of one kind.
    pub fn active_of_kind(&self, kind: ReflectionKind) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.visible_of_kind(kind).filter(|l| l.is_active())
    }

    /// The lessons that a rule wrote, of one kind, retired ones too.
    pub fn by_rule(&self, kind: ReflectionKind, rule: &str) -> impl Iterator<Item = &Lesson> {
        self.all().filter(move |l| l.kind == kind && l.rule.as_deref() == Some(rule))
    }

    /// The lessons of one kind that say this ([`LessonText::said`](crate::domain::LessonText::said)), but the retired.
    pub fn with_normalized_text(&self, kind: ReflectionKind, said: &str) -> impl Iterator<Item = &Lesson> {
        self.visible_of_kind(kind).filter(move |l| l.text().normalized() == said)
    }

    /// A lesson by its id.
    pub fn get(&self, id: &LessonId) -> Option<&Lesson> {
        self.all().find(|l| &l.id == id)
    }

    /// A lesson by its id, with its place among all, looked for from a place on and around: who takes the lessons of a prompt
    /// in order, and looks for each behind the one before, comes by the whole pool only a few times.
    pub fn find_from(&self, from: usize, id: &LessonId) -> Option<(usize, &Lesson)> {
        let from = from.min(self.lessons.len());
        let (before, behind) = self.lessons.split_at(from);
        let ahead = behind.iter().position(|l| l.id == *id).map(|place| from + place);
        let place = ahead.or_else(|| before.iter().position(|l| l.id == *id))?;
        Some((place, self.lessons.get(place)?))
    }

    /// A lesson by its short number.
    pub fn by_number(&self, number: u32) -> Option<&Lesson> {
        self.all().find(|l| l.number == number)
    }

    /// Place of a lesson among the visible ones of its kind, counted from 0.
    pub fn position(&self, id: &LessonId) -> Option<usize> {
        let kind = self.get(id)?.kind;
        self.visible_of_kind(kind).position(|l| &l.id == id)
    }

    /// How many there are, retired ones too.
    pub fn len(&self) -> usize {
        self.lessons.len()
    }

    /// There is no lesson at all.
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// The lessons that a file brings come from it from here on.
    pub(super) fn set_source_file(&mut self, file: &str) {
        self.file = Some(file.into());
    }

    /// Folds a change. A change of a lesson that is not there is inert.
    pub(super) fn apply(&mut self, op: &LessonOp, seq: Seq, learnt_at: (u32, u32), by: Author) {
        if by == Author::Person {
            self.edit_lesson(op.id(), |l| l.edited_by_person = true);
        }
        match op {
            LessonOp::Add {
                id,
                kind,
                scope,
                origin,
                text,
                evidence,
                rule,
                parents,
                transition: moment,
                task_key: about,
            } => {
                self.added += 1;
                let number = self.added;
                Arc::make_mut(&mut self.lessons).push(Arc::new(Lesson {
                    id: id.clone(),
                    number,
                    kind: *kind,
                    scope: *scope,
                    origin: *origin,
                    status: LessonStatus::On,
                    versions: Arc::new(vec![LessonVersion { seq, text: text.clone() }]),
                    learnt_at,
                    file: self.file.clone().filter(|_| by == Author::File),
                    evidence: evidence.as_str().into(),
                    rule: rule.as_deref().map(Arc::from),
                    parents: parents.as_slice().into(),
                    transition: moment.clone().map(Arc::new),
                    task_key: about.as_deref().map(Arc::from),
                    recurred: 0,
                    edited_by_person: by == Author::Person,
                    uses: 0,
                    last_used: None,
                }));
            }
            LessonOp::Recur { id } => self.edit_lesson(id, |l| l.recurred += 1),
            LessonOp::Edit { id, text, .. } => {
                self.edit_lesson(id, |l| {
                    Arc::make_mut(&mut l.versions).push(LessonVersion { seq, text: text.clone() });
                    // The words in force are those of this turn. The episode stays: a lesson reaches from the task it
                    // was learnt in, wherever somebody words it anew.
                    if l.learnt_at.0 == learnt_at.0 {
                        l.learnt_at = learnt_at;
                    }
                });
            }
            LessonOp::Status { id, status, .. } => self.edit_lesson(id, |l| l.status = *status),
            LessonOp::Rescope { id, scope, .. } => self.edit_lesson(id, |l| l.scope = *scope),
            LessonOp::Move { id, to, .. } => self.reorder(id, *to),
        }
    }

    /// Where a loaded lesson was learnt in the session it is from.
    pub(super) fn set_learnt_at(&mut self, id: &LessonId, place: (u32, u32)) {
        self.edit_lesson(id, |l| l.learnt_at = place);
    }

    /// A person had a hand in this lesson.
    pub(super) fn mark_edited_by_person(&mut self, id: &LessonId) {
        self.edit_lesson(id, |l| l.edited_by_person = true);
    }

    /// Counts a use of each of these lessons in a prompt; says whether a person had a hand in one of them.
    pub(super) fn count_uses<'a>(&mut self, ids: impl Iterator<Item = &'a LessonId>, seq: Seq) -> bool {
        let mut by_person = false;
        let mut next = 0;
        for id in ids {
            let Some((place, _)) = self.find_from(next, id) else { continue };
            next = place + 1;
            let Some(lesson) = Arc::make_mut(&mut self.lessons).get_mut(place) else { continue };
            let lesson = Arc::make_mut(lesson);
            lesson.uses += 1;
            lesson.last_used = Some(seq);
            by_person |= lesson.edited_by_person;
        }
        by_person
    }

    /// Lessons of scope episode end with their episode: they leave the pool, so that it does not grow with the run.
    pub(super) fn remove_episode_lessons(&mut self) {
        if self.all().any(|l| l.scope == Scope::Episode) {
            Arc::make_mut(&mut self.lessons).retain(|l| l.scope != Scope::Episode);
        }
    }

    fn edit_lesson(&mut self, id: &LessonId, change: impl FnOnce(&mut Lesson)) {
        let Some(place) = self.lessons.iter().position(|l| &l.id == id) else { return };
        if let Some(lesson) = Arc::make_mut(&mut self.lessons).get_mut(place) {
            change(Arc::make_mut(lesson));
        }
    }

    fn reorder(&mut self, id: &LessonId, to: usize) {
        let Some(moved) = self.lessons.iter().find(|l| &l.id == id).cloned() else { return };
        let rest: Vec<_> = self.lessons.iter().filter(|l| &l.id != id).cloned().collect();
        let visible = |l: &Lesson| l.kind == moved.kind && l.status != LessonStatus::Retired;
        let at = rest.iter().enumerate().filter(|(_, l)| visible(l)).nth(to).map_or_else(
            || rest.iter().rposition(|l| visible(l)).map_or(rest.len(), |p| p + 1),
            |(place, _)| place,
        );
        let mut lessons = rest;
        lessons.insert(at, moved);
        self.lessons = Arc::new(lessons);
    }
}
