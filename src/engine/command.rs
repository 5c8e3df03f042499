//! What a person or a script wants.

use super::{ReplaySeed, Reply};
use crate::domain::{
    Autonomy, CallId, EndReason, Lesson, LessonId, LessonStatus, LessonText, ReflectionKind, RunSpec, Scope,
    Seq, ShownAs, Task, ThoughtDisposition, Transition,
};
use serde_json::Value;

/// A wish. It becomes events, or a [`CommandError`] that says why not.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begin the run.
    Start {
        /// Name of the session, part of every lesson's id.
        session: String,
        /// The run.
        spec: Box<RunSpec>,
        /// Lessons to begin with and where they come from.
        pool: Vec<(String, LessonCommand)>,
        /// What an episode that is played again had at its start.
        replay_seed: Option<Box<ReplaySeed>>,
        /// Conditions of breakpoints and watches to begin with.
        breakpoints: Vec<String>,
    },
    /// Do what is proposed and stop at the next proposal.
    Step,
    /// Go on by one stage.
    StepStage,
    /// Go on without stopping.
    Run,
    /// Stop as soon as nothing is in flight.
    Pause,
    /// Do what is proposed, and keep the pace.
    Approve,
    /// Put another action in the place of the proposed one.
    Override {
        /// The action, or `think: ...`.
        action: String,
        /// How later prompts show it.
        shown_as: ShownAs,
        /// What becomes of the thought before it.
        thought_disposition: ThoughtDisposition,
    },
    /// The person plays: take this action (or `think: ...`).
    Act(String),
    /// Refuse the proposal with a reason that the agent is told; it is asked again.
    Reject(String),
    /// Drop the proposal or the call in flight, and ask this step again.
    AskAgain,
    /// Break the calls to models off and pause.
    Cancel,
    /// After a failed call: try it again.
    Retry,
    /// After failed calls to models: take the replies to these very requests from a recording (`recorded:SESSION`) or from
    /// the kept answers (`cache`), this once and named as such.
    RetryFromRecording(String),
    /// Go on without the answer of a call to a model that failed: the mentor's reflection is left out, the actor's step waits
    /// for a person. The same of questions to the mentor that were broken off.
    GiveUp,
    /// Give a segment of a prompt that waits to be sent, or whose call has failed, other words.
    EditPrompt {
        /// The prompt's call; none: the draft, else the first failed call's.
        call: Option<CallId>,
        /// Which of the segments that it is rendered to, counted from 0.
        segment: usize,
        /// The words.
        text: String,
    },
    /// Give the thought of the open proposal, or of the last answered step, other words; none where they are blank.
    EditThought {
        /// The step.
        step: u32,
        /// The words.
        text: String,
    },
    /// Let the agent see other words of the world in the last answered step. The world is not changed.
    EditObservation {
        /// The step.
        step: u32,
        /// The words.
        text: String,
    },
    /// Say who decides.
    SetAutonomy(Autonomy),
    /// Change the lesson pool.
    Lesson(LessonCommand),
    /// Say which lines of the summary that waits are refused, counted from 0; the others are accepted.
    SettlePool {
        /// The refused lines.
        refused: Vec<usize>,
    },
    /// Take the last change back.
    Undo,
    /// Take this change back: the last one, or the one that a refused [`Command::Undo`] offered.
    UndoChange(Seq),
    /// Make the last undone change again.
    Redo,
    /// Reflect now.
    Reflect(ReflectionKind),
    /// A remark of a person on a step (0: on the episode).
    Remark {
        /// The step.
        step: u32,
        /// The words.
        text: String,
    },
    /// Change a setting.
    ChangeSetting {
        /// Its name.
        name: String,
        /// Its value.
        value: Value,
    },
    /// Go on as another run: another method, actor, mentor, interface or settings. The driver outfits it first.
    ChangeRun(Box<RunSpec>),
    /// Begin an episode of this task now; allowed where no episode is open.
    BeginEpisode(Box<Task>),
    /// End the open episode.
    EndEpisode(EndReason),
    /// End the run.
    EndRun,
    /// Set a breakpoint or a watch.
    SetBreakpoint {
        /// Its text, as `docs/BREAKPOINTS.md` has it.
        text: String,
        /// The one whose condition it replaces; none: a new one.
        replaces: Option<u32>,
    },
    /// Switch a breakpoint or watch on or off.
    SwitchBreakpoint {
        /// Which.
        breakpoint: u32,
        /// Whether it is looked at.
        enabled: bool,
    },
    /// Delete a breakpoint or watch.
    RemoveBreakpoint(u32),
    /// The session is put down.
    Close,
    /// The session is taken up again.
    Reopen,
}

/// A wish about the pool; ids and history are filled in when it is granted.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonCommand {
    /// A new lesson.
    Add {
        /// Its kind.
        kind: ReflectionKind,
        /// Its reach.
        scope: Scope,
        /// Its words.
        text: LessonText,
        /// The rule behind it, if one is.
        rule: Option<String>,
        /// The lessons it is made from.
        parents: Vec<LessonId>,
        /// The turn it is about.
        transition: Option<Transition>,
        /// What it rests on.
        evidence: String,
    },
    /// Words of the mentor that were not kept, taken as a lesson by a person; a lesson of the present, whatever is looked at.
    Accept {
        /// Its kind.
        kind: ReflectionKind,
        /// Its reach.
        scope: Scope,
        /// Its words.
        text: LessonText,
        /// The person changed the words: the lesson is the person's own.
        edited: bool,
        /// What it rests on.
        evidence: String,
    },
    /// A lesson of a pool file, under the id it has there.
    Load(Box<Lesson>),
    /// New words.
    Edit {
        /// Which lesson.
        id: LessonId,
        /// The words.
        text: LessonText,
    },
    /// On, off, pinned, retired.
    Status {
        /// Which lesson.
        id: LessonId,
        /// The status.
        status: LessonStatus,
    },
    /// Another reach.
    Rescope {
        /// Which lesson.
        id: LessonId,
        /// The reach.
        scope: Scope,
    },
    /// Another place among its kind, counted from 0.
    Move {
        /// Which lesson.
        id: LessonId,
        /// The place.
        to: usize,
    },
    /// The same lesson was drawn again.
    Recur {
        /// Which lesson.
        id: LessonId,
    },
}

impl LessonCommand {
    /// The wish for a new lesson that no rule wrote.
    pub fn add(kind: ReflectionKind, scope: Scope, text: LessonText, evidence: String) -> Self {
        Self::Add { kind, scope, text, rule: None, evidence, parents: Vec::new(), transition: None }
    }
}

/// All that may enter the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A wish.
    Command(Command),
    /// An answer.
    Reply(Reply),
}

/// Why a wish was not granted. Never journaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// What cannot be done and why.
    pub message: String,
    /// What to do instead.
    pub hint: String,
    /// The event a refused undo would have had to take back, for the offer of a fork.
    pub seq: Option<Seq>,
    /// The newest change before it that can still be taken back, in words: [`Command::UndoChange`] does it.
    pub older_change: Option<(Seq, String)>,
}

impl CommandError {
    /// A refusal with its advice.
    pub fn new(why: impl Into<String>, next: impl Into<String>) -> Self {
        Self { message: why.into(), hint: next.into(), seq: None, older_change: None }
    }
}
