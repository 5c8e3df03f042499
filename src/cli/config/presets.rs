//! Built-in presets: rows of the papers' tables, as far as settings can express them.

use super::{Config, ValueOrigin, keys};
use crate::catalog::find_environment;
use crate::cli::error::CliError;
use crate::domain::RunSpec;
use crate::report::metrics::{PaperRow, published_results};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Finds a row by its preset name.
pub(in crate::cli) fn find_preset_row(name: &str) -> Option<&'static PaperRow> {
    published_results().iter().find(|r| r.preset == name)
}

/// Returns a row's preset with its source and the environments of its figures.
pub(in crate::cli) fn describe(row: &PaperRow) -> String {
    let known = |env: &&str| find_environment(env).is_some();
    let (here, elsewhere): (Vec<&str>, Vec<&str>) = row.environments().into_iter().partition(known);
    let elsewhere = elsewhere.into_iter().map(|env| format!("{env}, which is not available here"));
    let environments: Vec<String> = here.into_iter().map(str::to_owned).chain(elsewhere).collect();
    format!("{:<33} {}: {} ({})", row.preset, row.source(), row.label, environments.join(", "))
}

/// Returns what keeps a run with a preset from reproducing its row: an environment without figures, or a constitution by
/// another model than the paper's.
pub(in crate::cli) fn warnings(row: &PaperRow, spec: &RunSpec) -> Vec<String> {
    let environments = row.environments();
    let without_figures: BTreeSet<&str> = spec
        .test_tasks()
        .iter()
        .map(|task| task.env.as_str())
        .filter(|env| !environments.contains(env))
        .collect();
    let join = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let mut warnings = Vec::new();
    if !without_figures.is_empty() {
        warnings.push(format!(
            "preset {} is for {}; the paper has no figures for {}",
            row.preset,
            join(environments),
            join(without_figures)
        ));
    }
    if let Some(advisor) =
        row.advisor.as_ref().filter(|_| !spec.calibration_tasks().is_empty() && !row.is_advisor(&spec.mentor))
    {
        warnings.push(format!(
            "preset {}: {advisor} writes the constitution in the paper, {} here; --mentor chooses another model",
            row.preset, spec.mentor
        ));
    }
    warnings
}

/// Returns the long help of `--preset`, with all built-in presets.
pub fn help() -> String {
    let mut text = String::from(
        "Named group of settings: a row of a paper's table or `[preset.P]` of the configuration file. Flags override a \
         preset. Model, environment and split are not part of it.\n\nBuilt-in presets:\n",
    );
    for row in published_results() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {}", describe(row));
    }
    text
}

impl Config {
    /// Returns the built-in preset of this name, unless the file has a preset of the same name.
    pub(in crate::cli) fn built_in_preset(&self, name: Option<&str>) -> Option<&'static PaperRow> {
        name.filter(|n| !self.presets.contains_key(*n)).and_then(find_preset_row)
    }

    /// Applies method and trials of a row unless flags set them.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if a flag names another method.
    pub(in crate::cli) fn apply_preset_row(&mut self, row: &'static PaperRow) -> Result<(), CliError> {
        if self.is_set_by_flag(&keys::METHOD) && self.get(keys::METHOD) != row.method {
            return Err(CliError::usage(
                format!(
                    "--preset {} is for method {}, not {}",
                    row.preset,
                    row.method,
                    self.get(keys::METHOD)
                ),
                "leave out --method, or choose another preset",
            ));
        }
        self.values.insert(keys::METHOD.name, (json!(row.method), ValueOrigin::Preset(&row.preset)));
        if !self.is_set_by_flag(&keys::TRIALS) {
            self.values.insert(keys::TRIALS.name, (json!(row.trials), ValueOrigin::Preset(&row.preset)));
        }
        Ok(())
    }
}
