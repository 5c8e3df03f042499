//! Finds the point before a step was decided, from which a person can decide it again. Used by the screen and by
//! `--plain`.

use crate::domain::{Seq, Step};
use crate::engine::{Envelope, Event};
use crate::timeline::{ReadPast, Timeline};
use std::sync::Arc;

/// The maximum number of events searched for a step.
const MAX_STEP_EVENTS: u64 = 10_000;

/// The point before a step was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionPoint {
    /// After this event the proposal waits for a decision.
    Proposed(Seq),
    /// After this event a person's action is due; the step never had a proposal.
    Played(Seq),
}

impl DecisionPoint {
    /// Returns the last event to keep.
    pub fn last_kept_seq(self) -> Seq {
        match self {
            Self::Proposed(seq) | Self::Played(seq) => seq,
        }
    }
}

/// Returns where a step waits for its decision: the last event that ends a batch before anyone decided on its last
/// proposal. Events caused by the proposal, such as a breakpoint hit, are in the same batch. Returns `None` if nothing
/// waited, as at the beginning, or if `past` doesn't have the step's events.
pub fn decision_point(past: &impl ReadPast, step: &Step) -> Option<DecisionPoint> {
    let number = step.number;
    let until = Seq(step.last_seq.0.min(step.first_seq.0 + MAX_STEP_EVENTS));
    let events = past.events_between(Seq(step.first_seq.0.saturating_sub(1)), until)?;
    let taken = |e: &Arc<Envelope>| matches!(&e.event, Event::ActionTaken { step, .. } if *step == number);
    let executed_at = events.iter().position(taken).unwrap_or(events.len());
    let proposed = |e: &Arc<Envelope>| matches!(&e.event, Event::Proposed { step, .. } if *step == number);
    let Some(first) = events[..executed_at].iter().rposition(proposed) else {
        let opened = |e: &Arc<Envelope>| matches!(e.event, Event::StepOpened { .. });
        // Opened for a person's action, in the same batch.
        return events.first().filter(|e| opened(e)).map(|e| DecisionPoint::Played(Seq(e.seq.0 - 1)));
    };
    let undecided = events[first..executed_at].iter().take_while(|e| !is_decision(&e.event));
    let at = undecided.filter(|e| !e.batch_continues && !matches!(e.event, Event::Closed)).last()?.seq;
    let state = past.state_at(at)?;
    let waits = state.step_awaiting_decision().is_some_and(|s| s.number == number);
    waits.then_some(DecisionPoint::Proposed(at))
}

/// Returns the event after which a step of the open or last episode waits for its decision.
pub fn decision_seq(timeline: &Timeline, step: u32) -> Option<Seq> {
    let step = timeline.head().episode.as_deref()?.step(step)?;
    decision_point(timeline, step).map(DecisionPoint::last_kept_seq)
}

/// Returns whether an event continues the session or decides on a proposal.
pub fn is_decision(event: &Event) -> bool {
    matches!(
        event,
        Event::StepGranted
            | Event::StageGranted
            | Event::Resumed
            | Event::Approved { .. }
            | Event::ActionOverridden { .. }
            | Event::ProposalRejected { .. }
            | Event::AskedAgain { .. }
    )
}
