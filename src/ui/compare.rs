//! Episodes that can be compared. Comparing restores states, so it runs on a separate thread.

use crate::driver::Store;
use crate::prompt::render;
use crate::timeline::compare::{Comparison, PriorDifferences, Side, find_counterpart};
use crate::timeline::{ReportProgress, no_progress};
use crate::ui::host_services::HostServices;
use crate::ui::types::{EpisodeRef, PtrEqArc};
use std::sync::Arc;

/// Compares two episodes.
///
/// # Errors
/// Returns a message if one of them can't be loaded.
pub fn compare_episodes(
    here: &Arc<Store>,
    host: Option<&HostServices>,
    a: &EpisodeRef,
    b: &EpisodeRef,
) -> Result<PtrEqArc<Comparison>, String> {
    let (x, y) = (open_store(here, host, a)?, open_store(here, host, b)?);
    // The side with an explicit episode determines the other side's.
    let (left, right) = if a.episode.is_none() && b.episode.is_some() {
        let right = load_side(&y, b, None)?;
        (load_side(&x, a, Some(&right))?, right)
    } else {
        let left = load_side(&x, a, None)?;
        let right = load_side(&y, b, Some(&left))?;
        (left, right)
    };
    Comparison::new(left, right, render, &no_progress).map(|c| PtrEqArc(Arc::new(c)))
}

/// Returns the differences that precede a row.
///
/// # Errors
/// Returns a message if events can't be read again.
pub fn load_prior_differences(
    comparison: &Comparison,
    row: usize,
) -> Result<PtrEqArc<PriorDifferences>, String> {
    comparison.prior_differences(row, render, &no_progress).map(|b| PtrEqArc(Arc::new(b)))
}

fn open_store(
    here: &Arc<Store>,
    host: Option<&HostServices>,
    episode: &EpisodeRef,
) -> Result<Arc<Store>, String> {
    if episode.session.is_none() && episode.branch.as_ref().is_none_or(|b| *b == here.branch().0) {
        return Ok(here.clone());
    }
    let host = host.ok_or("this screen can't open other sessions")?;
    (host.open_comparable)(episode)
}

fn load_side(store: &Arc<Store>, episode: &EpisodeRef, other: Option<&Side>) -> Result<Side, String> {
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
    let mut side = Side::load(
        &name,
        &head,
        number,
        Arc::new(move |seq, report: &ReportProgress<'_>| states.state_at_reporting(seq, report)),
        &no_progress,
    )?;
    side.name = format!("{name}, episode {}", side.episode.number);
    Ok(side)
}
