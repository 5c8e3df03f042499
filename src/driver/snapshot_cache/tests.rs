//! Tests that any step can be restored, from a snapshot if possible, and always to the same state.

use super::{MAX_SNAPSHOTS, RebuildError, RebuildPlan, SNAPSHOT_SPACING, SnapshotCache};
use crate::domain::{EnvInfo, ListingCost, Observation, StepResult, Task, TrialInfo};
use crate::driver::OpenWorld;
use crate::engine::Reply;
use crate::env::{EnvError, Environment, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Folds the numbers it is sent into one value that depends on their order. Steps are counted over all instances.
struct HashingEnv {
    value: u64,
    steps: Arc<AtomicU32>,
    deterministic: bool,
}

impl HashingEnv {
    fn step_result(&self) -> StepResult {
        StepResult { observation: self.value.to_string(), valid: true, ..StepResult::default() }
    }
}

impl Environment for HashingEnv {
    fn info(&self) -> EnvInfo {
        EnvInfo {
            snapshots: true,
            deterministic: self.deterministic,
            listing_cost: ListingCost::ChangesWorld,
        }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.value = 0;
        Ok(self.step_result())
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.value = self.value * 3 + action.parse::<u64>().unwrap() % 7;
        self.value %= 1_000_003;
        Ok(self.step_result())
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.value += 1;
        Ok(Vec::new())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Box::new(self.value)))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        self.value = *snapshot.0.downcast_ref::<u64>().unwrap();
        Ok(())
    }
}

fn open_counted(deterministic: bool) -> (OpenWorld, Arc<AtomicU32>) {
    let steps = Arc::new(AtomicU32::new(0));
    let count = steps.clone();
    let open: OpenWorld =
        Arc::new(move |_| Ok(Box::new(HashingEnv { value: 0, steps: count.clone(), deterministic })));
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

fn record_of(result: &StepResult) -> Observation {
    Observation {
        raw: result.observation.clone(),
        agent_view: None,
        reward: 0.0,
        progress: 0.0,
        done: false,
        won: false,
        valid: true,
        edited: false,
    }
}

/// Plays a number of steps and returns what a journal records of them.
fn play(cache: &mut SnapshotCache, open: &OpenWorld, id: &str, steps: u32) -> RebuildPlan {
    let first_answer = record_of(&cache.reset(open, &task(id), TrialInfo::default()).unwrap());
    let actions = (1..=steps)
        .map(|n| {
            let sent = n.to_string();
            let result = cache.step(&sent, false).unwrap();
            (n, sent, record_of(&result))
        })
        .collect();
    RebuildPlan {
        number: 1,
        episode: 1,
        task: task(id),
        trial: TrialInfo::default(),
        first_observation: first_answer,
        actions,
    }
}

fn first_steps(plan: &RebuildPlan, steps: usize) -> RebuildPlan {
    RebuildPlan {
        number: 1,
        episode: 1,
        task: plan.task.clone(),
        trial: plan.trial.clone(),
        first_observation: plan.first_observation.clone(),
        actions: plan.actions[..steps].to_vec(),
    }
}

#[test]
fn any_step_is_a_restore_and_a_few_actions_away_on_every_fork() {
    let (open, steps) = open_counted(true);
    let mut cache = SnapshotCache::default();
    let step_count = SNAPSHOT_SPACING * 20;
    let plan = play(&mut cache, &open, "a", step_count);
    for kept_steps in [step_count as usize, 1, 0, 700, 64, 63, 1279, 333] {
        steps.store(0, Ordering::Relaxed);
        assert_eq!(cache.rebuild(&open, &first_steps(&plan, kept_steps), &|_| Ok(())), Ok(()));
        assert!(steps.load(Ordering::Relaxed) < SNAPSHOT_SPACING, "{kept_steps}: {steps:?} steps");
        // Another action from there gets its own answer.
        let other = cache.step("6", false).unwrap();
        let again = cache.rebuild(&open, &first_steps(&plan, kept_steps), &|_| Ok(()));
        assert_eq!((again, cache.step("6", false).unwrap()), (Ok(()), other));
    }
    // After another episode in between.
    play(&mut cache, &open, "b", 200);
    steps.store(0, Ordering::Relaxed);
    assert_eq!(cache.rebuild(&open, &plan, &|_| Ok(())), Ok(()));
    assert!(steps.load(Ordering::Relaxed) < SNAPSHOT_SPACING);
}

#[test]
fn a_changed_journal_is_reported_with_its_first_difference() {
    let (open, _) = open_counted(true);
    let mut cache = SnapshotCache::default();
    let mut plan = play(&mut cache, &open, "a", SNAPSHOT_SPACING * 4);
    for index in [SNAPSHOT_SPACING as usize * 2 - 1, SNAPSHOT_SPACING as usize * 3 + 5] {
        plan.actions[index].2.raw.push('!');
    }
    let difference = cache.rebuild(&open, &plan, &|_| Ok(()));
    assert!(
        matches!(&difference, Err(RebuildError::Differs(found)) if matches!(**found, Reply::Diverged { step, .. } if step == SNAPSHOT_SPACING * 2)),
        "{difference:?}"
    );
    assert!(cache.is_open(), "an environment is open all the same");
}

#[test]
fn nondeterministic_or_changed_environments_are_replayed_from_the_start() {
    for deterministic in [false, true] {
        let (open, steps) = open_counted(deterministic);
        let mut cache = SnapshotCache::default();
        let plan = play(&mut cache, &open, "a", 100);
        if deterministic {
            // Listing changes this environment.
            cache.query(|w| w.admissible()).unwrap();
        }
        steps.store(0, Ordering::Relaxed);
        assert_eq!(cache.rebuild(&open, &plan, &|_| Ok(())), Ok(()));
        assert_eq!(steps.load(Ordering::Relaxed), 100);
    }
}

/// Counts the environments that are open at the same time.
struct CountedEnv {
    inner: HashingEnv,
    snapshots: bool,
    open: Arc<AtomicUsize>,
}

impl Environment for CountedEnv {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: self.snapshots, ..self.inner.info() }
    }
    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.inner.reset()
    }
    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.inner.step(action)
    }
    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.inner.admissible()
    }
    fn snapshot(&self) -> Option<Snapshot> {
        self.inner.snapshot()
    }
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        self.inner.restore(snapshot)
    }
}

impl Drop for CountedEnv {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Regression: four processes without snapshots were kept, none of which was ever used again.
#[test]
fn an_environment_without_snapshots_is_closed_before_the_next_one_opens() {
    for (snapshots, most_open) in [(false, 1), (true, 3)] {
        let (open_count, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (open_now, most_seen) = (open_count.clone(), most.clone());
        let open: OpenWorld = Arc::new(move |_| {
            let inner = HashingEnv { value: 0, steps: Arc::default(), deterministic: true };
            most_seen.fetch_max(open_now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            Ok(Box::new(CountedEnv { inner, snapshots, open: open_now.clone() }))
        });
        let mut cache = SnapshotCache::default();
        for id in ["a", "b"] {
            play(&mut cache, &open, id, 2);
        }
        let mut plan = play(&mut cache, &open, "b", 2);
        plan.task = task("a");
        assert!(cache.rebuild(&open, &plan, &|_| Ok(())).is_ok());
        assert_eq!(most.load(Ordering::SeqCst), most_open, "snapshots: {snapshots}");
        drop(cache);
        assert_eq!(open_count.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn the_number_of_snapshots_is_bounded() {
    let (open, steps) = open_counted(true);
    let mut cache = SnapshotCache::default();
    let step_count = SNAPSHOT_SPACING * MAX_SNAPSHOTS as u32 * 3;
    let plan = play(&mut cache, &open, "a", step_count);
    assert!(cache.worlds[0].snapshots.len() <= MAX_SNAPSHOTS);
    steps.store(0, Ordering::Relaxed);
    assert_eq!(cache.rebuild(&open, &first_steps(&plan, step_count as usize / 2 + 7), &|_| Ok(())), Ok(()));
    assert!(steps.load(Ordering::Relaxed) <= SNAPSHOT_SPACING * 8, "{steps:?}");
}
