//! What has happened since the last look.

use super::{fork, hits, turn, undo};
use crate::driver::Signal;
use crate::engine::RunStatus;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Hint, Model, Tone};
use crate::ui::msg::Request;
use crate::ui::overlay;
use crate::ui::view::footer::fresh_mistake;

/// A hint goes once it was obeyed.
pub(super) fn dismiss_hint(model: &mut Model, action: Action) {
    match (model.hint, action) {
        (Hint::Step, Action::Step | Action::Open | Action::PauseRun | Action::StepStage) => {
            model.hint = Hint::Mistake;
        }
        (Hint::Teach, Action::AddLesson) => model.hint = Hint::None,
        _ => {}
    }
}

/// Takes in what the driver said since, and looks whether the first mistake has happened.
pub(super) fn hear(model: &mut Model, look: &Context<'_>) {
    for (number, signal) in &look.moment.live.signals {
        if *number <= model.heard {
            continue;
        }
        model.heard = *number;
        turn::hear(model, signal);
        match signal {
            Signal::Refused(refusal) if fork::refused(model, look, refusal) => {}
            Signal::Refused(refusal) => {
                model.say(format!("{}: {}", refusal.message, refusal.hint), Tone::Refused, look.now);
                let gone = model.awaiting_answer.take().filter(|_| model.overlays.is_empty());
                if look.halted().is_some() {
                    // What was sent waits, or is in the copy; its words are kept as well.
                    keep_draft(model, look, gone);
                } else {
                    model.overlays.extend(gone);
                }
            }
            Signal::Said(text) => model.say(look.advice(text).into_owned(), Tone::Told, look.now),
        }
    }
    // What a call announced is over when it has failed for good.
    if look.moment.head.failed_call.is_some() {
        model.notice.take_if(|notice| notice.text.contains("; asking again"));
    }
    undo::hear(model, look);
    hits::hear(model, look);
    // A run that goes straight on to its next task is not held up by a card of the last one.
    let head = &look.moment.head;
    let settled = (head.run_over || head.run_status != RunStatus::Running) && !head.has_open_question();
    let ended = ended(look);
    if settled && ended.is_some() && ended != model.carded {
        model.carded = ended;
        if !model.past() && model.overlays.is_empty() {
            let card = overlay::open(Action::EndCard, model, look);
            model.overlays.extend(card.ok());
        }
    }
    if model.hint == Hint::Mistake && fresh_mistake(&look.moment.head) {
        model.hint = Hint::Teach;
    }
}

/// Keeps as a draft what a lesson's box held.
fn keep_draft(model: &mut Model, look: &Context<'_>, gone: Option<Box<dyn overlay::Overlay>>) {
    let requests = gone.map(|mut gone| gone.act(Action::Close, look).requests);
    for request in requests.into_iter().flatten() {
        if let Request::Keep { of, draft } = request {
            model.drafts.retain(|d| d.of != of);
            model.drafts.extend(draft);
        }
    }
}

/// The number of the episode at the head, when it has ended.
pub(crate) fn ended(look: &Context<'_>) -> Option<u32> {
    let episode = look.moment.head.episode.as_ref()?;
    episode.outcome.is_some().then_some(episode.number)
}
