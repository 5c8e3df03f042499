//! The settings of the start screen: their values, origins and allowed values.

use crate::catalog;
use crate::catalog::{
    ENVIRONMENTS, EnvironmentEntry, SETTINGS, environments_with_setting, methods_with_setting,
};
use crate::cli::args::{CALIBRATE_MEANING, CONSTITUTION_MEANING, POOL_MEANING};
use crate::cli::config::{
    Config, Entry, ValueOrigin, ValueType, exemplar_entries, find_entry, keys, program_presets,
};
use crate::cli::settings::setting_origin;
use crate::cli::{pool, setup};
use crate::domain::common_settings::MAX_STEPS;
use crate::domain::{
    DefaultValue, ModelRole, PaperOrCode, RoleSource, RunSpec, Setting, SettingOrigin, SettingSpec, Settings,
};
use crate::ui::start::{
    AllowedValues, NO_PRESET, SettingGroup, SettingRole, SettingRow, SettingsSource, ValueInEnvironment,
};
use serde_json::Value;

pub(super) const PRESET: &str = "run.preset";
/// A pool file with initial lessons.
pub(super) const POOL: &str = "start.pool";
/// A constitution file with initial lessons.
pub(super) const CONSTITUTION: &str = "start.constitution";
/// Whether the run starts with calibration episodes.
pub(super) const CALIBRATE: &str = "start.calibrate";

/// The heading of initial lessons and calibration.
const LESSONS_AT_START: &str = "Lessons at the start";
/// The heading of a method's settings and options.
const OF_THE_METHOD: &str = "The method";
/// The heading of an environment's settings and options.
const OF_THE_ENVIRONMENT: &str = "The environment";
/// The heading of the settings that all runs have.
const EVERY_RUN: &str = "Every run";

const AGENT_ENTRIES: &[(Entry, SettingRole)] = &[
    (keys::ACTOR.entry(), SettingRole::Actor),
    (keys::MENTOR.entry(), SettingRole::Mentor),
    (keys::PROFILE.entry(), SettingRole::ActorProfile),
    (keys::BASE_URL.entry(), SettingRole::Other),
    (keys::MENTOR_PROFILE.entry(), SettingRole::MentorProfile),
    (keys::MENTOR_BASE_URL.entry(), SettingRole::Other),
];

const METHOD_ENTRIES: &[(Entry, SettingRole)] =
    &[(keys::AS.entry(), SettingRole::PaperOrCode), (keys::TRIALS.entry(), SettingRole::Other)];

const PROMPT_ENTRIES: &[(Entry, SettingRole)] =
    &[(keys::INTERFACE.entry(), SettingRole::Other), (keys::PROMPTS.entry(), SettingRole::Other)];

const SERVER_ENTRIES: &[(Entry, SettingRole)] =
    &[(keys::API.entry(), SettingRole::Other), (keys::CACHE.entry(), SettingRole::Other)];

/// Who has a setting of the table of settings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SettingKind {
    Method,
    Environment,
    EveryRun,
}

impl SettingKind {
    fn of(name: &str) -> Self {
        match (methods_with_setting(name), environments_with_setting(name)) {
            (Some(_), _) => Self::Method,
            (None, Some(_)) => Self::Environment,
            (None, None) => Self::EveryRun,
        }
    }
}

/// The selected preset, method and reading that a table of settings is built for.
struct SettingsContext<'a> {
    config: &'a Config,
    preset: Option<&'a str>,
    spec: &'a RunSpec,
    /// Method and reading; `None` uses the configuration's.
    method_and_reading: Option<(&'a str, PaperOrCode)>,
    offered: &'a Suggestions,
    /// Settings by environment.
    defaults: &'a [DefaultsIn],
}

/// Settings of a method, reading and preset in an environment that has defaults of its own, or in all others.
struct DefaultsIn {
    environment: Option<&'static str>,
    settings: Settings,
}

/// Returns them for each such environment, and for all others at last. `None` if the preset doesn't apply to the method.
fn defaults_by_environment(
    config: &Config,
    preset: Option<&str>,
    method: &str,
    reading: PaperOrCode,
) -> Option<Vec<DefaultsIn>> {
    let has_own = |entry: &&&EnvironmentEntry| !entry.defaults.settings.is_empty();
    let own = ENVIRONMENTS.iter().filter(has_own).map(|entry| Some(entry.name));
    own.chain([None])
        .map(|environment| {
            let mut settings = catalog::default_settings(method, reading);
            catalog::apply_environment_defaults(environment.unwrap_or_default(), &mut settings);
            let env = environment.unwrap_or_else(|| config.get(keys::ENV));
            setup::apply_preset(config, preset, (reading, env), &mut settings).ok()?;
            Some(DefaultsIn { environment, settings })
        })
        .collect()
}

/// Returns the defaults in the chosen environment.
fn defaults_here<'d>(config: &Config, defaults: &'d [DefaultsIn]) -> Option<&'d DefaultsIn> {
    let here = config.get(keys::ENV);
    defaults.iter().find(|it| it.environment.is_none_or(|environment| environment == here))
}

fn setting_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Suggestions that are the same in every table.
struct Suggestions {
    presets: Vec<String>,
    /// Paths of pool files; the empty string means none.
    pools: Vec<String>,
}

impl Suggestions {
    fn new(config: &Config) -> Self {
        let configured = config.preset_names().map(str::to_owned);
        let built_in = program_presets().iter().map(|preset| preset.name.to_owned());
        let mut presets: Vec<String> =
            [NO_PRESET.to_owned()].into_iter().chain(configured).chain(built_in).collect();
        let mut seen = std::collections::HashSet::new();
        presets.retain(|name| seen.insert(name.clone()));
        let existing = Some(pool::pool_path(config)).filter(|file| file.is_file());
        let pools =
            [String::new()].into_iter().chain(existing.map(|file| file.display().to_string())).collect();
        Self { presets, pools }
    }
}

/// Returns the settings before anything is chosen.
pub(super) fn initial_rows(config: &Config, spec: &RunSpec) -> Vec<SettingRow> {
    let defaults =
        defaults_by_environment(config, None, &spec.method, config.get(keys::AS)).unwrap_or_default();
    SettingsContext {
        config,
        preset: None,
        spec,
        method_and_reading: None,
        offered: &Suggestions::new(config),
        defaults: &defaults,
    }
    .rows()
}

/// Returns the function that gives the screen the settings of another preset, method or reading.
pub(super) fn settings_source(config: &Config, spec: &RunSpec) -> SettingsSource {
    let (config, spec, offered) = (config.clone(), spec.clone(), Suggestions::new(config));
    Box::new(move |wanted| {
        let preset = Some(wanted.preset).filter(|name| *name != NO_PRESET);
        let reading = PaperOrCode::from_word(wanted.paper_or_code)?;
        // A built-in preset is of one method, one of the configuration file may fit several.
        let own_method = config.built_in_preset(preset).map(|preset| preset.method);
        let of_preset = |name: &&str| own_method.is_none_or(|own| own == *name);
        let candidates = catalog::METHOD_NAMES.iter().copied().filter(of_preset);
        candidates
            .filter(|name| wanted.method.is_none_or(|method| method == *name))
            .find_map(|method| rows_of((&config, &spec, &offered), preset, method, reading))
    })
}

/// Returns the settings of a combination, or `None` if the preset doesn't apply to the method.
fn rows_of(
    (config, spec, offered): (&Config, &RunSpec, &Suggestions),
    preset: Option<&str>,
    method: &str,
    reading: PaperOrCode,
) -> Option<Vec<SettingRow>> {
    let defaults = defaults_by_environment(config, preset, method, reading)?;
    let settings = defaults_here(config, &defaults)?.settings.clone();
    let spec = RunSpec { method: method.to_owned(), settings, ..spec.clone() };
    let method_and_reading = Some((method, reading));
    Some(
        SettingsContext { config, preset, spec: &spec, method_and_reading, offered, defaults: &defaults }
            .rows(),
    )
}

/// Returns the configured models, each with its profile.
pub(super) fn profile_by_model(config: &Config) -> Vec<(String, String)> {
    config
        .profiles_with_model()
        .map(|(profile, model)| (RoleSource::name_of_model(model), profile.to_owned()))
        .collect()
}

/// Returns what the values of a setting mean, as far as the program knows.
fn value_meanings(role: SettingRole) -> Vec<(String, String)> {
    let built_in = match role {
        SettingRole::Method => {
            return catalog::METHODS
                .iter()
                .map(|method| (method.name.to_owned(), method.summary.to_owned()))
                .collect();
        }
        SettingRole::Actor => RoleSource::built_in(ModelRole::Actor),
        SettingRole::Mentor => RoleSource::built_in(ModelRole::Mentor),
        _ => &[],
    };
    built_in.iter().map(|choice| (choice.name.to_owned(), choice.meaning.to_owned())).collect()
}

fn one_of(choices: &[&str]) -> AllowedValues {
    AllowedValues::OneOf(choices.iter().map(|w| (*w).to_owned()).collect())
}

impl SettingsContext<'_> {
    fn rows(&self) -> Vec<SettingRow> {
        let entries = |group, entries: &[(Entry, SettingRole)]| {
            entries.iter().map(|(entry, role)| self.entry_row(entry, *role, group)).collect::<Vec<_>>()
        };
        let mut all = entries(SettingGroup::Agent, AGENT_ENTRIES);
        all.extend(entries(SettingGroup::Method, &[(keys::METHOD.entry(), SettingRole::Method)]));
        all.push(self.preset_row());
        all.extend(entries(SettingGroup::Method, METHOD_ENTRIES));
        all.extend(self.steps_row());
        all.extend(self.setting_rows(OF_THE_METHOD, SettingKind::Method));
        all.extend(self.option_rows());
        all.extend(self.lesson_rows());
        all.extend(self.setting_rows(OF_THE_ENVIRONMENT, SettingKind::Environment));
        all.extend(self.environment_option_rows());
        let prompts = SettingGroup::Advanced("Prompts");
        all.extend(entries(prompts, PROMPT_ENTRIES));
        all.extend(exemplar_entries().into_iter().map(|entry| {
            let entry = Entry { expected: "the path of a pool file", none_label: "built in", ..*entry };
            self.entry_row(&entry, SettingRole::Other, prompts)
        }));
        all.extend(entries(SettingGroup::Advanced("Model server"), SERVER_ENTRIES));
        all.extend(entries(SettingGroup::Advanced(EVERY_RUN), &[(keys::SEED.entry(), SettingRole::Other)]));
        all.extend(self.setting_rows(EVERY_RUN, SettingKind::EveryRun));
        all
    }

    fn preset_row(&self) -> SettingRow {
        let summary = match (self.preset, self.config.built_in_preset(self.preset)) {
            (Some(name), Some(row)) => match row.lesson_requirement() {
                Some(requirement) => format!("{name}, {}; {requirement}", row.meaning),
                None => format!("{name}, {}", row.meaning),
            },
            (Some(_), None) => "settings from the configuration file".to_owned(),
            (None, _) => "the settings behind one row of a paper's results table, or your own".to_owned(),
        };
        SettingRow {
            name: PRESET.to_owned(),
            role: SettingRole::Preset,
            group: SettingGroup::Method,
            label: "preset".to_owned(),
            value: self.preset.unwrap_or(NO_PRESET).to_owned(),
            origin: SettingOrigin::BuiltIn,
            allowed: AllowedValues::OneOf(self.offered.presets.clone()),
            summary,
            meanings: program_presets()
                .iter()
                .map(|preset| (preset.name.to_owned(), preset.meaning.clone()))
                .collect(),
            environments: Vec::new(),
            by_environment: Vec::new(),
        }
    }

    /// Returns the row of the step limit, which stands among those of the method.
    fn steps_row(&self) -> Option<SettingRow> {
        let limit = defaults_here(self.config, self.defaults)?.settings.recorded(MAX_STEPS.spec.name)?;
        Some(self.setting_row(&MAX_STEPS.spec, limit, SettingGroup::Method))
    }

    /// Returns the values of a setting in each environment that has defaults of its own, and in all others; empty if they are
    /// the same.
    fn by_environment(
        &self,
        value_in: impl Fn(&DefaultsIn) -> Option<(String, SettingOrigin)>,
    ) -> Vec<ValueInEnvironment> {
        let values: Vec<ValueInEnvironment> = self
            .defaults
            .iter()
            .filter_map(|defaults| {
                let (value, origin) = value_in(defaults)?;
                Some(ValueInEnvironment { environment: defaults.environment, value, origin })
            })
            .collect();
        let is_same = values
            .windows(2)
            .all(|pair| (&pair[0].value, pair[0].origin) == (&pair[1].value, pair[1].origin));
        if is_same { Vec::new() } else { values }
    }

    /// Returns the row of a configuration setting.
    fn entry_row(&self, entry: &Entry, role: SettingRole, group: SettingGroup) -> SettingRow {
        let Self { config, spec, method_and_reading, .. } = self;
        let row = config.built_in_preset(self.preset);
        let (is_method, is_trials) = (entry.name == keys::METHOD.name, entry.name == keys::TRIALS.name);
        let value = match method_and_reading {
            Some((method, _)) if is_method => (*method).to_owned(),
            Some((_, reading)) if entry.name == keys::AS.name => reading.word().to_owned(),
            _ if is_trials => row.map_or_else(|| self.trials(), |r| u64::from(r.trials)).to_string(),
            _ => config.display(entry),
        };
        let origin = match row {
            Some(row) if is_method || is_trials => row.origin(),
            None if is_trials && self.has_default_trials() => {
                let entry = catalog::find_method(&spec.method);
                entry.map_or(SettingOrigin::BuiltIn, catalog::MethodEntry::trials_origin)
            }
            _ => setting_origin(config.origin(entry)),
        };
        SettingRow {
            name: entry.name.to_owned(),
            role,
            group,
            label: if entry.name == keys::AS.name {
                // Its name alone says nothing before its value, `paper` or `code`.
                "settings as in".to_owned()
            } else {
                entry.name.trim_start_matches("run.").replace('_', " ")
            },
            value,
            origin,
            allowed: self.allowed_values(entry, role),
            summary: entry.meaning.to_owned(),
            meanings: value_meanings(role),
            environments: Vec::new(),
            by_environment: Vec::new(),
        }
    }

    fn allowed_values(&self, entry: &Entry, role: SettingRole) -> AllowedValues {
        match entry.value_type {
            ValueType::Choice(_) | ValueType::Name(_) => {
                return one_of(entry.value_type.words().unwrap_or_default());
            }
            ValueType::Number(minimum) => return AllowedValues::Number(minimum, u64::MAX),
            _ => {}
        }
        let of_role = |role| -> Vec<String> {
            let built_in = RoleSource::built_in(role).iter().map(|choice| choice.name.to_owned());
            built_in.chain(profile_by_model(self.config).into_iter().map(|(model, _)| model)).collect()
        };
        let mut suggestions = match role {
            SettingRole::Actor => of_role(ModelRole::Actor),
            SettingRole::Mentor => of_role(ModelRole::Mentor),
            SettingRole::ActorProfile | SettingRole::MentorProfile => {
                [String::new()].into_iter().chain(self.config.profile_names()).collect()
            }
            _ => Some(entry.default.to_owned()).filter(|value| !value.is_empty()).into_iter().collect(),
        };
        let configured = self.config.display(entry);
        if !configured.is_empty() && !suggestions.contains(&configured) {
            suggestions.push(configured);
        }
        let expected = match entry.value_type {
            _ if !entry.expected.is_empty() => entry.expected,
            ValueType::Path => "the path of a file or folder",
            _ => "one of the values that the description names",
        };
        AllowedValues::Text { none_label: entry.none_label, suggestions, expected }
    }

    /// Returns the rows of initial lessons and calibration.
    fn lesson_rows(&self) -> [SettingRow; 3] {
        let file = |name: &str, label: &str, summary: &str| SettingRow {
            name: name.to_owned(),
            role: SettingRole::Other,
            group: SettingGroup::Advanced(LESSONS_AT_START),
            label: label.to_owned(),
            value: String::new(),
            origin: SettingOrigin::BuiltIn,
            allowed: AllowedValues::Text {
                none_label: "empty",
                suggestions: self.offered.pools.clone(),
                expected: "the path of a file",
            },
            summary: summary.to_owned(),
            meanings: Vec::new(),
            environments: Vec::new(),
            by_environment: Vec::new(),
        };
        [
            file(POOL, "pool", POOL_MEANING),
            file(CONSTITUTION, "constitution", CONSTITUTION_MEANING),
            SettingRow {
                name: CALIBRATE.to_owned(),
                role: SettingRole::Other,
                group: SettingGroup::Advanced(LESSONS_AT_START),
                label: "calibrate".to_owned(),
                value: "false".to_owned(),
                origin: SettingOrigin::BuiltIn,
                allowed: one_of(&["false", "true"]),
                summary: CALIBRATE_MEANING.to_owned(),
                meanings: Vec::new(),
                environments: Vec::new(),
                by_environment: Vec::new(),
            },
        ]
    }

    /// Returns the options of the selected method, such as a file that it reads, as configuration entries.
    fn options(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        let method = catalog::find_method(&self.spec.method);
        let options = method.into_iter().flat_map(|method| method.options);
        options.filter_map(|option| find_entry(option.name))
    }

    fn option_rows(&self) -> impl Iterator<Item = SettingRow> + '_ {
        let group = SettingGroup::Advanced(OF_THE_METHOD);
        self.options().map(move |entry| self.entry_row(entry, SettingRole::Other, group))
    }

    /// Returns the rows of the options with which tasks are opened. What only this machine has, such as a path, was needed for
    /// the lists of tasks already.
    fn environment_option_rows(&self) -> impl Iterator<Item = SettingRow> + '_ {
        let options = ENVIRONMENTS.iter().flat_map(|environment| {
            let recorded = environment.options.iter().filter(|option| option.values.is_recorded());
            recorded.filter_map(|option| Some((environment.name, find_entry(option.name)?)))
        });
        options.map(|(environment, entry)| SettingRow {
            label: entry.name.rsplit('.').next().unwrap_or(entry.name).replace('_', " "),
            environments: vec![environment.to_owned()],
            ..self.entry_row(entry, SettingRole::Other, SettingGroup::Advanced(OF_THE_ENVIRONMENT))
        })
    }

    /// Returns the rows of one kind of settings of the table. What an option of the method decides has the option's row.
    fn setting_rows(
        &self,
        heading: &'static str,
        kind: SettingKind,
    ) -> impl Iterator<Item = SettingRow> + '_ {
        let by_option: Vec<&str> =
            self.options().filter_map(|entry| entry.name.strip_prefix("run.")).collect();
        SETTINGS
            .iter()
            .filter(move |definition| {
                SettingKind::of(definition.name) == kind
                    && !by_option.contains(&definition.name)
                    && definition.name != MAX_STEPS.spec.name
            })
            .filter_map(move |definition| {
                let setting = self.spec.settings.recorded(definition.name)?;
                Some(self.setting_row(definition, setting, SettingGroup::Advanced(heading)))
            })
    }

    /// Returns the row of a setting of the table.
    fn setting_row(&self, definition: &SettingSpec, setting: &Setting, group: SettingGroup) -> SettingRow {
        let allowed = match definition.default {
            DefaultValue::Number(_) => AllowedValues::Number(definition.range.0, definition.range.1),
            DefaultValue::Decimal(_) => AllowedValues::Text {
                none_label: "none",
                suggestions: vec![definition.default.to_string()],
                expected: "a number",
            },
            DefaultValue::Switch(_) => one_of(&["true", "false"]),
            DefaultValue::Choice(_, allowed) => one_of(allowed),
        };
        SettingRow {
            name: definition.name.to_owned(),
            role: SettingRole::Other,
            group,
            label: definition.label().into_owned(),
            value: setting_text(&setting.value),
            origin: setting.origin,
            allowed,
            summary: definition.meaning.to_owned(),
            meanings: Vec::new(),
            environments: environments_with_setting(definition.name)
                .map_or_else(Vec::new, |names| names.into_iter().map(str::to_owned).collect()),
            by_environment: self.by_environment(|plan| {
                let setting = plan.settings.recorded(definition.name)?;
                Some((setting_text(&setting.value), setting.origin))
            }),
        }
    }

    /// Returns whether the number of trials is the method's default.
    fn has_default_trials(&self) -> bool {
        matches!(self.config.origin(&keys::TRIALS), ValueOrigin::Default)
    }

    fn trials(&self) -> u64 {
        if self.has_default_trials() {
            u64::from(catalog::default_trials(&self.spec.method))
        } else {
            self.config.get(keys::TRIALS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{MethodArgs, TaskArgs};
    use crate::ui::start::SettingsWanted;

    #[test]
    fn every_method_and_preset_has_settings_and_a_preset_keeps_to_its_method() {
        let mut config = Config::without_file(None, |_| None);
        let plan = setup::plan_run(&mut config, &TaskArgs::default(), &MethodArgs::default()).unwrap();
        let settings_for = settings_source(&config, &plan.spec);
        let value = |rows: &[SettingRow], name: &str| {
            rows.iter().find(|row| row.name == name).map(|row| row.value.clone()).unwrap()
        };
        for paper_or_code in [PaperOrCode::Paper, PaperOrCode::Code].map(PaperOrCode::word) {
            let wanted = |preset, method| SettingsWanted { preset, method, paper_or_code };
            for method in catalog::METHOD_NAMES.iter() {
                let rows = settings_for(wanted(NO_PRESET, Some(method))).unwrap();
                assert_eq!(value(&rows, keys::METHOD.name), *method);
                assert_eq!(value(&rows, keys::AS.name), paper_or_code);
                // Regression: the screen said "as  paper".
                let is_named = |row: &SettingRow| row.name != keys::AS.name || row.label == "settings as in";
                assert!(rows.iter().all(is_named));
                assert_eq!(value(&rows, PRESET), NO_PRESET);
                // Regression: what decides how an environment opens its tasks could only be set elsewhere.
                for environment in ENVIRONMENTS.iter() {
                    for option in environment.options.iter().filter(|option| option.values.is_recorded()) {
                        let row = rows.iter().find(|row| row.name == option.name).unwrap();
                        assert_eq!(row.environments, [environment.name], "{}", option.name);
                    }
                }
            }
            for preset in program_presets() {
                let rows = settings_for(wanted(preset.name, None)).unwrap();
                let shown = [PRESET, keys::METHOD.name, keys::TRIALS.name].map(|name| value(&rows, name));
                assert_eq!(
                    shown,
                    [preset.name.to_string(), preset.method.to_owned(), preset.trials.to_string()]
                );
                let other = catalog::METHOD_NAMES.iter().find(|name| **name != preset.method).copied();
                assert!(settings_for(wanted(preset.name, other)).is_none(), "{} of {other:?}", preset.name);
            }
        }
    }

    /// Regression: the step limit was the one limit that `--set` and the presets of a configuration file refused.
    #[test]
    fn the_step_limit_is_a_setting_like_every_other() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("config.toml");
        std::fs::write(&file, "[preset.short]\nmax_steps = 30\n").unwrap();
        let mut config = Config::load(Some(&file), |_| None).unwrap();
        let mut plan =
            |args: MethodArgs| setup::plan_run(&mut config, &TaskArgs::default(), &args).unwrap().spec;
        let preset = || Some("short".to_owned());
        let set = || vec!["max_steps=20".to_owned()];
        let cases = [
            (MethodArgs::default(), 50),
            (MethodArgs { preset: preset(), ..MethodArgs::default() }, 30),
            (MethodArgs { preset: preset(), set: set(), ..MethodArgs::default() }, 20),
            (MethodArgs { set: set(), max_steps: Some(10), ..MethodArgs::default() }, 10),
        ];
        for (args, steps) in cases {
            let spec = plan(args);
            assert_eq!(spec.limits.steps, steps);
            assert!(!spec.settings.contains(MAX_STEPS.spec.name), "a run records it as a limit only");
        }
        let spec = plan(MethodArgs::default());
        let rows_with = |preset, reading: PaperOrCode| {
            let (method, paper_or_code) = (Some("fcrf"), reading.word());
            settings_source(&config, &spec)(SettingsWanted { preset, method, paper_or_code }).unwrap()
        };
        let limit = |rows: &[SettingRow]| {
            let row = rows.iter().find(|row| row.name == MAX_STEPS.spec.name).unwrap();
            (row.value.clone(), row.origin)
        };
        let shown = |preset, reading| limit(&rows_with(preset, reading));
        assert_eq!(limit(&initial_rows(&config, &spec)), ("50".to_owned(), SettingOrigin::Paper));
        assert_eq!(shown(NO_PRESET, PaperOrCode::Code), ("49".to_owned(), SettingOrigin::Code));
        assert_eq!(shown("short", PaperOrCode::Code), ("30".to_owned(), SettingOrigin::Config));
    }
}
