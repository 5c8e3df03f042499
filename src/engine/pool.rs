//! The lesson pool: all lessons of a session, including retired ones.

use crate::domain::{
    Author, Lesson, LessonEdit, LessonId, LessonOp, LessonStatus, LessonVersion, ReflectionKind, Scope, Seq,
    Task,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All lessons of a session, in the order in which prompts show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    lessons: Arc<Vec<Arc<Lesson>>>,
    /// The lessons of episode scope that a person wrote or edited, each with the episode with which it left the pool.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    ended: Arc<[(u32, Arc<Lesson>)]>,
    /// Number of lessons ever added.
    added: u32,
    /// The source of the lessons that are being loaded, or were loaded last: a pool file or a replayed episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<Arc<str>>,
}

impl Pool {
    /// Returns every lesson, including retired ones.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.lessons.iter().map(Arc::as_ref)
    }

    /// Returns the lessons of a person that left the pool, each with the episode after which it did.
    pub fn ended(&self) -> impl Iterator<Item = (u32, &Lesson)> {
        self.ended.iter().map(|(episode, lesson)| (*episode, &**lesson))
    }

    /// Returns the active lessons that outlast an episode: those that are saved with a whole pool.
    pub fn lasting(&self) -> impl Iterator<Item = &Lesson> {
        self.all().filter(|lesson| lesson.is_active() && lesson.scope != Scope::Episode)
    }

    /// Returns the lessons of one kind that the screen lists: all but the retired ones.
    pub fn visible_of_kind(&self, kind: ReflectionKind) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.all().filter(move |l| l.kind == kind && l.status != LessonStatus::Retired)
    }

    /// Returns the lessons of one kind that enter the next prompt.
    pub fn active_of_kind(&self, kind: ReflectionKind) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.visible_of_kind(kind).filter(|l| l.is_active())
    }

    /// Returns the lessons of one kind that a rule wrote, including retired ones.
    pub fn by_rule(&self, kind: ReflectionKind, rule: &str) -> impl Iterator<Item = &Lesson> {
        self.all().filter(move |l| l.kind == kind && l.rule.as_deref() == Some(rule))
    }

    /// Returns the lessons of one kind with this text
    /// ([`LessonText::normalized`](crate::domain::LessonText::normalized)), except for retired ones.
    pub fn with_normalized_text(
        &self,
        kind: ReflectionKind,
        normalized: &str,
    ) -> impl Iterator<Item = &Lesson> {
        self.visible_of_kind(kind).filter(move |l| l.text().normalized() == normalized)
    }

    /// Returns a lesson by its id.
    pub fn get(&self, id: &LessonId) -> Option<&Lesson> {
        self.all().find(|l| &l.id == id)
    }

    /// Finds a lesson by its id and returns it with its index among all lessons. Searches from index `from` to the end,
    /// then from the beginning. A prompt lists its lessons mostly in pool order, so a caller that looks them up one
    /// after the other, each from the index after the previous one, seldom scans the whole pool.
    pub fn find_from(&self, from: usize, id: &LessonId) -> Option<(usize, &Lesson)> {
        let from = from.min(self.lessons.len());
        let (before, after) = self.lessons.split_at(from);
        let found = after.iter().position(|l| l.id == *id).map(|offset| from + offset);
        let index = found.or_else(|| before.iter().position(|l| l.id == *id))?;
        Some((index, self.lessons.get(index)?))
    }

    /// Returns a lesson by its short number.
    pub fn by_number(&self, number: u32) -> Option<&Lesson> {
        self.all().find(|l| l.number == number)
    }

    /// Returns the position of a lesson among the visible ones of its kind, counted from 0.
    pub fn position(&self, id: &LessonId) -> Option<usize> {
        let kind = self.get(id)?.kind;
        self.visible_of_kind(kind).position(|l| &l.id == id)
    }

    /// Returns the number of lessons, including retired ones.
    pub fn len(&self) -> usize {
        self.lessons.len()
    }

    /// Returns whether there is no lesson at all.
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// Sets the source from which the following lessons are loaded.
    pub(super) fn set_source_file(&mut self, file: &str) {
        self.file = Some(file.into());
    }

    /// Applies an operation. An operation on a lesson that doesn't exist has no effect. `position` is the current
    /// episode and step.
    pub(super) fn apply(&mut self, op: &LessonOp, seq: Seq, position: (u32, u32), author: Author) {
        if author == Author::Person && !matches!(op, LessonOp::Measured { .. }) {
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
                transition,
                task_key,
                task_type,
                pinned,
                taken_from,
                sources,
            } => {
                self.added += 1;
                let number = self.added;
                Arc::make_mut(&mut self.lessons).push(Arc::new(Lesson {
                    id: id.clone(),
                    number,
                    kind: *kind,
                    scope: *scope,
                    origin: *origin,
                    status: if *pinned { LessonStatus::Pinned } else { LessonStatus::On },
                    versions: Arc::new(vec![LessonVersion { seq, text: text.clone(), edit: None, uses: 0 }]),
                    learnt_at: position,
                    file: self.file.clone().filter(|_| author == Author::File),
                    evidence: evidence.as_str().into(),
                    rule: rule.as_deref().map(Arc::from),
                    parents: parents.as_slice().into(),
                    transition: transition.clone().map(Arc::new),
                    task_key: task_key.as_deref().map(Arc::from),
                    task_type: task_type.as_deref().map(Arc::from),
                    taken_from: taken_from.as_deref().map(Arc::from),
                    sources: sources.as_deref().map(Arc::from),
                    recurrences: 0,
                    edited_by_person: author == Author::Person,
                    own_scope: None,
                    uses: 0,
                    last_used: None,
                    first_shown: None,
                    measured: Arc::default(),
                }));
            }
            LessonOp::Recur { id } => self.edit_lesson(id, |l| l.recurrences += 1),
            LessonOp::Measured { id, measured } => self.edit_lesson(id, |l| {
                l.measured = l.measured.iter().cloned().chain([(**measured).clone()]).collect();
            }),
            LessonOp::Edit { id, text, .. } => {
                self.edit_lesson(id, |l| {
                    let edit = Some(LessonEdit { author, at: position });
                    let versions = Arc::make_mut(&mut l.versions);
                    let earlier: u32 = versions.iter().map(|version| version.uses).sum();
                    if let Some(replaced) = versions.last_mut() {
                        replaced.uses = l.uses - earlier;
                    }
                    versions.push(LessonVersion { seq, text: text.clone(), edit, uses: 0 });
                    l.first_shown = None;
                });
            }
            LessonOp::Status { id, status, .. } => self.edit_lesson(id, |l| l.status = *status),
            LessonOp::Rescope { id, scope, .. } => self.edit_lesson(id, |l| {
                l.own_scope = (author == Author::Person).then(|| l.own_scope.unwrap_or(l.scope));
                l.scope = *scope;
            }),
            LessonOp::Move { id, to, .. } => self.reorder(id, *to),
        }
    }

    /// Makes a task that of a lesson that wasn't learnt in this run, when a person limits its scope there.
    pub(super) fn limit_to_task(&mut self, id: &LessonId, task: &Task) {
        self.edit_lesson(id, |l| match l.scope {
            Scope::Task => l.task_key = Some(task.key().into()),
            Scope::TaskType => l.task_type = task.task_type.as_deref().map(Arc::from),
            Scope::Episode | Scope::Environment => {}
        });
    }

    /// Sets the episode and step at which a loaded lesson was learnt in the session it comes from.
    pub(super) fn set_learnt_at(&mut self, id: &LessonId, learnt_at: (u32, u32)) {
        self.edit_lesson(id, |l| l.learnt_at = learnt_at);
    }

    /// Marks a lesson as edited by a person.
    pub(super) fn mark_edited_by_person(&mut self, id: &LessonId) {
        self.edit_lesson(id, |l| l.edited_by_person = true);
    }

    /// Marks the lessons in a prompt to the actor that no such prompt has shown in their present wording. Returns the
    /// numbers of those among them that a person wrote or edited.
    pub(super) fn mark_shown<'a>(&mut self, ids: impl Iterator<Item = &'a LessonId>, seq: Seq) -> Vec<u32> {
        let mut by_person = Vec::new();
        let mut next = 0;
        for id in ids {
            let Some((index, lesson)) = self.find_from(next, id) else { continue };
            next = index + 1;
            if lesson.first_shown.is_some() {
                continue;
            }
            let Some(lesson) = Arc::make_mut(&mut self.lessons).get_mut(index).map(Arc::make_mut) else {
                continue;
            };
            lesson.first_shown = Some(seq);
            by_person.extend(lesson.edited_by_person.then_some(lesson.number));
        }
        by_person
    }

    /// Counts one use in a prompt for each of these lessons. Returns whether a person has edited any of them.
    pub(super) fn count_uses<'a>(&mut self, ids: impl Iterator<Item = &'a LessonId>, seq: Seq) -> bool {
        let mut any_edited = false;
        let mut next = 0;
        for id in ids {
            let Some((index, _)) = self.find_from(next, id) else { continue };
            next = index + 1;
            let Some(lesson) = Arc::make_mut(&mut self.lessons).get_mut(index) else { continue };
            let lesson = Arc::make_mut(lesson);
            lesson.uses += 1;
            lesson.last_used = Some(seq);
            any_edited |= lesson.edited_by_person;
        }
        any_edited
    }

    /// Removes the lessons with the scope of the episode that has ended. Called when the next one starts, so that the pool
    /// doesn't grow with every episode.
    pub(super) fn remove_episode_lessons(&mut self, episode: u32) {
        if self.all().any(|l| l.scope == Scope::Episode) {
            let is_kept = |l: &&Arc<Lesson>| l.scope == Scope::Episode && l.edited_by_person;
            let ended = self.lessons.iter().filter(is_kept).map(|l| (episode, l.clone()));
            self.ended = self.ended.iter().cloned().chain(ended).collect();
            Arc::make_mut(&mut self.lessons).retain(|l| l.scope != Scope::Episode);
        }
    }

    /// Returns the pool as it would be with a lesson on or off. A lesson that is on has its given wording; one that the
    /// pool lacks is appended.
    pub(super) fn with_lesson(mut self, lesson: &Lesson, is_on: bool) -> Self {
        if !is_on {
            self.edit_lesson(&lesson.id, |own| own.status = LessonStatus::Off);
            return self;
        }
        let lessons = Arc::make_mut(&mut self.lessons);
        let lesson = Arc::new(Lesson { status: LessonStatus::On, ..lesson.clone() });
        match lessons.iter().position(|own| own.id == lesson.id) {
            Some(index) => lessons[index] = lesson,
            None => lessons.push(lesson),
        }
        self
    }

    fn edit_lesson(&mut self, id: &LessonId, change: impl FnOnce(&mut Lesson)) {
        let Some(index) = self.lessons.iter().position(|l| &l.id == id) else { return };
        if let Some(lesson) = Arc::make_mut(&mut self.lessons).get_mut(index) {
            change(Arc::make_mut(lesson));
        }
    }

    fn reorder(&mut self, id: &LessonId, to: usize) {
        let Some(moved) = self.lessons.iter().find(|l| &l.id == id).cloned() else { return };
        let rest: Vec<_> = self.lessons.iter().filter(|l| &l.id != id).cloned().collect();
        let visible = |l: &Lesson| l.kind == moved.kind && l.status != LessonStatus::Retired;
        let index = rest.iter().enumerate().filter(|(_, l)| visible(l)).nth(to).map_or_else(
            || rest.iter().rposition(|l| visible(l)).map_or(rest.len(), |p| p + 1),
            |(index, _)| index,
        );
        let mut lessons = rest;
        lessons.insert(index, moved);
        self.lessons = Arc::new(lessons);
    }
}
