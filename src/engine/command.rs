//! Commands of a person or a script.

use super::{ReplayStart, Reply};
use crate::domain::{
    Autonomy, CallId, EndReason, Lesson, LessonId, LessonStatus, LessonText, MeasuredEffect, ReflectionKind,
    RunSpec, Scope, Seq, ShownAs, Task, ThoughtDisposition, Transition,
};
use serde_json::Value;

/// A command. The engine turns it into events, or rejects it with a [`CommandError`].
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Start the run.
    Start {
        /// Name of the session. Lesson ids are derived from it.
        session: String,
        spec: Box<RunSpec>,
        /// The commands that add the initial lessons, each with the source of the lesson: a pool file or, as
        /// `SESSION#EPISODE`, the episode that the run replays.
        pool: Vec<(String, LessonCommand)>,
        /// The state at the start of the episode, if the run replays an episode of another session.
        replay_start: Option<Box<ReplayStart>>,
        /// Conditions of the initial breakpoints and watches.
        breakpoints: Vec<String>,
    },
    /// Execute the proposed action and stop at the next proposal.
    Step,
    /// Continue by one [`Stage`](crate::domain::Stage) of the step.
    StepStage,
    /// Continue until a pause, a breakpoint or the end of the run. With `Autonomy::Confirm`, every proposal still waits
    /// for approval.
    Run,
    /// Pause as soon as no call is in flight.
    Pause,
    /// Execute the proposed action without resuming the session.
    Approve,
    /// Replace the proposed action.
    Override {
        /// The action, or `think: ...`.
        action: String,
        /// How later prompts present the action: as the agent's own or as a human edit.
        shown_as: ShownAs,
        /// What later prompts do with the thought that preceded the proposed action.
        thought_disposition: ThoughtDisposition,
    },
    /// Execute this action (or `think: ...`), which a person typed in place of the actor.
    Act(String),
    /// Reject the proposal and ask the actor again, with a prompt that includes this reason.
    Reject(String),
    /// Discard the proposal, or cancel the call in flight, and ask the actor again in this step.
    AskAgain,
    /// Cancel the calls to models and pause.
    Cancel,
    /// Retry the failed calls or, if a rebuilt environment diverged from the journal, accept its answer.
    Retry,
    /// Answer the failed or cancelled calls to models with recorded replies to identical requests, taken from a session
    /// (`recorded:SESSION`) or from the cache (`cache`). Later calls go to the model again. The replies are marked as
    /// recorded.
    RetryFromRecording(String),
    /// Continue without the replies of the failed and cancelled calls to models. A question to the mentor counts as
    /// answered with an empty reflection. An actor's step stays open: a person can act in it, or ask the actor again by
    /// continuing.
    GiveUp,
    /// Edit a segment of a prompt that waits to be sent, or whose call has failed or was cancelled.
    EditPrompt {
        /// The prompt's call; `None` for the first waiting prompt: the draft, or else that of a failed call, or else
        /// that of a cancelled call.
        call: Option<CallId>,
        /// Index of the rendered segment, counted from 0.
        segment: usize,
        text: String,
    },
    /// Edit the thought of the open proposal or of the last answered step; blank text removes it.
    EditThought {
        step: u32,
        text: String,
    },
    /// Edit how the agent sees the observation of the last answered step. The environment isn't changed.
    EditObservation {
        step: u32,
        text: String,
    },
    SetAutonomy(Autonomy),
    /// Change the lesson pool.
    Lesson(LessonCommand),
    /// Accept the oldest waiting summary of the lesson pool, except for the refused items.
    ApplySummary {
        /// Indices of the refused items, counted from 0.
        refused: Vec<usize>,
    },
    /// Undo the last edit.
    Undo,
    /// Undo the edit recorded by this event: either the last edit, or the earlier one that the error of a rejected
    /// [`Command::Undo`] offered ([`CommandError::older_change`]).
    UndoChange(Seq),
    /// Redo the last undone edit.
    Redo,
    /// Write a reflection of this kind now.
    Reflect(ReflectionKind),
    /// Add a remark to a step.
    Remark {
        /// The episode; `None` for the newest one.
        episode: Option<u32>,
        /// The step; 0 for the episode.
        step: u32,
        text: String,
    },
    /// Change a setting.
    ChangeSetting {
        name: String,
        value: Value,
    },
    /// Continue with another method, actor, mentor, interface or settings. The driver prepares the new run first.
    ChangeRun(Box<RunSpec>),
    /// Begin an episode of this task now; fails if an episode is open.
    BeginEpisode(Box<Task>),
    EndEpisode(EndReason),
    EndRun,
    /// Set a breakpoint or a watch.
    SetBreakpoint {
        /// The condition in the syntax of `docs/BREAKPOINTS.md`.
        text: String,
        /// The breakpoint whose condition it replaces; `None` to add one.
        replaces: Option<u32>,
    },
    /// Enable or disable a breakpoint or watch.
    SwitchBreakpoint {
        breakpoint: u32,
        enabled: bool,
    },
    /// Delete a breakpoint or watch.
    RemoveBreakpoint(u32),
    /// Close the session.
    Close,
    /// Resume the session.
    Reopen,
}

/// A command that changes the lesson pool; ids and history are filled in when it is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonCommand {
    /// Add a lesson.
    Add {
        kind: ReflectionKind,
        scope: Scope,
        text: LessonText,
        /// The rule that produced it, if any.
        rule: Option<String>,
        /// The lessons that it merges.
        parents: Vec<LessonId>,
        /// The observation, action and reward that it is about, if it is about a single step.
        transition: Option<Transition>,
        /// The passage of the trajectory that supports it.
        evidence: String,
        /// Whether it is pinned from the start.
        pinned: bool,
    },
    /// Add a lesson from a part of the mentor's reply that wasn't kept. The lesson counts as learnt at the current
    /// step, even if the screen shows a past one.
    Accept {
        kind: ReflectionKind,
        scope: Scope,
        text: LessonText,
        /// Whether the person changed the text. If so, the lesson's origin is the person instead of the mentor.
        edited: bool,
        /// The passage of the trajectory that supports it.
        evidence: String,
        /// Whether it is pinned from the start.
        pinned: bool,
    },
    /// Add a lesson from a pool file, or one that a person takes over from a saved pool, keeping its id.
    Load(Box<Lesson>),
    /// Replace the text.
    Edit { id: LessonId, text: LessonText },
    /// Change the status.
    Status { id: LessonId, status: LessonStatus },
    /// Retire the lesson, since another one says the same.
    Merge { id: LessonId, into: LessonId },
    /// Change the scope.
    Rescope { id: LessonId, scope: Scope },
    /// Move the lesson within its kind.
    Move {
        id: LessonId,
        /// The new position, counted from 0.
        to: usize,
    },
    /// Count that the same lesson was learnt again.
    Recur { id: LessonId },
    /// Keep what was measured of the lesson. No prompt and no decision depends on it.
    Measured { id: LessonId, measured: Box<MeasuredEffect> },
}

impl LessonCommand {
    /// Creates the command that adds a lesson without a rule, parents or a transition.
    pub fn add(kind: ReflectionKind, scope: Scope, text: LessonText, evidence: String) -> Self {
        let (rule, parents, transition, pinned) = (None, Vec::new(), None, false);
        Self::Add { kind, scope, text, rule, evidence, parents, transition, pinned }
    }
}

/// The input of [`Engine::decide`](super::Engine::decide).
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Command(Command),
    Reply(Reply),
}

/// Why a command was rejected. Rejected commands aren't journaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// What can't be done and why.
    pub message: String,
    /// What to do instead.
    pub hint: String,
    /// For an undo or edit that comes too late: the event before which a fork would still allow it. The screen offers
    /// that fork.
    pub seq: Option<Seq>,
    /// For a rejected undo: the event and the description of the newest earlier edit that can still be undone, with
    /// [`Command::UndoChange`].
    pub older_change: Option<(Seq, String)>,
}

impl CommandError {
    /// Creates an error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), seq: None, older_change: None }
    }
}
