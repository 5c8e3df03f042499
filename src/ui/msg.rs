//! What reaches the update, and what the update wants from the outside.

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

/// Something happened to the screen.
#[derive(Clone, Debug)]
pub enum UiMessage {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(MouseEvent),
    /// The window has this many columns and rows now.
    Resize(u16, u16),
    /// The store has something new.
    StoreChanged,
    /// Time went on.
    Tick,
    /// What an overlay asked for is here.
    Answer(Answer),
}

/// A moment of the past: an event, and the line that it is of. Numbers of events mean others on another line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// The line, as the store counts them.
    pub epoch: u64,
    /// The event.
    pub seq: Seq,
}

/// What the update wants from the outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Send this wish to the driver.
    Send(Command),
    /// Ask for the actions the world accepts; the answer goes to the topmost overlay.
    ListAdmissible,
    /// Ask for the actions the world accepted after an event of the past; the answer goes to the topmost overlay.
    ListAdmissibleAt(EventRef),
    /// Look for these words in all episodes but this one; the answers go to the topmost overlay. No words: look no more.
    Search {
        /// The words.
        query: String,
        /// The episode that has been searched.
        searched_episode: u32,
    },
    /// List the sessions there are; the answer goes to the topmost overlay.
    ListSessions,
    /// Ask the server of a role for its models; the answer goes to the topmost overlay.
    ListModels(ModelRole),
    /// Ask what can be compared beside the session's own episodes; the answer goes to the topmost overlay.
    ListComparable,
    /// Bring two episodes and put them side by side; the answer goes to the topmost overlay.
    Compare {
        /// The left side.
        a: EpisodeRef,
        /// The right side.
        b: EpisodeRef,
    },
    /// Look up what preceded a row; the answer goes to the topmost overlay.
    LoadPreceding {
        /// The comparison.
        comparison: PtrEqArc<Comparison>,
        /// The row.
        row: usize,
    },
    /// Put the episode on the screen beside another one.
    CompareWith(EpisodeRef),
    /// Ask for a way to the goal; the answer is said in the footer.
    Hint,
    /// Open this text in `$EDITOR`; the answer goes to the topmost overlay.
    OpenEditor(String),
    /// Copy this text.
    Copy(String),
    /// Write a report of the session.
    Export,
    /// Move all panes to this moment.
    MoveCursor(Cursor),
    /// Go on from the past as a new branch.
    Fork(Fork),
    /// Write the lesson with which a branch begins; then go on there.
    TeachOnFork {
        /// Where it begins, and what is done there after the lesson.
        fork: Fork,
        /// The lesson that gets other words; none: a new one.
        lesson: Option<LessonId>,
    },
    /// Open the lesson editor over words of the mentor that were not kept.
    AcceptAsLesson {
        /// The lesson that they would have been.
        draft: LessonDraft,
        /// Where they come from.
        evidence: String,
    },
    /// Go on with another branch.
    SwitchBranch(BranchId),
    /// Read the branches anew; the answer goes to the screen and to the topmost overlay.
    LoadBranches,
    /// Call a branch otherwise.
    EditBranch(BranchId, BranchEdit),
    /// Stop at these marks from now on.
    SetMarkFilter(MarkFilter),
    /// Do an action of the main screen by its name, as the palette does.
    RunAction(crate::ui::keymap::Action),
    /// Keep what was typed for a lesson and not saved, or forget it.
    SaveDraft {
        /// The lesson it is about; none: a new one.
        of: Option<LessonId>,
        /// What was typed.
        draft: Option<LessonDraft>,
    },
    /// Take the next theme.
    NextTheme,
    /// Say a line in the footer.
    ShowNotice(String),
    /// Try the failed write again.
    RetryWrite,
    /// Give the mouse to the screen, or back to the terminal.
    CaptureMouse(bool),
    /// Put the program into the background.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Leave the screen, and play this episode again as it began.
    Rerun(u32),
    /// Leave the screen.
    Quit,
}
