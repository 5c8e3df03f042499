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
const SPACING: u32 = 64;
/// Snapshots of one world at most; every second one goes when there are more.
const MOST: usize = 256;
/// Worlds that are kept at most, the one that is listened to among them.
const WORLDS: usize = 4;

/// An episode to be taken again.
pub(super) struct Rebuild {
    /// Which rebuild it is; the driver waits for the last one it ordered.
    pub(super) number: u64,
    /// The episode's number.
    pub(super) episode: u32,
    /// Its task.
    pub(super) task: Task,
    /// The recorded first answer.
    pub(super) first: Observation,
    /// What the world was sent, with the recorded answers and the number of the step.
    pub(super) taken: Vec<(u32, String, Observation)>,
}

impl Rebuild {
    /// All that was taken in an episode; none where its world was not reset yet.
    pub(super) fn of(episode: &Episode, number: u64) -> Option<Self> {
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
        Some(Self { number, episode: episode.number, task: episode.task.clone(), first, taken })
    }
}

/// The exact way a world took: a hash over its task, and every action with the answer to it, in order. A journal that has
/// another answer anywhere is on another way.
type Way = u64;

/// A snapshot and where it was taken.
struct Kept {
    way: Way,
    depth: u32,
    snapshot: Snapshot,
}

/// A world with its way.
struct Stand {
    world: Box<dyn Environment>,
    task: Task,
    way: Way,
    depth: u32,
    /// In the order of their depths on the ways they were taken on.
    kept: Vec<Kept>,
    spacing: u32,
    /// The way says what the world is: nothing else has changed it, and it is the same every time.
    sure: bool,
}

/// The worlds of the last episodes; the first is the one that is asked.
#[derive(Default)]
pub(super) struct SnapshotCache {
    stands: VecDeque<Stand>,
    /// The first of them may be asked.
    open: bool,
}

impl SnapshotCache {
    /// A world stands that can be asked.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// The world cannot be asked any more, nor gone back in.
    pub(super) fn drop_world(&mut self) {
        if std::mem::take(&mut self.open) {
            self.stands.pop_front();
        }
    }

    /// Opens a task's world anew.
    pub(super) fn reset(&mut self, open: &OpenWorld, task: &Task) -> Result<StepResult, EnvError> {
        // A world that was left half-way is not asked again; it may be gone back to.
        self.open = false;
        let mut world = open(task)?;
        let said = world.reset()?;
        let info = world.info();
        let way = first(task, &beside(&said));
        let mut stand = Stand {
            sure: info.deterministic && info.snapshots,
            world,
            task: task.clone(),
            way,
            depth: 0,
            kept: Vec::new(),
            spacing: SPACING,
        };
        stand.keep();
        self.stands.push_front(stand);
        self.stands.truncate(WORLDS);
        self.open = true;
        Ok(said)
    }

    /// Takes an action in the open world.
    pub(super) fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.asked(|stand| stand.step(action))
    }

    /// Asks the open world something that is no action. One that failed by itself is dropped: it is built anew before it is
    /// asked again.
    pub(super) fn ask<T>(
        &mut self,
        ask: impl FnOnce(&mut dyn Environment) -> Result<T, EnvError>,
    ) -> Result<T, EnvError> {
        self.asked(|stand| {
            stand.sure &= stand.world.info().enumeration != Enumeration::ChangesWorld;
            ask(stand.world.as_mut())
        })
    }

    /// What the world would answer; it is set back to where it stood. One that cannot be set back is never stepped, and one
    /// that was not set back is no more.
    pub(super) fn ahead(
        &mut self,
        action: &str,
        list: Option<StepResult>,
    ) -> Option<(StepResult, Vec<String>)> {
        let open = self.stands.front_mut().filter(|_| self.open)?;
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

    fn asked<T>(&mut self, ask: impl FnOnce(&mut Stand) -> Result<T, EnvError>) -> Result<T, EnvError> {
        let Some(stand) = self.stands.front_mut().filter(|_| self.open) else {
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
        past: &Rebuild,
        taking: &dyn Fn(u32),
    ) -> Option<Reply> {
        let ways = ways(past);
        if self.go_back(past, &ways).is_some_and(|from| self.take(past, from, taking).is_none()) {
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
                return Some(differs(0, (past.first.raw.clone(), now)));
            }
        };
        let first = difference(&past.first, &said).map(|d| differs(0, d));
        let later = self.take(past, 0, taking).map(|(step, texts)| differs(step, texts));
        first.or(later)
    }

    /// Goes back to the last snapshot on the way of an episode; how many of its actions that has taken.
    fn go_back(&mut self, past: &Rebuild, ways: &[Way]) -> Option<usize> {
        self.open = false;
        let (place, kept) = self
            .stands
            .iter()
            .enumerate()
            .filter(|(_, stand)| stand.sure && stand.task == past.task)
            .filter_map(|(place, stand)| Some((place, stand.last_on(ways)?)))
            .max_by_key(|(_, (depth, _))| *depth)?;
        let mut stand = self.stands.remove(place)?;
        let depth = stand.restore(kept);
        // Whatever comes of it, it is the one that was used last.
        self.stands.push_front(stand);
        self.open = depth.is_some();
        depth
    }

    /// Takes the actions behind the first `from` again; the first answer that differs.
    fn take(&mut self, past: &Rebuild, from: usize, taking: &dyn Fn(u32)) -> Option<(u32, (String, String))> {
        let mut first = None;
        for (step, sent, recorded) in past.taken.iter().skip(from) {
            // The deadline is for one answer, however many there are to be had again.
            taking(*step);
            match self.step(sent) {
                Ok(turn) if first.is_none() => first = difference(recorded, &turn).map(|d| (*step, d)),
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

impl Stand {
    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let said = self.world.step(action)?;
        self.way = next(self.way, action, &beside(&said));
        self.depth += 1;
        if self.depth.is_multiple_of(self.spacing) {
            self.keep();
        }
        Ok(said)
    }

    fn keep(&mut self) {
        if !self.sure || self.kept.iter().any(|k| k.way == self.way) {
            return;
        }
        let Some(snapshot) = self.world.snapshot() else { return };
        if self.kept.len() >= MOST {
            let mut n = 0;
            self.kept.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.spacing = self.spacing.saturating_mul(2);
        }
        self.kept.push(Kept { way: self.way, depth: self.depth, snapshot });
    }

    /// The deepest snapshot on a way: its depth and place.
    fn last_on(&self, ways: &[Way]) -> Option<(u32, usize)> {
        let on = |k: &Kept| ways.get(k.depth as usize) == Some(&k.way);
        self.kept.iter().enumerate().filter(|(_, k)| on(k)).map(|(n, k)| (k.depth, n)).max()
    }

    /// Restores a snapshot; how deep it was taken.
    fn restore(&mut self, (depth, place): (u32, usize)) -> Option<usize> {
        let kept = self.kept.get(place)?;
        if self.world.restore(&kept.snapshot).is_err() {
            self.sure = false;
            return None;
        }
        (self.way, self.depth) = (kept.way, depth);
        Some(depth as usize)
    }
}

/// The ways to every place of an episode, the first before any action.
fn ways(past: &Rebuild) -> Vec<Way> {
    let mut way = first(&past.task, &recorded(&past.first));
    let mut ways = Vec::with_capacity(past.taken.len() + 1);
    ways.push(way);
    for (_, sent, answer) in &past.taken {
        way = next(way, sent, &recorded(answer));
        ways.push(way);
    }
    ways
}

/// All that is compared of an answer.
type Said<'a> = (&'a str, [u64; 2], [bool; 3]);

fn beside(turn: &StepResult) -> Said<'_> {
    (&turn.observation, [turn.reward.to_bits(), turn.progress.to_bits()], [turn.done, turn.won, turn.valid])
}

fn recorded(seen: &Observation) -> Said<'_> {
    (&seen.raw, [seen.reward.to_bits(), seen.progress.to_bits()], [seen.done, seen.won, seen.valid])
}

fn first(task: &Task, said: &Said<'_>) -> Way {
    let mut hash = DefaultHasher::new();
    (&task.env, &task.id, task.seed, said).hash(&mut hash);
    hash.finish()
}

fn next(way: Way, action: &str, said: &Said<'_>) -> Way {
    let mut hash = DefaultHasher::new();
    (way, action, said).hash(&mut hash);
    hash.finish()
}

/// What was recorded and what is answered now, where they differ: the text, else what the world says beside it.
fn difference(recorded: &Observation, now: &StepResult) -> Option<(String, String)> {
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
