//! Implements `Environment` for ALFWorld games.

use super::game::Game;
use super::progress::Progress;
use super::shown::AgentView;
use super::world::{SavedState, World};
use crate::domain::{EnvInfo, ListingCost, StepResult};
use crate::env::{EnvError, Environment, Snapshot};
use serde_json::{Value, json};
use std::sync::Arc;

/// The content of a snapshot. The game identifies the world it belongs to.
struct SnapshotData {
    game: Arc<Game>,
    saved_state: SavedState,
    progress: Progress,
    shown: AgentView,
}

/// What AgentBoard's agents ask for if they don't know what they may do.
const LIST_REQUEST: &str = "check valid actions";

impl World {
    /// Answers [`LIST_REQUEST`] in a labelled game as AgentBoard's wrapper does: the game takes no step, but the subgoals are
    /// searched for in the answer.
    fn answer_list_request(&mut self) -> StepResult {
        let mut actions: Vec<&str> = self.commands().collect();
        actions.extend(
            ["look", LIST_REQUEST].iter().filter(|extra| !actions.contains(*extra)).collect::<Vec<_>>(),
        );
        let observation = format!("Choose an action from these valid actions: {}", actions.join(", "));
        self.progress.observe(LIST_REQUEST, &observation);
        let won = self.is_won();
        StepResult {
            observation,
            reward: f64::from(u8::from(won)),
            progress: self.progress.rate(won),
            done: won,
            won,
            valid: true,
            ..StepResult::default()
        }
    }
}

impl Environment for World {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let observation = self.restart()?.to_owned();
        self.progress.reset(&observation);
        let shown = self.shown.reset(&observation);
        let won = self.is_won();
        Ok(StepResult {
            observation,
            reward: f64::from(u8::from(won)),
            progress: self.progress.rate(won),
            done: won,
            won,
            valid: true,
            shown,
            truth: self.truth.full_patch(self.truth_source()),
        })
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        if self.progress.has_label() && action.trim() == LIST_REQUEST {
            return Ok(self.answer_list_request());
        }
        let reply = self.play(action)?;
        let (observation, valid, won) = (reply.feedback.to_owned(), reply.accepted, reply.won);
        self.progress.observe(action, &observation);
        let (shown, truth) = if valid {
            let shown = self.shown.observe(action.trim(), &observation);
            (shown, self.truth.change_patch(self.truth_source()))
        } else {
            (Value::Null, Value::Null)
        };
        Ok(StepResult {
            observation,
            reward: f64::from(u8::from(won)),
            progress: self.progress.rate(won),
            done: won,
            won,
            valid,
            shown,
            truth,
        })
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(self.commands().map(ToOwned::to_owned).collect())
    }

    fn world_summary(&self) -> Value {
        json!({ "inventory": self.inventory().collect::<Vec<&str>>() })
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let (progress, shown) = (self.progress.clone(), self.shown.clone());
        Some(Snapshot(Box::new(SnapshotData {
            game: Arc::clone(self.game()),
            saved_state: self.save_state(),
            progress,
            shown,
        })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let data =
            snapshot.0.downcast_ref::<SnapshotData>().filter(|data| Arc::ptr_eq(&data.game, self.game()));
        let Some(data) = data else {
            return Err(EnvError::Refused {
                what: "this snapshot belongs to another environment".to_owned(),
            });
        };
        self.restore_state(&data.saved_state)?;
        self.progress.clone_from(&data.progress);
        self.shown.clone_from(&data.shown);
        Ok(())
    }
}
