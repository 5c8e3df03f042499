//! The table behind the generated rooms: `stock.toml`, read once.

use crate::env::EnvError;
use crate::env::labelled_rng::LabelledRng;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Everything the generator knows about rooms, furniture and things. Maps are sorted, so that walking them is the
/// same everywhere.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stock {
    pub(super) rooms: BTreeMap<String, RoomStock>,
    pub(super) receptacles: BTreeMap<String, ReceptacleKind>,
    pub(super) things: BTreeMap<String, ThingKind>,
}

/// What one sort of room holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoomStock {
    /// First and last scene number.
    pub(super) scenes: (i32, i32),
    pub(super) receptacles: BTreeMap<String, Quantity>,
    pub(super) things: BTreeMap<String, Quantity>,
}

/// How many of a kind there are: share of rooms in percent, least, mean in tenths, most.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Quantity(pub(super) u32, pub(super) u32, pub(super) u32, pub(super) u32);

/// A kind of furniture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceptacleKind {
    /// How many of 100 have a door or a lid.
    #[serde(default)]
    #[serde(rename = "open")]
    pub(super) openable_percent: u32,
    /// How strongly things gather there.
    #[serde(rename = "pull")]
    pub(super) weight: u32,
    /// Height of its surface, in centimetres.
    pub(super) height: i32,
    /// Scenery that comes with it.
    #[serde(rename = "with")]
    pub(super) scenery: Option<String>,
    /// How many things it has room for when the game begins.
    #[serde(default = "default_capacity")]
    #[serde(rename = "room")]
    pub(super) capacity: usize,
}

fn default_capacity() -> usize {
    20
}

/// A kind of thing. The lists are words separated by blanks.
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
    list.split(' ').any(|own| own == word)
}

impl ThingKind {
    /// Whether an agent can do this with it: `take`, `clean`, `heat`, `cool`, `slice`, `switch`; `hold` when things that are `small` may lie in it.
    pub(super) fn allows(&self, verb: &str) -> bool {
        contains_word(&self.abilities, verb)
    }

    /// Whether an agent may put it into this kind of furniture.
    pub(super) fn can_be_put_in(&self, receptacle: &str) -> bool {
        contains_word(&self.receptacles, receptacle)
    }

    /// Whether it may be found there when the game begins.
    pub(super) fn can_start_in(&self, receptacle: &str) -> bool {
        self.can_be_put_in(receptacle) || contains_word(&self.initial_only, receptacle)
    }

    /// Every kind of furniture named in its lists.
    #[cfg(test)]
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        [&self.receptacles, &self.preferred, &self.initial_only]
            .into_iter()
            .flat_map(|list| list.split_whitespace())
    }

    /// Every ability named.
    #[cfg(test)]
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        self.abilities.split_whitespace()
    }

    /// Whether it is found there by preference.
    pub(super) fn prefers(&self, receptacle: &str) -> bool {
        contains_word(&self.preferred, receptacle)
    }
}

impl Quantity {
    /// Draws how many there are in one room: none, or at least the least and at most the most, the mean on average.
    pub(super) fn draw(self, dice: &mut LabelledRng) -> u32 {
        let Self(share, least, mean, most) = self;
        if !dice.chance(share * 10) {
            return 0;
        }
        let spread = most.saturating_sub(least);
        least
            + dice.successes(spread, (100 * mean.saturating_sub(10 * least)).checked_div(spread).unwrap_or(0))
    }
}

impl Stock {
    /// The embedded table.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] when `stock.toml` does not parse, which a test rules out.
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
