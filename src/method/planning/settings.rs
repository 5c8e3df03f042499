//! Planning-only's settings.

use crate::domain::SettingOrigin::BuiltIn;
use crate::method::reflexion::settings::KEEP_ATTEMPTS;
use crate::method::settings::{SettingSpec, choice};

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    KEEP_ATTEMPTS,
    choice(
        "replan",
        "how much of the previous attempt the prompt for a task's next plan shows: nothing, or the whole attempt",
        "nothing",
        &["nothing", "attempt"],
        BuiltIn,
    ),
];
