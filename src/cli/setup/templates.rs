//! Loads the current prompt templates, and checks them against those of a session.

use crate::cli::bounded;
use crate::cli::config::{Config, keys};
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::exemplars;
use crate::cli::settings::setting_origin;
use crate::domain::{RunSpec, Setting, SettingOrigin, TEMPLATES_SETTING};
use crate::prompt::Templates;
use serde_json::Value;
use std::path::Path;

/// Returns the setting, with its name, that records which texts a run can show with these templates.
pub(super) fn templates_setting(spec: &RunSpec, templates: &Templates, config: &Config) -> (String, Setting) {
    let origin = setting_origin(config.origin(&keys::PROMPTS));
    (TEMPLATES_SETTING.to_owned(), Setting { value: templates.hash_for(spec).into(), origin })
}

/// Records in a run which texts it can show, since resuming it with others must be noticed, and returns the templates.
///
/// # Errors
/// Fails with a [`CliError`] if the templates can't be loaded.
pub(in crate::cli) fn record_templates(spec: &mut RunSpec, config: &Config) -> Result<Templates, CliError> {
    let templates = load_templates(config)?;
    let (name, setting) = templates_setting(spec, &templates, config);
    spec.settings.insert(name, setting);
    Ok(templates)
}

/// Returns whether a run was started with the texts of `current`.
pub(in crate::cli) fn are_templates_current(spec: &RunSpec, current: &Templates) -> bool {
    current.matches(spec, spec.settings.text(TEMPLATES_SETTING, ""))
}

/// Checks that a run can be resumed with the current templates. Returns `None` if they are those that it was started
/// with. If they differ and are `accepted` (`--accept-prompts`), returns the change of the setting that the caller must
/// record.
///
/// # Errors
/// Fails with a usage [`CliError`] if they differ and aren't accepted.
pub(in crate::cli) fn check_templates(
    spec: &RunSpec,
    config: &Config,
    accepted: bool,
) -> Result<Option<(String, Value)>, CliError> {
    // A run without a record of its templates can't be compared.
    let Some(recorded) = spec.settings.recorded(TEMPLATES_SETTING) else { return Ok(None) };
    let current = load_templates(config)?;
    if are_templates_current(spec, &current) {
        return Ok(None);
    }
    let current_hash = current.hash_for(spec);
    if accepted {
        return Ok(Some((TEMPLATES_SETTING.to_owned(), current_hash.into())));
    }
    let recorded_source = match recorded.origin {
        SettingOrigin::BuiltIn => "built into the version that started it",
        SettingOrigin::Person => "accepted later",
        _ => "from a folder",
    };
    let folder = config.get(keys::PROMPTS).filter(|folder| !is_builtin(folder));
    let current_source = folder.as_ref().map_or_else(|| "built in".to_owned(), |f| f.display().to_string());
    let originals = match (recorded.origin, folder) {
        (SettingOrigin::BuiltIn, None) => "use the version of the program that started it",
        (SettingOrigin::BuiltIn, Some(_)) => "use the built-in templates (--prompts builtin)",
        _ => "use the original templates (--prompts DIR)",
    };
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    Err(CliError::usage(
        format!(
            "this run was started with prompt templates {} ({recorded_source}), but the current ones are {} \
             ({current_source})",
            short(recorded.value.as_str().unwrap_or_default()),
            short(&current_hash)
        ),
        format!("{originals}, or continue with the current ones: --accept-prompts"),
    ))
}

/// Returns whether the folder is the word `builtin`: `--prompts builtin` overrides a folder set in the configuration.
fn is_builtin(folder: &Path) -> bool {
    folder == Path::new("builtin")
}

/// Loads the current prompt templates: the built-in ones, overridden by those of a folder, with the exemplars of a
/// pool.
pub(in crate::cli) fn load_templates(config: &Config) -> Result<Templates, CliError> {
    exemplars::with_exemplars(read_templates_folder(config.get(keys::PROMPTS).as_deref())?, config)
}

fn read_templates_folder(folder: Option<&Path>) -> Result<Templates, CliError> {
    let Some(folder) = folder.filter(|f| !is_builtin(f)) else {
        return Ok(crate::catalog::builtin_templates());
    };
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder)
        .map_err(|e| CliError::file(folder, "the templates could not be read", &e))?;
    for path in entries.flatten().map(|e| e.path()).filter(|p| p.is_file()) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        let text = bounded::read_text(&path).map_err(|e| CliError::file(&path, "could not be read", &e))?;
        files.push((name, text));
    }
    files.sort();
    crate::catalog::parse_templates(files).map_err(|e| {
        CliError::new(
            CliErrorKind::Method,
            format!("{}/{e}", folder.display()),
            "fix the template, or remove it from the folder",
        )
    })
}
