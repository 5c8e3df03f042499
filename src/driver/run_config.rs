//! The configuration of a run.

use super::{AnswerDeadlines, ComputeJob, DriverError, OpenWorld, RenderPrompt, ReplyOverride};
use crate::domain::{RunSpec, Setting};
use crate::engine::{Cause, Event, Policy, ReplayStart};
use crate::provider::Provider;
use std::sync::Arc;

/// Everything a driver needs besides its session.
#[derive(Clone)]
pub struct RunConfig {
    /// The method, its prompts, interface and detectors.
    pub policy: Policy,
    pub render_prompt: RenderPrompt,
    pub actor: Arc<dyn Provider>,
    /// The model that writes reflections, if any.
    pub mentor: Option<Arc<dyn Provider>>,
    pub open_world: OpenWorld,
    /// Computes the method's jobs.
    pub compute_job: ComputeJob,
    pub answer_deadlines: AnswerDeadlines,
    /// Opens a recording from which a person takes a reply; `None` if recordings are not available.
    pub reply_override: Option<ReplyOverride>,
    /// Whether the next request is made while a person reads a proposal.
    pub prefetch: bool,
    /// Builds another run of the same session; `None` if the run cannot be changed.
    pub run_factory: Option<RunFactory>,
    /// Settings recorded in the journal when the run is changed to this one, by name; they describe the models of its
    /// roles.
    pub recorded_settings: Vec<(String, Setting)>,
    /// The initial state of an episode that is replayed, for a new run.
    pub replay_start: Option<Box<ReplayStart>>,
    /// Conditions of the breakpoints and watches with which a run starts.
    pub breakpoints: Vec<String>,
}

/// Builds the configuration of a run from its spec.
pub type RunFactory = Arc<dyn Fn(&RunSpec) -> Result<RunConfig, DriverError> + Send + Sync>;

impl RunConfig {
    /// Adds the recorded settings to the event of a changed run, because they are known only now.
    pub(super) fn record_settings(&self, events: &mut [(Cause, Event)]) {
        for (_, event) in events {
            let Event::RunChanged { spec } = event else { continue };
            for (name, setting) in &self.recorded_settings {
                spec.settings.insert_missing(name, setting.clone());
            }
        }
    }
}
