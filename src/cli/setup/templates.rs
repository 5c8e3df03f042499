//! The prompt templates in force, and whether a run may be taken up with them.

use crate::cli::bounded;
use crate::cli::calibration_setup;
use crate::cli::config::Config;
use crate::cli::error::{CliError, CliErrorKind};
use crate::domain::{RunSpec, SettingOrigin};
use crate::prompt::Templates;
use std::path::Path;

/// Whether a run may be taken up with the templates in force here. Where they are others than those it was begun with,
/// that has to be said (`accepted`); their hash is then to be written down.
pub(in crate::cli) fn check_templates(
    spec: &RunSpec,
    config: &Config,
    accepted: bool,
) -> Result<Option<String>, CliError> {
    // A run that does not say which templates it had cannot be compared.
    let Some(begun) = spec.settings.0.get("templates") else { return Ok(None) };
    let had = begun.value.as_str().unwrap_or_default();
    let folder = config.path("run.prompts");
    let here = load_templates(config)?;
    if here.hash() == had {
        return Ok(None);
    }
    if accepted {
        return Ok(Some(here.hash().to_owned()));
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let were = match begun.origin {
        SettingOrigin::BuiltIn => "the built-in ones of the program that began it",
        _ => "of a folder",
    };
    let are = match folder.filter(|f| !is_builtin(f)) {
        Some(folder) => folder.display().to_string(),
        None => "built in".to_owned(),
    };
    Err(CliError::usage(
        format!(
            "this run was begun with the prompt templates {} ({were}); those in force here are {} ({are})",
            short(had),
            short(here.hash())
        ),
        "give the folder it was begun with (--prompts DIR, or --prompts builtin), or go on with those in force here: \
         --accept-prompts",
    ))
}

/// `--prompts builtin` takes back a folder of the configuration.
fn is_builtin(folder: &Path) -> bool {
    folder == Path::new("builtin")
}

/// The prompt templates in force: the built-in ones, with those of a folder over them, and with the exemplars of a pool.
pub(in crate::cli) fn load_templates(config: &Config) -> Result<Templates, CliError> {
    let templates = read_templates_folder(config.path("run.prompts").as_deref())?;
    match config.path("run.exemplars") {
        None => Ok(templates),
        Some(file) => calibration_setup::with_exemplars(templates, &file),
    }
}

fn read_templates_folder(folder: Option<&Path>) -> Result<Templates, CliError> {
    let Some(folder) = folder.filter(|f| !is_builtin(f)) else { return Ok(Templates::builtin()) };
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
    Templates::with_overrides(files).map_err(|e| {
        CliError::new(
            CliErrorKind::Method,
            format!("{}/{e}", folder.display()),
            "mend the template, or take it out of the folder",
        )
    })
}
