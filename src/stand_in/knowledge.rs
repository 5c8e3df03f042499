//! The actor's fixed knowledge: common sense about homes, and the mistakes it makes. All of it comes from data files;
//! nothing here depends on a prompt.

use super::vocabulary::Treatment;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// The text of the mistakes file.
pub(super) const MISTAKES_TOML: &str = include_str!("mistakes.toml");
const PLACES_TOML: &str = include_str!("places.toml");

/// A beginner's bad habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Habit {
    HeatsElsewhere,
    CoolsElsewhere,
    CleansElsewhere,
    PassesClosedDoors,
    ReachesThroughDoors,
    GrabsWithFullHands,
    OmitsNumbers,
    ActsFromAfar,
    TakesLookAlikes,
    TakesOtherThings,
    ForgetsTreatment,
    #[serde(rename = "leaves_it_there")]
    LeavesAtAppliance,
    TreatsUnheld,
    #[serde(rename = "lights_it_wrongly")]
    MisusesLamp,
    RepeatsFailures,
    GoesBack,
    NoPlan,
}

/// How often a habit shows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct HabitRate {
    /// Share of tasks in which the actor has the habit.
    pub(super) rate: f64,
    /// Probability that it shows when there is an occasion.
    #[serde(rename = "each")]
    pub(super) chance: f64,
    /// Minimum and maximum number of times it shows before it is given up.
    pub(super) patience: [u32; 2],
    /// The same probability if the prompt contains a lesson against it.
    #[serde(rename = "heeded")]
    pub(super) chance_if_taught: f64,
}

#[derive(Debug, Deserialize)]
struct WrongPlaces {
    heat: Vec<String>,
    cool: Vec<String>,
    clean: Vec<String>,
    tries_at_one_place: u32,
}

#[derive(Debug, Deserialize)]
struct MistakesFile {
    habits: BTreeMap<Habit, HabitRate>,
    #[serde(rename = "instead")]
    wrong_places: WrongPlaces,
}

#[derive(Debug, Deserialize)]
struct PlacesFile {
    things: HashMap<String, HashMap<String, f64>>,
    places: PlaceKinds,
    look_alikes: HashMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct PlaceKinds {
    kinds: Vec<String>,
}

/// All data, parsed once.
#[derive(Debug)]
pub(super) struct Knowledge {
    places: PlacesFile,
    mistakes: MistakesFile,
}

static KNOWLEDGE: LazyLock<Knowledge> =
    LazyLock::new(|| match Knowledge::parse(PLACES_TOML, MISTAKES_TOML) {
        Ok(knowledge) => knowledge,
        // Both files are part of the program, and a test parses them.
        Err(error) => unreachable!("a data file of the built-in actor does not parse: {error}"),
    });

/// Returns the built-in data.
pub(super) fn knowledge() -> &'static Knowledge {
    &KNOWLEDGE
}

#[cfg(test)]
impl Habit {
    /// All habits.
    pub(super) const ALL: [Self; 17] = [
        Self::HeatsElsewhere,
        Self::CoolsElsewhere,
        Self::CleansElsewhere,
        Self::PassesClosedDoors,
        Self::ReachesThroughDoors,
        Self::GrabsWithFullHands,
        Self::OmitsNumbers,
        Self::ActsFromAfar,
        Self::TakesLookAlikes,
        Self::TakesOtherThings,
        Self::ForgetsTreatment,
        Self::LeavesAtAppliance,
        Self::TreatsUnheld,
        Self::MisusesLamp,
        Self::RepeatsFailures,
        Self::GoesBack,
        Self::NoPlan,
    ];
}

impl Knowledge {
    fn parse(places: &str, mistakes: &str) -> Result<Self, toml::de::Error> {
        Ok(Self { places: toml::from_str(places)?, mistakes: toml::from_str(mistakes)? })
    }

    /// Returns how often a habit shows; a habit missing from the file never does.
    pub(super) fn habit_rate(&self, habit: Habit) -> HabitRate {
        let never = HabitRate { rate: 0.0, chance: 0.0, patience: [0, 0], chance_if_taught: 0.0 };
        self.mistakes.habits.get(&habit).copied().unwrap_or(never)
    }

    /// Returns the wrong places where a beginner tries a treatment, and the number of attempts at each.
    pub(super) fn wrong_places(&self, treatment: Treatment) -> (&[String], u32) {
        let wrong_places = &self.mistakes.wrong_places;
        let kinds = match treatment {
            Treatment::Heat => &wrong_places.heat,
            Treatment::Cool => &wrong_places.cool,
            Treatment::Clean => &wrong_places.clean,
        };
        (kinds, wrong_places.tries_at_one_place.max(1))
    }

    /// Returns how likely a kind of thing is at a kind of place. Things and places without an entry are unlikely.
    pub(super) fn likelihood(&self, thing: &str, place: &str) -> f64 {
        self.places.things.get(thing).and_then(|places| places.get(place)).copied().unwrap_or(0.5)
    }

    /// Returns whether a beginner takes one kind for the other.
    pub(super) fn is_look_alike(&self, wanted: &str, seen: &str) -> bool {
        self.places.look_alikes.get(wanted).is_some_and(|kinds| kinds.iter().any(|k| k == seen))
    }

    /// Returns the kind of thing that one or two words name, in singular or plural.
    pub(super) fn thing_kind(&self, words: &[&str]) -> Option<&str> {
        find_kind(words, |word| self.places.things.get_key_value(word).map(|(kind, _)| kind.as_str()))
    }

    /// Returns the kind of place that one or two words name, in singular or plural.
    pub(super) fn place_kind(&self, words: &[&str]) -> Option<&str> {
        find_kind(words, |word| {
            self.places.places.kinds.iter().find(|kind| *kind == word).map(String::as_str)
        })
    }
}

/// Looks up a word and its likely singulars; two words may name one kind (`side table`).
fn find_kind<'k>(words: &[&str], find: impl Fn(&str) -> Option<&'k str>) -> Option<&'k str> {
    let joined = match words {
        [word] => std::borrow::Cow::Borrowed(*word),
        [first, second] => std::borrow::Cow::Owned(format!("{first}{second}")),
        _ => return None,
    };
    let word: &str = match &*joined {
        "sink" => "sinkbasin",
        "refrigerator" => "fridge",
        "bathtub" => "bathtubbasin",
        other => other,
    };
    find(word)
        .or_else(|| find(word.strip_suffix('s')?))
        .or_else(|| find(word.strip_suffix("es")?))
        .or_else(|| find(&format!("{}f", word.strip_suffix("ves")?)))
        .or_else(|| find(&format!("{}fe", word.strip_suffix("ves")?)))
}
