//! Pauses a run whose method no longer makes progress. Such a method is a bug in an extension; without the pause it would
//! fill the disk, or keep a run without a screen waiting forever.

use super::{Engine, Event, PauseReason};

/// This many batches in a row that only the method wrote are no longer work between two steps.
const MAX_WRITES_IN_A_ROW: u32 = 1_000;

/// What a method does instead of making progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stall {
    /// It goes on writing reflections, lessons or its memory.
    OnlyWrites,
    /// It has nothing to do, but hasn't ended the run.
    NothingToDo,
}

impl Engine {
    /// Returns the events that the method wrote, or those that pause the run because it only writes.
    pub(super) fn write_or_pause(&self, written: Vec<Event>) -> Vec<Event> {
        if self.state.method_writes < MAX_WRITES_IN_A_ROW {
            return written;
        }
        self.pause_stalled_method(Stall::OnlyWrites)
    }

    /// Returns the events that pause the run because its method makes no progress; none if it is paused already.
    pub(super) fn pause_stalled_method(&self, stall: Stall) -> Vec<Event> {
        if !self.state.can_proceed() {
            return Vec::new();
        }
        let method = self.policy.method.name();
        let what = match stall {
            Stall::OnlyWrites => format!(
                "wrote {MAX_WRITES_IN_A_ROW} times without a step, a call, a job or an episode in between"
            ),
            Stall::NothingToDo => "returned nothing to do and didn't end the run".to_owned(),
        };
        let text = format!("the method {method} {what}, so the run is paused: this is a bug in the method");
        let step = self.state.open_episode().map_or(0, |e| e.steps.len() as u32);
        vec![Event::Warned { step, text }, Event::Paused { reason: PauseReason::MethodStalled }]
    }
}
