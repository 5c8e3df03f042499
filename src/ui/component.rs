//! What every layer of the screen implements, and how it answers an input event.
//!
//! A component holds its own state, reads everything else from [`Context`], and returns a [`Response`]. It never sends
//! anything itself: its requests go into [`Response::requests`], so that every request passes through one place.

use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::types::WorkKind;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// The result of handling an input event in an overlay.
#[derive(Debug, Default, PartialEq)]
pub struct Response {
    /// Requests to execute, in order.
    pub requests: Vec<Request>,
    /// Whether to close the overlay. Requests are executed after it has closed.
    pub close: bool,
}

/// A layer over the panes.
pub trait Component: Send {
    /// Returns the name used in tests and the footer.
    fn name(&self) -> &'static str;

    /// Returns the mode in which the keymap reads keys while the overlay is on top.
    fn mode(&self, context: &Context<'_>) -> Mode;

    /// Handles a key that is bound to an action in this mode. `Action::Close` must close the overlay or go back
    /// one level in it.
    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response;

    /// Handles an unbound key, such as typed text.
    fn on_key(&mut self, key: KeyEvent, context: &Context<'_>) -> Response {
        let _ = (key, context);
        Response::default()
    }

    /// Handles pasted text. A paste never saves or runs anything.
    fn on_paste(&mut self, text: &str, context: &Context<'_>) -> Response {
        let _ = (text, context);
        Response::default()
    }

    /// Handles a mouse event.
    fn on_mouse(&mut self, event: MouseEvent, context: &Context<'_>) -> Response {
        let _ = (event, context);
        Response::default()
    }

    /// Handles the answer to an earlier request.
    fn on_answer(&mut self, answer: Answer, context: &Context<'_>) -> Response {
        let _ = (answer, context);
        Response::default()
    }

    /// Returns the work whose answer the overlay waits for. When no overlay waits for it any more, it is cancelled.
    fn awaits(&self) -> Option<WorkKind> {
        None
    }

    /// Returns whether the overlay's subject no longer exists; a stale overlay is closed automatically.
    fn is_stale(&self, context: &Context<'_>) -> bool {
        let _ = context;
        false
    }

    /// Returns the number of rows covered at the bottom of the screen, including the footer's, or 0 if the overlay is
    /// centred. The panes that show steps end above these rows.
    fn rows_covered(&self, context: &Context<'_>, screen: Rect) -> u16 {
        let _ = (context, screen);
        0
    }

    /// Returns the first column that an overlay at the bottom covers, and the column after its last one.
    fn columns_covered(&self, context: &Context<'_>, screen: Rect) -> (u16, u16) {
        let _ = context;
        (screen.left(), screen.right())
    }

    /// Draws the overlay. It chooses its own position on the screen.
    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>);
}

impl Response {
    /// Closes the overlay.
    pub fn close() -> Self {
        Self { requests: Vec::new(), close: true }
    }

    /// Makes a request; the overlay stays open.
    pub fn request(request: Request) -> Self {
        Self { requests: vec![request], close: false }
    }

    /// Closes the overlay, then makes a request.
    pub fn request_and_close(request: Request) -> Self {
        Self { requests: vec![request], close: true }
    }
}
