//! Settings as they are typed, and where the configuration has them from.

use super::config::ValueOrigin;
use super::error::CliError;
use crate::domain::{SettingOrigin, sampling_param};
use crate::method::SETTINGS;
use serde_json::{Value, json};

/// A value as it is typed: a number, a switch or a word.
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

/// The name and value of every `--set NAME=VALUE` where a run is not begun: a sampling parameter, or one of `others`.
///
/// # Errors
/// What is wrong with one of them.
pub(super) fn changes(set: &[String], others: &[&str]) -> Result<Vec<(String, Value)>, CliError> {
    let read = |text: &String| {
        let (name, typed) = text.split_once('=').ok_or_else(|| {
            CliError::usage(
                format!("--set {text:?}: expected NAME=VALUE"),
                "such as --set actor.max_tokens=1024",
            )
        })?;
        let name = name.trim();
        let wrong = |why: String| {
            let hint = "`retrospect config show` lists the settings";
            CliError::usage(format!("setting {name} = {typed}: {why}"), hint)
        };
        if let Some((_, param)) = sampling_param(name) {
            return Ok((name.to_owned(), param.parse(typed).map_err(wrong)?));
        }
        let spec = SETTINGS.iter().find(|spec| spec.name == name && others.contains(&name));
        let Some(spec) = spec else {
            let others = others.iter().flat_map(|other| [" and ", other]).collect::<String>();
            return Err(CliError::usage(
                format!(
                    "--set {name}: only sampling parameters (actor.NAME, mentor.NAME){others} can be set here"
                ),
                "choose other settings when a run begins: `retrospect run --set NAME=VALUE`",
            ));
        };
        let value = parse_value(typed);
        spec.validate(&value).map_err(wrong)?;
        Ok((name.to_owned(), value))
    };
    set.iter().map(read).collect()
}

/// Where a value of the configuration comes from, as the journal says it.
pub(super) fn setting_origin(from: &ValueOrigin) -> SettingOrigin {
    match from {
        ValueOrigin::Default => SettingOrigin::BuiltIn,
        ValueOrigin::File(..) | ValueOrigin::Variable(_) => SettingOrigin::Config,
        ValueOrigin::Flag(_) => SettingOrigin::Flag,
        ValueOrigin::Preset(_) => SettingOrigin::Paper,
    }
}
