//! Planning-only's settings.

use super::{SettingSpec, choice};
use crate::domain::SettingOrigin::BuiltIn;

pub(super) const LIST: &[SettingSpec] = &[choice(
    "replan",
    "what the next plan of a task shows of the previous attempt: nothing, or the whole attempt",
    &["planning"],
    "nothing",
    &["nothing", "attempt"],
    BuiltIn,
)];
