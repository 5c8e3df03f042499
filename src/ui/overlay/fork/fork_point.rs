//! From which event a branch begins.

use crate::domain::{Seq, Stage};
use crate::driver::{DecisionPoint, is_decision};
use crate::engine::{Event, State};
use crate::ui::context::Context;

/// Where a turn of the listed episode waits for its decision.
pub(crate) fn decision_point(look: &Context<'_>, number: u32) -> Option<DecisionPoint> {
    crate::driver::decision_point(&look.frame.timeline, look.frame.story.episode.as_deref()?.step(number)?)
}

/// The moment shown, before anybody let the session go on from it.
pub(crate) fn shown_fork_point(look: &Context<'_>) -> Seq {
    let mut at = look.frame.displayed.head;
    let timeline = &look.frame.timeline;
    while let Some(event) = timeline.event(at)
        && (is_decision(&event.event) || event.batch_continues || matches!(event.event, Event::Closed))
        && at.0 > 1
    {
        at = Seq(at.0 - 1);
    }
    at
}

/// The last event before the whole batch that an event is part of.
pub(crate) fn before_batch(look: &Context<'_>, seq: Seq) -> Seq {
    let timeline = &look.frame.timeline;
    let mut at = seq.0.saturating_sub(1);
    while at > 0 && timeline.event(Seq(at)).is_some_and(|e| e.batch_continues) {
        at -= 1;
    }
    Seq(at)
}

/// The moment from which a branch begins, or where a prompt or an action has used what the last answered turn saw by then, the
/// last one before that: the agent is to read other words there.
pub(super) fn before_observation_used(look: &Context<'_>, here: Seq) -> Seq {
    let shown = look.displayed_state();
    let answered = shown.episode.as_deref().and_then(|e| e.step(e.answered_steps()));
    let Some(step) = answered.filter(|s| shown.last_pool_use > s.answered_seq) else { return here };
    let events = look.frame.timeline.events_between(step.answered_seq, here);
    let uses = |event: &Event| matches!(event, Event::PromptSent { .. } | Event::ActionTaken { .. });
    events.iter().find(|e| uses(&e.event)).map_or(here, |e| before_batch(look, e.seq))
}

/// The turn that is neither answered nor waits for a decision.
pub(super) fn step_in_progress(shown: &State) -> Option<(u32, Stage)> {
    let step = shown.open_episode()?.last_step()?;
    matches!(step.stage, Stage::Prompt | Stage::Reply | Stage::Observation)
        .then_some((step.number, step.stage))
}

/// Where a moment stands, as the root of a branch names it: a turn counts once it is answered.
pub(super) fn describe_moment(shown: &State) -> String {
    if let Some(step) = shown.step_awaiting_decision() {
        return match step.call {
            Some(_) => format!("at turn {}'s proposal", step.number),
            None => format!("before turn {}'s action", step.number),
        };
    }
    match last_settled_step(shown) {
        0 => "from the beginning".to_owned(),
        turn => format!("after turn {turn}"),
    }
}

/// The last turn that nothing is asked for any more.
pub(super) fn last_settled_step(shown: &State) -> u32 {
    let steps = shown.episode.as_ref().map_or(0, |e| e.steps.len() as u32);
    step_in_progress(shown).map_or(steps, |(turn, _)| turn - 1)
}
