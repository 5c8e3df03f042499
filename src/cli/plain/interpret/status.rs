//! The status line.

use crate::domain::{Autonomy, ModelRole, Question, Stage};
use crate::engine::{RunStatus, State};

/// Describes the failed calls and the commands that apply.
fn failure_status(state: &State) -> String {
    let failures = state.failed_calls().map(|(effect, failure)| {
        let question = effect.question().map(|q| format!(" ({})", q.name()));
        format!("{}{}: {}", failure.source, question.unwrap_or_default(), failure.message)
    });
    let failures: Vec<String> = failures.collect();
    let choices = if state.has_failed_call(ModelRole::Actor) {
        "retry, prompt-edit N TEXT, model NAME, recorded SESSION, act ACTION, or end"
    } else if state.has_failed_call(ModelRole::Mentor) {
        "retry, prompt-edit N TEXT, model NAME, recorded SESSION, give-up (continues without the mentor's reply), or end"
    } else if state.failed_calls().any(|(effect, _)| effect.job().is_some()) {
        "retry, give-up (continues without the result), or end"
    } else {
        "retry, or end"
    };
    format!("FAILED · {}; {choices}", failures.join("; "))
}

/// Describes the cancelled calls and the commands that apply.
fn cancelled_status(state: &State) -> Option<String> {
    let (edited, choices) = if state.has_unsent_edit() {
        (
            " (your edited prompt is waiting)",
            "retry (sends your edit), undo, prompt-edit N TEXT, recorded SESSION",
        )
    } else {
        ("", "retry, prompt-edit N TEXT, model NAME, recorded SESSION")
    };
    if state.is_step_cancelled() && state.autonomy != Autonomy::Human {
        return Some(format!("CANCELLED · actor call{edited}; {choices}, act ACTION, or give-up"));
    }
    if let Some(job) = state.cancelled_calls.iter().find_map(|(effect, _)| effect.job()) {
        return Some(format!(
            "CANCELLED · {}; step or run (computes it again), or give-up (continues without the result)",
            job.name
        ));
    }
    let names: Vec<_> =
        state.cancelled_calls.iter().filter_map(|(e, _)| e.question()).map(Question::name).collect();
    let names = (!names.is_empty()).then(|| names.join(", "))?;
    Some(format!(
        "CANCELLED · mentor call ({names}){edited}; {choices}, or give-up (continues without the mentor's reply)"
    ))
}

/// Returns the status line: the mode, what is waiting for a decision, and the commands that apply.
pub(in crate::cli::plain) fn status_line(state: &State) -> String {
    if state.failed_call.is_some() {
        return failure_status(state);
    }
    if let Some((episode, step, ..)) = &state.divergence {
        return format!(
            "DIFFERENT · the restored environment differs at {episode}.{step}; `retry` accepts it"
        );
    }
    if let Some(change) = state.waiting_summaries.first().filter(|_| state.is_waiting()) {
        return format!("CONFIRM · {} is waiting: summary, accept or refuse", change.question.name());
    }
    if state.run_over && state.open_episode().is_none() {
        return "RUN OVER · again repeats the task, quit exits".to_owned();
    }
    if let Some(hit) =
        state.breakpoints.current_hit.as_ref().filter(|_| state.run_status == RunStatus::Paused)
    {
        let action = state.step_awaiting_decision().and_then(|s| s.proposed.as_deref());
        let proposed = action.map_or_else(String::new, |action| format!(" · proposed: {action}"));
        return format!("STOPPED · {}{proposed}; step or run continues", hit.config.condition);
    }
    if let Some(status) =
        cancelled_status(state).filter(|_| state.is_waiting() && state.step_awaiting_decision().is_none())
    {
        return status;
    }
    let Some(step) = state.step_awaiting_decision() else {
        return match state.run_status {
            RunStatus::Paused => {
                let draft = match state.draft.as_ref().map(|d| d.edited) {
                    None => "",
                    Some(true) => " · edited prompt draft",
                    Some(false) => " · prompt draft",
                };
                format!("PAUSED{draft} · step or run continues")
            }
            RunStatus::Pausing => "PAUSING".to_owned(),
            RunStatus::Running => "RUNNING".to_owned(),
        };
    };
    debug_assert_eq!(step.stage, Stage::Decision);
    let has_call = step.call.is_some() || step.proposed.is_some();
    let mode = match (state.autonomy, has_call) {
        (Autonomy::Human, _) | (_, false) => return format!("YOU PLAY · step {}: act ACTION", step.number),
        (Autonomy::Confirm, _) => "CONFIRM",
        (Autonomy::Auto, _) => "PAUSED",
    };
    let proposed = step.proposed.as_deref().or(step.thought.as_deref()).unwrap_or("(nothing)");
    format!("{mode} · your turn, step {}: {proposed}", step.number)
}
