//! The branches of a session. Their headers form the branch tree.

use super::branch_header::{MAX_PARENTS, fork_number, is_branch_name, last_written_branch};
use super::session::branch_path;
use super::stream::{EventLines, open_regular};
use super::summary::Ending;
use super::{BranchHeader, JournalError, Label, Session, SessionStatus, Summary, VERSION, Writer};
use crate::domain::{BranchId, EpisodeSummary, LessonOp, LessonStatus, Seq, describe_setting_value};
use crate::engine::{Cause, Envelope, Event};
use crate::files::{self, sync_folder};
use jiff::Timestamp;
use std::fs;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

/// A branch and its summary, for lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    pub header: BranchHeader,
    /// Its name and note.
    pub label: Label,
    /// Describes how it first differs from its parent: a person's first action on it, otherwise the reason for the
    /// fork.
    pub first_change: String,
    /// Its last event.
    pub head: Seq,
    /// Whether it is closed, being written or crashed.
    pub status: SessionStatus,
    /// Describes how its last episode ended, or how far the current one is. For a fork that has played other episodes since,
    /// how the forked one ended (`ep. 1/2 won`): only that one is the fork's doing.
    pub outcome: String,
    /// The goal of its open or last episode.
    pub goal: String,
    /// The tasks of its episodes, as in its summary.
    pub tasks: Vec<u64>,
    /// The number of ended episodes.
    pub episodes: u32,
    /// The number of episodes won.
    pub won: u32,
    /// Steps of the episode that `outcome` is about.
    pub steps: u32,
    /// Tokens of the model calls in the episode that `outcome` is about.
    pub tokens: u64,
    /// The last ended episode.
    pub last: Option<EpisodeSummary>,
    /// Why it cannot be read; if set, the numbers are 0.
    pub read_error: Option<String>,
}

/// Branch files that cannot be read, with the reasons.
type UnreadableBranches = Vec<(BranchId, JournalError)>;

impl Session {
    /// Returns the path of a branch file.
    pub fn branch_file(&self, branch: &BranchId) -> PathBuf {
        branch_path(&self.dir, branch)
    }

    /// Returns the path of an existing branch file.
    ///
    /// # Errors
    /// Returns [`JournalError::NoBranch`] if there is none, or the error of its header.
    pub fn existing_branch_file(&self, branch: &BranchId) -> Result<PathBuf, JournalError> {
        let file = self.branch_file(branch);
        // A missing trunk has an error of its own, which names the file.
        if *branch == BranchId::trunk() {
            return Ok(file);
        }
        if is_branch_name(branch) && file.exists() {
            return self.read_header(branch).map(|_| file);
        }
        Err(JournalError::NoBranch { path: self.dir.clone(), branch: branch.clone() })
    }

    /// Returns the headers of all readable branches: the trunk first, then the forks in the order of their creation. A
    /// file without a complete header is a fork that was never created; [`Session::unreadable_branches`] returns the
    /// other unreadable files.
    ///
    /// # Errors
    /// Returns an error if the folder or the trunk's header cannot be read.
    pub fn headers(&self) -> Result<Vec<BranchHeader>, JournalError> {
        Ok(self.read_headers()?.0)
    }

    /// Returns the branch files that cannot be read, with the reasons.
    ///
    /// # Errors
    /// The same as [`Session::headers`].
    pub fn unreadable_branches(&self) -> Result<Vec<(BranchId, JournalError)>, JournalError> {
        Ok(self.read_headers()?.1)
    }

    /// Returns the readable headers, and the errors of the other files.
    fn read_headers(&self) -> Result<(Vec<BranchHeader>, UnreadableBranches), JournalError> {
        let (mut headers, mut unreadable) = (Vec::new(), Vec::new());
        for id in self.branch_ids()? {
            match self.read_header(&id) {
                Ok(header) => headers.push(header),
                // Every branch depends on the trunk.
                Err(error) if id == BranchId::trunk() => return Err(error),
                Err(error) => unreadable.push((id, error)),
            }
        }
        headers.sort_by(|a, b| {
            let key = |h: &BranchHeader| (h.id != BranchId::trunk(), h.created, fork_number(&h.id));
            key(a).cmp(&key(b))
        });
        Ok((headers, unreadable))
    }

    fn read_header(&self, id: &BranchId) -> Result<BranchHeader, JournalError> {
        let path = self.branch_file(id);
        let (file, _) = open_regular(&path)?;
        let (header, _) = EventLines::from_file(&path, file)?;
        if header.id == *id {
            return Ok(header);
        }
        let reason = format!("the header is that of branch {:?}; rename the file to match", header.id.0);
        Err(JournalError::Malformed { path, line: 1, reason })
    }

    /// Returns the ids of the files in `branches/` that have a valid name, without forks that were never created.
    fn branch_ids(&self) -> Result<Vec<BranchId>, JournalError> {
        let folder = self.dir.join("branches");
        let entries = fs::read_dir(&folder).map_err(JournalError::io(&folder, "could not be read"))?;
        let mut ids: Vec<BranchId> = entries
            .flatten()
            .filter_map(|e| Some(BranchId(e.file_name().to_str()?.strip_suffix(".jsonl")?.to_owned())))
            .filter(|id| {
                is_branch_name(id) && (*id == BranchId::trunk() || !has_no_header(&self.branch_file(id)))
            })
            .collect();
        ids.sort_by_key(fork_number);
        Ok(ids)
    }

    /// Returns the branches with their summaries, in the order of [`Self::iter_branches`].
    ///
    /// # Errors
    /// The same as [`Self::iter_branches`].
    pub fn branches(&self) -> Result<Vec<Branch>, JournalError> {
        Ok(self.iter_branches()?.collect())
    }

    /// Reads the branches with their summaries one after the other: the trunk first, then the forks in the order of their
    /// creation. An unreadable branch has a `read_error`.
    ///
    /// # Errors
    /// Returns an error if the folder, the trunk's header or the labels cannot be read.
    pub fn iter_branches(&self) -> Result<impl ExactSizeIterator<Item = Branch>, JournalError> {
        let mut labels = self.labels()?;
        let (headers, unreadable) = self.read_headers()?;
        let newest = headers.iter().map(|h| h.created).max().unwrap_or_default();
        let mut read: Vec<Result<BranchHeader, _>> = headers.into_iter().map(Ok).collect();
        // Nothing is known about an unreadable branch, so it is listed last.
        read.extend(unreadable.into_iter().map(Err));
        Ok(read.into_iter().map(move |header| match header {
            Ok(header) => {
                let label = labels.remove(&header.id).unwrap_or_default();
                self.read_branch(header, label)
            }
            Err((id, error)) => {
                let label = labels.remove(&id).unwrap_or_default();
                let header =
                    BranchHeader { id, reason: UNREADABLE.to_owned(), ..BranchHeader::trunk(newest) };
                unreadable_branch(header, label, error.to_string())
            }
        }))
    }

    /// Reads the summary of a branch.
    fn read_branch(&self, header: BranchHeader, label: Label) -> Branch {
        let first_change = self.describe_first_change(&header);
        let summary = match Summary::load_branch(self, &header.id) {
            Ok(summary) => summary,
            Err(error) => {
                let branch = unreadable_branch(header, label, error.to_string());
                return Branch { first_change, ..branch };
            }
        };
        let fork_ending = summary.ending_after_fork(&header);
        let (steps, tokens) = fork_ending.as_ref().map_or_else(
            || (summary.steps, summary.episode_tokens),
            |(ending, _)| (ending.steps, ending.tokens),
        );
        Branch {
            label,
            first_change,
            head: summary.head,
            status: summary.status(self),
            outcome: fork_ending.map_or_else(|| summary.outcome(), |(_, outcome)| outcome),
            goal: summary.goal,
            tasks: summary.tasks,
            episodes: summary.episodes,
            won: summary.won,
            steps,
            tokens,
            last: summary.last,
            read_error: None,
            header,
        }
    }

    /// Returns the number of branches, including unreadable ones: as many as [`Session::branches`] returns.
    pub fn branch_count(&self) -> u32 {
        self.branch_ids().map_or(1, |ids| ids.len() as u32)
    }

    /// Returns the branch whose last event is the newest. Closing events don't count: a fork is created before the
    /// active branch is closed, and must stay the newest even after a crash between the two.
    pub fn last_written(&self) -> BranchId {
        let ids = self.branch_ids().unwrap_or_default();
        if ids.len() < 2 {
            return BranchId::trunk();
        }
        let headers = self.headers().unwrap_or_default();
        let timestamped =
            headers.into_iter().map(|h| (last_event_time(&self.branch_file(&h.id)).unwrap_or(h.created), h));
        last_written_branch(timestamped)
    }

    /// Fails if the branch has so many ancestors that a fork of it could not be read back.
    fn check_fork_depth(&self, branch: &BranchId) -> Result<(), JournalError> {
        let (mut id, mut parents) = (branch.clone(), 0);
        while let Some(parent) = self.read_header(&id)?.parent {
            (id, parents) = (parent, parents + 1);
            if parents >= MAX_PARENTS {
                return Err(JournalError::TooDeep { branch: branch.clone(), max: MAX_PARENTS });
            }
        }
        Ok(())
    }

    /// Creates a branch that continues from an event. When this returns, its header and everything before it are on
    /// disk. `at` must be the end of a batch. If the event belongs to an ancestor of `parent`, that ancestor becomes
    /// the parent.
    ///
    /// # Errors
    /// Returns a [`JournalError`] if the branch could not be created; no branch exists then.
    pub fn fork(
        &self,
        parent: &BranchId,
        at: Seq,
        reason: &str,
        created: Timestamp,
    ) -> Result<(BranchHeader, Writer), JournalError> {
        let parent = self.owning_branch(parent, at)?;
        self.check_fork_depth(&parent)?;
        // A power failure must not leave a branch whose parent ends before the fork event.
        let parent_file = self.branch_file(&parent);
        let synced = files::open(&parent_file).and_then(|f| f.sync_all());
        synced.map_err(JournalError::io(&parent_file, "could not be synced"))?;
        let mut next = self.branch_ids()?.iter().map(fork_number).max().unwrap_or(0) + 1;
        loop {
            let id = BranchId(format!("b{next}"));
            let header = BranchHeader {
                v: VERSION,
                kind: "branch".to_owned(),
                id: id.clone(),
                parent: Some(parent.clone()),
                at_seq: at,
                reason: reason.to_owned(),
                created,
            };
            match Writer::create(&self.branch_file(&id), &header) {
                Ok(writer) => {
                    sync_folder(&self.dir.join("branches"));
                    return Ok((header, writer));
                }
                // Another program has just created this branch.
                Err(JournalError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                    next += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the branch, this one or an ancestor, whose own file contains an event.
    fn owning_branch(&self, branch: &BranchId, at: Seq) -> Result<BranchId, JournalError> {
        let mut id = branch.clone();
        // A cycle of parents was rejected when the branch was opened.
        for _ in 0..=self.branch_count() {
            let path = self.branch_file(&id);
            let (file, _) = open_regular(&path)?;
            let (header, _) = EventLines::from_file(&path, file)?;
            match header.parent {
                Some(parent) if at <= header.at_seq => id = parent,
                _ => break,
            }
        }
        Ok(id)
    }

    /// Describes a person's first action on a branch before its first observation, otherwise the reason for the fork.
    fn describe_first_change(&self, header: &BranchHeader) -> String {
        if header.parent.is_none() {
            return header.reason.clone();
        }
        let path = self.branch_file(&header.id);
        let lines = open_regular(&path).and_then(|(file, _)| EventLines::from_file(&path, file));
        let Ok((_, mut lines)) = lines else { return header.reason.clone() };
        let mut remaining = MAX_INITIAL_EVENTS;
        while remaining > 0 {
            let Ok(Some((envelope, _))) = lines.next_event() else { break };
            remaining -= u32::from(!is_inherited_breakpoint(&envelope));
            // Actions after the first observation are not the reason for the fork.
            if matches!(envelope.event, Event::Observed { .. }) {
                break;
            }
            if envelope.cause == Cause::Person
                && let Some(description) = describe_intervention(&envelope.event)
            {
                return description;
            }
        }
        header.reason.clone()
    }
}

/// The outcome shown for an unreadable branch.
const UNREADABLE: &str = "cannot be read";

/// The number of events at the start of a branch that are searched for a person's action.
const MAX_INITIAL_EVENTS: u32 = 32;

/// Returns whether an event sets a breakpoint inherited from the previous branch. There may be many before the first
/// action.
fn is_inherited_breakpoint(envelope: &Envelope) -> bool {
    envelope.cause == Cause::Policy
        && matches!(
            envelope.event,
            Event::BreakpointSet { .. } | Event::BreakpointSwitched { .. } | Event::BreakpointRemoved { .. }
        )
}

/// Returns whether the file has no complete first line: the program was killed, or the power failed, before the fork
/// was created.
fn has_no_header(path: &std::path::Path) -> bool {
    files::read(path, 4095).is_ok_and(|bytes| !bytes.contains(&b'\n'))
}

/// Returns the time of the last event of a file, ignoring the batch that closed it. Returns `None` if there is no
/// other.
fn last_event_time(path: &std::path::Path) -> Option<Timestamp> {
    #[derive(serde::Deserialize)]
    struct Stamp {
        at: Timestamp,
        #[serde(rename = "type")]
        kind: String,
    }
    const TAIL_BYTES: u64 = 64 << 10;
    let (mut file, metadata) = open_regular(path).ok()?;
    let mut tail_len = TAIL_BYTES;
    loop {
        let start = metadata.len().saturating_sub(tail_len);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        (&file).take(tail_len).read_to_end(&mut bytes).ok()?;
        let mut stamps =
            bytes.split(|b| *b == b'\n').rev().filter_map(|l| serde_json::from_slice::<Stamp>(l).ok());
        let last = stamps.next();
        let closed = last.as_ref().filter(|s| s.kind == "closed").map(|s| s.at);
        let stamp = match closed {
            Some(closed_at) => stamps.find(|s| s.at != closed_at),
            None => last,
        };
        if stamp.is_some() || start == 0 {
            return stamp.map(|s| s.at);
        }
        tail_len = tail_len.saturating_mul(8);
    }
}

/// Returns a branch of which only the header is known.
fn unreadable_branch(header: BranchHeader, label: Label, read_error: String) -> Branch {
    Branch {
        label,
        first_change: UNREADABLE.to_owned(),
        head: header.at_seq,
        status: SessionStatus::Crashed,
        outcome: UNREADABLE.to_owned(),
        goal: String::new(),
        tasks: Vec::new(),
        episodes: 0,
        won: 0,
        steps: 0,
        tokens: 0,
        last: None,
        read_error: Some(read_error),
        header,
    }
}

impl Summary {
    /// Returns the ending and the outcome of the episode in which a branch was forked, if others followed it.
    fn ending_after_fork(&self, header: &BranchHeader) -> Option<(&Ending, String)> {
        header.parent.as_ref()?;
        let forked = self.endings.iter().find(|ending| ending.end > header.at_seq)?;
        let all = self.episodes + u32::from(!self.ended);
        let verdict = forked.reason.verdict(forked.won, &forked.lost_because);
        let outcome = || format!("ep. {}/{all} {verdict}", forked.episode);
        (forked.episode < all).then(|| (forked, outcome()))
    }

    /// Describes how the last episode ended, or how far it is.
    pub fn outcome(&self) -> String {
        if let Some(missing) = self.missing() {
            return format!("events {} to {} are missing", missing.first, missing.last);
        }
        let Some(last) = &self.last else { return format!("in progress at step {}", self.steps) };
        if !self.ended {
            return format!("episode {} in progress at step {}", self.episodes + 1, self.steps);
        }
        last.verdict()
    }
}

/// Describes a person's action in a few words. Returns `None` for actions that only continue the session.
fn describe_intervention(event: &Event) -> Option<String> {
    let describe_lesson_op = |op: &LessonOp| match op {
        LessonOp::Add { text, .. } => format!("lesson added: {}", text.text),
        LessonOp::Edit { text, .. } => format!("lesson edited: {}", text.text),
        LessonOp::Status { merged_into: Some(_), .. } => "lessons merged".to_owned(),
        LessonOp::Status { status, .. } => match status {
            LessonStatus::On => "lesson switched on".to_owned(),
            LessonStatus::Off => "lesson switched off".to_owned(),
            LessonStatus::Pinned => "lesson pinned".to_owned(),
            LessonStatus::Retired => "lesson deleted".to_owned(),
        },
        LessonOp::Rescope { .. } => "lesson scope changed".to_owned(),
        LessonOp::Move { .. } => "lesson moved".to_owned(),
        LessonOp::Recur { .. } => "lesson recurred".to_owned(),
        LessonOp::Measured { .. } => "lesson measured".to_owned(),
    };
    Some(match event {
        Event::ActionOverridden { action, .. } => format!("override: {action}"),
        Event::ProposalRejected { proposed: proposal, .. } => format!("rejected: {proposal}"),
        Event::AskedAgain { .. } => "asked again".to_owned(),
        Event::LessonChanged { op, .. } => describe_lesson_op(op),
        // These operations are what the undo or redo did.
        Event::LessonUndone { op, .. } => format!("{} (by an undo)", describe_lesson_op(op)),
        Event::LessonRedone { op, .. } => format!("{} (by a redo)", describe_lesson_op(op)),
        Event::SettingChanged { name, value } => {
            format!("setting {name} = {}", describe_setting_value(name, value))
        }
        Event::RunChanged { spec } => {
            format!("{}, actor {}, mentor {}", spec.method, spec.actor, spec.mentor)
        }
        Event::ThoughtEdited { step, text, .. } => {
            format!("thought of step {step}: {}", text.as_deref().unwrap_or("(none)"))
        }
        Event::ObservationEdited { step, text, .. } => format!("observation of step {step}: {text}"),
        Event::EditUndone { change, .. } => format!("undone: {}", change.inverse().describe()),
        Event::EditRedone { change, .. } => format!("redone: {}", change.describe()),
        Event::PromptDrafted { prompt } if prompt.edited => "prompt edited".to_owned(),
        Event::EpisodeEnded { .. } => "episode ended by a person".to_owned(),
        _ => return None,
    })
}
