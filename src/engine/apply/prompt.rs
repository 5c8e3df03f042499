//! Prompts as they are drafted and sent.

use super::State;
use crate::domain::{Origin, PromptRecord, Seq, Stage};
use std::sync::Arc;

impl State {
    /// A draft, or other words for a call that has failed.
    pub(super) fn draft_prompt(&mut self, prompt: &Arc<PromptRecord>, seq: Seq) {
        if !self.change_failed(prompt) {
            self.draft = Some(prompt.clone());
            self.broken_off.clear();
            self.open_step(prompt, seq, Stage::Prompt);
            self.spend_stage();
        }
    }

    pub(super) fn send_prompt(&mut self, prompt: &Arc<PromptRecord>, seq: Seq) {
        // A failed call that is made again with other words.
        if self.take_trouble(prompt.call).is_none() {
            self.draft = None;
        }
        self.open_step(prompt, seq, Stage::Reply);
        self.pool_used = seq;
        let shown = prompt.segments.iter().filter_map(|s| match &s.origin {
            Origin::Lesson { id, .. } => Some(id),
            _ => None,
        });
        let taught = self.pool.used(shown, seq);
        self.edit_episode(|e| {
            e.calls += 1;
            e.assisted |= taught;
        });
        self.count_call(prompt.asked);
        let sent = prompt.clone();
        if let Some(question) = prompt.question {
            self.remember_question(question, sent);
        } else {
            self.prompts.1 = self.prompts.0.take();
            self.prompts.0 = Some(sent);
        }
    }
}
