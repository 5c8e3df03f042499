//! Messages to the update, and its requests to the outside.

use super::branches::BranchEdit;
use super::compare::{EpisodeRef, PtrEqArc};
use super::mark::MarkFilter;
use super::model::Cursor;
use super::overlay::{Answer, LessonDraft};
use crate::domain::{BranchId, LessonId, ModelRole, Seq};
use crate::driver::Fork;
use crate::engine::Command;
use crate::timeline::compare::Comparison;
use crossterm::event::{KeyEvent, MouseEvent};

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

/// An event and the epoch it belongs to: in another epoch, the same number means another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// The store's epoch.
    pub epoch: u64,
    pub seq: Seq,
}

/// What the update asks the event loop to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Send this command to the driver.
    Send(Command),
    /// List the currently admissible actions; the answer goes to the topmost overlay.
    ListAdmissible,
    /// List the actions that were admissible after a past event; the answer goes to the topmost overlay.
    ListAdmissibleAt(EventRef),
    /// Search all episodes except one; the answers go to the topmost overlay. An empty query cancels the search.
    Search {
        query: String,
        /// The episode that has been searched already.
        searched_episode: u32,
    },
    /// List the sessions; the answer goes to the topmost overlay.
    ListSessions,
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
    /// Ask the environment for a hint towards the goal; the answer is shown in the footer.
    Hint,
    /// Open this text in `$EDITOR`; the answer goes to the topmost overlay.
    OpenEditor(String),
    Copy(String),
    /// Write a report of the session.
    Export,
    /// Move all panes to this point in time.
    MoveCursor(Cursor),
    /// Continue from the past on a new branch.
    Fork(Fork),
    /// Write the first lesson edit of a new branch, then continue there.
    AddLessonOnFork {
        /// The fork, and what is done there after the lesson edit.
        fork: Fork,
        /// The lesson to edit, or `None` for a new one.
        lesson: Option<LessonId>,
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
    /// Edit a branch's name, note or archived flag.
    EditBranch(BranchId, BranchEdit),
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
    /// Switch to the next theme.
    NextTheme,
    /// Show a notice in the footer.
    ShowNotice(String),
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
