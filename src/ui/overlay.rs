//! What lies over the panes: help, palette, boxes. The topmost takes the keys; `q` and Esc close it.
//!
//! An overlay holds its own state, reads everything else from [`Look`], and answers with a [`Reaction`]. It sends
//! nothing itself: what it wants goes into [`Reaction::requests`], so that every wish passes through one place.

use super::canvas::Canvas;
use super::keymap::{Action, Mode};
use super::look::Look;
use super::msg::Request;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// What comes back to an overlay that asked for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The actions the world accepts now, in its own order.
    Admissible(Vec<String>),
    /// The text as the editor left it; none when nothing was saved.
    Edited(Option<String>),
}

/// What an overlay makes of a key.
#[derive(Debug, Default, PartialEq)]
pub struct Reaction {
    /// What it wants from the outside, in order.
    pub requests: Vec<Request>,
    /// It is done and goes away. Requests are carried out after it has gone.
    pub close: bool,
}

/// Something that lies over the panes.
pub trait Overlay: Send {
    /// Its name, as tests and the footer call it.
    fn name(&self) -> &'static str;

    /// The mode in which the keymap reads keys while it is on top.
    fn mode(&self) -> Mode;

    /// A key to which the keymap gives a meaning in this mode. `Action::Close` is answered by going away.
    fn act(&mut self, action: Action, look: &Look<'_>) -> Reaction;

    /// A key to which the keymap gives none: typing.
    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Reaction {
        let _ = (key, look);
        Reaction::default()
    }

    /// Text was pasted. A paste never saves or runs anything.
    fn paste(&mut self, text: &str, look: &Look<'_>) -> Reaction {
        let _ = (text, look);
        Reaction::default()
    }

    /// The mouse did something.
    fn mouse(&mut self, event: MouseEvent, look: &Look<'_>) -> Reaction {
        let _ = (event, look);
        Reaction::default()
    }

    /// What it asked for is here.
    fn answer(&mut self, answer: Answer, look: &Look<'_>) -> Reaction {
        let _ = (answer, look);
        Reaction::default()
    }

    /// Draws it over the panes; it chooses its own place in the screen it is given.
    fn draw(&self, look: &Look<'_>, screen: Rect, canvas: &mut Canvas<'_>);
}

impl Reaction {
    /// It goes away and wants nothing.
    pub fn close() -> Self {
        Self { requests: Vec::new(), close: true }
    }

    /// It stays and wants this.
    pub fn want(request: Request) -> Self {
        Self { requests: vec![request], close: false }
    }

    /// It goes away and wants this.
    pub fn done(request: Request) -> Self {
        Self { requests: vec![request], close: true }
    }
}

/// The overlay an action of the main screen opens, if it opens one.
pub fn open(action: Action, look: &Look<'_>) -> Option<Box<dyn Overlay>> {
    let _ = (action, look);
    None
}
