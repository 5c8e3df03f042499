//! The table of configuration keys.

use super::{Entry, ValueType};
use crate::catalog::{
    CALIBRATION_METHOD, DEFAULT_ENVIRONMENT, ENVIRONMENT_NAMES, ENVIRONMENTS, METHOD_NAMES,
};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// All entries, in the order of the reference: the program's own, then those of environments.
pub static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let options = ENVIRONMENTS.iter().flat_map(|environment| environment.options);
    let of_environments = options.map(|option| Entry {
        name: option.name,
        meaning: option.meaning,
        value_type: ValueType::Choice(option.words),
        default: option.words[0],
        variable: option.variable,
        flag: "",
    });
    own().into_iter().chain(of_environments).collect()
});

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
fn own() -> Vec<Entry> {
    vec![
        entry(
            "sessions",
            "folder for sessions; by default `sessions/` in the working directory if it exists, else the user's state folder",
            ValueType::Path,
            "",
            "RETROSPECT_SESSIONS",
            "--sessions",
        ),
        entry(
            "data",
            "folder with ALFWorld's data (it contains `json_2.1.1`)",
            ValueType::Path,
            "",
            "ALFWORLD_DATA",
            "--data",
        ),
        entry(
            "pool",
            "pool file of the `lessons` command; by default `pool.jsonl` in the user's data folder",
            ValueType::Path,
            "",
            "RETROSPECT_POOL",
            "--pool",
        ),
        entry(
            "cache",
            "folder for cached model replies; by default `answers/` in the user's cache folder",
            ValueType::Path,
            "",
            "RETROSPECT_CACHE_DIR",
            "",
        ),
        entry(
            "run.env",
            "environment",
            ValueType::Choice(&ENVIRONMENT_NAMES),
            DEFAULT_ENVIRONMENT.name,
            "RETROSPECT_ENV",
            "--env",
        ),
        entry(
            "run.method",
            "method",
            ValueType::Choice(&METHOD_NAMES),
            CALIBRATION_METHOD.name,
            "RETROSPECT_METHOD",
            "--method",
        ),
        entry(
            "run.actor",
            "actor: who proposes actions",
            ValueType::Text,
            "rules",
            "RETROSPECT_ACTOR",
            "--actor",
        ),
        entry(
            "run.mentor",
            "mentor: who writes reflections",
            ValueType::Text,
            "symbolic",
            "RETROSPECT_MENTOR",
            "--mentor",
        ),
        entry(
            "run.interface",
            "how observations are shown to the agent in a run (`play` uses `raw` unless you set the flag)",
            ValueType::Choice(&["raw", "react", "agentboard"]),
            "react",
            "RETROSPECT_INTERFACE",
            "--interface",
        ),
        entry(
            "run.as",
            "which version of a method to use where paper and public code differ",
            ValueType::Choice(&["paper", "code"]),
            "paper",
            "RETROSPECT_AS",
            "--as",
        ),
        entry("run.seed", "random seed of a run", ValueType::Number(0), "0", "RETROSPECT_SEED", "--seed"),
        entry(
            "run.trials",
            "maximum number of trials per task; the default depends on the method",
            ValueType::Number(1),
            "1",
            "RETROSPECT_TRIALS",
            "--trials",
        ),
        entry(
            "run.on_error",
            "what to do when a call fails in a run without a screen",
            ValueType::Choice(&["stop", "skip-task"]),
            "stop",
            "RETROSPECT_ON_ERROR",
            "--on-error",
        ),
        entry(
            "run.base_url",
            "address of the model server, such as `http://127.0.0.1:8080/v1`",
            ValueType::Text,
            "",
            "OPENAI_BASE_URL",
            "--base-url",
        ),
        entry(
            "run.profile",
            "server profiles by name, separated by commas; later ones take precedence",
            ValueType::Text,
            "",
            "RETROSPECT_PROFILE",
            "--profile",
        ),
        entry(
            "run.key_env",
            "environment variable that holds the API key, instead of `OPENAI_API_KEY`",
            ValueType::Text,
            "",
            "RETROSPECT_KEY_ENV",
            "--key-env",
        ),
        entry(
            "run.headers",
            "additional headers for the model server, `NAME: VALUE`, one per line; `$NAME` in a value is an environment variable, `$$` a dollar sign",
            ValueType::Text,
            "",
            "RETROSPECT_HEADERS",
            "--header",
        ),
        entry(
            "run.ca_file",
            "trusted CA certificates (PEM), in addition to the system's",
            ValueType::Path,
            "",
            "RETROSPECT_CA_FILE",
            "--ca-file",
        ),
        entry(
            "run.api",
            "which API of the model server to use",
            ValueType::Choice(&["chat", "completions"]),
            "chat",
            "RETROSPECT_API",
            "--api",
        ),
        entry(
            "run.mentor_base_url",
            "address of the mentor's server, if it differs from the actor's",
            ValueType::Text,
            "",
            "RETROSPECT_MENTOR_BASE_URL",
            "--mentor-base-url",
        ),
        entry(
            "run.mentor_profile",
            "the mentor's server profiles, if they differ from the actor's",
            ValueType::Text,
            "",
            "RETROSPECT_MENTOR_PROFILE",
            "--mentor-profile",
        ),
        entry(
            "run.cache",
            "cache of model replies on disk: the same request gets the same reply",
            ValueType::Choice(&["off", "read", "read-write"]),
            "off",
            "RETROSPECT_CACHE",
            "--cache",
        ),
        entry(
            "run.prefetch",
            "request the next reply while a person reads a proposal; requires `run.cache = \"read-write\"`",
            ValueType::Bool,
            "false",
            "RETROSPECT_PREFETCH",
            "--prefetch",
        ),
        entry(
            "run.prompts",
            "folder of prompt templates; each replaces the built-in one with the same file name",
            ValueType::Path,
            "",
            "RETROSPECT_PROMPTS",
            "--prompts",
        ),
        entry(
            "run.exemplars",
            "pool file whose lessons serve as examples for neuro-symbolic generation",
            ValueType::Path,
            "",
            "RETROSPECT_EXEMPLARS",
            "--exemplars",
        ),
        entry(
            "run.breaks",
            "breakpoints and watches of every new session; separated by `;` in the variable",
            ValueType::Conditions,
            "",
            "RETROSPECT_BREAKS",
            "--break",
        ),
        entry(
            "screen.theme",
            "name of a theme, or a theme file",
            ValueType::Text,
            "default",
            "RETROSPECT_THEME",
            "--theme",
        ),
        entry(
            "screen.glyphs",
            "characters for frames and marks",
            ValueType::Choice(&["unicode", "ascii"]),
            "unicode",
            "RETROSPECT_GLYPHS",
            "",
        ),
        entry(
            "screen.motion",
            "animate the busy indicator while a model works",
            ValueType::Bool,
            "true",
            "RETROSPECT_MOTION",
            "",
        ),
        entry("screen.mouse", "capture the mouse at start", ValueType::Bool, "true", "RETROSPECT_MOUSE", ""),
        entry(
            "screen.hints",
            "show hints during the first run",
            ValueType::Bool,
            "true",
            "RETROSPECT_HINTS",
            "",
        ),
        entry(
            "override.shown_as",
            "how an overridden action is shown to the agent",
            ValueType::Choice(&["ask", "own", "human_edit"]),
            "ask",
            "RETROSPECT_SHOWN_AS",
            "",
        ),
        entry(
            "override.thought",
            "what happens to the thought before an overridden action",
            ValueType::Choice(&["ask", "kept", "dropped", "rewritten"]),
            "ask",
            "RETROSPECT_THOUGHT",
            "",
        ),
    ]
}

fn entry(
    name: &'static str,
    meaning: &'static str,
    value_type: ValueType,
    default: &'static str,
    variable: &'static str,
    flag: &'static str,
) -> Entry {
    Entry { name, meaning, value_type, default, variable, flag }
}
