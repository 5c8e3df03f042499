//! How difficult a task is, and how many trials get the simple reflection (FCRF, equation 7, and the public code).

use super::Depth;
use super::settings::{EPTOTAL, K_TABLE, SimpleTrials};
use crate::domain::Task;
use crate::engine::State;

/// Objects and interactions a task needs (FCRF's table).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difficulty {
    pub objects: u32,
    pub interactions: u32,
}

impl Difficulty {
    /// Returns the difficulty of a task by its type; an unknown type gets (2, 1), the middle of the table.
    pub fn from_task(task: &Task) -> Self {
        let type_or_goal = task.task_type.as_deref().unwrap_or(&task.goal).to_lowercase();
        let words: Vec<&str> = type_or_goal.split(|c: char| !c.is_alphanumeric()).collect();
        let has = |any: &[&str]| any.iter().any(|word| words.contains(word));
        let (objects, interactions) = if has(&["two"]) {
            (3, 1)
        } else if has(&["clean", "heat", "cool", "hot"]) {
            (2, 2)
        } else if has(&["look", "examine"]) {
            (2, 1)
        } else if has(&["pick", "put"]) {
            (1, 1)
        } else {
            (2, 1)
        };
        Self { objects, interactions }
    }

    /// Returns the number of objects plus interactions.
    pub fn sum(self) -> u32 {
        self.objects + self.interactions
    }

    /// Returns how many of `total` trials are followed by a simple and how many by an in-depth reflection, as (k1, k2).
    ///
    /// Paper: `k2 = total * sum / 4` (4 is the table's largest sum); it may be fractional. Code: k1 is
    /// `max(1, int((1 - sum / 5) * total))`, floating-point errors included.
    pub fn trials_by_depth(self, as_in_public_code: bool, total: u32) -> (f64, f64) {
        let (sum, total) = (f64::from(self.sum()), f64::from(total));
        if as_in_public_code {
            let simple = ((1.0 - sum / 5.0) * total).trunc().max(1.0);
            return (simple, total - simple);
        }
        let in_depth = total * sum / 4.0;
        (total - in_depth, in_depth)
    }

    /// Returns [`Self::trials_by_depth`] for the settings of a run.
    pub fn trials_by_depth_in_run(self, state: &State) -> (f64, f64) {
        let as_in_public_code = state.setting(K_TABLE) == SimpleTrials::Code;
        let total = u32::try_from(state.setting(EPTOTAL)).unwrap_or(u32::MAX);
        self.trials_by_depth(as_in_public_code, total)
    }

    /// Returns which reflection follows a trial; trials are numbered from 1.
    pub fn depth_for_trial(self, state: &State, trial: u32) -> Depth {
        let (simple, _) = self.trials_by_depth_in_run(state);
        if f64::from(trial) <= simple { Depth::Simple } else { Depth::InDepth }
    }
}
