//! Recomputes what this version's rules derive at each point (detector notes, symbolic reflections, their lessons and
//! the method's memory) and compares it with the journal. Folding never runs rules, so a difference doesn't damage a
//! session: it means that the version that recorded the session had different rules.

use crate::catalog;
use crate::domain::{BranchId, LessonOp, RunSpec};
use crate::engine::{Cause, Engine, Envelope, Event, Policy, State};
use crate::journal::import::imported_format;
use crate::text::program_name;
use std::sync::Arc;

/// Compares recorded and recomputed events batch by batch.
#[derive(Default)]
pub(super) struct Recomputation {
    policy: Option<Policy>,
    /// The current batch: the expected events and the recorded ones.
    batch: Option<(Vec<Event>, Vec<Event>)>,
    /// The last event ended its batch.
    is_between_batches: bool,
    /// Number of notes, reflections, lessons and memories compared.
    pub(super) compared: usize,
    /// Descriptions of the differences.
    pub(super) differing: Vec<String>,
    /// Why nothing can be recomputed, for each run of which this is so.
    pub(super) obstacles: Vec<String>,
    /// The ids of lessons contain it.
    branch: Option<BranchId>,
}

impl Recomputation {
    /// Creates a recomputation for a branch; it compares nothing before [`Recomputation::start`].
    pub(super) fn new(branch: BranchId) -> Self {
        Self { branch: Some(branch), ..Self::default() }
    }

    /// Sets the run whose method is used from here on.
    pub(super) fn start(&mut self, spec: &RunSpec) {
        let policy = match (imported_format(spec), catalog::missing_environment(spec)) {
            (Some(format), _) => {
                Err(format!("another program decided what this imported {format} run contains"))
            }
            (None, Some(env)) => {
                Err(format!("{} has no environment {env:?}, and so not its rules", program_name()))
            }
            (None, None) => catalog::build_policy(spec, Arc::new(catalog::builtin_templates()))
                .map_err(|error| error.to_string()),
        };
        self.policy = match policy {
            Ok(policy) => Some(policy),
            Err(reason) => {
                self.obstacles.push(format!("{}{reason}", self.branch_prefix()));
                None
            }
        };
    }

    /// Adds the next event; `before` is the state before it.
    pub(super) fn add_event(&mut self, envelope: &Envelope, before: &State) {
        let starts_batch = std::mem::replace(&mut self.is_between_batches, !envelope.batch_continues);
        if starts_batch {
            self.batch = self.expected_events(envelope, before).map(|expected| (expected, Vec::new()));
        }
        if let Some((_, recorded)) = &mut self.batch
            && is_recomputable(&envelope.event)
        {
            recorded.push(envelope.event.clone());
        }
        if !envelope.batch_continues
            && let Some((expected, recorded)) = self.batch.take()
        {
            self.compared += recorded.len();
            self.differing.extend(
                first_difference(&expected, &recorded)
                    .map(|d| format!("{}event {}: {d}", self.branch_prefix(), envelope.seq)),
            );
        }
    }

    fn branch_prefix(&self) -> String {
        let fork = self.branch.as_ref().filter(|b| **b != BranchId::trunk());
        fork.map_or_else(String::new, |b| format!("branch {b}, "))
    }

    fn expected_events(&self, envelope: &Envelope, before: &State) -> Option<Vec<Event>> {
        let by_policy = envelope.cause == Cause::Policy
            && !matches!(envelope.event, Event::RunStarted { .. } | Event::Closed | Event::Reopened);
        let policy = self.policy.clone().filter(|_| by_policy)?;
        let engine =
            Engine::resume(before.clone(), policy, self.branch.clone().unwrap_or_else(BranchId::trunk));
        Some(engine.advance().into_iter().map(|(_, event)| event).filter(is_recomputable).collect())
    }
}

/// Returns whether rules derive this kind of event from the trajectory.
fn is_recomputable(event: &Event) -> bool {
    matches!(
        event,
        Event::Noted { .. } | Event::Reflected { .. } | Event::LessonChanged { .. } | Event::MemorySet { .. }
    )
}

/// Describes the first event that differs.
fn first_difference(expected: &[Event], recorded: &[Event]) -> Option<String> {
    let len = expected.len().max(recorded.len());
    let (now, old) = (0..len)
        .map(|n| (expected.get(n), recorded.get(n)))
        .find(|(now, old)| now.map(without_lesson_id) != old.map(without_lesson_id))?;
    Some(format!("this version's rules derive {}, but the journal has {}", event_text(now), event_text(old)))
}

/// Returns an event without the id of a lesson that it adds: the id is derived from the session's name at the time of
/// recording, and sessions can be renamed.
fn without_lesson_id(event: &Event) -> Event {
    let mut event = event.clone();
    if let Event::LessonChanged { op, .. } = &mut event
        && let LessonOp::Add { id, .. } = &mut **op
    {
        id.0 = Arc::from("");
    }
    event
}

fn event_text(event: Option<&Event>) -> String {
    event.map_or_else(
        || "nothing".to_owned(),
        |event| serde_json::to_string(event).unwrap_or_else(|e| format!("(can't be shown as JSON: {e})")),
    )
}
