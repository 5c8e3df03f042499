//! Counts what a method writes without making progress.

use crate::engine::{Cause, Envelope, Event, State};

impl State {
    /// Counts the batches in a row that only the method wrote. Must be called once for each event.
    pub(super) fn count_method_writes(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Reflected { .. } | Event::LessonChanged { .. } | Event::MemorySet { .. }
                if envelope.cause == Cause::Policy =>
            {
                self.method_writes += u32::from(!envelope.batch_continues);
            }
            Event::Warned { .. } | Event::Paused { .. } => {}
            _ => self.method_writes = 0,
        }
    }
}
