//! The state: the fold of all events so far.

use super::{
    Breakpoints, Clock, Effect, Episode, Failure, LastAdvice, OpenSamples, PauseReason, Pool, Prefetch,
    PrefetchStats, ReplyTally, TokenRatio, UndoEntry,
};
use crate::domain::{
    AskedAt, Autonomy, BranchId, CallId, EpisodeRole, EpisodeSummary, Lesson, ModelRole, PartialReply,
    PoolSummary, PromptRecord, Question, Reflection, ReflectionKind, RoleSource, RunSettings, RunSpec,
    SampleStats, Scope, Seq, SettingValue, Stage, Step, StepResult, Task, TokenCounts, TrialInfo,
    TypedSetting, format_price, pluralize,
};
use jiff::Timestamp;
use rpds::{HashTrieMapSync, VectorSync};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// What a person has written about a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    pub episode: u32,
    /// The step; 0 for the episode.
    pub step: u32,
    pub text: String,
}

/// Whether the session is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The session waits for a person, unless a [`Grant`] lets it continue.
    #[default]
    Paused,
    /// A pause was requested while calls are in flight.
    Pausing,
    Running,
}

/// A person's permission for a paused session to continue, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// To the next proposal.
    Step,
    /// By one stage.
    Stage,
}

/// Calls to models and their tokens, by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageTotals {
    pub actor_calls: u64,
    pub mentor_calls: u64,
    /// Tokens of the actor's prompts and replies.
    pub actor_tokens: u64,
    /// Tokens of the mentor's prompts and replies.
    pub mentor_tokens: u64,
    /// The actor's tokens by source (reported by the server, estimated and so on), and their cost.
    #[serde(default)]
    #[serde(rename = "actor")]
    pub actor_counts: TokenCounts,
    /// The mentor's tokens by source, and their cost.
    #[serde(default)]
    #[serde(rename = "mentor")]
    pub mentor_counts: TokenCounts,
    /// Statistics of prefetched requests. Requests that no call used are counted only here.
    #[serde(default, skip_serializing_if = "PrefetchStats::is_empty")]
    #[serde(rename = "ahead")]
    pub prefetch: PrefetchStats,
    /// Counts of samples, which are in no other count.
    #[serde(default, skip_serializing_if = "SampleStats::is_empty")]
    pub samples: SampleStats,
}

/// The fold of all events. Cloning is cheap: collections that grow are shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last folded event.
    pub head: Seq,
    /// Name of the session.
    pub session: String,
    /// The run; `None` before it has started.
    pub run: Option<Arc<RunSpec>>,
    pub autonomy: Autonomy,
    pub run_status: RunStatus,
    /// A person's permission for a paused session to continue; `None` if there is none or it is used up.
    pub grant: Option<Grant>,
    /// Why the session is paused.
    pub pause_reason: Option<PauseReason>,
    /// The open or last episode.
    pub episode: Option<Arc<Episode>>,
    /// Active time of the open or last episode.
    #[serde(default)]
    pub clock: Clock,
    /// Ended episodes, in order.
    pub ended_episodes: VectorSync<Arc<EpisodeSummary>>,
    pub pool: Pool,
    /// All reflections, in order.
    pub reflections: VectorSync<Arc<Reflection>>,
    /// The last reflection with advice, by kind and task ([`State::last_advice`]).
    #[serde(default, skip_serializing_if = "HashTrieMapSync::is_empty")]
    pub last_advice: HashTrieMapSync<String, LastAdvice>,
    /// Texts that prompts refer to, by hash.
    pub texts: HashTrieMapSync<String, Arc<str>>,
    /// Calls in flight.
    pub calls: BTreeMap<CallId, Effect>,
    /// The id of the next call.
    pub next_call: u64,
    /// A drafted prompt that waits to be sent.
    pub draft: Option<Arc<PromptRecord>>,
    /// The last prompt sent to the actor, and the prompt sent before it, to show the difference. If a call is sent
    /// again with the same text, the two sends count as one prompt.
    pub actor_prompts: (Option<Arc<PromptRecord>>, Option<Arc<PromptRecord>>),
    /// For each question to the mentor, the last prompt sent and the prompt sent before it, like
    /// [`Self::actor_prompts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentor_prompts: Vec<(Question, Arc<PromptRecord>, Option<Arc<PromptRecord>>)>,
    /// The last finished attempt at each task, by [`Task::key`], unless that attempt was won. Attempts are kept only if
    /// tasks get several trials and the setting `keep_attempts` is on; a replay loads the attempt its episode needs.
    #[serde(default)]
    pub attempts: HashTrieMapSync<String, Arc<Episode>>,
    /// The last successful attempt at each training task, by [`Task::key`]. Kept only if the setting `keep_successes` is
    /// on.
    #[serde(default, skip_serializing_if = "HashTrieMapSync::is_empty")]
    pub successes: HashTrieMapSync<String, Arc<Episode>>,
    /// Calls to models and their usage so far.
    #[serde(default)]
    pub usage: UsageTotals,
    /// The last prompt that was sent or action that was executed. An edit made after it is still unused, so it can be
    /// undone.
    pub last_pool_use: Seq,
    /// The first of the failed calls that wait for a person's decision.
    pub failed_call: Option<(Effect, Failure)>,
    /// Calls in flight that are answered by a recording instead of the model, each with the name of the recording
    /// (`recorded:SESSION` or `cache`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_overrides: Vec<(CallId, String)>,
    /// For each role, the settings that its server doesn't receive or receives with a different value. Each entry is a
    /// phrase that includes the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "unsent_settings")]
    pub setting_deviations: Vec<(ModelRole, Vec<String>)>,
    /// Prefetched requests that are neither used nor dropped yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefetched: Vec<Prefetch>,
    /// Requests for samples of which some have not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_samples: Vec<OpenSamples>,
    /// The number of the last request for samples.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub last_sample_group: u32,
    /// Counts of the actor's replies since the run started or was last changed to another actor.
    #[serde(default, skip_serializing_if = "ReplyTally::is_empty")]
    pub actor_replies: ReplyTally,
    /// For each role, how its server's token counts compare with this program's estimates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_ratios: Vec<TokenRatio>,
    /// Calls that failed while [`Self::failed_call`] waited for a decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_failed_calls: Vec<(Effect, Failure)>,
    /// Calls to models that a person cancelled and that haven't been retried, with their partial replies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancelled_calls: Vec<(Effect, PartialReply)>,
    /// A difference between the rebuilt environment and the journal, until a person decides how to continue: (episode,
    /// step, recorded observation, actual observation).
    pub divergence: Option<(u32, u32, String, String)>,
    /// The method's memory.
    pub memory: Value,
    /// Number of batches in a row that only the method wrote: reflections, lesson changes and its memory.
    #[serde(default)]
    pub method_writes: u32,
    /// Summaries of the lesson pool, written by the mentor, whose proposed changes wait for a person to accept or
    /// refuse them, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_summaries: Vec<PoolSummary>,
    /// Edits that can be undone, the latest last.
    pub undo_stack: Vec<UndoEntry>,
    /// Undone edits that can be redone, the latest last.
    pub redo_stack: Vec<UndoEntry>,
    /// All remarks, in the order in which they were written. Those on a step of the newest episode are also with the step.
    pub remarks: Vec<Remark>,
    /// Breakpoints and watches, and the counts of consecutive steps that their conditions use.
    #[serde(default)]
    pub breakpoints: Breakpoints,
    /// Whether the run has ended.
    pub run_over: bool,
    /// Whether the session was closed properly.
    pub closed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl UsageTotals {
    /// Returns the cost of all models in billionths of the currency unit, including unused prefetches and samples.
    pub fn cost_nano(&self) -> u64 {
        let called = self.actor_counts.plus(self.mentor_counts);
        called.plus(self.prefetch.wasted).plus(self.samples.spent).cost_nano
    }

    /// Returns the tokens of all models, including unused prefetches and samples.
    pub fn tokens(&self) -> u64 {
        let called = self.actor_tokens.saturating_add(self.mentor_tokens);
        let beside = self.prefetch.wasted.plus(self.samples.spent).tokens();
        called.saturating_add(beside)
    }

    /// Returns whether models were called for anything but the actor's steps.
    pub fn has_other_calls(&self) -> bool {
        self.mentor_calls > 0 || self.samples.requested > 0 || self.prefetch.wasted.tokens() > 0
    }

    fn describe(&self, is_played_by_rules: bool) -> String {
        let price = |nano: u64| match nano {
            0 => String::new(),
            _ => format!(", cost {}", format_price(nano)),
        };
        let part = |role: &str, word: &str, calls: u64, tokens: u64, counts: TokenCounts| {
            let cost = price(counts.cost_nano);
            let source = if counts.tokens() == counts.estimated || counts.tokens() == counts.reported {
                if counts.estimated > 0 { " (estimated)".to_owned() } else { String::new() }
            } else {
                format!(" ({})", counts.describe())
            };
            format!("{role} {}, {tokens} tokens{source}{cost}", pluralize(calls, word))
        };
        // After a change of the actor, models have been called as well.
        let (actor, word) = match self.actor_counts {
            counts if is_played_by_rules && counts.tokens() == counts.estimated => ("rules", "prompt"),
            _ => ("actor", "call"),
        };
        let mut parts = vec![part(actor, word, self.actor_calls, self.actor_tokens, self.actor_counts)];
        if self.mentor_calls > 0 {
            parts.push(part("mentor", "call", self.mentor_calls, self.mentor_tokens, self.mentor_counts));
        }
        let wasted = self.prefetch.wasted;
        let prefetched = (wasted.tokens() > 0)
            .then(|| format!("unused prefetches, {} tokens{}", wasted.tokens(), price(wasted.cost_nano)));
        let beside: Vec<String> = self.samples.describe().into_iter().chain(prefetched).collect();
        if !beside.is_empty() {
            parts.extend(beside);
            parts.push(format!("together {} tokens{}", self.tokens(), price(self.cost_nano())));
        }
        parts.join("; ")
    }
}

impl State {
    /// Describes the calls and tokens of each model that was called, and the prompts that the rules have read. If samples or unused
    /// prefetches belong to them, it also says what all of them come to.
    pub fn describe_usage(&self) -> String {
        self.usage.describe(self.run.as_deref().is_some_and(RunSpec::is_played_by_rules))
    }

    /// Returns the settings that the engine reads, or their values in a run without any before it has started.
    pub fn settings(&self) -> &RunSettings {
        static WITHOUT_RUN: LazyLock<RunSettings> = LazyLock::new(RunSettings::default);
        self.run.as_ref().map_or(&*WITHOUT_RUN, |run| run.settings.typed())
    }

    /// Returns the value of a setting of the run's method.
    pub fn setting<T: SettingValue>(&self, setting: TypedSetting<T>) -> T {
        self.run.as_ref().map_or(setting.if_missing, |run| run.settings.get(setting))
    }

    /// Returns the episode that has started and not ended, even if its environment is still being reset.
    pub fn open_episode(&self) -> Option<&Episode> {
        self.episode.as_deref().filter(|e| e.outcome.is_none())
    }

    /// Returns this state's point of a branch, as the one at which a measurement is asked for.
    pub fn asked_at(&self, branch: &BranchId) -> AskedAt {
        AskedAt {
            session: self.session.clone(),
            branch: branch.clone(),
            seq: self.head,
            episode: self.episode.as_ref().map(|episode| episode.number),
            step: self.last_step().map(|step| step.number),
        }
    }

    /// Returns the last step of the open or last episode.
    pub fn last_step(&self) -> Option<&Step> {
        self.episode.as_deref().and_then(Episode::last_step)
    }

    /// Returns the open step if it is in the decision stage: it has a proposal or, if a person plays, waits for the
    /// person's action.
    pub fn step_awaiting_decision(&self) -> Option<&Step> {
        let step = self.open_episode()?.last_step()?;
        (step.stage == Stage::Decision).then_some(step)
    }

    /// Returns whether a call to the model of this role is in flight.
    pub fn is_asking(&self, role: ModelRole) -> bool {
        self.calls.values().any(|c| matches!(c, Effect::Ask { prompt, .. } if prompt.role == role))
    }

    /// Returns whether a job is being computed.
    pub fn is_computing(&self) -> bool {
        self.calls.values().any(|call| matches!(call, Effect::Compute { .. }))
    }

    /// Returns the name of the recording that answers a call instead of the model, if a person chose one.
    pub fn reply_override(&self, call: CallId) -> Option<&str> {
        self.reply_overrides.iter().find(|s| s.0 == call).map(|s| s.1.as_str())
    }

    /// Returns the settings that a role's server doesn't receive or receives with a different value. The list is the
    /// one that the role's calls revealed last, or else the one recorded at the start of the run.
    pub fn setting_deviations(&self, role: ModelRole) -> Vec<String> {
        if let Some((_, learnt)) = self.setting_deviations.iter().find(|u| u.0 == role) {
            return learnt.clone();
        }
        self.settings().role(role).deviations.clone().unwrap_or_default()
    }

    /// Returns the state as it would be if a lesson were on, in its given wording, or off.
    #[must_use]
    pub fn with_lesson(&self, lesson: &Lesson, is_on: bool) -> Self {
        Self { pool: self.pool.clone().with_lesson(lesson, is_on), ..self.clone() }
    }

    /// Returns all failed calls that wait for a decision.
    pub fn failed_calls(&self) -> impl Iterator<Item = &(Effect, Failure)> {
        self.failed_call.iter().chain(&self.more_failed_calls)
    }

    /// Returns whether a call to the model of this role has failed and waits for a decision.
    pub fn has_failed_call(&self, role: ModelRole) -> bool {
        self.failed_calls()
            .any(|(effect, _)| matches!(effect, Effect::Ask { prompt, .. } if prompt.role == role))
    }

    /// Returns the step whose action the environment has failed to answer.
    pub fn unanswered_step(&self) -> Option<&Step> {
        self.failed_calls().find(|(effect, _)| matches!(effect, Effect::StepWorld { .. }))?;
        self.open_episode()?.last_step()
    }

    /// Returns the last attempt at a task before the open or last episode, if it wasn't won and is still kept. With the
    /// setting `contrast=first`, it is the first attempt instead.
    pub fn last_attempt(&self, task: &Task) -> Option<&Arc<Episode>> {
        self.attempts.get(&task.key())
    }

    /// Returns whether the task of the open or last episode gets no trial after it, whatever comes of this one. A task that is
    /// listed twice gets its trials twice.
    pub fn is_last_trial(&self) -> bool {
        let Some(run) = self.run.as_deref() else { return true };
        let Some(episode) = self.episode.as_deref() else { return run.trials == 0 };
        let is_same = |task: &Task| task.is_same(&episode.task);
        if run.tasks.iter().filter(|task| is_same(task)).count() < 2 {
            return episode.trial >= run.trials;
        }
        let earlier = self.ended_episodes.iter().filter(|ended| {
            ended.number < episode.number && ended.role == episode.role && is_same(&ended.task)
        });
        let used = earlier.fold(1, |used, ended| {
            let ends_listing = ended.ends_task() || used >= run.trials;
            if ends_listing { 1 } else { used + 1 }
        });
        used >= run.trials
    }

    /// Returns what an environment may know of the open or last episode's trial.
    pub fn trial_info(&self) -> TrialInfo {
        TrialInfo { is_last: self.is_last_trial(), run: self.run.clone() }
    }

    /// Returns whether the run learns from an episode of this role: from calibration if it has any, otherwise from the
    /// tests. The rerun of a test is no training if the original run had a calibration.
    pub fn is_training(&self, role: EpisodeRole) -> bool {
        let calibrates = self.settings().place.calibration_tasks.is_some();
        role == if calibrates { EpisodeRole::Calibrate } else { EpisodeRole::Test }
    }

    /// Returns an episode by its number: the open or last one, or an earlier attempt that is still kept.
    pub fn episode_by_number(&self, number: u32) -> Option<&Episode> {
        let current = self.episode.as_deref().filter(|e| e.number == number);
        current.or_else(|| {
            if let Some(past) = self.ended_episode(number) {
                let kept = [self.last_attempt(&past.task), self.successes.get(&past.task.key())];
                return kept.into_iter().flatten().map(Arc::as_ref).find(|e| e.number == number);
            }
            // A replay loads attempts of another session, which aren't among the ended episodes.
            let kept = self.attempts.values().chain(self.successes.values());
            kept.map(Arc::as_ref).find(|e| e.number == number)
        })
    }

    /// Returns whether the mentor has answered this question since the last answered step of the episode, or a person
    /// gave up on the question. Also `true` in a run without a mentor: nobody will answer, so a method that waited for it
    /// would have nothing to do.
    pub fn is_answered(&self, question: Question) -> bool {
        let source = self.run.as_ref().map(|run| run.role_source(ModelRole::Mentor));
        source == Some(RoleSource::Nobody) || self.answers_to(question) > 0
    }

    /// Returns how many times the mentor has answered it since that step, or a person gave up on it.
    pub(super) fn answers_to(&self, question: Question) -> u32 {
        let Some(episode) = self.episode.as_deref() else { return 0 };
        let (number, step) = (episode.number, episode.answered_steps());
        let is_current = |r: &&Arc<Reflection>| r.episode == number && r.step == step;
        let recent = self.reflections.iter().rev().take_while(is_current);
        recent.filter(|r| r.question() == question).count() as u32
    }

    /// Returns whether a call to the environment is in flight.
    pub fn is_world_busy(&self) -> bool {
        self.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. } | Effect::StepWorld { .. }))
    }

    /// Returns whether a reflection of this kind was written since the last step began.
    pub fn has_reflected(&self, kind: ReflectionKind) -> bool {
        let Some(step) = self.last_step() else { return false };
        step.reflections.iter().any(|i| self.reflections.get(*i as usize).is_some_and(|r| r.kind == kind))
    }

    /// Returns a step result with the same reward, progress and outcome as the last one, for an action that is answered
    /// without stepping the environment.
    pub fn unchanged_result(&self) -> StepResult {
        let episode = self.open_episode();
        let answer = episode.and_then(|e| {
            e.step(e.answered_steps()).and_then(|s| s.answer.as_ref()).or(e.first_observation.as_ref())
        });
        StepResult {
            reward: answer.map_or(0.0, |a| a.reward),
            progress: answer.map_or(0.0, |a| a.progress),
            done: answer.is_some_and(|a| a.done),
            won: answer.is_some_and(|a| a.won),
            valid: true,
            ..StepResult::default()
        }
    }

    /// Returns whether the session may proceed: it is running, or it is paused with an unused [`Grant`].
    pub fn can_proceed(&self) -> bool {
        self.run_status == RunStatus::Running
            || (self.run_status == RunStatus::Paused && self.grant.is_some())
    }

    /// Returns the number of the next episode.
    pub fn next_episode_number(&self) -> u32 {
        self.settings().place.first_episode.saturating_add(self.ended_episodes.len() as u32)
    }

    /// Returns the summary of an ended episode by its number.
    pub fn ended_episode(&self, number: u32) -> Option<&EpisodeSummary> {
        let index = number.checked_sub(self.settings().place.first_episode)?;
        self.ended_episodes.get(index as usize).map(Arc::as_ref)
    }

    /// Returns the statistics so far, including the requests that are neither used nor dropped yet.
    pub fn prefetch_stats(&self) -> PrefetchStats {
        let mut stats = self.usage.prefetch;
        for prefetch in &self.prefetched {
            stats.open = stats.open.saturating_add(1);
            stats.pending.add(&prefetch.usage);
        }
        stats
    }

    /// Returns the number of the open episode and its remaining time at `at`, or `None` if the clock isn't running or
    /// the run has no time limit.
    pub fn time_left(&self, at: Timestamp) -> Option<(u32, Duration)> {
        let seconds = self.run.as_ref()?.limits.wall_seconds?;
        self.clock.running_since?;
        let remaining = Duration::from_secs(seconds).saturating_sub(self.clock.elapsed_at(at));
        Some((self.open_episode()?.number, remaining))
    }

    /// Returns whether a lesson's scope covers the task of the current episode. A lesson with a task key applies to that
    /// task only, one of scope task type to the type that it was loaded for; any other lesson that wasn't learnt in an
    /// ended episode of this run (such as a loaded one) applies everywhere.
    pub fn is_in_scope(&self, lesson: &Lesson) -> bool {
        let Some(episode) = &self.episode else { return true };
        let current = &episode.task;
        if let Some(task_key) = lesson.task_key.as_deref().filter(|_| lesson.scope == Scope::Task) {
            return *task_key == *current.key();
        }
        if let Some(task_type) = lesson.task_type.as_deref().filter(|_| lesson.scope == Scope::TaskType) {
            return current.task_type.as_deref() == Some(task_type);
        }
        let (learnt_in, _) = lesson.learnt_at;
        let task = match self.ended_episode(learnt_in) {
            Some(past) => &past.task,
            None => return true,
        };
        match lesson.scope {
            Scope::Environment => task.env == current.env,
            Scope::TaskType => task.env == current.env && task.task_type == current.task_type,
            Scope::Task => task.env == current.env && task.id == current.id,
            Scope::Episode => learnt_in == episode.number,
        }
    }

    /// Returns whether this task's prompts leave a lesson out since it is about another task.
    pub fn is_out_of_scope(&self, lesson: &Lesson) -> bool {
        (lesson.is_scope_bound() || self.settings().lessons_by_scope) && !self.is_in_scope(lesson)
    }

    /// Returns whether prompts show a lesson in tasks of every type, although its scope is one type.
    pub fn ignores_scope(&self, lesson: &Lesson) -> bool {
        lesson.scope == Scope::TaskType && !lesson.is_scope_bound() && !self.settings().lessons_by_scope
    }

    /// Returns whether the session waits for a person.
    pub fn is_waiting(&self) -> bool {
        let undecided = self.failed_call.is_some()
            || (!self.waiting_summaries.is_empty() && self.autonomy != Autonomy::Auto)
            || (self.run_status == RunStatus::Paused && self.grant.is_none())
            || (self.step_awaiting_decision().is_some_and(|s| !s.approved)
                && self.autonomy != Autonomy::Auto);
        // After a divergence, the session waits even if `calls` isn't empty: the driver doesn't send those calls before
        // the person has decided.
        self.divergence.is_some() || (self.calls.is_empty() && undecided)
    }
}
