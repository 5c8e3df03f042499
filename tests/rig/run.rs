//! Helpers that start runs in tests and benchmarks: a run of the built-in actor, its session's metadata, and waiting
//! for the store.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used)]

use retrospect::catalog::defaults;
use retrospect::domain::{
    Autonomy, BranchId, Interface, Limits, Observation, PaperOrCode, RunSpec, Seq, Task,
};
use retrospect::driver::Handle;
use retrospect::engine::{Command, State};
use retrospect::journal::{BranchHeader, Meta};
use std::time::Duration;

/// Returns a task of the built-in environment.
pub(crate) fn household(id: impl Into<String>) -> Task {
    Task {
        env: "household".to_owned(),
        id: id.into(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

/// Returns a run of the built-in actor with the symbolic rules, one trial per task, and the method's defaults.
pub(crate) fn spec(method: &str, tasks: Vec<Task>) -> RunSpec {
    let (limits, settings, loop_detector) = defaults(method, PaperOrCode::Paper);
    RunSpec {
        method: method.to_owned(),
        actor: "rules".to_owned(),
        mentor: "symbolic".to_owned(),
        interface: Interface::React,
        tasks,
        trials: 1,
        seed: 0,
        autonomy: Autonomy::Auto,
        limits,
        loop_detector,
        settings,
    }
}

/// Returns the metadata of a session of this run.
pub(crate) fn meta(session: &str, spec: &RunSpec) -> Meta {
    Meta {
        v: 1,
        session: session.to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
        program: "0".to_owned(),
        env: spec.tasks.first().map_or_else(String::new, |t| t.env.clone()),
        method: spec.method.clone(),
        actor: spec.actor.clone(),
        title: String::new(),
        bookmark: None,
    }
}

/// Returns the header of a trunk.
pub(crate) fn trunk() -> BranchHeader {
    BranchHeader {
        v: 1,
        kind: "branch".to_owned(),
        id: BranchId::trunk(),
        parent: None,
        at_seq: Seq(0),
        reason: "start".to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
    }
}

/// Returns a run without a step limit that a person plays.
pub(crate) fn person_spec(tasks: Vec<Task>) -> RunSpec {
    RunSpec {
        autonomy: Autonomy::Human,
        interface: Interface::Raw,
        mentor: "none".to_owned(),
        limits: Limits { steps: 1_000_000, moves: None, wall_seconds: None },
        ..spec("react", tasks)
    }
}

/// Returns the answers of the last episode: the first observation, and that of each step.
pub(crate) fn answers(state: &State) -> Vec<Observation> {
    let episode = state.episode.as_ref().unwrap();
    let steps = episode.steps.iter().filter_map(|step| step.answer.clone());
    episode.first_observation.clone().into_iter().chain(steps).collect()
}

/// Executes an action of a person as soon as one is awaited, and retries what fails. `interrupt` is called while the answer is
/// awaited. Returns the message and the advice of each failure. Returns early if the replayed actions have other answers than before.
pub(crate) fn act_and_retry(
    handle: &Handle,
    action: &str,
    interrupt: Option<&dyn Fn()>,
) -> Vec<(String, String)> {
    until(handle, |s| {
        assert_eq!((&s.failed_call, &s.divergence), (&None, &None), "before {action}");
        let is_reset = s.open_episode().is_some_and(|e| e.first_observation.is_some());
        is_reset && s.is_waiting() && s.calls.is_empty()
    });
    let step = handle.store.head().open_episode().unwrap().answered_steps() + 1;
    handle.send(Command::Act(action.to_owned()));
    if let Some(interrupt) = interrupt {
        until(handle, |s| !s.calls.is_empty());
        interrupt();
    }
    let mut failures = Vec::new();
    loop {
        until(handle, |s| {
            s.failed_call.is_some()
                || s.divergence.is_some()
                || s.episode.as_ref().is_some_and(|e| e.answered_steps() >= step)
        });
        let head = handle.store.head();
        let failure = head.failed_call.as_ref().filter(|_| head.divergence.is_none());
        let Some((_, failure)) = failure else { return failures };
        failures.push((failure.message.clone(), failure.hint.clone()));
        handle.send(Command::Retry);
        until(handle, |s| s.failed_call.is_none());
    }
}

/// Waits until the state is ready; two minutes are far more than it takes.
pub(crate) fn until(handle: &Handle, mut ready: impl FnMut(&State) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let waited = runtime.block_on(async {
        let mut changes = handle.store.changes();
        tokio::time::timeout(Duration::from_secs(120), async {
            while !ready(&handle.store.head()) {
                changes.changed().await.unwrap();
            }
        })
        .await
    });
    assert!(waited.is_ok(), "timed out: {:?}", handle.store.live());
}
