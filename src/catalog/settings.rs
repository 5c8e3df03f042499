//! The settings of all methods in one table, and the defaults of each method.

use super::{ENVIRONMENTS, EnvironmentEntry, METHODS, MethodEntry, find_environment, find_method};
use crate::domain::common_settings::{COMMON_SETTINGS, DEFAULT_STEPS, MAX_STEPS, OVERRIDE_SETTINGS};
use crate::domain::{Limits, PaperOrCode, SettingOrigin, SettingSpec, Settings};
use crate::method::take_limits;
use std::sync::LazyLock;

/// All settings: first those of every run, then each method's own. One that several methods have is listed once.
pub static SETTINGS: LazyLock<Vec<SettingSpec>> = LazyLock::new(|| table(&METHODS, &ENVIRONMENTS));

/// Returns the settings of these methods and environments in the order of [`SETTINGS`]. Several of them share a setting by
/// naming the same one; different ones of the same name are all listed.
pub(super) fn table(methods: &[&MethodEntry], environments: &[&EnvironmentEntry]) -> Vec<SettingSpec> {
    let of_environments = environments.iter().flat_map(|entry| entry.settings);
    let of_methods = methods.iter().flat_map(|entry| entry.settings);
    let mut all: Vec<SettingSpec> = Vec::new();
    for setting in COMMON_SETTINGS.iter().chain(of_environments).chain(of_methods) {
        if !all.contains(setting) {
            all.push(*setting);
        }
    }
    all
}

/// Returns the setting of this name that a person may set: one of [`SETTINGS`], or one of those for overrides, which only
/// some runs have. Whatever else the settings of a run contain is fixed when the run starts.
pub fn find_setting(name: &str) -> Option<&'static SettingSpec> {
    SETTINGS.iter().chain(OVERRIDE_SETTINGS).find(|setting| setting.name == name)
}

/// Returns the names of the methods that a setting is limited to; `None` if all methods have it.
pub fn methods_with_setting(name: &str) -> Option<Vec<&'static str>> {
    let has_setting = |entry: &&&MethodEntry| entry.settings.iter().any(|setting| setting.name == name);
    let methods: Vec<&str> = METHODS.iter().filter(has_setting).map(|entry| entry.name).collect();
    (!methods.is_empty()).then_some(methods)
}

/// Returns the names of the environments that a setting concerns; `None` if it belongs to none. Every run has it
/// nevertheless, since it may play tasks of several environments.
pub fn environments_with_setting(name: &str) -> Option<Vec<&'static str>> {
    let has_setting = |entry: &&&EnvironmentEntry| entry.settings.iter().any(|setting| setting.name == name);
    let environments: Vec<&str> = ENVIRONMENTS.iter().filter(has_setting).map(|entry| entry.name).collect();
    (!environments.is_empty()).then_some(environments)
}

/// Returns the limits, settings and loop detector of a run that has a method's defaults.
pub fn defaults(method: &str, source: PaperOrCode) -> (Limits, Settings, bool) {
    let mut settings = default_settings(method, source);
    let (limits, loop_detector) = take_limits(&mut settings);
    (limits, settings, loop_detector)
}

/// Returns the default settings of a method, each with its origin.
///
/// Where a method has no public code, both versions are the paper's.
pub fn default_settings(method: &str, source: PaperOrCode) -> Settings {
    let entry = find_method(method);
    let is_code = source == PaperOrCode::Code;
    let mut settings = Settings::default();
    let is_published = entry.is_none_or(|entry| entry.paper_origin() == SettingOrigin::Paper);
    // A run may play tasks of several environments, so it has the settings of all of them.
    let own: Vec<&MethodEntry> = entry.into_iter().collect();
    for spec in table(&own, &ENVIRONMENTS) {
        if let Some(code) = spec.code_default.filter(|_| is_code) {
            settings.set(spec.name, code.to_json(), SettingOrigin::Code);
            continue;
        }
        // What every run has is the papers' choice only for their methods.
        let is_own = entry.is_some_and(|entry| entry.settings.iter().any(|own| own.name == spec.name));
        let origin = if is_published || is_own { spec.origin } else { SettingOrigin::BuiltIn };
        settings.set(spec.name, spec.default.to_json(), origin);
    }
    for (name, value) in entry.map_or(&[][..], |entry| entry.code_defaults) {
        settings.set(name, value.to_json(), SettingOrigin::Code);
    }
    let (paper_steps, code_steps) = entry.map_or((DEFAULT_STEPS, DEFAULT_STEPS), |entry| entry.step_limits);
    let origin = entry.map_or(SettingOrigin::BuiltIn, |entry| entry.step_limit_origin(source));
    settings.set(MAX_STEPS.spec.name, if is_code { code_steps } else { paper_steps }, origin);
    settings
}

/// Replaces the defaults of a method by those of the environment in which a run begins. Settings that the method doesn't have are
/// left out.
pub fn apply_environment_defaults(env: &str, settings: &mut Settings) {
    let Some(entry) = find_environment(env) else { return };
    for (name, value) in entry.defaults.settings {
        if settings.contains(name) {
            settings.set(name, value.to_json(), entry.defaults.origin);
        }
    }
}

/// Returns a warning for a run with `--as code`: what differs from the public code nevertheless or, if the method has no values of
/// one, what it changes.
pub fn as_code_warning(method: &str) -> Option<String> {
    let entry = find_method(method)?;
    let has_code = entry.step_limits.0 != entry.step_limits.1
        || !entry.code_defaults.is_empty()
        || !entry.code_sampling.is_empty()
        || entry.settings.iter().any(|spec| spec.code_default.is_some());
    if has_code {
        let remark = entry.code_remark;
        return (!remark.is_empty())
            .then(|| format!("--as code isn't all of the public code of {method}: {remark}"));
    }
    let [paper, code] = [PaperOrCode::Paper, PaperOrCode::Code].map(|source| defaults(method, source).1);
    let changed: Vec<String> = code
        .iter()
        .filter(|(name, setting)| paper.value(name) != Some(&setting.value))
        .map(|(name, setting)| format!("{name}={}", setting.value))
        .collect();
    let effect =
        if changed.is_empty() { "nothing".to_owned() } else { format!("only {}", changed.join(", ")) };
    Some(format!("no public code of {method} is known; --as code changes {effect}"))
}

/// Returns the number of trials per task if none is given.
pub fn default_trials(method: &str) -> u32 {
    find_method(method).map_or(1, |entry| entry.trials)
}
