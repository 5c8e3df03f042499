//! Reacts to events and signals since the last update: notices, hints, the end card.

use super::{breakpoint_hits, fork, stepping, undo};
use crate::driver::Signal;
use crate::engine::RunStatus;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{FirstRunHint, Model, Severity};
use crate::ui::msg::Request;
use crate::ui::overlay;
use crate::ui::view::footer::has_recent_mistake;

/// Advances the first-run hint once the person has done what it says.
pub(super) fn dismiss_hint(model: &mut Model, action: Action) {
    match (model.hint, action) {
        (FirstRunHint::Step, Action::Step | Action::Open | Action::PauseRun | Action::StepStage) => {
            model.hint = FirstRunHint::WaitForMistake;
        }
        (FirstRunHint::AddLesson, Action::AddLesson) => model.hint = FirstRunHint::None,
        _ => {}
    }
}

/// Shows the driver's new signals, undo and breakpoint notices and the end card, and shows the lesson hint at the
/// first mistake.
pub(super) fn on_store_change(model: &mut Model, context: &Context<'_>) {
    for (number, signal) in &context.frame.live.signals {
        if *number <= model.last_signal {
            continue;
        }
        model.last_signal = *number;
        stepping::on_signal(model, signal);
        match signal {
            Signal::CommandFailed(error) if fork::offer_fork_on_error(model, context, error) => {}
            Signal::CommandFailed(error) => {
                model.show_notice(
                    format!("{}: {}", error.message, error.hint),
                    Severity::Warning,
                    context.now,
                );
                let closed = model.awaiting_answer.take().filter(|_| model.overlays.is_empty());
                if context.halt_reason().is_some() {
                    // The events wait to be written, or are in the rescue copy; the typed text is kept as a draft too.
                    keep_draft(model, context, closed);
                } else {
                    model.overlays.extend(closed);
                }
            }
            Signal::Notice(text) => {
                model.show_notice(context.advice(text).into_owned(), Severity::Info, context.now);
            }
        }
    }
    // The notice of a retry is outdated once the call has failed for good.
    if context.frame.head.failed_call.is_some() {
        model.notice.take_if(|notice| notice.text.contains("; retrying"));
    }
    undo::report_undo(model, context);
    breakpoint_hits::report_hits(model, context);
    // A run that continues straight to its next task isn't interrupted by an end card.
    let head = &context.frame.head;
    let settled = (head.run_over || head.run_status != RunStatus::Running) && !head.has_open_question();
    let ended = ended_episode(context);
    if settled && ended.is_some() && ended != model.end_card_shown_for {
        model.end_card_shown_for = ended;
        if !model.is_in_past() && model.overlays.is_empty() {
            let card = overlay::open_for_action(Action::EndCard, model, context);
            model.overlays.extend(card.ok());
        }
    }
    if model.hint == FirstRunHint::WaitForMistake && has_recent_mistake(&context.frame.head) {
        model.hint = FirstRunHint::AddLesson;
    }
}

/// Saves the text of a closed lesson editor as a draft.
fn keep_draft(model: &mut Model, context: &Context<'_>, closed: Option<Box<dyn overlay::Overlay>>) {
    let requests = closed.map(|mut overlay| overlay.on_action(Action::Close, context).requests);
    for request in requests.into_iter().flatten() {
        if let Request::SaveDraft { of, draft } = request {
            model.drafts.retain(|d| d.lesson != of);
            model.drafts.extend(draft);
        }
    }
}

/// Returns the number of the latest episode if it has ended.
pub(crate) fn ended_episode(context: &Context<'_>) -> Option<u32> {
    let episode = context.frame.head.episode.as_ref()?;
    episode.outcome.is_some().then_some(episode.number)
}
