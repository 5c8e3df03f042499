//! The lesson pool: the lessons in force and those that were.
//!
//! What a step needs (the lessons of a kind in force, one lesson by its id, those of a rule or of the same words) is found
//! by index, so that a step's work does not grow with the lessons that are off, deleted or of another kind.

use crate::domain::{Author, Kind, Lesson, LessonId, LessonOp, LessonStatus, LessonVersion, Scope, Seq};
use rpds::{HashTrieMapSync, RedBlackTreeMapSync, RedBlackTreeSetSync};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All lessons of a session, in the order in which prompts show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// By rank: what shows earlier has a smaller one.
    lessons: RedBlackTreeMapSync<u64, Arc<Lesson>>,
    ranks: HashTrieMapSync<LessonId, u64>,
    /// Those that are not retired.
    visible: RedBlackTreeSetSync<(Kind, u64)>,
    in_force: RedBlackTreeSetSync<(Kind, u64)>,
    /// Retired ones too.
    by_rule: RedBlackTreeSetSync<(Kind, String, u64)>,
    /// By what they say ([`LessonText::said`](crate::domain::LessonText::said)), the visible ones.
    by_words: RedBlackTreeSetSync<(Kind, String, u64)>,
    /// Those that end with the episode.
    of_episode: RedBlackTreeSetSync<u64>,
    /// How many there ever were.
    added: u32,
}

impl Pool {
    /// Every lesson, retired ones too.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.lessons.keys().filter_map(|rank| self.at(*rank))
    }

    fn at(&self, rank: u64) -> Option<&Lesson> {
        #[cfg(test)]
        tests::LOOKED.with(|n| n.set(n.get() + 1));
        self.lessons.get(&rank).map(Arc::as_ref)
    }

    /// The lessons a person sees: all but the retired, of one kind.
    pub fn of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.visible.range((kind, 0)..=(kind, u64::MAX)).filter_map(|(_, rank)| self.at(*rank))
    }

    /// The lessons that enter the next prompt, of one kind.
    pub fn in_force(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Lesson> {
        self.in_force.range((kind, 0)..=(kind, u64::MAX)).filter_map(|(_, rank)| self.at(*rank))
    }

    /// The lessons that a rule wrote, of one kind, retired ones too.
    pub fn of_rule(&self, kind: Kind, rule: &str) -> impl Iterator<Item = &Lesson> {
        self.under(&self.by_rule, kind, rule)
    }

    /// The lessons of one kind that say this ([`LessonText::said`](crate::domain::LessonText::said)), but the retired.
    pub fn saying(&self, kind: Kind, said: &str) -> impl Iterator<Item = &Lesson> {
        self.under(&self.by_words, kind, said)
    }

    fn under(
        &self,
        index: &RedBlackTreeSetSync<(Kind, String, u64)>,
        kind: Kind,
        key: &str,
    ) -> impl Iterator<Item = &Lesson> {
        let ends = (kind, key.to_owned(), 0)..=(kind, key.to_owned(), u64::MAX);
        let ranks: Vec<u64> = index.range(ends).map(|(_, _, rank)| *rank).collect();
        ranks.into_iter().filter_map(|rank| self.at(rank))
    }

    /// A lesson by its id.
    pub fn get(&self, id: &LessonId) -> Option<&Lesson> {
        self.at(*self.ranks.get(id)?)
    }

    /// A lesson by its short number.
    pub fn numbered(&self, number: u32) -> Option<&Lesson> {
        self.all().find(|l| l.number == number)
    }

    /// Place of a lesson among the visible ones of its kind, counted from 0.
    pub fn place(&self, id: &LessonId) -> Option<usize> {
        let kind = self.get(id)?.kind;
        self.of(kind).position(|l| &l.id == id)
    }

    /// How many there are, retired ones too.
    pub fn len(&self) -> usize {
        self.lessons.size()
    }

    /// There is no lesson at all.
    pub fn is_empty(&self) -> bool {
        self.lessons.is_empty()
    }

    /// Folds a change. A change of a lesson that is not there is inert.
    pub(super) fn apply(&mut self, op: &LessonOp, seq: Seq, learnt_at: (u32, u32), by: Author) {
        if by == Author::Person {
            self.change(op.id(), |l| l.by_person = true);
        }
        match op {
            LessonOp::Add { id, kind, scope, origin, text, evidence, rule } => {
                self.added += 1;
                let number = self.added;
                let rank = self.lessons.last().map_or(0, |(last, _)| last + 1);
                self.insert(
                    rank,
                    Arc::new(Lesson {
                        id: id.clone(),
                        number,
                        kind: *kind,
                        scope: *scope,
                        origin: *origin,
                        status: LessonStatus::On,
                        versions: vec![LessonVersion { seq, text: text.clone() }],
                        learnt_at,
                        evidence: evidence.clone(),
                        rule: rule.clone(),
                        recurred: 0,
                        by_person: by == Author::Person,
                        uses: 0,
                        last_used: None,
                    }),
                );
            }
            LessonOp::Recur { id } => self.change(id, |l| l.recurred += 1),
            LessonOp::Edit { id, text, .. } => {
                self.change(id, |l| {
                    l.versions.push(LessonVersion { seq, text: text.clone() });
                    // The words in force are those of this turn. The episode stays: a lesson reaches from the task it
                    // was learnt in, wherever somebody words it anew.
                    if l.learnt_at.0 == learnt_at.0 {
                        l.learnt_at = learnt_at;
                    }
                });
            }
            LessonOp::Status { id, status, .. } => self.change(id, |l| l.status = *status),
            LessonOp::Rescope { id, scope, .. } => self.change(id, |l| l.scope = *scope),
            LessonOp::Move { id, to, .. } => self.reorder(id, *to),
        }
    }

    /// Counts a use in a prompt; says whether a person had a hand in the lesson.
    pub(super) fn used(&mut self, id: &LessonId, seq: Seq) -> bool {
        let mut by_person = false;
        self.change(id, |l| {
            l.uses += 1;
            l.last_used = Some(seq);
            by_person = l.by_person;
        });
        by_person
    }

    /// Lessons of scope episode end with their episode: they leave the pool, so that it does not grow with the run.
    pub(super) fn end_episode(&mut self) {
        for rank in &self.of_episode.clone() {
            self.remove(*rank);
        }
    }

    fn change(&mut self, id: &LessonId, change: impl FnOnce(&mut Lesson)) {
        let Some(rank) = self.ranks.get(id).copied() else { return };
        let Some(old) = self.lessons.get(&rank) else { return };
        let mut lesson = Lesson::clone(old);
        change(&mut lesson);
        // A use in a prompt, by far the most frequent change, moves nothing in the indexes.
        if Keys::of(old) == Keys::of(&lesson) {
            self.lessons.insert_mut(rank, Arc::new(lesson));
        } else {
            self.remove(rank);
            self.insert(rank, Arc::new(lesson));
        }
    }

    fn insert(&mut self, rank: u64, lesson: Arc<Lesson>) {
        let kind = lesson.kind;
        self.ranks.insert_mut(lesson.id.clone(), rank);
        if lesson.status != LessonStatus::Retired {
            self.visible.insert_mut((kind, rank));
            self.by_words.insert_mut((kind, lesson.text().said(), rank));
        }
        if lesson.in_force() {
            self.in_force.insert_mut((kind, rank));
        }
        if let Some(rule) = &lesson.rule {
            self.by_rule.insert_mut((kind, rule.clone(), rank));
        }
        if lesson.scope == Scope::Episode {
            self.of_episode.insert_mut(rank);
        }
        self.lessons.insert_mut(rank, lesson);
    }

    fn remove(&mut self, rank: u64) {
        let Some(lesson) = self.lessons.get(&rank).cloned() else { return };
        let kind = lesson.kind;
        self.lessons.remove_mut(&rank);
        self.ranks.remove_mut(&lesson.id);
        self.visible.remove_mut(&(kind, rank));
        self.in_force.remove_mut(&(kind, rank));
        self.by_words.remove_mut(&(kind, lesson.text().said(), rank));
        if let Some(rule) = &lesson.rule {
            self.by_rule.remove_mut(&(kind, rule.clone(), rank));
        }
        self.of_episode.remove_mut(&rank);
    }

    /// Only a person moves lessons: all get new ranks.
    fn reorder(&mut self, id: &LessonId, to: usize) {
        let Some(moved) = self.ranks.get(id).and_then(|rank| self.lessons.get(rank)).cloned() else { return };
        let rest: Vec<_> = self.lessons.values().filter(|l| &l.id != id).cloned().collect();
        let visible = |l: &Lesson| l.kind == moved.kind && l.status != LessonStatus::Retired;
        let at = rest.iter().enumerate().filter(|(_, l)| visible(l)).nth(to).map_or_else(
            || rest.iter().rposition(|l| visible(l)).map_or(rest.len(), |p| p + 1),
            |(place, _)| place,
        );
        let mut lessons = rest;
        lessons.insert(at, moved);
        *self = Self { added: self.added, ..Self::default() };
        for (rank, lesson) in (0..).zip(lessons) {
            self.insert(rank, lesson);
        }
    }
}

/// What the indexes know of a lesson.
#[derive(PartialEq)]
struct Keys<'a> {
    status: LessonStatus,
    scope: Scope,
    text: &'a crate::domain::LessonText,
}

impl<'a> Keys<'a> {
    fn of(lesson: &'a Lesson) -> Self {
        Self { status: lesson.status, scope: lesson.scope, text: lesson.text() }
    }
}

#[cfg(test)]
mod tests;
