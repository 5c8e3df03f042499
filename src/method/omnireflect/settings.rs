//! OmniReflect's settings.

use crate::domain::SettingOrigin::{BuiltIn, Paper};
use crate::domain::common_settings::{EXPLORE, PER_TYPE, PROGRESS_LESSONS, SUMMARY_KEEPS, SUMMARY_TOKENS};
use crate::domain::{MAX_NUMBER, SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[
    GENERATION.spec,
    REFLECT.spec,
    R_FREQ.spec,
    OFFSET.spec,
    PROGRESS_LESSONS.spec,
    S_FREQ.spec,
    SUMMARY_KEEPS.spec,
    SUMMARY_TOKENS.spec,
    SUMMARY_AFTER_CALIBRATION.spec,
    REFLECT_AT_END.spec,
    KIND_ABSTRACT.spec,
    KIND_ERROR.spec,
    KIND_PROGRESS.spec,
    PER_TYPE.spec,
    EXPLORE.spec,
];

setting_words! {
    /// Who writes reflections.
    pub enum Generation {
        /// Rules.
        Symbolic = "symbolic",
        /// A mentor.
        Neural = "neural",
        /// A mentor that also sees what rules write.
        NeuroSymbolic = "neuro-symbolic",
    }
}

/// All three values are the paper's; which of them is the default is our choice.
pub const GENERATION: TypedSetting<Generation> = Generation::setting(
    "generation",
    "who writes reflections: rules, a mentor, or a mentor that also sees what rules write; if not set and the mentor is a model: neural",
    Generation::Symbolic,
    BuiltIn,
)
.with_model_mentor_default(Generation::Neural.as_default());

setting_words! {
    /// When reflections are due.
    pub enum ReflectionTrigger {
        /// When a condition of the rules holds.
        Conditions = "conditions",
        /// After every `r_freq`-th step.
        Periodic = "periodic",
        Never = "never",
    }
}

pub const REFLECT: TypedSetting<ReflectionTrigger> = ReflectionTrigger::setting(
    "reflect",
    "when rules reflect: when a condition holds, every r_freq steps, or never; a mentor reflects every r_freq steps, or never",
    ReflectionTrigger::Conditions,
    Paper,
);

pub const R_FREQ: TypedSetting<u64> =
    TypedSetting::number("r_freq", "steps between periodic reflections", 10, (1, MAX_NUMBER), Paper)
        .with_label("reflection interval");

pub const OFFSET: TypedSetting<u64> = TypedSetting::number(
    "offset",
    "first step with a periodic reflection, counted from 0",
    0,
    (0, MAX_NUMBER),
    Paper,
);

pub const S_FREQ: TypedSetting<u64> = TypedSetting::number(
    "s_freq",
    "finished tasks, those of a calibration included, between the mentor's summaries of the constitution; 0: no summaries",
    10,
    (0, MAX_NUMBER),
    Paper,
)
.with_label("summary interval");

/// Sessions without it never summarised their calibration.
pub const SUMMARY_AFTER_CALIBRATION: TypedSetting<bool> = TypedSetting::switch(
    "summary_after_calibration",
    "the constitution is summarised after the last calibration episode as well",
    true,
    BuiltIn,
)
.if_missing(false);

pub const REFLECT_AT_END: TypedSetting<bool> = TypedSetting::switch(
    "reflect_at_end",
    "a reflection due at the last step of an episode is still written",
    true,
    Paper,
);

pub const KIND_ABSTRACT: TypedSetting<bool> =
    TypedSetting::switch("kind_abstract", "Abstract reflections are written", true, Paper);

pub const KIND_ERROR: TypedSetting<bool> =
    TypedSetting::switch("kind_error", "Error reflections are written", true, Paper);

pub const KIND_PROGRESS: TypedSetting<bool> =
    TypedSetting::switch("kind_progress", "Progress reflections are written", true, Paper);
