//! Whose turn it is: steps that were asked for faster than they can be done, and the line of a person who plays.

use super::opened;
use crate::domain::Autonomy;
use crate::driver::Signal;
use crate::engine::{Command, RunStatus};
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;

/// Steps that are owed at most, so that a key held down does not play for minutes.
const MOST: u8 = 20;

/// Asks for a step; while one is under way, it is done after it.
pub(super) fn step(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    if under_way(model, look) {
        model.queued_steps = (model.queued_steps + 1).min(MOST);
        return Vec::new();
    }
    model.asked = Some(look.moment.head.head);
    vec![Request::Send(Command::Step)]
}

/// A step was asked for and the next proposal is not there yet.
fn under_way(model: &Model, look: &Context<'_>) -> bool {
    let head = &look.moment.head;
    // The wish may still be on its way to the driver: until then the last event is the one it was sent after.
    model.asked == Some(head.head) || (head.run_status == RunStatus::Paused && head.grant.is_some())
}

/// Nothing goes on before the summary that waits is settled, so what would go on shows it.
pub(super) fn summary_is_due(model: &Model, look: &Context<'_>, action: Action) -> bool {
    let head = &look.moment.head;
    let goes_on = matches!(action, Action::Step | Action::NextTask | Action::StepStage)
        || (action == Action::Open && model.focus == Focus::Story && !model.past());
    goes_on && !head.waiting_summaries.is_empty() && head.is_waiting() && !look.reading()
}

/// A wish was refused: nothing is under way, and nothing is owed.
pub(super) fn hear(model: &mut Model, signal: &Signal) {
    if matches!(signal, Signal::Refused(_)) {
        (model.asked, model.queued_steps) = (None, 0);
    }
}

/// What is to be done now that something new is known: the next owed step, or the line of a person who plays.
pub(super) fn go_on(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let head = &look.moment.head;
    let troubled = head.failed_call.is_some() || head.divergence.is_some() || look.reading();
    let in_the_way = troubled || model.past() || !model.overlays.is_empty();
    let summary = head.waiting_summaries.first().map(|change| change.seq);
    if summary.is_some() && summary != model.summed && !in_the_way && head.is_waiting() {
        (model.summed, model.queued_steps) = (summary, 0);
        return opened(model, look, Action::Summary);
    }
    if head.autonomy != Autonomy::Human {
        model.prompted_step = None;
        if in_the_way || head.run_status != RunStatus::Paused || head.open_episode().is_none() {
            model.queued_steps = 0;
        }
        if model.queued_steps == 0 || under_way(model, look) || !head.is_waiting() {
            return Vec::new();
        }
        model.queued_steps -= 1;
        return step(model, look);
    }
    model.queued_steps = 0;
    let turn =
        head.open_episode().filter(|e| e.first_observation.is_some()).map(|e| (e.number, e.answered_steps()));
    if turn.is_none() || turn == model.prompted_step || in_the_way || !head.is_waiting() {
        return Vec::new();
    }
    model.prompted_step = turn;
    opened(model, look, Action::Override)
}
