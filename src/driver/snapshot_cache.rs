//! The worlds of the last episodes, each with the way it took and snapshots along it: going back to a step is a restore and
//! the few actions behind it. Snapshots are a shortcut and no evidence: one is believed only where the world, when it came by,
//! had given every answer that is recorded up to there. Where one differs, every action is taken again.

use super::OpenWorld;
use crate::domain::{Enumeration, Observation, StepResult, Task};
use crate::engine::{Episode, Reply};
use crate::env::{EnvError, Environment, Snapshot};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Steps between two snapshots.
const SNAPSHOT_SPACING: u32 = 64;
/// Snapshots of one world at most; every second one goes when there are more.
const MAX_SNAPSHOTS: usize = 256;
/// Worlds that are kept at most, the one that is listened to among them.
const MAX_WORLDS: usize = 4;

/// An episode to be taken again.
pub(super) struct RebuildPlan {
    /// Which rebuild it is; the driver waits for the last one it ordered.
    pub(super) number: u64,
    /// The episode's number.
    pub(super) episode: u32,
    /// Its task.
    pub(super) task: Task,
    /// The recorded first answer.
    pub(super) first_answer: Observation,
    /// What the world was sent, with the recorded answers and the number of the step.
    pub(super) actions: Vec<(u32, String, Observation)>,
}

impl RebuildPlan {
    /// All that was taken in an episode; none where its world was not reset yet.
    pub(super) fn from_episode(episode: &Episode, number: u64) -> Option<Self> {
        let taken = episode
            .steps
            .iter()
            .filter(|step| step.reached_world)
            .filter_map(|step| {
                let (done, answer) = (step.executed.as_ref()?, step.answer.as_ref()?);
                Some((step.number, done.sent.clone().unwrap_or_else(|| done.action.clone()), answer.clone()))
            })
            .collect();
        let first = episode.first_observation.clone()?;
        Some(Self {
            number,
            episode: episode.number,
            task: episode.task.clone(),
            first_answer: first,
            actions: taken,
        })
    }
}

/// The exact way a world took: a hash over its task, and every action with the answer to it, in order. A journal that has
/// another answer anywhere is on another way.
type HistoryHash = u64;

/// A snapshot and where it was taken.
struct StoredSnapshot {
    history: HistoryHash,
    depth: u32,
    snapshot: Snapshot,
}

/// A world with its way.
struct CachedWorld {
    world: Box<dyn Environment>,
    task: Task,
    way: HistoryHash,
    depth: u32,
    /// In the order of their depths on the ways they were taken on.
    snapshots: Vec<StoredSnapshot>,
    spacing: u32,
    /// The way says what the world is: nothing else has changed it, and it is the same every time.
    can_restore: bool,
}

/// The worlds of the last episodes; the first is the one that is asked.
#[derive(Default)]
pub(super) struct SnapshotCache {
    worlds: VecDeque<CachedWorld>,
    /// The first of them may be asked.
    is_open: bool,
}

impl SnapshotCache {
    /// A world stands that can be asked.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The world cannot be asked any more, nor gone back in.
    pub(super) fn drop_world(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.worlds.pop_front();
        }
    }

    /// Opens a task's world anew.
    pub(super) fn reset(&mut self, open: &OpenWorld, task: &Task) -> Result<StepResult, EnvError> {
        // A world that was left half-way is not asked again; it may be gone back to.
        self.is_open = false;
        let mut world = open(task)?;
        let said = world.reset()?;
        let info = world.info();
        let way = initial_hash(task, &compared_result(&said));
        let mut stand = CachedWorld {
            can_restore: info.deterministic && info.snapshots,
            world,
            task: task.clone(),
            way,
            depth: 0,
            snapshots: Vec::new(),
            spacing: SNAPSHOT_SPACING,
        };
        stand.store_snapshot();
        self.worlds.push_front(stand);
        self.worlds.truncate(MAX_WORLDS);
        self.is_open = true;
        Ok(said)
    }

    /// Takes an action in the open world.
    pub(super) fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.with_open_world(|stand| stand.step(action))
    }

    /// Asks the open world something that is no action. One that failed by itself is dropped: it is built anew before it is
    /// asked again.
    pub(super) fn query<T>(
        &mut self,
        ask: impl FnOnce(&mut dyn Environment) -> Result<T, EnvError>,
    ) -> Result<T, EnvError> {
        self.with_open_world(|stand| {
            stand.can_restore &= stand.world.info().enumeration != Enumeration::ChangesWorld;
            ask(stand.world.as_mut())
        })
    }

    /// What the world would answer; it is set back to where it stood. One that cannot be set back is never stepped, and one
    /// that was not set back is no more.
    pub(super) fn preview_step(
        &mut self,
        action: &str,
        list: Option<StepResult>,
    ) -> Option<(StepResult, Vec<String>)> {
        let open = self.worlds.front_mut().filter(|_| self.is_open)?;
        let info = open.world.info();
        let before = open.world.snapshot().filter(|_| info.snapshots && info.deterministic)?;
        let answer = match list {
            Some(turn) => open.world.admissible().map(|list| (turn, list)),
            None => open.world.step(action).map(|turn| (turn, Vec::new())),
        };
        if open.world.restore(&before).is_err() {
            self.drop_world();
        }
        answer.ok()
    }

    fn with_open_world<T>(
        &mut self,
        ask: impl FnOnce(&mut CachedWorld) -> Result<T, EnvError>,
    ) -> Result<T, EnvError> {
        let Some(stand) = self.worlds.front_mut().filter(|_| self.is_open) else {
            return Err(EnvError::Died { what: "no world is open".to_owned() });
        };
        let answer = ask(stand);
        if answer.as_ref().is_err_and(|e| !matches!(e, EnvError::Refused { .. })) {
            self.drop_world();
        }
        answer
    }

    /// Brings a world to where an episode stands; the first answer that is not the recorded one, if there is one. `taking` is
    /// told each step that is taken again.
    pub(super) fn rebuild(
        &mut self,
        open: &OpenWorld,
        past: &RebuildPlan,
        taking: &dyn Fn(u32),
    ) -> Option<Reply> {
        let ways = history_hashes(past);
        if self
            .restore_nearest(past, &ways)
            .is_some_and(|from| self.replay_from(past, from, taking).is_none())
        {
            return None;
        }
        let differs = |step: u32, (recorded, now): (String, String)| Reply::Diverged {
            episode: past.episode,
            step,
            recorded,
            actual: now,
        };
        let said = match self.reset(open, &past.task) {
            Ok(said) => said,
            Err(error) => {
                let now = format!("the world could not be opened: {error}");
                return Some(differs(0, (past.first_answer.raw.clone(), now)));
            }
        };
        let first = find_difference(&past.first_answer, &said).map(|d| differs(0, d));
        let later = self.replay_from(past, 0, taking).map(|(step, texts)| differs(step, texts));
        first.or(later)
    }

    /// Goes back to the last snapshot on the way of an episode; how many of its actions that has taken.
    fn restore_nearest(&mut self, past: &RebuildPlan, ways: &[HistoryHash]) -> Option<usize> {
        self.is_open = false;
        let (place, kept) = self
            .worlds
            .iter()
            .enumerate()
            .filter(|(_, stand)| stand.can_restore && stand.task == past.task)
            .filter_map(|(place, stand)| Some((place, stand.deepest_snapshot_on(ways)?)))
            .max_by_key(|(_, (depth, _))| *depth)?;
        let mut stand = self.worlds.remove(place)?;
        let depth = stand.restore(kept);
        // Whatever comes of it, it is the one that was used last.
        self.worlds.push_front(stand);
        self.is_open = depth.is_some();
        depth
    }

    /// Takes the actions behind the first `from` again; the first answer that differs.
    fn replay_from(
        &mut self,
        past: &RebuildPlan,
        from: usize,
        taking: &dyn Fn(u32),
    ) -> Option<(u32, (String, String))> {
        let mut first = None;
        for (step, sent, recorded) in past.actions.iter().skip(from) {
            // The deadline is for one answer, however many there are to be had again.
            taking(*step);
            match self.step(sent) {
                Ok(turn) if first.is_none() => first = find_difference(recorded, &turn).map(|d| (*step, d)),
                Ok(_) => {}
                Err(error) => {
                    self.drop_world();
                    let now = format!("the world failed: {error}");
                    return first.or_else(|| Some((*step, (recorded.raw.clone(), now))));
                }
            }
        }
        first
    }
}

impl CachedWorld {
    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let said = self.world.step(action)?;
        self.way = extend_hash(self.way, action, &compared_result(&said));
        self.depth += 1;
        if self.depth.is_multiple_of(self.spacing) {
            self.store_snapshot();
        }
        Ok(said)
    }

    fn store_snapshot(&mut self) {
        if !self.can_restore || self.snapshots.iter().any(|k| k.history == self.way) {
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
        self.snapshots.push(StoredSnapshot { history: self.way, depth: self.depth, snapshot });
    }

    /// The deepest snapshot on a way: its depth and place.
    fn deepest_snapshot_on(&self, ways: &[HistoryHash]) -> Option<(u32, usize)> {
        let on = |k: &StoredSnapshot| ways.get(k.depth as usize) == Some(&k.history);
        self.snapshots.iter().enumerate().filter(|(_, k)| on(k)).map(|(n, k)| (k.depth, n)).max()
    }

    /// Restores a snapshot; how deep it was taken.
    fn restore(&mut self, (depth, place): (u32, usize)) -> Option<usize> {
        let kept = self.snapshots.get(place)?;
        if self.world.restore(&kept.snapshot).is_err() {
            self.can_restore = false;
            return None;
        }
        (self.way, self.depth) = (kept.history, depth);
        Some(depth as usize)
    }
}

/// The ways to every place of an episode, the first before any action.
fn history_hashes(past: &RebuildPlan) -> Vec<HistoryHash> {
    let mut way = initial_hash(&past.task, &compared_record(&past.first_answer));
    let mut ways = Vec::with_capacity(past.actions.len() + 1);
    ways.push(way);
    for (_, sent, answer) in &past.actions {
        way = extend_hash(way, sent, &compared_record(answer));
        ways.push(way);
    }
    ways
}

/// All that is compared of an answer.
type ComparedAnswer<'a> = (&'a str, [u64; 2], [bool; 3]);

fn compared_result(turn: &StepResult) -> ComparedAnswer<'_> {
    (&turn.observation, [turn.reward.to_bits(), turn.progress.to_bits()], [turn.done, turn.won, turn.valid])
}

fn compared_record(seen: &Observation) -> ComparedAnswer<'_> {
    (&seen.raw, [seen.reward.to_bits(), seen.progress.to_bits()], [seen.done, seen.won, seen.valid])
}

fn initial_hash(task: &Task, said: &ComparedAnswer<'_>) -> HistoryHash {
    let mut hash = DefaultHasher::new();
    (&task.env, &task.id, task.seed, said).hash(&mut hash);
    hash.finish()
}

fn extend_hash(way: HistoryHash, action: &str, said: &ComparedAnswer<'_>) -> HistoryHash {
    let mut hash = DefaultHasher::new();
    (way, action, said).hash(&mut hash);
    hash.finish()
}

/// What was recorded and what is answered now, where they differ: the text, else what the world says beside it.
fn find_difference(recorded: &Observation, now: &StepResult) -> Option<(String, String)> {
    if recorded.raw != now.observation {
        return Some((recorded.raw.clone(), now.observation.clone()));
    }
    let beside = |reward: f64, progress: f64, done: bool, won: bool, valid: bool| {
        format!("reward {reward}, progress {progress}, done {done}, won {won}, valid {valid}")
    };
    let was = beside(recorded.reward, recorded.progress, recorded.done, recorded.won, recorded.valid);
    let is = beside(now.reward, now.progress, now.done, now.won, now.valid);
    (was != is).then_some((was, is))
}

#[cfg(test)]
mod tests;
