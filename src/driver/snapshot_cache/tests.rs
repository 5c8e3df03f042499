//! Going back in a world: to every step, by a restore where one can be had, and never to another world.

use super::{MAX_SNAPSHOTS, RebuildPlan, SNAPSHOT_SPACING, SnapshotCache};
use crate::domain::{Enumeration, EnvInfo, Observation, StepResult, Task};
use crate::driver::OpenWorld;
use crate::env::{EnvError, Environment, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Adds the digits it is told up; steps are counted over all worlds.
struct DigitSum {
    sum: u64,
    steps: Arc<AtomicU32>,
    deterministic: bool,
}

impl DigitSum {
    fn step_result(&self) -> StepResult {
        StepResult { observation: self.sum.to_string(), valid: true, ..StepResult::default() }
    }
}

impl Environment for DigitSum {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: self.deterministic, enumeration: Enumeration::ChangesWorld }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.sum = 0;
        Ok(self.step_result())
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.sum = self.sum * 3 + action.parse::<u64>().unwrap() % 7;
        self.sum %= 1_000_003;
        Ok(self.step_result())
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.sum += 1;
        Ok(Vec::new())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Box::new(self.sum)))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        self.sum = *snapshot.0.downcast_ref::<u64>().unwrap();
        Ok(())
    }
}

fn open_counted(deterministic: bool) -> (OpenWorld, Arc<AtomicU32>) {
    let steps = Arc::new(AtomicU32::new(0));
    let count = steps.clone();
    let open: OpenWorld =
        Arc::new(move |_| Ok(Box::new(DigitSum { sum: 0, steps: count.clone(), deterministic })));
    (open, steps)
}

fn task(id: &str) -> Task {
    Task {
        env: "sum".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

fn record_of(turn: &StepResult) -> Observation {
    Observation {
        raw: turn.observation.clone(),
        agent_view: None,
        reward: 0.0,
        progress: 0.0,
        done: false,
        won: false,
        valid: true,
        edited: false,
    }
}

/// Plays so many steps; what a journal has of them.
fn play(trail: &mut SnapshotCache, open: &OpenWorld, id: &str, steps: u32) -> RebuildPlan {
    let first = record_of(&trail.reset(open, &task(id)).unwrap());
    let taken = (1..=steps)
        .map(|n| {
            let sent = n.to_string();
            let turn = trail.step(&sent).unwrap();
            (n, sent, record_of(&turn))
        })
        .collect();
    RebuildPlan { number: 1, episode: 1, task: task(id), first_answer: first, actions: taken }
}

fn first_steps(past: &RebuildPlan, steps: usize) -> RebuildPlan {
    RebuildPlan {
        number: 1,
        episode: 1,
        task: past.task.clone(),
        first_answer: past.first_answer.clone(),
        actions: past.actions[..steps].to_vec(),
    }
}

#[test]
fn any_step_is_a_restore_and_a_few_actions_away_on_every_fork() {
    let (open, steps) = open_counted(true);
    let mut trail = SnapshotCache::default();
    let long = SNAPSHOT_SPACING * 20;
    let past = play(&mut trail, &open, "a", long);
    for back in [long as usize, 1, 0, 700, 64, 63, 1279, 333] {
        steps.store(0, Ordering::Relaxed);
        assert_eq!(trail.rebuild(&open, &first_steps(&past, back), &|_| ()), None);
        assert!(steps.load(Ordering::Relaxed) < SNAPSHOT_SPACING, "{back}: {steps:?} steps");
        // From there another way; its answers are its own.
        let other = trail.step("6").unwrap();
        let again = trail.rebuild(&open, &first_steps(&past, back), &|_| ());
        assert_eq!((again, trail.step("6").unwrap()), (None, other));
    }
    // Another episode in between, and back.
    play(&mut trail, &open, "b", 200);
    steps.store(0, Ordering::Relaxed);
    assert_eq!(trail.rebuild(&open, &past, &|_| ()), None);
    assert!(steps.load(Ordering::Relaxed) < SNAPSHOT_SPACING);
}

#[test]
fn a_journal_that_says_otherwise_is_told_by_its_first_difference() {
    let (open, _) = open_counted(true);
    let mut trail = SnapshotCache::default();
    let mut past = play(&mut trail, &open, "a", SNAPSHOT_SPACING * 4);
    for wrong in [SNAPSHOT_SPACING as usize * 2 - 1, SNAPSHOT_SPACING as usize * 3 + 5] {
        past.actions[wrong].2.raw.push('!');
    }
    let difference = trail.rebuild(&open, &past, &|_| ());
    assert!(
        matches!(difference, Some(crate::engine::Reply::Diverged { step, .. }) if step == SNAPSHOT_SPACING * 2),
        "{difference:?}"
    );
    assert!(trail.is_open(), "a world stands there all the same");
}

#[test]
fn what_is_not_the_same_twice_or_was_changed_beside_its_way_is_taken_again_from_its_start() {
    for deterministic in [false, true] {
        let (open, steps) = open_counted(deterministic);
        let mut trail = SnapshotCache::default();
        let past = play(&mut trail, &open, "a", 100);
        if deterministic {
            // To list changes this world.
            trail.query(|w| w.admissible()).unwrap();
        }
        steps.store(0, Ordering::Relaxed);
        assert_eq!(trail.rebuild(&open, &past, &|_| ()), None);
        assert_eq!(steps.load(Ordering::Relaxed), 100);
    }
}

#[test]
fn snapshots_are_bounded_however_long_the_way() {
    let (open, steps) = open_counted(true);
    let mut trail = SnapshotCache::default();
    let long = SNAPSHOT_SPACING * MAX_SNAPSHOTS as u32 * 3;
    let past = play(&mut trail, &open, "a", long);
    assert!(trail.worlds[0].snapshots.len() <= MAX_SNAPSHOTS);
    steps.store(0, Ordering::Relaxed);
    assert_eq!(trail.rebuild(&open, &first_steps(&past, long as usize / 2 + 7), &|_| ()), None);
    assert!(steps.load(Ordering::Relaxed) <= SNAPSHOT_SPACING * 8, "{steps:?}");
}
