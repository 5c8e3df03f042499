//! RCI's settings.

use crate::domain::SettingOrigin::{BuiltIn, Code};
use crate::domain::common_settings::{FORM_ENDS, FORM_RETRIES, GROUNDING};
use crate::domain::{DefaultValue, SettingSpec, TypedSetting};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] =
    &[PLAN_FIRST.spec, ERCI.spec, GROUNDING.spec, FORM_RETRIES.spec, FORM_ENDS.spec, PLAN_STEPS.spec];

pub const PLAN_FIRST: TypedSetting<bool> = TypedSetting::switch(
    "plan_first",
    "a plan is written before the first step; off: the code's `erci` of -1",
    true,
    Code,
);

pub const ERCI: TypedSetting<u64> = TypedSetting::number(
    "erci",
    "how many times the plan is criticised and written again before the first step",
    1,
    (0, 20),
    BuiltIn,
)
.with_code_default(DefaultValue::Number(0));

pub const PLAN_STEPS: TypedSetting<bool> = TypedSetting::switch(
    "plan_steps",
    "an episode has as many steps as its plan has lines (one more after a plan that was not criticised; 4 without lines)",
    false,
    BuiltIn,
)
.with_code_default(DefaultValue::Switch(true));
