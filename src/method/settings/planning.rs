//! Planning-only's settings.

use super::{SettingSpec, choice};
use crate::domain::SettingOrigin::BuiltIn;

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[choice(
    "replan",
    "how much of the previous attempt the prompt for a task's next plan shows: nothing, or the whole attempt",
    &["planning"],
    "nothing",
    &["nothing", "attempt"],
    BuiltIn,
)];
