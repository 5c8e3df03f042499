//! The configuration of a run.

use super::{AnswerDeadlines, ComputeJob, DriverError, OpenWorld, RenderPrompt, ReplyOverride};
use crate::domain::{ModelRole, RunSpec, Setting};
use crate::engine::{Cause, Event, Policy, ReplayStart};
use crate::provider::Provider;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The addresses of model servers that a person has typed since the program started.
    pub typed_servers: TypedServers,
    /// The initial state of an episode that is replayed, for a new run.
    pub replay_start: Option<Box<ReplayStart>>,
    /// Conditions of the breakpoints and watches with which a run starts.
    pub breakpoints: Vec<String>,
}

/// Addresses of model servers that a person has typed since the program started, shared by all configurations of runs.
/// Only these, and never one that a session merely names, may receive a person's key without being configured.
pub type TypedServers = Arc<Mutex<BTreeSet<String>>>;

/// Builds the configuration of a run from its spec.
pub type RunFactory = Arc<dyn Fn(&RunSpec) -> Result<RunConfig, DriverError> + Send + Sync>;

impl RunConfig {
    /// Remembers the addresses in a run that a person has just changed, if `current`, which may come from somebody
    /// else's session, doesn't have them.
    pub(super) fn remember_typed_servers(&self, current: Option<&RunSpec>, changed: &RunSpec) {
        let addresses = |run: &RunSpec| {
            ModelRole::ALL.map(|role| run.settings.text(&format!("{}.base_url", role.name()), "").to_owned())
        };
        let known = current.map(addresses);
        let typed =
            addresses(changed).into_iter().filter(|url| known.as_ref().is_none_or(|k| !k.contains(url)));
        self.typed_servers.lock().unwrap_or_else(PoisonError::into_inner).extend(typed);
    }

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
