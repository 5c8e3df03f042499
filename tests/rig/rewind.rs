//! A session in a native environment with `--actor human`, for tests that go back to earlier steps.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used)]

use super::run;
use retrospect::domain::{Autonomy, BranchId, Interface, Limits, RunSpec};
use retrospect::driver::worlds;
use retrospect::driver::{Driver, Fork, Handle, OpenWorld, RunConfig};
use retrospect::engine::Command;
use retrospect::env::TaskOptions;
use retrospect::journal::Session;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Returns a task of every native environment; of ALFWorld if its games are available.
pub(crate) fn available_tasks() -> Vec<(&'static str, String)> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let mut game_paths: Vec<_> =
        std::fs::read_dir(&games).into_iter().flatten().flatten().map(|e| e.path()).collect();
    game_paths.sort();
    let mut tasks = vec![
        ("household", "hard/two/3".to_owned()),
        ("babyai", "BabyAI-UnlockToUnlock-v0".to_owned()),
        ("pddl", "barman/3".to_owned()),
    ];
    tasks.extend(game_paths.first().map(|game| ("alfworld", game.display().to_string())));
    tasks
}

/// A running session that a person plays.
pub(crate) struct PlayedSession {
    pub(crate) handle: Handle,
    pub(crate) thread: JoinHandle<()>,
    pub(crate) session: Session,
    /// The actions of the episode, in order.
    pub(crate) actions: Vec<String>,
}

fn open_world() -> OpenWorld {
    Arc::new(|task| worlds::open(task, &TaskOptions::default()))
}

fn run_config(spec: &RunSpec, open: OpenWorld) -> RunConfig {
    RunConfig::from_spec(spec, Arc::new(retrospect::catalog::builtin_templates()), open, Duration::ZERO)
        .unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

impl PlayedSession {
    /// Starts a run without a step limit that a person plays.
    pub(crate) fn begin(root: &Path, env: &str, id: &str) -> Self {
        Self::begin_with(root, env, id, open_world())
    }

    /// Like [`PlayedSession::begin`], with a function that opens the environment.
    pub(crate) fn begin_with(root: &Path, env: &str, id: &str, open: OpenWorld) -> Self {
        let task = worlds::find(env, id, &TaskOptions::default()).unwrap();
        let spec = RunSpec {
            autonomy: Autonomy::Human,
            interface: Interface::Raw,
            mentor: "none".to_owned(),
            limits: Limits { steps: 1_000_000, moves: None, wall_seconds: None },
            ..run::spec("react", vec![task])
        };
        let run_config = run_config(&spec, open);
        let meta = run::meta(env, &spec);
        let (handle, thread, session) = Driver::start(root, meta, spec, Vec::new(), run_config).unwrap();
        handle.send(Command::Step);
        run::until(&handle, |s| {
            s.open_episode().is_some_and(|e| e.first_observation.is_some()) && s.calls.is_empty()
        });
        Self { handle, thread, session, actions: Vec::new() }
    }

    /// Executes this many admissible actions, none of which may end the episode.
    pub(crate) fn play(&mut self, steps: u32) {
        let admissible = block_on(self.handle.admissible());
        assert!(!admissible.is_empty());
        let mut actions = admissible;
        for _ in 0..steps {
            let n = self.actions.len() as u32 + 1;
            // Listing the admissible actions again now and then avoids endless repetition.
            if n.is_multiple_of(8) {
                actions = block_on(self.handle.admissible());
            }
            // A person's line has no spaces at its ends.
            let action = actions[(n as usize * 7) % actions.len()].trim().to_owned();
            self.handle.send(Command::Act(action.clone()));
            self.actions.push(action);
            run::until(&self.handle, |s| {
                s.episode.as_ref().is_some_and(|e| e.answered_steps() >= n) && s.is_waiting()
            });
            let head = self.handle.store.head();
            assert!(
                head.open_episode().is_some(),
                "the episode ended after {n} steps: {:?}",
                self.actions.last()
            );
        }
    }

    /// Opens a branch at the proposal of a step and executes another action there. The environment is restored when
    /// this returns.
    pub(crate) fn go_back_to(&mut self, step: u32, action: Option<&str>) -> BranchId {
        let at = retrospect::driver::decision_seq(&self.handle.store.timeline(), step).unwrap();
        let commands = action.map(|a| Command::Act(a.to_owned())).into_iter().collect();
        let branch = block_on(self.handle.fork(Fork { at_seq: at, commands, ..Fork::default() })).unwrap();
        // The reply arrives once the environment has been restored.
        block_on(self.handle.hint());
        if action.is_some() {
            run::until(&self.handle, |s| {
                s.divergence.is_some() || s.episode.as_ref().is_some_and(|e| e.answered_steps() >= step)
            });
        }
        branch
    }

    /// Resumes the session as another program would.
    pub(crate) fn resume(self) -> Self {
        let (session, actions) = (self.session.clone(), self.actions.clone());
        self.end();
        let resumed = Driver::resume(&session.dir, |spec| Ok(run_config(spec, open_world()))).unwrap();
        Self { handle: resumed.handle, thread: resumed.thread, session, actions }
    }

    pub(crate) fn end(self) {
        self.handle.quit();
        self.thread.join().unwrap();
    }
}
