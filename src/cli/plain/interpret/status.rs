//! How things stand, in one line.

use crate::domain::{Autonomy, ModelRole, Question, Stage};
use crate::engine::{RunStatus, State};

/// What failed and what can be done about it, in one line.
fn failure_status(state: &State) -> String {
    let told = state.failed_calls().map(|(effect, failure)| {
        let question = effect.question().map(|q| format!(" ({})", q.name()));
        format!("{}{}: {}", failure.source, question.unwrap_or_default(), failure.message)
    });
    let told: Vec<String> = told.collect();
    let choices = if state.has_failed_call(ModelRole::Actor) {
        "retry, prompt-edit N TEXT, model NAME, recorded SESSION, act ACTION, or end"
    } else if state.has_failed_call(ModelRole::Mentor) {
        "retry, prompt-edit N TEXT, model NAME, recorded SESSION, give-up (goes on without), or end"
    } else {
        "retry, or end"
    };
    format!("FAILED · {}; {choices}", told.join("; "))
}

/// What was broken off and what can be done about it, in one line.
fn cancelled_status(state: &State) -> Option<String> {
    let (again, choices) = if state.has_unsent_edit() {
        (
            " (a prompt with your words waits)",
            "retry (sends your words), undo, prompt-edit N TEXT, recorded SESSION",
        )
    } else {
        ("", "retry, prompt-edit N TEXT, model NAME, recorded SESSION")
    };
    if state.is_step_cancelled() && state.autonomy != Autonomy::Human {
        return Some(format!("BROKEN OFF · the agent's answer{again}; {choices}, act ACTION, or give-up"));
    }
    let names: Vec<_> =
        state.cancelled_calls.iter().filter_map(|(e, _)| e.question()).map(Question::name).collect();
    let names = (!names.is_empty()).then(|| names.join(", "))?;
    Some(format!("BROKEN OFF · the mentor ({names}){again}; {choices}, or give-up (goes on without)"))
}

/// Whose turn it is, in one line.
pub(in crate::cli::plain) fn status_line(state: &State) -> String {
    if state.failed_call.is_some() {
        return failure_status(state);
    }
    if let Some((episode, step, ..)) = &state.divergence {
        return format!("DIFFERENT · the rebuilt world differs at {episode}.{step}; `retry` accepts it");
    }
    if let Some(change) = state.waiting_summaries.first().filter(|_| state.is_waiting()) {
        return format!("CONFIRM · the {} waits: summary, accept, refuse", change.question.name());
    }
    if state.run_over && state.open_episode().is_none() {
        return "RUN OVER · again plays the task once more, quit leaves".to_owned();
    }
    if let Some(hit) =
        state.breakpoints.current_hit.as_ref().filter(|_| state.run_status == RunStatus::Paused)
    {
        let at = state.step_awaiting_decision().and_then(|s| s.proposed.as_deref());
        let proposed = at.map_or_else(String::new, |action| format!(" · proposed: {action}"));
        return format!("STOPPED · {}{proposed}; step or run goes on", hit.config.condition);
    }
    if let Some(words) =
        cancelled_status(state).filter(|_| state.is_waiting() && state.step_awaiting_decision().is_none())
    {
        return words;
    }
    let Some(step) = state.step_awaiting_decision() else {
        return match state.run_status {
            RunStatus::Paused => {
                let words = |edited| if edited { " with your words" } else { "" };
                let draft = state.draft.as_ref().map(|d| words(d.edited));
                let draft = draft
                    .map_or_else(String::new, |words| format!(" · a prompt{words} is drafted and waits"));
                format!("PAUSED{draft} · step or run goes on")
            }
            RunStatus::Pausing => "PAUSING".to_owned(),
            RunStatus::Running => "RUNNING".to_owned(),
        };
    };
    debug_assert_eq!(step.stage, Stage::Decision);
    let asked = step.call.is_some() || step.proposed.is_some();
    let who = match (state.autonomy, asked) {
        (Autonomy::Human, _) | (_, false) => return format!("YOU PLAY · step {}: act ACTION", step.number),
        (Autonomy::Confirm, _) => "CONFIRM",
        (Autonomy::Auto, _) => "PAUSED",
    };
    let proposed = step.proposed.as_deref().or(step.thought.as_deref()).unwrap_or("(nothing)");
    format!("{who} · your turn, step {}: {proposed}", step.number)
}
