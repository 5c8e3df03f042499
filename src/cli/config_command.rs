//! `config init` and `config show`.

mod preset;

use super::args::{self, ConfigVerb};
use super::config::{Config, ENTRIES, ValueOrigin, program_presets, sample_file};
use super::error::{CliError, CliErrorKind};
use super::models::redact_header_values;
use super::output::Output;
use crate::catalog::published_results;
use crate::domain::{SAMPLING_PARAMS, Settings};
use crate::files;
use crate::provider::openai::Profile;
use crate::text::with_program_name;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Runs `config init` or `config show`.
pub(super) fn run_config_verb(
    config: &Config,
    args: &args::Config,
    out: &mut Output,
) -> Result<(), CliError> {
    match &args.verb {
        ConfigVerb::Init { force } => write_sample_file(config, *force, out),
        ConfigVerb::Show { preset: Some(name), json } => preset::show_preset(config, name, *json, out),
        ConfigVerb::Show { preset: None, json: true } => {
            let mut values = Map::new();
            for entry in ENTRIES.iter() {
                if let Some((value, from)) = redacted_value(config, entry.name) {
                    values.insert(entry.name.to_owned(), json!({"value": value, "from": from.to_string()}));
                }
            }
            let presets: Map<String, Value> = config
                .presets
                .iter()
                .map(|(name, settings)| {
                    (name.clone(), settings.iter().cloned().collect::<Map<_, _>>().into())
                })
                .collect();
            let papers: Vec<Value> = published_results()
                .iter()
                .map(|r| {
                    json!({"preset": r.preset, "source": r.source(), "label": r.label, "method": r.method,
                        "trials": r.trials, "steps": r.steps, "pool": r.starts_with_lessons, "settings": r.settings,
                        "calibration": r.calibration, "advisor": r.advisor, "environments": r.environments(),
                        "sampling": r.sampling().collect::<BTreeMap<_, _>>()})
                })
                .collect();
            let of_methods = program_presets().iter().filter(|preset| preset.row.is_none());
            let of_methods: Vec<Value> = of_methods
                .map(|preset| {
                    json!({"preset": preset.name, "meaning": preset.meaning, "method": preset.method,
                        "trials": preset.trials, "steps": preset.steps,
                        "settings": preset.settings_in("", &Settings::default()).into_iter().collect::<BTreeMap<_, _>>()})
                })
                .collect();
            out.print_json(&json!({"paper_presets": papers, "method_presets": of_methods, "file": config.file, "exists": config.file.is_file(), "values": values, "presets": presets, "models": config.models.keys().collect::<Vec<_>>()}).to_string())
        }
        ConfigVerb::Show { preset: None, json: false } => {
            let state = if config.file.is_file() {
                ""
            } else {
                " (doesn't exist; `retrospect config init` creates it)"
            };
            out.print_line(&with_program_name(&format!("file: {}{state}", config.file.display())))?;
            for (name, path) in [("themes", "themes/"), ("keys", "keys.toml")] {
                out.print_line(&format!("{name}: {}", config.folder.join(path).display()))?;
            }
            out.print_line("")?;
            for entry in ENTRIES.iter() {
                let Some((value, from)) = redacted_value(config, entry.name) else { continue };
                let value = match value.as_str() {
                    Some("") => "-".to_owned(),
                    Some(text) => text.to_owned(),
                    None => value.to_string(),
                };
                out.print_line(&format!("{:<20} {value:<24} {from}", entry.name))?;
            }
            out.print_line("")?;
            let own_profiles = config.models.keys().cloned().collect::<Vec<_>>().join(", ");
            let own_profiles = if own_profiles.is_empty() { "none".to_owned() } else { own_profiles };
            out.print_line(&format!(
                "server profiles (run --profile NAME), your own: {own_profiles}; built in: {}",
                Profile::shipped_names().join(", ")
            ))?;
            out.print_line("")?;
            out.print_line("method settings (run --set NAME=VALUE):")?;
            for spec in crate::catalog::SETTINGS.iter() {
                out.print_line(&format!(
                    "  {:<18} {:<12} {}",
                    spec.name,
                    spec.describe_default(),
                    spec.meaning
                ))?;
            }
            out.print_line("")?;
            out.print_line(
                "sampling parameters (run --set actor.NAME=VALUE or mentor.NAME=VALUE); if not set, the profile's:",
            )?;
            for param in &SAMPLING_PARAMS {
                out.print_line(&format!("  {:<18} {}; {}", param.name, param.meaning, param.allowed))?;
            }
            out.print_line("")?;
            out.print_line(
                "presets (run --preset NAME; config show --preset NAME lists the values); built-in ones are rows of the papers' \
                 tables, settings only, and those of methods:",
            )?;
            for preset in program_presets() {
                out.print_line(&format!("  {:<33} {}", preset.name, preset.meaning))?;
            }
            for (name, settings) in &config.presets {
                let settings: Vec<String> = settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
                out.print_line(&format!("  {name:<33} {}: {}", config.file.display(), settings.join(" ")))?;
            }
            Ok(())
        }
    }
}

/// Returns a value without secrets: header values and credentials in addresses are hidden.
fn redacted_value<'a>(config: &'a Config, name: &str) -> Option<(Cow<'a, Value>, &'a ValueOrigin)> {
    let (value, from) = config.values.get(name)?;
    let value = match value.as_str() {
        Some(lines) if name == "run.headers" => Cow::Owned(json!(redact_header_values(lines))),
        Some(url) if name.ends_with("base_url") => Cow::Owned(json!(crate::text::redact_url(url))),
        _ => Cow::Borrowed(value),
    };
    Some((value, from))
}

/// Writes the sample file; fails if the file exists, unless `force`.
fn write_sample_file(config: &Config, force: bool, out: &mut Output) -> Result<(), CliError> {
    if config.file.exists() && !force {
        return Err(CliError::new(
            CliErrorKind::Config,
            format!("{}: file already exists", config.file.display()),
            "edit it, or overwrite it with --force",
        ));
    }
    std::fs::create_dir_all(config.folder.join("themes"))
        .map_err(|e| CliError::file(&config.folder, "could not be created", &e))?;
    files::replace(&config.file, sample_file().as_bytes())
        .map_err(|e| CliError::file(&config.file, "could not be written", &e))?;
    out.print_line(&format!("wrote {}", config.file.display()))
}
