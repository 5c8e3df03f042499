//! The trial status of a task, FCRF's reflection depth, and the texts of empty lanes.

use crate::domain::{LessonId, LessonOp, ReflectionKind, RunSpec};
use crate::engine::{State, UndoAction, UndoEntry};
use crate::method::{Depth, Difficulty};
use crate::ui::lane::{Lane, LaneFormat};

/// Returns the trial status, longest form first; empty if a task has one trial.
pub(super) fn trial_labels(state: &State, dot: &str) -> Vec<String> {
    let (Some(run), Some(episode)) = (&state.run, state.episode.as_deref()) else { return Vec::new() };
    if run.trials < 2 {
        return Vec::new();
    }
    let trial = format!("trial {}/{}", episode.trial, run.trials);
    match run.method.as_str() {
        "fcrf" => {}
        "reflexion" if episode.trial > 1 && has_last_attempt_in_prompt(run) => {
            return vec![format!("{trial} {dot} the last attempt is in the prompt"), trial];
        }
        _ => return vec![trial],
    }
    let difficulty = Difficulty::from_task(&episode.task);
    // FCRF's paper calls the numbers of trials followed by a simple and by an in-depth reflection k1 and k2.
    let (k1, k2) = difficulty.trials_by_depth_in_run(state);
    let depth = match difficulty.depth_for_trial(state, episode.trial) {
        Depth::Simple => "simple",
        Depth::InDepth => "in-depth",
    };
    let whole = format!("{trial}, {depth} (k1 {k1}, k2 {k2})");
    // The difficulty on screen is the number of objects and interactions that the task needs, at most 4.
    vec![format!("difficulty {} {dot} {whole}", difficulty.sum()), whole, format!("{trial}, {depth}"), trial]
}

/// Returns whether each trial's prompt contains the whole previous attempt.
fn has_last_attempt_in_prompt(run: &RunSpec) -> bool {
    matches!(run.settings.text("strategy", "reflexion"), "last-attempt" | "both")
}

/// Returns why a lane is empty.
pub(super) fn empty_lane_text(state: &State, lane: &Lane) -> String {
    if state.pool.all().any(|l| lane.kinds.contains(&l.kind)) {
        let undone = |id: &LessonId| {
            let is_undone_add = |e: &UndoEntry| matches!(&e.action, UndoAction::Lesson(LessonOp::Add { id: added, .. }) if added == id);
            state.redo_stack.iter().any(is_undone_add)
        };
        let mut here = state.pool.all().filter(|l| lane.kinds.contains(&l.kind));
        let text = if here.all(|l| undone(&l.id)) {
            "none left: all were undone"
        } else {
            "none left: all were deleted or undone"
        };
        return text.to_owned();
    }
    let Some(run) = &state.run else { return "no lessons yet".to_owned() };
    let off =
        |setting: &str| (!run.settings.flag(setting, true)).then(|| format!("disabled: {setting} is off"));
    let off = match (run.method.as_str(), lane.kinds) {
        ("omnireflect", [ReflectionKind::Abstract]) => off("kind_abstract"),
        ("omnireflect", [ReflectionKind::Error]) => off("kind_error"),
        ("omnireflect", [ReflectionKind::Progress]) => off("kind_progress"),
        ("fcrf", [ReflectionKind::Experience]) => off("experience"),
        ("sweet_sour", [ReflectionKind::Positive]) => off("positive"),
        ("sweet_sour", [ReflectionKind::Negative]) => off("negative"),
        _ => None,
    };
    off.unwrap_or_else(|| {
        let text = match (run.method.as_str(), lane.kinds, lane.format) {
            (_, [ReflectionKind::Abstract], _) => "no Abstract lessons yet",
            (_, [ReflectionKind::Error], _) => "no Error lessons yet",
            (_, [ReflectionKind::Progress], _) => "no Progress lessons yet",
            ("planning", ..) => "no plan yet: the mentor writes one before step 1",
            ("reflexion", [ReflectionKind::Plan], _) => match run.settings.text("strategy", "reflexion") {
                "none" => "no plans: with strategy none a trial doesn't see earlier trials",
                "last-attempt" => "no plans: with strategy last-attempt a trial sees the previous attempt",
                _ => "a plan is written after a failed trial",
            },
            ("fcrf", [ReflectionKind::Experience | ReflectionKind::Plan], _) => {
                "written after a failed trial"
            }
            ("fcrf", [ReflectionKind::Lesson], _) => "written when a task that failed before is solved",
            ("sweet_sour", [ReflectionKind::Positive], _) => "written when a subgoal is reached",
            ("sweet_sour", [ReflectionKind::Negative], _) => "written after a failed attempt",
            ("sweet_sour", _, LaneFormat::MemoryTuples) => "no short-term or long-term memories yet",
            _ => "no lessons yet",
        };
        text.to_owned()
    })
}
