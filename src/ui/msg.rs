//! Messages to the update, and its requests to the outside.

use crate::domain::{BranchId, LessonId, ModelRole};
use crate::driver::{Fork, PastAdmissible, PastHint, SampleOrder};
use crate::engine::{Command, CommandError};
use crate::lesson_test::Expectation;
use crate::timeline::PastPart;
use crate::timeline::compare::{Comparison, PriorDifferences};
use crate::timeline::lesson_health::LessonHealth;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::draft::{ForkChange, LessonDraft};
use crate::ui::effect::{EffectProgress, EffectQuery, TaughtLesson};
use crate::ui::find::{SearchHit, SearchStatus};
use crate::ui::frame_data::MeasuredResults;
use crate::ui::keymap::Action;
use crate::ui::mark::MarkFilter;
use crate::ui::model::FirstRunHint;
use crate::ui::types::{
    Cursor, EpisodeRef, EventRef, ModelList, PtrEqArc, ReportQuery, RequestForm, RequestSource, SavedPool,
    WorkKind,
};
use crossterm::event::{KeyEvent, MouseEvent};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An event for the screen.
#[derive(Clone, Debug)]
pub enum UiMessage {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    /// The terminal was resized to this many columns and rows.
    Resize(u16, u16),
    /// The store has new events or call progress.
    StoreChanged,
    /// A timer fired.
    Tick,
    /// The answer to an overlay's request.
    Answer(Answer),
}

/// Parts of the past to load, and what to do then.
#[derive(Clone, Debug, PartialEq)]
pub struct PastLoad {
    /// When a person began to wait.
    pub since: Instant,
    /// The store's epoch.
    pub epoch: u64,
    pub parts: Vec<PastPart>,
    /// The request that needs them, and how often something has been loaded for it. With `None` the frame needs them.
    pub then: Option<(Box<Request>, u32)>,
}

/// What the update asks the event loop to do. What takes long runs on a thread of its own; newer work of a kind replaces
/// older, and work whose answer nobody awaits any more is cancelled.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Send this command to the driver.
    Send(Command),
    /// Ask for samples of the prompt of a step; they arrive in the state.
    Sample(SampleOrder),
    /// Cancel the samples in progress.
    CancelSamples,
    /// List the currently admissible actions; the answer goes to the topmost overlay.
    ListAdmissible,
    /// List the actions that were admissible after a past event; the answer goes to the topmost overlay.
    ListAdmissibleAt(EventRef),
    /// Search all episodes except one; the answers go to the topmost overlay.
    Search {
        query: String,
        /// The episode that has been searched already.
        searched_episode: u32,
    },
    /// List the sessions; the answer goes to the topmost overlay.
    ListSessions,
    /// List the saved pools; the answer goes to the topmost overlay.
    ListSavedPools,
    /// Save a lesson of the session, or all that outlast an episode, in a pool file, given by its path; the answer is shown in
    /// the footer.
    PromoteLesson {
        lesson: Option<LessonId>,
        pool: String,
    },
    /// List the models of a role's server; the answer goes to the topmost overlay.
    ListModels(ModelRole),
    /// List the episodes outside this branch that can be compared; the answer goes to the topmost overlay.
    ListComparable,
    /// Load two episodes and compare them; the answer goes to the topmost overlay.
    Compare {
        a: EpisodeRef,
        b: EpisodeRef,
    },
    /// Compute the differences that precede a row; the answer goes to the topmost overlay.
    LoadPriorDifferences {
        comparison: PtrEqArc<Comparison>,
        row: usize,
    },
    /// Compare the episode on the screen with another one.
    CompareWith(EpisodeRef),
    /// Step through the two episodes of a measured pair, the baseline first.
    ComparePair {
        number: u32,
        a: EpisodeRef,
        b: EpisodeRef,
    },
    /// Plan the measurement of a lesson; the answer goes to the overlays.
    PlanEffect(EffectQuery),
    /// Start the measurement of a lesson, or continue it; the answers go to the overlays. It goes on when they are closed.
    RunEffect(EffectQuery),
    /// Stop the measurement; it can be continued.
    StopEffect,
    /// Check the health of the session's lessons; the answer goes to the overlays.
    CheckHealth,
    /// Open the editor for a lesson.
    EditLesson(LessonId),
    /// Open the measurement of a lesson.
    MeasureLesson(LessonId),
    /// Open the measurement of the lesson that is being taught, once the session has it.
    MeasureWhenTaught(TaughtLesson),
    /// List what the logs of measurements say about the session's lessons; the lanes show it.
    ListMeasured,
    /// Open the overlay of an action of the main screen.
    Open(Action),
    /// Open the fork dialog for the position shown, with the row of this change chosen.
    OpenForkDialog(ForkChange),
    /// Offer to fork before the event that a rejected undo names.
    OfferFork(CommandError),
    /// Ask what to do about a restored environment that differs from the recorded observations; `back` is the branch to
    /// return to, with its name.
    AskAboutDivergence {
        back: Option<(String, BranchId)>,
    },
    /// Close all overlays: they belong to another branch.
    CloseOverlays,
    /// Reopen the overlay whose command was rejected, with the text typed in it.
    ReopenClosed,
    /// Ask the environment for a hint towards the goal; the answer goes to the topmost overlay.
    Hint,
    /// Read what the environment's program has printed; the answer goes to the topmost overlay.
    ReadProgramOutput,
    /// Open this text in `$EDITOR`; the answer goes to the topmost overlay.
    OpenEditor(String),
    Copy(String),
    /// Copy a text to the clipboard alone: it is shown anyway.
    CopyToClipboard(String),
    /// Open a file with the platform's program for it.
    OpenFile(String),
    /// Remember for later sessions which first-run hint comes next.
    RememberHint(FirstRunHint),
    /// Keep the decision at a prompt as a test for lessons.
    KeepTest {
        source: RequestSource,
        expectation: Expectation,
    },
    /// Copy the request with a prompt.
    CopyRequest {
        source: RequestSource,
        form: RequestForm,
    },
    /// Write a report of the session.
    Export(ReportQuery),
    /// Draw the screen once more, without overlays and notice, and write the picture.
    DrawPicture,
    /// Write a picture of the screen, an SVG document; the answer is shown in the footer.
    SavePicture(String),
    /// Stop writing the report.
    CancelExport,
    /// Move all panes to this point in time.
    MoveCursor(Cursor),
    /// Move all panes to the end of a step of an episode (`None`: the episode on screen).
    GoToStep {
        episode: Option<u32>,
        step: u32,
    },
    /// Load parts of the past that aren't in memory; the answer goes to the compositor.
    LoadPast(PastLoad),
    /// Continue from the past on a new branch.
    Fork(Fork),
    /// Write the first lesson edit of a new branch, then continue there.
    AddLessonOnFork {
        /// The fork, and what is done there after the lesson edit.
        fork: Fork,
        /// The lesson to edit, or `None` for a new one.
        lesson: Option<LessonId>,
        /// What the person has already typed of it.
        typed: String,
    },
    /// Open the lesson editor with a mentor text that was dropped instead of becoming a lesson.
    AcceptAsLesson {
        /// The lesson it would become.
        draft: LessonDraft,
        /// Where the text comes from.
        evidence: String,
    },
    /// Switch to another branch.
    SwitchBranch(BranchId),
    /// Reload the branches; the answer goes to the screen and to the topmost overlay.
    LoadBranches,
    /// Edit the names, notes or archived flags of branches.
    EditBranches(Vec<(BranchId, BranchEdit)>),
    /// Set the marks at which `<` and `>` stop.
    SetMarkFilter(MarkFilter),
    /// Run an action of the main screen by name, as the palette does.
    RunAction(crate::ui::keymap::Action),
    /// Keep an unsaved lesson draft, or discard it.
    SaveDraft {
        /// The lesson it belongs to, or `None` for a new one.
        of: Option<LessonId>,
        /// The draft, or `None` to discard it.
        draft: Option<LessonDraft>,
    },
    /// Switch to the theme with this name, or to the next one.
    SwitchTheme(Option<String>),
    /// Show a notice in the footer.
    ShowNotice(String),
    /// Wait this long before each step of a run whose actor isn't a model.
    SetStepDelay(Duration),
    /// Retry the failed write.
    RetryWrite,
    /// Capture the mouse, or release it to the terminal.
    CaptureMouse(bool),
    /// Suspend the program.
    Suspend,
    /// Redraw everything.
    Redraw,
    /// Close the screen and rerun this episode from its start.
    Rerun(u32),
    /// Close the screen.
    Quit,
}

/// The answer to a request of an overlay.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The admissible actions now, in the environment's order.
    Admissible(Vec<String>),
    /// The admissible actions at a past event, in the environment's order, or why they aren't available.
    AdmissibleAt {
        /// The requested event; an answer for any other event is stale.
        at: EventRef,
        actions: PastAdmissible,
    },
    /// A hint about the path to the goal. `None` if the environment can't search for one.
    Hint(PastHint),
    /// What the environment's program has printed. `None` if it is no program.
    ProgramOutput(Option<String>),
    /// The known sessions, newest first, each as its name and a short description.
    Sessions(Vec<(String, String)>),
    /// The saved pools, or why they can't be listed.
    SavedPools(Result<PtrEqArc<Vec<SavedPool>>, String>),
    /// The models of a role's server, or why they aren't available.
    Models { role: ModelRole, models: Result<ModelList, String> },
    /// The text as saved in the external editor. `None` if nothing was saved.
    Edited(Option<String>),
    /// What was written to which file, or why it couldn't be written; shown in the footer.
    FileWritten(Result<String, String>),
    /// A report was written to this file, or why it couldn't be.
    ReportWritten {
        path: Result<String, String>,
        /// Whether the platform has a program that opens it.
        can_open: bool,
    },
    /// A followed hint is remembered, or why it can't be.
    HintRemembered(Result<(), String>),
    /// The session's branches, or why they couldn't be read or edited.
    Branches(Result<Arc<[BranchInfo]>, String>),
    /// The text of a request to copy, or why it can't be written.
    RequestText(Result<String, String>),
    /// The plan of a measurement, its pairs so far, or why it can't be planned or continued.
    Effect(Result<PtrEqArc<EffectProgress>, String>),
    /// The health of the session's lessons, or why it can't be checked.
    Health(Result<PtrEqArc<LessonHealth>, String>),
    /// What the logs of measurements say, or why they can't be read.
    Measured(Result<MeasuredResults, String>),
    /// Work ended without an answer, by a fault of the program.
    WorkCrashed(WorkKind),
    /// Search hits in other episodes.
    SearchResults {
        query: String,
        hits: Vec<SearchHit>,
        /// Whether more hits may follow.
        progress: SearchStatus,
    },
    /// Branches and sessions to compare with besides the session's own episodes, or why they can't be listed.
    Comparable(Result<Vec<EpisodeRef>, String>),
    /// A comparison of two episodes, or why it failed.
    Compared {
        /// The left side.
        a: Box<EpisodeRef>,
        /// The right side.
        b: Box<EpisodeRef>,
        result: Result<PtrEqArc<Comparison>, String>,
    },
    /// Parts of the past have been loaded, or why they couldn't be.
    PastLoaded { load: PastLoad, result: Result<(), String> },
    /// The differences that preceded a row of a comparison.
    PriorDifferences {
        comparison: PtrEqArc<Comparison>,
        row: usize,
        /// The differences, or why they aren't available.
        before: Result<PtrEqArc<PriorDifferences>, String>,
    },
}
