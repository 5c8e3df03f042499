//! Parses settings given as `NAME=VALUE`, and maps configuration origins to setting origins.

use super::config::ValueOrigin;
use super::error::CliError;
use crate::catalog::SETTINGS;
use crate::domain::{ModelRole, SAMPLING_PARAMS, SettingOrigin, sampling_param};
use serde_json::{Value, json};

/// Parses a value from the command line: a number, a boolean (`true`, `on`, `false`, `off`) or a word.
pub(super) fn parse_value(text: &str) -> Value {
    if let Ok(number) = text.parse::<u64>() {
        return json!(number);
    }
    match text {
        "true" | "on" => json!(true),
        "false" | "off" => json!(false),
        other => json!(other),
    }
}

/// Returns the beginnings of all values of `--set` for a run: `NAME=` of each setting and each sampling parameter.
pub(super) fn known_assignments() -> Vec<String> {
    let settings = SETTINGS.iter().map(|spec| format!("{}=", spec.name));
    settings.chain(sampling_assignments()).collect()
}

/// Returns those of the sampling parameters alone.
pub(super) fn sampling_assignments() -> Vec<String> {
    let of_role = |role| SAMPLING_PARAMS.iter().map(move |param| format!("{}=", param.setting_name(role)));
    [ModelRole::Actor, ModelRole::Mentor].into_iter().flat_map(of_role).collect()
}

/// Parses every `--set NAME=VALUE` of a verb that doesn't start a run: sampling parameters, and the settings in
/// `others`.
///
/// # Errors
/// Fails with a usage error for the first invalid one.
pub(super) fn parse_set_flags(set: &[String], others: &[&str]) -> Result<Vec<(String, Value)>, CliError> {
    let parse = |text: &String| {
        let (name, typed) = text.split_once('=').ok_or_else(|| {
            CliError::usage(
                format!("--set {text:?}: expected NAME=VALUE"),
                "for example --set actor.max_tokens=1024",
            )
        })?;
        let name = name.trim();
        let invalid = |why: String| {
            let hint = "`retrospect config show` lists the settings";
            CliError::usage(format!("setting {name} = {typed}: {why}"), hint)
        };
        if let Some((_, param)) = sampling_param(name) {
            return Ok((name.to_owned(), param.parse(typed).map_err(invalid)?));
        }
        let spec = SETTINGS.iter().find(|spec| spec.name == name && others.contains(&name));
        let Some(spec) = spec else {
            let others = others.iter().flat_map(|other| [" and ", other]).collect::<String>();
            return Err(CliError::usage(
                format!(
                    "--set {name}: only sampling parameters (actor.NAME, mentor.NAME){others} can be set here"
                ),
                "set other settings when starting a run: `retrospect run --set NAME=VALUE`",
            ));
        };
        let value = parse_value(typed);
        spec.validate(&value).map_err(invalid)?;
        Ok((name.to_owned(), value))
    };
    set.iter().map(parse).collect()
}

/// Converts the origin of a configuration value to the origin recorded in the journal.
pub(super) fn setting_origin(from: &ValueOrigin) -> SettingOrigin {
    match from {
        ValueOrigin::Default => SettingOrigin::BuiltIn,
        ValueOrigin::File(..) | ValueOrigin::Variable(_) => SettingOrigin::Config,
        ValueOrigin::Flag(_) => SettingOrigin::Flag,
        ValueOrigin::Preset(_) => SettingOrigin::Paper,
    }
}
