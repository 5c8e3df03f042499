//! The small changes that folding an event is made of.

use crate::domain::{
    CallId, EndReason, EpisodeRole, EpisodeStats, EpisodeSummary, FailureKind, Lesson, LessonId, ModelRole,
    NoteKind, Observation, PoolChangeItem, PromptRecord, Seq, Stage, Step, StepResult, Task, TokenCounts,
    Usage, merge_patch,
};
use crate::engine::{Effect, Episode, Event, Failure, ReplaySeed, State, TokenRatio};
use std::sync::Arc;

impl State {
    pub(super) fn edit_episode(&mut self, edit: impl FnOnce(&mut Episode)) {
        if let Some(episode) = &mut self.episode {
            edit(Arc::make_mut(episode));
        }
    }

    pub(super) fn apply_replay_seed(&mut self, carried: &ReplaySeed) {
        if let Some(attempt) = &carried.attempt {
            self.attempts.insert_mut(attempt.task.key(), Arc::new(attempt.to_episode()));
        }
        if !carried.memory.is_null() {
            self.memory.clone_from(&carried.memory);
        }
        for (id, episode, step) in &carried.learnt_at {
            self.pool.set_learnt_at(id, (*episode, *step));
        }
    }

    /// The thoughts from this step on, up to the overridden one, leave later prompts.
    pub(super) fn drop_thoughts(&mut self, from: u32, overridden: u32) {
        self.edit_episode(|e| {
            // A file may name any numbers.
            let last = overridden.min(e.steps.len() as u32);
            for number in from..last {
                if e.step(number).is_some_and(Step::is_thought_only) {
                    e.edit_step(number, |s| s.dropped_by = Some(overridden));
                }
            }
        });
    }

    pub(super) fn set_setting(&mut self, name: &str, value: &serde_json::Value) {
        let Some(run) = &mut self.run else { return };
        let run = Arc::make_mut(run);
        match (name, value.as_u64(), value.as_bool()) {
            ("max_steps", Some(n), _) => {
                run.limits.steps = u32::try_from(n).unwrap_or(u32::MAX);
                return;
            }
            // No bound is written as 0, or as nothing.
            ("max_moves", n, _) => {
                run.limits.moves = n.map(|n| u32::try_from(n).unwrap_or(u32::MAX)).filter(|n| *n > 0);
            }
            ("wall_seconds", n, _) => run.limits.wall_seconds = n.filter(|n| *n > 0),
            ("loop_detector", _, Some(on)) => run.loop_detector = on,
            _ => {}
        }
        run.settings.set(name, value.clone(), crate::domain::SettingOrigin::Person);
    }

    pub(super) fn edit_step(&mut self, seq: Seq, edit: impl FnOnce(&mut Step)) {
        self.edit_episode(|e| {
            let last = e.steps.len() as u32;
            e.edit_step(last, |s| {
                edit(s);
                s.last_seq = seq;
            });
        });
    }
}

/// Calls to models: what they cost, and those that failed.
impl State {
    /// The actor's call has come to something.
    pub(super) fn remove_actor_call(&mut self) {
        self.calls.retain(|_, c| !matches!(c, Effect::Ask { prompt, .. } if prompt.role == ModelRole::Actor));
    }

    /// A failed call is made again. That is the same call, unless its answer had come and could not be used: each answer that is
    /// asked for counts once.
    pub(super) fn count_retry(&mut self, effect: &Effect, failure: &Failure) {
        if let (Effect::Ask { prompt, .. }, Some(FailureKind::Unusable)) = (effect, failure.kind) {
            let asked = prompt.role;
            self.edit_episode(|e| e.calls += 1);
            self.count_call(asked);
        }
    }

    /// Counts a call for its role and, after the end of the episode it is about, in the summary of that.
    pub(super) fn count_call(&mut self, asked: ModelRole) {
        match asked {
            ModelRole::Actor => self.usage.actor_calls += 1,
            ModelRole::Mentor => self.usage.mentor_calls += 1,
        }
        self.edit_summary(|s| s.calls = s.calls.saturating_add(1));
    }

    /// Counts tokens for a role, for the episode and, after its end, in its summary.
    pub(super) fn count_tokens(&mut self, asked: ModelRole, usage: &Usage) {
        let tokens = usage.tokens();
        let (of_role, apart) = match asked {
            ModelRole::Actor => (&mut self.usage.actor_tokens, &mut self.usage.actor_counts),
            ModelRole::Mentor => (&mut self.usage.mentor_tokens, &mut self.usage.mentor_counts),
        };
        *of_role = of_role.saturating_add(tokens);
        apart.add(usage);
        self.edit_episode(|e| {
            e.tokens = e.tokens.saturating_add(tokens);
            e.token_counts.add(usage);
        });
        self.edit_summary(|s| {
            s.tokens = s.tokens.saturating_add(tokens);
            s.stats.token_counts.add(usage);
        });
    }

    /// Takes the place of what was known before of a role's server. What is new stands with the step whose call taught it; of a
    /// server that nothing was known of, nothing is.
    pub(super) fn record_unsent_settings(
        &mut self,
        seq: Seq,
        call: CallId,
        asked: ModelRole,
        what: &[String],
    ) {
        let noted = format!("{}.unsent", asked.name());
        let known = self.unsent_settings.iter().any(|u| u.0 == asked)
            || self.run.as_ref().is_some_and(|r| r.settings.0.contains_key(&noted));
        if known && self.last_step().is_some_and(|s| s.call == Some(call)) {
            let before = self.unsent_settings(asked);
            let new = what.iter().filter(|told| !before.contains(told)).cloned();
            self.edit_step(seq, |s| s.unsent_settings.extend(new));
        }
        self.unsent_settings.retain(|u| u.0 != asked);
        self.unsent_settings.push((asked, what.to_vec()));
    }

    /// Changes the summary of the last episode, where that has ended.
    fn edit_summary(&mut self, edit: impl Fn(&mut EpisodeSummary)) {
        let Some(ended) = self.episode.as_ref().filter(|e| e.outcome.is_some()).map(|e| e.number) else {
            return;
        };
        // Only the last one: a file that was tampered with may count its episodes in any way, and those before never change.
        let Some(place) = self.ended_episodes.len().checked_sub(1) else { return };
        if self.ended_episodes.get(place).is_none_or(|last| last.number != ended) {
            return;
        }
        if let Some(summary) = self.ended_episodes.get_mut(place) {
            edit(Arc::make_mut(summary));
        }
        self.edit_episode(|e| {
            if let Some(outcome) = &mut e.outcome {
                edit(outcome);
            }
        });
    }

    /// The last reflection answers a prompt that a person had changed.
    pub(super) fn is_last_question_edited(&self) -> bool {
        self.reflections.last().is_some_and(|r| r.prompt_edited)
    }

    /// A person had changed the words of the question that this call asked the mentor.
    pub(super) fn is_question_edited(&self, call: Option<CallId>) -> bool {
        let sent = self.mentor_prompts.iter().map(|(_, last, _)| last);
        call.is_some() && sent.filter(|p| p.edited).any(|p| Some(p.call) == call)
    }

    /// The oldest summary no longer waits. What a person kept by refusing a line counts as touched by a person, and so do the
    /// lessons that came in beside it: a list that a person made is no longer the mentor's alone.
    pub(super) fn settle_pool(&mut self, refused: &[u32]) {
        if self.waiting_summaries.is_empty() {
            return;
        }
        let change = self.waiting_summaries.remove(0);
        if refused.is_empty() {
            return;
        }
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        for (place, line) in (0..).zip(&change.items) {
            match line {
                PoolChangeItem::Retire { id } if refused.contains(&place) => kept.push(id.clone()),
                PoolChangeItem::Retire { id } => gone.push(id.clone()),
                PoolChangeItem::Add { .. } => {}
            }
        }
        let new = self.pool.visible_of_kind(change.question.kind).filter(|l| !l.parents.is_empty());
        let from = |l: &&Lesson| l.parents.iter().any(|p| gone.contains(p) || kept.contains(p));
        let new: Vec<LessonId> = new.filter(from).map(|l| l.id.clone()).collect();
        for id in kept.iter().chain(&new) {
            self.pool.mark_edited_by_person(id);
        }
    }

    pub(super) fn add_failed_call(&mut self, effect: Effect, failure: Failure) {
        if self.failed_call.is_none() {
            self.failed_call = Some((effect, failure));
        } else {
            self.more_failed_calls.push((effect, failure));
        }
    }

    /// Puts other words in the place of a failed call's prompt; whether there is such a call.
    pub(super) fn edit_failed_prompt(&mut self, prompt: &Arc<PromptRecord>) -> bool {
        let mut failed = self.failed_call.iter_mut().chain(&mut self.more_failed_calls);
        let place = failed.find_map(|(effect, _)| match effect {
            Effect::Ask { call, prompt: was } if *call == prompt.call => Some(was),
            _ => None,
        });
        place.map(|was| was.clone_from(prompt)).is_some()
    }

    /// Takes the count of the last answer's prompt in. What a proxy counted says nothing of the model's tokens, a recording nothing of this server's.
    pub(in crate::engine) fn record_token_count(&mut self, prompt: &PromptRecord, usage: &Usage) {
        let counts =
            !usage.estimated && !usage.counted_by_proxy && !usage.recorded && usage.last_prompt_tokens() > 0;
        if !counts || prompt.tokens == 0 {
            return;
        }
        let (asked, estimated, counted) = (prompt.role, u64::from(prompt.tokens), usage.last_prompt_tokens());
        match self.token_ratios.iter_mut().find(|m| m.role == asked) {
            // Sums, so that answers of one round may come in any order.
            Some(measure) => {
                measure.estimated = measure.estimated.saturating_add(estimated);
                measure.counted = measure.counted.saturating_add(counted);
            }
            None => self.token_ratios.push(TokenRatio { role: asked, estimated, counted }),
        }
    }

    /// Takes a failed call from those that wait for a decision.
    pub(super) fn take_failed_call(&mut self, call: CallId) -> Option<(Effect, Failure)> {
        if self.failed_call.as_ref().is_some_and(|(effect, _)| effect.call() == call) {
            let next = (!self.more_failed_calls.is_empty()).then(|| self.more_failed_calls.remove(0));
            return std::mem::replace(&mut self.failed_call, next);
        }
        let place = self.more_failed_calls.iter().position(|(effect, _)| effect.call() == call)?;
        Some(self.more_failed_calls.remove(place))
    }

    /// Keeps the last episode as the last attempt at its task, where that was not won and prompts may show it (setting
    /// `keep_attempts`).
    pub(super) fn keep_attempt(&mut self) {
        let wanted =
            self.run.as_ref().is_some_and(|r| r.trials > 1 && r.settings.flag("keep_attempts", false));
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
    /// An episode before its reset.
    pub(in crate::engine) fn new(
        number: u32,
        task: &Task,
        trial: u32,
        role: EpisodeRole,
        first_seq: Seq,
    ) -> Self {
        Self {
            number,
            task: task.clone(),
            trial,
            role,
            first_observation: None,
            steps: rpds::VectorSync::new_sync(),
            shown: Arc::default(),
            truth: Arc::default(),
            progress: 0.0,
            progress_step: 0,
            moves: 0,
            invalid_moves: 0,
            action_counts: rpds::HashTrieMapSync::new_sync(),
            note_tallies: rpds::HashTrieMapSync::new_sync(),
            calls: 0,
            tokens: 0,
            token_counts: TokenCounts::default(),
            assisted: false,
            outcome: None,
            first_seq,
        }
    }

    pub(super) fn edit_step(&mut self, number: u32, edit: impl FnOnce(&mut Step)) {
        let Some(place) = (number as usize).checked_sub(1) else { return };
        let Some(step) = self.steps.get_mut(place) else { return };
        edit(Arc::make_mut(step));
    }

    /// What lists of ended episodes show of it.
    pub(super) fn stats(&self, moved: std::time::Duration) -> EpisodeStats {
        let millis = u64::try_from(moved.as_millis()).unwrap_or(u64::MAX);
        let noted = self.note_tallies.iter().filter(|(_, tally)| tally.last.kind == NoteKind::Mistake);
        let mut mistakes: Vec<_> = noted.map(|(detector, tally)| (detector.clone(), tally.count)).collect();
        mistakes.sort();
        let (progress_step, invalid, counted) = (self.progress_step, self.invalid_moves, self.token_counts);
        EpisodeStats {
            progress_step,
            invalid_moves: invalid,
            active_millis: millis,
            mistakes,
            token_counts: counted,
        }
    }

    pub(super) fn record_result(&mut self, turn: &StepResult) {
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
        if !turn.valid && !self.steps.last().is_none_or(|s| s.is_thought_only()) {
            self.invalid_moves += 1;
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

pub(super) fn to_observation(turn: &StepResult, seen: Option<&String>) -> Observation {
    Observation {
        raw: turn.observation.clone(),
        agent_view: seen.cloned(),
        reward: turn.reward,
        progress: turn.progress,
        done: turn.done,
        won: turn.won,
        valid: turn.valid,
        edited: false,
    }
}

/// Events of a person that make an episode assisted (DESIGN 1: override, lesson change, reject, edited text).
pub(super) fn is_intervention(event: &Event) -> bool {
    match event {
        Event::EpisodeEnded { summary } => summary.reason == EndReason::Person,
        Event::EditUndone { change, .. } | Event::EditRedone { change, .. } => change.is_intervention(),
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
                | Event::LessonUndone { .. }
                | Event::LessonRedone { .. }
                | Event::Reflected { .. }
                | Event::PromptDrafted { .. }
                | Event::PromptSent { .. }
                | Event::CallGivenUp { .. }
        ),
    }
}
