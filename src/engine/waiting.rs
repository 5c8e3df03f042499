//! Prompts that wait: a draft that was not sent yet, and those whose calls have failed and may be made again.

use super::{Effect, State};
use crate::domain::{CallId, PromptRecord};
use std::sync::Arc;

impl State {
    /// Prompts that a person may still change: the draft, and those of failed calls, the first of these first.
    pub fn waiting(&self) -> impl Iterator<Item = &Arc<PromptRecord>> {
        let failed = self.troubles().filter_map(|(effect, _)| match effect {
            Effect::Ask { prompt, .. } => Some(prompt),
            _ => None,
        });
        self.draft.iter().chain(failed)
    }

    /// The one of a call.
    pub fn waits_for(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        self.waiting().find(|prompt| prompt.call == call)
    }

    /// A failed call's prompt has other words than those it was sent with.
    pub fn changed_since(&self, prompt: &PromptRecord) -> bool {
        let mentors = self.mentor_prompts.iter().map(|(_, last, _)| last);
        let mut sent = self.prompts.0.iter().chain(mentors);
        prompt.edited && !sent.any(|last| last.call == prompt.call && last.sha256 == prompt.sha256)
    }

    /// A failed call's prompt as it would be sent now, where that is otherwise than it was sent: with other words, or sampled
    /// as was chosen since. A person's words and the seed of its place stay; lessons and settings of the words enter no prompt
    /// that is there already.
    pub(super) fn sent_anew(&self, prompt: &PromptRecord) -> Option<PromptRecord> {
        let mut now = prompt.clone();
        self.sample(&mut now);
        let drawn_anew = now.seed != prompt.seed || now.sampling != prompt.sampling;
        (drawn_anew || self.changed_since(prompt)).then_some(now)
    }
}
