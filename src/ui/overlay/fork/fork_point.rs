//! Finds the event after which a new branch starts.

use crate::domain::{Seq, Stage};
use crate::driver::{DecisionPoint, is_decision};
use crate::engine::{Envelope, Event, State};
use crate::timeline::ReadPast as _;
use crate::ui::frame_data::Context;

/// Returns the point at which a step of the episode on screen awaited a decision.
pub(in crate::ui::overlay) fn decision_point(context: &Context<'_>, number: u32) -> Option<DecisionPoint> {
    let step = context.frame.story.episode.as_deref()?.step(number)?;
    crate::driver::decision_point(&context.frame.timeline, step)
}

/// Returns the event to fork after to continue from the displayed state. Skips decisions at the end of that state, so
/// that the new branch can decide again.
pub(crate) fn displayed_fork_point(context: &Context<'_>) -> Seq {
    let at = context.frame.displayed.head;
    let skips = |event: &Envelope| {
        is_decision(&event.event) || event.batch_continues || matches!(event.event, Event::Closed)
    };
    skip_back(context, at, skips).max(Seq(1))
}

/// Returns the last event before the batch that contains `seq`.
pub(super) fn before_batch(context: &Context<'_>, seq: Seq) -> Seq {
    skip_back(context, Seq(seq.0.saturating_sub(1)), |event| event.batch_continues)
}

/// Returns the last event at or before `seq` that isn't skipped, or 0.
fn skip_back(context: &Context<'_>, seq: Seq, skips: impl Fn(&Envelope) -> bool) -> Seq {
    /// Events read at once.
    const CHUNK: u64 = 64;
    let mut to = seq;
    loop {
        let after = Seq(to.0.saturating_sub(CHUNK));
        let Some(events) = context.frame.timeline.events_between(after, to) else { return to };
        match events.iter().rev().find(|event| !skips(event)) {
            Some(event) => return event.seq,
            None if after.0 == 0 => return after,
            None => to = after,
        }
    }
}

/// Returns the event to fork after to replace the last observation: `fork_point`, or if a prompt or an action has used
/// that observation already, the last event before the first use.
pub(super) fn before_observation_used(context: &Context<'_>, fork_point: Seq) -> Seq {
    let shown = context.displayed_state();
    let answered = shown.episode.as_deref().and_then(|e| e.step(e.answered_steps()));
    let Some(step) = answered.filter(|s| shown.last_pool_use > s.answered_seq) else { return fork_point };
    let events = context.frame.timeline.events_between(step.answered_seq, fork_point).unwrap_or_default();
    let uses = |event: &Event| matches!(event, Event::PromptSent { .. } | Event::ActionTaken { .. });
    events.iter().find(|e| uses(&e.event)).map_or(fork_point, |e| before_batch(context, e.seq))
}

/// Returns the step whose prompt, reply or observation is pending. Returns `None` if a step awaits a decision.
pub(super) fn step_in_progress(shown: &State) -> Option<(u32, Stage)> {
    let step = shown.open_episode()?.last_step()?;
    matches!(step.stage, Stage::Prompt | Stage::Reply | Stage::Observation)
        .then_some((step.number, step.stage))
}

/// Describes a state's position as the branch list describes a fork point. A step counts once its observation arrived.
pub(super) fn describe_position(shown: &State) -> String {
    if let Some(step) = shown.step_awaiting_decision() {
        return match step.call {
            Some(_) => format!("at step {}'s proposal", step.number),
            None => format!("before step {}'s action", step.number),
        };
    }
    match last_settled_step(shown) {
        0 => "from the beginning".to_owned(),
        step => format!("after step {step}"),
    }
}

/// Returns the last step that isn't in progress.
pub(super) fn last_settled_step(shown: &State) -> u32 {
    let steps = shown.episode.as_ref().map_or(0, |e| e.steps.len() as u32);
    step_in_progress(shown).map_or(steps, |(step, _)| step - 1)
}
