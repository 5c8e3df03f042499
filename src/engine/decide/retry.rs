//! Making failed calls again: of whom they were asked, or with a recorded reply in their place.

use crate::engine::{Effect, Engine, Event, Refusal};
use std::sync::Arc;

impl Engine {
    /// All failed calls are made again, each as it is by now: with a person's words, and sampled as was chosen since. Where the
    /// rebuilt world differs, the word is about that alone: nobody is asked anything before it is decided.
    pub(super) fn retry(&self) -> Result<Vec<Event>, Refusal> {
        let state = &self.state;
        if state.divergence.is_some() {
            return Ok(vec![Event::Retried { call: None, from: None }]);
        }
        if state.trouble.is_none() {
            return Err(Refusal::new("no call has failed", "go on with n or Space"));
        }
        let again = |effect: &Effect| match effect {
            Effect::Ask { prompt, .. } => {
                state.sent_anew(prompt).map(|now| Event::PromptSent { prompt: Arc::new(now) })
            }
            _ => None,
        };
        let as_it_was = |effect: &Effect| Event::Retried { call: Some(effect.call()), from: None };
        let events = state.troubles().map(|(effect, _)| again(effect).unwrap_or_else(|| as_it_was(effect)));
        Ok(events.collect())
    }

    /// Only questions to models have recorded replies; what failed of the world stays as it is. They are looked up as they were
    /// sent: a recording knows nothing of a sampling that was chosen since.
    pub(super) fn retry_from(&self, source: &str) -> Result<Vec<Event>, Refusal> {
        if self.state.divergence.is_some() {
            return Err(Refusal::new(
                "the rebuilt world answered other than the journal says, and that comes first",
                "retry accepts the world as it is now; then take the recorded reply",
            ));
        }
        let mut events = Vec::new();
        for (effect, _) in self.state.troubles() {
            let Effect::Ask { call, prompt } = effect else { continue };
            if self.state.changed_since(prompt) {
                return Err(Refusal::new(
                    "a prompt with your words was never asked, so no recording answers it",
                    "try it (r), or take the change back (u) first",
                ));
            }
            events.push(Event::Retried { call: Some(*call), from: Some(source.to_owned()) });
        }
        if events.is_empty() {
            return Err(Refusal::new(
                "no call to a model has failed",
                "a recorded reply can be taken in the place of one that did",
            ));
        }
        Ok(events)
    }
}
