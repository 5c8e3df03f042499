//! A session with `--actor human`, for tests that go back to earlier steps or interrupt an environment.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used)]

use super::run;
use retrospect::domain::{BranchId, Observation, RunSpec, Task};
use retrospect::driver::worlds;
use retrospect::driver::{Driver, Fork, Handle, OpenWorld, RunConfig};
use retrospect::engine::{Command, State};
use retrospect::env::{Environment, TaskOptions};
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

pub(crate) fn run_config(spec: &RunSpec, open: OpenWorld) -> RunConfig {
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
        Self::begin_task(root, task, |spec| run_config(spec, open))
    }

    /// Like [`PlayedSession::begin`], for a task that is opened with options.
    pub(crate) fn begin_in(root: &Path, task: Task, options: &TaskOptions) -> Self {
        let (opened, limited) = (options.clone(), options.clone());
        let open: OpenWorld = Arc::new(move |task| worlds::open(task, &opened));
        let answer_deadlines = Arc::new(move |task: &_| worlds::answer_deadlines(task, &limited));
        Self::begin_task(root, task, |spec| RunConfig { answer_deadlines, ..run_config(spec, open) })
    }

    /// Starts a run of the rule-based actor and lets it play some steps, which must not end the episode.
    pub(crate) fn watch(root: &Path, task: Task, options: &TaskOptions, steps: u32) -> Self {
        let opened = options.clone();
        let spec = run::spec("omnireflect", vec![task]);
        let played = Self::begin_run(root, spec, |spec| {
            run_config(spec, Arc::new(move |task| worlds::open(task, &opened)))
        });
        let proposed = |s: &State| s.step_awaiting_decision().map_or(0, |step| step.number);
        run::until(&played.handle, State::is_waiting);
        loop {
            let state = played.handle.store.head();
            assert!(
                state.failed_call.is_none() && state.open_episode().is_some(),
                "before step {steps}: {state:?}"
            );
            let before = proposed(&state);
            if before > steps {
                break;
            }
            played.handle.send(Command::Step);
            run::until(&played.handle, |s| {
                let has_stopped = s.failed_call.is_some() || s.open_episode().is_none();
                s.is_waiting() && (has_stopped || proposed(s) > before)
            });
        }
        played
    }

    fn begin_task(root: &Path, task: Task, configure: impl FnOnce(&RunSpec) -> RunConfig) -> Self {
        Self::begin_run(root, run::person_spec(vec![task]), configure)
    }

    pub(crate) fn begin_run(
        root: &Path,
        spec: RunSpec,
        configure: impl FnOnce(&RunSpec) -> RunConfig,
    ) -> Self {
        let run_config = configure(&spec);
        let meta = run::meta(&spec.tasks[0].env, &spec);
        let (handle, thread, session) = Driver::start(root, meta, spec, Vec::new(), run_config).unwrap();
        handle.send(Command::Step);
        run::until(&handle, |s| {
            let is_reset = s.open_episode().is_some_and(|e| e.first_observation.is_some());
            s.failed_call.is_some() || is_reset && s.calls.is_empty()
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
            self.act(&action);
        }
    }

    /// Executes an action that doesn't end the episode.
    pub(crate) fn act(&mut self, action: &str) {
        self.handle.send(Command::Act(action.to_owned()));
        self.actions.push(action.to_owned());
        let n = self.actions.len() as u32;
        run::until(&self.handle, |s| {
            assert_eq!((&s.failed_call, &s.divergence), (&None, &None), "at {action}");
            s.episode.as_ref().is_some_and(|e| e.answered_steps() >= n) && s.is_waiting()
        });
        let is_open = self.handle.store.head().open_episode().is_some();
        assert!(is_open, "the episode ended after {n} steps: {action}");
    }

    /// Returns the answers of the episode: the first observation, and that of each step.
    pub(crate) fn answers(&self) -> Vec<Observation> {
        run::answers(&self.handle.store.head())
    }

    /// Executes an action that may end the episode, and retries what fails ([`run::act_and_retry`]). Returns the messages of the
    /// failures.
    pub(crate) fn act_and_retry(&mut self, action: &str, interrupt: Option<&dyn Fn()>) -> Vec<String> {
        self.actions.push(action.to_owned());
        let failures = run::act_and_retry(&self.handle, action, interrupt);
        failures.into_iter().map(|(message, _)| message).collect()
    }

    /// Goes back to a step, takes another action there, and then those that the old branch has after that step. Checks that the
    /// old branch has lost nothing, and that every answer is that of an environment in which only the new actions were taken.
    pub(crate) fn check_fork(&mut self, step: u32, other: &str, reference: &mut dyn Environment) {
        let (old, before) = (self.answers(), std::fs::read(self.session.trunk()).unwrap());
        let (kept, later) = (step as usize - 1, self.actions.split_off(step as usize));
        let replaced = self.actions.pop().unwrap();
        assert_ne!(replaced, other);
        self.fork_at(step, Some(other));
        run::until(&self.handle, |s| {
            assert_eq!((&s.failed_call, &s.divergence), (&None, &None), "while going back");
            s.episode.as_ref().is_some_and(|e| e.answered_steps() >= step) && s.is_waiting()
        });
        self.actions.push(other.to_owned());
        for action in &later {
            self.act(action);
        }
        let answers = self.answers();
        assert_eq!(answers.len(), self.actions.len() + 1);
        assert_eq!(answers[..=kept], old[..=kept], "the steps before the fork are the same");
        let mut expected = vec![reference.reset().unwrap()];
        expected.extend(self.actions.iter().map(|action| reference.step(action).unwrap()));
        for (index, (answer, expected)) in answers.iter().zip(&expected).enumerate() {
            assert_eq!(answer.raw, expected.observation, "step {index}");
            let numbers = (answer.reward, answer.progress, answer.valid);
            assert_eq!(numbers, (expected.reward, expected.progress, expected.valid), "step {index}");
        }
        assert_ne!(answers[step as usize].raw, old[step as usize].raw, "the new action has another answer");
        assert!(std::fs::read(self.session.trunk()).unwrap().starts_with(&before), "the old branch is whole");
    }

    /// Opens a branch at the proposal of a step and executes another action there. The environment is restored when
    /// this returns.
    pub(crate) fn go_back_to(&mut self, step: u32, action: Option<&str>) -> BranchId {
        let branch = self.fork_at(step, action);
        // The reply arrives once the environment has been restored.
        let _ = block_on(self.handle.hint());
        if action.is_some() {
            run::until(&self.handle, |s| {
                s.divergence.is_some() || s.episode.as_ref().is_some_and(|e| e.answered_steps() >= step)
            });
        }
        branch
    }

    fn fork_at(&self, step: u32, action: Option<&str>) -> BranchId {
        let at = retrospect::driver::decision_seq(&self.handle.store.timeline(), step).unwrap();
        let commands = action.map(|a| Command::Act(a.to_owned())).into_iter().collect();
        block_on(self.handle.fork(Fork { at_seq: at, commands, ..Fork::default() })).unwrap()
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
