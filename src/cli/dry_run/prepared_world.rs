//! An environment whose attempts have chosen outcomes, so that every question to the mentor is asked soon.

use crate::catalog::PreparedAttempts;
use crate::domain::{EnvInfo, StepResult};
use crate::driver::OpenWorld;
use crate::env::{EnvError, Environment};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of actions in a prepared attempt: with one more than the usual period of reflections, there are two of them.
const ACTIONS: u32 = 12;

/// Plays a real task for a few actions, then ends the attempt as won or lost. The texts are the environment's own.
struct PreparedWorld {
    real: Box<dyn Environment>,
    outcomes: &'static [bool],
    /// The number of actions after which an attempt ends.
    actions: u32,
    /// The number of attempts that have begun, in all environments of the run.
    attempts: Arc<AtomicUsize>,
    /// Whether this attempt is won in the end.
    wins: bool,
    actions_taken: u32,
    progress: f64,
}

/// Makes all environments of a run end their attempts as prepared, after at most `max_actions` actions.
pub(super) fn with_outcomes(open: OpenWorld, prepared: PreparedAttempts, max_actions: u32) -> OpenWorld {
    let attempts = Arc::new(AtomicUsize::new(0));
    Arc::new(move |task| {
        Ok(Box::new(PreparedWorld {
            real: open(task)?,
            outcomes: prepared.outcomes,
            actions: max_actions.clamp(1, ACTIONS),
            attempts: attempts.clone(),
            wins: false,
            actions_taken: 0,
            progress: 0.0,
        }))
    })
}

impl Environment for PreparedWorld {
    /// Has no snapshots: going back would need the outcome as well.
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, ..self.real.info() }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let first = self.real.reset()?;
        let number = self.attempts.fetch_add(1, Ordering::Relaxed);
        self.wins = self.outcomes.get(number % self.outcomes.len().max(1)).copied().unwrap_or_default();
        (self.actions_taken, self.progress) = (0, first.progress);
        Ok(first)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let mut result = self.real.step(action)?;
        self.actions_taken += 1;
        let ends = result.done || result.won || self.actions_taken >= self.actions;
        if ends && self.wins {
            (result.won, result.progress, result.reward) = (true, 1.0, 1.0);
        } else if result.won {
            // The rules have reached the goal, but the attempt is to be lost.
            (result.won, result.progress, result.reward) = (false, self.progress, 0.0);
        }
        result.done = ends;
        self.progress = result.progress;
        Ok(result)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.real.admissible()
    }
}
