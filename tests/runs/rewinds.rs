//! In every native environment: goes thirty steps back and continues with another action. The environment must then
//! reply like one in which only those actions were taken.

use crate::rewind::{PlayedSession, available_tasks};
use crate::run;
use retrospect::domain::{EnvInfo, Seq, StepResult};
use retrospect::driver::OpenWorld;
use retrospect::driver::worlds;
use retrospect::engine::{Command, Event};
use retrospect::env::TaskOptions;
use retrospect::env::{EnvError, Environment};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const STEPS_BACK: u32 = 30;
const STEPS: u32 = 40;

#[test]
fn going_back_thirty_steps_restores_the_environment() {
    let tasks = available_tasks();
    println!("{} environments", tasks.len());
    for (env, id) in tasks {
        let dir = tempfile::tempdir().unwrap();
        let mut played = PlayedSession::begin(dir.path(), env, &id);
        played.play(STEPS);
        let fork_step = STEPS - STEPS_BACK;
        // The reference environment takes the same actions up to the fork, then another action in place of the last.
        let task = worlds::find(env, &id, &TaskOptions::default()).unwrap();
        let mut reference = worlds::open(&task, &TaskOptions::default()).unwrap();
        reference.reset().unwrap();
        for action in &played.actions[..fork_step as usize - 1] {
            reference.step(action).unwrap();
        }
        let old = played.actions[fork_step as usize - 1].clone();
        let admissible = reference.admissible().unwrap();
        let other = admissible.iter().rev().map(|a| a.trim().to_owned()).find(|a| *a != old).unwrap();
        let expected = reference.step(&other).unwrap();
        let before = std::fs::read(played.session.trunk()).unwrap();
        let began = Instant::now();
        played.go_back_to(fork_step, Some(&other));
        println!("{env}: went back {STEPS_BACK} steps and continued in {:?}", began.elapsed());
        let head = played.handle.store.head();
        assert_eq!(head.divergence, None, "{env}: every result equals the recorded one");
        let step = head.episode.as_ref().unwrap().step(fork_step).unwrap().clone();
        assert_eq!(step.executed.unwrap().action, other);
        assert_eq!(step.answer.unwrap().raw, expected.observation, "{env}");
        assert!(std::fs::read(played.session.trunk()).unwrap().starts_with(&before));
        played.end();
    }
}

/// A native environment that isn't deterministic: from its second reset on, the reply at one step differs.
struct NondeterministicEnv {
    world: Box<dyn Environment>,
    /// The number of resets in the session.
    resets: Arc<AtomicU32>,
    /// The step with another reply; 0 is the first observation.
    different_step: u32,
    step: u32,
}

const EXTRA_SENTENCE: &str = " Somebody has been here.";

impl NondeterministicEnv {
    fn altered(&self, mut result: StepResult) -> StepResult {
        if self.step == self.different_step && self.resets.load(Ordering::SeqCst) > 1 {
            result.observation.push_str(EXTRA_SENTENCE);
        }
        result
    }
}

impl Environment for NondeterministicEnv {
    /// The environment's own information, but without snapshots.
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, ..self.world.info() }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.resets.fetch_add(1, Ordering::SeqCst);
        self.step = 0;
        let result = self.world.reset()?;
        Ok(self.altered(result))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.step += 1;
        let result = self.world.step(action)?;
        Ok(self.altered(result))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.world.admissible()
    }
}

/// A nondeterministic environment is detected at the first observation that differs, both texts are kept, and a
/// person decides before any further action.
#[test]
fn a_nondeterministic_environment_is_detected_at_the_first_difference() {
    const DIFFERENT_STEP: u32 = 9;
    for (env, id) in available_tasks() {
        for different_step in [0, 1, 5, DIFFERENT_STEP - 1] {
            let dir = tempfile::tempdir().unwrap();
            let resets = Arc::new(AtomicU32::new(0));
            let counted = resets.clone();
            let open: OpenWorld = Arc::new(move |task| {
                let world = worlds::open(task, &TaskOptions::default())?;
                Ok(Box::new(NondeterministicEnv { world, resets: counted.clone(), different_step, step: 0 }))
            });
            let mut played = PlayedSession::begin_with(dir.path(), env, &id, open);
            played.play(DIFFERENT_STEP + 3);
            let head = played.handle.store.head();
            let episode = head.episode.as_ref().unwrap();
            let first = || episode.first_observation.as_ref().map(|r| r.raw.clone());
            let expected = episode
                .step(different_step)
                .and_then(|s| s.answer.as_ref())
                .map(|a| a.raw.clone())
                .or_else(first);
            let expected = expected.unwrap();
            let trunk = std::fs::read(played.session.trunk()).unwrap();
            let other = played.actions[0].clone();
            played.go_back_to(DIFFERENT_STEP, Some(&other));
            let head = played.handle.store.head();
            let found = head.divergence.clone();
            assert_eq!(
                found,
                Some((1, different_step, expected.clone(), format!("{expected}{EXTRA_SENTENCE}"))),
                "{env}, step {different_step}"
            );
            // It is journaled with both texts, once, and only on the new branch.
            let session = &played.session;
            let branch = std::fs::read_to_string(session.branch_file(&played.handle.store.branch())).unwrap();
            assert_eq!(branch.matches("\"type\":\"diverged\"").count(), 1, "{env}");
            let events = played.handle.store.timeline().events_after(Seq(0));
            let is_recorded = |e: &Event| matches!(e, Event::Diverged { step, recorded, actual, .. } if *step == different_step && *recorded == expected && actual.ends_with(EXTRA_SENTENCE));
            assert_eq!(events.iter().filter(|e| is_recorded(&e.event)).count(), 1);
            assert!(std::fs::read(session.trunk()).unwrap().starts_with(&trunk));
            // The action of the fork has not been executed yet; it runs once the person accepts the environment.
            let answered =
                |s: &retrospect::engine::State| s.episode.as_ref().map_or(0, |e| e.answered_steps());
            assert_eq!(answered(&head), DIFFERENT_STEP - 1, "{env}");
            played.handle.send(Command::Retry);
            run::until(&played.handle, |s| s.divergence.is_none() && answered(s) == DIFFERENT_STEP);
            assert!(resets.load(Ordering::SeqCst) > 1);
            played.end();
        }
    }
}
