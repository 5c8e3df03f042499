//! Helpers for the folds of events; most of them are used by several folds.

use crate::domain::common_settings::KeptAttempt;
use crate::domain::{
    ActionDraft, CallId, ENDS_TASK, EndReason, EpisodeRole, EpisodeStats, EpisodeSummary, FailureKind,
    LOST_BECAUSE, Lesson, LessonId, LessonOp, ModelRole, NoteKind, Observation, PoolSummaryItem,
    PromptRecord, Seq, Setting, SettingOrigin, Stage, Step, StepResult, Task, TokenCounts, Usage,
    merge_patch,
};
use crate::engine::{Effect, Episode, Event, Failure, Remark, ReplayStart, State, TokenRatio};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl State {
    pub(super) fn edit_episode(&mut self, edit: impl FnOnce(&mut Episode)) {
        if let Some(episode) = &mut self.episode {
            edit(Arc::make_mut(episode));
        }
    }

    pub(super) fn apply_replay_start(&mut self, replay_start: &ReplayStart) {
        if let Some(attempt) = &replay_start.attempt {
            self.attempts.insert_mut(attempt.task.key(), Arc::new(attempt.to_episode()));
        }
        for success in &replay_start.successes {
            self.successes.insert_mut(success.task.key(), Arc::new(success.to_episode()));
        }
        if !replay_start.memory.is_null() {
            self.memory.clone_from(&replay_start.memory);
        }
        for (id, episode, step) in &replay_start.learnt_at {
            self.pool.set_learnt_at(id, (*episode, *step));
        }
    }

    /// Marks the thought-only steps from `first` up to, but not including, the overridden step as dropped, so that
    /// later prompts omit them.
    pub(super) fn drop_thoughts(&mut self, first: u32, overridden: u32) {
        self.edit_episode(|e| {
            // The numbers come from a journal file, so they may lie outside the episode.
            let end = overridden.min(e.steps.len() as u32);
            for number in first..end {
                if e.step(number).is_some_and(Step::is_thought_only) {
                    e.edit_step(number, |s| s.dropped_by = Some(overridden));
                }
            }
        });
    }

    pub(super) fn set_setting(&mut self, name: &str, value: &serde_json::Value) {
        let Some(run) = &mut self.run else { return };
        let setting = Setting { value: value.clone(), origin: SettingOrigin::Person };
        Arc::make_mut(run).change_setting(name, Some(setting));
    }

    /// Edits the last step and records `seq` as its last event.
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

/// Calls to models: counting them and their tokens, and keeping the failed ones.
impl State {
    /// Removes failed jobs, whose results another method could not process.
    pub(super) fn drop_failed_jobs(&mut self) {
        self.more_failed_calls.retain(|(effect, _)| effect.job().is_none());
        if self.failed_call.take_if(|(effect, _)| effect.job().is_some()).is_some() {
            self.failed_call =
                if self.more_failed_calls.is_empty() { None } else { Some(self.more_failed_calls.remove(0)) };
        }
    }

    /// Removes the actor's call after it has ended.
    pub(super) fn remove_actor_call(&mut self) {
        self.calls.retain(|_, c| !matches!(c, Effect::Ask { prompt, .. } if prompt.role == ModelRole::Actor));
    }

    /// Counts the retry of a failed call as another call if the call failed because its reply was unusable: the retry
    /// requests a second reply. After any other failure, the retry belongs to the call that is already counted.
    pub(super) fn count_retry(&mut self, effect: &Effect, failure: &Failure) {
        if let (Effect::Ask { prompt, .. }, Some(FailureKind::Unusable)) = (effect, failure.kind) {
            let role = prompt.role;
            self.edit_episode(|e| e.calls += 1);
            self.count_call(role);
        }
    }

    /// Counts a call for its role and, if the last episode has ended, in the summary of that episode.
    pub(super) fn count_call(&mut self, role: ModelRole) {
        match role {
            ModelRole::Actor => self.usage.actor_calls += 1,
            ModelRole::Mentor => self.usage.mentor_calls += 1,
        }
        self.edit_summary(|s| s.calls = s.calls.saturating_add(1));
    }

    /// Counts tokens for a role, for the open or last episode and, if that has ended, in its summary.
    pub(super) fn count_tokens(&mut self, role: ModelRole, usage: &Usage) {
        let tokens = usage.tokens();
        let (total, counts) = match role {
            ModelRole::Actor => (&mut self.usage.actor_tokens, &mut self.usage.actor_counts),
            ModelRole::Mentor => (&mut self.usage.mentor_tokens, &mut self.usage.mentor_counts),
        };
        *total = total.saturating_add(tokens);
        counts.add(usage);
        self.edit_episode(|e| {
            e.tokens = e.tokens.saturating_add(tokens);
            e.token_counts.add(usage);
        });
        self.edit_summary(|s| {
            s.tokens = s.tokens.saturating_add(tokens);
            s.stats.token_counts.add(usage);
        });
    }

    /// Replaces the list of settings that a role's server doesn't receive or receives with a different value. If there
    /// was a list before, its new entries are also recorded in the step whose call revealed them.
    pub(super) fn record_setting_deviations(
        &mut self,
        seq: Seq,
        call: CallId,
        role: ModelRole,
        settings: &[String],
    ) {
        let had_list = self.setting_deviations.iter().any(|u| u.0 == role)
            || self.settings().role(role).deviations.is_some();
        if had_list && self.last_step().is_some_and(|s| s.call == Some(call)) {
            let before = self.setting_deviations(role);
            let new = settings.iter().filter(|setting| !before.contains(setting)).cloned();
            self.edit_step(seq, |s| s.setting_deviations.extend(new));
        }
        self.setting_deviations.retain(|u| u.0 != role);
        self.setting_deviations.push((role, settings.to_vec()));
    }

    /// Edits both copies of the last episode's summary, if that episode has ended.
    fn edit_summary(&mut self, edit: impl Fn(&mut EpisodeSummary)) {
        let Some(ended) = self.episode.as_ref().filter(|e| e.outcome.is_some()).map(|e| e.number) else {
            return;
        };
        // Only the last summary ever changes. Its number is compared because a journal that was tampered with may
        // number its episodes arbitrarily.
        let Some(index) = self.ended_episodes.len().checked_sub(1) else { return };
        if self.ended_episodes.get(index).is_none_or(|last| last.number != ended) {
            return;
        }
        if let Some(summary) = self.ended_episodes.get_mut(index) {
            edit(Arc::make_mut(summary));
        }
        self.edit_episode(|e| {
            if let Some(outcome) = &mut e.outcome {
                edit(outcome);
            }
        });
    }

    /// Returns whether the last reflection is the reply to a prompt that a person edited.
    pub(super) fn is_last_question_edited(&self) -> bool {
        self.reflections.last().is_some_and(|r| r.prompt_edited)
    }

    /// Returns whether a person edited the mentor's prompt of this call.
    pub(super) fn is_question_edited(&self, call: Option<CallId>) -> bool {
        let sent = self.mentor_prompts.iter().map(|(_, last, _)| last);
        call.is_some() && sent.filter(|p| p.edited).any(|p| Some(p.call) == call)
    }

    /// Removes the oldest waiting summary. If a person refused any of its items, marks as edited by a person the lessons
    /// whose retirement was refused and the lessons that the summary added: the result isn't the mentor's alone.
    pub(super) fn apply_summary(&mut self, refused: &[u32]) {
        if self.waiting_summaries.is_empty() {
            return;
        }
        let summary = self.waiting_summaries.remove(0);
        if refused.is_empty() {
            return;
        }
        let (mut retired, mut kept) = (Vec::new(), Vec::new());
        for (index, item) in (0..).zip(&summary.items) {
            match item {
                PoolSummaryItem::Retire { id } if refused.contains(&index) => kept.push(id.clone()),
                PoolSummaryItem::Retire { id } => retired.push(id.clone()),
                PoolSummaryItem::Add { .. } => {}
            }
        }
        let new = self.pool.visible_of_kind(summary.question.kind).filter(|l| !l.parents.is_empty());
        let is_merged = |l: &&Lesson| l.parents.iter().any(|p| retired.contains(p) || kept.contains(p));
        let new: Vec<LessonId> = new.filter(is_merged).map(|l| l.id.clone()).collect();
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

    /// Replaces the prompt of the failed call that has this prompt's call id. Returns whether there is such a call.
    pub(super) fn replace_failed_prompt(&mut self, prompt: &Arc<PromptRecord>) -> bool {
        let mut failed = self.failed_call.iter_mut().chain(&mut self.more_failed_calls);
        let failed_prompt = failed.find_map(|(effect, _)| match effect {
            Effect::Ask { call, prompt: previous } if *call == prompt.call => Some(previous),
            _ => None,
        });
        failed_prompt.map(|previous| previous.clone_from(prompt)).is_some()
    }

    /// Adds the server's token count for a prompt to the role's [`TokenRatio`]. Ignores counts that don't come from
    /// this server: our own estimates, a proxy's counts and those in a recording.
    pub(in crate::engine) fn update_token_ratio(&mut self, prompt: &PromptRecord, usage: &Usage) {
        let is_server_count =
            !usage.estimated && !usage.counted_by_proxy && !usage.recorded && usage.last_prompt_tokens() > 0;
        if !is_server_count || prompt.tokens == 0 {
            return;
        }
        let (role, estimated, counted) = (prompt.role, u64::from(prompt.tokens), usage.last_prompt_tokens());
        match self.token_ratios.iter_mut().find(|m| m.role == role) {
            // Sums don't depend on the order in which the replies to concurrent prompts arrive.
            Some(ratio) => {
                ratio.estimated = ratio.estimated.saturating_add(estimated);
                ratio.counted = ratio.counted.saturating_add(counted);
            }
            None => self.token_ratios.push(TokenRatio { role, estimated, counted }),
        }
    }

    /// Removes a failed call and returns it with its failure.
    pub(super) fn take_failed_call(&mut self, call: CallId) -> Option<(Effect, Failure)> {
        if self.failed_call.as_ref().is_some_and(|(effect, _)| effect.call() == call) {
            let next = (!self.more_failed_calls.is_empty()).then(|| self.more_failed_calls.remove(0));
            return std::mem::replace(&mut self.failed_call, next);
        }
        let index = self.more_failed_calls.iter().position(|(effect, _)| effect.call() == call)?;
        Some(self.more_failed_calls.remove(index))
    }

    /// Moves the last episode out of the state before the next one starts. If tasks get several trials and the setting
    /// `keep_attempts` is on, stores it as the last attempt at its task or, if it was won, removes the stored attempt.
    /// With `contrast=first` the first failed attempt stays instead. Stores a successful attempt at a training task if
    /// `keep_successes` is on.
    pub(super) fn keep_attempt(&mut self) {
        let keeps_successes = self.settings().keep_successes;
        let has_trials = keeps_successes || self.run.as_ref().is_some_and(|r| r.trials > 1);
        let keeps_failures = has_trials && self.settings().keep_attempts;
        let Some(last) = self.episode.take() else { return };
        let key = last.task.key();
        let is_won = last.outcome.as_ref().is_some_and(|outcome| outcome.won);
        if is_won && keeps_successes && self.is_training(last.role) {
            self.successes.insert_mut(key.clone(), Arc::clone(&last));
        }
        if !keeps_failures {
            return;
        }
        match &last.outcome {
            // It shows nothing of what the agent can do.
            Some(outcome) if outcome.reason.is_env_failure() => {}
            Some(outcome) if !outcome.won => {
                let keeps_first = self.settings().kept_attempt == KeptAttempt::First;
                if !(keeps_first && self.attempts.contains_key(&key)) {
                    self.attempts.insert_mut(key, last);
                }
            }
            _ => {
                self.attempts.remove_mut(&key);
            }
        }
    }
}

impl Episode {
    /// Creates an episode whose environment hasn't been reset yet.
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
            interventions: Vec::new(),
            outcome: None,
            first_seq,
        }
    }

    pub(super) fn edit_step(&mut self, number: u32, edit: impl FnOnce(&mut Step)) {
        let Some(index) = (number as usize).checked_sub(1) else { return };
        let Some(step) = self.steps.get_mut(index) else { return };
        edit(Arc::make_mut(step));
    }

    /// Gives each step those of all remarks that are about it.
    pub fn set_remarks(&mut self, all: &[Remark]) {
        let mut of_steps: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for remark in all.iter().filter(|remark| remark.episode == self.number) {
            of_steps.entry(remark.step).or_default().push(remark.text.clone());
        }
        let wanted = |step: &Step| of_steps.get(&step.number).map_or(&[][..], Vec::as_slice);
        let differs = |step: &&Arc<Step>| step.remarks != wanted(step);
        let changed: Vec<u32> = self.steps.iter().filter(differs).map(|step| step.number).collect();
        for number in changed {
            let remarks = of_steps.remove(&number).unwrap_or_default();
            self.edit_step(number, |step| step.remarks = remarks);
        }
    }

    /// Returns the statistics that lists of ended episodes show.
    pub(super) fn stats(&self, active_time: std::time::Duration) -> EpisodeStats {
        let tallies = self.note_tallies.iter().filter(|(_, tally)| tally.last.kind == NoteKind::Mistake);
        let mut mistakes: Vec<_> = tallies.map(|(detector, tally)| (detector.clone(), tally.count)).collect();
        mistakes.sort();
        EpisodeStats {
            progress_step: self.progress_step,
            invalid_moves: self.invalid_moves,
            active_millis: u64::try_from(active_time.as_millis()).unwrap_or(u64::MAX),
            mistakes,
            token_counts: self.token_counts,
            ends_task: self.shown.get(ENDS_TASK) == Some(&Value::Bool(true)),
            lost_because: self.lost_because(),
        }
    }

    /// Returns why the environment has ended the episode as lost, in its own words; it may be another program, which says anything.
    fn lost_because(&self) -> String {
        const MAX_CHARS: usize = 60;
        let is_over =
            self.last_step().and_then(|step| step.answer.as_ref()).is_some_and(|a| a.done && !a.won);
        let words = self.shown.get(LOST_BECAUSE).and_then(Value::as_str).filter(|_| is_over);
        let words = words.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect()
    }

    pub(super) fn record_result(&mut self, result: &StepResult) {
        if !result.shown.is_null() {
            merge_patch(Arc::make_mut(&mut self.shown), &result.shown);
        }
        if !result.truth.is_null() {
            merge_patch(Arc::make_mut(&mut self.truth), &result.truth);
        }
        let progress = result.progress_rate();
        if progress > self.progress {
            self.progress_step = self.steps.len() as u32;
        }
        self.progress = progress;
        if !result.valid && self.steps.last().is_some_and(|s| !s.is_thought_only()) {
            self.invalid_moves += 1;
        }
    }
}

impl Step {
    /// Discards the proposal and sets the step back to the prompt stage for another try.
    pub(super) fn clear_proposal(&mut self) {
        self.reasoning = "".into();
        self.tool_calls.clear();
        self.thought = None;
        self.thought_edited = false;
        self.proposed = None;
        self.planned.clear();
        self.complaints.clear();
        self.approved = false;
        self.executed = None;
        self.stage = Stage::Prompt;
        self.retry += 1;
    }

    /// Keeps an action that the actor is asked to fit to the present state.
    pub(super) fn add_draft(&mut self, action: &str) {
        let (action, unusable_before) = (action.to_owned(), self.unusable_replies);
        self.drafts.push(ActionDraft { action, unusable_before, discarded: false });
    }

    /// Makes the step begin with another draft, if it has one.
    pub(super) fn discard_draft(&mut self) {
        if let Some(draft) = self.drafts.last_mut() {
            draft.discarded = true;
        }
    }
}

pub(super) fn to_observation(result: &StepResult, agent_view: Option<&String>) -> Observation {
    Observation {
        raw: result.observation.clone(),
        agent_view: agent_view.cloned(),
        reward: result.reward,
        progress: result.progress_rate(),
        done: result.done,
        won: result.won,
        valid: result.valid,
        edited: false,
    }
}

/// Returns whether an event makes the open episode assisted if a person caused it. Overrides, rejections, lesson
/// changes and edited texts do, for example; approvals and remarks don't.
pub(super) fn is_intervention(event: &Event) -> bool {
    match event {
        Event::EpisodeEnded { summary } => summary.reason == EndReason::Person,
        Event::LessonChanged { op, .. } => !matches!(**op, LessonOp::Measured { .. }),
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
                | Event::LessonUndone { .. }
                | Event::LessonRedone { .. }
                | Event::Reflected { .. }
                | Event::PromptDrafted { .. }
                | Event::PromptSent { .. }
                | Event::CallGivenUp { .. }
        ),
    }
}
