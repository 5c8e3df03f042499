//! Which settings keep a run from calling its mentor.

use crate::domain::RunSpec;
use crate::domain::common_settings::REFLECT_AFTER_LAST;

/// Why a method never calls the mentor, and which flag or setting changes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedMentor {
    pub reason: &'static str,
    pub remedy: &'static str,
}

/// The reason of a method that reflects between trials, for a run that has only one.
const ONE_TRIAL: UnusedMentor = UnusedMentor {
    reason: "there is only one trial, and no reflection is written after the last trial",
    remedy: "--trials 2 (or more) or --set reflect_after_last=true",
};

/// Returns whether a run begins with calibration episodes.
pub(super) fn calibrates(run: &RunSpec) -> bool {
    !run.calibration_tasks().is_empty() || !run.exploration_tasks().is_empty()
}

/// Returns the reason if no reflection is written because there is only one trial.
pub(super) fn one_trial(run: &RunSpec) -> Option<UnusedMentor> {
    (run.trials <= 1 && !run.settings.get(REFLECT_AFTER_LAST)).then_some(ONE_TRIAL)
}
