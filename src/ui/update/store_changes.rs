//! Reacts to events and signals since the last update: notices, hints, the end card.

use super::{breakpoint_hits, fork, measured, stepping, undo};
use crate::driver::Signal;
use crate::engine::RunStatus;
use crate::ui::facts::{ended_episode, has_recent_mistake};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{FirstRunHint, Model, Severity};
use crate::ui::msg::Request;

/// Advances the first-run hint once the person has done what it says. Returns the next one, to be remembered.
pub(super) fn dismiss_hint(model: &mut Model, action: Action) -> Option<FirstRunHint> {
    use FirstRunHint::{AddLesson, None as NoHint, Step, WaitForMistake};
    let next = match (model.hint, action) {
        (Step, Action::Step | Action::Open | Action::PauseRun | Action::StepStage | Action::Override) => {
            WaitForMistake
        }
        // Who adds a lesson before the first mistake needs no hint either.
        (AddLesson | WaitForMistake, Action::AddLesson) => NoHint,
        _ => return None,
    };
    model.hint = next;
    Some(next)
}

/// Shows the driver's new signals, undo and breakpoint notices and the end card, and shows the lesson hint at the
/// first mistake.
pub(super) fn on_store_change(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let mut requests = Vec::new();
    for (number, signal) in &context.frame.live.signals {
        if *number <= model.last_signal {
            continue;
        }
        model.last_signal = *number;
        stepping::on_signal(model, signal);
        match signal {
            Signal::CommandFailed(error) if fork::can_offer_fork(model, context, error) => {
                requests.push(Request::OfferFork(error.clone()));
                model.is_covered = true;
            }
            Signal::CommandFailed(error) => {
                model.measured_next = None;
                model.show_notice(
                    format!("{}: {}", error.message, error.hint),
                    Severity::Warning,
                    context.now,
                );
                requests.push(Request::ReopenClosed);
            }
            Signal::Notice(text) => {
                model.show_notice(context.advice(text).into_owned(), Severity::Info, context.now);
            }
        }
    }
    // The notice of a retry is outdated once the call has failed for good.
    if context.frame.head.failed_call.is_some() {
        model.notice.take_if(|notice| notice.text.contains("; retry "));
    }
    if let Some(request) = measured::measure_taught(model, context) {
        requests.push(request);
        model.is_covered = true;
    }
    undo::report_undo(model, context);
    breakpoint_hits::report_hits(model, context);
    // A run that continues straight to its next task isn't interrupted by an end card.
    let head = &context.frame.head;
    let settled = (head.run_over || head.run_status != RunStatus::Running) && !head.awaits_mentor_or_job();
    let ended = ended_episode(context);
    if settled && ended.is_some() && ended != model.end_card_shown_for {
        model.end_card_shown_for = ended;
        if !model.is_in_past() && !model.is_covered {
            requests.push(Request::Open(Action::EndCard));
            model.is_covered = true;
        }
    }
    if model.hint == FirstRunHint::WaitForMistake && has_recent_mistake(&context.frame.head) {
        model.hint = FirstRunHint::AddLesson;
    }
    requests
}
