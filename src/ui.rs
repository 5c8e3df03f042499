//! The screen.
