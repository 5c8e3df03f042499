//! The table of configuration keys.

use super::key::Entry;
use super::keys;
use super::value::ValueType;
use crate::catalog::ENVIRONMENTS;
use crate::env::OptionValues;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// All entries, in the order of the reference: the program's own, then those of environments.
pub static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let options = ENVIRONMENTS.iter().flat_map(|environment| environment.options);
    let of_environments = options.map(|option| Entry {
        name: option.name,
        meaning: option.meaning,
        value_type: match option.values {
            OptionValues::Words(words) | OptionValues::LocalWords(words) => ValueType::Choice(words),
            OptionValues::Number { minimum, .. } => ValueType::Number(minimum),
            OptionValues::Text { .. } => ValueType::Text,
            OptionValues::Path => ValueType::Path,
        },
        // Computed once.
        default: option.values.default_text().leak(),
        variable: option.variable,
        flag: "",
        value_name: "",
    });
    OWN.iter().copied().chain(of_environments).collect()
});

/// Returns the entry with this name.
pub fn find_entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Checks that no option of an environment has the key or the variable of another entry.
///
/// # Errors
/// Returns a description of the first entry that another one hides.
pub fn check_entries() -> Result<(), String> {
    let (mut names, mut variables) = (BTreeSet::new(), BTreeSet::new());
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
    keys::EXEMPLARS.entry(),
    keys::PROMPTER.entry(),
    keys::PROMPTER_TEMPLATE.entry(),
    keys::ADVICE.entry(),
    keys::BREAKS.entry(),
    keys::THEME.entry(),
    keys::GLYPHS.entry(),
    keys::MOTION.entry(),
    keys::MOUSE.entry(),
    keys::HINTS.entry(),
    keys::SHOWN_AS.entry(),
    keys::THOUGHT.entry(),
];
