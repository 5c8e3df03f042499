//! Implements `Environment` for PDDL games.

use super::game::{Game, GoalSeparator};
use super::hint::{Hint, ReferencePlan};
use super::world::{SavedState, World};
use crate::domain::{EnvInfo, ListingCost, StepResult};
use crate::env::{EnvError, Environment, Snapshot};
use crate::pddl::SearchLimits;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The content of a snapshot. The game identifies the world it belongs to.
struct SnapshotData {
    game: Arc<Game>,
    saved_state: SavedState,
}

/// A world, with the separator used in its goal text.
#[derive(Debug)]
pub struct PddlEnvironment {
    world: World,
    separator: GoalSeparator,
    reference_plan: Option<ReferencePlan>,
}

impl PddlEnvironment {
    /// Opens a game. `reference_plan` is the result of a search from the start, if one was made; it is part of the
    /// ground truth.
    pub fn new(game: Arc<Game>, separator: GoalSeparator, reference_plan: Option<ReferencePlan>) -> Self {
        Self { world: World::new(game), separator, reference_plan }
    }

    /// Returns the underlying world.
    pub fn world(&self) -> &World {
        &self.world
    }

    fn step_result(&self, observation: String, valid: bool, shown: Value, truth: Value) -> StepResult {
        let (progress, won) = (self.world.progress(), self.world.is_won());
        StepResult { observation, reward: progress, progress, done: won, won, valid, shown, truth }
    }

    /// Returns everything known at the start, as merge patches against an empty object: `shown` and `truth`. The first
    /// observation contains every fact, and the effects of actions are part of the rules, so the agent may know the
    /// facts at any time. It may not know the length of a plan.
    fn full_patches(&self) -> (Value, Value) {
        let game = self.world.game();
        let task = game.task();
        let objects: Map<String, Value> = task
            .objects()
            .map(|object| {
                let kind =
                    task.types().declared_type(object).map_or("object", |kind| task.types().name(kind));
                (task.object_name(object).to_owned(), kind.into())
            })
            .collect();
        let facts: Map<String, Value> = game
            .atoms()
            .iter()
            .filter(|(_, fact)| self.world.state().holds(*fact))
            .map(|(_, fact)| (game.atom(*fact), Value::Bool(true)))
            .collect();
        let subgoals: Map<String, Value> = game
            .goal()
            .iter()
            .zip(&self.world.held_parts)
            .map(|(part, held)| {
                (part.atom.clone(), json!({ "text": part.sentence.trim_end(), "held": held }))
            })
            .collect();
        let shown = json!({
            "domain": game.domain(),
            "goal": game.goal_text(self.separator),
            "subgoals": subgoals,
            "objects": objects,
            "facts": facts,
        });
        let truth = self.reference_plan.map_or(Value::Null, |plan| match plan {
            ReferencePlan::Plan(length) => json!({ "plan": length }),
            ReferencePlan::Impossible => json!({ "no_plan": "impossible" }),
            ReferencePlan::GaveUp { states } => json!({ "no_plan": "gave_up", "states": states }),
        });
        (shown, truth)
    }

    /// Returns a merge patch of what the last action changed. `held_before` says which parts of the goal held before.
    fn change_patch(&self, held_before: &[bool]) -> Value {
        let game = self.world.game();
        let mut facts = Map::new();
        for change in self.world.state().changes() {
            let now = if change.is_true { Value::Bool(true) } else { Value::Null };
            facts.insert(game.atom(change.fact), now);
        }
        let mut shown = Map::new();
        shown.insert("facts".to_owned(), facts.into());
        let parts = game.goal().iter().zip(held_before).zip(&self.world.held_parts);
        let subgoals: Map<String, Value> = parts
            .filter(|((_, before), now)| before != now)
            .map(|((part, _), now)| (part.atom.clone(), json!({ "held": now })))
            .collect();
        if !subgoals.is_empty() {
            shown.insert("subgoals".to_owned(), subgoals.into());
        }
        shown.into()
    }
}

impl Environment for PddlEnvironment {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: true, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let observation = self.world.restart().to_owned();
        let (shown, truth) = self.full_patches();
        Ok(self.step_result(observation, true, shown, truth))
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let held_before = self.world.held_parts.clone();
        let reply = self.world.play(action);
        let (observation, valid, changed) = (reply.observation.to_owned(), reply.valid, reply.changed);
        let shown = if changed { self.change_patch(&held_before) } else { Value::Null };
        Ok(self.step_result(observation, valid, shown, Value::Null))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(self.world.valid_actions().map(str::to_owned).collect())
    }

    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        Ok(Some(match self.world.hint(SearchLimits::INTERACTIVE) {
            Hint::Plan(plan) => match plan.as_slice() {
                [] => "nothing left to do: the goal is reached".to_owned(),
                [only] => format!("{} reaches the goal", only.trim_end()),
                [first, rest @ ..] => {
                    format!("{} then {} more actions reach the goal", first.trim_end(), rest.len())
                }
            },
            Hint::Impossible => "the goal can't be reached from here with the listed actions".to_owned(),
            Hint::GaveUp { states } => {
                format!("the planner gave up after {states} states; there may still be a plan")
            }
        }))
    }

    fn world_summary(&self) -> Value {
        json!({ "state_hash": format!("{:016x}", self.world.state_hash()) })
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let game = Arc::clone(self.world.game());
        Some(Snapshot(Box::new(SnapshotData { game, saved_state: self.world.save_state() })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let data = snapshot.0.downcast_ref::<SnapshotData>();
        let Some(data) = data.filter(|data| Arc::ptr_eq(&data.game, self.world.game())) else {
            return Err(EnvError::Refused {
                what: "this snapshot belongs to another environment".to_owned(),
            });
        };
        self.world.restore_state(&data.saved_state);
        Ok(())
    }
}
