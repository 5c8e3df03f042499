//! Tests of the engine by cases and properties, without IO or waiting.

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

/// Returns a run for tests in other modules.
pub(super) fn run_spec(tasks: usize) -> crate::domain::RunSpec {
    fixture::run_spec(tasks, 50)
}
