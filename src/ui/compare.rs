//! Episodes that can be compared. Comparing restores states, so it runs on a separate thread.

use super::HostServices;
use crate::driver::Store;
use crate::prompt::render;
use crate::timeline::compare::{Comparison, PriorDifferences, Side, find_counterpart};
use std::fmt;
use std::sync::Arc;

/// An episode that can be compared: of the session on the screen, of another branch of it, or of another session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRef {
    /// Another session, by the name that the host services use for it, or `None` for the session on screen.
    pub session: Option<String>,
    /// A branch by its id. `None` means the branch on the screen, or the most recently written branch of another
    /// session.
    pub branch: Option<String>,
    /// An episode by its number. `None` means the episode with the other side's task and trial.
    pub episode: Option<u32>,
    /// Title for lists; one line.
    pub title: String,
    /// Outcome, always shown in lists; one line.
    pub outcome: String,
    /// Goal of its task (the newest of several), or empty if unknown.
    pub goal: String,
    /// Hashes of its episodes' tasks ([`crate::domain::Task::key_hash`]).
    pub tasks: Arc<[u64]>,
}

/// A shared large value. Two are equal only if they are the same allocation.
pub struct PtrEqArc<T>(pub Arc<T>);

impl<T> Clone for PtrEqArc<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for PtrEqArc<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for PtrEqArc<T> {}

impl<T> fmt::Debug for PtrEqArc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

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
    Comparison::new(left, right, render).map(|c| PtrEqArc(Arc::new(c)))
}

/// Returns the differences that precede a row.
///
/// # Errors
/// Returns a message if events can't be read again.
pub fn load_prior_differences(
    comparison: &Comparison,
    row: usize,
) -> Result<PtrEqArc<PriorDifferences>, String> {
    comparison.prior_differences(row, render).map(|b| PtrEqArc(Arc::new(b)))
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
    let mut side = Side::load(&name, &head, number, Arc::new(move |seq| states.state_at(seq)))?;
    side.name = format!("{name}, episode {}", side.episode.number);
    Ok(side)
}
