//! Whole episodes of the built-in world with the built-in actor, through driver and journal.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use retrospect::domain::{Autonomy, RunSpec, Task};
use retrospect::driver::{Driver, Handle, Launch, OpenWorld};
use retrospect::engine::{Command, State};
use retrospect::env::household::{self, TaskId};
use retrospect::journal::Meta;
use retrospect::method::{PaperOrCode, defaults};
use retrospect::prompt::Templates;
use std::sync::Arc;
use std::time::Duration;

fn spec(method: &str, ids: &[String]) -> RunSpec {
    let (limits, settings, loop_detector) = defaults(method, PaperOrCode::Paper);
    let task = |id: &String| Task {
        env: "household".to_owned(),
        id: id.clone(),
        goal: String::new(),
        task_type: None,
        seed: 0,
    };
    RunSpec {
        method: method.to_owned(),
        actor: "rules".to_owned(),
        mentor: "symbolic".to_owned(),
        interface: "react".to_owned(),
        tasks: ids.iter().map(task).collect(),
        trials: 1,
        seed: 0,
        autonomy: Autonomy::Auto,
        limits,
        loop_detector,
        settings,
    }
}

fn until(handle: &Handle, mut ready: impl FnMut(&State) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let waited = runtime.block_on(async {
        let mut news = handle.store.news();
        tokio::time::timeout(Duration::from_secs(120), async {
            while !ready(&handle.store.head()) {
                news.changed().await.unwrap();
            }
        })
        .await
    });
    assert!(waited.is_ok(), "it never came: {:?}", handle.store.live());
}

fn play(method: &str, ids: &[String]) -> Arc<State> {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(method, ids);
    let open: OpenWorld = Arc::new(|task| {
        Ok(Box::new(household::open(
            &TaskId::parse(&task.id)
                .map_err(|e| retrospect::env::EnvError::Refused { what: e.to_string() })?,
        )?))
    });
    let launch = Launch::of(&spec, Arc::new(Templates::builtin()), open, Duration::ZERO).unwrap();
    let meta = Meta {
        v: 1,
        session: "s".to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
        program: "0".to_owned(),
        env: "household".to_owned(),
        method: method.to_owned(),
        actor: "rules".to_owned(),
        title: String::new(),
        bookmark: None,
    };
    let (handle, thread, _session) = Driver::start(dir.path(), meta, spec, Vec::new(), launch).unwrap();
    handle.send(Command::Run);
    until(&handle, |s| s.over || s.trouble.is_some());
    let state = handle.store.head();
    assert!(state.trouble.is_none(), "{:?}", state.trouble);
    handle.quit();
    thread.join().unwrap();
    state
}

#[test]
fn the_built_in_actor_plays_the_built_in_world() {
    let ids: Vec<String> = ["put", "heat", "cool", "clean", "look", "two"]
        .iter()
        .flat_map(|kind| (0..2).map(move |seed| format!("easy/{kind}/{seed}")))
        .collect();
    for method in ["react", "omnireflect"] {
        let state = play(method, &ids);
        assert_eq!(state.past.len(), ids.len());
        let won = state.past.iter().filter(|p| p.won).count();
        println!("{method}: {won} of {} won", ids.len());
        for p in &state.past {
            println!("  {} {:?} steps {} progress {:.2}", p.task.id, p.reason, p.steps, p.progress);
        }
        assert!(won > 0);
    }
}
