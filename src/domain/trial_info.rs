//! What an environment may know of the trial that begins.

use super::{RunSpec, SettingValue, TypedSetting};
use std::sync::Arc;

/// Trial info says which trial of a run begins, for an environment that judges an attempt by it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialInfo {
    /// Whether the task gets no trial after it.
    pub is_last: bool,
    /// The run; `None` if the environment is played without one.
    pub run: Option<Arc<RunSpec>>,
}

impl Default for TrialInfo {
    /// Returns the only trial, without a run.
    fn default() -> Self {
        Self { is_last: true, run: None }
    }
}

impl TrialInfo {
    /// Returns the value of a setting of the run.
    pub fn setting<T: SettingValue>(&self, setting: TypedSetting<T>) -> T {
        self.run.as_ref().map_or(setting.if_missing, |run| run.settings.get(setting))
    }
}
