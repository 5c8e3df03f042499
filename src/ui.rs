//! The screen.

pub mod source;
pub mod theme;
