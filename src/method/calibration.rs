//! OmniReflect's co-operative mode (`papers/omnireflect.txt` 2.1, 2.2.1, 3.4): episodes that are played to learn from come
//! first, and OmniReflect reflects on them, whatever method is tested after them. What it wrote stays in the pool.

use super::omnireflect::OmniReflect;
use crate::domain::ReflectionKind;
use crate::engine::{Intent, MentorReply, Method, State};
use std::sync::Arc;

/// A method whose run begins with episodes to learn from.
pub(super) struct WithCalibration(pub(super) Arc<dyn Method>);

impl WithCalibration {
    /// The method of the open or last episode. Where the next one is another's, its agenda is the same until tests begin.
    fn active_method(&self, state: &State) -> &dyn Method {
        let calibrates = state.episode.as_ref().is_some_and(|e| e.role.is_calibration());
        if calibrates { &OmniReflect } else { &*self.0 }
    }
}

impl Method for WithCalibration {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        self.active_method(state).next(state)
    }

    fn reflect_now(&self, state: &State, kind: ReflectionKind) -> Vec<Intent> {
        self.active_method(state).reflect_now(state, kind)
    }

    fn on_mentor_reply(&self, state: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
        self.active_method(state).on_mentor_reply(state, heard)
    }
}
