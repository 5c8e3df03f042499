//! Helpers that start runs in tests and benchmarks: a run of the built-in actor, its session's metadata, and waiting
//! for the store.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used)]

use retrospect::catalog::defaults;
use retrospect::domain::{Autonomy, BranchId, Interface, RunSpec, Seq, Task};
use retrospect::driver::Handle;
use retrospect::engine::State;
use retrospect::journal::{BranchHeader, Meta};
use retrospect::method::PaperOrCode;
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
