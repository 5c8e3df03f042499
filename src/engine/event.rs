//! Events: what the journal records. Variants and fields are only ever added (`docs/JOURNAL.md`).

mod failure;
use super::{Prefetch, ReplayStart};
use crate::domain::{
    Author, Autonomy, BreakpointConfig, CallId, EpisodeRole, EpisodeSummary, ExecutedAction, Job, LessonOp,
    ManualEdit, ModelRole, Note, PartialReply, PlannedAction, PoolSummary, PromptRecord, Reflection, RunSpec,
    Sample, SampleRequest, Seq, ShownAs, StepResult, Task, ThoughtDisposition, ToolCall, Truncation, Usage,
};
pub use failure::{Failure, PauseReason};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Something that has happened. Every variant carries all the data that [`State::apply`](super::State::apply) needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run started.
    RunStarted {
        /// Name of the session.
        session: String,
        spec: Box<RunSpec>,
    },
    /// Lessons were loaded as the run started; they follow as `LessonChanged` events.
    PoolLoaded {
        /// The pool file or, if the run replays an episode, that episode as `SESSION#EPISODE`.
        source: String,
        /// Number of lessons loaded from this source.
        #[serde(rename = "lessons")]
        lesson_count: u32,
    },
    /// The run replays an episode of another session, so the state at the start of that episode was loaded. The lessons
    /// of that state are loaded separately, by `PoolLoaded`.
    #[serde(rename = "carried")]
    ReplayStartLoaded {
        #[serde(flatten)]
        replay_start: Box<ReplayStart>,
    },
    /// Stores a text once, so that prompts can refer to it by its hash.
    TextDefined {
        /// The first 16 hexadecimal digits of the text's SHA-256.
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
        /// The call that resets the environment.
        call: CallId,
    },
    /// The environment was reset.
    WorldReset {
        call: CallId,
        /// The first observation.
        #[serde(rename = "turn")]
        result: Box<StepResult>,
        /// The observation as prompts show it, if the interface changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "seen")]
        agent_view: Option<String>,
        /// The goal sentence extracted from the first observation.
        goal: String,
    },
    /// A prompt was drafted and waits to be sent, because a person steps by stages; or a person edited a prompt that
    /// waits to be sent or retried.
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
        /// The whole text of the reply.
        text: String,
        /// The model's reasoning.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// What the model called instead of writing text, or beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        usage: Usage,
        /// What cut the reply off; `None` if it is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncation>,
        /// Where the reply came from if a person chose a recorded reply instead of the model's: `recorded:SESSION` or
        /// `cache`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "from")]
        reply_source: Option<String>,
    },
    /// A prefetched request was sent, or its status changed (`--prefetch`). Among the run's results, this affects only
    /// the cost.
    #[serde(rename = "asked_ahead")]
    PrefetchChanged(Box<Prefetch>),
    /// A person asked for samples: further replies to the prompt of a step, which are shown and counted beside the run
    /// and never executed.
    SamplesRequested {
        #[serde(flatten)]
        request: Arc<SampleRequest>,
    },
    /// A sample arrived, failed or was cancelled.
    Sampled {
        #[serde(flatten)]
        sample: Arc<Sample>,
    },
    /// The set of settings that a model's server doesn't receive as configured has changed, because the server rejects
    /// some settings or requires other values.
    #[serde(rename = "settings_unsent")]
    SettingDeviationsChanged {
        /// The call that revealed it.
        call: CallId,
        /// The role of the model.
        #[serde(rename = "asked")]
        role: ModelRole,
        /// All settings that aren't sent or are sent with another value, each as a phrase that includes the reason.
        #[serde(rename = "what")]
        settings: Vec<String>,
    },
    /// A person was warned about the run. The run continues unchanged.
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
        /// The action; `None` if the reply has none, for example if the actor only thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<String>,
        /// The actions that the reply plans after it, which the method may propose in the next steps.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        planned: Vec<PlannedAction>,
        /// Descriptions of the parts of the reply that could not be used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        complaints: Vec<String>,
    },
    /// A person approved the proposal.
    Approved { step: u32 },
    /// A person replaced the proposed action, or typed an action for a step without a proposal.
    ActionOverridden {
        step: u32,
        /// The proposed action; `None` if there was no proposal.
        #[serde(rename = "was")]
        proposed: Option<String>,
        /// The person's action, which runs instead.
        action: String,
        /// How later prompts present the person's action: as the agent's own or as a human edit.
        shown_as: ShownAs,
        /// What later prompts do with the thought that preceded the proposed action.
        #[serde(flatten)]
        thought_disposition: ThoughtDisposition,
        /// The first of the thought-only steps directly before this one, if later prompts omit those too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thoughts_from: Option<u32>,
    },
    /// A person rejected the proposal; the step stays open.
    ProposalRejected {
        step: u32,
        /// The proposed action, or `think: ...` for a proposal that is only a thought.
        #[serde(rename = "was")]
        proposed: String,
        /// The reason, which the next prompt tells the agent.
        reason: String,
    },
    /// The actor is asked again in this step: because its reply was unusable, to fit the action that it replied to the
    /// present state, or because a person wants another reply. If a person rejected the proposal with a reason, the event
    /// is `ProposalRejected` instead.
    AskedAgain {
        step: u32,
        /// Why the reply could not be used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "unusable")]
        unusable_reason: Option<String>,
        /// The action of the reply, if the actor is asked to fit it to the present state (setting `grounding`). Without
        /// it and a reason, a person wants another reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draft: Option<String>,
    },
    /// The execution of an action begins.
    ActionTaken {
        step: u32,
        /// The call to the environment; `None` for a thought that isn't sent to the environment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The action and its origin.
        #[serde(flatten)]
        executed: ExecutedAction,
        /// Whether the action only asks for the list of admissible actions, so that the environment isn't stepped.
        #[serde(default)]
        #[serde(rename = "list")]
        admissible_only: bool,
    },
    /// An action was answered.
    Observed {
        step: u32,
        /// The call to the environment; `None` if the engine itself answered a thought that wasn't sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        #[serde(rename = "turn")]
        result: Box<StepResult>,
        /// The observation as prompts show it, if the interface changed it.
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
    /// A mentor's summary of the lesson pool proposed lesson changes. They wait for a person to accept or refuse each
    /// of them.
    #[serde(rename = "pool_proposed")]
    SummaryProposed {
        /// The summary with its proposed changes.
        #[serde(flatten)]
        summary: Box<PoolSummary>,
    },
    /// Each lesson change of the oldest waiting summary was accepted or refused by a person, or all were accepted
    /// automatically because the person had switched to [`Autonomy::Auto`]. The accepted changes are the
    /// `LessonChanged` events before this one in the same batch.
    #[serde(rename = "pool_settled")]
    SummaryApplied {
        /// Indices of the refused changes, counted from 0.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<u32>,
    },
    /// A lesson operation was undone.
    #[serde(rename = "undone")]
    LessonUndone {
        /// The event that is undone.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The operation that reverses it.
        #[serde(flatten)]
        op: Box<LessonOp>,
    },
    /// An undone lesson operation was redone.
    #[serde(rename = "redone")]
    LessonRedone {
        /// The event that is redone.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The operation that takes effect again; for an added lesson, the one that restores the lesson.
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
        /// The previous view; `None` if the agent saw the environment's own text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "was")]
        previous: Option<String>,
        /// The text that prompts show from now on.
        text: String,
    },
    /// A person's edit other than a lesson operation was undone.
    #[serde(rename = "taken_back")]
    EditUndone {
        /// The event that is undone.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The edit that reverses it.
        change: Box<ManualEdit>,
    },
    /// An undone edit was redone.
    #[serde(rename = "made_again")]
    EditRedone {
        /// The event that is redone.
        #[serde(rename = "of")]
        target_seq: Seq,
        /// The edit that takes effect again.
        change: Box<ManualEdit>,
    },
    /// The method requested a job, which is being computed.
    ComputeRequested { call: CallId, job: Arc<Job> },
    /// A job has been computed.
    Computed {
        call: CallId,
        result: serde_json::Value,
        /// How long it took.
        millis: u64,
    },
    /// The method's memory was replaced.
    MemorySet {
        /// The new memory.
        value: serde_json::Value,
    },
    /// A person added a remark.
    Remarked {
        /// The episode, if it isn't the newest one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        episode: Option<u32>,
        /// The step; 0 for the episode.
        step: u32,
        text: String,
    },
    /// A setting changed.
    SettingChanged { name: String, value: serde_json::Value },
    /// The run continues with another method, actor, mentor, interface or settings. Episodes, reflections and lessons
    /// are kept.
    RunChanged {
        /// The complete new run.
        spec: Box<RunSpec>,
    },
    /// The autonomy changed.
    AutonomySet { autonomy: Autonomy },
    /// The session runs until it is paused, hits a breakpoint or reaches the end of the run.
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
    /// A failed call is retried, a failed or cancelled call is answered from a recording, or a person accepts the
    /// answer of a rebuilt environment that diverged from the journal.
    Retried {
        /// The call; `None` for a divergence, and in the oldest sessions also for a failed call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// What answers this call instead of the model: `recorded:SESSION` or `cache`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "from")]
        reply_source: Option<String>,
    },
    /// A person continues without the reply of a failed or cancelled call to a model.
    #[serde(rename = "given_up")]
    CallGivenUp { call: CallId },
    /// An environment that was rebuilt to resume the session answered a reset or an action differently than the journal
    /// says.
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
