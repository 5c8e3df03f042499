//! Differences of a rebuilt environment that a person accepted: the results recorded before them came from an
//! environment that no longer exists.

use crate::domain::{Seq, StepResult};
use crate::engine::{Cause, Envelope, Event};

/// One accepted difference.
struct AcceptedDifference {
    episode: u32,
    /// The first step whose result differed; 0 is the reset.
    step: u32,
    /// The observation of the rebuilt environment, in place of the recorded one.
    observed: String,
    /// The event by which the person accepted it; results before it may differ.
    accepted_at: Seq,
}

/// The accepted differences of a journal. `retry` accepts a difference.
#[derive(Default)]
pub(super) struct AcceptedDifferences {
    accepted: Vec<AcceptedDifference>,
    /// The difference that is waiting for a decision: episode, step, new observation.
    pending: Option<(u32, u32, String)>,
}

impl AcceptedDifferences {
    /// Takes the next event into account.
    pub(super) fn record_event(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Diverged { episode, step, actual: now, .. } => {
                self.pending = Some((*episode, *step, now.clone()));
            }
            // The environment answered as recorded again.
            Event::Retried { .. } if envelope.cause == Cause::World => self.pending = None,
            Event::Retried { .. } => {
                let accepted = self.pending.take();
                self.accepted.extend(accepted.map(|(episode, step, now)| AcceptedDifference {
                    episode,
                    step,
                    observed: now,
                    accepted_at: envelope.seq,
                }));
            }
            Event::EpisodeEnded { .. } => self.pending = None,
            _ => {}
        }
    }

    /// Returns the event that accepted the change of this step's result, recorded in `seq`, from `recorded` to `now`.
    /// The first differing observation must be the accepted one; later ones in the old environment were not compared.
    pub(super) fn accepting_event(
        &self,
        episode: u32,
        step: u32,
        seq: Seq,
        recorded: &StepResult,
        now: &StepResult,
    ) -> Option<Seq> {
        let covers = |a: &&AcceptedDifference| {
            let is_expected = recorded.observation == now.observation || a.observed == now.observation;
            a.episode == episode && seq < a.accepted_at && (step > a.step || (step == a.step && is_expected))
        };
        self.accepted.iter().find(covers).map(|a| a.accepted_at)
    }
}
