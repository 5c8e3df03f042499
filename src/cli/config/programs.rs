//! Environments of the configuration that are other programs: the tables `[environments.NAME]`, and the command after
//! `--`.

use super::{Config, config_folder, config_path};
use crate::catalog::{self, PROGRAM_ENVIRONMENT};
use crate::cli::error::CliError;
use crate::env::{ExternalProgram, ProgramLimits};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::de::{DeTable, DeValue};

/// The keys of a table, for messages and the reference.
pub(super) const PROGRAM_KEYS: &[(&str, &str)] = &[
    (
        "kind",
        "`stdio`: the program speaks the protocol of `ENVIRONMENTS.md` on its standard input and output",
    ),
    ("command", "the program and its arguments, as a list; no shell interprets them"),
    (
        "cwd",
        "its working folder; if it is relative, seen from the folder of this file; the default is an empty temporary folder",
    ),
    ("env", "a table of environment variables; besides these it gets only PATH, HOME and LANG"),
    (
        "timeouts",
        "a table of limits in seconds: hello (30), tasks (30), reset (60), step (30), list (30), peek (10), snapshot (30), close (2)",
    ),
];
/// The longest limit, in seconds.
const MAX_SECONDS: f64 = 86_400.0;

/// Adds the environments that the configuration names to the catalog, before anything else looks there. Errors are reported
/// when the configuration is read.
pub fn add_environments(arguments: &[OsString], variable: impl Fn(&str) -> Option<String>) {
    let file = config_flag(arguments);
    let path = config_path(file.as_deref(), &config_folder(file.as_deref(), &variable));
    let text = crate::cli::bounded::read_text(&path).unwrap_or_default();
    let Ok(table) = DeTable::parse(&text) else { return };
    let Some(DeValue::Table(programs)) = table.get_ref().get("environments").map(toml::Spanned::get_ref)
    else {
        return;
    };
    let names = programs.keys().map(|name| name.get_ref().to_string());
    catalog::add_programs(names.filter(|name| is_valid_name(name)));
}

/// Returns the value of `--config`, which is looked for before the arguments are parsed.
fn config_flag(arguments: &[OsString]) -> Option<PathBuf> {
    let mut arguments = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        if argument == "--config" {
            return arguments.next().map(PathBuf::from);
        }
        if let Some(value) = argument.to_str().and_then(|text| text.strip_prefix("--config=")) {
            return Some(PathBuf::from(value));
        }
    }
    None
}

/// Returns whether an environment can have this name: it is a word of messages, flags and journals.
fn is_valid_name(name: &str) -> bool {
    let is_allowed =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(is_allowed)
}

/// Reads the table of an environment. `folder` is that of the configuration file.
///
/// # Errors
/// Returns a message if a key or a value is invalid.
pub(super) fn read_program(name: &str, table: &Value, folder: &Path) -> Result<ExternalProgram, String> {
    if !is_valid_name(name) {
        return Err(
            "expected a name of lower-case letters, digits, - and _ that begins with a letter".to_owned()
        );
    }
    if !catalog::is_free_for_program(name) {
        return Err("there is a built-in environment of this name; choose another one".to_owned());
    }
    let Value::Object(table) = table else { return Err("is not a table".to_owned()) };
    let known = || PROGRAM_KEYS.iter().map(|(key, _)| *key);
    if let Some(key) = table.keys().find(|key| !known().any(|known| known == *key)) {
        return Err(format!("unknown key {key:?}; available: {}", known().collect::<Vec<_>>().join(", ")));
    }
    if table.get("kind").and_then(Value::as_str) != Some(PROGRAM_ENVIRONMENT) {
        return Err(format!("kind: expected {PROGRAM_ENVIRONMENT:?}"));
    }
    let words = table.get("command").and_then(Value::as_array).and_then(|words| texts(words));
    let words = words.filter(|words| !words.is_empty());
    let words = words.ok_or("command: expected a list of strings, the program and its arguments")?;
    let cwd = match table.get("cwd") {
        None => None,
        Some(Value::String(path)) => Some(absolute_folder(path, folder)),
        Some(_) => return Err("cwd: expected a path".to_owned()),
    };
    let variables = match table.get("env") {
        None => Vec::new(),
        Some(value) => read_variables(value).ok_or("env: expected a table of strings")?,
    };
    let limits = table.get("timeouts").map_or(Ok(ProgramLimits::default()), read_limits)?;
    Ok(ExternalProgram { words, folder: cwd, variables, limits })
}

fn texts(values: &[Value]) -> Option<Vec<String>> {
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

fn absolute_folder(path: &str, base: &Path) -> PathBuf {
    let folder = match (path.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => base.join(path),
    };
    // One that doesn't exist is reported when the program is started.
    std::path::absolute(&folder).unwrap_or(folder)
}

fn read_variables(value: &Value) -> Option<Vec<(String, String)>> {
    let pairs = value.as_object()?.iter();
    pairs.map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn read_limits(value: &Value) -> Result<ProgramLimits, String> {
    let names = || ProgramLimits::NAMES.join(", ");
    let Value::Object(table) = value else {
        return Err(format!("timeouts: expected a table of {}", names()));
    };
    let mut limits = ProgramLimits::default();
    for (name, value) in table {
        let limit = limits.limit_mut(name);
        let limit = limit.ok_or_else(|| format!("timeouts.{name}: unknown limit; available: {}", names()))?;
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
        let seconds = seconds
            .ok_or_else(|| format!("timeouts.{name}: expected a number of seconds, at most {MAX_SECONDS}"))?;
        *limit = Duration::from_secs_f64(seconds);
    }
    Ok(limits)
}

impl Config {
    /// Sets the program of the environment that the command line names. Does nothing without words.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if another environment was chosen; `chosen` is the value of `--env`.
    pub fn set_command(&mut self, words: &[String], chosen: Option<&str>) -> Result<(), CliError> {
        if words.is_empty() {
            return Ok(());
        }
        if let Some(other) = chosen.filter(|env| *env != PROGRAM_ENVIRONMENT) {
            return Err(CliError::usage(
                format!("the command after -- is for --env {PROGRAM_ENVIRONMENT}, not for --env {other}"),
                format!("omit the command, or use --env {PROGRAM_ENVIRONMENT}"),
            ));
        }
        let folder = std::env::current_dir().ok();
        let program = ExternalProgram { words: words.to_vec(), folder, ..ExternalProgram::default() };
        self.programs.insert(PROGRAM_ENVIRONMENT.to_owned(), program);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(table: &Value) -> Result<ExternalProgram, String> {
        read_program("mine", table, Path::new("/conf"))
    }

    #[test]
    fn a_complete_table_is_read() {
        let program = read(&json!({
            "kind": "stdio", "command": ["python3", "b.py"], "cwd": "tools", "env": {"A": "1"},
            "timeouts": {"step": 0.5, "hello": 7},
        }));
        let program = program.unwrap();
        assert_eq!(
            (program.words, program.folder),
            (vec!["python3".to_owned(), "b.py".to_owned()], Some("/conf/tools".into()))
        );
        assert_eq!(program.variables, [("A".to_owned(), "1".to_owned())]);
        assert_eq!(
            (program.limits.step, program.limits.hello),
            (Duration::from_millis(500), Duration::from_secs(7))
        );
        assert_eq!(program.limits.reset, ProgramLimits::default().reset);
        let short = read(&json!({"kind": "stdio", "command": ["x"]})).unwrap();
        assert_eq!((short.folder, short.limits), (None, ProgramLimits::default()));
    }

    #[test]
    fn mistakes_are_named() {
        let with = |key: &str, value: Value| {
            let mut table = json!({"kind": "stdio", "command": ["x"]});
            table[key] = value;
            table
        };
        let cases = [
            (with("kind", json!("http")), "kind: expected \"stdio\""),
            (with("comand", json!(["x"])), "unknown key \"comand\"; available: kind, command, cwd"),
            (with("command", json!("x y")), "command: expected a list of strings"),
            (with("command", json!([])), "command: expected a list of strings"),
            (with("cwd", json!(1)), "cwd: expected a path"),
            (with("env", json!({"A": 1})), "env: expected a table of strings"),
            (with("timeouts", json!(3)), "timeouts: expected a table of hello, tasks"),
            (with("timeouts", json!({"steps": 3})), "timeouts.steps: unknown limit; available: hello"),
            (with("timeouts", json!({"step": 0})), "timeouts.step: expected a number of seconds"),
            (json!([]), "is not a table"),
        ];
        for (table, part) in cases {
            let error = read(&table).unwrap_err();
            assert!(error.starts_with(part), "{table}: {error}");
        }
        let table = with("cwd", json!("."));
        assert!(read_program("household", &table, Path::new("/")).unwrap_err().contains("built-in"));
        assert!(read_program("My env", &table, Path::new("/")).unwrap_err().contains("lower-case"));
    }

    #[test]
    fn the_configuration_is_found_before_the_arguments_are_parsed() {
        let find = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            config_flag(&arguments)
        };
        assert_eq!(find(&["p", "run", "--config", "a.toml"]), Some("a.toml".into()));
        assert_eq!(find(&["p", "--config=b.toml", "run"]), Some("b.toml".into()));
        assert_eq!(find(&["p", "run", "--", "--config", "a.toml"]), None);
        assert_eq!(find(&["p", "run", "--config"]), None);
    }

    #[test]
    fn a_command_is_for_the_environment_without_a_configured_program() {
        let mut config = Config::without_file(Some(Path::new("/none/config.toml")), |_| None);
        let words = ["x".to_owned()];
        assert!(
            config.set_command(&words, Some("household")).unwrap_err().message.contains("--env household")
        );
        config.set_command(&words, None).unwrap();
        assert_eq!(config.programs[PROGRAM_ENVIRONMENT].words, ["x"]);
        config.set_command(&[], Some("household")).unwrap();
    }
}
