//! The terminal screen: shows the driver's store and sends commands. It decides nothing about an episode.
//!
//! [`run`] is the event loop. A key becomes an `Action` (`keymap`), [`update`] turns it into changes of the [`Model`]
//! and [`Request`]s, and [`view`] draws model and state into a buffer. What the view computes while it draws (heights,
//! hit boxes) goes to [`ViewCache`], which can be dropped at any time without changing what is shown.

pub mod app;
pub mod branches;
pub mod canvas;
pub mod compare;
pub mod context;
pub mod find;
pub mod glyphs;
mod host_services;
pub mod keymap;
pub mod lane;
pub mod layout;
mod loop_event;
pub mod mark;
pub mod model;
pub mod msg;
pub mod overlay;
mod signals;
pub mod source;
pub mod start;
pub mod terminal;
pub mod theme;
pub mod update;
pub mod view;

pub use app::{Exit, Options, run};
pub use canvas::Canvas;
pub use context::{Context, FrameInput};
pub use host_services::{HostFn, HostServices, ListFn, ModelList};
pub use model::{Cursor, Focus, Model};
pub use msg::{Request, UiMessage};
pub use overlay::{Answer, Overlay, Response};
pub use view::{ViewCache, draw};

#[doc(hidden)]
pub mod fixture;

#[cfg(test)]
mod tests;
