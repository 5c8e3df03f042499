//! The line of branches that a branch grew from.

use super::super::checkpoints::Under;
use super::{Opening, Use};
use crate::domain::{BranchId, Seq};
use crate::engine::State;
use crate::journal::{BranchHeader, Checkpoints, JournalError};
use crate::timeline::{Fetch, Stored};
use std::path::Path;
use std::sync::Arc;

/// Branches that may stand one upon another.
const LONGEST_LINE: usize = 1000;

/// What a branch shares with its parent: everything up to the event it begins after.
#[derive(Clone)]
pub(super) struct Base {
    pub(super) state: Arc<State>,
    pub(super) fetch: Fetch,
    pub(super) stored: Stored,
    pub(super) under: Under,
}

/// What stands before the first event of a branch file; none for one without a parent. `line` has the branches that grew
/// from this one, the last first.
pub(super) fn base_of(
    path: &Path,
    header: &BranchHeader,
    how: Use,
    line: &mut Vec<String>,
) -> Result<Option<Base>, JournalError> {
    let wrong = |reason: String| JournalError::Malformed { path: path.to_owned(), line: 1, reason };
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(parent) = &header.parent else {
        if header.at_seq > Seq(0) {
            return Err(wrong(format!(
                "this branch begins after event {} and names no parent that has it",
                header.at_seq
            )));
        }
        return Ok(None);
    };
    if header.id.0 != stem {
        return Err(wrong(format!(
            "the header is that of branch {:?}; give the file its name, {0}.jsonl, again",
            header.id.0
        )));
    }
    if !is_name(parent) {
        return Err(wrong(format!("{:?} is no name of a branch, so it has no parent", parent.0)));
    }
    line.push(stem);
    if line.contains(&parent.0) || line.len() > LONGEST_LINE {
        return Err(wrong(format!(
            "the line of its parents comes back to itself (branch {} again), so it has no beginning",
            parent.0
        )));
    }
    let file = path.with_file_name(format!("{parent}.jsonl"));
    if !file.exists() {
        return Err(wrong(format!(
            "it goes on from branch {parent}, and {} is not there; put that file back",
            file.display()
        )));
    }
    upto(&file, header, how, line).map(Some)
}

/// A parent's line up to the event that a branch begins after.
fn upto(file: &Path, of: &BranchHeader, how: Use, line: &mut Vec<String>) -> Result<Base, JournalError> {
    let at = of.at_seq;
    let checkpoints = if how == Use::Check { Checkpoints::default() } else { Checkpoints::of(file) };
    let mut opening = Opening::begin(file, how, checkpoints, line)?;
    let parent = opening.header.at_seq;
    if opening.header.id != *of.parent.as_ref().unwrap_or(&opening.header.id) {
        return Err(JournalError::Malformed {
            path: file.to_owned(),
            line: 1,
            reason: format!("the header is that of branch {:?}; restore the file", opening.header.id.0),
        });
    }
    if at < parent {
        // Branches are made where their first events stand; a file that says otherwise is read as it says.
        let beneath = BranchHeader { parent: opening.header.parent.clone(), ..of.clone() };
        let missing = || JournalError::Malformed {
            path: file.to_owned(),
            line: 1,
            reason: format!("branch {} begins after event {at}, which nothing here has", of.id),
        };
        let grand = beneath.parent.clone().ok_or_else(missing)?;
        return upto(&file.with_file_name(format!("{grand}.jsonl")), &beneath, how, line);
    }
    let found = opening.checkpoints.newest(&opening.file);
    let opened = opening.open(found, Some(at))?;
    let state = opened.timeline.head().clone();
    if state.head < at {
        return Err(JournalError::Malformed {
            path: file.to_owned(),
            line: state.head.0.saturating_sub(parent.0) + 2,
            reason: format!(
                "the whole batches of this file up to event {at} end with event {}, and branch {} goes on from event {at}: \
                 the file was cut or changed, or the fork stands inside a batch; restore it from a copy",
                state.head, of.id
            ),
        });
    }
    let Some(fetch) = opened.timeline.fetch().cloned() else {
        return Err(JournalError::io(file, "could not be read")(std::io::Error::other("no events")));
    };
    let mut files = opening.checkpoints.under_files().to_vec();
    files.push((file.to_owned(), opened.whole));
    Ok(Base { fetch, stored: opening.stored(&state), state, under: Under { at, files } })
}

/// A name that a branch file may have: nothing of it leads to another folder.
pub(in crate::journal) fn is_name(id: &BranchId) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !id.0.is_empty() && id.0.len() <= 64 && id.0.chars().all(fine) && id.0 != super::super::LABELS
}
