//! The options of DORA's prompter: sentences that are chosen from, or a model on this machine.

use crate::catalog::method_option::{GivenOptions, MethodOption, OptionError};
use crate::domain::{SettingOrigin, Settings};
use crate::env::OptionValues;
use crate::method::dora::read_advice;
use crate::method::dora::settings::{ADVICE_SETTING, MODEL_SETTING, PROMPTER, Prompter, TEMPLATE_SETTING};
use crate::prompter::{self, PrompterName, template};
use serde_json::json;
use std::path::Path;

pub(super) const OPTIONS: &[MethodOption] = &[PROMPTER_OPTION, TEMPLATE_OPTION, ADVICE_OPTION];

const PROMPTER_OPTION: MethodOption = MethodOption {
    name: "run.prompter",
    meaning: "what writes the mentor's instruction, if the method searches for it: text (chooses among sentences) or local:DIR, the folder of a model (config.json, tokenizer.json, *.safetensors)",
    values: OptionValues::Text { default: "text" },
    variable: "RETROSPECT_PROMPTER",
    flag: "--prompter",
    value_name: "PROMPTER",
};

const TEMPLATE_OPTION: MethodOption = MethodOption {
    name: "run.prompter_template",
    meaning: "file with the text that a model as prompter continues, with `{demonstrations}` and `{question}`; by default Vicuna's form for a folder with this name, and plain text for others",
    values: OptionValues::Path,
    variable: "RETROSPECT_PROMPTER_TEMPLATE",
    flag: "--prompter-template",
    value_name: "FILE",
};

const ADVICE_OPTION: MethodOption = MethodOption {
    name: "run.advice",
    meaning: "sentences among which the prompter text chooses, one per line; a line with `#` begins a group, of each group one is chosen",
    values: OptionValues::Path,
    variable: "RETROSPECT_ADVICE",
    flag: "--advice",
    value_name: "FILE",
};

/// Records the prompter with the texts that it needs, so that a resumed run depends on no file but the model's. Returns what is
/// known of the model.
///
/// # Errors
/// Fails with an [`OptionError`] if the prompter can't be used here, or if one of its files can't be read.
pub(super) fn record(
    given: &dyn GivenOptions,
    settings: &mut Settings,
) -> Result<Option<String>, OptionError> {
    let setting = PROMPTER.spec.name;
    let prompter = given.text(&PROMPTER_OPTION);
    let name = PrompterName::parse(&prompter).map_err(|why| {
        OptionError::usage(
            format!("{} {prompter}: {why}", PROMPTER_OPTION.flag),
            "use --prompter text, or name a folder: --prompter local:DIR",
        )
    })?;
    let is_set_by_name =
        settings.recorded(setting).is_some_and(|recorded| recorded.origin == SettingOrigin::Flag);
    match name {
        PrompterName::Local(folder) if !(is_set_by_name && settings.get(PROMPTER) == Prompter::Text) => {
            reject_unused(given, &ADVICE_OPTION, "text")?;
            let facts = prompter::inspect(&folder).map_err(|error| {
                OptionError::file(
                    format!("{}: {error}", PROMPTER_OPTION.flag),
                    "docs/methods/dora.md says which models can be used",
                )
            })?;
            let origin = given.origin(&PROMPTER_OPTION);
            let absolute = std::path::absolute(&folder).map_err(|error| {
                OptionError::file(
                    format!("{}: {error}", folder.display()),
                    "name the folder by its full path",
                )
            })?;
            settings.set(setting, Prompter::Local.word(), origin);
            settings.set(MODEL_SETTING, absolute.display().to_string(), origin);
            settings.set(TEMPLATE_SETTING, read_template(given, &facts.name)?, origin);
            Ok(Some(format!("the prompter is a local model: {}", facts.describe())))
        }
        PrompterName::Text if settings.get(PROMPTER) == Prompter::Local => Err(OptionError::usage(
            format!("setting {setting} = local needs the folder of a model"),
            "name it with --prompter local:DIR",
        )),
        PrompterName::Local(_) if given.origin(&PROMPTER_OPTION) == SettingOrigin::Flag => {
            Err(OptionError::usage(
                format!("{} {prompter} contradicts the setting {setting} = text", PROMPTER_OPTION.flag),
                "give only one of them",
            ))
        }
        _ => {
            reject_unused(given, &TEMPLATE_OPTION, "local:DIR")?;
            if let Some(file) = given.path(&ADVICE_OPTION) {
                let text = given.read_text(&file)?;
                let groups = read_advice(&text).map_err(|why| invalid_file(&file, &why))?;
                settings.set(ADVICE_SETTING, json!(groups), given.origin(&ADVICE_OPTION));
            }
            Ok(None)
        }
    }
}

/// Rejects a flag that the chosen prompter has no use for.
fn reject_unused(given: &dyn GivenOptions, option: &MethodOption, prompter: &str) -> Result<(), OptionError> {
    if given.origin(option) != SettingOrigin::Flag {
        return Ok(());
    }
    Err(OptionError::usage(
        format!("{} is for the prompter {prompter}, not for the one of this run", option.flag),
        format!("omit {}, or choose --prompter {prompter}", option.flag),
    ))
}

fn read_template(given: &dyn GivenOptions, model: &str) -> Result<String, OptionError> {
    let Some(file) = given.path(&TEMPLATE_OPTION) else {
        return Ok(template::default_template(model).to_owned());
    };
    let text = given.read_text(&file)?;
    template::check(&text).map_err(|why| invalid_file(&file, &why))?;
    Ok(text)
}

fn invalid_file(file: &Path, why: &str) -> OptionError {
    OptionError::file(format!("{}: {why}", file.display()), "docs/methods/dora.md describes the file")
}
