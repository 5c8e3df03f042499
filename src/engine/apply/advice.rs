//! Keeps the last advice on each task, with which the next one is compared.

use crate::engine::advice::advice_key;
use crate::engine::{LastAdvice, State};

impl State {
    /// Keeps the newest reflection, which has just been added, as the last advice on its task.
    pub(super) fn record_advice(&mut self) {
        let Some(index) = self.reflections.len().checked_sub(1) else { return };
        let Some(newest) = self.reflections.get(index).filter(|reflection| reflection.is_advice()) else {
            return;
        };
        let Some(task) = self.task_of(newest.episode) else { return };
        let key = advice_key(newest.kind, task);
        let earlier = newest.same_advice.and_then(|_| self.last_advice.get(&key));
        let last = LastAdvice { index: index as u32, since: earlier.map_or(newest.seq, |last| last.since) };
        self.last_advice.insert_mut(key, last);
    }
}
