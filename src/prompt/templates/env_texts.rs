//! Template texts for one environment.

use super::StoredText;
use super::condition::SettingCondition;
use crate::domain::{RunSpec, Task};
use crate::prompt::interface::OtherWording;
use std::collections::BTreeMap;

/// The texts and examples of one environment.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct EnvTexts {
    /// The environments these apply to; if empty, all others.
    pub(in crate::prompt) envs: Vec<String>,
    pub(in crate::prompt) texts: BTreeMap<String, StoredText>,
    /// Texts that replace those of the same names where a setting has a value, the first that has one winning.
    pub(in crate::prompt) variants: Vec<TextVariant>,
    /// Solved episodes.
    pub(in crate::prompt) examples: Vec<Example>,
    /// The other wording of these environments, if they have one.
    pub(in crate::prompt) other_wording: Option<OtherWording>,
}

/// Texts for runs in which a setting has a value, such as another set of actions.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct TextVariant {
    pub(super) condition: SettingCondition,
    pub(super) texts: BTreeMap<String, StoredText>,
}

/// A solved episode, and the task types it fits.
#[derive(Clone, Debug)]
pub(in crate::prompt) struct Example {
    types: Vec<String>,
    /// Shown only for tasks of these types, because other tasks have other actions.
    own_types_only: bool,
    text: StoredText,
    /// The same text in the other wording of the environment, if it has one.
    other_text: StoredText,
}

impl Example {
    pub(super) fn new(
        types: Vec<String>,
        own_types_only: bool,
        text: &str,
        other_wording: Option<OtherWording>,
    ) -> Self {
        let stored = StoredText::new(text);
        let other_text = other_wording.map_or_else(
            || stored.clone(),
            |wording| {
                let text: String = text.split_inclusive('\n').map(wording.rewrite_line).collect();
                StoredText::new(&text)
            },
        );
        Self { types, own_types_only, text: stored, other_text }
    }

    /// Creates an example that is shown verbatim, whatever the wording of the game.
    pub(super) fn verbatim(types: Vec<String>, text: &str) -> Self {
        let text = StoredText::new(text);
        Self { types, own_types_only: false, other_text: text.clone(), text }
    }

    /// Returns what decides which prompts show the example, and the hash of its text.
    pub(super) fn identity(&self) -> impl Iterator<Item = &str> {
        let own = if self.own_types_only { "only" } else { "" };
        self.types.iter().map(String::as_str).chain([own, &*self.text.hash])
    }
}

impl EnvTexts {
    pub(super) const EMPTY: Self = Self {
        envs: Vec::new(),
        texts: BTreeMap::new(),
        variants: Vec::new(),
        examples: Vec::new(),
        other_wording: None,
    };

    /// Returns a text by name, as a run shows it: the one for this task type (`NAME.TYPE`) if there is one, otherwise the general
    /// one; of a variant that suits the run's settings, if it has the text.
    pub(in crate::prompt) fn text(
        &self,
        name: &str,
        task: &Task,
        run: Option<&RunSpec>,
    ) -> Option<&StoredText> {
        let typed = task.task_type.as_ref().map(|kind| format!("{name}.{kind}"));
        let suitable = self.suitable_variants(run).map(|variant| &variant.texts);
        suitable
            .chain([&self.texts])
            .find_map(|texts| typed.as_ref().and_then(|name| texts.get(name)).or_else(|| texts.get(name)))
    }

    /// Returns the variants that suit a run's settings.
    pub(super) fn suitable_variants(&self, run: Option<&RunSpec>) -> impl Iterator<Item = &TextVariant> {
        self.variants.iter().filter(move |variant| run.is_some_and(|run| variant.condition.is_met(run)))
    }

    /// Returns the first `count` examples for a task: those of its type, then the others in file order, except those
    /// shown only for other types. A task of unknown type is matched by the words of its goal. With `in_other_wording`,
    /// they are in the other wording of the environment.
    pub(in crate::prompt) fn examples_for(
        &self,
        task: &Task,
        count: usize,
        in_other_wording: bool,
    ) -> Vec<&StoredText> {
        let fits = |types: &[String]| match &task.task_type {
            Some(kind) => types.iter().any(|t| t == kind),
            None => types.iter().any(|t| task.goal.split(' ').any(|word| word == t)),
        };
        let (first, rest): (Vec<_>, Vec<_>) = self.examples.iter().partition(|e| fits(&e.types));
        let chosen = first.into_iter().chain(rest.into_iter().filter(|e| !e.own_types_only)).take(count);
        chosen.map(|e| if in_other_wording { &e.other_text } else { &e.text }).collect()
    }
}
