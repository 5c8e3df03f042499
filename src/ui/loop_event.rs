//! What wakes the event loop.

use crate::ui::msg::Answer;
use crate::ui::theme::Background;
use crossterm::event::Event;

/// A reason to wake up.
pub(super) enum LoopEvent {
    Terminal(Event),
    /// The terminal has reported its background.
    Background(Background),
    StoreChanged,
    Tick,
    Answer(Answer),
    /// The program was asked to stop, as Ctrl-Z does.
    Suspended,
    Resumed,
    /// The terminal is gone, or a signal ends the program.
    Terminated,
}
