//! Waiting prompts: a draft that hasn't been sent yet, and the prompts of failed or cancelled calls that can be
//! retried.

use super::{Effect, State};
use crate::domain::{CallId, EpisodeSummary, ModelRole, PromptRecord, Question, Stage, Task};
use std::sync::Arc;

impl State {
    /// Returns the prompts that a person may still edit: the draft, those of failed calls in order, and those of
    /// cancelled calls.
    pub fn waiting_prompts(&self) -> impl Iterator<Item = &Arc<PromptRecord>> {
        let failed = self.failed_calls().map(|(effect, _)| effect);
        let prompts = failed.chain(self.retryable_calls()).filter_map(|effect| match effect {
            Effect::Ask { prompt, .. } => Some(prompt),
            _ => None,
        });
        self.draft.iter().chain(prompts)
    }

    /// Returns the cancelled calls that can be retried, unchanged or edited. Continuing the session retries them, so
    /// there are none while continuing would do something else: while a proposal or a failed call waits for a decision,
    /// or while any call is in flight.
    pub fn retryable_calls(&self) -> impl Iterator<Item = &Effect> {
        let is_idle =
            self.step_awaiting_decision().is_none() && self.failed_call.is_none() && self.calls.is_empty();
        self.cancelled_calls.iter().map(|(effect, _)| effect).filter(move |_| is_idle)
    }

    /// Returns the prompt of a cancelled call of this role and question if a person edited it. The engine then sends
    /// this prompt instead of drafting a new one.
    pub(super) fn edited_prompt_for(
        &self,
        role: ModelRole,
        question: Option<Question>,
    ) -> Option<&Arc<PromptRecord>> {
        self.cancelled_calls.iter().find_map(|(effect, _)| match effect {
            Effect::Ask { prompt, .. } if (prompt.role, prompt.question) == (role, question) => {
                Some(prompt).filter(|prompt| prompt.edited)
            }
            _ => None,
        })
    }

    /// Returns whether a person edited the prompt of a cancelled call that can be retried, and hasn't sent it since.
    pub fn has_unsent_edit(&self) -> bool {
        self.retryable_calls()
            .any(|effect| matches!(effect, Effect::Ask { prompt, .. } if self.is_edited_since_sent(prompt)))
    }

    /// Returns the prompt of a call as it was last sent, if the state still has it.
    pub(super) fn sent_prompt(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        let mentor_prompts = self.mentor_prompts.iter().map(|(_, last, _)| last);
        self.actor_prompts.0.iter().chain(mentor_prompts).find(|sent| sent.call == call)
    }

    /// Returns whether the open step has no proposal and won't get one unless the session continues: its call was
    /// cancelled or given up, and there is no draft, no failed call and no call in flight.
    pub fn has_idle_step(&self) -> bool {
        let idle = self.draft.is_none() && self.failed_call.is_none() && self.calls.is_empty();
        idle && self.open_episode().and_then(|e| e.last_step()).is_some_and(|s| s.stage == Stage::Prompt)
    }

    /// Returns whether the actor's call was cancelled and hasn't been retried or given up since.
    pub fn is_step_cancelled(&self) -> bool {
        self.cancelled_calls.iter().any(|(effect, _)| effect.is_prompt_for(ModelRole::Actor))
    }

    /// Returns whether a call to the model of this role needs a decision: it has failed, or it was cancelled and can be
    /// retried.
    pub fn has_undecided_call(&self, role: ModelRole) -> bool {
        self.has_failed_call(role) || self.retryable_calls().any(|effect| effect.is_prompt_for(role))
    }

    /// Returns the trial that an episode of a task has if a person begins it.
    pub fn next_trial(&self, task: &Task) -> u32 {
        let is_same = |ended: &&EpisodeSummary| ended.task.id == task.id && ended.task.env == task.env;
        let ended = self.ended_episodes.iter().map(|ended| &**ended).filter(is_same).count() as u32;
        ended + self.settings().place.first_trial.unwrap_or(1)
    }

    /// Returns whether a job of the method needs a decision: it has failed, or it was cancelled and can be computed again.
    pub fn has_undecided_job(&self) -> bool {
        let failed = self.failed_calls().map(|(effect, _)| effect);
        failed.chain(self.retryable_calls()).any(|effect| effect.job().is_some())
    }

    /// Returns whether a question to the mentor is drafted, or a question or a job of the method is in flight or needs a
    /// decision ([`Self::has_undecided_call`], [`Self::has_undecided_job`]). Until it is answered or given up, the episode's
    /// lessons aren't final.
    pub fn awaits_mentor_or_job(&self) -> bool {
        let drafted = self.draft.as_ref().is_some_and(|draft| draft.role == ModelRole::Mentor);
        drafted
            || self.is_asking(ModelRole::Mentor)
            || self.has_undecided_call(ModelRole::Mentor)
            || self.is_computing()
            || self.has_undecided_job()
    }

    /// Returns the prompt of a cancelled call with the current sampling and a new call id; under the old id, a reply to
    /// the cancelled call may still arrive. `call_index` is the index of the new call in its batch, from 0.
    pub(super) fn with_new_call(&self, prompt: &PromptRecord, call_index: u64) -> PromptRecord {
        let call = CallId(self.next_call.saturating_add(call_index));
        let mut updated = PromptRecord { call, ..prompt.clone() };
        self.set_sampling(&mut updated);
        updated
    }

    /// Returns the waiting prompt of a call.
    pub fn waiting_prompt(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        self.waiting_prompts().find(|prompt| prompt.call == call)
    }

    /// Returns whether a person edited a prompt and its current text hasn't been sent.
    pub fn is_edited_since_sent(&self, prompt: &PromptRecord) -> bool {
        prompt.edited && self.sent_prompt(prompt.call).is_none_or(|sent| sent.sha256 != prompt.sha256)
    }

    /// Returns the prompt of a failed call with the current sampling and a person's edits, or `None` if neither has
    /// changed since the prompt was sent. The prompt isn't drafted again, so its text doesn't include later lessons.
    pub(super) fn updated_prompt(&self, prompt: &PromptRecord) -> Option<PromptRecord> {
        let mut updated = prompt.clone();
        self.set_sampling(&mut updated);
        let sampling_changed = updated.seed != prompt.seed || updated.sampling != prompt.sampling;
        (sampling_changed || self.is_edited_since_sent(prompt)).then_some(updated)
    }
}
