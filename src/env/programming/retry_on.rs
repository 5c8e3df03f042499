//! What decides whether an exercise gets another trial.

use crate::domain::SettingOrigin::BuiltIn;
use crate::domain::{TypedSetting, setting_words};

setting_words! {
    /// The tests that decide whether an exercise gets another trial.
    pub enum RetryOn {
        /// Those of the agent, as in Reflexion's code: an attempt that passes them is the last one, also if it is lost. Before the
        /// last trial the hidden tests judge no other one.
        Own = "own",
        /// The hidden ones: trials are repeated until one is won.
        Hidden = "hidden",
    }
}

/// Runs without it repeat what is lost.
pub const RETRY_ON: TypedSetting<RetryOn> = RetryOn::setting(
    "retry_on",
    "what decides whether an exercise gets another trial: `hidden`, whether the hidden tests pass; `own`, whether the agent's own tests pass, so that the hidden ones judge only a program that passes those, or the last trial's",
    RetryOn::Hidden,
    BuiltIn,
)
.with_code_default(RetryOn::Own.as_default())
.if_missing(RetryOn::Hidden);
