//! The ground truth for the world pane, derived from the facts.

use super::game::Game;
use crate::pddl::{FactId, ObjectId, PredicateId, State};
use serde_json::{Map, Value, json};

/// The data that the ground truth is derived from.
#[derive(Clone, Copy)]
pub(super) struct TruthSource<'w> {
    pub(super) game: &'w Game,
    pub(super) state: &'w State,
    /// The receptacle that the agent last went to.
    pub(super) last_place: Option<&'w str>,
    /// The item that the agent holds.
    pub(super) held_item: Option<&'w str>,
}

/// The predicates that the ground truth is derived from. A game without them has less to show.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    agent_at: Option<PredicateId>,
    receptacle_at: Option<PredicateId>,
    inside: Option<PredicateId>,
    openable: Option<PredicateId>,
    opened: Option<PredicateId>,
    holds: Option<PredicateId>,
}

impl Truth {
    pub(super) fn new(game: &Game) -> Self {
        let find = |name: &str, arity: usize| {
            game.task.predicate(name).filter(|&predicate| game.task.arity(predicate) == arity)
        };
        Self {
            agent_at: find("atlocation", 2),
            receptacle_at: find("receptacleatlocation", 2),
            inside: find("inreceptacle", 2),
            openable: find("openable", 1),
            opened: find("opened", 1),
            holds: find("holds", 2),
        }
    }

    /// Returns everything, as a merge patch against an empty object.
    pub(super) fn full_patch(&self, scene: TruthSource) -> Value {
        let game = scene.game;
        let mut receptacles = Map::new();
        for fact in true_facts(scene, self.receptacle_at) {
            let [receptacle, location] = *game.task.arguments(fact) else { continue };
            let mut one = Map::new();
            one.insert("loc".to_owned(), game.entities.name(location).into());
            if has_fact(scene, self.openable, receptacle) {
                one.insert("open".to_owned(), has_fact(scene, self.opened, receptacle).into());
            }
            one.insert("items".to_owned(), self.items_in(scene, receptacle));
            receptacles.insert(game.entities.name(receptacle).to_owned(), Value::Object(one));
        }
        let mut whole = Map::new();
        for (key, value) in [("place", self.agent_place(scene)), ("holding", holding_value(scene))] {
            if !value.is_null() {
                whole.insert(key.to_owned(), value);
            }
        }
        whole.insert("receptacles".to_owned(), Value::Object(receptacles));
        Value::Object(whole)
    }

    /// Returns a merge patch of what the last command changed, or null if nothing changed.
    pub(super) fn change_patch(&self, scene: TruthSource) -> Value {
        let game = scene.game;
        let mut patch = Map::new();
        let mut receptacles = Map::new();
        for change in scene.state.changes() {
            let predicate = Some(game.task.predicate_of(change.fact));
            let arguments = game.task.arguments(change.fact);
            if predicate == self.agent_at {
                patch.insert("place".to_owned(), self.agent_place(scene));
            } else if predicate == self.holds {
                patch.insert("holding".to_owned(), holding_value(scene));
            } else if predicate == self.opened {
                let one = receptacles.entry(game.entities.name(arguments[0])).or_insert_with(|| json!({}));
                one["open"] = change.is_true.into();
            } else if predicate == self.inside {
                let one = receptacles.entry(game.entities.name(arguments[1])).or_insert_with(|| json!({}));
                one["items"] = self.items_in(scene, arguments[1]);
            }
        }
        if !receptacles.is_empty() {
            patch.insert("receptacles".to_owned(), Value::Object(receptacles));
        }
        if patch.is_empty() { Value::Null } else { Value::Object(patch) }
    }

    /// Returns the receptacle the agent is at: the one it went to, or else the first one at its location; null if there
    /// is none.
    fn agent_place(&self, scene: TruthSource) -> Value {
        let game = scene.game;
        let here = true_facts(scene, self.agent_at).next().map(|fact| game.task.arguments(fact)[1]);
        let mut there = true_facts(scene, self.receptacle_at)
            .map(|fact| game.task.arguments(fact))
            .filter(|arguments| Some(arguments[1]) == here)
            .map(|arguments| game.entities.name(arguments[0]));
        let first = there.next();
        let gone_to = scene.last_place;
        first
            .filter(|&name| Some(name) == gone_to)
            .or_else(|| there.find(|&name| Some(name) == gone_to))
            .or(first)
            .into()
    }

    fn items_in(&self, scene: TruthSource, receptacle: ObjectId) -> Value {
        let game = scene.game;
        let inside = true_facts(scene, self.inside)
            .map(|fact| game.task.arguments(fact))
            .filter(|arguments| arguments[1] == receptacle);
        inside.map(|arguments| Value::from(game.entities.name(arguments[0]))).collect()
    }
}

fn has_fact(scene: TruthSource, predicate: Option<PredicateId>, object: ObjectId) -> bool {
    let fact = predicate.and_then(|predicate| scene.game.task.fact(predicate, &[object]));
    fact.is_some_and(|fact| scene.state.holds(fact))
}

fn holding_value(scene: TruthSource) -> Value {
    scene.held_item.into()
}

fn true_facts(scene: TruthSource<'_>, predicate: Option<PredicateId>) -> impl Iterator<Item = FactId> {
    let facts = predicate.into_iter().flat_map(move |predicate| scene.game.task.facts_of(predicate));
    facts.filter(move |&fact| scene.state.holds(fact))
}
