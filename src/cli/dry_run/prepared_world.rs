//! An environment whose attempts have chosen outcomes, so that every question to the mentor is asked soon.

use crate::catalog::PreparedAttempts;
use crate::domain::{ENDS_TASK, EnvInfo, LOST_BECAUSE, StepResult, Task, TrialInfo};
use crate::driver::OpenWorld;
use crate::env::{EnvError, Environment};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of actions in a prepared attempt: with one more than the usual period of reflections, there are two of them.
const ACTIONS: u32 = 12;

/// The greatest number of actions in an attempt that is won, and in one that is lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptLimits {
    won: u32,
    lost: u32,
}

impl AttemptLimits {
    /// Returns the limits of a run whose attempts have at most this many actions.
    pub(super) fn new(max_actions: u32) -> Self {
        let actions = max_actions.clamp(1, ACTIONS);
        Self { won: actions, lost: actions }
    }

    /// Makes lost attempts end before an action that has reached the goal. Returns their new number of actions, if that
    /// changes it.
    pub(super) fn end_before(&mut self, goal: u32) -> Option<u32> {
        let lost = goal.saturating_sub(1).clamp(1, self.lost);
        (std::mem::replace(&mut self.lost, lost) != lost).then_some(lost)
    }
}

type SharedWorld = Arc<Mutex<Box<dyn Environment>>>;

/// The environments that the attempts of a dry run have opened, each with its task.
///
/// Opening one prepares its whole task, which takes much longer than the few actions of an attempt, and attempts
/// begin with a reset. So an attempt gets an environment of its task that no other attempt has now.
#[derive(Clone, Default)]
pub(super) struct OpenedWorlds(Arc<Mutex<Vec<(Task, SharedWorld)>>>);

impl OpenedWorlds {
    fn get_or_open(&self, task: &Task, open: &OpenWorld) -> Result<SharedWorld, EnvError> {
        let is_free = |(of, world): &&(Task, SharedWorld)| {
            of == task && Arc::strong_count(world) == 1 && !world.is_poisoned()
        };
        let free = self.lock().iter().find(is_free).map(|(_, world)| world.clone());
        if let Some(world) = free {
            return Ok(world);
        }
        let world = Arc::new(Mutex::new(open(task)?));
        self.lock().push((task.clone(), world.clone()));
        Ok(world)
    }

    /// Never gives out this environment again: it has failed.
    fn forget(&self, failed: &SharedWorld) {
        self.lock().retain(|(_, world)| !Arc::ptr_eq(world, failed));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Task, SharedWorld)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays a real task for a few actions, then ends the attempt as won or lost. The texts are the environment's own.
struct PreparedWorld {
    real: SharedWorld,
    opened: OpenedWorlds,
    outcomes: &'static [bool],
    /// The number of actions after which an attempt that is won ends, and one that is lost.
    limits: AttemptLimits,
    /// Whether its attempts are among the prepared ones.
    is_counted: bool,
    /// The number of counted attempts that have begun, in all environments of the run.
    attempts: Arc<AtomicUsize>,
    /// The least number of actions after which a lost attempt has reached the goal.
    first_goal: Arc<AtomicU32>,
    /// Whether this attempt is won in the end.
    wins: bool,
    actions_taken: u32,
    progress: f64,
}

/// Makes all environments of a run end their attempts as prepared, within `limits`. Attempts at the `uncounted`
/// tasks are lost. `first_goal` becomes the least number of actions after which a lost attempt has reached the goal.
pub(super) fn with_outcomes(
    open: OpenWorld,
    opened: OpenedWorlds,
    prepared: PreparedAttempts,
    limits: AttemptLimits,
    uncounted: Vec<Task>,
    first_goal: Arc<AtomicU32>,
) -> OpenWorld {
    let attempts = Arc::new(AtomicUsize::new(0));
    Arc::new(move |task| {
        Ok(Box::new(PreparedWorld {
            is_counted: !uncounted.contains(task),
            real: opened.get_or_open(task, &open)?,
            opened: opened.clone(),
            outcomes: prepared.outcomes,
            limits,
            first_goal: first_goal.clone(),
            attempts: attempts.clone(),
            wins: false,
            actions_taken: 0,
            progress: 0.0,
        }))
    })
}

impl PreparedWorld {
    /// Asks the real environment.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut dyn Environment) -> Result<T, EnvError>,
    ) -> Result<T, EnvError> {
        let answer = question(self.real.lock().unwrap_or_else(PoisonError::into_inner).as_mut());
        if answer.is_err() {
            self.opened.forget(&self.real);
        }
        answer
    }
}

impl Environment for PreparedWorld {
    /// Has no snapshots: going back would need the outcome as well.
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, ..self.real.lock().unwrap_or_else(PoisonError::into_inner).info() }
    }

    fn set_trial(&mut self, trial: TrialInfo) {
        self.real.lock().unwrap_or_else(PoisonError::into_inner).set_trial(trial);
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let first = self.ask(|real| real.reset())?;
        self.wins = self.is_counted && {
            let number = self.attempts.fetch_add(1, Ordering::Relaxed);
            self.outcomes.get(number % self.outcomes.len().max(1)).copied().unwrap_or_default()
        };
        (self.actions_taken, self.progress) = (0, first.progress);
        Ok(first)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let mut result = self.ask(|real| real.step(action))?;
        self.actions_taken += 1;
        let limit = if self.wins { self.limits.won } else { self.limits.lost };
        let ends = result.done || result.won || self.actions_taken >= limit;
        if ends && self.wins {
            (result.won, result.progress, result.reward) = (true, 1.0, 1.0);
        } else if result.won {
            // The rules have reached the goal, but the attempt is to be lost: it must end before.
            self.first_goal.fetch_min(self.actions_taken, Ordering::Relaxed);
            (result.won, result.progress, result.reward) = (false, self.progress, 0.0);
        }
        // Its attempts are repeated as prepared, whatever the environment asks for.
        if let Some(shown) = result.shown.as_object_mut() {
            shown.remove(ENDS_TASK);
            shown.remove(LOST_BECAUSE);
        }
        result.done = ends;
        self.progress = result.progress;
        Ok(result)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.ask(|real| real.admissible())
    }
}
