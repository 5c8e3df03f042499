//! The mistakes of the beginner in grid worlds and planning problems, as committed data, and the sentences that end them.

use super::dice::Dice;
use super::forms::Phrase;
use crate::domain::Prompt;
use crate::env::pddl::Domain;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The text of the file, as committed.
pub(super) const WORLDS: &str = include_str!("worlds.toml");

/// How a habit shows, and what ends it.
#[derive(Debug, Deserialize)]
pub(super) struct Habit {
    /// Share of tasks that have it.
    pub(super) rate: f64,
    /// How often it shows at an occasion.
    pub(super) each: f64,
    /// Least and most of what is counted before it is given up.
    pub(super) patience: [u32; 2],
    /// Sentences that end it.
    pub(super) lessons: Vec<Phrase>,
}

/// A habit in planning problems: another action in place of the right one.
#[derive(Debug, Deserialize)]
pub(super) struct PlanningHabit {
    domain: String,
    /// The action that would be right.
    pub(super) instead_of: String,
    /// What is taken in its place.
    pub(super) takes: String,
    #[serde(flatten)]
    pub(super) habit: Habit,
}

#[derive(Debug, Deserialize)]
struct File {
    grid: BTreeMap<String, Habit>,
    planning: Vec<PlanningHabit>,
}

static FILE: LazyLock<File> = LazyLock::new(|| match toml::from_str(WORLDS) {
    Ok(file) => file,
    // The file is part of the program, and a test parses it.
    Err(error) => unreachable!("a data file of the built-in actor does not parse: {error}"),
});

/// The habits of grid worlds, by name.
pub(super) static GRID: LazyLock<&'static BTreeMap<String, Habit>> = LazyLock::new(|| &FILE.grid);

/// The habits in planning problems.
pub(super) fn planning() -> impl Iterator<Item = &'static PlanningHabit> {
    FILE.planning.iter()
}

/// Whether a habit of grid worlds shows now; `used` is how often it showed before.
pub(super) fn shows_in_grid(name: &str, used: usize, prompt: &Prompt, dice: &Dice) -> bool {
    GRID.get(name).is_some_and(|habit| habit.shows(name, used, prompt, dice))
}

/// The habit that shows in place of an action of this name; `actions` were taken before.
pub(super) fn shows_in_plan(
    domain: Domain,
    instead_of: &str,
    actions: usize,
    prompt: &Prompt,
    dice: &Dice,
) -> Option<&'static str> {
    let meant = planning().filter(|h| h.domain == domain.word() && h.instead_of == instead_of);
    let mut shown = meant.filter(|h| h.habit.shows(&h.takes, actions, prompt, dice));
    shown.next().map(|h| h.takes.as_str())
}

impl Habit {
    fn shows(&self, name: &str, used: usize, prompt: &Prompt, dice: &Dice) -> bool {
        let [least, most] = self.patience;
        let span = most.saturating_sub(least) + 1;
        let patience = least + (dice.always(name, 2) * f64::from(span)) as u32;
        used < patience as usize
            && dice.always(name, 1) < self.rate
            && dice.now(name) < self.each
            && !Phrase::said(&self.lessons, prompt)
    }
}
