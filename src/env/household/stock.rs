//! The table behind the generated rooms: `stock.toml`, read once.

use crate::env::EnvError;
use crate::env::dice::Dice;
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
    pub(super) receptacles: BTreeMap<String, Supply>,
    pub(super) things: BTreeMap<String, Supply>,
}

/// How many of a kind there are: share of rooms in percent, least, mean in tenths, most.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Supply(pub(super) u32, pub(super) u32, pub(super) u32, pub(super) u32);

/// A kind of furniture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceptacleKind {
    /// How many of 100 have a door or a lid.
    #[serde(default)]
    pub(super) open: u32,
    /// How strongly things gather there.
    pub(super) pull: u32,
    /// Height of its surface, in centimetres.
    pub(super) height: i32,
    /// Scenery that comes with it.
    pub(super) with: Option<String>,
    /// How many things it has room for when the game begins.
    #[serde(default = "plenty")]
    pub(super) room: usize,
}

fn plenty() -> usize {
    20
}

/// A kind of thing. The lists are words separated by blanks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThingKind {
    #[serde(default)]
    can: String,
    #[serde(default, rename = "in")]
    fits: String,
    #[serde(default)]
    home: String,
    #[serde(default)]
    stands: String,
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|own| own == word)
}

impl ThingKind {
    /// Whether an agent can do this with it: `take`, `clean`, `heat`, `cool`, `slice`, `switch`; `hold` when things that are `small` may lie in it.
    pub(super) fn can(&self, verb: &str) -> bool {
        has(&self.can, verb)
    }

    /// Whether an agent may put it into this kind of furniture.
    pub(super) fn fits(&self, receptacle: &str) -> bool {
        has(&self.fits, receptacle)
    }

    /// Whether it may be found there when the game begins.
    pub(super) fn found(&self, receptacle: &str) -> bool {
        self.fits(receptacle) || has(&self.stands, receptacle)
    }

    /// Every kind of furniture named in its lists.
    #[cfg(test)]
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        [&self.fits, &self.home, &self.stands].into_iter().flat_map(|list| list.split_whitespace())
    }

    /// Every ability named.
    #[cfg(test)]
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        self.can.split_whitespace()
    }

    /// Whether it is found there by preference.
    pub(super) fn home(&self, receptacle: &str) -> bool {
        has(&self.home, receptacle)
    }
}

impl Supply {
    /// Draws how many there are in one room: none, or at least the least and at most the most, the mean on average.
    pub(super) fn draw(self, dice: &mut Dice) -> u32 {
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
