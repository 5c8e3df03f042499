//! Implements `Environment` for BabyAI levels.

use super::level_start::LevelStart;
use super::shown::{carried_json, pose_json, rows_json};
use super::world::{World, WorldState};
use crate::domain::{EnvInfo, ListingCost, StepResult};
use crate::env::{EnvError, Environment, Snapshot};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The content of a snapshot. The level identifies the world it belongs to.
struct SnapshotData {
    start: Arc<LevelStart>,
    state: WorldState,
    shown: super::shown::Shown,
}

impl World {
    fn step_result(&self, observation: String, shown: Value, truth: Value) -> StepResult {
        StepResult {
            observation,
            reward: self.reward(),
            progress: self.reward(),
            done: self.is_done(),
            won: self.is_done(),
            valid: self.last_valid().unwrap_or(false),
            shown,
            truth,
        }
    }

    /// Returns the whole ground truth as a merge patch against an empty object.
    fn full_truth(&self) -> Value {
        let grid = &self.state.grid;
        let mut truth = json!({
            "goal": self.start.mission,
            "size": [self.start.width, self.start.height],
            "agent": pose_json(grid.agent),
            "carrying": carried_json(grid.carried_thing()),
            "rows": rows_json(self.start.width, 0..self.start.height, |index| grid.cell_code(index)),
        });
        truth["mission"] = self.mission_json();
        truth["subgoals"] = self.subgoals_json();
        truth
    }

    /// Returns the clauses, each with whether it has been done.
    fn mission_json(&self) -> Value {
        let done = self.state.grid.mission_memory.done_clauses(&self.start.instruction);
        let clause =
            |(clause, done): (&super::mission::Clause, bool)| json!({"text": clause.text(), "done": done});
        self.start.instruction.clauses().zip(done).map(clause).collect()
    }

    fn subgoals_json(&self) -> Value {
        let progress = &self.state.progress;
        if progress.total() == 0 { Value::Null } else { json!([progress.reached, progress.total()]) }
    }

    /// Returns a merge patch of the changes since `before`.
    fn truth_changes(&self, before: &WorldState) -> Value {
        let (old, new) = (&before.grid, &self.state.grid);
        let mut truth = Map::new();
        if old.agent != new.agent {
            truth.insert("agent".to_owned(), pose_json(new.agent));
        }
        if old.carrying != new.carrying {
            truth.insert("carrying".to_owned(), carried_json(new.carried_thing()));
        }
        if !Arc::ptr_eq(&old.cells, &new.cells) || !Arc::ptr_eq(&old.things, &new.things) {
            let width = self.start.width as usize;
            let differs = |y: &i16| {
                let row = *y as usize * width;
                (row..row + width).any(|index| old.cell_code(index) != new.cell_code(index))
            };
            let changed = (0..self.start.height).filter(differs);
            truth.insert(
                "rows".to_owned(),
                rows_json(self.start.width, changed, |index| new.cell_code(index)),
            );
        }
        if old.mission_memory.done_clauses(&self.start.instruction)
            != new.mission_memory.done_clauses(&self.start.instruction)
        {
            truth.insert("mission".to_owned(), self.mission_json());
        }
        if before.progress.reached != self.state.progress.reached {
            truth.insert("subgoals".to_owned(), self.subgoals_json());
        }
        if truth.is_empty() { Value::Null } else { Value::Object(truth) }
    }
}

impl Environment for World {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let observation = self.restart();
        let shown = self.shown.full_patch(&self.start, &self.state.grid, &self.state.image);
        let truth = self.full_truth();
        let mut result = self.step_result(observation, shown, truth);
        result.valid = true;
        Ok(result)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let before = self.state.clone();
        let reply = self.play(action);
        let (mut shown, mut truth) = (Value::Null, Value::Null);
        if !reply.primitive_actions.is_empty() {
            shown = self.shown.change_patch(&self.start, &self.state.grid, &self.state.image);
            truth = self.truth_changes(&before);
        }
        Ok(self.step_result(reply.observation, shown, truth))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(self.available_actions().map(ToOwned::to_owned).collect())
    }

    fn world_summary(&self) -> Value {
        json!({
            "agent": pose_json(self.agent()),
            "carrying": self.state.grid.carrying.map(|id| id.0),
            "hash": self.state_hash(),
        })
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let (start, state, shown) = (Arc::clone(&self.start), self.state.clone(), self.shown.clone());
        Some(Snapshot(Box::new(SnapshotData { start, state, shown })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let data =
            snapshot.0.downcast_ref::<SnapshotData>().filter(|data| Arc::ptr_eq(&data.start, &self.start));
        let Some(data) = data else {
            return Err(EnvError::Refused {
                what: "this snapshot belongs to another environment".to_owned(),
            });
        };
        self.state.clone_from(&data.state);
        self.shown.clone_from(&data.shown);
        self.refresh();
        Ok(())
    }
}
