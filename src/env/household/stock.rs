//! The table that rooms are generated from: `stock.toml`, parsed once.

use crate::env::EnvError;
use crate::env::labelled_rng::LabelledRng;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// All data about rooms, furniture and objects. The maps are sorted, so that iteration order is the same everywhere.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stock {
    pub(super) rooms: BTreeMap<String, RoomStock>,
    pub(super) receptacles: BTreeMap<String, ReceptacleKind>,
    pub(super) things: BTreeMap<String, ThingKind>,
}

/// The furniture of one type of room.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoomStock {
    /// First and last scene number.
    pub(super) scenes: (i32, i32),
    pub(super) receptacles: BTreeMap<String, Quantity>,
    pub(super) things: BTreeMap<String, Quantity>,
}

/// The number of pieces of a kind: percentage of rooms that have any, minimum, mean in tenths, maximum.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Quantity(pub(super) u32, pub(super) u32, pub(super) u32, pub(super) u32);

/// A kind of furniture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceptacleKind {
    /// Percentage that has a door or a lid.
    #[serde(default)]
    #[serde(rename = "open")]
    pub(super) openable_percent: u32,
    /// Relative weight when objects are placed: how many objects an average piece gets, times ten.
    #[serde(rename = "pull")]
    pub(super) weight: u32,
    /// Height of its surface, in centimetres.
    pub(super) height: i32,
    /// An immovable object that comes with it, such as a basin's sink; the agent can't use it.
    #[serde(rename = "with")]
    pub(super) scenery: Option<String>,
    /// Maximum number of objects in it when the game starts.
    #[serde(default = "default_capacity")]
    #[serde(rename = "room")]
    pub(super) capacity: usize,
}

fn default_capacity() -> usize {
    20
}

/// A kind of object. The lists are words separated by spaces.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThingKind {
    #[serde(default)]
    #[serde(rename = "can")]
    abilities: String,
    #[serde(default, rename = "in")]
    receptacles: String,
    #[serde(default)]
    #[serde(rename = "home")]
    preferred: String,
    #[serde(default)]
    #[serde(rename = "stands")]
    initial_only: String,
}

fn contains_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|entry| entry == word)
}

impl ThingKind {
    /// Returns whether the object has this ability: an action (`take`, `clean`, `heat`, `cool`, `slice`, `switch`),
    /// `small`, or `hold` (small objects can be put in it).
    pub(super) fn allows(&self, verb: &str) -> bool {
        contains_word(&self.abilities, verb)
    }

    /// Returns whether an agent may put it into this kind of furniture.
    pub(super) fn can_be_put_in(&self, receptacle: &str) -> bool {
        contains_word(&self.receptacles, receptacle)
    }

    /// Returns whether it may be there when the game starts.
    pub(super) fn can_start_in(&self, receptacle: &str) -> bool {
        self.can_be_put_in(receptacle) || contains_word(&self.initial_only, receptacle)
    }

    /// Iterates over every kind of furniture named in its lists.
    #[cfg(test)]
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        [&self.receptacles, &self.preferred, &self.initial_only]
            .into_iter()
            .flat_map(|list| list.split_whitespace())
    }

    /// Iterates over its abilities.
    #[cfg(test)]
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        self.abilities.split_whitespace()
    }

    /// Returns whether this is one of its preferred places.
    pub(super) fn prefers(&self, receptacle: &str) -> bool {
        contains_word(&self.preferred, receptacle)
    }
}

impl Quantity {
    /// Draws the number of pieces in one room: zero, or between minimum and maximum with the given mean.
    pub(super) fn draw(self, rng: &mut LabelledRng) -> u32 {
        let Self(share, min, mean, max) = self;
        if !rng.chance_permille(share * 10) {
            return 0;
        }
        let spread = max.saturating_sub(min);
        min + rng.successes(spread, (100 * mean.saturating_sub(10 * min)).checked_div(spread).unwrap_or(0))
    }
}

impl Stock {
    /// Returns the embedded table.
    ///
    /// # Errors
    /// [`EnvError::Broken`] if `stock.toml` does not parse, which a test rules out.
    pub(super) fn embedded() -> Result<&'static Self, EnvError> {
        static STOCK: OnceLock<Result<Stock, EnvError>> = OnceLock::new();
        STOCK
            .get_or_init(|| {
                toml::from_str(include_str!("stock.toml")).map_err(|error| EnvError::Broken {
                    file: "stock.toml".to_owned(),
                    place: "built-in household".to_owned(),
                    reason: error.to_string(),
                })
            })
            .as_ref()
            .map_err(Clone::clone)
    }
}
