//! What the agent may know, derived only from the texts it received and the commands it issued, so that no hidden state
//! leaks.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the agent has been shown so far. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentView {
    known: Arc<AgentKnowledge>,
}

#[derive(Clone, Debug, Default)]
struct AgentKnowledge {
    place: Option<String>,
    holding: Option<String>,
    seen: BTreeMap<String, KnownReceptacle>,
}

/// The knowledge about one receptacle.
#[derive(Clone, Debug, Default)]
struct KnownReceptacle {
    open: Option<bool>,
    items: Option<Vec<String>>,
}

impl AgentView {
    /// Returns the receptacle that the agent last went to.
    pub(super) fn last_place(&self) -> Option<&str> {
        self.known.place.as_deref()
    }

    /// Starts over from the introductory text. Returns a merge patch against an empty object.
    pub(super) fn reset(&mut self, intro: &str) -> Value {
        self.known = Arc::default();
        let mut patch = self.observe("", intro);
        let around = intro.lines().find_map(|line| line.split_once("around you, you see "));
        let receptacles =
            around.map(|(_, list)| parse_items(list.strip_suffix('.').unwrap_or(list))).unwrap_or_default();
        if patch.is_null() {
            patch = Value::Object(Map::new());
        }
        patch["receptacles"] = receptacles.into();
        patch
    }

    /// Processes the reply to an accepted command. Returns a merge patch of the changes, or null if nothing changed.
    pub(super) fn observe(&mut self, command: &str, answer: &str) -> Value {
        let mut change = Change { known: Arc::make_mut(&mut self.known), patch: Map::new() };
        if let Some(place) = command.strip_prefix("go to ") {
            change.set_place(place);
        }
        for line in answer.lines() {
            let mut open: Option<&str> = None;
            for sentence in line.strip_suffix('.').unwrap_or(line).split(". ") {
                open = change.apply_sentence(sentence, open);
            }
        }
        if change.patch.is_empty() { Value::Null } else { Value::Object(change.patch) }
    }
}

/// The knowledge being updated, and the merge patch so far.
struct Change<'k> {
    known: &'k mut AgentKnowledge,
    patch: Map<String, Value>,
}

impl Change<'_> {
    /// Processes one sentence, without its full stop. `open` is the receptacle that the previous sentence described as
    /// open. Returns the receptacle that this sentence describes as open.
    fn apply_sentence<'t>(&mut self, sentence: &'t str, open: Option<&'t str>) -> Option<&'t str> {
        let between = |from: &str, to: &str| {
            let (left, right) = sentence.strip_prefix(from)?.split_once(to)?;
            Some((left, right))
        };
        if let Some((receptacle, list)) = between("On the ", ", you see ") {
            self.set_items(receptacle, parse_items(list));
        } else if let (Some(receptacle), Some(list)) = (open, sentence.strip_prefix("In it, you see ")) {
            self.set_items(receptacle, parse_items(list));
        } else if let Some((receptacle, "")) = between("The ", " is open") {
            self.set_open(receptacle, true);
            return Some(receptacle);
        } else if let Some((receptacle, "")) = between("The ", " is closed") {
            self.set_open(receptacle, false);
        } else if let Some(receptacle) = sentence.strip_prefix("You open the ") {
            self.set_open(receptacle, true);
        } else if let Some(receptacle) = sentence.strip_prefix("You close the ") {
            self.set_open(receptacle, false);
        } else if let Some((item, receptacle)) = between("You pick up the ", " from the ") {
            self.set_holding(Some(item));
            self.move_item(item, receptacle, false);
        } else if let Some((item, receptacle)) =
            between("You put the ", " in/on the ").or_else(|| between("You move the ", " to the "))
        {
            self.set_holding(None);
            self.move_item(item, receptacle, true);
        } else if let Some(list) = sentence.strip_prefix("You are carrying: ") {
            self.set_holding(parse_items(list).first().map(String::as_str));
        } else if sentence == "You are not carrying anything" {
            self.set_holding(None);
        } else if let Some(list) = sentence.strip_prefix("You are facing the ") {
            let names = parse_items(list);
            let is_current_place = names.iter().any(|name| Some(name) == self.known.place.as_ref());
            if let Some(first) = names.first().filter(|_| !is_current_place) {
                self.set_place(first);
            }
        }
        None
    }

    fn set_place(&mut self, place: &str) {
        if self.known.place.as_deref() != Some(place) {
            self.known.place = Some(place.to_owned());
            self.patch.insert("place".to_owned(), place.into());
        }
    }

    fn set_holding(&mut self, item: Option<&str>) {
        if self.known.holding.as_deref() != item {
            self.known.holding = item.map(ToOwned::to_owned);
            self.patch.insert("holding".to_owned(), item.into());
        }
    }

    fn set_open(&mut self, receptacle: &str, open: bool) {
        let seen = self.known.seen.entry(receptacle.to_owned()).or_default();
        if seen.open != Some(open) {
            seen.open = Some(open);
            self.patch_receptacle(receptacle, "open", open.into());
        }
    }

    fn set_items(&mut self, receptacle: &str, items: Vec<String>) {
        let seen = self.known.seen.entry(receptacle.to_owned()).or_default();
        if seen.items.as_ref() != Some(&items) {
            let value = json!(items);
            seen.items = Some(items);
            self.patch_receptacle(receptacle, "items", value);
        }
    }

    /// Records that an item was moved into or out of a receptacle.
    fn move_item(&mut self, item: &str, receptacle: &str, is_added: bool) {
        let old_items = self.known.seen.get(receptacle).and_then(|seen| seen.items.clone());
        let mut items = old_items.unwrap_or_default();
        items.retain(|other| other != item);
        if is_added {
            items.push(item.to_owned());
        }
        self.set_items(receptacle, items);
    }

    fn patch_receptacle(&mut self, receptacle: &str, key: &str, value: Value) {
        let seen = self.patch.entry("seen").or_insert_with(|| Value::Object(Map::new()));
        seen[receptacle][key] = value;
    }
}

/// Parses an item list in the game's wording: "a mug 1, and a pen 2", "nothing".
fn parse_items(list: &str) -> Vec<String> {
    if list == "nothing" {
        return Vec::new();
    }
    let name = |item: &str| {
        let item = item.strip_prefix("and ").unwrap_or(item);
        item.strip_prefix("a ").unwrap_or(item).to_owned()
    };
    list.split(", ").map(name).collect()
}
