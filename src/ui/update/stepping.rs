//! Whose turn it is: steps that were asked for faster than they can be done, and the line of a person who plays.

use super::open_overlay;
use crate::domain::Autonomy;
use crate::driver::Signal;
use crate::engine::{Command, RunStatus};
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;

/// Steps that are owed at most, so that a key held down does not play for minutes.
const MAX_QUEUED_STEPS: u8 = 20;

/// Asks for a step; while one is under way, it is done after it.
pub(super) fn request_step(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    if is_step_pending(model, look) {
        model.queued_steps = (model.queued_steps + 1).min(MAX_QUEUED_STEPS);
        return Vec::new();
    }
    model.step_requested_at = Some(look.frame.head.head);
    vec![Request::Send(Command::Step)]
}

/// A step was asked for and the next proposal is not there yet.
fn is_step_pending(model: &Model, look: &Context<'_>) -> bool {
    let head = &look.frame.head;
    // The wish may still be on its way to the driver: until then the last event is the one it was sent after.
    model.step_requested_at == Some(head.head)
        || (head.run_status == RunStatus::Paused && head.grant.is_some())
}

/// Nothing goes on before the summary that waits is settled, so what would go on shows it.
pub(super) fn is_summary_due(model: &Model, look: &Context<'_>, action: Action) -> bool {
    let head = &look.frame.head;
    let goes_on = matches!(action, Action::Step | Action::NextTask | Action::StepStage)
        || (action == Action::Open && model.focus == Focus::Story && !model.is_in_past());
    goes_on && !head.waiting_summaries.is_empty() && head.is_waiting() && !look.is_read_only()
}

/// A wish was refused: nothing is under way, and nothing is owed.
pub(super) fn on_signal(model: &mut Model, signal: &Signal) {
    if matches!(signal, Signal::CommandFailed(_)) {
        (model.step_requested_at, model.queued_steps) = (None, 0);
    }
}

/// What is to be done now that something new is known: the next owed step, or the line of a person who plays.
pub(super) fn continue_stepping(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let head = &look.frame.head;
    let troubled = head.failed_call.is_some() || head.divergence.is_some() || look.is_read_only();
    let in_the_way = troubled || model.is_in_past() || !model.overlays.is_empty();
    let summary = head.waiting_summaries.first().map(|change| change.seq);
    if summary.is_some() && summary != model.shown_summary && !in_the_way && head.is_waiting() {
        (model.shown_summary, model.queued_steps) = (summary, 0);
        return open_overlay(model, look, Action::Summary);
    }
    if head.autonomy != Autonomy::Human {
        model.prompted_step = None;
        if in_the_way || head.run_status != RunStatus::Paused || head.open_episode().is_none() {
            model.queued_steps = 0;
        }
        if model.queued_steps == 0 || is_step_pending(model, look) || !head.is_waiting() {
            return Vec::new();
        }
        model.queued_steps -= 1;
        return request_step(model, look);
    }
    model.queued_steps = 0;
    let turn =
        head.open_episode().filter(|e| e.first_observation.is_some()).map(|e| (e.number, e.answered_steps()));
    if turn.is_none() || turn == model.prompted_step || in_the_way || !head.is_waiting() {
        return Vec::new();
    }
    model.prompted_step = turn;
    open_overlay(model, look, Action::Override)
}
