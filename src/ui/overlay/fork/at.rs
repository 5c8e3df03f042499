//! From which event a branch begins.

use crate::domain::{Seq, Step};
use crate::engine::{Envelope, Event};
use crate::ui::look::Look;
use std::sync::Arc;

/// Events of a turn that are looked through at most.
const MOST: u64 = 10_000;

/// The place before a turn was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anew {
    /// After this event its proposal waits.
    Proposed(Seq),
    /// After this event a person's action is due: the turn never had a proposal.
    Played(Seq),
}

impl Anew {
    pub(crate) fn seq(self) -> Seq {
        match self {
            Self::Proposed(seq) | Self::Played(seq) => seq,
        }
    }
}

/// Where a turn of the listed episode waits for its decision: the last event before somebody decided on its last proposal.
/// None where nothing waited, such as at the beginning.
pub(crate) fn anew(look: &Look<'_>, number: u32) -> Option<Anew> {
    let step: &Step = look.moment.story.episode.as_deref()?.step(number)?;
    let until = Seq(step.last_seq.0.min(step.first_seq.0 + MOST));
    let events = look.store.timeline().between(Seq(step.first_seq.0.saturating_sub(1)), until);
    let taken = |e: &Arc<Envelope>| matches!(&e.event, Event::ActionTaken { step, .. } if *step == number);
    let ran = events.iter().position(taken).unwrap_or(events.len());
    let proposed = |e: &Arc<Envelope>| matches!(&e.event, Event::Proposed { step, .. } if *step == number);
    let Some(first) = events[..ran].iter().rposition(proposed) else {
        let opened = |e: &Arc<Envelope>| matches!(e.event, Event::StepOpened { .. });
        // Opened for a person's action, in one batch with it.
        return events.first().filter(|e| opened(e)).map(|e| Anew::Played(Seq(e.seq.0 - 1)));
    };
    let waiting = events[first..ran].iter().take_while(|e| !decides(&e.event));
    let at = waiting.filter(|e| !e.more && !matches!(e.event, Event::Closed)).last()?.seq;
    let state = look.store.state_at(at);
    state.awaiting().is_some_and(|s| s.number == number).then_some(Anew::Proposed(at))
}

/// The moment shown, before anybody let the session go on from it.
pub(crate) fn here(look: &Look<'_>) -> Seq {
    let mut at = look.moment.shown.head;
    let timeline = look.store.timeline();
    while let Some(event) = timeline.event(at)
        && (decides(&event.event) || event.more || matches!(event.event, Event::Closed))
        && at.0 > 1
    {
        at = Seq(at.0 - 1);
    }
    at
}

/// The last event before the whole batch that an event is part of.
pub(crate) fn before(look: &Look<'_>, seq: Seq) -> Seq {
    let timeline = look.store.timeline();
    let mut at = seq.0.saturating_sub(1);
    while at > 0 && timeline.event(Seq(at)).is_some_and(|e| e.more) {
        at -= 1;
    }
    Seq(at)
}

/// Whether an event lets the session go on, or is a decision on what waits.
fn decides(event: &Event) -> bool {
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
