//! What this program would have noted and written of itself at each point: the detectors' notes, the reflections of the
//! rules, their lessons and the method's memory. They are compared with what is recorded. The fold never asks the rules,
//! so a difference breaks no session: it says that the rules of the program that recorded it were others.

use crate::domain::{BranchId, LessonOp, RunSpec};
use crate::engine::{Cause, Engine, Envelope, Event, Policy, State};
use crate::method;
use crate::prompt::Templates;
use std::sync::Arc;

/// Compares batch by batch.
#[derive(Default)]
pub(super) struct Recomputation {
    policy: Option<Policy>,
    /// The batch under way: what is due in it, and what is recorded.
    batch: Option<(Vec<Event>, Vec<Event>)>,
    /// The last event ended its batch.
    is_between_batches: bool,
    /// Notes, reflections, lessons and memories compared.
    pub(super) compared: usize,
    /// Those of this program's own run that differ, in words.
    pub(super) differing: Vec<String>,
    /// The branch: part of the id of every lesson.
    branch: Option<BranchId>,
}

impl Recomputation {
    pub(super) fn new(branch: BranchId) -> Self {
        Self { branch: Some(branch), ..Self::default() }
    }

    pub(super) fn start(&mut self, spec: &RunSpec) {
        // A method that this program does not know cannot be asked.
        self.policy = method::build_policy(spec, Arc::new(Templates::builtin())).ok();
    }

    /// Takes the next event; `before` is the state before it.
    pub(super) fn add_event(&mut self, envelope: &Envelope, before: &State) {
        let first = std::mem::replace(&mut self.is_between_batches, !envelope.batch_continues);
        if first {
            self.batch = self.expected_events(envelope, before).map(|due| (due, Vec::new()));
        }
        if let Some((_, recorded)) = &mut self.batch
            && is_recomputable(&envelope.event)
        {
            recorded.push(envelope.event.clone());
        }
        if !envelope.batch_continues
            && let Some((due, recorded)) = self.batch.take()
        {
            self.compared += recorded.len();
            self.differing.extend(
                first_difference(&due, &recorded)
                    .map(|d| format!("{}event {}: {d}", self.branch_prefix(), envelope.seq)),
            );
        }
    }

    fn branch_prefix(&self) -> String {
        let fork = self.branch.as_ref().filter(|b| **b != BranchId::trunk());
        fork.map_or_else(String::new, |b| format!("branch {b}, "))
    }

    fn expected_events(&self, envelope: &Envelope, before: &State) -> Option<Vec<Event>> {
        let of_itself = envelope.cause == Cause::Policy
            && !matches!(envelope.event, Event::RunStarted { .. } | Event::Closed | Event::Reopened);
        let policy = self.policy.clone().filter(|_| of_itself)?;
        let engine =
            Engine::resume(before.clone(), policy, self.branch.clone().unwrap_or_else(BranchId::trunk));
        Some(engine.advance().into_iter().map(|(_, event)| event).filter(is_recomputable).collect())
    }
}

/// What is drawn from the trajectory by rule.
fn is_recomputable(event: &Event) -> bool {
    matches!(
        event,
        Event::Noted { .. } | Event::Reflected { .. } | Event::LessonChanged { .. } | Event::MemorySet { .. }
    )
}

/// The first event that differs, in words.
fn first_difference(due: &[Event], recorded: &[Event]) -> Option<String> {
    let most = due.len().max(recorded.len());
    let (now, was) = (0..most)
        .map(|n| (due.get(n), recorded.get(n)))
        .find(|(now, was)| now.map(without_lesson_id) != was.map(without_lesson_id))?;
    Some(format!("this program's rules draw {}, recorded is {}", event_text(now), event_text(was)))
}

/// An event without the id of a lesson that it adds: that goes by the name the session had when it was recorded, and
/// sessions are renamed.
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
        |event| serde_json::to_string(event).unwrap_or_else(|e| format!("what cannot be written: {e}")),
    )
}
