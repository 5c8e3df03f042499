//! What is compared, and the work of it, which is done on a thread of its own: states are brought back for it.

use super::HostServices;
use crate::driver::Store;
use crate::prompt::render;
use crate::timeline::compare::{Comparison, PriorDifferences, Side, find_counterpart};
use std::fmt;
use std::sync::Arc;

/// An episode that can be compared: of the session on the screen, of another branch of it, or of another session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRef {
    /// Another session, as the outside names it; none: the one on the screen.
    pub session: Option<String>,
    /// A branch by its id; none: the one on the screen, or the one of another session that was written last.
    pub branch: Option<String>,
    /// An episode by its number; none: the one of the other side's task and trial.
    pub episode: Option<u32>,
    /// What a list calls it; one line.
    pub title: String,
    /// How it went, which a list always shows; one line.
    pub outcome: String,
    /// The goal of its task, of its newest one where there are several; empty: it is not known.
    pub goal: String,
    /// The tasks of its episodes ([`crate::domain::Task::key`]).
    pub tasks: Arc<[u64]>,
}

/// Something large that is handed around; two are the same when they are the very same.
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

/// Two places side by side.
///
/// # Errors
/// In words, where one of them cannot be had.
pub fn compare_episodes(
    here: &Arc<Store>,
    outside: Option<&HostServices>,
    a: &EpisodeRef,
    b: &EpisodeRef,
) -> Result<PtrEqArc<Comparison>, String> {
    let (x, y) = (open_store(here, outside, a)?, open_store(here, outside, b)?);
    // The side that names its episode says which one the other's is.
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

/// What preceded a row.
///
/// # Errors
/// In words, where events cannot be read again.
pub fn load_preceding(of: &Comparison, row: usize) -> Result<PtrEqArc<PriorDifferences>, String> {
    of.prior_differences(row, render).map(|b| PtrEqArc(Arc::new(b)))
}

fn open_store(
    here: &Arc<Store>,
    outside: Option<&HostServices>,
    place: &EpisodeRef,
) -> Result<Arc<Store>, String> {
    if place.session.is_none() && place.branch.as_ref().is_none_or(|b| *b == here.branch().0) {
        return Ok(here.clone());
    }
    let outside = outside.ok_or("this screen has no way to other sessions")?;
    (outside.open_comparable)(place)
}

fn load_side(store: &Arc<Store>, place: &EpisodeRef, other: Option<&Side>) -> Result<Side, String> {
    let head = store.head();
    let name = match (&place.session, &place.branch) {
        (None, None) => "here".to_owned(),
        (None, Some(branch)) => format!("branch {branch}"),
        (Some(_), None) => head.session.clone(),
        (Some(_), Some(branch)) => format!("{}@{branch}", head.session),
    };
    let number = match (place.episode, other) {
        (Some(number), _) => Some(number),
        (None, Some(other)) => {
            let of = (&other.episode.task, other.episode.trial);
            let found = find_counterpart(of, &head);
            Some(found.ok_or_else(|| format!("{name} has no episode of this task ({})", of.0.id))?)
        }
        (None, None) => None,
    };
    let kept = store.clone();
    let mut side = Side::load(&name, &head, number, Arc::new(move |seq| kept.state_at(seq)))?;
    side.name = format!("{name}, episode {}", side.episode.number);
    Ok(side)
}
