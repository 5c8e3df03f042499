//! Template texts for one environment.

use super::StoredText;
use crate::domain::Task;
use std::collections::BTreeMap;

/// The texts and examples of one environment.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct EnvTexts {
    /// The environments these apply to; if empty, all others.
    pub(in crate::prompt) envs: Vec<String>,
    pub(in crate::prompt) texts: BTreeMap<String, StoredText>,
    /// Solved episodes.
    pub(in crate::prompt) examples: Vec<Example>,
}

/// A solved episode, and the task types it fits.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct Example {
    types: Vec<String>,
    /// Shown only for tasks of these types, because other tasks have other actions.
    own_types_only: bool,
    text: StoredText,
    /// The same text in the wording of the games of ALFWorld's data version 2.1.1.
    old_text: StoredText,
}

/// The wording of ALFWorld's games, which depends on the version of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prompt) enum Wording {
    /// `move X to Y`.
    Current,
    /// `put X in/on Y` (2.1.1).
    Old,
}

impl Example {
    pub(super) fn new(types: Vec<String>, own_types_only: bool, text: &str) -> Self {
        let old_text: String = text.split_inclusive('\n').map(to_old_wording).collect();
        Self { types, own_types_only, text: StoredText::new(text), old_text: StoredText::new(&old_text) }
    }

    /// Creates an example that is shown verbatim, whatever the wording of the game.
    pub(super) fn verbatim(types: Vec<String>, text: &str) -> Self {
        let text = StoredText::new(text);
        Self { types, own_types_only: false, old_text: text.clone(), text }
    }
}

/// Converts a line of an example to [`Wording::Old`]. Drops the sentence `You arrive at X.`, as the interface `react`
/// does for such games.
fn to_old_wording(line: &str) -> String {
    if let Some((object, receptacle)) = line.strip_prefix("> move ").and_then(|r| r.split_once(" to ")) {
        return format!("> put {object} in/on {receptacle}");
    }
    if let Some((object, receptacle)) =
        line.strip_prefix("You move the ").and_then(|r| r.split_once(" to the "))
    {
        return format!("You put the {object} in/on the {receptacle}");
    }
    let arrival = line.strip_prefix("You arrive at ").and_then(|r| r.split_once(". "));
    arrival.map_or(line, |(_, description)| description).to_owned()
}

impl EnvTexts {
    pub(super) const EMPTY: Self = Self { envs: Vec::new(), texts: BTreeMap::new(), examples: Vec::new() };

    /// Returns a text by name: the one for this task type (`NAME.TYPE`) if there is one, otherwise the general one.
    pub(in crate::prompt) fn text(&self, name: &str, task: &Task) -> Option<&StoredText> {
        let typed = task.task_type.as_ref().and_then(|kind| self.texts.get(&format!("{name}.{kind}")));
        typed.or_else(|| self.texts.get(name))
    }

    /// Returns the first `count` examples for a task: those of its type, then the others in file order, except those
    /// shown only for other types. A task of unknown type is matched by the words of its goal.
    pub(in crate::prompt) fn examples_for(
        &self,
        task: &Task,
        count: usize,
        wording: Wording,
    ) -> Vec<&StoredText> {
        let fits = |types: &[String]| match &task.task_type {
            Some(kind) => types.iter().any(|t| t == kind),
            None => types.iter().any(|t| task.goal.split(' ').any(|word| word == t)),
        };
        let (first, rest): (Vec<_>, Vec<_>) = self.examples.iter().partition(|e| fits(&e.types));
        let chosen = first.into_iter().chain(rest.into_iter().filter(|e| !e.own_types_only)).take(count);
        chosen.map(|e| if wording == Wording::Old { &e.old_text } else { &e.text }).collect()
    }
}
