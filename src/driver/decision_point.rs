//! Before a step was decided on: from there on a person decides it anew. The screen and the words of `--plain` ask here.

use crate::domain::{Seq, Step};
use crate::engine::{Envelope, Event};
use crate::timeline::Timeline;
use std::sync::Arc;

/// Events of a step that are looked through at most.
const MAX_STEP_EVENTS: u64 = 10_000;

/// The place before a step was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionPoint {
    /// After this event its proposal waits.
    Proposed(Seq),
    /// After this event a person's action is due: the step never had a proposal.
    Played(Seq),
}

impl DecisionPoint {
    /// The last event that stays.
    pub fn last_kept_seq(self) -> Seq {
        match self {
            Self::Proposed(seq) | Self::Played(seq) => seq,
        }
    }
}

/// Returns where a step waits for its decision: the last event that ends a batch before anyone decided on its last
/// proposal. What was found at the proposal, such as a breakpoint hit, is in one batch with it. Returns `None` if nothing
/// waited, as at the beginning.
pub fn decision_point(timeline: &Timeline, of: &Step) -> Option<DecisionPoint> {
    let number = of.number;
    let until = Seq(of.last_seq.0.min(of.first_seq.0 + MAX_STEP_EVENTS));
    let events = timeline.events_between(Seq(of.first_seq.0.saturating_sub(1)), until);
    let taken = |e: &Arc<Envelope>| matches!(&e.event, Event::ActionTaken { step, .. } if *step == number);
    let ran = events.iter().position(taken).unwrap_or(events.len());
    let proposed = |e: &Arc<Envelope>| matches!(&e.event, Event::Proposed { step, .. } if *step == number);
    let Some(first) = events[..ran].iter().rposition(proposed) else {
        let opened = |e: &Arc<Envelope>| matches!(e.event, Event::StepOpened { .. });
        // Opened for a person's action, in one batch with it.
        return events.first().filter(|e| opened(e)).map(|e| DecisionPoint::Played(Seq(e.seq.0 - 1)));
    };
    let waiting = events[first..ran].iter().take_while(|e| !is_decision(&e.event));
    let at = waiting.filter(|e| !e.batch_continues && !matches!(e.event, Event::Closed)).last()?.seq;
    let state = timeline.state_at(at);
    let waits = state.step_awaiting_decision().is_some_and(|s| s.number == number);
    waits.then_some(DecisionPoint::Proposed(at))
}

/// Returns the event after which a step of the open or last episode waits for its decision.
pub fn decision_seq(timeline: &Timeline, step: u32) -> Option<Seq> {
    let step = timeline.head().episode.as_deref()?.step(step)?;
    decision_point(timeline, step).map(DecisionPoint::last_kept_seq)
}

/// Whether an event lets the session go on, or is a decision on what waits.
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
