//! Tests of the engine: scenarios and properties. They do no I/O and never wait.

mod breakpoints;
mod cancelled;
mod cases;
mod edited_prompts;
mod episode_end;
mod fixture;
mod jobs;
mod manual_edit;
mod mentor;
mod prefetch;
mod properties;
mod retry;
mod samples;
mod stalled_methods;
mod undo;
mod wall_time;
