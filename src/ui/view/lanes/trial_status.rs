//! Where the trials of a task stand, in FCRF how deep the reflection after this one goes, and what is said of an empty lane.

use crate::domain::{LessonId, LessonOp, ReflectionKind, RunSpec};
use crate::engine::{State, UndoAction, UndoEntry};
use crate::method::{Depth, Difficulty};
use crate::ui::lane::{Lane, LaneFormat};

/// In words, the longest first; none where a task has one trial.
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
    let (k1, k2) = difficulty.trials_by_depth_in_run(state);
    let depth = match difficulty.depth_for_trial(state, episode.trial) {
        Depth::Simple => "simple",
        Depth::InDepth => "in-depth",
    };
    let whole = format!("{trial}, {depth} (k1 {k1}, k2 {k2})");
    vec![format!("difficulty {} {dot} {whole}", difficulty.sum()), whole, format!("{trial}, {depth}"), trial]
}

/// The whole last attempt stands in the prompt of the next one.
fn has_last_attempt_in_prompt(run: &RunSpec) -> bool {
    matches!(run.settings.text("strategy", "reflexion"), "last-attempt" | "both")
}

/// Why nothing is in a lane.
pub(super) fn empty_lane_text(state: &State, lane: &Lane) -> String {
    if state.pool.all().any(|l| lane.kinds.contains(&l.kind)) {
        let undone = |id: &LessonId| {
            let of = |e: &UndoEntry| matches!(&e.action, UndoAction::Lesson(LessonOp::Add { id: added, .. }) if added == id);
            state.redo_stack.iter().any(of)
        };
        let mut here = state.pool.all().filter(|l| lane.kinds.contains(&l.kind));
        let words = if here.all(|l| undone(&l.id)) {
            "none is left: all were taken back"
        } else {
            "none is left: all were deleted or taken back"
        };
        return words.to_owned();
    }
    let Some(run) = &state.run else { return "nothing yet".to_owned() };
    let off = |setting: &str| {
        (!run.settings.flag(setting, true)).then(|| format!("none is written: {setting} is off"))
    };
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
        let words = match (run.method.as_str(), lane.kinds, lane.format) {
            (_, [ReflectionKind::Abstract], _) => "nothing learnt yet",
            (_, [ReflectionKind::Error], _) => "no mistake noted yet",
            (_, [ReflectionKind::Progress], _) => "no progress noted yet",
            ("planning", ..) => "no plan yet: the mentor writes one before the first turn",
            ("reflexion", [ReflectionKind::Plan], _) => match run.settings.text("strategy", "reflexion") {
                "none" => "no plan is written: with the strategy none a trial knows nothing of those before it",
                "last-attempt" => "no plan is written: with the strategy last-attempt a trial is shown the attempt before it",
                _ => "a plan is written after a trial that failed",
            },
            ("fcrf", [ReflectionKind::Experience | ReflectionKind::Plan], _) => "one is written after a trial that failed",
            ("fcrf", [ReflectionKind::Lesson], _) => "one is written when a task that failed is solved",
            ("sweet_sour", [ReflectionKind::Positive], _) => "one is written when a sub-goal is reached",
            ("sweet_sour", [ReflectionKind::Negative], _) => "one is written after an attempt that failed",
            ("sweet_sour", _, LaneFormat::Tuples) => "short-term and long-term memories stand here as tuples",
            _ => "nothing yet",
        };
        words.to_owned()
    })
}
