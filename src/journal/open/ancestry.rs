//! The ancestors of a branch.

use super::super::checkpoints::ParentFiles;
use super::{BranchOpener, OpenMode, clone_handle};
use crate::domain::{BranchId, Seq};
use crate::engine::State;
use crate::journal::branch_header::{MAX_PARENTS, is_branch_name};
use crate::journal::parent_file::AncestorFile;
use crate::journal::stream::{EventLines, open_regular};
use crate::journal::{BranchHeader, Checkpoints, JournalError};
use crate::timeline::{CheckpointIndex, EventFetcher, ReportProgress, stage_progress};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The past that a branch shares with its parent: everything up to the event after which it begins.
#[derive(Clone)]
pub(super) struct ForkBase {
    pub(super) state: Arc<State>,
    pub(super) fetcher: EventFetcher,
    pub(super) checkpoint_index: CheckpointIndex,
    pub(super) parents: ParentFiles,
    /// The ancestors' files, held open.
    pub(super) files: Vec<Arc<AncestorFile>>,
}

/// Returns the header of a branch file.
pub(super) fn read_header(path: &Path) -> Result<BranchHeader, JournalError> {
    let (file, _) = open_regular(path)?;
    EventLines::from_file(path, file).map(|(header, _)| header)
}

/// Returns what precedes the first event of a branch file, or `None` for one without a parent. The ancestors are opened
/// iteratively, starting with the trunk, so that the stack doesn't grow with their number.
pub(super) fn open_base(
    path: &Path,
    header: &BranchHeader,
    mode: OpenMode,
    report: &ReportProgress<'_>,
) -> Result<Option<ForkBase>, JournalError> {
    let mut base = None;
    let chain = parent_chain(path, header)?;
    let all = chain.len() as u64;
    for (number, (file, child_header)) in (0..).zip(chain.into_iter().rev()) {
        base = Some(open_parent(&file, &child_header, mode, base, &stage_progress(report, number, all))?);
    }
    Ok(base)
}

/// Returns the files of a branch's ancestors, its parent first, each with the header of the branch that continues from
/// it.
fn parent_chain(path: &Path, header: &BranchHeader) -> Result<Vec<(PathBuf, BranchHeader)>, JournalError> {
    let mut chain = Vec::new();
    let mut seen = HashSet::from([header.id.clone()]);
    let (mut path, mut header) = (path.to_owned(), header.clone());
    while let Some(parent) = parent_id(&path, &header)? {
        let malformed = |reason: String| JournalError::Malformed { path: path.clone(), line: 1, reason };
        if !seen.insert(parent.clone()) {
            return Err(malformed(format!(
                "its parent branches form a cycle (branch {parent} appears twice)"
            )));
        }
        if seen.len() > MAX_PARENTS + 1 {
            return Err(malformed(format!(
                "it has more than {MAX_PARENTS} ancestors, the maximum; open a branch with fewer, as \
                 SESSION@BRANCH"
            )));
        }
        let file = path.with_file_name(format!("{parent}.jsonl"));
        if !file.exists() {
            return Err(malformed(format!(
                "it continues branch {parent}, but {} is missing; restore that file",
                file.display()
            )));
        }
        let parent_header = read_header(&file)?;
        let malformed_parent = |reason| JournalError::Malformed { path: file.clone(), line: 1, reason };
        if parent_header.id != parent {
            return Err(malformed_parent(format!(
                "the header is that of branch {:?}; restore the file",
                parent_header.id.0
            )));
        }
        if header.at_seq >= parent_header.at_seq {
            chain.push((file.clone(), header));
            (path, header) = (file, parent_header);
        } else if parent_header.parent.is_some() {
            // The branch begins within its grandparent's events; read it as a branch of that one.
            header.parent = parent_header.parent;
        } else {
            let (id, at) = (&header.id, header.at_seq);
            return Err(malformed_parent(format!(
                "branch {id} begins after event {at}, which no branch here has"
            )));
        }
    }
    Ok(chain)
}

/// Returns the parent that a header names, or `None` for a trunk.
fn parent_id(path: &Path, header: &BranchHeader) -> Result<Option<BranchId>, JournalError> {
    let malformed = |reason: String| JournalError::Malformed { path: path.to_owned(), line: 1, reason };
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(parent) = &header.parent else {
        if header.at_seq > Seq(0) {
            return Err(malformed(format!(
                "this branch begins after event {}, but names no parent branch",
                header.at_seq
            )));
        }
        return Ok(None);
    };
    if header.id.0 != stem {
        return Err(malformed(format!(
            "the header is that of branch {:?}; rename the file to {0}.jsonl",
            header.id.0
        )));
    }
    if !is_branch_name(parent) {
        return Err(malformed(format!("the parent {:?} is not a valid branch name", parent.0)));
    }
    Ok(Some(parent.clone()))
}

/// Opens a parent up to the event after which a branch begins.
fn open_parent(
    file: &Path,
    child: &BranchHeader,
    mode: OpenMode,
    base: Option<ForkBase>,
    report: &ReportProgress<'_>,
) -> Result<ForkBase, JournalError> {
    report(0, 1).map_err(JournalError::Stopped)?;
    let fork_seq = child.at_seq;
    let checkpoints =
        if mode == OpenMode::Verify { Checkpoints::default() } else { Checkpoints::for_branch(file) };
    let mut held = base.as_ref().map_or_else(Vec::new, |base| base.files.clone());
    let mut opener = BranchOpener::with_base(file, mode, checkpoints, base)?;
    let base_seq = opener.header.at_seq;
    let newest = opener.checkpoints.load_newest(&opener.file);
    let opened = opener.open(newest, Some(fork_seq), report)?;
    let state = opened.timeline.head().clone();
    if state.head < fork_seq {
        return Err(JournalError::Malformed {
            path: file.to_owned(),
            line: state.head.0.saturating_sub(base_seq.0) + 2,
            reason: format!(
                "the complete batches of this file up to event {fork_seq} end with event {}, but branch {} continues from event {fork_seq}: \
                 the file was truncated or changed, or the fork is inside a batch; restore it from a copy",
                state.head, child.id
            ),
        });
    }
    let Some(fetch) = opened.timeline.fetcher().cloned() else {
        return Err(JournalError::io(file, "could not be read")(std::io::Error::other("no events")));
    };
    held.push(AncestorFile::hold(
        opened.event_file,
        clone_handle(file, &opener.file)?,
        opened.valid_len,
        held.len(),
    )?);
    let mut files = opener.checkpoints.parent_files().to_vec();
    files.push((file.to_owned(), opened.valid_len));
    Ok(ForkBase {
        fetcher: fetch,
        checkpoint_index: opener.checkpoint_index(&state),
        state,
        parents: ParentFiles { fork_seq, files },
        files: held,
    })
}
