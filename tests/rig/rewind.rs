//! A session that is played by hand in any native world, to go back in.

#![allow(dead_code, reason = "every target takes what it needs")]
#![allow(clippy::unwrap_used)]

use super::run;
use retrospect::domain::{Autonomy, BranchId, Limits, RunSpec};
use retrospect::driver::worlds::{self, WorldOptions};
use retrospect::driver::{Driver, Fork, Handle, OpenWorld, RunConfig};
use retrospect::engine::Command;
use retrospect::journal::Session;
use retrospect::prompt::Templates;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A task of every native world: of ALFWorld where its games are here.
pub(crate) fn worlds_here() -> Vec<(&'static str, String)> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let mut real: Vec<_> =
        std::fs::read_dir(&games).into_iter().flatten().flatten().map(|e| e.path()).collect();
    real.sort();
    let mut tasks = vec![
        ("household", "hard/two/3".to_owned()),
        ("babyai", "BabyAI-UnlockToUnlock-v0".to_owned()),
        ("pddl", "barman/3".to_owned()),
    ];
    tasks.extend(real.first().map(|game| ("alfworld", game.display().to_string())));
    tasks
}

/// A session under way.
pub(crate) struct Played {
    pub(crate) handle: Handle,
    pub(crate) thread: JoinHandle<()>,
    pub(crate) session: Session,
    /// The actions of the episode, in order.
    pub(crate) taken: Vec<String>,
}

fn open_world() -> OpenWorld {
    Arc::new(|task| worlds::open(task, &WorldOptions::default()))
}

fn run_config(spec: &RunSpec, open: OpenWorld) -> RunConfig {
    RunConfig::from_spec(spec, Arc::new(Templates::builtin()), open, Duration::ZERO).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

impl Played {
    /// A run without an end that a person plays.
    pub(crate) fn begin(root: &Path, env: &str, id: &str) -> Self {
        Self::begin_in(root, env, id, open_world())
    }

    /// The same in worlds that are opened like this.
    pub(crate) fn begin_in(root: &Path, env: &str, id: &str, open: OpenWorld) -> Self {
        let task = worlds::find(env, id, &WorldOptions::default()).unwrap();
        let spec = RunSpec {
            autonomy: Autonomy::Human,
            interface: "raw".to_owned(),
            mentor: "none".to_owned(),
            limits: Limits { steps: 1_000_000, moves: None, wall_seconds: None },
            ..run::spec("react", vec![task])
        };
        let launch = run_config(&spec, open);
        let meta = run::meta(env, &spec);
        let (handle, thread, session) = Driver::start(root, meta, spec, Vec::new(), launch).unwrap();
        handle.send(Command::Step);
        run::until(&handle, |s| {
            s.open_episode().is_some_and(|e| e.first_observation.is_some()) && s.calls.is_empty()
        });
        Self { handle, thread, session, taken: Vec::new() }
    }

    /// Takes so many steps, of what the world accepts, that do not end the episode.
    pub(crate) fn play(&mut self, steps: u32) {
        let admissible = block_on(self.handle.admissible());
        assert!(!admissible.is_empty());
        let mut actions = admissible;
        for _ in 0..steps {
            let n = self.taken.len() as u32 + 1;
            // Many actions come round again; a look at what is accepted now, once in a while, keeps the world moving.
            if n.is_multiple_of(8) {
                actions = block_on(self.handle.admissible());
            }
            // A person's line has no blanks at its ends.
            let action = actions[(n as usize * 7) % actions.len()].trim().to_owned();
            self.handle.send(Command::Act(action.clone()));
            self.taken.push(action);
            run::until(&self.handle, |s| {
                s.episode.as_ref().is_some_and(|e| e.answered_steps() >= n) && s.is_waiting()
            });
            let head = self.handle.store.head();
            assert!(
                head.open_episode().is_some(),
                "the episode ended after {n} steps: {:?}",
                self.taken.last()
            );
        }
    }

    /// Goes back to before a step, on a branch of its own, and there takes another action. The world stands when this
    /// returns.
    pub(crate) fn back_to(&mut self, step: u32, action: Option<&str>) -> BranchId {
        let at = retrospect::driver::decision_seq(&self.handle.store.timeline(), step).unwrap();
        let then = action.map(|a| Command::Act(a.to_owned())).into_iter().collect();
        let branch =
            block_on(self.handle.fork(Fork { at_seq: at, commands: then, ..Fork::default() })).unwrap();
        // Answered when the world has been brought back.
        block_on(self.handle.hint());
        if action.is_some() {
            run::until(&self.handle, |s| {
                s.divergence.is_some() || s.episode.as_ref().is_some_and(|e| e.answered_steps() >= step)
            });
        }
        branch
    }

    /// Takes the session up again, as another program would.
    pub(crate) fn again(self) -> Self {
        let (session, taken) = (self.session.clone(), self.taken.clone());
        self.end();
        let resumed = Driver::resume(&session.dir, |spec| Ok(run_config(spec, open_world()))).unwrap();
        Self { handle: resumed.handle, thread: resumed.thread, session, taken }
    }

    pub(crate) fn end(self) {
        self.handle.quit();
        self.thread.join().unwrap();
    }
}
