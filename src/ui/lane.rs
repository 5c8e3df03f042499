//! The lesson lanes of each method: which kinds of lessons a lane shows, and in which format.

use crate::domain::{Lesson, LessonStatus, ReflectionKind, Scope};
use crate::engine::State;

/// How a lane shows its lessons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFormat {
    /// Text and source; an Error lesson has its solution below.
    Plain,
    /// Sweet&Sour's memory tuples: reflection, observation, action and reward; short-term memory first.
    MemoryTuples,
    /// The plan of the planning method: one numbered row per action, with a mark on the next one to run.
    Actions,
    /// Lessons whose kind has no lane in this method, each labelled with its kind.
    Other,
}

/// A list of lessons of certain kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub title: &'static str,
    /// The kinds of lessons in this lane. A lesson that is added in the lane gets the first kind.
    pub kinds: &'static [ReflectionKind],
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
    format: LaneFormat::MemoryTuples,
};

/// All kinds but plans, for methods whose only other lane shows plans.
const OTHER_THAN_PLANS: Lane = other_lane(&[
    ReflectionKind::Abstract,
    ReflectionKind::Error,
    ReflectionKind::Progress,
    ReflectionKind::Experience,
    ReflectionKind::Lesson,
    ReflectionKind::Positive,
    ReflectionKind::Negative,
    ReflectionKind::Advice,
]);

const REFLEXION_LANES: &[Lane] = &[plain_lane("Plans", &[ReflectionKind::Plan]), OTHER_THAN_PLANS];
const PLANNING_LANES: &[Lane] =
    &[Lane { title: "Plan", kinds: &[ReflectionKind::Plan], format: LaneFormat::Actions }, OTHER_THAN_PLANS];
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

/// Returns a method's lanes in screen order. The last one, "Other", is shown only if the pool has a lesson for it.
pub fn lanes_for_method(method: &str) -> &'static [Lane] {
    match method {
        "reflexion" => REFLEXION_LANES,
        "planning" => PLANNING_LANES,
        "fcrf" => FCRF_LANES,
        "sweet_sour" => SWEET_SOUR_LANES,
        _ => DEFAULT_LANES,
    }
}

/// Returns the number of lanes on screen: the last one counts only if the pool has a lesson for it.
pub(super) fn visible_lane_count(method: &str, state: &State) -> usize {
    let lanes = lanes_for_method(method);
    let Some((other_lane, own_lanes)) = lanes.split_last() else { return 0 };
    let shows_other = state.pool.all().any(|l| other_lane.can_show(l));
    own_lanes.len() + usize::from(shows_other)
}

impl Lane {
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
