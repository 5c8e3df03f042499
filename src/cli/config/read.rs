//! Reads the configuration file and single values. Every error names file, line, key and the allowed values.

use super::programs::read_program;
use super::{Config, ENTRIES, Entry, ValueOrigin, ValueType, find_entry};
use crate::catalog::{SETTINGS, find_setting};
use crate::cli::error::{CliError, CliErrorKind};
use crate::domain::{ModelRole, SAMPLING_PARAMS, sampling_param};
use crate::provider::openai::Profile;
use crate::text::nearest_name;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses the text of an environment variable or a flag.
pub(super) fn parse_value(entry: &Entry, text: &str) -> Result<Value, String> {
    let allowed = || format!("expected {}", entry.value_type.allowed_values());
    Ok(match entry.value_type {
        ValueType::Text | ValueType::Lines | ValueType::Path => json!(text),
        ValueType::Number(from) => {
            json!(text.parse::<u64>().ok().filter(|n| *n >= from).ok_or_else(allowed)?)
        }
        ValueType::Bool => match text {
            "true" | "on" | "yes" | "1" => json!(true),
            "false" | "off" | "no" | "0" => json!(false),
            _ => return Err(allowed()),
        },
        // The default: no conditions.
        ValueType::Conditions if text.is_empty() => json!([]),
        ValueType::Conditions => return Err(allowed()),
        ValueType::Choice(_) | ValueType::Name(_) => {
            let words = entry.value_type.words().unwrap_or_default();
            json!(words.iter().find(|w| **w == text).ok_or_else(allowed)?)
        }
    })
}

/// Parses conditions separated by `;` and returns the valid ones and the problems of the others. A pattern that
/// contains a semicolon can only be set in the file.
pub(super) fn parse_conditions(text: &str) -> (Value, Vec<String>) {
    let (mut valid, mut problems) = (Vec::new(), Vec::new());
    for condition in text.split(';').map(str::trim).filter(|c| !c.is_empty()) {
        match parse_condition(condition) {
            Ok(condition) => valid.push(condition),
            Err(why) => problems.push(why),
        }
    }
    (Value::Array(valid), problems)
}

/// Checks one condition and returns its text as JSON.
fn parse_condition(text: &str) -> Result<Value, String> {
    let parsed =
        crate::catalog::parse_condition(text).map_err(|bad| format!("{}; {}", bad.message, bad.hint));
    parsed.map(|_| json!(text))
}

/// Applies the text of the configuration file.
pub(super) fn apply_file(config: &mut Config, path: &Path, text: &str) -> Result<(), CliError> {
    let line_of = |offset: usize| text.get(..offset).map_or(0, |t| t.matches('\n').count()) + 1;
    let error = |offset: usize, why: String| {
        CliError::new(
            CliErrorKind::Config,
            format!("{}:{}: {why}", path.display(), line_of(offset)),
            "docs/CONFIG.md describes every key",
        )
    };
    let table = DeTable::parse(text).map_err(|e| {
        error(e.span().map_or(0, |s| s.start), format!("invalid TOML: {}", e.message().replace('\n', " ")))
    })?;
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        match value.get_ref() {
            DeValue::Table(inner) if name == "preset" => {
                for (preset, settings) in inner {
                    let DeValue::Table(settings) = settings.get_ref() else {
                        return Err(error(
                            preset.span().start,
                            format!("preset.{} is not a table", preset.get_ref()),
                        ));
                    };
                    let foreign = settings.keys().find(|setting| is_foreign_setting(setting.get_ref()));
                    if let Some(setting) = foreign {
                        config.warnings.push(format!(
                            "{}:{}: preset.{} is ignored: this program has no setting {:?}",
                            path.display(),
                            line_of(setting.span().start),
                            preset.get_ref(),
                            setting.get_ref()
                        ));
                        continue;
                    }
                    let mut read = Vec::new();
                    for (setting, value) in settings {
                        let name = setting.get_ref().as_ref();
                        match value.get_ref() {
                            // In TOML, `actor.temperature = 0.7` is a table, `"actor.temperature" = 0.7` is not.
                            DeValue::Table(inner) if ["actor", "mentor"].contains(&name) => {
                                for (part, value) in inner {
                                    let name = format!("{name}.{}", part.get_ref());
                                    read.push(
                                        parse_preset_setting(name, value)
                                            .map_err(|w| error(part.span().start, w))?,
                                    );
                                }
                            }
                            _ => read.push(
                                parse_preset_setting(name.to_owned(), value)
                                    .map_err(|w| error(setting.span().start, w))?,
                            ),
                        }
                    }
                    config.presets.insert(preset.get_ref().to_string(), read);
                }
            }
            DeValue::Table(inner) if name == "models" => {
                for (model, table) in inner {
                    let named =
                        |why: String| error(model.span().start, format!("models.{}: {why}", model.get_ref()));
                    let table =
                        to_json(table.get_ref()).ok_or_else(|| named("dates are not allowed".to_owned()))?;
                    let profile = Profile::from_table(&table)
                        .map_err(|e| named(format!("{}; {}", e.message, e.hint)))?;
                    config.models.insert(model.get_ref().to_string(), profile);
                }
            }
            DeValue::Table(inner) if name == "environments" => {
                for (environment, table) in inner {
                    let name = environment.get_ref();
                    let named =
                        |why: String| error(environment.span().start, format!("environments.{name}: {why}"));
                    let table =
                        to_json(table.get_ref()).ok_or_else(|| named("dates are not allowed".to_owned()))?;
                    let program = read_program(name, &table, &config.folder).map_err(named)?;
                    config.programs.insert(name.to_string(), program);
                }
            }
            DeValue::Table(_) if is_foreign_table(name) => {
                let line = line_of(key.span().start);
                config.warnings.push(format!(
                    "{}:{line}: the table [{name}] is ignored: this program has no environment or method with such keys",
                    path.display()
                ));
            }
            DeValue::Table(inner) => {
                for (subkey, value) in inner {
                    set_from_file(
                        config,
                        path,
                        &format!("{name}.{}", subkey.get_ref()),
                        subkey.span().start,
                        value,
                        &error,
                        line_of,
                    )?;
                }
            }
            _ => set_from_file(config, path, name, key.span().start, value, &error, line_of)?,
        }
    }
    Ok(())
}

fn set_from_file(
    config: &mut Config,
    path: &Path,
    name: &str,
    offset: usize,
    value: &Spanned<DeValue<'_>>,
    error: &impl Fn(usize, String) -> CliError,
    line_of: impl Fn(usize) -> usize,
) -> Result<(), CliError> {
    let Some(entry) = find_entry(name) else {
        return Err(error(offset, unknown_key_message(name)));
    };
    if let (ValueType::Conditions, DeValue::Array(all)) = (entry.value_type, value.get_ref()) {
        let mut read = Vec::new();
        for one in all {
            let parsed = match one.get_ref() {
                DeValue::String(text) => parse_condition(text),
                _ => Err("expected each condition to be a string".to_owned()),
            };
            match parsed {
                Ok(one) => read.push(one),
                Err(why) => {
                    config.invalid_breakpoints.push(error(one.span().start, format!("{name}: {why}")));
                }
            }
        }
        config
            .values
            .insert(entry.name, (Value::Array(read), ValueOrigin::File(path.to_owned(), line_of(offset))));
        return Ok(());
    }
    let read = scalar_value(value).and_then(|value| match (entry.value_type, &value) {
        (ValueType::Number(from), Value::Number(n)) => n.as_u64().filter(|n| *n >= from).map(|_| value),
        (ValueType::Bool, Value::Bool(_))
        | (ValueType::Text | ValueType::Lines | ValueType::Path, Value::String(_)) => Some(value),
        (ValueType::Choice(_) | ValueType::Name(_), Value::String(word)) => parse_value(entry, word).ok(),
        _ => None,
    });
    let read = read.ok_or_else(|| {
        error(value.span().start, format!("{name}: expected {}", entry.value_type.allowed_values()))
    })?;
    config.values.insert(entry.name, (read, ValueOrigin::File(path.to_owned(), line_of(offset))));
    Ok(())
}

/// Converts a value unless it is a list, a table or a date.
fn scalar_value(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    to_json(value.get_ref()).filter(|json| !json.is_array() && !json.is_object())
}

/// Parses a setting of a preset: a method setting or a sampling parameter of a role.
///
/// # Errors
/// Returns a message if name or value is invalid.
fn parse_preset_setting(name: String, value: &Spanned<DeValue<'_>>) -> Result<(String, Value), String> {
    if let Some((_, param)) = sampling_param(&name) {
        let checked = match to_json(value.get_ref()) {
            Some(Value::String(text)) => param.parse(&text),
            Some(value) => param.validate(&value).map(|()| value),
            None => Err(format!("expected {}", param.allowed)),
        };
        return checked.map(|value| (name.clone(), value)).map_err(|why| format!("{name}: {why}"));
    }
    if find_setting(&name).is_none() {
        return Err(unknown_setting_message(&name));
    }
    let value =
        scalar_value(value).ok_or_else(|| format!("{name}: expected a number, a boolean or a string"))?;
    Ok((name, value))
}

/// Converts a value unless it contains a date.
fn to_json(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Array(all) => all.iter().map(|v| to_json(v.get_ref())).collect(),
        DeValue::Table(table) => {
            let pairs = table.iter().map(|(k, v)| Some((k.get_ref().to_string(), to_json(v.get_ref())?)));
            pairs.collect::<Option<serde_json::Map<_, _>>>().map(Value::Object)
        }
        DeValue::String(text) => Some(json!(text.as_ref())),
        DeValue::Boolean(on) => Some(json!(on)),
        DeValue::Integer(number) => number.as_str().replace('_', "").parse::<i64>().ok().map(|n| json!(n)),
        DeValue::Float(number) => number.as_str().replace('_', "").parse::<f64>().ok().map(|n| json!(n)),
        DeValue::Datetime(_) => None,
    }
}

/// Returns whether a table belongs to an environment or a method of another program that reads the same file: this one has
/// no such keys, and none whose name is similar.
fn is_foreign_table(name: &str) -> bool {
    let tables = ENTRIES.iter().filter_map(|entry| entry.name.split_once('.')).map(|(table, _)| table);
    let known: BTreeSet<&str> = tables.chain(["preset", "models", "environments"]).collect();
    !known.contains(name) && nearest_name(name, known).is_none()
}

/// The same for a setting of a preset.
fn is_foreign_setting(name: &str) -> bool {
    let is_role = ["actor", "mentor"].contains(&name.split('.').next().unwrap_or(name));
    !is_role && find_setting(name).is_none() && !unknown_setting(name).has_advice
}

fn unknown_key_message(name: &str) -> String {
    match nearest_name(name, ENTRIES.iter().map(|e| e.name)) {
        Some(near) => format!("unknown key {name:?}; did you mean {near:?}?"),
        None => format!("unknown key {name:?}"),
    }
}

/// A setting that no method has.
struct UnknownSetting {
    message: String,
    /// Whether the message says what was probably meant.
    has_advice: bool,
}

/// Returns the message for a setting that no method has.
pub(crate) fn unknown_setting_message(name: &str) -> String {
    unknown_setting(name).message
}

fn unknown_setting(name: &str) -> UnknownSetting {
    let advice = |message: String| UnknownSetting { message, has_advice: true };
    let key =
        ENTRIES.iter().find(|entry| entry.name == name || entry.name.strip_prefix("run.") == Some(name));
    if let Some(entry) = key {
        let flag = if entry.flag.is_empty() { entry.variable } else { entry.flag };
        return advice(format!(
            "{name:?} is a configuration key, not a setting of a run; set it with {flag}"
        ));
    }
    let sampling = [ModelRole::Actor, ModelRole::Mentor]
        .map(|role| SAMPLING_PARAMS.iter().map(move |param| param.setting_name(role)));
    let sampling: Vec<String> = sampling.into_iter().flatten().collect();
    let names = SETTINGS.iter().map(|s| s.name).chain(sampling.iter().map(String::as_str));
    let names: Vec<&str> = names.collect();
    match nearest_name(name, names.iter().copied()) {
        Some(near) => advice(format!("unknown setting {name:?}; did you mean {near:?}?")),
        None => UnknownSetting {
            message: format!("unknown setting {name:?}; available: {}", names.join(", ")),
            has_advice: false,
        },
    }
}
