//! The built-in prompt templates: those of all methods and environments.

use super::environments::ENVIRONMENTS;
use super::methods::{CALIBRATION_METHOD, DEFAULT_METHOD, METHODS};
use crate::prompt::{GENERAL_TEXTS, TemplateError, TemplateFiles, Templates};
use std::sync::LazyLock;

static FILES: LazyLock<TemplateFiles> = LazyLock::new(|| {
    let methods = METHODS.iter().flat_map(|entry| entry.templates);
    let environments = ENVIRONMENTS.iter().flat_map(|entry| entry.templates);
    let public_examples_env = ENVIRONMENTS.iter().find(|entry| entry.has_public_examples);
    TemplateFiles {
        files: methods.chain(environments).chain([&GENERAL_TEXTS]).copied().collect(),
        default_method: DEFAULT_METHOD.name,
        calibration_method: CALIBRATION_METHOD.name,
        public_examples_env: public_examples_env.map_or("", |entry| entry.name),
    }
});

/// Returns the built-in templates.
pub fn builtin_templates() -> Templates {
    // A test parses every built-in file, so the fallback is never used.
    parse_templates(Vec::new()).unwrap_or_default()
}

/// Returns the built-in templates with some files replaced; `overrides` holds (file name, text) pairs.
///
/// # Errors
/// Returns a [`TemplateError`] for the first file whose name is unknown or whose text cannot be parsed.
pub fn parse_templates(overrides: Vec<(String, String)>) -> Result<Templates, TemplateError> {
    Templates::parse(&FILES, overrides)
}
