//! Presets that come with the program: rows of the papers' tables, as far as settings go.

use super::{Config, ValueOrigin};
use crate::cli::error::CliError;
use crate::report::metrics::{PaperRow, paper_rows};
use serde_json::json;
use std::fmt::Write as _;

/// A row by its name.
pub(in crate::cli) fn find_preset_row(name: &str) -> Option<&'static PaperRow> {
    paper_rows().iter().find(|r| r.preset == name)
}

/// All of them for `run --help`.
pub fn help() -> String {
    let mut text = String::from(
        "Settings by one name: those of a row of a paper's table, or of `[preset.P]` in the configuration file. Flags count \
         more than a preset. Model, environment and split are yours to choose.\n\nThere are:\n",
    );
    for row in paper_rows() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {:<28} {}: {}", row.preset, row.source(), row.label);
    }
    text
}

impl Config {
    /// The built-in preset of this name, unless the file has one of the same name.
    pub(in crate::cli) fn built_in_preset(&self, name: Option<&str>) -> Option<&'static PaperRow> {
        name.filter(|n| !self.presets.contains_key(*n)).and_then(find_preset_row)
    }

    /// Takes method and trials of a row where no flag says otherwise.
    ///
    /// # Errors
    /// A usage [`CliError`] when a flag names another method.
    pub(in crate::cli) fn apply_preset_row(&mut self, row: &'static PaperRow) -> Result<(), CliError> {
        let flag = |config: &Self, name: &str| matches!(config.origin(name), ValueOrigin::Flag(_));
        if flag(self, "run.method") && self.text("run.method") != row.method {
            return Err(CliError::usage(
                format!("--preset {} is of {}, not of {}", row.preset, row.method, self.text("run.method")),
                "leave --method away, or take another preset",
            ));
        }
        self.values.insert("run.method", (json!(row.method), ValueOrigin::Preset(&row.preset)));
        if !flag(self, "run.trials") {
            self.values.insert("run.trials", (json!(row.trials), ValueOrigin::Preset(&row.preset)));
        }
        Ok(())
    }
}
