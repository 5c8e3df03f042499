//! Owns the engine, the journal, the calls and the environment. Its one inbox is the only place that orders inputs.
//!
//! Every input becomes events; every event is written before it is applied, and only then published or acted on. A
//! driver runs on its own thread with its own runtime, so that neither a slow disk nor a slow screen blocks the
//! other.

mod branch;
mod cached_branch;
mod call_runner;
mod call_thread;
mod checkpoint_writer;
mod clock;
mod commit;
mod decision_point;
mod env_messages;
mod env_requests;
mod env_worker;
mod episode_replay;
mod error;
mod first_reset;
mod fork;
mod guarded_world;
mod halt;
mod halted;
mod job_runner;
mod live_sample;
pub mod measure;
mod mentor_check;
mod model_calls;
mod past_query;
mod pending_requests;
mod prefetch;
mod reply_override;
mod request;
mod run_config;
mod run_factory;
mod sample_order;
mod samples;
mod snapshot_cache;
mod startup;
mod step_delay;
mod store;
mod streamed_text;
mod sync_thread;
mod thread_priority;
mod world_thread;
pub mod worlds;

use crate::domain::{Job, JobContext};
pub use clock::{check_clock, wall_clock_now};
pub use decision_point::{DecisionPoint, decision_point, decision_seq, is_decision};
pub use episode_replay::{EpisodeReplay, ReplayError};
pub use error::DriverError;
pub use fork::Fork;
pub use halt::{Halt, RescueOutcome};
pub use live_sample::LiveSample;
pub use past_query::{PastAdmissible, PastHint, PastQuery};
pub use reply_override::ReplyOverride;
pub use request::build_request;
pub use run_config::{RunConfig, RunFactory, TypedServers};
pub use run_factory::{NamedTimeline, TYPING_DELAY, open_recording, rule_based_actor};
pub use sample_order::SampleOrder;
pub use startup::{Driver, Resumed, open_read_only};
pub use store::{EnvWorkKind, Handle, Health, Live, LiveCall, LiveEnvWork, LiveJob, Message, Signal, Store};
pub use streamed_text::StreamedText;
pub use thread_priority::lower_thread_priority;

use std::sync::Arc;

/// The names of the threads whose panics are caught: they run code of environments and methods, and the program goes on.
pub const GUARDED_THREADS: [&str; 3] = ["world", "past-world", "job"];

/// Computes a job of a method; reports its progress to the context, which fails once the job is cancelled.
pub type ComputeJob = Arc<dyn Fn(&Job, &JobContext) -> Result<serde_json::Value, String> + Send + Sync>;

/// Opens the environment of a task. Called on the environment's own thread.
pub type OpenWorld = Arc<
    dyn Fn(&crate::domain::Task) -> Result<Box<dyn crate::env::Environment>, crate::env::EnvError>
        + Send
        + Sync,
>;

/// Returns how long an answer of a task's environment may take before the environment is abandoned.
pub type AnswerDeadlines = Arc<dyn Fn(&crate::domain::Task) -> crate::env::TimeLimits + Send + Sync>;

/// Rebuilds the exact prompt of a record from a state.
pub type RenderPrompt =
    Arc<dyn Fn(&crate::engine::State, &crate::domain::PromptRecord) -> crate::domain::Prompt + Send + Sync>;

#[cfg(test)]
mod tests;
