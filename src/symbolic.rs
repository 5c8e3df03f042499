//! Detectors and the rules behind symbolic reflections. Pure.

use crate::domain::{Kind, Note};
use crate::engine::{State, Want};

pub mod thresholds;

/// Looks at the last step.
pub fn detect(_state: &State) -> Vec<Note> {
    Vec::new()
}

/// Reflections on the last settled step.
pub fn reflect(_state: &State, _only: Option<Kind>) -> Vec<Want> {
    Vec::new()
}
