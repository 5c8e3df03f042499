//! The trial status of a task and the texts of empty lanes.

use crate::catalog::{Lane, find_method};
use crate::domain::{LessonId, LessonOp, LessonStatus, ReflectionKind};
use crate::engine::{State, UndoAction, UndoEntry};
use crate::text::width;

/// Returns the trial status, longest form first; empty if a task has one trial.
pub(super) fn trial_labels(state: &State, dot: &str) -> Vec<String> {
    let (Some(run), Some(episode)) = (&state.run, state.episode.as_deref()) else { return Vec::new() };
    if run.trials < 2 {
        return Vec::new();
    }
    // A task that a person plays again has more trials than the run plans.
    let trial = if episode.trial > run.trials {
        format!("trial {}", episode.trial)
    } else {
        format!("trial {}/{}", episode.trial, run.trials)
    };
    let describe = find_method(&run.method).map(|entry| entry.trial_labels);
    let mut labels = describe.map_or_else(Vec::new, |labels| labels(state, &trial, dot));
    // A method that counts otherwise ignores the limit.
    if labels.iter().all(|label| label.contains(&trial)) {
        labels.push(trial);
    }
    labels
}

/// Returns why a lane is empty, and what it will hold where that fits in a row of `columns`.
pub(super) fn empty_lane_text(state: &State, lane: &Lane, columns: usize) -> String {
    if state.pool.all().any(|l| lane.kinds.contains(&l.kind)) {
        let undone = |id: &LessonId| {
            let is_undone_add = |e: &UndoEntry| matches!(&e.action, UndoAction::Lesson(LessonOp::Add { id: added, .. }) if added == id);
            state.redo_stack.iter().any(is_undone_add)
        };
        let deleted = |id: &LessonId| {
            let is_deletion = |e: &UndoEntry| matches!(&e.action, UndoAction::Lesson(LessonOp::Status { id: of, status: LessonStatus::Retired, .. }) if of == id);
            state.undo_stack.iter().any(is_deletion)
        };
        let here = || state.pool.all().filter(|l| lane.kinds.contains(&l.kind));
        if here().all(|l| undone(&l.id)) {
            return "none left: all were undone".to_owned();
        }
        if here().any(|l| deleted(&l.id) || undone(&l.id)) {
            return "none left: all were deleted or undone".to_owned();
        }
        // The method itself has replaced them.
        return explained(state, lane).unwrap_or_else(|| "none in use now".to_owned());
    }
    if state.run.is_none() {
        return "no lessons yet".to_owned();
    }
    explained(state, lane).unwrap_or_else(|| match lane.kinds {
        [kind] if kind.is_written_in_episode() => {
            let short = format!("no {} lessons yet", lane.title);
            let whole = contents(*kind).map(|contents| format!("{short}: {contents}"));
            whole.filter(|whole| width(whole) <= columns).unwrap_or(short)
        }
        _ => "no lessons yet".to_owned(),
    })
}

/// Returns what the lessons of a kind that is written in an episode are about.
fn contents(kind: ReflectionKind) -> Option<&'static str> {
    match kind {
        ReflectionKind::Abstract => Some("general insights"),
        ReflectionKind::Error => Some("mistakes and their solutions"),
        ReflectionKind::Progress => Some("what is done and next"),
        _ => None,
    }
}

/// Returns why a lane is empty, as the method says it.
fn explained(state: &State, lane: &Lane) -> Option<String> {
    let run = state.run.as_deref()?;
    (find_method(&run.method)?.empty_lane_text)(run, lane)
}
