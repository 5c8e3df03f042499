//! AgentBoard's 60 test problems, about which figures are published: recognised by their goals.

use super::{Domain, TaskId};
use crate::domain::{Task, hex};
use sha2::{Digest as _, Sha256};

/// A line per problem: its domain and the first 16 digits of the SHA-256 of its goal's words. Some problems have equal goals.
const KEYS: &str = include_str!("test_split.txt");

/// Returns a key for each published problem; problems with equal goals have equal keys.
pub fn published_keys() -> Vec<String> {
    KEYS.lines().map(str::to_owned).collect()
}

/// Returns the key of a task, whose goal must be known. `None` if it is a problem of our own generator, which may have the
/// goal of a published one.
pub fn published_key(task: &Task) -> Option<String> {
    if task.id.parse::<TaskId>().is_ok() {
        return None;
    }
    let domain = Domain::from_name(task.task_type.as_deref()?)?;
    // AgentBoard's code joins the sentences of a goal with commas, its labels with spaces.
    let words: Vec<&str> = task.goal.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let hash = hex(&Sha256::digest(words.join(" ")));
    Some(format!("{} {}", domain.word(), &hash[..16]))
}
