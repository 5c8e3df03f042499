//! OmniReflect's co-operative mode (`papers/omnireflect.txt` 2.1, 2.2.1, 3.4): calibration episodes come first, and
//! OmniReflect reflects on them, whichever method is tested afterwards. Its lessons stay in the pool.

use crate::domain::{ReflectionKind, RunSpec};
use crate::engine::{CommandError, Computed, Intent, MentorReply, Method, State};
use std::sync::Arc;

/// Wraps a method whose run begins with calibration episodes.
pub struct WithCalibration {
    /// The method of the test episodes.
    pub tested: Arc<dyn Method>,
    /// The method of the calibration episodes.
    pub calibration: Arc<dyn Method>,
}

impl WithCalibration {
    /// Returns the method of the open or last episode. It also chooses the next episode, even if that belongs to the
    /// other method: until the tests begin, both choose the same.
    fn active_method(&self, state: &State) -> &dyn Method {
        let calibrates = state.episode.as_ref().is_some_and(|e| e.role.is_calibration());
        if calibrates { &*self.calibration } else { &*self.tested }
    }
}

impl Method for WithCalibration {
    fn name(&self) -> &'static str {
        self.tested.name()
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        self.active_method(state).next(state)
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        self.active_method(state).reflect_now(state, kind)
    }

    fn why_no_reflection(&self, state: &State, kind: ReflectionKind) -> Option<(&'static str, &'static str)> {
        self.active_method(state).why_no_reflection(state, kind)
    }

    fn on_mentor_reply(&self, state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
        self.active_method(state).on_mentor_reply(state, reply)
    }

    fn check_run(&self, run: &RunSpec) -> Result<(), CommandError> {
        self.tested.check_run(run)
    }

    fn before_manual_episode(&self, state: &State) -> Vec<Intent> {
        self.active_method(state).before_manual_episode(state)
    }

    fn on_computed(&self, state: &State, computed: &Computed<'_>) -> Vec<Intent> {
        self.active_method(state).on_computed(state, computed)
    }
}
