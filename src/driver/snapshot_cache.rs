//! Caches the environments of the last episodes, each with its history and snapshots, so that going back to a step
//! takes a restore and a few actions. Snapshots are only a shortcut: one is used only if the environment gave every
//! recorded answer on the way to it. If an answer differs, every action is replayed.

use super::OpenWorld;
use crate::domain::{ListingCost, Observation, StepResult, Task, TrialInfo};
use crate::engine::{Reply, State};
use crate::env::{EnvError, Environment, Snapshot};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Steps between two snapshots.
const SNAPSHOT_SPACING: u32 = 64;
/// The maximum number of snapshots of an environment; every second one is dropped beyond that.
const MAX_SNAPSHOTS: usize = 256;
/// The maximum number of cached environments, including the open one.
const MAX_WORLDS: usize = 4;

/// An episode to be replayed.
pub(super) struct RebuildPlan {
    /// The number of the rebuild; the driver waits for the last one it requested.
    pub(super) number: u64,
    pub(super) episode: u32,
    pub(super) task: Task,
    pub(super) trial: TrialInfo,
    /// The recorded first observation.
    pub(super) first_observation: Observation,
    /// The steps' numbers, the actions sent to the environment, and the recorded answers.
    pub(super) actions: Vec<(u32, String, Observation)>,
}

impl RebuildPlan {
    /// Returns the actions of the open episode; `None` if there is none, or if its environment has not been reset yet.
    pub(super) fn of_open_episode(state: &State, number: u64) -> Option<Self> {
        let episode = state.open_episode()?;
        let actions = episode
            .steps
            .iter()
            .filter(|step| step.sent_to_env)
            .filter_map(|step| {
                let (done, answer) = (step.executed.as_ref()?, step.answer.as_ref()?);
                Some((step.number, done.sent.clone().unwrap_or_else(|| done.action.clone()), answer.clone()))
            })
            .collect();
        let first_answer = episode.first_observation.clone()?;
        Some(Self {
            number,
            episode: episode.number,
            task: episode.task.clone(),
            trial: state.trial_info(),
            first_observation: first_answer,
            actions,
        })
    }
}

/// A hash over a task, its actions and their answers, in order. A journal with any other answer has another hash.
type HistoryHash = u64;

/// A snapshot, with the history and the number of steps at which it was taken.
struct StoredSnapshot {
    history: HistoryHash,
    depth: u32,
    snapshot: Snapshot,
}

/// An environment with its history.
struct CachedWorld {
    world: Box<dyn Environment>,
    task: Task,
    history: HistoryHash,
    depth: u32,
    /// For each history, in the order of depth.
    snapshots: Vec<StoredSnapshot>,
    spacing: u32,
    /// Whether the history determines the environment: it is deterministic and nothing else has changed it.
    can_restore: bool,
}

/// The environments of the last episodes. The first one is in use.
#[derive(Default)]
pub(super) struct SnapshotCache {
    worlds: VecDeque<CachedWorld>,
    /// Whether the first environment is open.
    is_open: bool,
}

impl SnapshotCache {
    /// Returns whether an environment is open.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Drops the open environment and its snapshots.
    pub(super) fn drop_world(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.worlds.pop_front();
        }
    }

    /// Opens and resets a task's environment.
    pub(super) fn reset(
        &mut self,
        open: &OpenWorld,
        task: &Task,
        trial: TrialInfo,
    ) -> Result<StepResult, EnvError> {
        // An abandoned environment is not used again, but may be restored. One that can't be restored, or that is another
        // program, is closed before the next one is opened: it may use a lot of memory, and its process plays the next episode.
        self.is_open = false;
        self.worlds.retain(|cached| cached.can_restore && !cached.world.snapshots_need_check());
        let mut world = open(task)?;
        world.set_trial(trial);
        let result = world.reset()?;
        let info = world.info();
        let history = initial_hash(task, &compared_result(&result));
        let mut cached = CachedWorld {
            can_restore: info.deterministic && info.snapshots,
            world,
            task: task.clone(),
            history,
            depth: 0,
            snapshots: Vec::new(),
            spacing: SNAPSHOT_SPACING,
        };
        cached.store_snapshot();
        self.worlds.push_front(cached);
        self.worlds.truncate(MAX_WORLDS);
        self.is_open = true;
        Ok(result)
    }

    /// Executes an action in the open environment. `is_last` says whether the run ends the episode after it.
    pub(super) fn step(&mut self, action: &str, is_last: bool) -> Result<StepResult, EnvError> {
        self.with_open_world(|cached| cached.step(action, is_last))
    }

    /// Returns whether listing the actions would change the open environment.
    pub(super) fn listing_changes_world(&self) -> bool {
        let open = self.worlds.front().filter(|_| self.is_open);
        open.is_some_and(|cached| cached.world.info().listing_cost == ListingCost::ChangesWorld)
    }

    /// Returns whether the open environment may fail or take long when it is asked for a hint.
    pub(super) fn is_hint_risky(&self) -> bool {
        self.worlds.front().filter(|_| self.is_open).is_some_and(|cached| cached.world.is_hint_risky())
    }

    /// Runs a query on the open environment that is not an action. Drops the environment if it fails, so that it is
    /// rebuilt before it is used again.
    pub(super) fn query<T>(
        &mut self,
        query: impl FnOnce(&mut dyn Environment) -> Result<T, EnvError>,
    ) -> Result<T, EnvError> {
        self.with_open_world(|cached| {
            let answer = query(cached.world.as_mut());
            // Known before, or once it was asked.
            cached.can_restore &= cached.world.info().listing_cost != ListingCost::ChangesWorld;
            answer
        })
    }

    /// Returns the result of an action and restores the environment. One that cannot be restored is never stepped; if
    /// restoring fails, it is dropped.
    pub(super) fn preview_step(
        &mut self,
        action: &str,
        list: Option<StepResult>,
    ) -> Option<(StepResult, Vec<String>)> {
        let cached = self.worlds.front_mut().filter(|_| self.is_open)?;
        let info = cached.world.info();
        let can_return = info.snapshots && info.deterministic && !cached.world.snapshots_need_check();
        let before = can_return.then(|| cached.world.snapshot()).flatten()?;
        let answer = match list {
            Some(result) => cached.world.admissible().map(|list| (result, list)),
            None => cached.world.step(action).map(|result| (result, Vec::new())),
        };
        if cached.world.restore(&before).is_err() {
            self.drop_world();
        }
        answer.ok()
    }

    fn with_open_world<T>(
        &mut self,
        query: impl FnOnce(&mut CachedWorld) -> Result<T, EnvError>,
    ) -> Result<T, EnvError> {
        let Some(cached) = self.worlds.front_mut().filter(|_| self.is_open) else {
            return Err(EnvError::Refused { what: "no episode has begun".to_owned() });
        };
        let answer = query(cached);
        if answer.as_ref().is_err_and(|e| !matches!(e, EnvError::Refused { .. })) {
            self.drop_world();
        }
        answer
    }

    /// Brings an environment to an episode's position. Calls `on_step` before each replayed step; its error stops the replay.
    ///
    /// # Errors
    /// Returns the first difference from the recorded answers, or why there is no environment to compare with.
    pub(super) fn rebuild(
        &mut self,
        open: &OpenWorld,
        plan: &RebuildPlan,
        on_step: &dyn Fn(u32) -> Result<(), String>,
    ) -> Result<(), RebuildError> {
        let history = history_hashes(plan);
        if self.restore_nearest(plan, &history).is_some_and(|from| {
            self.replay_from(plan, from, on_step).is_ok_and(|difference| difference.is_none())
        }) {
            return Ok(());
        }
        let divergence = |step: u32, (recorded, actual): (String, String)| Reply::Diverged {
            episode: plan.episode,
            step,
            recorded,
            actual,
        };
        let result = self.reset(open, &plan.task, plan.trial.clone()).map_err(RebuildError::Failed)?;
        let first = find_difference(&plan.first_observation, &result).map(|d| divergence(0, d));
        let later = self.replay_from(plan, 0, on_step);
        // A difference comes before a failure that it may have caused.
        match (first, later) {
            (Some(first), _) => Err(RebuildError::Differs(Box::new(first))),
            (None, Err(error)) => Err(RebuildError::Failed(error)),
            (None, Ok(Some((step, texts)))) => Err(RebuildError::Differs(Box::new(divergence(step, texts)))),
            (None, Ok(None)) => Ok(()),
        }
    }

    /// Restores the last snapshot on an episode's history. Returns how many of its actions that covers.
    fn restore_nearest(&mut self, plan: &RebuildPlan, history: &[HistoryHash]) -> Option<usize> {
        self.is_open = false;
        let (index, snapshot) = self
            .worlds
            .iter()
            .enumerate()
            .filter(|(_, cached)| cached.can_restore && cached.task == plan.task)
            .filter_map(|(index, cached)| Some((index, cached.deepest_snapshot_on(history)?)))
            .max_by_key(|(_, (depth, _))| *depth)?;
        let mut cached = self.worlds.remove(index)?;
        let depth = cached.restore(snapshot);
        // Whatever the outcome, it is the most recently used one.
        self.worlds.push_front(cached);
        self.is_open = depth.is_some();
        depth
    }

    /// Replays the actions after the first `from`. Returns the first answer that differs; a failure after it is no longer of interest.
    fn replay_from(
        &mut self,
        plan: &RebuildPlan,
        from: usize,
        on_step: &dyn Fn(u32) -> Result<(), String>,
    ) -> Result<Option<AnswerDifference>, EnvError> {
        let mut first = None;
        for (step, sent, recorded) in plan.actions.iter().skip(from) {
            // The deadline applies to one answer, however many are replayed.
            let stepped = on_step(*step).map_err(|why| EnvError::Died { what: why });
            match stepped.and_then(|()| self.step(sent, false)) {
                Ok(result) if first.is_none() => {
                    first = find_difference(recorded, &result).map(|d| (*step, d));
                }
                Ok(_) => {}
                Err(error) => {
                    self.drop_world();
                    return first.map_or(Err(error), |first| Ok(Some(first)));
                }
            }
        }
        Ok(first)
    }
}

impl CachedWorld {
    fn step(&mut self, action: &str, is_last: bool) -> Result<StepResult, EnvError> {
        let result = if is_last { self.world.last_step(action) } else { self.world.step(action) }?;
        self.history = extend_hash(self.history, action, &compared_result(&result));
        self.depth += 1;
        if self.depth.is_multiple_of(self.spacing) {
            self.store_snapshot();
        }
        Ok(result)
    }

    fn store_snapshot(&mut self) {
        if !self.can_restore || self.snapshots.iter().any(|stored| stored.history == self.history) {
            return;
        }
        let Some(snapshot) = self.world.snapshot() else { return };
        if self.snapshots.len() >= MAX_SNAPSHOTS {
            let mut n = 0;
            self.snapshots.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.spacing = self.spacing.saturating_mul(2);
        }
        self.snapshots.push(StoredSnapshot { history: self.history, depth: self.depth, snapshot });
    }

    /// Returns the depth and the index of the deepest snapshot on a history that can be used.
    fn deepest_snapshot_on(&self, history: &[HistoryHash]) -> Option<(u32, usize)> {
        let needs_check = self.world.snapshots_need_check();
        let is_on_history = |stored: &StoredSnapshot| {
            let depth = stored.depth as usize;
            // At least one answer after it is compared.
            history.get(depth) == Some(&stored.history) && (!needs_check || depth + 1 < history.len())
        };
        self.snapshots
            .iter()
            .enumerate()
            .filter(|(_, stored)| is_on_history(stored))
            .map(|(n, stored)| (stored.depth, n))
            .max()
    }

    /// Restores a snapshot. Returns its depth.
    fn restore(&mut self, (depth, index): (u32, usize)) -> Option<usize> {
        let stored = self.snapshots.get(index)?;
        if self.world.restore(&stored.snapshot).is_err() {
            self.can_restore = false;
            return None;
        }
        (self.history, self.depth) = (stored.history, depth);
        Some(depth as usize)
    }
}

/// Returns the hashes of all positions of an episode; the first is before any action.
fn history_hashes(plan: &RebuildPlan) -> Vec<HistoryHash> {
    let mut hash = initial_hash(&plan.task, &compared_record(&plan.first_observation));
    let mut hashes = Vec::with_capacity(plan.actions.len() + 1);
    hashes.push(hash);
    for (_, sent, answer) in &plan.actions {
        hash = extend_hash(hash, sent, &compared_record(answer));
        hashes.push(hash);
    }
    hashes
}

/// Why an environment wasn't brought to an episode's position.
#[derive(Debug, PartialEq)]
pub(super) enum RebuildError {
    /// It answers differently from the journal; the reply says where.
    Differs(Box<Reply>),
    /// It could not be opened, or it failed while the actions were replayed: there is nothing to compare.
    Failed(EnvError),
}

/// The step whose answer differs, with the recorded and the actual one.
type AnswerDifference = (u32, (String, String));

/// The compared parts of an answer.
type ComparedAnswer<'a> = (&'a str, [u64; 2], [bool; 3]);

fn compared_result(result: &StepResult) -> ComparedAnswer<'_> {
    (
        &result.observation,
        [result.reward.to_bits(), result.progress.to_bits()],
        [result.done, result.won, result.valid],
    )
}

fn compared_record(recorded: &Observation) -> ComparedAnswer<'_> {
    (
        &recorded.raw,
        [recorded.reward.to_bits(), recorded.progress.to_bits()],
        [recorded.done, recorded.won, recorded.valid],
    )
}

fn initial_hash(task: &Task, answer: &ComparedAnswer<'_>) -> HistoryHash {
    let mut hash = DefaultHasher::new();
    (&task.env, &task.id, task.seed, answer).hash(&mut hash);
    hash.finish()
}

fn extend_hash(history: HistoryHash, action: &str, answer: &ComparedAnswer<'_>) -> HistoryHash {
    let mut hash = DefaultHasher::new();
    (history, action, answer).hash(&mut hash);
    hash.finish()
}

/// Returns the recorded and the actual answer if they differ: the observation, otherwise the other fields.
fn find_difference(recorded: &Observation, actual: &StepResult) -> Option<(String, String)> {
    if recorded.raw != actual.observation {
        return Some((recorded.raw.clone(), actual.observation.clone()));
    }
    let describe = |reward: f64, progress: f64, done: bool, won: bool, valid: bool| {
        format!("reward {reward}, progress {progress}, done {done}, won {won}, valid {valid}")
    };
    let expected = describe(recorded.reward, recorded.progress, recorded.done, recorded.won, recorded.valid);
    let found = describe(actual.reward, actual.progress, actual.done, actual.won, actual.valid);
    (expected != found).then_some((expected, found))
}

#[cfg(test)]
mod tests;
