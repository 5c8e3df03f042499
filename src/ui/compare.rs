//! Episodes that can be compared. Comparing restores states, so it runs on a separate thread.

use crate::domain::Seq;
use crate::driver::Store;
use crate::prompt::render;
use crate::timeline::ReportProgress;
use crate::timeline::compare::{Comparison, PriorDifferences, Side, find_counterpart};
use crate::ui::host_services::HostServices;
use crate::ui::types::{EpisodeRef, PtrEqArc, WorkProgress};
use jiff::Timestamp;
use std::sync::Arc;

/// Compares two episodes, with the baseline on the left.
///
/// # Errors
/// Returns a message if one of them can't be loaded, or if the work was cancelled.
pub fn compare_episodes(
    here: &Arc<Store>,
    host: Option<&HostServices>,
    a: &EpisodeRef,
    b: &EpisodeRef,
    progress: &WorkProgress,
) -> Result<PtrEqArc<Comparison>, String> {
    let stage = |number| progress.stage(number, 5);
    let (x, y) = (open_store(here, host, a, &stage(0))?, open_store(here, host, b, &stage(1))?);
    // The side with an explicit episode determines the other side's.
    let (left, right) = if a.episode.is_none() && b.episode.is_some() {
        let right = load_side(&y, b, None, &stage(2))?;
        (load_side(&x, a, Some(&right), &stage(3))?, right)
    } else {
        let left = load_side(&x, a, None, &stage(2))?;
        let right = load_side(&y, b, Some(&left), &stage(3))?;
        (left, right)
    };
    let comparing = stage(4);
    // Ordering reads the journal, so work that was cancelled while the sides were loaded ends here.
    comparing.report(0, 1)?;
    // Two other sessions are a pair of a measurement, whose baseline comes first already.
    let is_ordered = a.session.is_some() && b.session.is_some();
    let is_swapped = !is_ordered && play_order(&y, &right) < play_order(&x, &left);
    let (left, right) = if is_swapped { (right, left) } else { (left, right) };
    let comparison = Comparison::new(left, right, render, &|done, all| comparing.report(done, all));
    comparison.map(|c| PtrEqArc(Arc::new(c)))
}

/// Orders two sides, the baseline first: a play without a person's help, or else the one that ended earlier.
fn play_order(store: &Store, side: &Side) -> (bool, Option<Timestamp>) {
    let end = side.episode.outcome.as_ref().map_or(store.head().head, |outcome| Seq(outcome.seq_range.1));
    let last = store.timeline().events_between(Seq(end.0.saturating_sub(1)), end);
    (side.episode.assisted, last.last().map(|envelope| envelope.timestamp))
}

/// Returns the differences that precede a row.
///
/// # Errors
/// Returns a message if events can't be read again, or if the work was cancelled.
pub fn load_prior_differences(
    comparison: &Comparison,
    row: usize,
    progress: &WorkProgress,
) -> Result<PtrEqArc<PriorDifferences>, String> {
    let differences = comparison.prior_differences(row, render, &|done, all| progress.report(done, all));
    differences.map(|b| PtrEqArc(Arc::new(b)))
}

fn open_store(
    here: &Arc<Store>,
    host: Option<&HostServices>,
    episode: &EpisodeRef,
    progress: &WorkProgress,
) -> Result<Arc<Store>, String> {
    progress.report(0, 1)?;
    if episode.session.is_none() && episode.branch.as_ref().is_none_or(|b| *b == here.branch().0) {
        return Ok(here.clone());
    }
    let host = host.ok_or("this screen can't open other sessions")?;
    (host.open_comparable)(episode, progress)
}

fn load_side(
    store: &Arc<Store>,
    episode: &EpisodeRef,
    other: Option<&Side>,
    progress: &WorkProgress,
) -> Result<Side, String> {
    progress.report(0, 1)?;
    let head = store.head();
    let name = match (&episode.session, &episode.branch) {
        (None, None) => "here".to_owned(),
        (None, Some(branch)) => format!("branch {branch}"),
        (Some(_), None) => head.session.clone(),
        (Some(_), Some(branch)) => format!("{}@{branch}", head.session),
    };
    let number = match (episode.episode, other) {
        (Some(number), _) => Some(number),
        (None, Some(other)) => {
            let attempt = (&other.episode.task, other.episode.trial);
            let found = find_counterpart(attempt, &head);
            Some(found.ok_or_else(|| format!("{name} has no episode of this task ({})", attempt.0.id))?)
        }
        (None, None) => None,
    };
    let states = store.clone();
    let load = Arc::new(move |seq, report: &ReportProgress<'_>| states.state_at_reporting(seq, report));
    let mut side = Side::load(&name, &head, number, load, &|done, all| progress.report(done, all))?;
    side.name = match &episode.label {
        Some(label) => label.clone(),
        None => format!("{name}, episode {}", side.episode.number),
    };
    Ok(side)
}
