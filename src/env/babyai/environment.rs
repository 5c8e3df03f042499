//! A level as everybody else sees it.

use super::shown::{carried, pose, rows};
use super::start::Start;
use super::world::{Now, World};
use crate::domain::{Enumeration, EnvInfo, StepResult};
use crate::env::{EnvError, Environment, Snapshot};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a snapshot keeps; the level tells worlds apart.
struct Kept {
    start: Arc<Start>,
    now: Now,
    shown: super::shown::Shown,
}

impl World {
    fn turn(&self, observation: String, shown: Value, truth: Value) -> StepResult {
        StepResult {
            observation,
            reward: self.reward(),
            progress: self.reward(),
            done: self.done(),
            won: self.done(),
            valid: self.valid().unwrap_or(false),
            shown,
            truth,
        }
    }

    /// Everything that is so, as a patch onto nothing.
    fn whole_truth(&self) -> Value {
        let place = &self.now.place;
        let mut truth = json!({
            "goal": self.start.mission,
            "size": [self.start.width, self.start.height],
            "agent": pose(place.agent),
            "carrying": carried(place.carried()),
            "rows": rows(self.start.width, 0..self.start.height, |index| place.code(index)),
        });
        truth["mission"] = self.mission();
        truth["subgoals"] = self.subgoals();
        truth
    }

    /// The clauses and whether each was done.
    fn mission(&self) -> Value {
        let done = self.now.place.memory.done(&self.start.instruction);
        let clause =
            |(clause, done): (&super::mission::Clause, bool)| json!({"text": clause.text(), "done": done});
        self.start.instruction.clauses().zip(done).map(clause).collect()
    }

    fn subgoals(&self) -> Value {
        let credit = &self.now.credit;
        if credit.total() == 0 { Value::Null } else { json!([credit.points, credit.total()]) }
    }

    /// What became different since `before`.
    fn new_truth(&self, before: &Now) -> Value {
        let (was, is) = (&before.place, &self.now.place);
        let mut truth = Map::new();
        if was.agent != is.agent {
            truth.insert("agent".to_owned(), pose(is.agent));
        }
        if was.carrying != is.carrying {
            truth.insert("carrying".to_owned(), carried(is.carried()));
        }
        if !Arc::ptr_eq(&was.cells, &is.cells) || !Arc::ptr_eq(&was.things, &is.things) {
            let width = self.start.width as usize;
            let differs = |y: &i16| {
                let row = *y as usize * width;
                (row..row + width).any(|index| was.code(index) != is.code(index))
            };
            let changed = (0..self.start.height).filter(differs);
            truth.insert("rows".to_owned(), rows(self.start.width, changed, |index| is.code(index)));
        }
        if was.memory.done(&self.start.instruction) != is.memory.done(&self.start.instruction) {
            truth.insert("mission".to_owned(), self.mission());
        }
        if before.credit.points != self.now.credit.points {
            truth.insert("subgoals".to_owned(), self.subgoals());
        }
        if truth.is_empty() { Value::Null } else { Value::Object(truth) }
    }
}

impl Environment for World {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: true, enumeration: Enumeration::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let observation = self.begin();
        let shown = self.shown.whole(&self.start, &self.now.place, &self.now.image);
        let truth = self.whole_truth();
        let mut turn = self.turn(observation, shown, truth);
        turn.valid = true;
        Ok(turn)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let before = self.now.clone();
        let reply = self.play(action);
        let (mut shown, mut truth) = (Value::Null, Value::Null);
        if !reply.low.is_empty() {
            shown = self.shown.changes(&self.start, &self.now.place, &self.now.image);
            truth = self.new_truth(&before);
        }
        Ok(self.turn(reply.observation, shown, truth))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(self.available().map(ToOwned::to_owned).collect())
    }

    fn peek(&self) -> Value {
        json!({
            "agent": pose(self.agent()),
            "carrying": self.now.place.carrying.map(|id| id.0),
            "hash": self.hash(),
        })
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let (start, now, shown) = (Arc::clone(&self.start), self.now.clone(), self.shown.clone());
        Some(Snapshot(Box::new(Kept { start, now, shown })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let kept = snapshot.0.downcast_ref::<Kept>().filter(|kept| Arc::ptr_eq(&kept.start, &self.start));
        let Some(kept) = kept else {
            return Err(EnvError::Refused { what: "this snapshot is of another world".to_owned() });
        };
        self.now.clone_from(&kept.now);
        self.shown.clone_from(&kept.shown);
        self.read_again();
        Ok(())
    }
}
