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
    pub(super) fn full_patch(&self, source: TruthSource) -> Value {
        let game = source.game;
        let mut receptacles = Map::new();
        for fact in true_facts(source, self.receptacle_at) {
            let [receptacle, location] = *game.task.arguments(fact) else { continue };
            let mut entry = Map::new();
            entry.insert("loc".to_owned(), game.entities.name(location).into());
            if has_fact(source, self.openable, receptacle) {
                entry.insert("open".to_owned(), has_fact(source, self.opened, receptacle).into());
            }
            entry.insert("items".to_owned(), self.items_in(source, receptacle));
            receptacles.insert(game.entities.name(receptacle).to_owned(), Value::Object(entry));
        }
        let mut patch = Map::new();
        for (key, value) in [("place", self.agent_place(source)), ("holding", holding_value(source))] {
            if !value.is_null() {
                patch.insert(key.to_owned(), value);
            }
        }
        patch.insert("receptacles".to_owned(), Value::Object(receptacles));
        Value::Object(patch)
    }

    /// Returns a merge patch of what the last command changed, or null if nothing changed.
    pub(super) fn change_patch(&self, source: TruthSource) -> Value {
        let game = source.game;
        let mut patch = Map::new();
        let mut receptacles = Map::new();
        for change in source.state.changes() {
            let predicate = Some(game.task.predicate_of(change.fact));
            let arguments = game.task.arguments(change.fact);
            if predicate == self.agent_at {
                patch.insert("place".to_owned(), self.agent_place(source));
            } else if predicate == self.holds {
                patch.insert("holding".to_owned(), holding_value(source));
            } else if predicate == self.opened {
                let entry = receptacles.entry(game.entities.name(arguments[0])).or_insert_with(|| json!({}));
                entry["open"] = change.is_true.into();
            } else if predicate == self.inside {
                let entry = receptacles.entry(game.entities.name(arguments[1])).or_insert_with(|| json!({}));
                entry["items"] = self.items_in(source, arguments[1]);
            }
        }
        if !receptacles.is_empty() {
            patch.insert("receptacles".to_owned(), Value::Object(receptacles));
        }
        if patch.is_empty() { Value::Null } else { Value::Object(patch) }
    }

    /// Returns the receptacle the agent is at: the one it went to, or else the first one at its location; null if there
    /// is none.
    fn agent_place(&self, source: TruthSource) -> Value {
        let game = source.game;
        let agent_location =
            true_facts(source, self.agent_at).next().map(|fact| game.task.arguments(fact)[1]);
        let mut places_here = true_facts(source, self.receptacle_at)
            .map(|fact| game.task.arguments(fact))
            .filter(|arguments| Some(arguments[1]) == agent_location)
            .map(|arguments| game.entities.name(arguments[0]));
        let first = places_here.next();
        let last_place = source.last_place;
        first
            .filter(|&name| Some(name) == last_place)
            .or_else(|| places_here.find(|&name| Some(name) == last_place))
            .or(first)
            .into()
    }

    fn items_in(&self, source: TruthSource, receptacle: ObjectId) -> Value {
        let game = source.game;
        let inside = true_facts(source, self.inside)
            .map(|fact| game.task.arguments(fact))
            .filter(|arguments| arguments[1] == receptacle);
        inside.map(|arguments| Value::from(game.entities.name(arguments[0]))).collect()
    }
}

fn has_fact(source: TruthSource, predicate: Option<PredicateId>, object: ObjectId) -> bool {
    let fact = predicate.and_then(|predicate| source.game.task.fact(predicate, &[object]));
    fact.is_some_and(|fact| source.state.holds(fact))
}

fn holding_value(source: TruthSource) -> Value {
    source.held_item.into()
}

fn true_facts(source: TruthSource<'_>, predicate: Option<PredicateId>) -> impl Iterator<Item = FactId> {
    let facts = predicate.into_iter().flat_map(move |predicate| source.game.task.facts_of(predicate));
    facts.filter(move |&fact| source.state.holds(fact))
}
