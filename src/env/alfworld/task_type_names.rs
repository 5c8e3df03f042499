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
