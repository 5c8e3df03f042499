//! The terminal screen: shows the driver's store and sends commands. It decides nothing about an episode.
//!
//! [`run`] is the event loop. A key becomes an `Action` (`keymap`), [`update`] turns it into changes of the [`Model`]
//! and [`Request`]s, and [`view`] draws model and state into a buffer. What the view computes while it draws (heights,
//! hit boxes) goes to [`ViewCache`], which can be dropped at any time without changing what is shown.

pub mod app;
pub mod branches;
pub mod canvas;
pub mod chapters;
pub mod compare;
pub mod component;
pub mod compositor;
pub mod draft;
pub mod effect;
pub mod facts;
pub mod find;
pub mod frame_data;
pub mod glyphs;
mod host_services;
pub mod keymap;
pub mod labels;
pub mod layout;
mod loop_event;
pub mod mark;
pub mod model;
pub mod msg;
pub mod options;
pub mod overlay;
pub mod playback;
pub mod position;
pub mod selection;
mod signals;
pub mod source;
pub mod stage;
pub mod start;
pub mod terminal;
mod terminal_events;
pub mod theme;
pub mod types;
pub mod update;
pub mod view;
pub mod widget;

pub use app::{Exit, run};
pub use canvas::Canvas;
pub use compositor::Compositor;
pub use frame_data::{Context, FrameData, MeasuredResults};
pub use host_services::{EffectFn, HostFn, HostServices, PromotedLesson, WorkFn};
pub use model::{FirstRunHint, Model};
pub use msg::{Answer, Request, UiMessage};
pub use options::Options;
pub use terminal_events::reported_background;
pub use types::{Cursor, Focus, ModelList};
pub use view::cache::ViewCache;

#[doc(hidden)]
pub mod fixture;

#[cfg(test)]
mod tests;
