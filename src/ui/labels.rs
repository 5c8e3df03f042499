//! Short texts for values of the domain, the same in every part of the screen.

use crate::domain::{LessonOrigin, Scope};
use crate::engine::State;

/// Returns the label of a scope.
pub(crate) fn scope_label(scope: Scope) -> &'static str {
    match scope {
        Scope::Episode => "this episode",
        Scope::Task => "this task",
        Scope::TaskType => "tasks of this type",
        Scope::Environment => "the environment",
    }
}

/// Returns the label of a lesson's origin.
pub(crate) fn origin_label(origin: LessonOrigin) -> &'static str {
    match origin {
        LessonOrigin::Symbolic => "symbolic rules",
        LessonOrigin::Mentor => "the mentor",
        LessonOrigin::Person => "you",
        LessonOrigin::File => "the pool file loaded at start",
    }
}

/// Returns a progress rate as text: `2/4` if the number of subgoals is known, else a percentage.
pub fn progress_text(progress: f64, state: &State) -> String {
    match subgoal_count(state) {
        Some(n) => format!("{}/{n}", (progress * n as f64).round() as u64),
        None => format!("{:.0} %", progress * 100.0),
    }
}

/// Returns the number of the task's subgoals, if the environment reports it or the task type has a fixed number.
pub fn subgoal_count(state: &State) -> Option<u64> {
    let episode = state.episode.as_ref()?;
    // A number, or the subgoals themselves.
    let from = |value: &serde_json::Value| {
        let subgoals = value.get("subgoals")?;
        subgoals.as_u64().or_else(|| Some(subgoals.as_object()?.len() as u64))
    };
    // The number of AgentBoard's patterns for each of the six task types, including the goal itself (`docs/`,
    // progress rate).
    let from_task_type = || match episode.task.task_type.as_deref()? {
        "pick_and_place_simple" => Some(3),
        "look_at_obj_in_light"
        | "pick_clean_then_place_in_recep"
        | "pick_heat_then_place_in_recep"
        | "pick_cool_then_place_in_recep"
        | "pick_two_obj_and_place" => Some(4),
        _ => None,
    };
    from(&episode.shown).or_else(from_task_type).filter(|n| (1..=12).contains(n))
}
