//! Compares two episodes: aligned by action, with the first difference and what preceded it.
//!
//! Does no I/O itself: each [`Side`] has a function that loads its branch's states, so that trials, branches and
//! sessions are compared in the same way, and a long session is never in memory as a whole. An alignment refers to
//! steps by their numbers.

mod align;
mod difference_labels;
mod differences;
mod entries;
mod lcs;
mod outcome;
mod pair;
mod prior;
mod reasons;

pub use align::{Row, RowKind, StepPart, StepParts, action_or_thought, align};
pub use differences::Difference;
pub use entries::{ComparisonEntry, pending_label};
pub use outcome::Outcome;
pub use pair::{EpisodePair, find_counterpart, pair_episodes};
pub use prior::{
    ComparedLesson, LessonDifferences, PriorDifferences, RenderPrompt, SegmentPair, SegmentText,
    WorldDifferences,
};
pub use reasons::Reason;

use super::{ReportProgress, stage_progress};
use crate::domain::{RunSpec, Seq, Step};
use crate::engine::{Episode, State};
use std::sync::Arc;

/// Returns the state of a branch after an event, or the error with which its progress is received.
pub type StateLoader = Arc<dyn Fn(Seq, &ReportProgress<'_>) -> Result<Arc<State>, String> + Send + Sync>;

/// One side of a comparison: an episode, and access to the states of its branch.
#[derive(Clone)]
pub struct Side {
    /// Display name.
    pub name: String,
    /// The episode, in its current or final state.
    pub episode: Arc<Episode>,
    /// The run's specification at the end of the episode, or at the branch's head for the last episode.
    run: Option<Arc<RunSpec>>,
    state_loader: StateLoader,
}

/// A comparison of two episodes.
#[derive(Clone)]
pub struct Comparison {
    pub left: Side,
    pub right: Side,
    /// Every step of both episodes, in order.
    pub rows: Vec<Row>,
    /// Index of the first row that differs; `None` if none does.
    pub first_difference: Option<usize>,
    /// Index of the first row whose prompts are known to differ, if no row differs: equal replies to other prompts.
    pub first_prompt_difference: Option<usize>,
    /// The differences just before that row.
    pub prior: Option<PriorDifferences>,
    /// Differences between the runs before the first step: method, models, seed, sampling, settings.
    pub initial_differences: Vec<Difference>,
    /// Differences between the runs that appeared later: a setting was changed on one of the branches.
    pub later_differences: Vec<Difference>,
    /// The outcomes of the left and right side.
    pub outcomes: (Outcome, Outcome),
}

impl Side {
    /// Loads an episode of a branch by its number, or the open or last one. `head` is the branch's last state.
    ///
    /// # Errors
    /// Returns a message if the episode does not exist or its events cannot be read again, or the error of `report`.
    pub fn load(
        name: &str,
        head: &State,
        number: Option<u32>,
        states: StateLoader,
        report: &ReportProgress<'_>,
    ) -> Result<Self, String> {
        let last = head.episode.as_ref().ok_or_else(|| format!("{name}: no episode yet"))?;
        let number = number.unwrap_or(last.number);
        let mut run = head.run.clone();
        let episode = if number == last.number {
            last.clone()
        } else {
            let summary = head.ended_episodes.iter().find(|e| e.number == number);
            let summary = summary.ok_or_else(|| {
                let count = last.number;
                format!("{name}: no episode {number}; it has {count}")
            })?;
            let state = load_state(name, &states, Seq(summary.seq_range.1), report)?;
            run.clone_from(&state.run);
            state.episode.clone().filter(|e| e.number == number).ok_or_else(|| {
                format!(
                    "{name}: episode {number} doesn't end at event {}, where its summary says it does",
                    summary.seq_range.1
                )
            })?
        };
        Ok(Self { name: name.to_owned(), episode, run, state_loader: states })
    }

    /// Returns the run that the episode belongs to.
    pub fn run(&self) -> Option<&RunSpec> {
        self.run.as_deref()
    }

    /// Returns the run as of the actor's first prompt, or the current one if the actor has not been asked yet.
    fn run_at_first_prompt(&self, report: &ReportProgress<'_>) -> Result<Option<Arc<RunSpec>>, String> {
        if self.episode.steps.is_empty() {
            return Ok(self.run.clone());
        }
        Ok(self.state_at(prior::input_seq(&self.episode, 1), report)?.run.clone())
    }

    fn state_at(&self, at: Seq, report: &ReportProgress<'_>) -> Result<Arc<State>, String> {
        load_state(&self.name, &self.state_loader, at, report)
    }
}

fn load_state(
    name: &str,
    states: &StateLoader,
    at: Seq,
    report: &ReportProgress<'_>,
) -> Result<Arc<State>, String> {
    let state = states(at, report)?;
    if state.head == at {
        return Ok(state);
    }
    Err(format!("{name}: the events up to {at} could not be read; run `retrospect verify`"))
}

impl Comparison {
    /// Compares two episodes. Every step is compared, even those of a common past, because a person may have edited
    /// them on one of the branches.
    ///
    /// # Errors
    /// Returns a message if events cannot be read again, or the error of `report`.
    pub fn new(a: Side, b: Side, render: RenderPrompt, report: &ReportProgress<'_>) -> Result<Self, String> {
        let rows = align(&a.episode, &b.episode);
        let first_difference = rows.iter().position(|r| r.kind() != RowKind::Same);
        let steps = first_difference
            .map(|at| (next_step_of_side(&rows, at, |r| r.left), next_step_of_side(&rows, at, |r| r.right)));
        let outcome = |e: &Episode, from: Option<Option<u32>>| Outcome::from_episode(e, from.flatten());
        let outcomes = (outcome(&a.episode, steps.map(|s| s.0)), outcome(&b.episode, steps.map(|s| s.1)));
        let runs = (
            a.run_at_first_prompt(&stage_progress(report, 0, 3))?,
            b.run_at_first_prompt(&stage_progress(report, 1, 3))?,
        );
        let initial_differences = differences::diff_runs(runs.0.as_deref(), runs.1.as_deref());
        let mut later_differences = differences::diff_runs(a.run(), b.run());
        later_differences.retain(|d| !initial_differences.contains(d));
        let mut comparison = Self {
            left: a,
            right: b,
            rows,
            first_difference,
            first_prompt_difference: None,
            prior: None,
            initial_differences,
            later_differences,
            outcomes,
        };
        if let Some(at) = first_difference {
            comparison.prior =
                Some(comparison.prior_differences(at, render, &stage_progress(report, 2, 3))?);
        } else {
            for at in comparison.rows_to_check().into_iter().flatten() {
                let prior = comparison.prior_differences(at, render, &stage_progress(report, 2, 3))?;
                if !prior.segments.is_empty() {
                    (comparison.first_prompt_difference, comparison.prior) = (Some(at), Some(prior));
                    break;
                }
            }
        }
        Ok(comparison)
    }

    /// Returns the rows whose prompts are compared if no step differs: the first one whose prompts have another number of lessons
    /// or another length, and the last one, whose prompt contains the most.
    fn rows_to_check(&self) -> [Option<usize>; 2] {
        let steps = |row: &Row| {
            let (left, right) = row.left.zip(row.right)?;
            self.left.episode.step_arc(left).zip(self.right.episode.step_arc(right))
        };
        let size = |step: &Step| (step.lesson_count, step.usage.last_prompt_tokens());
        let differs = |row: &Row| {
            steps(row).is_some_and(|(left, right)| !Arc::ptr_eq(left, right) && size(left) != size(right))
        };
        [self.rows.iter().position(differs), self.rows.iter().rposition(|row| steps(row).is_some())]
    }

    /// Returns the row to look at first: the first one that differs, else the first one whose prompts do.
    pub fn row_of_interest(&self) -> Option<usize> {
        self.first_difference.or(self.first_prompt_difference)
    }

    /// Returns the differences just before a row. If a side has no step in this row, its next step is used. If it has
    /// none left, returns the differences before the last earlier row in which both sides have a step: a side that has
    /// already ended explains nothing about the other's next step.
    ///
    /// # Errors
    /// Returns a message if events cannot be read again, or the error of `report`.
    pub fn prior_differences(
        &self,
        row: usize,
        render: RenderPrompt,
        report: &ReportProgress<'_>,
    ) -> Result<PriorDifferences, String> {
        let side = |side: &Side, step: u32, stage: u64| {
            let report = stage_progress(report, stage, 2);
            side.state_at(prior::input_seq(&side.episode, step), &report).map(|state| (state, step))
        };
        let common =
            || self.rows.iter().take(row).rev().find_map(|r| r.left.zip(r.right)).unwrap_or_default();
        let (a, b) = match self.next_steps(row) {
            (Some(a), Some(b)) => (a, b),
            _ => common(),
        };
        Ok(PriorDifferences::new(side(&self.left, a, 0)?, side(&self.right, b, 1)?, render))
    }

    /// Returns the step of each side at a row, or its next one. `None` if a side has no further step.
    pub fn next_steps(&self, row: usize) -> (Option<u32>, Option<u32>) {
        (next_step_of_side(&self.rows, row, |r| r.left), next_step_of_side(&self.rows, row, |r| r.right))
    }

    /// Returns the index of the next row after `from` at which a difference begins, or of the previous one if `backwards` is set.
    /// Successive steps that only one side has are one difference.
    pub fn next_difference(&self, from: usize, backwards: bool) -> Option<usize> {
        let begins = |row: &usize| {
            let kind = |row: usize| self.rows.get(row).map(Row::kind);
            let continues = kind(*row) != Some(RowKind::Changed)
                && row.checked_sub(1).is_some_and(|before| kind(before) == kind(*row));
            kind(*row) != Some(RowKind::Same) && !continues
        };
        if backwards { (0..from).rev().find(begins) } else { (from + 1..self.rows.len()).find(begins) }
    }

    /// Returns how many rows are the same, changed, only left, only right. Rows with a pending side are not counted.
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for row in self.rows.iter().filter(|r| !r.pending) {
            counts[row.kind() as usize] += 1;
        }
        counts
    }

    /// Returns how many rows have a side that is not a completed step yet.
    pub fn count_pending(&self) -> usize {
        self.rows.iter().filter(|r| r.pending).count()
    }
}

/// Returns the step that a side has in this row or in the next row in which it has one.
fn next_step_of_side(rows: &[Row], at: usize, side_step: fn(&Row) -> Option<u32>) -> Option<u32> {
    rows.get(at..)?.iter().find_map(side_step)
}

#[cfg(test)]
mod tests;
