//! The small changes that folding an event is made of.

use crate::domain::{
    Asked, CallId, EndReason, EpisodeSummary, Hindsight, NoteKind, PromptRecord, Question, Seen, Seq, Stage,
    Step, Turn, merge_patch,
};
use crate::engine::{Effect, Episode, Event, Failure, State};
use std::sync::Arc;

impl State {
    pub(super) fn edit_episode(&mut self, edit: impl FnOnce(&mut Episode)) {
        if let Some(episode) = &mut self.episode {
            edit(Arc::make_mut(episode));
        }
    }

    /// The thoughts from this step on, up to the overridden one, leave later prompts.
    pub(super) fn drop_thoughts(&mut self, from: u32, overridden: u32) {
        self.edit_episode(|e| {
            // A file may name any numbers.
            let last = overridden.min(e.steps.len() as u32);
            for number in from..last {
                if e.step(number).is_some_and(Step::only_thinks) {
                    e.edit_numbered(number, |s| s.dropped_by = Some(overridden));
                }
            }
        });
    }

    pub(super) fn edit_step(&mut self, seq: Seq, edit: impl FnOnce(&mut Step)) {
        self.edit_episode(|e| {
            let last = e.steps.len() as u32;
            e.edit_numbered(last, |s| {
                edit(s);
                s.last_seq = seq;
            });
        });
    }
}

/// Calls to models: what they cost, and those that failed.
impl State {
    /// The actor's call has come to something.
    pub(super) fn settle_actor(&mut self) {
        self.calls.retain(|_, c| !matches!(c, Effect::Ask { prompt, .. } if prompt.asked == Asked::Actor));
    }

    /// Counts a call for its role and, after the end of the episode it is about, in the summary of that.
    pub(super) fn count_call(&mut self, asked: Asked) {
        match asked {
            Asked::Actor => self.spent.actor_calls += 1,
            Asked::Mentor => self.spent.mentor_calls += 1,
        }
        self.edit_summary(|s| s.calls = s.calls.saturating_add(1));
    }

    /// Counts tokens for a role, for the episode and, after its end, in its summary.
    pub(super) fn count_tokens(&mut self, asked: Asked, tokens: u64) {
        let of_role = match asked {
            Asked::Actor => &mut self.spent.actor_tokens,
            Asked::Mentor => &mut self.spent.mentor_tokens,
        };
        *of_role = of_role.saturating_add(tokens);
        self.edit_episode(|e| e.tokens = e.tokens.saturating_add(tokens));
        self.edit_summary(|s| s.tokens = s.tokens.saturating_add(tokens));
    }

    /// Changes the summary of the last episode, where that has ended.
    fn edit_summary(&mut self, edit: impl Fn(&mut EpisodeSummary)) {
        let Some(ended) = self.episode.as_ref().filter(|e| e.outcome.is_some()).map(|e| e.number) else {
            return;
        };
        // Only the last one: a file that was tampered with may count its episodes in any way, and those before never change.
        let Some(place) = self.past.len().checked_sub(1) else { return };
        if self.past.get(place).is_none_or(|last| last.number != ended) {
            return;
        }
        if let Some(summary) = self.past.get_mut(place) {
            edit(Arc::make_mut(summary));
        }
        self.edit_episode(|e| {
            if let Some(outcome) = &mut e.outcome {
                edit(outcome);
            }
        });
    }

    pub(super) fn remember_question(&mut self, question: Question, sent: Arc<PromptRecord>) {
        match self.mentor_prompts.iter_mut().find(|(asked, ..)| *asked == question) {
            Some((_, last, before)) => *before = Some(std::mem::replace(last, sent)),
            None => self.mentor_prompts.push((question, sent, None)),
        }
    }

    /// The last reflection answers a prompt that a person had changed.
    pub(super) fn prompted_by_person(&self) -> bool {
        let call = self.reflections.last().and_then(|r| r.call);
        let sent = self.mentor_prompts.iter().map(|(_, last, _)| last);
        call.is_some() && sent.filter(|p| p.edited).any(|p| Some(p.call) == call)
    }

    pub(super) fn add_trouble(&mut self, effect: Effect, failure: Failure) {
        if self.trouble.is_none() {
            self.trouble = Some((effect, failure));
        } else {
            self.more_trouble.push((effect, failure));
        }
    }

    /// Takes a failed call from those that wait for a decision.
    pub(super) fn take_trouble(&mut self, call: CallId) -> Option<Effect> {
        if self.trouble.as_ref().is_some_and(|(effect, _)| effect.call() == call) {
            let next = (!self.more_trouble.is_empty()).then(|| self.more_trouble.remove(0));
            return std::mem::replace(&mut self.trouble, next).map(|(effect, _)| effect);
        }
        let place = self.more_trouble.iter().position(|(effect, _)| effect.call() == call)?;
        Some(self.more_trouble.remove(place).0)
    }

    /// Keeps the last episode as the last attempt at its task, where that was not won and prompts may show it (setting
    /// `keep_attempts`, or a `strategy` that shows the last attempt).
    pub(super) fn keep_attempt(&mut self) {
        let wanted = self.run.as_ref().is_some_and(|r| {
            let shown = matches!(r.settings.word("strategy", "none"), "last-attempt" | "both");
            r.trials > 1 && (shown || r.settings.switch("keep_attempts", false))
        });
        let Some(last) = self.episode.take().filter(|_| wanted) else { return };
        let key = last.task.key();
        match &last.outcome {
            Some(outcome) if !outcome.won => {
                self.attempts.insert_mut(key, last);
            }
            _ => {
                self.attempts.remove_mut(&key);
            }
        }
    }
}

impl Episode {
    pub(super) fn edit_numbered(&mut self, number: u32, edit: impl FnOnce(&mut Step)) {
        let Some(place) = (number as usize).checked_sub(1) else { return };
        let Some(step) = self.steps.get_mut(place) else { return };
        edit(Arc::make_mut(step));
    }

    /// What lists of ended episodes show of it.
    pub(super) fn hindsight(&self, moved: std::time::Duration) -> Hindsight {
        let millis = u64::try_from(moved.as_millis()).unwrap_or(u64::MAX);
        let noted = self.noted.iter().filter(|(_, tally)| tally.last.kind == NoteKind::Mistake);
        let mut mistakes: Vec<_> = noted.map(|(detector, tally)| (detector.clone(), tally.count)).collect();
        mistakes.sort();
        Hindsight { progress_step: self.progress_step, invalid: self.invalid, millis, mistakes }
    }

    pub(super) fn absorb(&mut self, turn: &Turn) {
        if !turn.shown.is_null() {
            merge_patch(Arc::make_mut(&mut self.shown), &turn.shown);
        }
        if !turn.truth.is_null() {
            merge_patch(Arc::make_mut(&mut self.truth), &turn.truth);
        }
        if turn.progress > self.progress {
            self.progress_step = self.steps.len() as u32;
        }
        self.progress = turn.progress;
        if !turn.valid && !self.steps.last().is_none_or(|s| s.only_thinks()) {
            self.invalid += 1;
        }
    }
}

impl Step {
    pub(super) fn clear_proposal(&mut self) {
        self.thought = None;
        self.thought_edited = false;
        self.proposed = None;
        self.complaints.clear();
        self.approved = false;
        self.executed = None;
        self.stage = Stage::Prompt;
        self.retry += 1;
    }
}

pub(super) fn seen_of(turn: &Turn, seen: Option<&String>) -> Seen {
    Seen {
        raw: turn.observation.clone(),
        seen: seen.cloned(),
        reward: turn.reward,
        progress: turn.progress,
        done: turn.done,
        won: turn.won,
        valid: turn.valid,
        edited: false,
    }
}

/// Events of a person that make an episode assisted (DESIGN 1: override, lesson change, reject, edited text).
pub(super) fn touches_episode(event: &Event) -> bool {
    match event {
        Event::EpisodeEnded { summary } => summary.reason == EndReason::Person,
        Event::TakenBack { change, .. } | Event::MadeAgain { change, .. } => change.touches_episode(),
        _ => matches!(
            event,
            Event::ActionOverridden { .. }
                | Event::ProposalRejected { .. }
                | Event::AskedAgain { .. }
                | Event::CallCancelled { .. }
                | Event::SettingChanged { .. }
                | Event::RunChanged { .. }
                | Event::ThoughtEdited { .. }
                | Event::ObservationEdited { .. }
                | Event::LessonChanged { .. }
                | Event::Undone { .. }
                | Event::Redone { .. }
                | Event::Reflected { .. }
                | Event::PromptDrafted { .. }
                | Event::PromptSent { .. }
                | Event::GivenUp { .. }
        ),
    }
}
