//! The screen.

pub mod keymap;
pub mod source;
pub mod theme;
