//! Prompts that wait: a draft that was not sent yet, and those whose calls have failed and may be made again.

use super::{Effect, State};
use crate::domain::{CallId, ModelRole, PromptRecord, Question, Stage};
use std::sync::Arc;

impl State {
    /// Prompts that a person may still change: the draft, those of failed calls, the first of these first, and those of calls
    /// that were broken off.
    pub fn waiting(&self) -> impl Iterator<Item = &Arc<PromptRecord>> {
        let failed = self.troubles().map(|(effect, _)| effect);
        let asked = failed.chain(self.may_be_made_again()).filter_map(|effect| match effect {
            Effect::Ask { prompt, .. } => Some(prompt),
            _ => None,
        });
        self.draft.iter().chain(asked)
    }

    /// Calls that were broken off and may be made again as they were, or with other words: none while a proposal waits, for
    /// going on is about that first.
    pub fn may_be_made_again(&self) -> impl Iterator<Item = &Effect> {
        let free = self.awaiting().is_none() && self.failed_call.is_none() && self.calls.is_empty();
        self.broken_off.iter().map(|(effect, _)| effect).filter(move |_| free)
    }

    /// What was broken off at this place, where it stands with a person's words: it is asked with these.
    pub(super) fn reworded(
        &self,
        asked: ModelRole,
        question: Option<Question>,
    ) -> Option<&Arc<PromptRecord>> {
        self.broken_off.iter().find_map(|(effect, _)| match effect {
            Effect::Ask { prompt, .. } if (prompt.asked, prompt.question) == (asked, question) => {
                Some(prompt).filter(|prompt| prompt.edited)
            }
            _ => None,
        })
    }

    /// A prompt that was broken off waits with words of a person that it was not sent with.
    pub fn words_wait(&self) -> bool {
        self.may_be_made_again()
            .any(|effect| matches!(effect, Effect::Ask { prompt, .. } if self.changed_since(prompt)))
    }

    /// The prompt of a call as it went out last, where that is still held.
    pub(super) fn as_asked(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        let mentors = self.mentor_prompts.iter().map(|(_, last, _)| last);
        self.prompts.0.iter().chain(mentors).find(|sent| sent.call == call)
    }

    /// The open turn has no proposal, and nothing is on its way or waits for it: its call was broken off or given up.
    pub fn unasked(&self) -> bool {
        let idle = self.draft.is_none() && self.failed_call.is_none() && self.calls.is_empty();
        idle && self.open_episode().and_then(|e| e.last()).is_some_and(|s| s.stage == Stage::Prompt)
    }

    /// The turn's own call was broken off, and nobody has said yet how it goes on.
    pub fn turn_broken_off(&self) -> bool {
        self.broken_off.iter().any(|(effect, _)| effect.asks(ModelRole::Actor))
    }

    /// A call to this model has failed or was broken off, and waits for a decision.
    pub fn undecided(&self, who: ModelRole) -> bool {
        self.troubled(who) || self.may_be_made_again().any(|effect| effect.asks(who))
    }

    /// A question to the mentor is under way, drafted, or has failed or was broken off and is not decided: what its episode
    /// teaches is not settled.
    pub fn question_open(&self) -> bool {
        let drafted = self.draft.as_ref().is_some_and(|draft| draft.asked == ModelRole::Mentor);
        drafted || self.asking(ModelRole::Mentor) || self.undecided(ModelRole::Mentor)
    }

    /// The prompt of a call that was broken off, to be asked under a number of its own: an answer to the old one may still be
    /// on its way.
    pub(super) fn renumbered(&self, prompt: &PromptRecord, n: u64) -> PromptRecord {
        let call = CallId(self.next_call.saturating_add(n));
        let mut now = PromptRecord { call, ..prompt.clone() };
        self.sample(&mut now);
        now
    }

    /// The one of a call.
    pub fn waits_for(&self, call: CallId) -> Option<&Arc<PromptRecord>> {
        self.waiting().find(|prompt| prompt.call == call)
    }

    /// A failed call's prompt has other words than those it was sent with.
    pub fn changed_since(&self, prompt: &PromptRecord) -> bool {
        prompt.edited && self.as_asked(prompt.call).is_none_or(|sent| sent.sha256 != prompt.sha256)
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
