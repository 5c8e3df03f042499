//! What the templates say of one world.

use super::StoredText;
use crate::domain::Task;
use std::collections::BTreeMap;

/// The texts and examples of one world.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct World {
    /// The environments it is for; none: all others.
    pub(in crate::prompt) envs: Vec<String>,
    /// Its texts by name.
    pub(in crate::prompt) texts: BTreeMap<String, StoredText>,
    /// Its solved episodes, each with the task types it fits.
    pub(in crate::prompt) examples: Vec<(Vec<String>, StoredText)>,
}

impl World {
    pub(super) const NONE: Self = Self { envs: Vec::new(), texts: BTreeMap::new(), examples: Vec::new() };

    /// The first `count` examples for a task: those of its type, then the others in the file's order. A task whose type is
    /// not known is matched by the words of its goal.
    pub(in crate::prompt) fn examples_for(&self, task: &Task, count: usize) -> Vec<&StoredText> {
        let fits = |types: &[String]| match &task.task_type {
            Some(kind) => types.iter().any(|t| t == kind),
            None => types.iter().any(|t| task.goal.split(' ').any(|word| word == t)),
        };
        let (first, rest): (Vec<_>, Vec<_>) = self.examples.iter().partition(|(types, _)| fits(types));
        first.into_iter().chain(rest).take(count).map(|(_, text)| text).collect()
    }
}
