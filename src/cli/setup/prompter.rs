//! What writes DORA's instruction for the mentor: sentences that are chosen from, or a model on this machine.

use crate::cli::bounded;
use crate::cli::config::{Config, Entry, ValueOrigin, keys};
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::settings::{not_of_this_method, setting_origin};
use crate::domain::{RunSpec, SettingOrigin};
use crate::method::dora::read_advice;
use crate::method::dora::settings::{ADVICE_SETTING, MODEL_SETTING, PROMPTER, Prompter, TEMPLATE_SETTING};
use crate::prompter::{self, ModelFacts, PrompterName, template};
use serde_json::json;
use std::path::Path;

/// Records the prompter of a run whose method has one, with the texts that it needs: a resumed run depends on no file but the
/// model's. Returns what is known of the model.
///
/// # Errors
/// Fails with a [`CliError`] if the prompter was chosen for a method without one, if it can't be used here, or if one of its
/// files can't be read.
pub(super) fn record(config: &Config, spec: &mut RunSpec) -> Result<Option<ModelFacts>, CliError> {
    let setting = PROMPTER.spec.name;
    let entries = [keys::PROMPTER.entry(), keys::PROMPTER_TEMPLATE.entry(), keys::ADVICE.entry()];
    let is_flag = |entry: &Entry| matches!(config.origin(entry), ValueOrigin::Flag(_));
    if !spec.settings.contains(setting) {
        // A configuration may be for runs of several methods.
        return if entries.iter().any(is_flag) { Err(not_of_this_method(setting)) } else { Ok(None) };
    }
    let name = PrompterName::parse(config.get(keys::PROMPTER)).map_err(|why| {
        let given = config.get(keys::PROMPTER);
        CliError::usage(
            format!("--prompter {given}: {why}"),
            "use --prompter text, or name a folder: --prompter local:DIR",
        )
    })?;
    let is_set_by_name =
        spec.settings.recorded(setting).is_some_and(|recorded| recorded.origin == SettingOrigin::Flag);
    match name {
        PrompterName::Local(folder) if !(is_set_by_name && spec.settings.get(PROMPTER) == Prompter::Text) => {
            reject_unused(config, &keys::ADVICE.entry(), "text")?;
            let facts = prompter::inspect(&folder).map_err(|error| {
                CliError::new(
                    CliErrorKind::Config,
                    format!("--prompter: {error}"),
                    "docs/methods/dora.md says which models can be used",
                )
            })?;
            let origin = setting_origin(config.origin(&keys::PROMPTER));
            let absolute = std::path::absolute(&folder)
                .map_err(|error| CliError::file(&folder, "the folder's path is unknown", &error))?;
            spec.settings.set(setting, Prompter::Local.word(), origin);
            spec.settings.set(MODEL_SETTING, absolute.display().to_string(), origin);
            spec.settings.set(TEMPLATE_SETTING, read_template(config, &facts.name)?, origin);
            Ok(Some(facts))
        }
        PrompterName::Text if spec.settings.get(PROMPTER) == Prompter::Local => Err(CliError::usage(
            format!("setting {setting} = local needs the folder of a model"),
            "name it with --prompter local:DIR",
        )),
        _ => {
            reject_unused(config, &keys::PROMPTER_TEMPLATE.entry(), "local:DIR")?;
            if let Some(file) = config.get(keys::ADVICE) {
                let origin = setting_origin(config.origin(&keys::ADVICE));
                let text = read_file(&file, "the sentences")?;
                let groups = read_advice(&text).map_err(|why| invalid_file(&file, &why))?;
                spec.settings.set(ADVICE_SETTING, json!(groups), origin);
            }
            Ok(None)
        }
    }
}

/// Rejects a flag that the chosen prompter has no use for.
fn reject_unused(config: &Config, entry: &Entry, prompter: &str) -> Result<(), CliError> {
    if !matches!(config.origin(entry), ValueOrigin::Flag(_)) {
        return Ok(());
    }
    Err(CliError::usage(
        format!("{} is for the prompter {prompter}, not for the one of this run", entry.flag),
        format!("omit {}, or choose --prompter {prompter}", entry.flag),
    ))
}

fn read_template(config: &Config, model: &str) -> Result<String, CliError> {
    let Some(file) = config.get(keys::PROMPTER_TEMPLATE) else {
        return Ok(template::default_template(model).to_owned());
    };
    let text = read_file(&file, "the template")?;
    template::check(&text).map_err(|why| invalid_file(&file, &why))?;
    Ok(text)
}

fn read_file(file: &Path, what: &str) -> Result<String, CliError> {
    bounded::read_text(file)
        .map_err(|error| CliError::file(file, &format!("{what} could not be read"), &error))
}

fn invalid_file(file: &Path, why: &str) -> CliError {
    CliError::new(
        CliErrorKind::File,
        format!("{}: {why}", file.display()),
        "docs/methods/dora.md describes the file",
    )
}
