//! Folds drafted and sent prompts into the state.

use super::State;
use crate::domain::{LessonId, ModelRole, PromptRecord, Question, SegmentOrigin, Seq, Stage};
use std::sync::Arc;

impl State {
    /// Stores a draft, or the edited prompt of a failed or cancelled call. Reserves a draft's call id, so that calls
    /// made while the draft waits get other ids.
    pub(super) fn draft_prompt(&mut self, prompt: &Arc<PromptRecord>, seq: Seq) {
        if !self.replace_waiting_prompt(prompt) {
            self.draft = Some(prompt.clone());
            self.next_call = self.next_call.max(prompt.call.0.saturating_add(1));
            self.remove_cancelled_for_draft(prompt);
            self.open_step(prompt, seq, Stage::Prompt);
            self.use_stage_grant();
        }
    }

    pub(super) fn send_prompt(&mut self, prompt: &Arc<PromptRecord>, seq: Seq) {
        // A failed call that is retried with changes is still the same call. The call and its lessons were counted when
        // it was first sent.
        match self.take_failed_call(prompt.call) {
            Some((effect, failure)) => self.count_retry(&effect, &failure),
            None => self.count_sent(prompt, seq),
        }
        self.open_step(prompt, seq, Stage::Reply);
        self.mark_shown_lessons(prompt, seq);
        self.last_pool_use = seq;
        let sent = prompt.clone();
        if let Some(question) = prompt.question {
            self.store_mentor_prompt(question, sent);
            return;
        }
        let previous = self.actor_prompts.0.replace(sent);
        if !previous.as_ref().is_some_and(|previous| is_resend(previous, prompt)) {
            self.actor_prompts.1 = previous;
        }
    }

    /// Records which lessons the actor sees for the first time, and on the step those of a person.
    fn mark_shown_lessons(&mut self, prompt: &PromptRecord, seq: Seq) {
        if prompt.role != ModelRole::Actor {
            return;
        }
        let by_person = self.pool.mark_shown(lesson_ids(prompt), seq);
        if !by_person.is_empty() {
            let shown = by_person.into_iter().map(|number| (seq, number));
            self.edit_step(seq, |step| step.first_shown_lessons.extend(shown));
        }
    }

    /// Counts a call that is being sent, and the uses of the lessons in its prompt.
    fn count_sent(&mut self, prompt: &PromptRecord, seq: Seq) {
        let has_person_edited_lesson = self.pool.count_uses(lesson_ids(prompt), seq);
        self.edit_episode(|e| {
            e.calls += 1;
            e.assisted |= has_person_edited_lesson;
        });
        self.count_call(prompt.role);
    }

    fn store_mentor_prompt(&mut self, question: Question, sent: Arc<PromptRecord>) {
        match self.mentor_prompts.iter_mut().find(|(other, ..)| *other == question) {
            Some((_, last, _)) if is_resend(last, &sent) => *last = sent,
            Some((_, last, before)) => *before = Some(std::mem::replace(last, sent)),
            None => self.mentor_prompts.push((question, sent, None)),
        }
    }
}

/// Returns the lessons in a prompt.
fn lesson_ids(prompt: &PromptRecord) -> impl Iterator<Item = &LessonId> {
    prompt.segments.iter().filter_map(|segment| match &segment.origin {
        SegmentOrigin::Lesson { id, .. } => Some(id),
        _ => None,
    })
}

/// Returns whether `prompt` sends the call of `previous` again with the same text, so that only the sampling can
/// differ.
fn is_resend(previous: &PromptRecord, prompt: &PromptRecord) -> bool {
    (previous.call, &previous.sha256) == (prompt.call, &prompt.sha256)
}
