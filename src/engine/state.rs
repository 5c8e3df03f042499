//! The state: what all events so far come to.

use super::{
    Breakpoints, Clock, Effect, Failure, PauseReason, Pool, Prefetch, PrefetchStats, ReplyTally, TokenRatio,
    UndoEntry,
};
use crate::domain::{
    Autonomy, CallId, EpisodeRole, EpisodeSummary, ModelRole, Note, Observation, PartialReply, PoolChange,
    PromptRecord, Question, Reflection, ReflectionKind, RunSpec, Seq, Stage, Step, StepResult, Task,
    TokenCounts,
};
use rpds::{HashTrieMapSync, VectorSync};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether things move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Nothing moves but by a grant.
    #[default]
    Paused,
    /// A pause was asked for; calls are in flight.
    Pausing,
    /// Everything moves.
    Running,
}

/// How far a paused session may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// To the next proposal.
    Step,
    /// By one stage.
    Stage,
}

/// How often a detector found something in this episode, and its last finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteTally {
    /// How often.
    pub count: u32,
    /// The last step it found something in.
    pub last_step: u32,
    /// What it found there.
    pub last: Note,
}

/// Calls to models and their tokens, by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageTotals {
    /// Calls to the actor.
    pub actor_calls: u64,
    /// Calls to the mentor.
    pub mentor_calls: u64,
    /// Tokens of the actor's prompts and replies.
    pub actor_tokens: u64,
    /// Tokens of the mentor's prompts and replies.
    pub mentor_tokens: u64,
    /// The actor's tokens by who counted them, and their cost.
    #[serde(default)]
    #[serde(rename = "actor")]
    pub actor_counts: TokenCounts,
    /// The mentor's.
    #[serde(default)]
    #[serde(rename = "mentor")]
    pub mentor_counts: TokenCounts,
    /// What was asked ahead; what of it was for nothing stands here alone.
    #[serde(default, skip_serializing_if = "PrefetchStats::is_empty")]
    #[serde(rename = "ahead")]
    pub prefetch: PrefetchStats,
}

/// An open or just ended episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Its number in the run, from 1.
    pub number: u32,
    /// Its task; the goal is filled in at the reset.
    pub task: Task,
    /// Its trial, from 1.
    pub trial: u32,
    /// What it is for.
    pub role: EpisodeRole,
    /// The first observation.
    pub first_observation: Option<Observation>,
    /// Its steps; the last may be open.
    pub steps: VectorSync<Arc<Step>>,
    /// What the agent may know, merged from every turn.
    pub shown: Arc<Value>,
    /// What is true of the world, merged from every turn.
    pub truth: Arc<Value>,
    /// The progress rate now.
    pub progress: f64,
    /// The last step that raised it.
    pub progress_step: u32,
    /// World actions so far.
    pub moves: u32,
    /// Steps that the world did not accept.
    pub invalid_moves: u32,
    /// How often each action ran and at which step last.
    pub action_counts: HashTrieMapSync<String, (u32, u32)>,
    /// What the detectors found so far, by detector.
    pub note_tallies: HashTrieMapSync<String, NoteTally>,
    /// Calls to models.
    pub calls: u32,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// The same by who counted them, and what they cost.
    #[serde(default)]
    pub token_counts: TokenCounts,
    /// A person had a hand in it.
    pub assisted: bool,
    /// How it ended.
    pub outcome: Option<Box<EpisodeSummary>>,
    /// Its first event.
    pub first_seq: Seq,
}

/// The fold of all events. Cloning it is cheap: what grows is shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last event folded.
    pub head: Seq,
    /// Name of the session.
    pub session: String,
    /// The run; none before it began.
    pub run: Option<Arc<RunSpec>>,
    /// Who decides now.
    pub autonomy: Autonomy,
    /// Whether things move.
    pub run_status: RunStatus,
    /// How far a paused session may go.
    pub grant: Option<Grant>,
    /// Why it stands still.
    pub pause_reason: Option<PauseReason>,
    /// The open or last episode.
    pub episode: Option<Arc<Episode>>,
    /// How long the open or last episode has been moving.
    #[serde(default)]
    pub clock: Clock,
    /// Ended episodes, in order.
    pub ended_episodes: VectorSync<Arc<EpisodeSummary>>,
    /// The lessons.
    pub pool: Pool,
    /// All reflections, in order.
    pub reflections: VectorSync<Arc<Reflection>>,
    /// Texts that prompts refer to, by hash.
    pub texts: HashTrieMapSync<String, Arc<str>>,
    /// Calls in flight.
    pub calls: BTreeMap<CallId, Effect>,
    /// The number of the next call.
    pub next_call: u64,
    /// A drafted prompt that waits to be sent.
    pub draft: Option<Arc<PromptRecord>>,
    /// The last prompt sent to the actor, and the one before it (for the difference).
    pub actor_prompts: (Option<Arc<PromptRecord>>, Option<Arc<PromptRecord>>),
    /// The last prompt sent to the mentor for each question, and the one before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentor_prompts: Vec<(Question, Arc<PromptRecord>, Option<Arc<PromptRecord>>)>,
    /// The last attempt at each task that was not won, by [`Task::key`]; kept only where tasks get several trials.
    #[serde(default)]
    pub attempts: HashTrieMapSync<String, Arc<Episode>>,
    /// What calls to models came to so far.
    #[serde(default)]
    pub usage: UsageTotals,
    /// The last event that used the pool (a prompt or an action).
    pub last_pool_use: Seq,
    /// The failed call that waits for a decision.
    pub failed_call: Option<(Effect, Failure)>,
    /// Calls in flight that a recording answers in the model's place, and which (`recorded:SESSION`, `cache`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_overrides: Vec<(CallId, String)>,
    /// What a role's server was learnt not to be sent of the settings, each in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsent_settings: Vec<(ModelRole, Vec<String>)>,
    /// Questions asked ahead that have come to nothing yet, one way or the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefetched: Vec<Prefetch>,
    /// What the actor's replies came to since it was chosen.
    #[serde(default, skip_serializing_if = "ReplyTally::is_empty")]
    pub actor_replies: ReplyTally,
    /// How the roles' servers count tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_ratios: Vec<TokenRatio>,
    /// Further failed calls of the same round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_failed_calls: Vec<(Effect, Failure)>,
    /// Calls to models that a person broke off and that were not made again yet, with what had come of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancelled_calls: Vec<(Effect, PartialReply)>,
    /// A difference between rebuilt world and journal that waits for a decision.
    pub divergence: Option<(u32, u32, String, String)>,
    /// The method's own memory.
    pub memory: Value,
    /// Summaries that wait for a person's word, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_summaries: Vec<PoolChange>,
    /// Changes of a person that can be taken back, the last at the end.
    pub undo_stack: Vec<UndoEntry>,
    /// Undone changes that can be made again, the last at the end.
    pub redo_stack: Vec<UndoEntry>,
    /// Remarks on episodes, (episode, words).
    pub remarks: Vec<(u32, String)>,
    /// Breakpoints and watches, and the tallies that they read.
    #[serde(default)]
    pub breakpoints: Breakpoints,
    /// The run is over.
    pub run_over: bool,
    /// The session was put down in order.
    pub closed: bool,
}

impl UsageTotals {
    /// Costs of all models, in billionths of the prices' unit, with what was asked ahead for nothing.
    pub fn cost_nano(&self) -> u64 {
        self.actor_counts.plus(self.mentor_counts).plus(self.prefetch.wasted).cost_nano
    }

    /// Tokens of all models, with those that were asked ahead for nothing.
    pub fn tokens(&self) -> u64 {
        let asked = self.actor_tokens.saturating_add(self.mentor_tokens);
        asked.saturating_add(self.prefetch.wasted.tokens())
    }

    /// In words: the calls and tokens of each model that was asked.
    pub fn describe(&self) -> String {
        let part = |who: &str, calls: u64, tokens: u64, of: TokenCounts| {
            let s = if calls == 1 { "" } else { "s" };
            let cost = of.format_cost().map_or_else(String::new, |cost| format!(", cost {cost}"));
            let apart = if of.tokens() == of.estimated || of.tokens() == of.reported {
                if of.estimated > 0 { " (estimated)".to_owned() } else { String::new() }
            } else {
                format!(" ({})", of.describe())
            };
            format!("{who} {calls} call{s}, {tokens} tokens{apart}{cost}")
        };
        let actor = part("actor", self.actor_calls, self.actor_tokens, self.actor_counts);
        if self.mentor_calls == 0 {
            return actor;
        }
        format!("{actor}; {}", part("mentor", self.mentor_calls, self.mentor_tokens, self.mentor_counts))
    }
}

impl State {
    /// The run's settings value by name, or the default given.
    pub fn setting_number(&self, name: &str, or: u64) -> u64 {
        self.run.as_ref().map_or(or, |r| r.settings.number(name, or))
    }

    /// A switch among the run's settings.
    pub fn setting_flag(&self, name: &str, or: bool) -> bool {
        self.run.as_ref().map_or(or, |r| r.settings.flag(name, or))
    }

    /// The open episode: reset or being reset, and not ended.
    pub fn open_episode(&self) -> Option<&Episode> {
        self.episode.as_deref().filter(|e| e.outcome.is_none())
    }

    /// The last step of the open or last episode.
    pub fn last_step(&self) -> Option<&Step> {
        self.episode.as_deref().and_then(Episode::last_step)
    }

    /// The step that waits for a decision: a proposal, or an empty place when a person plays.
    pub fn step_awaiting_decision(&self) -> Option<&Step> {
        let step = self.open_episode()?.last_step()?;
        (step.stage == Stage::Decision).then_some(step)
    }

    /// A call to this model is in flight.
    pub fn is_asking(&self, who: ModelRole) -> bool {
        self.calls.values().any(|c| matches!(c, Effect::Ask { prompt, .. } if prompt.role == who))
    }

    /// The last answered step is the last of its episode: the goal was reached, the world is done, or a bound is.
    pub fn is_episode_ending(&self) -> bool {
        super::limits::end_reason(self).is_some()
    }

    /// Who answers a call in flight in the model's place, where a person chose a recorded reply.
    pub fn reply_override(&self, call: CallId) -> Option<&str> {
        self.reply_overrides.iter().find(|s| s.0 == call).map(|s| s.1.as_str())
    }

    /// What is not sent of the settings to the server of a role's model: as it was learnt, else as the run was started.
    pub fn unsent_settings(&self, asked: ModelRole) -> Vec<String> {
        if let Some((_, learnt)) = self.unsent_settings.iter().find(|u| u.0 == asked) {
            return learnt.clone();
        }
        let name = match asked {
            ModelRole::Actor => "actor.unsent",
            ModelRole::Mentor => "mentor.unsent",
        };
        let noted = self.run.as_ref().and_then(|r| r.settings.0.get(name));
        let words = noted.and_then(|s| s.value.as_array()).into_iter().flatten();
        words.filter_map(|w| w.as_str().map(str::to_owned)).collect()
    }

    /// All failed calls that wait for a decision.
    pub fn failed_calls(&self) -> impl Iterator<Item = &(Effect, Failure)> {
        self.failed_call.iter().chain(&self.more_failed_calls)
    }

    /// A call to this model has failed and waits for a decision.
    pub fn has_failed_call(&self, who: ModelRole) -> bool {
        self.failed_calls()
            .any(|(effect, _)| matches!(effect, Effect::Ask { prompt, .. } if prompt.role == who))
    }

    /// The last attempt at a task before this episode, where it was not won and is still held.
    pub fn last_attempt(&self, task: &Task) -> Option<&Arc<Episode>> {
        self.attempts.get(&task.key())
    }

    /// An episode by its number: the open or last one, or an earlier attempt that is still held.
    pub fn episode_by_number(&self, number: u32) -> Option<&Episode> {
        let here = self.episode.as_deref().filter(|e| e.number == number);
        here.or_else(|| {
            if let Some(past) = self.ended_episode(number) {
                return self.last_attempt(&past.task).map(Arc::as_ref).filter(|e| e.number == number);
            }
            // Brought along from another session: there is one.
            self.attempts.values().map(Arc::as_ref).find(|e| e.number == number)
        })
    }

    /// Whether the mentor was heard on this question about the episode as it stands (or a person gave it up).
    pub fn is_answered(&self, question: Question) -> bool {
        let Some(episode) = self.episode.as_deref() else { return false };
        let (number, step) = (episode.number, episode.answered_steps());
        let about_now = |r: &&Arc<Reflection>| r.episode == number && r.step == step;
        let mut recent = self.reflections.iter().rev().take_while(about_now);
        recent.any(|r| r.kind == question.kind && r.purpose == question.purpose)
    }

    /// The world is at work.
    pub fn is_world_busy(&self) -> bool {
        self.calls.values().any(|c| matches!(c, Effect::ResetWorld { .. } | Effect::StepWorld { .. }))
    }

    /// Reflections of a kind written after the last step.
    pub fn has_reflected(&self, kind: ReflectionKind) -> bool {
        let Some(step) = self.last_step() else { return false };
        step.reflections.iter().any(|i| self.reflections.get(*i as usize).is_some_and(|r| r.kind == kind))
    }

    /// The world as it stands, for an answer that does not move it.
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

    /// The session stands still and waits for a person.
    pub fn is_waiting(&self) -> bool {
        // With a difference, the calls in flight have not been made: they wait for the decision too.
        let undecided = self.failed_call.is_some()
            || (!self.waiting_summaries.is_empty() && self.autonomy != Autonomy::Auto)
            || (self.run_status == RunStatus::Paused && self.grant.is_none())
            || (self.step_awaiting_decision().is_some_and(|s| !s.approved)
                && self.autonomy != Autonomy::Auto);
        self.divergence.is_some() || (self.calls.is_empty() && undecided)
    }
}

impl Episode {
    /// Its last step, open or settled.
    pub fn last_step(&self) -> Option<&Step> {
        self.steps.last().map(Arc::as_ref)
    }

    /// A step by its number (from 1).
    pub fn step(&self, number: u32) -> Option<&Step> {
        self.shared_step(number).map(Arc::as_ref)
    }

    /// A step by its number (from 1), to be held: whoever holds it knows that it stays as it is.
    pub fn shared_step(&self, number: u32) -> Option<&Arc<Step>> {
        self.steps.get(number.checked_sub(1)? as usize)
    }

    /// The rewards of its turns so far, together. Work grows with the episode: for the mentor's prompts, not for every turn.
    pub fn total_reward(&self) -> f64 {
        self.steps.iter().filter_map(|s| s.answer.as_ref()).map(|a| a.reward).sum()
    }

    /// Steps that the world has answered.
    pub fn answered_steps(&self) -> u32 {
        let len = self.steps.len() as u32;
        match self.last_step() {
            Some(step) if step.answer.is_none() => len - 1,
            _ => len,
        }
    }
}
