//! Events: what the journal records. Variants and fields are only ever added (`docs/JOURNAL.md`).

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

/// Something that has happened. Every variant carries all data that the fold needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run started.
    RunStarted {
        /// Name of the session.
        session: String,
        spec: Box<RunSpec>,
    },
    /// A pool file was loaded; its lessons follow as `LessonChanged` events.
    PoolLoaded {
        /// The file.
        source: String,
        /// Number of lessons.
        #[serde(rename = "lessons")]
        lesson_count: u32,
    },
    /// The state at the start of another session's episode was loaded, without its lessons, to replay that episode.
    #[serde(rename = "carried")]
    ReplaySeedLoaded {
        #[serde(flatten)]
        replay_seed: Box<ReplaySeed>,
    },
    /// Defines a text that prompts refer to by its hash, stored once.
    TextDefined {
        /// First 16 hexadecimal digits of its SHA-256.
        hash: String,
        text: String,
    },
    /// An episode started; the environment is being reset.
    EpisodeStarted {
        episode: u32,
        task: Box<Task>,
        /// Counted from 1.
        trial: u32,
        role: EpisodeRole,
        /// The call of the reset.
        call: CallId,
    },
    /// The environment was reset.
    WorldReset {
        call: CallId,
        /// The first observation.
        #[serde(rename = "turn")]
        result: Box<StepResult>,
        /// How prompts show it, if the interface changes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "seen")]
        agent_view: Option<String>,
        /// The goal sentence extracted from it.
        goal: String,
    },
    /// A prompt was drafted and waits to be sent (stepping by stages).
    PromptDrafted {
        #[serde(flatten)]
        prompt: Arc<PromptRecord>,
    },
    /// A prompt was sent to a model.
    PromptSent {
        #[serde(flatten)]
        prompt: Arc<PromptRecord>,
    },
    /// A step was opened without a prompt: a person plays, or the method proposes the action itself.
    StepOpened { step: u32 },
    /// A model replied.
    ReplyReceived {
        call: CallId,
        /// The whole text.
        text: String,
        /// The model's reasoning.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        usage: Usage,
        /// What ended it early; `None` if it is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncation>,
        /// The source of the reply if a person used a recorded one instead of the model's: `recorded:SESSION` or
        /// `cache`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "from")]
        reply_source: Option<String>,
    },
    /// The status of a prefetched request changed (`--prefetch`). Affects nothing but the run's cost.
    #[serde(rename = "asked_ahead")]
    PrefetchChanged(Box<Prefetch>),
    /// A model's server rejected some settings or requires other values, so the set of settings that aren't sent to it
    /// changed.
    #[serde(rename = "settings_unsent")]
    SettingDeviationsChanged {
        /// The call that revealed it.
        call: CallId,
        /// The role of the model.
        #[serde(rename = "asked")]
        role: ModelRole,
        /// All settings that aren't sent now, each as a phrase with its reason.
        #[serde(rename = "what")]
        settings: Vec<String>,
    },
    /// A warning about the run for the person; has no other effect.
    Warned {
        /// The step; 0 before the first.
        step: u32,
        /// The warning: a sentence without its full stop.
        text: String,
    },
    /// The actor's reply was parsed, or the method proposed an action without asking the actor.
    Proposed {
        step: u32,
        /// The thought, without its label.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thought: Option<String>,
        /// The action; `None` if the actor only thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<String>,
        /// Descriptions of the parts of the reply that could not be used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        complaints: Vec<String>,
    },
    /// A person approved the proposal.
    Approved { step: u32 },
    /// A person replaced the proposed action.
    ActionOverridden {
        step: u32,
        /// The proposed action.
        #[serde(rename = "was")]
        proposed: Option<String>,
        /// The action that runs.
        action: String,
        /// How prompts present it.
        shown_as: ShownAs,
        /// What later prompts do with the thought.
        #[serde(flatten)]
        thought_disposition: ThoughtDisposition,
        /// The first of the preceding thought-only steps that later prompts also omit; `None` if none is omitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thoughts_from: Option<u32>,
    },
    /// A person rejected the proposal; the step stays open.
    ProposalRejected {
        step: u32,
        /// The proposed action.
        #[serde(rename = "was")]
        proposed: String,
        /// The reason, which the agent gets to read.
        reason: String,
    },
    /// The actor is asked again in this step, but not because a person rejected the proposal.
    AskedAgain {
        step: u32,
        /// Why the reply could not be used, if the engine asks again by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "unusable")]
        unusable_reason: Option<String>,
    },
    /// An action is executed.
    ActionTaken {
        step: u32,
        /// The call to the environment; `None` if the action isn't sent to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The action and its origin.
        #[serde(flatten)]
        executed: ExecutedAction,
        /// Whether only the admissible actions are listed, without stepping the environment.
        #[serde(default)]
        #[serde(rename = "list")]
        admissible_only: bool,
    },
    /// The environment answered an action.
    Observed {
        step: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        #[serde(rename = "turn")]
        result: Box<StepResult>,
        /// How prompts show it, if the interface changes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "seen")]
        agent_view: Option<String>,
    },
    /// The detectors examined a step; `notes` is empty if they found nothing.
    Noted {
        step: u32,
        #[serde(default)]
        notes: Vec<Note>,
    },
    /// A reflection was written.
    Reflected { reflection: Box<Reflection> },
    /// The lesson pool changed.
    LessonChanged {
        /// The change.
        #[serde(flatten)]
        op: Box<LessonOp>,
        /// Who made the change.
        #[serde(rename = "by")]
        author: Author,
    },
    /// Lesson changes proposed by a summary of the pool wait for a person to accept or refuse each of them.
    PoolProposed {
        /// The proposed change.
        #[serde(flatten)]
        change: Box<PoolChange>,
    },
    /// A person accepted or refused each lesson change of the oldest waiting summary. The accepted ones are the
    /// `LessonChanged` events before this one in the same batch.
    PoolSettled {
        /// Indices of the refused changes, counted from 0.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<u32>,
    },
    /// A lesson operation was undone.
    #[serde(rename = "undone")]
    LessonUndone {
        /// The undone event.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The operation that undoes it.
        #[serde(flatten)]
        op: Box<LessonOp>,
    },
    /// An undone lesson operation was redone.
    #[serde(rename = "redone")]
    LessonRedone {
        /// The redone event.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The operation.
        #[serde(flatten)]
        op: Box<LessonOp>,
    },
    /// A person edited a thought.
    ThoughtEdited {
        step: u32,
        /// The text before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "was")]
        previous: Option<String>,
        /// The new text; `None` removes the thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A person edited how the agent sees an observation. The environment isn't changed.
    ObservationEdited {
        step: u32,
        /// The view before, if the interface or a person had changed the environment's text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "was")]
        previous: Option<String>,
        /// The text that prompts show from now on.
        text: String,
    },
    /// A person's edit other than a lesson operation was undone.
    #[serde(rename = "taken_back")]
    EditUndone {
        /// The undone event.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The edit that undoes it.
        change: Box<ManualEdit>,
    },
    /// An undone edit was redone.
    #[serde(rename = "made_again")]
    EditRedone {
        /// The redone event.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The edit.
        change: Box<ManualEdit>,
    },
    /// The method's memory was replaced.
    MemorySet {
        /// The new memory.
        value: serde_json::Value,
    },
    /// A person added a remark.
    Remarked {
        /// The step; 0 for the episode.
        step: u32,
        text: String,
    },
    /// A setting changed.
    SettingChanged { name: String, value: serde_json::Value },
    /// The run continues with another method, actor, mentor or settings. The folded state stays.
    RunChanged {
        /// The complete new run.
        spec: Box<RunSpec>,
    },
    /// The autonomy changed.
    AutonomySet { autonomy: Autonomy },
    /// The run continues until a pause, a breakpoint or its end.
    Resumed,
    /// A pause was requested while calls are in flight.
    PauseRequested,
    /// The session is paused.
    Paused { reason: PauseReason },
    /// The session may continue to the next proposal.
    StepGranted,
    /// The session may continue by one stage.
    StageGranted,
    /// A call failed.
    CallFailed { call: CallId, failure: Failure },
    /// A call was cancelled.
    CallCancelled {
        call: CallId,
        /// What had arrived of its reply.
        #[serde(flatten)]
        partial_reply: Box<PartialReply>,
    },
    /// A failed call is retried, or the divergence of a rebuilt environment is accepted.
    Retried {
        /// The call that is retried; `None` for a divergence, and in the oldest sessions also for a failed call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The source that replies once instead of the model: `recorded:SESSION` or `cache`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "from")]
        reply_source: Option<String>,
    },
    /// A person continues without the reply of a failed or cancelled call to a model.
    #[serde(rename = "given_up")]
    CallGivenUp { call: CallId },
    /// The rebuilt environment answered differently from the record.
    Diverged {
        episode: u32,
        /// The step; 0 is the reset.
        step: u32,
        /// The recorded observation.
        recorded: String,
        /// The observation of the rebuilt environment.
        #[serde(rename = "now")]
        actual: String,
    },
    /// An episode ended.
    EpisodeEnded { summary: Box<EpisodeSummary> },
    /// The run ended.
    RunEnded,
    /// A breakpoint or watch was set, or its condition was replaced.
    BreakpointSet {
        /// Its number in the session.
        breakpoint: u32,
        /// Its condition and kind.
        #[serde(flatten)]
        config: BreakpointConfig,
    },
    /// A breakpoint or watch was enabled or disabled.
    BreakpointSwitched {
        breakpoint: u32,
        #[serde(rename = "on")]
        enabled: bool,
    },
    /// A breakpoint or watch was deleted.
    BreakpointRemoved { breakpoint: u32 },
    /// The condition of a breakpoint or watch became true because of the earlier events of the same batch.
    BreakpointHit {
        breakpoint: u32,
        /// The episode; 0 before the first.
        episode: u32,
        /// The step; 0 is the reset.
        step: u32,
        /// Why the condition is true: a sentence without its full stop.
        #[serde(rename = "why")]
        reason: String,
    },
    /// The session was closed properly.
    Closed,
    /// The session was opened again; calls that were in flight are repeated.
    Reopened,
}
