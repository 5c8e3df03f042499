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
pub(super) struct Drawn {
    policy: Option<Policy>,
    /// The batch under way: what is due in it, and what is recorded.
    batch: Option<(Vec<Event>, Vec<Event>)>,
    /// The last event ended its batch.
    between: bool,
    /// Notes, reflections, lessons and memories compared.
    pub(super) compared: usize,
    /// Those of this program's own run that differ, in words.
    pub(super) otherwise: Vec<String>,
    /// The branch: part of the id of every lesson.
    branch: Option<BranchId>,
}

impl Drawn {
    pub(super) fn on(branch: BranchId) -> Self {
        Self { branch: Some(branch), ..Self::default() }
    }

    pub(super) fn begin(&mut self, spec: &RunSpec) {
        // A method that this program does not know cannot be asked.
        self.policy = method::build_policy(spec, Arc::new(Templates::builtin())).ok();
    }

    /// Takes the next event; `before` is the state before it.
    pub(super) fn event(&mut self, envelope: &Envelope, before: &State) {
        let first = std::mem::replace(&mut self.between, !envelope.batch_continues);
        if first {
            self.batch = self.due(envelope, before).map(|due| (due, Vec::new()));
        }
        if let Some((_, recorded)) = &mut self.batch
            && draws(&envelope.event)
        {
            recorded.push(envelope.event.clone());
        }
        if !envelope.batch_continues
            && let Some((due, recorded)) = self.batch.take()
        {
            self.compared += recorded.len();
            self.otherwise.extend(
                difference(&due, &recorded).map(|d| format!("{}event {}: {d}", self.of(), envelope.seq)),
            );
        }
    }

    fn of(&self) -> String {
        let fork = self.branch.as_ref().filter(|b| **b != BranchId::trunk());
        fork.map_or_else(String::new, |b| format!("branch {b}, "))
    }

    fn due(&self, envelope: &Envelope, before: &State) -> Option<Vec<Event>> {
        let of_itself = envelope.cause == Cause::Policy
            && !matches!(envelope.event, Event::RunStarted { .. } | Event::Closed | Event::Reopened);
        let policy = self.policy.clone().filter(|_| of_itself)?;
        let engine =
            Engine::resume(before.clone(), policy, self.branch.clone().unwrap_or_else(BranchId::trunk));
        Some(engine.advance().into_iter().map(|(_, event)| event).filter(draws).collect())
    }
}

/// What is drawn from the trajectory by rule.
fn draws(event: &Event) -> bool {
    matches!(
        event,
        Event::Noted { .. } | Event::Reflected { .. } | Event::LessonChanged { .. } | Event::MemorySet { .. }
    )
}

/// The first event that differs, in words.
fn difference(due: &[Event], recorded: &[Event]) -> Option<String> {
    let most = due.len().max(recorded.len());
    let (now, was) = (0..most)
        .map(|n| (due.get(n), recorded.get(n)))
        .find(|(now, was)| now.map(unnamed) != was.map(unnamed))?;
    Some(format!("this program's rules draw {}, recorded is {}", words(now), words(was)))
}

/// An event without the id of a lesson that it adds: that goes by the name the session had when it was recorded, and
/// sessions are renamed.
fn unnamed(event: &Event) -> Event {
    let mut event = event.clone();
    if let Event::LessonChanged { op, .. } = &mut event
        && let LessonOp::Add { id, .. } = &mut **op
    {
        id.0 = Arc::from("");
    }
    event
}

fn words(event: Option<&Event>) -> String {
    event.map_or_else(
        || "nothing".to_owned(),
        |event| serde_json::to_string(event).unwrap_or_else(|e| format!("what cannot be written: {e}")),
    )
}
