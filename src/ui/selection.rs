//! The lesson that is selected in the lanes.

use crate::catalog::{self, Lane, LaneFormat};
use crate::domain::{Lesson, ReflectionKind, Scope};
use crate::engine::State;
use crate::ui::frame_data::Context;
use crate::ui::model::Model;
use crate::ui::types::Focus;

/// Returns the number of the selected lesson in a lane: the one that keys act on.
pub fn selected_lesson_number(model: &Model, state: &State, lane: &Lane) -> Option<u32> {
    let chosen = [&model.selected_lesson, &model.first_seen_lesson]
        .into_iter()
        .flatten()
        .find_map(|id| lane.lessons(state).find(|l| &l.id == id));
    let first = || match lane.format {
        LaneFormat::MemoryTuples => lane.newest_first(state).first().copied(),
        LaneFormat::Plain | LaneFormat::Actions | LaneFormat::Record | LaneFormat::Other => {
            lane.lessons(state).next_back()
        }
    };
    chosen.or_else(first).map(|l| l.number)
}

/// Returns the lesson that keys act on, if the selected lane has one.
pub(crate) fn selected_lesson<'a>(model: &Model, context: &Context<'a>) -> Option<&'a Lesson> {
    let lane = context.lanes().get(model.selected_lane_index(context))?;
    let state = context.displayed_state();
    state.pool.by_number(selected_lesson_number(model, state, lane)?)
}

/// Keeps the lesson selected that is selected now, so that a key acts on the lesson that the person saw, although newer ones
/// appear above it. Without focus nothing is marked as selected, and the lane shows the newest.
pub(crate) fn keep_selection(model: &mut Model, context: &Context<'_>) {
    if model.focus != Focus::Lanes {
        model.first_seen_lesson = None;
        return;
    }
    if model.lessons_before_added.is_some_and(|before| context.frame.head.pool.len() <= before) {
        return;
    }
    model.lessons_before_added = None;
    model.first_seen_lesson = selected_lesson(model, context).map(|lesson| lesson.id.clone());
}

/// Returns the kind of the selected lane; if the lane holds several kinds, that of the selected lesson.
pub(crate) fn selected_kind(model: &Model, context: &Context<'_>) -> ReflectionKind {
    let lane = context.lanes().get(model.selected_lane_index(context));
    let several =
        lane.filter(|l| l.kinds.len() > 1).and_then(|_| selected_lesson(model, context)).map(|l| l.kind);
    several.or_else(|| lane?.kinds.first().copied()).unwrap_or(ReflectionKind::Error)
}

/// Returns the kind that a person's new lesson has where its words leave it open: that of the focused lane, else advice.
///
/// In the Error lane a new lesson is advice, too, because a single sentence of kind Error reads as a mistake, not as advice. A
/// kind whose lessons end with the episode counts only if the person chooses it.
pub(crate) fn kind_of_new_lesson(model: &Model, context: &Context<'_>) -> ReflectionKind {
    let is_kept = |kind: &ReflectionKind| {
        *kind != ReflectionKind::Error && kind.scope_of_new_lesson() != Scope::Episode
    };
    let focused = (model.focus == Focus::Lanes).then(|| selected_kind(model, context)).filter(is_kept);
    focused.unwrap_or_else(|| catalog::kind_of_new_lesson(context.method()))
}
