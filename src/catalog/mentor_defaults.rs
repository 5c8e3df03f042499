//! Defaults that depend on the mentor, for whoever chooses or changes one.

use super::SETTINGS;
use crate::domain::{
    DefaultValue, ModelRole, PRESET_SETTING, RoleSource, RunSpec, SettingOrigin, SettingSpec, Settings,
    with_model,
};

/// Returns the value and origin that the mentor implies for a setting if nobody has set it, or `None` if it stays unchanged.
/// `origin` is the origin of its current value, `has_preset` whether a preset was chosen.
pub fn mentor_default(
    spec: &SettingSpec,
    mentor: &str,
    origin: SettingOrigin,
    has_preset: bool,
) -> Option<(DefaultValue, SettingOrigin)> {
    let model_default = spec.model_mentor_default?;
    let is_default = match origin {
        SettingOrigin::BuiltIn | SettingOrigin::Mentor => true,
        // Version 0.1 also recorded the origin `paper` for our default; today only presets set it.
        SettingOrigin::Paper => !has_preset,
        _ => false,
    };
    match (is_default, RoleSource::parse(mentor).replies_as_model()) {
        (true, true) => Some((model_default, SettingOrigin::Mentor)),
        (true, false) if origin == SettingOrigin::Mentor => Some((spec.default, spec.origin)),
        _ => None,
    }
}

/// Gives the settings that nobody has set the values that the mentor implies.
pub fn apply_mentor_defaults(mentor: &str, settings: &mut Settings) {
    let has_preset = settings.contains(PRESET_SETTING);
    for spec in SETTINGS.iter() {
        let Some(origin) = settings.recorded(spec.name).map(|setting| setting.origin) else { continue };
        if let Some((value, origin)) = mentor_default(spec, mentor, origin, has_preset) {
            settings.set(spec.name, value.to_json(), origin);
        }
    }
}

/// Returns the run with another model for a role, and the settings that follow from it; [`with_model`] describes
/// the format of `model`.
///
/// # Errors
/// The same as [`with_model`].
pub fn switch_model(run: &RunSpec, role: ModelRole, model: &str) -> Result<RunSpec, String> {
    let mut run = with_model(run, role, model)?;
    apply_mentor_defaults(&run.mentor, &mut run.settings);
    Ok(run)
}
