//! Calls to models that a person broke off: what had come of them stays, and so do the ways on from there.

use crate::domain::{CallId, ModelRole, PartialReply, PromptRecord, Seq, Stage};
use crate::engine::{Effect, State};
use std::sync::Arc;

impl State {
    pub(super) fn cancel_call(&mut self, seq: Seq, call: CallId, came: &PartialReply) {
        self.reply_overrides.retain(|s| s.0 != call);
        let Some(effect) = self.calls.remove(&call) else { return };
        let Effect::Ask { prompt, .. } = &effect else { return };
        let acts = prompt.role == ModelRole::Actor;
        if let Some(usage) = &came.usage {
            self.count_tokens(prompt.role, usage);
        }
        // The mentor's is no matter of the step: the actor's own call may have failed meanwhile, and waits.
        self.edit_step(seq, |s| {
            if acts {
                s.partial_replies.push(came.clone());
            }
            if acts && s.stage == Stage::Reply {
                s.stage = Stage::Prompt;
                s.retry += 1;
            }
        });
        self.cancelled_calls.push((effect, came.clone()));
    }

    /// Something goes on: what was broken off is part of that, or of the past. A failed call that is made again is neither,
    /// and leaves the others as they are; a question to the mentor leaves the turn as it is.
    pub(super) fn clear_cancelled(&mut self, effect: &Effect) {
        let call = effect.call();
        if self.failed_calls().any(|(failed, _)| failed.call() == call) {
            return;
        }
        if !effect.is_prompt_for(ModelRole::Mentor) {
            return self.cancelled_calls.clear();
        }
        let sent = effect.question();
        let mut before = std::mem::take(&mut self.cancelled_calls);
        before.retain(|(before, _)| match before {
            // Another question that waits with a person's words is not asked in its place.
            Effect::Ask { prompt, .. } if prompt.role == ModelRole::Mentor => {
                prompt.question != sent && self.is_edited_since_sent(prompt)
            }
            _ => true,
        });
        self.cancelled_calls = before;
    }

    /// Puts other words in the place of a prompt whose call has failed or was broken off; whether there is such a call.
    pub(super) fn edit_waiting_prompt(&mut self, prompt: &Arc<PromptRecord>) -> bool {
        if self.edit_failed_prompt(prompt) {
            return true;
        }
        let place = self.cancelled_calls.iter_mut().find_map(|(effect, _)| match effect {
            Effect::Ask { call, prompt: was } if *call == prompt.call => Some(was),
            _ => None,
        });
        place.map(|was| was.clone_from(prompt)).is_some()
    }

    /// Its question was put down anew: with a person's words (so older programs did it) the others wait on.
    pub(super) fn redraft_cancelled(&mut self, draft: &PromptRecord) {
        if draft.edited {
            self.cancelled_calls.retain(|(effect, _)| !is_same_question(effect, draft));
        } else {
            self.cancelled_calls.clear();
        }
    }

    /// The prompt of a call that was broken off, as it stands under the number of one that takes its place.
    pub(super) fn cancelled_prompt_as(&self, now: &PromptRecord) -> Option<Arc<PromptRecord>> {
        let (effect, _) = self.cancelled_calls.iter().find(|(effect, _)| is_same_question(effect, now))?;
        let Effect::Ask { prompt, .. } = effect else { return None };
        let (call, seed, sampling) = (now.call, now.seed, now.sampling.clone());
        Some(Arc::new(PromptRecord { call, seed, sampling, ..(**prompt).clone() }))
    }
}

fn is_same_question(effect: &Effect, of: &PromptRecord) -> bool {
    matches!(effect, Effect::Ask { prompt, .. } if (prompt.role, prompt.question) == (of.role, of.question))
}
