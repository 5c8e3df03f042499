//! The table of configuration keys.

use super::key::Entry;
use super::keys;
use super::value::ValueType;
use crate::catalog::{ENVIRONMENTS, METHODS, exemplar_files};
use crate::env::{EnvironmentOption, OptionValues};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// All entries, in the order of the reference: the program's own, then those of methods and environments.
pub static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    // What switches a sandbox off is set by its flag alone: no file or variable may do so unseen.
    let by_flag_alone: Vec<&EnvironmentOption> = ENVIRONMENTS
        .iter()
        .filter_map(|entry| entry.task_facts.unsandboxed_option)
        .map(|(option, _)| option)
        .collect();
    let is_key = |option: &&EnvironmentOption| !by_flag_alone.contains(option);
    let options = ENVIRONMENTS.iter().flat_map(|environment| environment.options).filter(is_key);
    let of_environments =
        options.map(|option| entry_of(option.name, option.meaning, option.values, option.variable));
    // A method's options are keys of the table `run`.
    let end_of_run = OWN.iter().rposition(|entry| entry.name.starts_with("run.")).map_or(0, |last| last + 1);
    let (start, rest) = OWN.split_at(end_of_run);
    let of_methods = METHODS.iter().flat_map(|method| method.all_options()).map(|option| Entry {
        flag: option.flag,
        value_name: option.value_name,
        ..entry_of(option.name, option.meaning, option.values, option.variable)
    });
    start.iter().copied().chain(of_methods).chain(rest.iter().copied()).chain(of_environments).collect()
});

/// Returns the entry of an option, without a flag.
fn entry_of(
    name: &'static str,
    meaning: &'static str,
    values: OptionValues,
    variable: &'static str,
) -> Entry {
    let value_type = match values {
        OptionValues::Words(words) | OptionValues::LocalWords(words) => ValueType::Choice(words),
        OptionValues::Number { minimum, .. } => ValueType::Number(minimum),
        OptionValues::Text { .. } => ValueType::Text,
        OptionValues::Path => ValueType::Path,
    };
    // Computed once.
    let default = values.default_text().leak();
    let (flag, value_name, expected, none_label) = ("", "", "", "none");
    Entry { name, meaning, value_type, default, variable, flag, value_name, expected, none_label }
}

/// Returns the entries of the options of methods, whose flags `run` has.
pub fn method_entries() -> Vec<&'static Entry> {
    let options = METHODS.iter().flat_map(|method| method.all_options());
    options.filter_map(|option| find_entry(option.name)).collect()
}

/// Returns the entries of files with exemplars, whose flags a resumed run has, too.
pub fn exemplar_entries() -> Vec<&'static Entry> {
    exemplar_files().filter_map(|file| find_entry(file.option.name)).collect()
}

/// Returns the entry with this name.
pub fn find_entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Checks that no option of a method or an environment has the key, the variable or the flag of another entry.
///
/// # Errors
/// Returns a description of the first entry that another one hides.
pub fn check_entries() -> Result<(), String> {
    let (mut names, mut variables, mut flags) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for entry in ENTRIES.iter() {
        if !names.insert(entry.name) {
            return Err(format!(
                "there are two configuration keys named {:?}; choose another name",
                entry.name
            ));
        }
        if !entry.variable.is_empty() && !variables.insert(entry.variable) {
            return Err(format!(
                "{}: another configuration key has the environment variable {} already; choose another one",
                entry.name, entry.variable
            ));
        }
        if !entry.flag.is_empty() && !flags.insert(entry.flag) {
            return Err(format!("{}: there are two flags {}; choose another one", entry.name, entry.flag));
        }
    }
    Ok(())
}

/// The program's own entries.
const OWN: &[Entry] = &[
    keys::SESSIONS.entry(),
    keys::DATA.entry(),
    keys::POOL.entry(),
    keys::CACHE_FOLDER.entry(),
    keys::ENV.entry(),
    keys::METHOD.entry(),
    keys::ACTOR.entry(),
    keys::MENTOR.entry(),
    keys::INTERFACE.entry(),
    keys::AS.entry(),
    keys::SEED.entry(),
    keys::TRIALS.entry(),
    keys::ON_ERROR.entry(),
    keys::BASE_URL.entry(),
    keys::PROFILE.entry(),
    keys::KEY_ENV.entry(),
    keys::HEADERS.entry(),
    keys::CA_FILE.entry(),
    keys::API.entry(),
    keys::MENTOR_BASE_URL.entry(),
    keys::MENTOR_PROFILE.entry(),
    keys::CACHE.entry(),
    keys::PREFETCH.entry(),
    keys::PROMPTS.entry(),
    keys::BREAKS.entry(),
    keys::THEME.entry(),
    keys::GLYPHS.entry(),
    keys::MOTION.entry(),
    keys::MOUSE.entry(),
    keys::HINTS.entry(),
    keys::SHOWN_AS.entry(),
    keys::THOUGHT.entry(),
];
