//! Parses settings given as `NAME=VALUE`, and maps configuration origins to setting origins.

use super::config::{
    Config, Entry, ProgramPreset, ValueOrigin, find_entry, find_program_preset, keys, unknown_setting_message,
};
use super::error::CliError;
use crate::catalog::{ENVIRONMENTS, SETTINGS, find_setting, methods_with_setting};
use crate::domain::common_settings::OVERRIDE_SETTINGS;
use crate::domain::{ModelRole, RunSpec, SAMPLING_PARAMS, SettingOrigin, sampling_param};
use serde_json::{Value, json};

/// Parses a value from the command line: a number, also with decimals, a boolean (`true`, `on`, `false`, `off`) or a word.
fn parse_value(text: &str) -> Value {
    if let Ok(number) = text.parse::<u64>() {
        return json!(number);
    }
    if let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite()) {
        return json!(number);
    }
    match text {
        "true" | "on" => json!(true),
        "false" | "off" => json!(false),
        other => json!(other),
    }
}

const NAMES_HINT: &str = "`retrospect config show` lists the settings";

/// Parses the value of a setting or a sampling parameter that a person may set.
///
/// # Errors
/// Fails with a usage error if there is no such setting, or if it doesn't allow the value.
pub(super) fn parse_assignment(name: &str, text: &str) -> Result<Value, CliError> {
    let value = match sampling_param(name) {
        Some((_, param)) => param.parse(text).map_err(|why| invalid_value(name, text, &why))?,
        None => parse_value(text.trim()),
    };
    check_assignment(name, &value)?;
    Ok(value)
}

/// Checks a value of a setting or a sampling parameter that a person may set.
///
/// # Errors
/// The same as [`parse_assignment`].
pub(super) fn check_assignment(name: &str, value: &Value) -> Result<(), CliError> {
    if sampling_param(name).is_none() && find_setting(name).is_none() {
        return Err(CliError::usage(unknown_setting_message(name), NAMES_HINT));
    }
    describe_invalid(name, value).map_or(Ok(()), |why| Err(CliError::usage(why, NAMES_HINT)))
}

/// Describes what is wrong with the recorded settings of a run: where a value has the wrong type or is an unknown word, the
/// program uses its default instead. Names that this version doesn't know are skipped.
pub(super) fn invalid_settings(run: &RunSpec) -> Vec<String> {
    run.settings.iter().filter_map(|(name, setting)| describe_invalid(name, &setting.value)).collect()
}

/// Returns name, value and what is allowed, if a setting or sampling parameter doesn't allow the value.
pub(super) fn describe_invalid(name: &str, value: &Value) -> Option<String> {
    let checked = match (sampling_param(name), find_setting(name)) {
        (Some((_, param)), _) => param.validate(value),
        (None, Some(spec)) => spec.validate(value),
        (None, None) => Ok(()),
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    checked.err().map(|why| invalid_value_text(name, &text, &why))
}

/// Parses an assignment in a run that has started: unlike a new run it knows its method, and it has settings that can't
/// be changed any more.
///
/// # Errors
/// Fails with a usage error if the run has no such setting, if it is fixed, or if it doesn't allow the value.
pub(super) fn parse_assignment_in(run: &RunSpec, name: &str, text: &str) -> Result<Value, CliError> {
    let is_recorded = run.settings.contains(name);
    if is_recorded && sampling_param(name).is_none() && find_setting(name).is_none() {
        return Err(CliError::usage(
            format!("setting {name} is fixed since the start of the run"),
            "start another run to choose another value",
        ));
    }
    let value = parse_assignment(name, text)?;
    let methods = methods_with_setting(name);
    if !is_recorded && methods.is_some_and(|methods| !methods.contains(&run.method.as_str())) {
        return Err(not_of_this_method(name));
    }
    Ok(value)
}

/// Returns the error for a setting of other methods.
pub(super) fn not_of_this_method(name: &str) -> CliError {
    let methods = methods_with_setting(name).unwrap_or_default().join(", ");
    CliError::usage(
        format!("setting {name} applies to {methods}, not to this method"),
        "omit the setting, or choose one of these methods with --method",
    )
}

fn invalid_value(name: &str, text: &str, why: &str) -> CliError {
    CliError::usage(invalid_value_text(name, text, why), NAMES_HINT)
}

fn invalid_value_text(name: &str, text: &str, why: &str) -> String {
    format!("setting {name} = {text}: {why}")
}

/// Returns the beginnings of all values of `--set` for a run: `NAME=` of each setting and each sampling parameter.
pub(super) fn known_assignments() -> Vec<String> {
    let settings = SETTINGS.iter().chain(OVERRIDE_SETTINGS).map(|spec| format!("{}=", spec.name));
    settings.chain(sampling_assignments()).collect()
}

/// Returns those of the sampling parameters alone.
pub(super) fn sampling_assignments() -> Vec<String> {
    let of_role = |role| SAMPLING_PARAMS.iter().map(move |param| format!("{}=", param.setting_name(role)));
    [ModelRole::Actor, ModelRole::Mentor].into_iter().flat_map(of_role).collect()
}

/// Splits a `NAME=VALUE` of `--set`.
///
/// # Errors
/// Fails with a usage error, which shows `example`, if the equals sign is missing.
pub(super) fn split_set_flag<'a>(text: &'a str, example: &str) -> Result<(&'a str, &'a str), CliError> {
    let (name, value) = text.split_once('=').ok_or_else(|| {
        CliError::usage(
            format!("--set {text:?}: expected NAME=VALUE"),
            format!("for example --set {example}"),
        )
    })?;
    Ok((name.trim(), value))
}

/// Parses every `--set NAME=VALUE` of a verb that doesn't start a run: sampling parameters, and the settings in
/// `others`.
///
/// # Errors
/// Fails with a usage error for the first invalid one.
pub(super) fn parse_set_flags(set: &[String], others: &[&str]) -> Result<Vec<(String, Value)>, CliError> {
    let parse = |text: &String| {
        let (name, typed) = split_set_flag(text, "actor.max_tokens=1024")?;
        if sampling_param(name).is_none() && !others.contains(&name) {
            let others = others.iter().flat_map(|other| [" and ", other]).collect::<String>();
            return Err(CliError::usage(
                format!(
                    "--set {name}: only sampling parameters (actor.NAME, mentor.NAME){others} can be set here"
                ),
                "set other settings when starting a run: `retrospect run --set NAME=VALUE`",
            ));
        }
        Ok((name.to_owned(), parse_assignment(name, typed)?))
    };
    set.iter().map(parse).collect()
}

/// Returns the configuration key of an environment's option: by its whole name, or by its name in the chosen environment
/// (`past` for `counter.past`), unless a setting is named so.
pub(super) fn find_environment_option(config: &Config, name: &str) -> Option<&'static Entry> {
    if find_setting(name).is_some() {
        return None;
    }
    let own = format!("{}.{name}", config.get(keys::ENV));
    let options = || ENVIRONMENTS.iter().flat_map(|environment| environment.options);
    let option =
        options().find(|option| option.name == name).or_else(|| options().find(|o| o.name == own))?;
    find_entry(option.name)
}

/// Sets the options of environments among `--set NAME=VALUE` in the configuration.
///
/// # Errors
/// Fails with a usage error for a value that isn't allowed.
pub(super) fn apply_environment_options(set: &[String], config: &mut Config) -> Result<(), CliError> {
    for text in set {
        let Some((name, value)) = text.split_once('=') else { continue };
        if let Some(entry) = find_environment_option(config, name.trim()) {
            config
                .set_flag(entry, Some(value.trim()))
                .map_err(|error| CliError::usage(format!("--set {name}:{}", error.message), error.hint))?;
        }
    }
    Ok(())
}

/// Converts the origin of a configuration value to the origin recorded in the journal.
pub(super) fn setting_origin(from: &ValueOrigin) -> SettingOrigin {
    match from {
        ValueOrigin::Default => SettingOrigin::BuiltIn,
        ValueOrigin::File(..) | ValueOrigin::Variable(_) => SettingOrigin::Config,
        ValueOrigin::Flag(_) => SettingOrigin::Flag,
        ValueOrigin::Preset(name) => {
            find_program_preset(name).map_or(SettingOrigin::Config, ProgramPreset::origin)
        }
    }
}
