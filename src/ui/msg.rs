//! What reaches the update, and what the update wants from the outside.

use super::branches::BranchEdit;
use super::compare::{Place, Shared};
use super::mark::Marks;
use super::model::Cursor;
use super::overlay::{Answer, Draft};
use crate::domain::{BranchId, LessonId, ModelRole, Seq};
use crate::driver::Fork;
use crate::engine::Command;
use crate::timeline::compare::Comparison;
use crossterm::event::{KeyEvent, MouseEvent};

/// Something happened to the screen.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(MouseEvent),
    /// The window has this many columns and rows now.
    Resize(u16, u16),
    /// The store has something new.
    News,
    /// Time went on.
    Tick,
    /// What an overlay asked for is here.
    Answer(Answer),
}

/// A moment of the past: an event, and the line that it is of. Numbers of events mean others on another line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThenAt {
    /// The line, as the store counts them.
    pub line: u64,
    /// The event.
    pub at: Seq,
}

/// What the update wants from the outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Send this wish to the driver.
    Send(Command),
    /// Ask for the actions the world accepts; the answer goes to the topmost overlay.
    Admissible,
    /// Ask for the actions the world accepted after an event of the past; the answer goes to the topmost overlay.
    AdmissibleThen(ThenAt),
    /// Look for these words in all episodes but this one; the answers go to the topmost overlay. No words: look no more.
    Find {
        /// The words.
        words: String,
        /// The episode that has been searched.
        shown: u32,
    },
    /// List the sessions there are; the answer goes to the topmost overlay.
    Sessions,
    /// Ask the server of a role for its models; the answer goes to the topmost overlay.
    Models(ModelRole),
    /// Ask what can be compared beside the session's own episodes; the answer goes to the topmost overlay.
    Others,
    /// Bring two episodes and put them side by side; the answer goes to the topmost overlay.
    Compare {
        /// The left side.
        a: Place,
        /// The right side.
        b: Place,
    },
    /// Look up what preceded a row; the answer goes to the topmost overlay.
    Precede {
        /// The comparison.
        of: Shared<Comparison>,
        /// The row.
        row: usize,
    },
    /// Put the episode on the screen beside another one.
    Beside(Place),
    /// Ask for a way to the goal; the answer is said in the footer.
    Hint,
    /// Open this text in `$EDITOR`; the answer goes to the topmost overlay.
    Editor(String),
    /// Copy this text.
    Copy(String),
    /// Write a report of the session.
    Export,
    /// Move all panes to this moment.
    Go(Cursor),
    /// Go on from the past as a new branch.
    Fork(Fork),
    /// Write the lesson with which a branch begins; then go on there.
    Teach {
        /// Where it begins, and what is done there after the lesson.
        fork: Fork,
        /// The lesson that gets other words; none: a new one.
        of: Option<LessonId>,
    },
    /// Open the lesson editor over words of the mentor that were not kept.
    Accept {
        /// The lesson that they would have been.
        draft: Draft,
        /// Where they come from.
        evidence: String,
    },
    /// Go on with another branch.
    Switch(BranchId),
    /// Read the branches anew; the answer goes to the screen and to the topmost overlay.
    Branches,
    /// Call a branch otherwise.
    Relabel(BranchId, BranchEdit),
    /// Stop at these marks from now on.
    Marks(Marks),
    /// Do an action of the main screen by its name, as the palette does.
    Do(crate::ui::keymap::Action),
    /// Keep what was typed for a lesson and not saved, or forget it.
    Keep {
        /// The lesson it is about; none: a new one.
        of: Option<LessonId>,
        /// What was typed.
        draft: Option<Draft>,
    },
    /// Take the next theme.
    NextTheme,
    /// Say a line in the footer.
    Say(String),
    /// Try the failed write again.
    RetryWrite,
    /// Give the mouse to the screen, or back to the terminal.
    Mouse(bool),
    /// Put the program into the background.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Leave the screen, and play this episode again as it began.
    Rerun(u32),
    /// Leave the screen.
    Quit,
}
