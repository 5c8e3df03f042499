//! Calls to models that a person broke off: what had come of them stays, and so do the ways on from there.

use crate::domain::{CallId, ModelRole, PartialReply, PromptRecord, Seq, Stage};
use crate::engine::{Effect, State};
use std::sync::Arc;

impl State {
    pub(super) fn break_off(&mut self, seq: Seq, call: CallId, came: &PartialReply) {
        self.stand_ins.retain(|s| s.0 != call);
        let Some(effect) = self.calls.remove(&call) else { return };
        let Effect::Ask { prompt, .. } = &effect else { return };
        let acts = prompt.asked == ModelRole::Actor;
        if let Some(usage) = &came.usage {
            self.count_tokens(prompt.asked, usage);
        }
        // The mentor's is no matter of the step: the actor's own call may have failed meanwhile, and waits.
        self.edit_step(seq, |s| {
            if acts {
                s.broken_off.push(came.clone());
            }
            if acts && s.stage == Stage::Reply {
                s.stage = Stage::Prompt;
                s.retry += 1;
            }
        });
        self.broken_off.push((effect, came.clone()));
    }

    /// Something goes on: what was broken off is part of that, or of the past. A failed call that is made again is neither,
    /// and leaves the others as they are; a question to the mentor leaves the turn as it is.
    pub(super) fn pass_broken_off(&mut self, effect: &Effect) {
        let call = effect.call();
        if self.troubles().any(|(failed, _)| failed.call() == call) {
            return;
        }
        if !effect.asks(ModelRole::Mentor) {
            return self.broken_off.clear();
        }
        let sent = effect.question();
        let mut before = std::mem::take(&mut self.broken_off);
        before.retain(|(before, _)| match before {
            // Another question that waits with a person's words is not asked in its place.
            Effect::Ask { prompt, .. } if prompt.asked == ModelRole::Mentor => {
                prompt.question != sent && self.changed_since(prompt)
            }
            _ => true,
        });
        self.broken_off = before;
    }

    /// Puts other words in the place of a prompt whose call has failed or was broken off; whether there is such a call.
    pub(super) fn change_asked(&mut self, prompt: &Arc<PromptRecord>) -> bool {
        if self.change_failed(prompt) {
            return true;
        }
        let place = self.broken_off.iter_mut().find_map(|(effect, _)| match effect {
            Effect::Ask { call, prompt: was } if *call == prompt.call => Some(was),
            _ => None,
        });
        place.map(|was| was.clone_from(prompt)).is_some()
    }

    /// Its question was put down anew: with a person's words (so older programs did it) the others wait on.
    pub(super) fn redraft_broken_off(&mut self, draft: &PromptRecord) {
        if draft.edited {
            self.broken_off.retain(|(effect, _)| !same_place(effect, draft));
        } else {
            self.broken_off.clear();
        }
    }

    /// The prompt of a call that was broken off, as it stands under the number of one that takes its place.
    pub(super) fn broken_off_as(&self, now: &PromptRecord) -> Option<Arc<PromptRecord>> {
        let (effect, _) = self.broken_off.iter().find(|(effect, _)| same_place(effect, now))?;
        let Effect::Ask { prompt, .. } = effect else { return None };
        let (call, seed, sampling) = (now.call, now.seed, now.sampling.clone());
        Some(Arc::new(PromptRecord { call, seed, sampling, ..(**prompt).clone() }))
    }
}

fn same_place(effect: &Effect, of: &PromptRecord) -> bool {
    matches!(effect, Effect::Ask { prompt, .. } if (prompt.asked, prompt.question) == (of.asked, of.question))
}
