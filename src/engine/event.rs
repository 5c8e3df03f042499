//! What has happened. The journal's vocabulary: it is only added to (`docs/JOURNAL.md`).

mod failure;
use super::{Prefetch, ReplaySeed};
use crate::domain::{
    Author, Autonomy, BreakpointConfig, CallId, EpisodeRole, EpisodeSummary, ExecutedAction, LessonOp,
    ManualEdit, ModelRole, Note, PartialReply, PoolChange, PromptRecord, Reflection, RunSpec, Seq, ShownAs,
    StepResult, Task, ThoughtDisposition, Truncation, Usage,
};
pub use failure::{Failure, PauseReason};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A fact. Every variant is complete: folding asks nobody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    RunStarted {
        /// Name of the session.
        session: String,
        /// The run.
        spec: Box<RunSpec>,
    },
    /// Lessons were loaded; the changes that follow hold them.
    PoolLoaded {
        /// The file.
        source: String,
        /// How many.
        #[serde(rename = "lessons")]
        lesson_count: u32,
    },
    /// An episode of another session is played again: what it had at its start, beside the lessons.
    #[serde(rename = "carried")]
    ReplaySeedLoaded {
        /// What was brought along.
        #[serde(flatten)]
        replay_seed: Box<ReplaySeed>,
    },
    /// A text that prompts refer to by its hash, stored once.
    TextDefined {
        /// First 16 hexadecimal digits of its SHA-256.
        hash: String,
        /// The text.
        text: String,
    },
    /// An episode began; the world is being reset.
    EpisodeStarted {
        /// Its number.
        episode: u32,
        /// Its task.
        task: Box<Task>,
        /// Its trial, counted from 1.
        trial: u32,
        /// What it is for.
        role: EpisodeRole,
        /// The reset's call.
        call: CallId,
    },
    /// The world stands at its start.
    WorldReset {
        /// The call.
        call: CallId,
        /// The first observation.
        #[serde(rename = "turn")]
        result: Box<StepResult>,
        /// How prompts show it, where the interface changes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "seen")]
        agent_view: Option<String>,
        /// The goal sentence read from it.
        goal: String,
    },
    /// A prompt was put together and waits (stepping by stages).
    PromptDrafted {
        /// The prompt.
        #[serde(flatten)]
        prompt: Arc<PromptRecord>,
    },
    /// A model was asked.
    PromptSent {
        /// The prompt.
        #[serde(flatten)]
        prompt: Arc<PromptRecord>,
    },
    /// A step opened for a person to play.
    StepOpened {
        /// Its number.
        step: u32,
    },
    /// A model answered.
    ReplyReceived {
        /// The call.
        call: CallId,
        /// The whole text.
        text: String,
        /// Its reasoning.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// What it cost.
        usage: Usage,
        /// What ended it early; none: it is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncation>,
        /// Whom a person had answer in the model's place: `recorded:SESSION` or `cache`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "from")]
        reply_source: Option<String>,
    },
    /// How it stands with a question that was asked ahead (`--prefetch`); no part of the run but for its cost.
    #[serde(rename = "asked_ahead")]
    PrefetchChanged(Box<Prefetch>),
    /// What a model's server is not sent of the settings has changed: it refused some, or wants them otherwise.
    SettingsUnsent {
        /// The call that showed it.
        call: CallId,
        /// Whose model.
        #[serde(rename = "asked")]
        role: ModelRole,
        /// All that is not sent there now, each in words with its reason.
        #[serde(rename = "what")]
        settings: Vec<String>,
    },
    /// Something about the run that a person should know; nothing follows from it.
    Warned {
        /// The step (0: before the first).
        step: u32,
        /// What, as a sentence without its dot.
        text: String,
    },
    /// What the actor's reply means.
    Proposed {
        /// The step.
        step: u32,
        /// The thought, without its label.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thought: Option<String>,
        /// The action; none when it only thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<String>,
        /// What could not be used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        complaints: Vec<String>,
    },
    /// A person agreed to the proposal.
    Approved {
        /// The step.
        step: u32,
    },
    /// A person put another action in its place.
    ActionOverridden {
        /// The step.
        step: u32,
        /// What was proposed.
        #[serde(rename = "was")]
        proposed: Option<String>,
        /// What runs.
        action: String,
        /// How it is shown to the agent.
        shown_as: ShownAs,
        /// What becomes of the thought.
        #[serde(flatten)]
        thought_disposition: ThoughtDisposition,
        /// The first of the steps directly before it that only thought and leave later prompts too; none: all stay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thoughts_from: Option<u32>,
    },
    /// A person refused the proposal; the step stays open.
    ProposalRejected {
        /// The step.
        step: u32,
        /// What was proposed.
        #[serde(rename = "was")]
        proposed: String,
        /// The reason the agent is told.
        reason: String,
    },
    /// The step is asked again without a reason.
    AskedAgain {
        /// The step.
        step: u32,
        /// Why the reply could not be used, where nobody but the reading of it asks again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "unusable")]
        unusable_reason: Option<String>,
    },
    /// An action runs.
    ActionTaken {
        /// The step.
        step: u32,
        /// The world's call; none where the world is not asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The action and how it came about.
        #[serde(flatten)]
        executed: ExecutedAction,
        /// The interface wants the admissible actions instead of a step.
        #[serde(default)]
        #[serde(rename = "list")]
        list_only: bool,
    },
    /// The world answered.
    Observed {
        /// The step.
        step: u32,
        /// The call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The answer.
        #[serde(rename = "turn")]
        result: Box<StepResult>,
        /// How prompts show it, where the interface changes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "seen")]
        agent_view: Option<String>,
    },
    /// What the detectors found in a step; empty when they found nothing.
    Noted {
        /// The step.
        step: u32,
        /// The findings.
        #[serde(default)]
        notes: Vec<Note>,
    },
    /// A reflection was written.
    Reflected {
        /// The reflection.
        reflection: Box<Reflection>,
    },
    /// The pool changed.
    LessonChanged {
        /// The change.
        #[serde(flatten)]
        op: Box<LessonOp>,
        /// Who changed it.
        #[serde(rename = "by")]
        author: Author,
    },
    /// A summary waits for a person's word on each of its lines.
    PoolProposed {
        /// What would change.
        #[serde(flatten)]
        change: Box<PoolChange>,
    },
    /// The oldest summary that waited was settled; the changes before it in its batch are the lines that were accepted.
    PoolSettled {
        /// The lines that were refused, counted from 0.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<u32>,
    },
    /// A change of the pool was taken back.
    #[serde(rename = "undone")]
    LessonUndone {
        /// The event that is undone.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The change that undoes it.
        #[serde(flatten)]
        op: Box<LessonOp>,
    },
    /// An undone change was made again.
    #[serde(rename = "redone")]
    LessonRedone {
        /// The event that is made again.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The change.
        #[serde(flatten)]
        op: Box<LessonOp>,
    },
    /// A person gave a thought other words.
    ThoughtEdited {
        /// The step.
        step: u32,
        /// The words before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "was")]
        previous: Option<String>,
        /// The words from now on; none: no thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A person lets the agent see other words of the world. The world is not changed.
    ObservationEdited {
        /// The step.
        step: u32,
        /// The view before, where the interface or a person had made one of the world's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "was")]
        previous: Option<String>,
        /// The words that prompts show.
        text: String,
    },
    /// A person's change of something else than the lessons was taken back.
    #[serde(rename = "taken_back")]
    EditUndone {
        /// The event that is taken back.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The change that does it.
        change: Box<ManualEdit>,
    },
    /// A change that was taken back was made again.
    #[serde(rename = "made_again")]
    EditRedone {
        /// The event that is made again.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The change.
        change: Box<ManualEdit>,
    },
    /// The method's own memory was replaced.
    MemorySet {
        /// The new memory.
        value: serde_json::Value,
    },
    /// A remark of a person.
    Remarked {
        /// The step (0: the episode).
        step: u32,
        /// The words.
        text: String,
    },
    /// A setting changed.
    SettingChanged {
        /// Its name.
        name: String,
        /// Its value.
        value: serde_json::Value,
    },
    /// From here on the run is another one: method, actor, mentor or settings. What is folded so far stays.
    RunChanged {
        /// The whole run as it is from now on.
        spec: Box<RunSpec>,
    },
    /// Another one decides.
    AutonomySet {
        /// Who.
        autonomy: Autonomy,
    },
    /// The session goes on without stopping.
    Resumed,
    /// A pause was asked for; calls are in flight.
    PauseRequested,
    /// The session stands still.
    Paused {
        /// Why.
        reason: PauseReason,
    },
    /// The session may go on to the next proposal.
    StepGranted,
    /// The session may go on by one stage.
    StageGranted,
    /// A call failed.
    CallFailed {
        /// The call.
        call: CallId,
        /// What happened.
        failure: Failure,
    },
    /// A call was broken off.
    CallCancelled {
        /// The call.
        call: CallId,
        /// What had come of its answer.
        #[serde(flatten)]
        partial_reply: Box<PartialReply>,
    },
    /// A failed call is tried again, or a difference of the rebuilt world is accepted.
    Retried {
        /// The call that is made again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// Who is asked this once in the model's place: `recorded:SESSION` or `cache`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "from")]
        reply_source: Option<String>,
    },
    /// A person goes on without the answer of a failed call to a model.
    #[serde(rename = "given_up")]
    CallGivenUp {
        /// Which call.
        call: CallId,
    },
    /// The rebuilt world answered other than recorded.
    Diverged {
        /// Episode.
        episode: u32,
        /// Step (0: the reset).
        step: u32,
        /// What the journal holds.
        recorded: String,
        /// What the world says now.
        #[serde(rename = "now")]
        actual: String,
    },
    /// An episode ended.
    EpisodeEnded {
        /// What it came to.
        summary: Box<EpisodeSummary>,
    },
    /// The run ended.
    RunEnded,
    /// A breakpoint or watch was set, or got another condition.
    BreakpointSet {
        /// Its number in the session.
        breakpoint: u32,
        /// Its condition, and what it does.
        #[serde(flatten)]
        config: BreakpointConfig,
    },
    /// A breakpoint or watch was switched on or off.
    BreakpointSwitched {
        /// Which.
        breakpoint: u32,
        /// Whether it is looked at.
        #[serde(rename = "on")]
        enabled: bool,
    },
    /// A breakpoint or watch was deleted.
    BreakpointRemoved {
        /// Which.
        breakpoint: u32,
    },
    /// The condition of a breakpoint or watch came true, by the events before this one in its batch.
    BreakpointHit {
        /// Which.
        breakpoint: u32,
        /// The episode; 0 before the first.
        episode: u32,
        /// The step; 0 is the reset.
        step: u32,
        /// Why, as a sentence without its dot.
        #[serde(rename = "why")]
        reason: String,
    },
    /// The session was put down in order.
    Closed,
    /// The session was taken up again; calls in flight are made again.
    Reopened,
}
