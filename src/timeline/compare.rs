//! Two episodes side by side: aligned by action, the first difference, and what preceded it.
//!
//! Pure: a [`Side`] brings its states itself, so that trials, branches and sessions are compared in the same way, and a
//! long session is never held as a whole. What an alignment keeps of a step is its place.

mod align;
mod before;
mod lcs;
mod outcome;
mod pair;
mod settings;
mod tell;
mod why;

pub use align::{Kind, Part, Parts, Row, align, said};
pub use before::{Before, Lessons, Piece, Render, SegmentPair, Told, World};
pub use outcome::Outcome;
pub use pair::{Pair, counterpart, pairs};
pub use settings::Differing;
pub use tell::{Saying, standing};
pub use why::Reason;

use crate::domain::{RunSpec, Seq};
use crate::engine::{Episode, State};
use std::sync::Arc;

/// Brings the state of a branch after an event.
pub type States = Arc<dyn Fn(Seq) -> Arc<State> + Send + Sync>;

/// One side of a comparison: an episode, and the way to the states of its branch.
#[derive(Clone)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// The episode, as it is now or as it ended.
    pub episode: Arc<Episode>,
    /// The run it belongs to, as it was when the episode was brought.
    run: Option<Arc<RunSpec>>,
    states: States,
}

/// Two episodes side by side.
#[derive(Clone)]
pub struct Comparison {
    /// The left side.
    pub a: Side,
    /// The right side.
    pub b: Side,
    /// Every step of both, in order.
    pub rows: Vec<Row>,
    /// The place of the first row that differs; none: there is no difference.
    pub first: Option<usize>,
    /// What preceded it.
    pub before: Option<Before>,
    /// What of the runs differed before the first turn: method, models, seed, sampling, settings.
    pub beforehand: Vec<Differing>,
    /// What of the runs differs only now: it was changed on one of the lines on the way.
    pub meanwhile: Vec<Differing>,
    /// What the sides came to.
    pub outcomes: (Outcome, Outcome),
}

impl Side {
    /// An episode of a branch by its number, or its open or last one. `head` is the branch's last state.
    ///
    /// # Errors
    /// In words, when there is no such episode, or when its events cannot be read again.
    pub fn of(name: &str, head: &State, number: Option<u32>, states: States) -> Result<Self, String> {
        let last = head.episode.as_ref().ok_or_else(|| format!("{name}: it has no episode yet"))?;
        let number = number.unwrap_or(last.number);
        let mut run = head.run.clone();
        let episode = if number == last.number {
            last.clone()
        } else {
            let past = head.ended_episodes.iter().find(|p| p.number == number);
            let past = past.ok_or_else(|| {
                let all = last.number;
                format!("{name}: there is no episode {number}; it has {all}")
            })?;
            let state = brought(name, &states, Seq(past.seq_range.1))?;
            run.clone_from(&state.run);
            state.episode.clone().filter(|e| e.number == number).ok_or_else(|| {
                format!(
                    "{name}: episode {number} does not end at event {}, as its summary says",
                    past.seq_range.1
                )
            })?
        };
        Ok(Self { name: name.to_owned(), episode, run, states })
    }

    /// The run it belongs to.
    pub fn run(&self) -> Option<&RunSpec> {
        self.run.as_deref()
    }

    /// The run as it was when the actor was asked for the first time; as it is now where that has not been.
    fn run_before(&self) -> Result<Option<Arc<RunSpec>>, String> {
        if self.episode.steps.is_empty() {
            return Ok(self.run.clone());
        }
        Ok(self.state(before::moment(&self.episode, 1))?.run.clone())
    }

    fn state(&self, at: Seq) -> Result<Arc<State>, String> {
        brought(&self.name, &self.states, at)
    }
}

fn brought(name: &str, states: &States, at: Seq) -> Result<Arc<State>, String> {
    let state = states(at);
    if state.head == at {
        return Ok(state);
    }
    Err(format!("{name}: the events up to {at} could not be read; `retrospect verify` says what is wrong"))
}

impl Comparison {
    /// Compares two episodes. Every step is looked at, those of a common past too: a person may have edited there what one
    /// branch shows.
    ///
    /// # Errors
    /// In words, when events cannot be read again.
    pub fn of(a: Side, b: Side, render: Render) -> Result<Self, String> {
        let rows = align(&a.episode, &b.episode);
        let first = rows.iter().position(|r| r.kind() != Kind::Same);
        let steps = first.map(|at| (step_from(&rows, at, |r| r.a), step_from(&rows, at, |r| r.b)));
        let outcome = |e: &Episode, from: Option<Option<u32>>| Outcome::of(e, from.flatten());
        let outcomes = (outcome(&a.episode, steps.map(|s| s.0)), outcome(&b.episode, steps.map(|s| s.1)));
        let beforehand = settings::runs(a.run_before()?.as_deref(), b.run_before()?.as_deref());
        let mut meanwhile = settings::runs(a.run(), b.run());
        meanwhile.retain(|d| !beforehand.contains(d));
        let mut comparison = Self { a, b, rows, first, before: None, beforehand, meanwhile, outcomes };
        if let Some(at) = first {
            comparison.before = Some(comparison.before(at, render)?);
        }
        Ok(comparison)
    }

    /// What preceded a row. Where a side has no step in it, its next one counts. Where it has none any more, what preceded the
    /// last row in which both have one is told: how far a side has got is no reason for what the other does next.
    ///
    /// # Errors
    /// In words, when events cannot be read again.
    pub fn before(&self, row: usize, render: Render) -> Result<Before, String> {
        let side = |side: &Side, step: u32| {
            side.state(before::moment(&side.episode, step)).map(|state| (state, step))
        };
        let common = || self.rows.iter().take(row).rev().find_map(|r| r.a.zip(r.b)).unwrap_or_default();
        let (a, b) = match self.steps(row) {
            (Some(a), Some(b)) => (a, b),
            _ => common(),
        };
        Ok(Before::of(side(&self.a, a)?, side(&self.b, b)?, render))
    }

    /// The steps of both sides at a row: where a side has none in it, its next one; none where it has no further one.
    pub fn steps(&self, row: usize) -> (Option<u32>, Option<u32>) {
        (step_from(&self.rows, row, |r| r.a), step_from(&self.rows, row, |r| r.b))
    }

    /// The place of the next row that differs after one, or of the last before it.
    pub fn next_difference(&self, from: usize, backwards: bool) -> Option<usize> {
        let differs = |at: &usize| self.rows.get(*at).is_some_and(|r| r.kind() != Kind::Same);
        if backwards { (0..from).rev().find(differs) } else { (from + 1..self.rows.len()).find(differs) }
    }

    /// How many rows are the same, changed, only left, only right. Where a side waits, a row is none of these.
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for row in self.rows.iter().filter(|r| !r.waits) {
            counts[row.kind() as usize] += 1;
        }
        counts
    }

    /// How many rows have a side that is no step yet.
    pub fn waiting(&self) -> usize {
        self.rows.iter().filter(|r| r.waits).count()
    }
}

/// The step that a side has in this row or in the next in which it has one.
fn step_from(rows: &[Row], at: usize, of: fn(&Row) -> Option<u32>) -> Option<u32> {
    rows.get(at..)?.iter().find_map(of)
}

#[cfg(test)]
mod tests;
