//! Planning-only's settings.

use super::{SettingSpec, choice};
use crate::domain::SettingOrigin::BuiltIn;

pub(super) const LIST: &[SettingSpec] = &[choice(
    "replan",
    "what the prompt for a task's next plan shows of the previous attempt: nothing, or the whole attempt",
    &["planning"],
    "nothing",
    &["nothing", "attempt"],
    BuiltIn,
)];
