//! Planning-only's settings.

use crate::domain::SettingOrigin::BuiltIn;
use crate::domain::common_settings::KEEP_ATTEMPTS;
use crate::domain::{SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[KEEP_ATTEMPTS.spec, REPLAN.spec];

setting_words! {
    /// How much of the previous attempt the prompt for a task's next plan shows.
    pub enum Replan {
        Nothing = "nothing",
        Attempt = "attempt",
    }
}

/// Read by the method's prompt template.
pub const REPLAN: TypedSetting<Replan> = Replan::setting(
    "replan",
    "how much of the previous attempt the prompt for a task's next plan shows: nothing, or the whole attempt",
    Replan::Nothing,
    BuiltIn,
);
