//! Making failed calls again: of whom they were asked, or with a recorded reply in their place.

use crate::domain::{CallId, PromptRecord};
use crate::engine::{CommandError, Effect, Engine, Event};
use std::sync::Arc;

impl Engine {
    /// All failed calls are made again, each as it is by now: with a person's words, and sampled as was chosen since. Where the
    /// rebuilt world differs, the word is about that alone: nobody is asked anything before it is decided. Where nothing has
    /// failed and a call was broken off, what is due is asked anew.
    pub(super) fn retry(&self) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        if state.divergence.is_some() {
            return Ok(vec![Event::Retried { call: None, reply_source: None }]);
        }
        if state.failed_call.is_none() && state.retryable_calls().next().is_some() {
            return self.step();
        }
        if state.failed_call.is_none() {
            return Err(CommandError::new("no call has failed", "go on with n or Space"));
        }
        let again = |effect: &Effect| match effect {
            Effect::Ask { prompt, .. } => {
                state.updated_prompt(prompt).map(|now| Event::PromptSent { prompt: Arc::new(now) })
            }
            _ => None,
        };
        let as_it_was = |effect: &Effect| Event::Retried { call: Some(effect.call()), reply_source: None };
        let events =
            state.failed_calls().map(|(effect, _)| again(effect).unwrap_or_else(|| as_it_was(effect)));
        Ok(events.collect())
    }

    /// Only questions to models have recorded replies; what failed of the world stays as it is. They are looked up as they
    /// would be sent now: what is kept of a model was asked as that is sampled, and the model may be another since.
    pub(super) fn retry_from_recording(&self, source: &str) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        if state.divergence.is_some() {
            return Err(CommandError::new(
                "the rebuilt world answered other than the journal says, and that comes first",
                "retry accepts the world as it is now; then take the recorded reply",
            ));
        }
        let mut events = Vec::new();
        let mut take = |call: CallId, now: Option<PromptRecord>| {
            events.extend(now.map(|now| Event::PromptSent { prompt: Arc::new(now) }));
            events.push(Event::Retried { call: Some(call), reply_source: Some(source.to_owned()) });
        };
        for (effect, _) in state.failed_calls() {
            let Effect::Ask { call, prompt } = effect else { continue };
            if state.is_edited_since_sent(prompt) {
                return Err(CommandError::new(
                    "a prompt with your words was never asked, so no recording answers it",
                    "try it (r), or take the change back (u) first",
                ));
            }
            take(*call, state.updated_prompt(prompt));
        }
        let waits = state.draft.as_ref().is_some_and(|draft| draft.edited);
        for (n, effect) in (0..).zip(state.retryable_calls().filter(|_| !waits)) {
            let Effect::Ask { prompt, .. } = effect else { continue };
            // A person's words were never asked: the recording is, as the model was.
            let asked = state.sent_prompt(prompt.call).unwrap_or(prompt);
            let now = state.with_new_call(asked, n);
            take(now.call, Some(now));
        }
        if events.is_empty() {
            return Err(CommandError::new(
                "no call to a model has failed or was broken off",
                "a recorded reply can be taken in the place of one that did",
            ));
        }
        Ok(events)
    }
}
