//! `config show --preset`: everything that a preset sets.

use crate::catalog::{ENVIRONMENT_NAMES, find_environment};
use crate::cli::config::{Config, ProgramPreset, keys};
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::domain::Settings;
use serde_json::{Map, Value, json};

/// Shows what a preset sets, in each environment that it is for.
///
/// # Errors
/// Fails with a usage [`CliError`] if there is no such preset.
pub(super) fn show_preset(config: &Config, name: &str, json: bool, out: &mut Output) -> Result<(), CliError> {
    let values = if let Some(preset) = config.built_in_preset(Some(name)) {
        program_values(preset, preset.environment(config.get(keys::ENV)))
    } else {
        let settings: Map<String, Value> = config.preset_settings(name)?.iter().cloned().collect();
        json!({"preset": name, "meaning": config.file.display().to_string(), "settings": settings})
    };
    if json {
        return out.print_json(&values.to_string());
    }
    let text = |field| values.get(field).map(describe).unwrap_or_default();
    out.print_line(&format!("{}: {}", text("preset"), text("meaning")))?;
    let is_heading = |field: &str| ["preset", "meaning"].contains(&field);
    for (field, value) in values.as_object().into_iter().flatten().filter(|(field, _)| !is_heading(field)) {
        match value {
            Value::Object(inner) => {
                for (setting, value) in inner {
                    out.print_line(&format!("{:<20} {setting}={}", field, describe(value)))?;
                }
            }
            value => out.print_line(&format!("{field:<20} {}", describe(value)))?,
        }
    }
    Ok(())
}

/// Returns the values of a program's preset by what they are: run options, settings in each environment, settings of the
/// calibration, sampling parameters. `environment` is the one that it brings.
fn program_values(preset: &ProgramPreset, environment: Option<&str>) -> Value {
    let mut values = Map::new();
    values.insert("preset".to_owned(), json!(preset.name));
    values.insert("meaning".to_owned(), json!(preset.meaning));
    values.insert("method".to_owned(), json!(preset.method));
    values.extend(environment.map(|name| ("env".to_owned(), json!(name))));
    values.insert("trials".to_owned(), json!(preset.trials));
    values.insert("steps".to_owned(), json!(preset.steps));
    if let Some(requirement) = preset.lesson_requirement() {
        values.insert("lessons".to_owned(), json!(format!("the run starts with lessons: it {requirement}")));
    }
    let environments: Vec<&str> = match preset.row {
        Some(row) => row.environments().into_iter().filter(|env| find_environment(env).is_some()).collect(),
        None => ENVIRONMENT_NAMES.to_vec(),
    };
    for env in environments {
        let settings = preset.settings_in(env, &Settings::default());
        let mut settings: Map<String, Value> =
            settings.into_iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let options = preset.row.into_iter().flat_map(|row| &row.options);
        let is_of_env = |name: &str| name.split_once('.').is_some_and(|(prefix, _)| prefix == env);
        settings.extend(
            options.filter(|(name, _)| is_of_env(name)).map(|(name, value)| (name.clone(), json!(value))),
        );
        if let Some(interface) = preset.row.and_then(|row| row.interface_in(env)) {
            settings.insert("interface".to_owned(), json!(interface));
        }
        values.insert(format!("in {env}"), settings.into());
    }
    if let Some(row) = preset.row {
        values.insert("in the calibration".to_owned(), json!(row.calibration));
        let stated = row.sampling().map(|(name, value)| (name.to_owned(), value.clone()));
        let unstated = row.unstated_sampling().map(|name| (name.to_owned(), json!("not sent")));
        let sampling: Map<String, Value> = stated.chain(unstated).collect();
        values.insert("sampling".to_owned(), sampling.into());
    }
    values.into()
}

fn describe(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
