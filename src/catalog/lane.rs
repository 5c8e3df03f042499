//! A lesson lane: which kinds of lessons it shows, and in which format.

use super::lanes_for_method;
use crate::domain::{Lesson, LessonStatus, ReflectionKind, Scope};
use crate::engine::State;

/// How a lane shows its lessons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFormat {
    /// Text and source; an Error lesson has its solution below.
    Plain,
    /// Memory tuples: reflection, observation, action and reward; short-term memory first.
    MemoryTuples,
    /// A plan: one numbered row per action, with a mark on the one that
    /// [`current_action`](super::MethodEntry::current_action) names.
    Actions,
    /// What the method records, such as rewards; it enters no prompt.
    Record,
    /// Lessons whose kind has no lane in this method, each labelled with its kind.
    Other,
}

/// Returns the kinds of the lessons in a method's own lanes, in the order of the lanes.
pub fn lesson_kinds(method: &str) -> Vec<ReflectionKind> {
    let mut kinds = Vec::new();
    for lane in lanes_for_method(method).iter().filter(|lane| lane.format != LaneFormat::Other) {
        for kind in lane.kinds.iter().filter(|kind| !kinds.contains(*kind)).collect::<Vec<_>>() {
            kinds.push(*kind);
        }
    }
    kinds
}

/// Returns the first kind of a method whose lessons are advice, if it has one.
pub fn advice_kind(method: &str) -> Option<ReflectionKind> {
    const ADVICE: [ReflectionKind; 5] = [
        ReflectionKind::Abstract,
        ReflectionKind::Lesson,
        ReflectionKind::Plan,
        ReflectionKind::Positive,
        ReflectionKind::Advice,
    ];
    let kinds = lesson_kinds(method);
    ADVICE.into_iter().find(|kind| kinds.contains(kind))
}

/// Returns the kind that a person's new lesson has if none is chosen: advice, else the first of the method.
pub fn kind_of_new_lesson(method: &str) -> ReflectionKind {
    let first = || lesson_kinds(method).first().copied();
    advice_kind(method).or_else(first).unwrap_or(ReflectionKind::Abstract)
}

/// A list of lessons of certain kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub title: &'static str,
    /// The kinds of lessons in this lane. A lesson that is added in the lane gets the first kind, unless it would end with the episode.
    pub kinds: &'static [ReflectionKind],
    pub format: LaneFormat,
}

impl Lane {
    pub(super) const ABSTRACT: Self = Self::plain("Abstract", &[ReflectionKind::Abstract]);
    pub(super) const ERROR: Self = Self::plain("Error", &[ReflectionKind::Error]);
    pub(super) const PROGRESS: Self = Self::plain("Progress", &[ReflectionKind::Progress]);

    /// Creates a lane that shows texts and sources.
    pub const fn plain(title: &'static str, kinds: &'static [ReflectionKind]) -> Self {
        Self { title, kinds, format: LaneFormat::Plain }
    }

    /// Returns these lanes of a method, and after them the lane "Other" for all kinds of lessons that none of them shows.
    pub(super) fn with_other(own: &[Self]) -> Vec<Self> {
        let is_shown = |kind: &ReflectionKind| own.iter().any(|lane| lane.kinds.contains(kind));
        let kinds: Vec<ReflectionKind> =
            ReflectionKind::ALL.into_iter().filter(|kind| !is_shown(kind)).collect();
        // Computed once for each method of the program.
        let other = Self { title: "Other", kinds: kinds.leak(), format: LaneFormat::Other };
        own.iter().copied().chain([other]).collect()
    }

    /// Returns whether the lane shows a lesson: it has one of the lane's kinds and isn't retired.
    pub fn can_show(&self, lesson: &Lesson) -> bool {
        self.kinds.contains(&lesson.kind) && lesson.status != LessonStatus::Retired
    }

    /// Returns the lane's lessons in prompt order.
    pub fn lessons<'a>(&self, state: &'a State) -> impl DoubleEndedIterator<Item = &'a Lesson> + use<'a> {
        let lane = *self;
        state.pool.all().filter(move |l| lane.can_show(l))
    }

    /// Returns the lessons in screen order, top first: reverse prompt order, which is newest first unless a lesson was
    /// moved. Short-term memory comes before long-term memory.
    pub fn newest_first<'a>(&self, state: &'a State) -> Vec<&'a Lesson> {
        let mut lessons: Vec<&Lesson> = self.lessons(state).rev().collect();
        if self.format == LaneFormat::MemoryTuples {
            lessons.sort_by_key(|l| l.scope != Scope::Episode);
        }
        lessons
    }
}
