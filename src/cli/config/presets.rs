//! Built-in presets: rows of the papers' tables, as far as settings can express them.

use super::{Config, ValueOrigin, keys};
use crate::cli::error::CliError;
use crate::report::metrics::{PaperRow, published_results};
use serde_json::json;
use std::fmt::Write as _;

/// Finds a row by its preset name.
pub(in crate::cli) fn find_preset_row(name: &str) -> Option<&'static PaperRow> {
    published_results().iter().find(|r| r.preset == name)
}

/// Returns the long help of `--preset`, with all built-in presets.
pub fn help() -> String {
    let mut text = String::from(
        "Named group of settings: a row of a paper's table or `[preset.P]` of the configuration file. Flags override a \
         preset. Model, environment and split are not part of it.\n\nBuilt-in presets:\n",
    );
    for row in published_results() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {:<28} {}: {}", row.preset, row.source(), row.label);
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
