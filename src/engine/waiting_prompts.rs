//! Prompts that wait: a draft that was not sent yet, and those whose calls have failed and may be made again.

use super::{Effect, State};
use crate::domain::{CallId, ModelRole, PromptRecord, Question, Stage};
use std::sync::Arc;

impl State {
    /// Prompts that a person may still change: the draft, those of failed calls, the first of these first, and those of calls
    /// that were broken off.
    pub fn waiting_prompts(&self) -> impl Iterator<Item = &Arc<PromptRecord>> {
        let failed = self.failed_calls().map(|(effect, _)| effect);
        let asked = failed.chain(self.retryable_calls()).filter_map(|effect| match effect {
            Effect::Ask { prompt, .. } => Some(prompt),
            _ => None,
        });
        self.draft.iter().chain(asked)
    }

    /// Calls that were broken off and may be made again as they were, or with other words: none while a proposal waits, for
    /// going on is about that first.
    pub fn retryable_calls(&self) -> impl Iterator<Item = &Effect> {
        let free =
            self.step_awaiting_decision().is_none() && self.failed_call.is_none() && self.calls.is_empty();
        self.cancelled_calls.iter().map(|(effect, _)| effect).filter(move |_| free)
    }

    /// What was broken off at this place, where it stands with a person's words: it is asked with these.
    pub(super) fn edited_prompt_for(
        &self,
        asked: ModelRole,
        question: Option<Question>,
    ) -> Option<&Arc<PromptRecord>> {
        self.cancelled_calls.iter().find_map(|(effect, _)| match effect {
            Effect::Ask { prompt, .. } if (prompt.role, prompt.question) == (asked, question) => {
                Some(prompt).filter(|prompt| prompt.edited)
            }
            _ => None,
        })
    }

    /// A prompt that was broken off waits with words of a person that it was not sent with.
    pub fn has_unsent_edit(&self) -> bool {
        self.retryable_calls()
            .any(|effect| matches!(effect, Effect::Ask { prompt, .. } if self.is_edited_since_sent(prompt)))
    }

    /// The prompt of a call as it went out last, where that is still held.
    pub(super) fn sent_prompt(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        let mentors = self.mentor_prompts.iter().map(|(_, last, _)| last);
        self.actor_prompts.0.iter().chain(mentors).find(|sent| sent.call == call)
    }

    /// The open turn has no proposal, and nothing is on its way or waits for it: its call was broken off or given up.
    pub fn has_idle_step(&self) -> bool {
        let idle = self.draft.is_none() && self.failed_call.is_none() && self.calls.is_empty();
        idle && self.open_episode().and_then(|e| e.last_step()).is_some_and(|s| s.stage == Stage::Prompt)
    }

    /// The turn's own call was broken off, and nobody has said yet how it goes on.
    pub fn is_step_cancelled(&self) -> bool {
        self.cancelled_calls.iter().any(|(effect, _)| effect.is_prompt_for(ModelRole::Actor))
    }

    /// A call to this model has failed or was broken off, and waits for a decision.
    pub fn has_undecided_call(&self, who: ModelRole) -> bool {
        self.has_failed_call(who) || self.retryable_calls().any(|effect| effect.is_prompt_for(who))
    }

    /// A question to the mentor is under way, drafted, or has failed or was broken off and is not decided: what its episode
    /// teaches is not settled.
    pub fn has_open_question(&self) -> bool {
        let drafted = self.draft.as_ref().is_some_and(|draft| draft.role == ModelRole::Mentor);
        drafted || self.is_asking(ModelRole::Mentor) || self.has_undecided_call(ModelRole::Mentor)
    }

    /// The prompt of a call that was broken off, to be asked under a number of its own: an answer to the old one may still be
    /// on its way.
    pub(super) fn with_new_call(&self, prompt: &PromptRecord, n: u64) -> PromptRecord {
        let call = CallId(self.next_call.saturating_add(n));
        let mut now = PromptRecord { call, ..prompt.clone() };
        self.set_sampling(&mut now);
        now
    }

    /// The one of a call.
    pub fn waiting_prompt(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        self.waiting_prompts().find(|prompt| prompt.call == call)
    }

    /// A failed call's prompt has other words than those it was sent with.
    pub fn is_edited_since_sent(&self, prompt: &PromptRecord) -> bool {
        prompt.edited && self.sent_prompt(prompt.call).is_none_or(|sent| sent.sha256 != prompt.sha256)
    }

    /// A failed call's prompt as it would be sent now, where that is otherwise than it was sent: with other words, or sampled
    /// as was chosen since. A person's words and the seed of its place stay; lessons and settings of the words enter no prompt
    /// that is there already.
    pub(super) fn updated_prompt(&self, prompt: &PromptRecord) -> Option<PromptRecord> {
        let mut now = prompt.clone();
        self.set_sampling(&mut now);
        let drawn_anew = now.seed != prompt.seed || now.sampling != prompt.sampling;
        (drawn_anew || self.is_edited_since_sent(prompt)).then_some(now)
    }
}
