//! What is known about a household, parsed from the untyped JSON of a session.

use crate::domain::PictureRequest;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// What is known about one place.
pub(super) struct KnownPlace<'a> {
    pub(super) name: &'a str,
    pub(super) is_agent_here: bool,
    /// Whether the agent has looked at it.
    pub(super) is_seen: bool,
    /// `None` if it has no door or lid, or if that isn't known.
    pub(super) is_open: Option<bool>,
    pub(super) items: Vec<&'a str>,
}

/// What is known about the household: by the agent, or from the ground truth.
pub(super) struct KnownWorld<'a> {
    /// The kind of room.
    pub(super) room: Option<&'a str>,
    pub(super) agent_place: Option<&'a str>,
    pub(super) holding: Vec<&'a str>,
    /// In the order in which the room lists them.
    pub(super) places: Vec<KnownPlace<'a>>,
    /// Whether this is the ground truth.
    pub(super) is_truth: bool,
    /// The kinds of things and places that the goal names.
    goal_kinds: HashSet<&'a str>,
}

impl<'a> KnownWorld<'a> {
    /// Parses the agent's view, or the ground truth, if given.
    pub(super) fn parse(request: &PictureRequest<'a>) -> Self {
        let source = request.truth.unwrap_or(request.shown);
        let word = |name: &str| source.get(name).and_then(Value::as_str).filter(|word| !word.is_empty());
        let agent_place = word("place");
        let seen_by_agent = request.shown.get("seen").and_then(Value::as_object);
        // The agent's view has one list of places and another of what was seen in them; the ground truth combines both.
        let contents = if request.truth.is_some() {
            source.get("receptacles").and_then(Value::as_object)
        } else {
            seen_by_agent
        };
        let mut names = string_list(request.shown.get("receptacles"));
        // A place may be known without having been listed.
        let mut others: Vec<&str> = contents.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        others.sort_by_key(|name| natural_key(name));
        names.extend(others);
        let mut known = HashSet::new();
        names.retain(|name| known.insert(*name));
        let place = |name: &'a str| {
            let is_seen = seen_by_agent.and_then(|seen| seen.get(name)).is_some_and(has_content);
            KnownPlace::parse(name, contents.and_then(|all| all.get(name)), agent_place, is_seen)
        };
        let places: Vec<KnownPlace<'a>> = names.into_iter().map(place).collect();
        let room = word("room").or_else(|| guess_room(&places));
        let holding = string_list(source.get("holding"));
        let mut kinds: HashSet<&str> = places.iter().flat_map(KnownPlace::kinds).collect();
        kinds.extend(holding.iter().map(|name| natural_key(name).0));
        let goal_kinds = goal_kinds(request.goal, &kinds);
        Self { room, agent_place, holding, places, is_truth: request.truth.is_some(), goal_kinds }
    }

    /// Returns whether the goal names the kind of this thing or place.
    pub(super) fn is_in_goal(&self, name: &str) -> bool {
        self.goal_kinds.contains(natural_key(name).0)
    }

    /// Returns whether this word of the goal names something known.
    pub(super) fn is_named_in_goal(&self, word: &str) -> bool {
        kind_names(word).any(|kind| self.goal_kinds.contains(kind.as_str()))
    }

    /// Returns the kinds of the places that the agent hasn't looked at and how many there are of each: those that the goal names
    /// first, then the most frequent; none if the ground truth is drawn, which shows all places.
    pub(super) fn unseen_kinds(&self) -> Vec<(&'a str, usize)> {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for place in self.places.iter().filter(|place| !place.is_seen && !self.is_truth) {
            let kind = natural_key(place.name).0;
            let position = *positions.entry(kind).or_insert(kinds.len());
            match kinds.get_mut(position) {
                Some((_, count)) => *count += 1,
                None => kinds.push((kind, 1)),
            }
        }
        kinds.sort_by_key(|(kind, count)| (!self.is_in_goal(kind), std::cmp::Reverse(*count)));
        kinds
    }
}

impl<'a> KnownPlace<'a> {
    fn parse(name: &'a str, value: Option<&'a Value>, agent_place: Option<&str>, is_seen: bool) -> Self {
        Self {
            name,
            is_agent_here: agent_place == Some(name),
            is_seen,
            is_open: value.and_then(|value| value.get("open")).and_then(Value::as_bool),
            items: string_list(value.and_then(|value| value.get("items"))),
        }
    }

    /// Returns its kind and those of the things in it.
    fn kinds(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.name).chain(self.items.iter().copied()).map(|name| natural_key(name).0)
    }
}

/// Returns whether anything was seen of a place: whether it is open, or what is in it.
fn has_content(seen: &Value) -> bool {
    seen.get("items").is_some() || seen.get("open").is_some_and(Value::is_boolean)
}

/// Returns those of the known kinds that the goal names.
fn goal_kinds<'a>(goal: &str, kinds: &HashSet<&'a str>) -> HashSet<&'a str> {
    let words = goal.split_whitespace().flat_map(kind_names);
    words.filter_map(|word| kinds.get(word.as_str()).copied()).collect()
}

/// Returns the kinds that a word of a goal may name: the word itself, and the singular of a plural.
fn kind_names(word: &str) -> impl Iterator<Item = String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let singular = word.strip_suffix('s').map(str::to_owned);
    std::iter::once(word).chain(singular).filter(|name| !name.is_empty())
}

/// Returns the kind of room, guessed from its furniture.
fn guess_room(places: &[KnownPlace<'_>]) -> Option<&'static str> {
    const ROOM_SIGNS: [(&str, &str); 8] = [
        ("fridge", "kitchen"),
        ("stoveburner", "kitchen"),
        ("toilet", "bathroom"),
        ("bathtubbasin", "bathroom"),
        ("bed", "bedroom"),
        ("sofa", "living room"),
        ("armchair", "living room"),
        ("sinkbasin", "bathroom"),
    ];
    let stands = |sign: &str| places.iter().any(|place| natural_key(place.name).0 == sign);
    ROOM_SIGNS.iter().find(|(sign, _)| stands(sign)).map(|(_, room)| *room)
}

/// Returns the names in a value; none if it has another type.
fn string_list(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) if !one.is_empty() => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns a name's kind and number, which sort `drawer 2` before `drawer 10`.
fn natural_key(name: &str) -> (&str, u64) {
    let numbered = name.rsplit_once(' ').and_then(|(kind, number)| Some((kind, number.parse().ok()?)));
    numbered.unwrap_or((name, 0))
}
