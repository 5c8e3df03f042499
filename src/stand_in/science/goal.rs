//! What the actor understands of a goal.

use crate::rooms::thing_name;
use regex::Regex;
use std::sync::LazyLock;

type Pattern = LazyLock<Option<Regex>>;

static FOCUS: Pattern =
    LazyLock::new(|| Regex::new(r"(?i)focus on the ([a-z -]+?)(?: in the [a-z ]+)?[.,;]").ok());
static SUBSTANCE: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)(?:boil|melt|freeze|state of matter of|melting point of|temperature of) ([a-z -]+?)(?:, which|[.,])").ok()
});
static THING: Pattern = LazyLock::new(|| Regex::new(r"(?i)find an?(?:\(n\))? ([a-z -]+?)[.,]").ok());
static TARGET: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)(?:move|place|put) (?:it|them|the [a-z ]+?) (?:to|in|into) the ([a-z]+ box)(?: in the ([a-z ]+?))?[.,]").ok()
});
static ROOM: Pattern =
    LazyLock::new(|| Regex::new(r"(?i)(?:located|found) (?:around|in|at) the ([a-z ]+?)[.,]").ok());

/// Parts of the names of animals and plants in the simulator. Eggs count as animals there.
const ANIMALS: [&str; 33] = [
    "egg",
    "bee",
    "butterfly",
    "moth",
    "ant",
    "fly",
    "dove",
    "jay",
    "bird",
    "parrot",
    "turtle",
    "tortoise",
    "elephant",
    "rabbit",
    "wolf",
    "bear",
    "frog",
    "toad",
    "crocodile",
    "hedgehog",
    "beaver",
    "mouse",
    "rat",
    "chipmunk",
    "chameleon",
    "dragonfly",
    "baby",
    "adult",
    "juvenile",
    "larva",
    "pupa",
    "tadpole",
    "caterpillar",
];
const PLANTS: [&str; 7] = ["tree", "plant", "flower", "seed", "seedling", "sapling", "sprout"];
/// Things of which the actor is sure that they are not alive.
const THINGS: [&str; 12] = [
    "table", "chair", "bed", "cup", "bowl", "painting", "picture", "counter", "axe", "shovel", "drawer",
    "desk",
];

/// What to focus on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// This, by its name.
    Named(String),
    Animal,
    Plant,
    Living,
    NonLiving,
}

/// Where to bring it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) room: Option<String>,
}

/// A goal, as far as it is understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScienceGoal {
    /// Its first sentence, which ends with a full stop, without `Your task is to`.
    pub(super) sentence: String,
    /// What to focus on, in this order.
    pub(super) wanted: Vec<Wanted>,
    pub(super) target: Option<Target>,
    /// The rooms that the goal names as the place of something.
    pub(super) rooms: Vec<String>,
}

impl ScienceGoal {
    /// Parses the goal after a first observation. Never fails: what isn't understood is left out.
    pub(super) fn parse(task_text: &str) -> Self {
        const START: &str = "Your task is to ";
        let goal = task_text.rfind(START).map_or("", |at| &task_text[at + START.len()..]);
        let goal = goal.trim_start_matches(':').trim();
        let sentence = goal.split_inclusive('.').next().unwrap_or_default().trim().to_owned();
        let groups = |pattern: &Pattern, index: usize| -> Vec<String> {
            let found = pattern.as_ref().into_iter().flat_map(|pattern| pattern.captures_iter(goal));
            found.filter_map(|found| Some(found.get(index)?.as_str().trim().to_lowercase())).collect()
        };
        let substance = groups(&SUBSTANCE, 1).into_iter().next();
        let thing = groups(&THING, 1).into_iter().next();
        let mut wanted = Vec::new();
        for name in groups(&FOCUS, 1) {
            let meant = match name.as_str() {
                "thing" | "animal" | "plant" => thing.clone().unwrap_or(name),
                "substance" => substance.clone().unwrap_or(name),
                _ if name.starts_with("animal") || name.contains("life span") => "animal".to_owned(),
                _ => name,
            };
            let meant = Wanted::from_name(meant);
            if !wanted.contains(&meant) {
                wanted.push(meant);
            }
        }
        let target = TARGET.as_ref().and_then(|pattern| pattern.captures(goal)).and_then(|found| {
            let room = found.get(2).map(|room| room.as_str().to_lowercase());
            Some(Target { name: found.get(1)?.as_str().to_lowercase(), room })
        });
        let rooms = groups(&ROOM, 1);
        let target = target.map(|target| Target { room: target.room.or(rooms.last().cloned()), ..target });
        Self { sentence, wanted, target, rooms }
    }
}

impl Wanted {
    fn from_name(name: String) -> Self {
        match name.as_str() {
            "living thing" => Self::Living,
            "non-living thing" => Self::NonLiving,
            "plant" => Self::Plant,
            "animal" => Self::Animal,
            _ => Self::Named(name),
        }
    }

    /// Returns the name of the wanted thing in a line of a description, if it is there.
    pub(super) fn find_in(&self, line: &str) -> Option<String> {
        let name = thing_name(line);
        let has = |parts: &[&str]| name.split(' ').any(|word| parts.contains(&word));
        let is_it = match self {
            // It may be in or on another thing.
            Self::Named(wanted) => return contains_words(line, wanted).then(|| wanted.clone()),
            Self::Animal => has(&ANIMALS),
            Self::Plant => has(&PLANTS),
            Self::Living => has(&ANIMALS) || has(&PLANTS),
            Self::NonLiving => has(&THINGS),
        };
        is_it.then(|| name.to_owned())
    }
}

/// Returns whether a text contains some words as whole words, in any case.
fn contains_words(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(words).any(|(at, found)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + found.len()..].chars().next())
    })
}
