//! The papers' names and AgentBoard's ratings of ALFWorld's task types.

use crate::domain::Task;
use serde_json::Value;

/// The short names of the types, as ReAct's and Reflexion's code map them.
const SHORT_NAMES: [(&str, &str); 6] = [
    ("pick_and_place", "put"),
    ("pick_clean_then_place", "clean"),
    ("pick_heat_then_place", "heat"),
    ("pick_cool_then_place", "cool"),
    ("look_at_obj", "examine"),
    ("pick_two_obj", "puttwo"),
];

/// Returns the papers' short name of a task type, or the type itself if it has none.
pub fn short_type(task_type: &str) -> &str {
    SHORT_NAMES.iter().find(|(prefix, _)| task_type.starts_with(prefix)).map_or(task_type, |(_, short)| short)
}

/// Returns AgentBoard's rating of a task's type: only `put` is easy. `None` if the type is unknown.
pub fn rated_difficulty(task: &Task) -> Option<&str> {
    let short = short_type(task.task_type.as_deref()?);
    let known = SHORT_NAMES.iter().any(|(_, name)| *name == short);
    known.then_some(if short == "put" { "easy" } else { "hard" })
}

/// Returns the number of AgentBoard's patterns for a task's type, including the goal itself. `None` if the type is unknown.
pub fn subgoals(task: &Task, _: &Value) -> Option<u64> {
    let short = short_type(task.task_type.as_deref()?);
    let known = SHORT_NAMES.iter().any(|(_, name)| *name == short);
    known.then_some(if short == "put" { 3 } else { 4 })
}

/// The games of `valid_unseen` of each type, with which the papers' figures were measured (Reflexion's logs print them).
const PUBLISHED: [(&str, usize); 6] =
    [("put", 24), ("clean", 31), ("heat", 23), ("cool", 21), ("examine", 18), ("puttwo", 17)];

/// Returns the types of the published games: as many of each as the split has. A game's own name differs between copies of the
/// data.
pub fn published_keys() -> Vec<String> {
    PUBLISHED.iter().flat_map(|(name, count)| std::iter::repeat_n((*name).to_owned(), *count)).collect()
}

/// Returns the key of a game; `None` if it isn't in the folder of the split.
pub fn published_key(task: &Task) -> Option<String> {
    let is_in_split = task.id.split(['/', '\\']).any(|part| part == "valid_unseen");
    let task_type = task.task_type.as_deref().filter(|_| is_in_split)?;
    Some(short_type(task_type).to_owned())
}
