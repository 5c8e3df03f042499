//! What the loop of the screen wakes up for.

use super::overlay::Answer;
use crossterm::event::Event;

/// One of them.
pub(super) enum LoopEvent {
    Terminal(Event),
    StoreChanged,
    Tick,
    Answer(Answer),
    /// Somebody asks us to stop, as Ctrl-Z does.
    Suspended,
    Resumed,
    /// The terminal has gone, or a signal ends the program.
    Terminated,
}
