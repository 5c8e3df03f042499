//! Commands of a person or a script.

use super::{ReplaySeed, Reply};
use crate::domain::{
    Autonomy, CallId, EndReason, Lesson, LessonId, LessonStatus, LessonText, ReflectionKind, RunSpec, Scope,
    Seq, ShownAs, Task, ThoughtDisposition, Transition,
};
use serde_json::Value;

/// A command. The engine turns it into events, or into a [`CommandError`] that says why it can't.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Start the run.
    Start {
        /// Name of the session, part of every lesson's id.
        session: String,
        spec: Box<RunSpec>,
        /// Initial lessons and the file they come from.
        pool: Vec<(String, LessonCommand)>,
        /// The state that a replayed episode had at its start.
        replay_seed: Option<Box<ReplaySeed>>,
        /// Conditions of the initial breakpoints and watches.
        breakpoints: Vec<String>,
    },
    /// Execute the proposed action and stop at the next proposal.
    Step,
    /// Continue by one stage.
    StepStage,
    /// Continue without stopping.
    Run,
    /// Pause as soon as no call is in flight.
    Pause,
    /// Execute the proposed action without resuming the session.
    Approve,
    /// Replace the proposed action.
    Override {
        /// The action, or `think: ...`.
        action: String,
        /// How later prompts show it.
        shown_as: ShownAs,
        /// What later prompts do with the preceding thought.
        thought_disposition: ThoughtDisposition,
    },
    /// Execute this action (or `think: ...`), typed by a person who plays.
    Act(String),
    /// Reject the proposal with a reason that the agent gets to read; it is asked again.
    Reject(String),
    /// Discard the proposal, or cancel the call in flight, and ask the actor again in this step.
    AskAgain,
    /// Cancel the calls to models and pause.
    Cancel,
    /// Retry the failed calls, or accept the state of a rebuilt environment that diverged.
    Retry,
    /// Answer the failed calls to models, this once, with the replies to identical requests in a recording
    /// (`recorded:SESSION`) or in the cache (`cache`). The replies are marked as recorded.
    RetryFromRecording(String),
    /// Continue without the reply of failed calls to models, or of cancelled questions to the mentor. The mentor's
    /// reflection is skipped; the actor's step waits for a person.
    GiveUp,
    /// Edit a segment of a prompt that waits to be sent, or whose call has failed or was cancelled.
    EditPrompt {
        /// The prompt's call; `None` for the draft, or else the first failed call.
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
    /// Accept the waiting summary, except for the refused items.
    SettlePool {
        /// Indices of the refused items, counted from 0.
        refused: Vec<usize>,
    },
    /// Undo the last edit.
    Undo,
    /// Undo this edit: the last one, or the one that a rejected [`Command::Undo`] offered.
    UndoChange(Seq),
    /// Redo the last undone edit.
    Redo,
    /// Reflect now.
    Reflect(ReflectionKind),
    /// Add a remark to a step.
    Remark {
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
        /// The transition it is about.
        transition: Option<Transition>,
        /// The passage of the trajectory that supports it.
        evidence: String,
    },
    /// Add a text from the mentor's reply that wasn't kept. The lesson is added at the current step, even if the screen
    /// shows a past one.
    Accept {
        kind: ReflectionKind,
        scope: Scope,
        text: LessonText,
        /// Whether the person changed the text, which makes the lesson the person's own.
        edited: bool,
        /// The passage of the trajectory that supports it.
        evidence: String,
    },
    /// Add a lesson from a pool file, keeping its id.
    Load(Box<Lesson>),
    /// Replace the text.
    Edit { id: LessonId, text: LessonText },
    /// Change the status.
    Status { id: LessonId, status: LessonStatus },
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
}

impl LessonCommand {
    /// Creates the command for a new lesson that no rule wrote.
    pub fn add(kind: ReflectionKind, scope: Scope, text: LessonText, evidence: String) -> Self {
        Self::Add { kind, scope, text, rule: None, evidence, parents: Vec::new(), transition: None }
    }
}

/// Everything that may enter the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Command(Command),
    Reply(Reply),
}

/// Why a command was rejected. Never journaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// What can't be done and why.
    pub message: String,
    /// What to do instead.
    pub hint: String,
    /// The event that a rejected undo would have had to undo, so that the screen can offer a fork before it.
    pub seq: Option<Seq>,
    /// The newest earlier edit that can still be undone, with its description; [`Command::UndoChange`] undoes it.
    pub older_change: Option<(Seq, String)>,
}

impl CommandError {
    /// Creates an error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), seq: None, older_change: None }
    }
}
