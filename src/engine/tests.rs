//! Cases and properties on the engine: no IO, no waiting.

mod ahead;
mod broken;
mod cases;
mod ends;
mod fixture;
mod hand;
mod mentor;
mod properties;
mod retry;
mod reworded;
mod stops;
mod time;
mod undo;

/// A run for tests beside these.
pub(super) fn spec_of(tasks: usize) -> crate::domain::RunSpec {
    fixture::spec(tasks, 50)
}
