//! Differences of a rebuilt world that a person accepted: the answers before them belong to a world that is no more.

use crate::domain::{Seq, Turn};
use crate::engine::{Envelope, Event};
use std::sync::Arc;

/// One accepted difference.
struct Accepted {
    episode: u32,
    /// The first step whose answer differed (0: the reset).
    step: u32,
    /// What the world said then, instead of what is recorded.
    now: String,
    /// The event by which a person went on; what was answered before it may differ.
    by: Seq,
}

/// What was accepted in a journal.
pub(super) struct Differences(Vec<Accepted>);

impl Differences {
    /// Those of these events. A difference counts as accepted where the person went on with `retry`.
    pub(super) fn of(events: &[Arc<Envelope>]) -> Self {
        let (mut found, mut open) = (Vec::new(), None);
        for envelope in events {
            match &envelope.event {
                Event::Diverged { episode, step, now, .. } => open = Some((*episode, *step, now.clone())),
                Event::Retried { .. } => {
                    found.extend(open.take().map(|(episode, step, now)| Accepted {
                        episode,
                        step,
                        now,
                        by: envelope.seq,
                    }));
                }
                Event::EpisodeEnded { .. } => open = None,
                _ => {}
            }
        }
        Self(found)
    }

    /// The event that accepted that the answer of this step, recorded in `seq`, is now this one. The first answer that
    /// differed has to be the accepted one; those that followed it in the old world were not looked at.
    pub(super) fn accept(
        &self,
        episode: u32,
        step: u32,
        seq: Seq,
        recorded: &Turn,
        now: &Turn,
    ) -> Option<Seq> {
        let known = |a: &&Accepted| {
            let same_words = recorded.observation == now.observation || a.now == now.observation;
            a.episode == episode && seq < a.by && (step > a.step || (step == a.step && same_words))
        };
        self.0.iter().find(known).map(|a| a.by)
    }
}
