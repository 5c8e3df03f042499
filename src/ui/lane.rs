//! The lanes of each method: which kinds of lessons stand in which, and how.

use crate::domain::{Lesson, LessonStatus, ReflectionKind, Scope};
use crate::engine::State;

/// How the lessons of a lane are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFormat {
    /// Text and source; an Error has its solution below.
    Plain,
    /// Sweet&Sour's memories: the reflection, what the agent saw, what it did, and its reward; short-term memory first.
    Tuples,
    /// The plan of planning-only: its actions, a numbered row each, with a mark at the one that is taken.
    Actions,
    /// Lessons of kinds that the method has no lane for, each named by its kind.
    Other,
}

/// A lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its title.
    pub title: &'static str,
    /// The kinds it holds; the first is that of a lesson that is added here.
    pub kinds: &'static [ReflectionKind],
    /// How they are shown.
    pub format: LaneFormat,
}

const fn plain_lane(title: &'static str, kinds: &'static [ReflectionKind]) -> Lane {
    Lane { title, kinds, format: LaneFormat::Plain }
}

const fn other_lane(kinds: &'static [ReflectionKind]) -> Lane {
    Lane { title: "Other", kinds, format: LaneFormat::Other }
}

const ABSTRACT: Lane = plain_lane("Abstract", &[ReflectionKind::Abstract]);
const ERROR: Lane = plain_lane("Error", &[ReflectionKind::Error]);
const PROGRESS: Lane = plain_lane("Progress", &[ReflectionKind::Progress]);
const MEMORY: Lane = Lane {
    title: "Memory",
    kinds: &[ReflectionKind::Positive, ReflectionKind::Negative],
    format: LaneFormat::Tuples,
};

/// What has no lane where plans alone have one.
const ALL_BUT_PLANS: Lane = other_lane(&[
    ReflectionKind::Abstract,
    ReflectionKind::Error,
    ReflectionKind::Progress,
    ReflectionKind::Experience,
    ReflectionKind::Lesson,
    ReflectionKind::Positive,
    ReflectionKind::Negative,
    ReflectionKind::Advice,
]);

const REFLEXION_LANES: &[Lane] = &[plain_lane("Plans", &[ReflectionKind::Plan]), ALL_BUT_PLANS];
const PLANNING_LANES: &[Lane] =
    &[Lane { title: "Plan", kinds: &[ReflectionKind::Plan], format: LaneFormat::Actions }, ALL_BUT_PLANS];
const FCRF_LANES: &[Lane] = &[
    plain_lane("Experience", &[ReflectionKind::Experience]),
    plain_lane("Lessons", &[ReflectionKind::Lesson]),
    plain_lane("Plan", &[ReflectionKind::Plan]),
    other_lane(&[
        ReflectionKind::Abstract,
        ReflectionKind::Error,
        ReflectionKind::Progress,
        ReflectionKind::Positive,
        ReflectionKind::Negative,
        ReflectionKind::Advice,
    ]),
];
const SWEET_SOUR_LANES: &[Lane] = &[
    plain_lane("Sweet", &[ReflectionKind::Positive]),
    plain_lane("Sour", &[ReflectionKind::Negative]),
    MEMORY,
    other_lane(&[
        ReflectionKind::Abstract,
        ReflectionKind::Error,
        ReflectionKind::Progress,
        ReflectionKind::Plan,
        ReflectionKind::Experience,
        ReflectionKind::Lesson,
        ReflectionKind::Advice,
    ]),
];
const DEFAULT_LANES: &[Lane] = &[
    ABSTRACT,
    ERROR,
    PROGRESS,
    other_lane(&[
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
pub fn lanes_for_method(method: &str) -> &'static [Lane] {
    match method {
        "reflexion" => REFLEXION_LANES,
        "planning" => PLANNING_LANES,
        "fcrf" => FCRF_LANES,
        "sweet_sour" => SWEET_SOUR_LANES,
        _ => DEFAULT_LANES,
    }
}

/// The lanes that are shown of a method's, with the last where the pool needs it.
pub(super) fn visible_lane_count(method: &str, state: &State) -> usize {
    let lanes = lanes_for_method(method);
    let Some((rest, own)) = lanes.split_last() else { return 0 };
    let needed = state.pool.all().any(|l| rest.can_show(l));
    own.len() + usize::from(needed)
}

impl Lane {
    /// A lesson that is shown here: all of its kinds but the retired.
    pub fn can_show(&self, lesson: &Lesson) -> bool {
        self.kinds.contains(&lesson.kind) && lesson.status != LessonStatus::Retired
    }

    /// Its lessons.
    pub fn lessons<'a>(&self, state: &'a State) -> impl DoubleEndedIterator<Item = &'a Lesson> + use<'a> {
        let lane = *self;
        state.pool.all().filter(move |l| lane.can_show(l))
    }

    /// Its lessons from the top: the last in the prompt, which is the newest unless somebody moved it, first; short-term
    /// memory before long-term.
    pub fn newest_first<'a>(&self, state: &'a State) -> Vec<&'a Lesson> {
        let mut lessons: Vec<&Lesson> = self.lessons(state).rev().collect();
        if self.format == LaneFormat::Tuples {
            lessons.sort_by_key(|l| l.scope != Scope::Episode);
        }
        lessons
    }
}
