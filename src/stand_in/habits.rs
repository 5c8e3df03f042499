//! The beginner's mistakes in grid worlds and planning problems (`worlds.toml`), and the sentences that end or teach them.

use super::forms::Phrase;
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use crate::env::pddl::Domain;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The text of the data file.
pub(super) const WORLDS_TOML: &str = include_str!("worlds.toml");

/// How often a habit shows, and what ends it.
#[derive(Debug, Deserialize)]
pub(super) struct HabitRule {
    /// Share of tasks in which the actor has the habit.
    pub(super) rate: f64,
    /// Probability that it shows when there is an occasion.
    #[serde(rename = "each")]
    pub(super) chance: f64,
    /// Minimum and maximum of the count after which it ends: times shown in grid worlds, actions in planning problems.
    pub(super) patience: [u32; 2],
    /// Sentences that end it.
    pub(super) lessons: Vec<Phrase>,
}

/// A habit in planning problems: a wrong action instead of the right one.
#[derive(Debug, Deserialize)]
pub(super) struct PlanningHabit {
    domain: String,
    /// The right action.
    #[serde(rename = "instead_of")]
    pub(super) right_action: String,
    /// The action taken instead.
    #[serde(rename = "takes")]
    pub(super) wrong_action: String,
    #[serde(flatten)]
    pub(super) habit: HabitRule,
    /// Sentences that teach it: bad advice, which this beginner takes literally.
    #[serde(default)]
    pub(super) taught_by: Vec<Phrase>,
}

#[derive(Debug, Deserialize)]
struct HabitsFile {
    grid: BTreeMap<String, HabitRule>,
    planning: Vec<PlanningHabit>,
}

static HABITS: LazyLock<HabitsFile> = LazyLock::new(|| match toml::from_str(WORLDS_TOML) {
    Ok(file) => file,
    // The file is part of the program, and a test parses it.
    Err(error) => unreachable!("a data file of the built-in actor does not parse: {error}"),
});

/// The habits in grid worlds, by name.
pub(super) static GRID_HABITS: LazyLock<&'static BTreeMap<String, HabitRule>> =
    LazyLock::new(|| &HABITS.grid);

/// Returns the habits in planning problems.
pub(super) fn planning_habits() -> impl Iterator<Item = &'static PlanningHabit> {
    HABITS.planning.iter()
}

/// Returns whether a habit in grid worlds shows now. `times_shown` is how often it has shown before.
pub(super) fn shows_grid_habit(
    name: &str,
    times_shown: usize,
    prompt: &Prompt,
    random: &SeededRandom,
) -> bool {
    GRID_HABITS.get(name).is_some_and(|habit| habit.is_shown(name, times_shown, prompt, random))
}

/// Returns the action that a habit takes instead of the action with this name, if one shows now. `actions` is the
/// number of actions taken so far.
pub(super) fn habitual_wrong_action(
    domain: Domain,
    instead_of: &str,
    actions: usize,
    prompt: &Prompt,
    random: &SeededRandom,
) -> Option<&'static str> {
    let candidates = planning_habits().filter(|h| h.domain == domain.word() && h.right_action == instead_of);
    let mut shown = candidates.filter(|h| h.is_shown(actions, prompt, random));
    shown.next().map(|h| h.wrong_action.as_str())
}

impl PlanningHabit {
    /// Returns whether the habit shows now: by itself, or each time if a sentence teaches it and none ends it.
    fn is_shown(&self, actions: usize, prompt: &Prompt, random: &SeededRandom) -> bool {
        self.habit.is_shown(&self.wrong_action, actions, prompt, random)
            || Phrase::is_in_prompt(&self.taught_by, prompt)
                && !Phrase::is_in_prompt(&self.habit.lessons, prompt)
    }
}

impl HabitRule {
    /// Returns whether the habit shows now. `times_shown` is what its patience counts.
    pub(super) fn is_shown(
        &self,
        name: &str,
        times_shown: usize,
        prompt: &Prompt,
        random: &SeededRandom,
    ) -> bool {
        let [min, max] = self.patience;
        let span = max.saturating_sub(min) + 1;
        let patience = min + (random.draw_for_task(name, 2) * f64::from(span)) as u32;
        times_shown < patience as usize
            && random.draw_for_task(name, 1) < self.rate
            && random.draw_for_call(name) < self.chance
            && !Phrase::is_in_prompt(&self.lessons, prompt)
    }
}
