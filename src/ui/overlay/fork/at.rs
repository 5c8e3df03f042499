//! From which event a branch begins.

use crate::domain::Seq;
use crate::driver::{Anew, decides};
use crate::engine::Event;
use crate::ui::look::Look;

/// Where a turn of the listed episode waits for its decision.
pub(crate) fn anew(look: &Look<'_>, number: u32) -> Option<Anew> {
    look.store.anew(look.moment.story.episode.as_deref()?.step(number)?)
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
