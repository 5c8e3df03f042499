//! Cancelled calls to models. Each is kept with its partial reply until it is retried, given up or superseded.

use crate::domain::{CallId, ModelRole, PartialReply, PromptRecord, Seq, Stage};
use crate::engine::{Effect, State};
use std::sync::Arc;

impl State {
    pub(super) fn cancel_call(&mut self, seq: Seq, call: CallId, partial_reply: &PartialReply) {
        self.reply_overrides.retain(|(overridden, _)| *overridden != call);
        let Some(effect) = self.calls.remove(&call) else { return };
        if matches!(effect, Effect::Compute { .. }) {
            return self.cancelled_calls.push((effect, PartialReply::default()));
        }
        let Effect::Ask { prompt, .. } = &effect else { return };
        let is_actor = prompt.role == ModelRole::Actor;
        if let Some(usage) = &partial_reply.usage {
            self.count_tokens(prompt.role, usage);
        }
        // Cancelling a mentor's call must not change the step, because a failed call of the actor may be waiting in it.
        self.edit_step(seq, |s| {
            if is_actor {
                s.partial_replies.push(partial_reply.clone());
            }
            if is_actor && s.stage == Stage::Reply {
                s.stage = Stage::Prompt;
                s.retry += 1;
            }
        });
        self.cancelled_calls.push((effect, partial_reply.clone()));
    }

    /// Removes the cancelled calls that a new call supersedes. The retry of a failed call supersedes none. A question
    /// to the mentor supersedes only cancelled questions; any other call supersedes all cancelled calls.
    pub(super) fn clear_cancelled(&mut self, effect: &Effect) {
        let call = effect.call();
        if self.failed_calls().any(|(failed, _)| failed.call() == call) {
            return;
        }
        if !effect.is_prompt_for(ModelRole::Mentor) {
            return self.cancelled_calls.clear();
        }
        let question = effect.question();
        let mut cancelled_calls = std::mem::take(&mut self.cancelled_calls);
        cancelled_calls.retain(|(cancelled, _)| match cancelled {
            // Another question's cancelled call is kept only if its prompt contains an edit that hasn't been sent.
            Effect::Ask { prompt, .. } if prompt.role == ModelRole::Mentor => {
                prompt.question != question && self.is_edited_since_sent(prompt)
            }
            _ => true,
        });
        self.cancelled_calls = cancelled_calls;
    }

    /// Replaces the prompt of the failed or cancelled call that has this prompt's call id. Returns whether there is
    /// such a call.
    pub(super) fn replace_waiting_prompt(&mut self, prompt: &Arc<PromptRecord>) -> bool {
        if self.replace_failed_prompt(prompt) {
            return true;
        }
        let cancelled_prompt = self.cancelled_calls.iter_mut().find_map(|(effect, _)| match effect {
            Effect::Ask { call, prompt: previous } if *call == prompt.call => Some(previous),
            _ => None,
        });
        cancelled_prompt.map(|previous| previous.clone_from(prompt)).is_some()
    }

    /// Removes the cancelled calls that a new draft replaces. A draft that a person edited replaces only the cancelled
    /// call with the same role and question, because older versions of the program recorded the edit of a cancelled
    /// prompt as a draft. Any other draft replaces all cancelled calls.
    pub(super) fn remove_cancelled_for_draft(&mut self, draft: &PromptRecord) {
        if draft.edited {
            self.cancelled_calls.retain(|(effect, _)| !is_same_question(effect, draft));
        } else {
            self.cancelled_calls.clear();
        }
    }

    /// Returns the prompt of the cancelled call that has the draft's role and question, with the call id, seed and
    /// sampling of the draft.
    pub(super) fn cancelled_prompt_for_draft(&self, draft: &PromptRecord) -> Option<Arc<PromptRecord>> {
        let (effect, _) = self.cancelled_calls.iter().find(|(effect, _)| is_same_question(effect, draft))?;
        let Effect::Ask { prompt, .. } = effect else { return None };
        let (call, seed, sampling) = (draft.call, draft.seed, draft.sampling.clone());
        Some(Arc::new(PromptRecord { call, seed, sampling, ..(**prompt).clone() }))
    }
}

/// Returns whether an effect sends a prompt with the same role and, for a mentor, the same question.
fn is_same_question(effect: &Effect, other: &PromptRecord) -> bool {
    matches!(effect, Effect::Ask { prompt, .. } if (prompt.role, prompt.question) == (other.role, other.question))
}
