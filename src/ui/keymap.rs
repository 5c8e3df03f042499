//! Placeholder of the keymap until the keymap room is merged.
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Where keys are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The main screen.
    Main,
    /// Something over it.
    Overlay,
}

/// What can be done by a key or the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// To the next proposal.
    Step,
    /// By one stage.
    StepStage,
    /// Pause or run.
    PauseRun,
    /// Confirm every proposal, or not.
    ToggleConfirm,
    /// Play by hand, or not.
    ToggleHuman,
    /// Override the proposal.
    Override,
    /// Reject the proposal, or switch the lesson.
    RejectOrToggle,
    /// Ask again.
    AskAgain,
    /// Add a lesson.
    AddLesson,
    /// Edit the chosen lesson.
    EditLesson,
    /// Pin or unpin.
    PinLesson,
    /// Delete.
    DeleteLesson,
    /// Up in order.
    MoveUp,
    /// Down in order.
    MoveDown,
    /// Reflect now.
    ReflectNow,
    /// Undo.
    Undo,
    /// Redo.
    Redo,
    /// Back in time.
    Back,
    /// Forward in time.
    Forward,
    /// To the previous mark.
    PreviousMark,
    /// To the next mark.
    NextMark,
    /// To the beginning.
    First,
    /// To the present.
    Live,
    /// Up.
    Up,
    /// Down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// The next pane.
    NextPane,
    /// The pane before.
    PreviousPane,
    /// A pane by digit.
    Pane(u8),
    /// Zoom.
    Zoom,
    /// Arrangement.
    Arrange,
    /// Truth.
    Truth,
    /// Fold reasoning.
    Reasoning,
    /// Mouse.
    Mouse,
    /// The prompt.
    Prompt,
    /// Search.
    Search,
    /// Palette.
    Palette,
    /// Help.
    Help,
    /// Cancel.
    Cancel,
    /// Retry.
    Retry,
    /// Suspend.
    Suspend,
    /// Close the topmost.
    Close,
    /// Quit.
    Quit,
    /// Open the chosen thing.
    Open,
    /// A remark.
    Remark,
    /// Copy.
    Copy,
    /// Redraw.
    Redraw,
    /// End the episode.
    EndEpisode,
}

/// Keys.
#[derive(Clone, Debug, Default)]
pub struct Keymap;

impl Keymap {
    /// The meaning of a key.
    pub fn find(&self, _mode: Mode, key: KeyEvent) -> Option<Action> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        Some(match key.code {
            KeyCode::Char('c') if ctrl => Action::Cancel,
            KeyCode::Char('z') if ctrl => Action::Suspend,
            KeyCode::Char('l') if ctrl => Action::Redraw,
            KeyCode::Char('n') => Action::Step,
            KeyCode::Enter => Action::Open,
            KeyCode::Char('s') => Action::StepStage,
            KeyCode::Char(' ') => Action::PauseRun,
            KeyCode::Char('c') => Action::ToggleConfirm,
            KeyCode::Char('A') => Action::ToggleHuman,
            KeyCode::Char('o') => Action::Override,
            KeyCode::Char('x') => Action::RejectOrToggle,
            KeyCode::Char('r') => Action::AskAgain,
            KeyCode::Char('a') => Action::AddLesson,
            KeyCode::Char('u') => Action::Undo,
            KeyCode::Char('U') => Action::Redo,
            KeyCode::Left | KeyCode::Char('h') => Action::Back,
            KeyCode::Right | KeyCode::Char('l') => Action::Forward,
            KeyCode::Char('<') => Action::PreviousMark,
            KeyCode::Char('>') => Action::NextMark,
            KeyCode::Home => Action::First,
            KeyCode::End => Action::Live,
            KeyCode::Up | KeyCode::Char('k') => Action::Up,
            KeyCode::Down | KeyCode::Char('j') => Action::Down,
            KeyCode::PageUp => Action::PageUp,
            KeyCode::PageDown => Action::PageDown,
            KeyCode::Tab => Action::NextPane,
            KeyCode::BackTab => Action::PreviousPane,
            KeyCode::Char(d @ '1'..='9') => Action::Pane(d as u8 - b'0'),
            KeyCode::Char('z') => Action::Zoom,
            KeyCode::Char('v') => Action::Arrange,
            KeyCode::Char('t') => Action::Truth,
            KeyCode::Char('R') => Action::Reasoning,
            KeyCode::Char('p') => Action::Prompt,
            KeyCode::Char('?') => Action::Help,
            KeyCode::Esc => Action::Close,
            KeyCode::Char('q') => Action::Quit,
            _ => return None,
        })
    }

    /// The first key of an action.
    pub fn label(&self, action: Action) -> Option<String> {
        Some(
            match action {
                Action::Step => "n",
                Action::Override => "o",
                Action::RejectOrToggle => "x",
                Action::AskAgain => "r",
                Action::PauseRun => "Space",
                Action::AddLesson => "a",
                Action::EditLesson => "e",
                Action::PinLesson => "P",
                Action::DeleteLesson => "d",
                Action::Undo => "u",
                Action::Prompt => "p",
                Action::Back => "\u{2190}",
                Action::Forward => "\u{2192}",
                Action::Live => "End",
                Action::NextMark => ">",
                Action::NextPane => "Tab",
                Action::Zoom => "z",
                Action::Palette => ":",
                Action::Help => "?",
                _ => return None,
            }
            .to_owned(),
        )
    }
}
