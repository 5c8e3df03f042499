//! Retrying failed calls, with the model or with a recorded reply.

use crate::domain::{CallId, PromptRecord};
use crate::engine::{CommandError, Effect, Engine, Event};
use std::sync::Arc;

impl Engine {
    /// Retries all failed calls, with any changes that a person made to their prompts or to the sampling parameters. If a
    /// rebuilt environment diverged from the journal, accepts its response instead and retries nothing. If no call has failed but one was
    /// cancelled, continues to the next proposal, which sends the cancelled request again. A retried call of the environment
    /// continues to the next proposal, too, as the step does that it belongs to.
    pub(super) fn retry(&self) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        if state.divergence.is_some() {
            return Ok(vec![Event::Retried { call: None, reply_source: None }]);
        }
        if state.failed_call.is_none() && state.retryable_calls().next().is_some() {
            return self.step();
        }
        if state.failed_call.is_none() {
            return Err(CommandError::new("no call has failed", "continue with n or Space"));
        }
        let updated_prompt = |effect: &Effect| match effect {
            Effect::Ask { prompt, .. } => {
                state.updated_prompt(prompt).map(|updated| Event::PromptSent { prompt: Arc::new(updated) })
            }
            _ => None,
        };
        let unchanged = |effect: &Effect| Event::Retried { call: Some(effect.call()), reply_source: None };
        let retried = state
            .failed_calls()
            .map(|(effect, _)| updated_prompt(effect).unwrap_or_else(|| unchanged(effect)));
        let mut events: Vec<Event> = retried.collect();
        if state.failed_calls().any(|(effect, _)| effect.is_of_environment()) {
            self.grant_if_paused(&mut events);
        }
        Ok(events)
    }

    /// Retries failed and cancelled calls to models with replies from a recording; failed calls to the environment stay
    /// failed. Searches the recording for the request as it would be sent now: a recorded reply matches only if the
    /// model and the sampling are the same as well.
    pub(super) fn retry_from_recording(&self, source: &str) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        if state.divergence.is_some() {
            return Err(CommandError::new(
                "the rebuilt environment's response differs from the one in the journal; decide about that first",
                "retry to accept the new response, then use the recorded reply",
            ));
        }
        let mut events = Vec::new();
        let mut replay = |call: CallId, updated: Option<PromptRecord>| {
            events.extend(updated.map(|updated| Event::PromptSent { prompt: Arc::new(updated) }));
            events.push(Event::Retried { call: Some(call), reply_source: Some(source.to_owned()) });
        };
        for (effect, _) in state.failed_calls() {
            let Effect::Ask { call, prompt } = effect else { continue };
            if state.is_edited_since_sent(prompt) {
                return Err(no_recorded_reply());
            }
            replay(*call, state.updated_prompt(prompt));
        }
        // The draft was edited after its request was cancelled.
        let edited_draft_waits = state.draft.as_ref().is_some_and(|draft| draft.edited);
        for (n, effect) in (0..).zip(state.retryable_calls().filter(|_| !edited_draft_waits)) {
            let Effect::Ask { prompt, .. } = effect else { continue };
            // A recording can only answer the prompt that was sent, without a person's later edits.
            let sent = state.sent_prompt(prompt.call).unwrap_or(prompt);
            let prompt = state.with_new_call(sent, n);
            replay(prompt.call, Some(prompt));
        }
        if events.is_empty() && edited_draft_waits {
            return Err(no_recorded_reply());
        }
        if events.is_empty() {
            return Err(CommandError::new(
                "no model call has failed or been cancelled",
                "a recorded reply can only replace the reply of a failed or cancelled call",
            ));
        }
        Ok(events)
    }
}

fn no_recorded_reply() -> CommandError {
    CommandError::new(
        "there is no recorded reply for an edited prompt",
        "retry it (r), or undo the edit (u) first",
    )
}
