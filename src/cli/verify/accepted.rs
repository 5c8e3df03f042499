//! Differences of a rebuilt world that a person accepted: the answers before them belong to a world that is no more.

use crate::domain::{Seq, StepResult};
use crate::engine::{Envelope, Event};

/// One accepted difference.
struct AcceptedDifference {
    episode: u32,
    /// The first step whose answer differed (0: the reset).
    step: u32,
    /// What the world said then, instead of what is recorded.
    observed: String,
    /// The event by which a person went on; what was answered before it may differ.
    accepted_at: Seq,
}

/// What was accepted in a journal. A difference counts as accepted where the person went on with `retry`.
#[derive(Default)]
pub(super) struct AcceptedDifferences {
    accepted: Vec<AcceptedDifference>,
    /// The difference that waits for a word: episode, step, what the world said.
    pending: Option<(u32, u32, String)>,
}

impl AcceptedDifferences {
    /// Takes the next event into account.
    pub(super) fn record_event(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Diverged { episode, step, actual: now, .. } => {
                self.pending = Some((*episode, *step, now.clone()));
            }
            Event::Retried { .. } => {
                let by = envelope.seq;
                let went_on = self.pending.take();
                self.accepted.extend(went_on.map(|(episode, step, now)| AcceptedDifference {
                    episode,
                    step,
                    observed: now,
                    accepted_at: by,
                }));
            }
            Event::EpisodeEnded { .. } => self.pending = None,
            _ => {}
        }
    }

    /// The event that accepted that the answer of this step, recorded in `seq`, is now this one. The first answer that
    /// differed has to be the accepted one; those that followed it in the old world were not looked at.
    pub(super) fn accepting_event(
        &self,
        episode: u32,
        step: u32,
        seq: Seq,
        recorded: &StepResult,
        now: &StepResult,
    ) -> Option<Seq> {
        let known = |a: &&AcceptedDifference| {
            let same_words = recorded.observation == now.observation || a.observed == now.observation;
            a.episode == episode && seq < a.accepted_at && (step > a.step || (step == a.step && same_words))
        };
        self.accepted.iter().find(known).map(|a| a.accepted_at)
    }
}
