//! What has happened since the last look.

use super::{breakpoint_hits, fork, stepping, undo};
use crate::driver::Signal;
use crate::engine::RunStatus;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{FirstRunHint, Model, Severity};
use crate::ui::msg::Request;
use crate::ui::overlay;
use crate::ui::view::footer::has_recent_mistake;

/// A hint goes once it was obeyed.
pub(super) fn dismiss_hint(model: &mut Model, action: Action) {
    match (model.hint, action) {
        (FirstRunHint::Step, Action::Step | Action::Open | Action::PauseRun | Action::StepStage) => {
            model.hint = FirstRunHint::WaitForMistake;
        }
        (FirstRunHint::Teach, Action::AddLesson) => model.hint = FirstRunHint::None,
        _ => {}
    }
}

/// Takes in what the driver said since, and looks whether the first mistake has happened.
pub(super) fn on_store_change(model: &mut Model, look: &Context<'_>) {
    for (number, signal) in &look.frame.live.signals {
        if *number <= model.last_signal {
            continue;
        }
        model.last_signal = *number;
        stepping::on_signal(model, signal);
        match signal {
            Signal::CommandFailed(refusal) if fork::offer_fork_on_error(model, look, refusal) => {}
            Signal::CommandFailed(refusal) => {
                model.show_notice(
                    format!("{}: {}", refusal.message, refusal.hint),
                    Severity::Warning,
                    look.now,
                );
                let gone = model.awaiting_answer.take().filter(|_| model.overlays.is_empty());
                if look.halt_reason().is_some() {
                    // What was sent waits, or is in the copy; its words are kept as well.
                    keep_draft(model, look, gone);
                } else {
                    model.overlays.extend(gone);
                }
            }
            Signal::Notice(text) => {
                model.show_notice(look.advice(text).into_owned(), Severity::Info, look.now);
            }
        }
    }
    // What a call announced is over when it has failed for good.
    if look.frame.head.failed_call.is_some() {
        model.notice.take_if(|notice| notice.text.contains("; asking again"));
    }
    undo::report_undo(model, look);
    breakpoint_hits::report_hits(model, look);
    // A run that goes straight on to its next task is not held up by a card of the last one.
    let head = &look.frame.head;
    let settled = (head.run_over || head.run_status != RunStatus::Running) && !head.has_open_question();
    let ended = ended_episode(look);
    if settled && ended.is_some() && ended != model.end_card_shown_for {
        model.end_card_shown_for = ended;
        if !model.is_in_past() && model.overlays.is_empty() {
            let card = overlay::open_for_action(Action::EndCard, model, look);
            model.overlays.extend(card.ok());
        }
    }
    if model.hint == FirstRunHint::WaitForMistake && has_recent_mistake(&look.frame.head) {
        model.hint = FirstRunHint::Teach;
    }
}

/// Keeps as a draft what a lesson's box held.
fn keep_draft(model: &mut Model, look: &Context<'_>, gone: Option<Box<dyn overlay::Overlay>>) {
    let requests = gone.map(|mut gone| gone.on_action(Action::Close, look).requests);
    for request in requests.into_iter().flatten() {
        if let Request::SaveDraft { of, draft } = request {
            model.drafts.retain(|d| d.lesson != of);
            model.drafts.extend(draft);
        }
    }
}

/// The number of the episode at the head, when it has ended.
pub(crate) fn ended_episode(look: &Context<'_>) -> Option<u32> {
    let episode = look.frame.head.episode.as_ref()?;
    episode.outcome.is_some().then_some(episode.number)
}
