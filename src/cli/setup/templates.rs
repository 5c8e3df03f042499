//! Loads the current prompt templates, and checks them against those of a session.

use crate::cli::bounded;
use crate::cli::calibration_setup;
use crate::cli::config::{Config, keys};
use crate::cli::error::{CliError, CliErrorKind};
use crate::domain::{RunSpec, SettingOrigin};
use crate::prompt::Templates;
use std::path::Path;

/// Checks that a run can be resumed with the current templates. Returns `None` if they are those that it was started
/// with. If they differ and are `accepted` (`--accept-prompts`), returns their hash, which the caller must record.
///
/// # Errors
/// Fails with a usage [`CliError`] if they differ and aren't accepted.
pub(in crate::cli) fn check_templates(
    spec: &RunSpec,
    config: &Config,
    accepted: bool,
) -> Result<Option<String>, CliError> {
    // A run without a record of its templates can't be compared.
    let Some(recorded) = spec.settings.0.get("templates") else { return Ok(None) };
    let recorded_hash = recorded.value.as_str().unwrap_or_default();
    let folder = config.get(keys::PROMPTS);
    let current = load_templates(config)?;
    if current.hash() == recorded_hash {
        return Ok(None);
    }
    if accepted {
        return Ok(Some(current.hash().to_owned()));
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let recorded_source = match recorded.origin {
        SettingOrigin::BuiltIn => "built into the version that started it",
        _ => "from a folder",
    };
    let current_source = match folder.filter(|f| !is_builtin(f)) {
        Some(folder) => folder.display().to_string(),
        None => "built in".to_owned(),
    };
    Err(CliError::usage(
        format!(
            "this run was started with prompt templates {} ({recorded_source}), but the current ones are {} \
             ({current_source})",
            short(recorded_hash),
            short(current.hash())
        ),
        "use the original templates (--prompts DIR, or --prompts builtin), or continue with the current ones: \
         --accept-prompts",
    ))
}

/// Returns whether the folder is the word `builtin`: `--prompts builtin` overrides a folder set in the configuration.
fn is_builtin(folder: &Path) -> bool {
    folder == Path::new("builtin")
}

/// Loads the current prompt templates: the built-in ones, overridden by those of a folder, with the exemplars of a
/// pool.
pub(in crate::cli) fn load_templates(config: &Config) -> Result<Templates, CliError> {
    let templates = read_templates_folder(config.get(keys::PROMPTS).as_deref())?;
    match config.get(keys::EXEMPLARS) {
        None => Ok(templates),
        Some(file) => calibration_setup::with_exemplars(templates, &file),
    }
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
