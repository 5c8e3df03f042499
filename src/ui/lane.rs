//! The lanes of each method: which kinds of lessons stand in which, and how.

use crate::domain::{Lesson, LessonStatus, ReflectionKind, Scope};
use crate::engine::State;

/// How the lessons of a lane are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text and source; an Error has its solution below.
    Plain,
    /// Sweet&Sour's memories: the reflection, what the agent saw, what it did, and its reward; short-term memory first.
    Tuples,
    /// The plan of planning-only: its actions, a numbered row each, with a mark at the one that is taken.
    Actions,
    /// Lessons of kinds that the method has no lane for, each named by its kind.
    Rest,
}

/// A lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its title.
    pub title: &'static str,
    /// The kinds it holds; the first is that of a lesson that is added here.
    pub kinds: &'static [ReflectionKind],
    /// How they are shown.
    pub form: Form,
}

const fn plain(title: &'static str, kinds: &'static [ReflectionKind]) -> Lane {
    Lane { title, kinds, form: Form::Plain }
}

const fn rest(kinds: &'static [ReflectionKind]) -> Lane {
    Lane { title: "Other", kinds, form: Form::Rest }
}

const ABSTRACT: Lane = plain("Abstract", &[ReflectionKind::Abstract]);
const ERROR: Lane = plain("Error", &[ReflectionKind::Error]);
const PROGRESS: Lane = plain("Progress", &[ReflectionKind::Progress]);
const MEMORY: Lane = Lane {
    title: "Memory",
    kinds: &[ReflectionKind::Positive, ReflectionKind::Negative],
    form: Form::Tuples,
};

/// What has no lane where plans alone have one.
const BUT_PLANS: Lane = rest(&[
    ReflectionKind::Abstract,
    ReflectionKind::Error,
    ReflectionKind::Progress,
    ReflectionKind::Experience,
    ReflectionKind::Lesson,
    ReflectionKind::Positive,
    ReflectionKind::Negative,
    ReflectionKind::Advice,
]);

const OF_REFLEXION: &[Lane] = &[plain("Plans", &[ReflectionKind::Plan]), BUT_PLANS];
const OF_PLANNING: &[Lane] =
    &[Lane { title: "Plan", kinds: &[ReflectionKind::Plan], form: Form::Actions }, BUT_PLANS];
const OF_FCRF: &[Lane] = &[
    plain("Experience", &[ReflectionKind::Experience]),
    plain("Lessons", &[ReflectionKind::Lesson]),
    plain("Plan", &[ReflectionKind::Plan]),
    rest(&[
        ReflectionKind::Abstract,
        ReflectionKind::Error,
        ReflectionKind::Progress,
        ReflectionKind::Positive,
        ReflectionKind::Negative,
        ReflectionKind::Advice,
    ]),
];
const OF_SWEET_SOUR: &[Lane] = &[
    plain("Sweet", &[ReflectionKind::Positive]),
    plain("Sour", &[ReflectionKind::Negative]),
    MEMORY,
    rest(&[
        ReflectionKind::Abstract,
        ReflectionKind::Error,
        ReflectionKind::Progress,
        ReflectionKind::Plan,
        ReflectionKind::Experience,
        ReflectionKind::Lesson,
        ReflectionKind::Advice,
    ]),
];
const USUAL: &[Lane] = &[
    ABSTRACT,
    ERROR,
    PROGRESS,
    rest(&[
        ReflectionKind::Plan,
        ReflectionKind::Experience,
        ReflectionKind::Lesson,
        ReflectionKind::Positive,
        ReflectionKind::Negative,
        ReflectionKind::Advice,
    ]),
];

/// The lanes of a method, in their order on the screen. The last holds what the others have no place for, and is shown only
/// where there is such a lesson.
pub fn lanes_of(method: &str) -> &'static [Lane] {
    match method {
        "reflexion" => OF_REFLEXION,
        "planning" => OF_PLANNING,
        "fcrf" => OF_FCRF,
        "sweet_sour" => OF_SWEET_SOUR,
        _ => USUAL,
    }
}

/// The lanes that are shown of a method's, with the last where the pool needs it.
pub(super) fn lanes_in(method: &str, state: &State) -> usize {
    let lanes = lanes_of(method);
    let Some((rest, own)) = lanes.split_last() else { return 0 };
    let needed = state.pool.all().any(|l| rest.holds(l));
    own.len() + usize::from(needed)
}

impl Lane {
    /// A lesson that is shown here: all of its kinds but the retired.
    pub fn holds(&self, lesson: &Lesson) -> bool {
        self.kinds.contains(&lesson.kind) && lesson.status != LessonStatus::Retired
    }

    /// Its lessons.
    pub fn lessons<'a>(&self, state: &'a State) -> impl DoubleEndedIterator<Item = &'a Lesson> + use<'a> {
        let lane = *self;
        state.pool.all().filter(move |l| lane.holds(l))
    }

    /// Its lessons from the top: the last in the prompt, which is the newest unless somebody moved it, first; short-term
    /// memory before long-term.
    pub fn newest_first<'a>(&self, state: &'a State) -> Vec<&'a Lesson> {
        let mut lessons: Vec<&Lesson> = self.lessons(state).rev().collect();
        if self.form == Form::Tuples {
            lessons.sort_by_key(|l| l.scope != Scope::Episode);
        }
        lessons
    }
}
