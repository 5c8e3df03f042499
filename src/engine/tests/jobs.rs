//! Jobs: requested by a method, computed outside, their results journaled.

use super::fixture::{ActorOnlyMethod, Harness, event_names, sample_failure, spec_with_tasks, step_result};
use crate::domain::{CallId, Job, ReflectionKind};
use crate::engine::{Command, Computed, Effect, Event, Intent, Method, Reply, RunStatus, State};
use serde_json::json;
use std::sync::Arc;

/// Has a job computed before the first episode, keeps its result in the memory, and then asks only the actor.
struct ComputingMethod;

impl Method for ComputingMethod {
    fn name(&self) -> &'static str {
        "computing"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.memory.is_null() {
            let job = Job { name: "add".to_owned(), inputs: json!({ "numbers": [1, 2] }) };
            let texts = vec![("0a1b".to_owned(), "one, two".to_owned())];
            return vec![Intent::Compute { job: Box::new(job), texts }];
        }
        ActorOnlyMethod.next(state)
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }

    fn on_computed(&self, _: &State, computed: &Computed<'_>) -> Vec<Intent> {
        vec![Intent::SetMemory(json!({ "job": computed.job.name, "sum": computed.result }))]
    }
}

/// Returns a run that waits for its job, and the job's call.
fn with_job_in_flight() -> (Harness, CallId) {
    let mut harness = Harness::with_any_method(Arc::new(ComputingMethod), spec_with_tasks(1));
    let events = harness.command(Command::Run).unwrap();
    assert_eq!(
        event_names(&events),
        ["resumed", "text_defined", "compute_requested"],
        "nothing else starts meanwhile"
    );
    let (call, effect) = harness.first_call().unwrap();
    assert!(matches!(effect, Effect::Compute { job, .. } if job.inputs == json!({ "numbers": [1, 2] })));
    (harness, call)
}

fn computed(call: CallId) -> Reply {
    Reply::Computed { call, result: json!(3), millis: 5 }
}

#[test]
fn the_result_and_what_the_method_makes_of_it_are_one_batch() {
    let (mut harness, call) = with_job_in_flight();
    let events = harness.reply(computed(call));
    assert_eq!(event_names(&events), ["computed", "memory_set", "episode_started"]);
    assert_eq!(harness.state().memory, json!({ "job": "add", "sum": 3 }));
    let batch: Vec<bool> = harness.journal.iter().rev().take(3).map(|e| e.batch_continues).collect();
    assert_eq!(batch, [false, false, true], "the result is never journaled without the memory");
    assert!(harness.reply(computed(call)).is_empty(), "a second reply is stale");
}

#[test]
fn a_failed_job_pauses_and_can_be_retried() {
    let (mut harness, call) = with_job_in_flight();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    assert_eq!(harness.state().run_status, RunStatus::Paused);
    harness.command(Command::Retry).unwrap();
    assert!(harness.state().is_computing());
    harness.reply(computed(call));
    assert_eq!(harness.state().memory["sum"], json!(3));
}

#[test]
fn without_the_result_of_a_failed_job_the_method_decides() {
    let (mut harness, call) = with_job_in_flight();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    let events = harness.command(Command::GiveUp).unwrap();
    assert_eq!(event_names(&events)[..2], ["given_up", "memory_set"]);
    assert_eq!(harness.state().memory, json!({ "job": "add", "sum": null }));
    assert!(harness.state().failed_call.is_none());
}

#[test]
fn a_cancelled_job_is_requested_again_when_the_run_continues() {
    let (mut harness, call) = with_job_in_flight();
    let events = harness.command(Command::Cancel).unwrap();
    assert_eq!(event_names(&events), ["call_cancelled", "paused"]);
    assert!(harness.reply(computed(call)).is_empty(), "its reply comes too late");
    harness.command(Command::Run).unwrap();
    let (again, _) = harness.first_call().unwrap();
    assert_ne!(again, call);
    harness.reply(computed(again));
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    assert!(harness.state().episode.is_some());
}

#[test]
fn a_cancelled_job_can_be_given_up() {
    let (mut harness, _) = with_job_in_flight();
    harness.command(Command::Cancel).unwrap();
    harness.command(Command::GiveUp).unwrap();
    assert_eq!(harness.state().memory["sum"], json!(null));
    harness.command(Command::Run).unwrap();
    assert!(matches!(harness.first_call(), Some((_, Effect::ResetWorld { .. }))));
}

#[test]
fn a_run_that_computes_is_not_changed() {
    let (mut harness, _) = with_job_in_flight();
    let mut spec = harness.state().run.as_deref().unwrap().clone();
    spec.trials = 7;
    assert!(harness.command(Command::ChangeRun(Box::new(spec))).is_err());
}

#[test]
fn folding_any_prefix_finds_the_job_in_flight_again() {
    let (mut harness, call) = with_job_in_flight();
    harness.reply(computed(call));
    let mut state = State::default();
    for envelope in &harness.journal {
        state.apply(envelope);
        let is_requested = matches!(envelope.event, Event::ComputeRequested { .. });
        assert_eq!(state.is_computing(), is_requested, "{:?}", envelope.event);
    }
    assert_eq!(&state, harness.state());
}

/// Regression: the job of the old method was retried, and its result given to the new one.
#[test]
fn another_method_drops_a_failed_job() {
    let (mut harness, call) = with_job_in_flight();
    harness.reply(Reply::Failed { call, failure: sample_failure() });
    let mut spec = harness.state().run.as_deref().unwrap().clone();
    "another".clone_into(&mut spec.method);
    harness.command(Command::ChangeRun(Box::new(spec))).unwrap();
    assert!(harness.state().failed_call.is_none());
}
