//! The built-in prompt templates: those of all methods and environments.

use super::environment_entry::EnvironmentEntry;
use super::environments::ENVIRONMENTS;
use super::method_entry::MethodEntry;
use super::methods::{BASE_METHOD, CALIBRATION_METHOD, METHODS};
use crate::env::OptionValues;
use crate::prompt::{GENERAL_TEXTS, TemplateError, TemplateFiles, Templates};
use std::sync::LazyLock;

static FILES: LazyLock<TemplateFiles> = LazyLock::new(|| files(&METHODS, &ENVIRONMENTS));

/// Returns the template files of these methods and environments, and those for all environments.
pub(super) fn files(methods: &[&MethodEntry], environments: &[&EnvironmentEntry]) -> TemplateFiles {
    let mut with_public_files =
        environments.iter().filter_map(|entry| Some((entry.name, entry.public_files?)));
    let of_methods = methods.iter().flat_map(|entry| entry.templates);
    let of_environments = environments.iter().flat_map(|entry| entry.templates);
    TemplateFiles {
        files: of_methods.chain(of_environments).chain([&GENERAL_TEXTS]).copied().collect(),
        methods: methods.iter().map(|entry| entry.name).collect(),
        environments: environments.iter().map(|entry| entry.name).collect(),
        other_wordings: environments
            .iter()
            .filter_map(|entry| Some((entry.name, entry.texts.other_wording?)))
            .collect(),
        settings: super::settings::table(methods, environments),
        options: environments
            .iter()
            .flat_map(|entry| entry.options)
            .filter_map(|option| match option.values {
                OptionValues::Words(words) => Some((option.name, words)),
                _ => None,
            })
            .collect(),
        default_method: BASE_METHOD.name,
        calibration_method: CALIBRATION_METHOD.name,
        own_calibration: methods.iter().filter(|e| e.learns_from_calibration).map(|e| e.name).collect(),
        public_files: with_public_files.next(),
    }
}

/// Parsing them takes a tenth of the time to the first frame, and a start needs them several times.
static BUILT_IN: LazyLock<Templates> = LazyLock::new(|| match parse_templates(Vec::new()) {
    Ok(templates) => templates,
    Err(error) => unreachable!("{error} (`extend` and a test parse all of them)"),
});

/// Returns the built-in templates.
pub fn builtin_templates() -> Templates {
    BUILT_IN.clone()
}

/// Returns the built-in templates with some files replaced; `overrides` holds (file name, text) pairs.
///
/// # Errors
/// Returns a [`TemplateError`] for the first file whose name is unknown or whose text cannot be parsed.
pub fn parse_templates(overrides: Vec<(String, String)>) -> Result<Templates, TemplateError> {
    Templates::parse(&FILES, overrides)
}
