//! Queues steps that are requested faster than they run, and prompts a person who plays.

use crate::domain::Autonomy;
use crate::driver::Signal;
use crate::engine::{Command, RunStatus};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::model::Model;
use crate::ui::msg::Request;
use crate::ui::types::Focus;

/// The most steps that can be queued, so that a key held down doesn't step for minutes.
const MAX_QUEUED_STEPS: u8 = 20;

/// Requests a step; while one is pending, queues it.
pub(super) fn request_step(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    if is_step_pending(model, context) {
        model.queued_steps = (model.queued_steps + 1).min(MAX_QUEUED_STEPS);
        return Vec::new();
    }
    model.step_requested_at = Some(context.frame.head.head);
    vec![Request::Send(Command::Step)]
}

/// Returns true if a step was requested and the next proposal hasn't arrived.
fn is_step_pending(model: &Model, context: &Context<'_>) -> bool {
    let head = &context.frame.head;
    // Until the driver has handled the command, the last event is still the one recorded when the command was sent.
    model.step_requested_at == Some(head.head)
        || (head.run_status == RunStatus::Paused && head.grant.is_some())
}

/// Returns true if a mentor's summary waits for review and the action would step past it. The caller shows it instead.
pub(super) fn is_summary_due(model: &Model, context: &Context<'_>, action: Action) -> bool {
    let head = &context.frame.head;
    let would_step = matches!(action, Action::Step | Action::NextTask | Action::StepStage)
        || (action == Action::Open && model.focus == Focus::Story && !model.is_in_past());
    would_step && !head.waiting_summaries.is_empty() && head.is_waiting() && !context.is_read_only()
}

/// Clears the pending and queued steps when a command has failed.
pub(super) fn on_signal(model: &mut Model, signal: &Signal) {
    if matches!(signal, Signal::CommandFailed(_)) {
        (model.step_requested_at, model.queued_steps) = (None, 0);
    }
}

/// Continues after new events: shows a summary that awaits review, runs the next queued step, or opens the action input
/// if a person plays.
pub(super) fn continue_stepping(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let head = &context.frame.head;
    let is_halted = head.failed_call.is_some() || head.divergence.is_some() || context.is_read_only();
    let is_blocked = is_halted || model.is_in_past() || model.is_covered;
    let summary = head.waiting_summaries.first().map(|change| change.seq);
    if summary.is_some() && summary != model.shown_summary && !is_blocked && head.is_waiting() {
        (model.shown_summary, model.queued_steps) = (summary, 0);
        return vec![Request::Open(Action::Summary)];
    }
    if head.autonomy != Autonomy::Human {
        model.prompted_step = None;
        if is_blocked || head.run_status != RunStatus::Paused || head.open_episode().is_none() {
            model.queued_steps = 0;
        }
        if model.queued_steps == 0 || is_step_pending(model, context) || !head.is_waiting() {
            return Vec::new();
        }
        model.queued_steps -= 1;
        return request_step(model, context);
    }
    model.queued_steps = 0;
    let step =
        head.open_episode().filter(|e| e.first_observation.is_some()).map(|e| (e.number, e.answered_steps()));
    if step.is_none() || step == model.prompted_step || is_blocked || !head.is_waiting() {
        return Vec::new();
    }
    model.prompted_step = step;
    vec![Request::Open(Action::Override)]
}
