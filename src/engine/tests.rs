//! Cases and properties on the engine: no IO, no waiting.

mod breakpoints;
mod cancelled;
mod cases;
mod edited_prompts;
mod episode_end;
mod fixture;
mod manual_edit;
mod mentor;
mod prefetch;
mod properties;
mod retry;
mod undo;
mod wall_time;

/// A run for tests beside these.
pub(super) fn run_spec(tasks: usize) -> crate::domain::RunSpec {
    fixture::run_spec(tasks, 50)
}
