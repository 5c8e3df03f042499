//! Presets of the program: rows of the papers' tables, as far as settings can express them, and those that the entries of
//! methods declare.

use super::{Config, ValueOrigin, find_entry, keys};
use crate::catalog::{METHODS, PaperRow, find_environment, published_results};
use crate::cli::error::CliError;
use crate::domain::{ModelRole, RunSpec, SettingOrigin, Settings};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// A preset that the program brings along.
#[derive(Debug, PartialEq)]
pub(in crate::cli) struct ProgramPreset {
    pub(in crate::cli) name: &'static str,
    /// What it is: for a row its paper, table and label, and the environments of its figures.
    pub(in crate::cli) meaning: String,
    pub(in crate::cli) method: &'static str,
    pub(in crate::cli) trials: u32,
    pub(in crate::cli) steps: u32,
    /// The row of a paper's table that it is, if it is one.
    pub(in crate::cli) row: Option<&'static PaperRow>,
    /// Its settings, without those of the row.
    own_settings: Vec<(&'static str, Value)>,
}

impl ProgramPreset {
    /// The origin of its values; those of a method's preset count as configured.
    pub(in crate::cli) fn origin(&self) -> SettingOrigin {
        if self.row.is_some() { SettingOrigin::Paper } else { SettingOrigin::Config }
    }

    /// Returns the environment that a run with it has unless `--env` names another one: the only one of its row's figures.
    /// `None` if there are several, if it isn't available here, or if the configured one stands in for it.
    pub(in crate::cli) fn environment(&self, configured: &str) -> Option<&'static str> {
        let environments = self.row?.environments();
        let only = environments.first().filter(|_| environments.len() == 1)?;
        let stand_in = find_environment(configured).and_then(|entry| entry.task_facts.stands_in_for);
        find_environment(only).map(|entry| entry.name).filter(|name| stand_in != Some(*name))
    }

    /// Says what the run must learn or load before its tests, as a phrase; `None` if it starts without lessons.
    pub(in crate::cli) fn lesson_requirement(&self) -> Option<&'static str> {
        let row = self.row.filter(|row| row.starts_with_lessons)?;
        Some(if row.calibration.is_empty() {
            "needs calibration, a pool or a constitution"
        } else {
            "needs calibration"
        })
    }

    /// Checks that a run with this preset has the lessons that its row starts with.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if it has none, or only those of a file where the row says how they are learned.
    pub(in crate::cli) fn check_lessons(&self, lessons: InitialLessons) -> Result<(), CliError> {
        let Some(row) = self.row.filter(|row| row.starts_with_lessons && !lessons.by_calibration) else {
            return Ok(());
        };
        if !row.calibration.is_empty() {
            let settings: Vec<String> =
                row.calibration.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let file = if lessons.from_file { "; a file says nothing about how it was learned" } else { "" };
            return Err(CliError::usage(
                format!(
                    "--preset {} needs a constitution learned in this run with {}{file}",
                    self.name,
                    settings.join(" and ")
                ),
                if lessons.from_file {
                    "add --calibrate and leave out --pool and --constitution"
                } else {
                    "add --calibrate"
                },
            ));
        }
        if lessons.from_file {
            return Ok(());
        }
        Err(CliError::usage(
            format!("--preset {} needs initial lessons, but none were given", self.name),
            "learn them in this run with --calibrate, as `report --against paper` requires, or load others with --pool FILE \
             or --constitution FILE",
        ))
    }

    /// Returns the settings for an environment; those of a calibration only if `settings` has them already, since a run
    /// without one doesn't.
    pub(in crate::cli) fn settings_in(&self, env: &str, settings: &Settings) -> Vec<(&'static str, &Value)> {
        let own = self.own_settings.iter().map(|(name, value)| (*name, value));
        let of_row = self.row.into_iter().flat_map(|row| {
            let calibration = row.calibration.iter().map(|(name, value)| (name.as_str(), value));
            row.settings_in(env).into_iter().chain(calibration.filter(|(name, _)| settings.contains(name)))
        });
        own.chain(of_row).collect()
    }
}

/// Where the lessons of a run's start come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct InitialLessons {
    pub(in crate::cli) from_file: bool,
    /// The run itself learns them before its tests.
    pub(in crate::cli) by_calibration: bool,
}

/// Names a row's paper, table and label, and the environments of its figures.
fn describe(row: &PaperRow) -> String {
    let known = |env: &&str| find_environment(env).is_some();
    let (here, elsewhere): (Vec<&str>, Vec<&str>) = row.environments().into_iter().partition(known);
    let elsewhere = elsewhere.into_iter().map(|env| format!("{env}, which is not available here"));
    let environments: Vec<String> = here.into_iter().map(str::to_owned).chain(elsewhere).collect();
    format!("{}: {} ({})", row.source(), row.label, environments.join(", "))
}

static PRESETS: LazyLock<Vec<ProgramPreset>> = LazyLock::new(|| {
    let of_papers = published_results().iter().map(|row| ProgramPreset {
        name: &row.preset,
        meaning: describe(row),
        method: &row.method,
        trials: row.trials,
        steps: row.steps,
        row: Some(row),
        own_settings: Vec::new(),
    });
    let declared = METHODS.iter().flat_map(|entry| entry.presets.iter().map(move |preset| (entry, preset)));
    let of_methods = declared.map(|(entry, preset)| ProgramPreset {
        name: preset.name,
        meaning: preset.meaning.to_owned(),
        method: entry.name,
        trials: preset.trials,
        steps: preset.steps,
        row: None,
        own_settings: preset.settings.iter().map(|(name, value)| (*name, value.to_json())).collect(),
    });
    of_papers.chain(of_methods).collect()
});

/// Returns the presets of the program: first those of the papers.
pub(in crate::cli) fn program_presets() -> &'static [ProgramPreset] {
    &PRESETS
}

/// Finds a preset of the program by its name.
pub(in crate::cli) fn find_program_preset(name: &str) -> Option<&'static ProgramPreset> {
    program_presets().iter().find(|preset| preset.name == name)
}

/// Returns what keeps a run with a preset from reproducing its row: an environment without figures, lessons from a file, or a
/// constitution by another model than the paper's.
pub(in crate::cli) fn warnings(row: &PaperRow, spec: &RunSpec, lessons: InitialLessons) -> Vec<String> {
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
    if lessons.from_file {
        let (in_paper, remedy) = match (row.starts_with_lessons, lessons.by_calibration) {
            (false, _) => ("no lessons at the start", "leave the file out"),
            (true, true) => ("only what the calibration taught", "leave the file out"),
            (true, false) => {
                ("a constitution from the run's own calibration", "use --calibrate instead of the file")
            }
        };
        warnings.push(format!(
            "preset {}: the run starts with lessons from a file, the paper's with {in_paper}, so `report --against paper` \
             will show no figures; {remedy} to compare",
            row.preset
        ));
    }
    if let Some(advisor) =
        row.advisor.as_ref().filter(|_| !spec.calibration_tasks().is_empty() && !row.is_advisor(&spec.mentor))
    {
        warnings.push(format!(
            "preset {}: {advisor} writes the constitution in the paper, {} here; choose the model with --mentor \
             openai:MODEL",
            row.preset,
            spec.role_source(ModelRole::Mentor).describe()
        ));
    }
    warnings
}

/// Returns the long help of `--preset`, with all presets of the program.
pub fn help() -> String {
    let mut text = String::from(
        "Named group of settings: a row of a paper's table or `[preset.P]` of the configuration file. Flags override a \
         preset. A row whose figures are about one environment brings it, unless the configured one stands in for it. Model and \
         split are not part of it.\n\nBuilt-in presets:\n",
    );
    for preset in program_presets() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {:<33} {}", preset.name, preset.meaning);
    }
    text
}

impl Config {
    /// Returns the program's preset of this name, unless the file has a preset of the same name.
    pub(in crate::cli) fn built_in_preset(&self, name: Option<&str>) -> Option<&'static ProgramPreset> {
        name.filter(|n| !self.presets.contains_key(*n)).and_then(find_program_preset)
    }

    /// Applies the environment of a preset unless a flag sets it. Its options are looked up after that.
    pub(in crate::cli) fn apply_preset_environment(&mut self, preset: &'static ProgramPreset) {
        let environment = preset.environment(self.get(keys::ENV));
        if let Some(name) = environment.filter(|_| !self.is_set_by_flag(&keys::ENV)) {
            self.values.insert(keys::ENV.name, (json!(name), ValueOrigin::Preset(preset.name)));
        }
    }

    /// Applies method, trials and interface of a preset unless flags set them.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if a flag names another method.
    pub(in crate::cli) fn apply_program_preset(
        &mut self,
        preset: &'static ProgramPreset,
    ) -> Result<(), CliError> {
        if self.is_set_by_flag(&keys::METHOD) && self.get(keys::METHOD) != preset.method {
            return Err(CliError::usage(
                format!(
                    "--preset {} is for method {}, not {}",
                    preset.name,
                    preset.method,
                    self.get(keys::METHOD)
                ),
                "leave out --method, or choose another preset",
            ));
        }
        self.values.insert(keys::METHOD.name, (json!(preset.method), ValueOrigin::Preset(preset.name)));
        if !self.is_set_by_flag(&keys::TRIALS) {
            self.values.insert(keys::TRIALS.name, (json!(preset.trials), ValueOrigin::Preset(preset.name)));
        }
        for (name, value) in preset.row.into_iter().flat_map(|row| &row.options) {
            let entry = find_entry(name).filter(|entry| !self.is_set_by_flag(entry));
            if let Some(entry) = entry {
                self.values.insert(entry.name, (json!(value), ValueOrigin::Preset(preset.name)));
            }
        }
        let interface = preset.row.and_then(|row| row.interface_in(self.get(keys::ENV)));
        if let Some(interface) = interface.filter(|_| !self.is_set_by_flag(&keys::INTERFACE)) {
            self.values
                .insert(keys::INTERFACE.name, (json!(interface.word()), ValueOrigin::Preset(preset.name)));
        }
        Ok(())
    }
}
