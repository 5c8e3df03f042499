//! Where sessions are, and which one is meant.

mod branch_name;

pub(super) use branch_name::find_branch;

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use crate::domain::{BranchId, Seq};
use crate::engine::{Envelope, State};
use crate::files;
use crate::journal::{
    BranchHeader, LABELS_STEM, Label, Meta, Missing, OpenBranch, OpenMode, Session, fold_events,
    last_written_of, list_sessions, open_branch, parse_labels, read_with_parents,
};
use crate::report::{InvalidStepRef, ShownBranch, StepRef, extract_session};
use crate::timeline::Timeline;
use etcetera::BaseStrategy as _;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder that new sessions go to: what is set, else `sessions/` here where there is one, else the user's state folder.
pub(super) fn sessions_folder(config: &Config) -> PathBuf {
    if let Some(set) = config.path("sessions") {
        return set;
    }
    let here = PathBuf::from("sessions");
    if here.is_dir() {
        return here;
    }
    etcetera::choose_base_strategy()
        .map_or(here, |s| s.state_dir().unwrap_or_else(|| s.data_dir()).join("retrospect").join("sessions"))
}

/// The newest sessions, at most so many; broken ones are left out.
#[cfg(feature = "tui")]
pub(super) fn recent_sessions(root: &Path, most: usize) -> Vec<(Session, crate::journal::Summary)> {
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.join("meta.toml").is_file())
        .collect();
    crate::journal::sort_newest_first(&mut dirs);
    dirs.truncate(most);
    let read = |dir: PathBuf| {
        let session = Session::open(&dir).ok()?;
        let summary = crate::journal::Summary::load(&session).ok()?;
        Some((session, summary))
    };
    dirs.into_iter().filter_map(read).collect()
}

/// A session that was read: from its folder, or from a report that carries it.
pub(super) struct OpenedSession {
    /// Its folder; none when it came out of a report.
    pub(super) dir: Option<PathBuf>,
    pub(super) meta: Meta,
    /// The header of the branch that is looked at.
    pub(super) branch: BranchHeader,
    /// The files that a report carried.
    report_files: BTreeMap<String, String>,
    pub(super) timeline: Timeline,
    /// Bytes of its branch file that are in the timeline.
    pub(super) bytes_read: u64,
    /// What was cut off its end.
    pub(super) torn: Option<String>,
    /// Acknowledged events that it has no more.
    pub(super) missing: Option<Missing>,
    /// The place that `#E.S` names.
    pub(super) position: Option<StepRef>,
}

impl OpenedSession {
    /// A branch of a session's folder.
    pub(super) fn from_branch(dir: PathBuf, meta: Meta, opened: OpenBranch) -> Self {
        let OpenBranch { header: branch, timeline, valid_len: whole, torn_tail: torn, missing, .. } = opened;
        let (dir, torn) = (Some(dir), torn.map(|t| t.description));
        Self {
            dir,
            meta,
            branch,
            report_files: BTreeMap::new(),
            timeline,
            bytes_read: whole,
            torn,
            missing,
            position: None,
        }
    }

    /// What its journal lacks, in words.
    pub(super) fn lacks(&self) -> Option<String> {
        let missing = self.missing.as_ref().map(ToString::to_string);
        let all: Vec<String> = missing.into_iter().chain(self.torn.clone()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Goes through all events; a long session is never held as a whole.
    pub(super) fn for_each_event(
        &self,
        mut event: impl FnMut(&Arc<Envelope>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.timeline.iter_after(Seq(0)).try_for_each(|read| event(&read.map_err(unreadable_events)?))
    }

    /// All events.
    pub(super) fn events(&self) -> Result<Vec<Arc<Envelope>>, CliError> {
        let events = self.timeline.events_after(Seq(0));
        self.timeline.take_fetch_error().map_or(Ok(events), |why| Err(unreadable_events(why)))
    }

    /// The names of its branches.
    pub(super) fn branch_ids(&self) -> Result<Vec<BranchId>, CliError> {
        if let Some(dir) = &self.dir {
            return Ok(Session::open(dir)?.headers()?.into_iter().map(|h| h.id).collect());
        }
        Ok(report_branch_ids(&self.report_files))
    }

    /// The branch that is looked at, with what people call it.
    pub(super) fn shown_branch(&self) -> Result<ShownBranch, CliError> {
        let labels = match &self.dir {
            Some(dir) => Session::open(dir)?.labels()?,
            None => report_labels(&self.report_files),
        };
        let name = labels.get(&self.branch.id).and_then(|label| label.name.clone());
        Ok(ShownBranch { id: self.branch.id.clone(), name })
    }

    /// What is said of the files in its folder that are no branches of it, a line each.
    pub(super) fn skipped_branches(&self) -> Result<Vec<String>, CliError> {
        self.dir.as_deref().map_or_else(|| Ok(Vec::new()), skipped_branches)
    }

    /// Its files as texts, by their path below the folder.
    pub(super) fn read_files(&self) -> Result<BTreeMap<String, String>, CliError> {
        self.dir.as_deref().map_or_else(|| Ok(self.report_files.clone()), read_session_files)
    }
}

/// Events that are there no more.
pub(super) fn unreadable_events(why: String) -> CliError {
    CliError::new(CliErrorKind::Session, why, "open the session again, or restore it from a copy")
}

/// Whether a session has the place that `#E.S` names.
pub(super) fn check_position(head: &State, at: StepRef) -> Result<(), CliError> {
    let open = head.episode.as_deref().map(|e| (e.number, e.steps.len() as u32));
    let ended = head.ended_episodes.iter().map(|e| (e.number, e.steps));
    let mut all: Vec<(u32, u32)> = ended.chain(open).collect();
    all.dedup_by_key(|e| e.0);
    let Some((_, steps)) = all.iter().find(|e| e.0 == at.episode) else {
        return Err(CliError::usage(
            format!("#{at}: the session has {} episode(s), and none of this number", all.len()),
            "choose one that is there, or leave the # away",
        ));
    };
    if at.step > *steps {
        return Err(CliError::usage(
            format!("#{at}: episode {} has {steps} steps", at.episode),
            "choose a step that is there",
        ));
    }
    Ok(())
}

/// Splits `PATH#E.S`.
pub(super) fn split_position(text: &str) -> Result<(&str, Option<StepRef>), CliError> {
    match text.rsplit_once('#') {
        Some((path, at)) if !Path::new(text).exists() => {
            let at = at
                .parse()
                .map_err(|e: InvalidStepRef| CliError::usage(e.to_string(), "such as sessions/NAME#1.14"))?;
            Ok((path, Some(at)))
        }
        _ => Ok((text, None)),
    }
}

/// Splits `PATH@BRANCH`.
pub(super) fn split_branch(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((path, branch)) if !Path::new(text).exists() && !branch.contains('/') => (path, Some(branch)),
        _ => (text, None),
    }
}

/// What is said of the files in a session's folder that are no branches of it, a line each.
pub(super) fn skipped_branches(dir: &Path) -> Result<Vec<String>, CliError> {
    let bad = Session::open(dir)?.unreadable_branches()?;
    Ok(bad.into_iter().map(|(id, why)| format!("branch {id} was passed over: {why}")).collect())
}

/// The folder and the branch that `PATH[@BRANCH]` means; without a branch the one that was written last.
pub(super) fn find_session_branch(
    config: &Config,
    text: Option<&str>,
) -> Result<(PathBuf, BranchId), CliError> {
    let (text, branch) = text.map_or((None, None), |text| {
        let (path, branch) = split_branch(text);
        (Some(path), branch)
    });
    let dir = find_session_dir(config, text)?;
    let session = Session::open(&dir)?;
    let branch = match branch {
        Some(word) => find_branch(&session, word)?,
        None => session.last_written(),
    };
    Ok((dir, branch))
}

/// The folder of the session that is meant: a path, a name, the end of a name; or the newest.
pub(super) fn find_session_dir(config: &Config, text: Option<&str>) -> Result<PathBuf, CliError> {
    let root = sessions_folder(config);
    let none = |what: String| {
        CliError::new(CliErrorKind::Session, what, "`retrospect sessions` lists what there is")
    };
    let Some(text) = text else {
        let newest = list_sessions(&root).into_iter().find_map(|(dir, read)| read.ok().map(|_| dir));
        return newest.ok_or_else(|| none(format!("{}: there is no session here yet", root.display())));
    };
    let path = Path::new(text);
    // What is no regular file there is a broken session, which says so when it is opened.
    let is_session = |dir: &Path| dir.join("meta.toml").symlink_metadata().is_ok();
    if is_session(path) {
        return Ok(path.to_owned());
    }
    for base in [root.clone(), root.join("examples"), PathBuf::from("sessions/examples")] {
        if is_session(&base.join(text)) {
            return Ok(base.join(text));
        }
    }
    if !text.is_empty() && !text.contains('/') {
        let ends: Vec<PathBuf> = list_sessions(&root)
            .into_iter()
            .map(|(dir, _)| dir)
            .filter(|d| d.file_name().is_some_and(|n| n.to_string_lossy().ends_with(text)))
            .collect();
        match ends.as_slice() {
            [one] => return Ok(one.clone()),
            [] => {}
            several => {
                return Err(none(format!(
                    "{} sessions in {} end with {text:?}; give more of the name",
                    several.len(),
                    root.display()
                )));
            }
        }
    }
    Err(none(format!(
        "{text}: there is no session of this path or name (sessions are kept in {})",
        root.display()
    )))
}

/// Opens a session or a report to look at.
pub(super) fn open_session(config: &Config, text: Option<&str>) -> Result<OpenedSession, CliError> {
    open_session_for(config, text, OpenMode::Read)
}

/// Opens a session or a report.
pub(super) fn open_session_for(
    config: &Config,
    text: Option<&str>,
    how: OpenMode,
) -> Result<OpenedSession, CliError> {
    let (text, at) = match text {
        Some(text) => split_position(text).map(|(text, at)| (Some(text), at))?,
        None => (None, None),
    };
    let (path, word) = text.map_or(("", None), split_branch);
    let file = Path::new(path);
    if file.is_file() && file.file_name().is_some_and(|n| n != "meta.toml") {
        let mut opened = open_report(file, word)?;
        opened.position = at;
        return Ok(opened);
    }
    let (dir, id) = find_session_branch(config, text)?;
    let session = Session::open(&dir)?;
    let branch = open_branch(&session.branch_file(&id), how)?;
    Ok(OpenedSession { position: at, ..OpenedSession::from_branch(dir, session.meta, branch) })
}

/// The session's own files as texts: a link in its folder could lead to any file, and is left out.
pub(super) fn read_session_files(dir: &Path) -> Result<BTreeMap<String, String>, CliError> {
    let mut found = BTreeMap::new();
    let mut keep = |name: String, path: &Path| -> Result<(), CliError> {
        let text = files::read_no_follow(path, u64::MAX);
        let text = text.map_err(|e| CliError::file(path, "could not be read", &e))?;
        found.insert(name, String::from_utf8_lossy(&text).into_owned());
        Ok(())
    };
    keep("meta.toml".to_owned(), &dir.join("meta.toml"))?;
    let branches = dir.join("branches");
    if branches.is_symlink() {
        let why = "it is a symbolic link, which is not followed here";
        let error = std::io::Error::new(std::io::ErrorKind::InvalidInput, why);
        return Err(CliError::file(&branches, "could not be read", &error));
    }
    let entries =
        std::fs::read_dir(&branches).map_err(|e| CliError::file(&branches, "could not be read", &e))?;
    let branch = |p: &PathBuf| p.is_file() && !p.is_symlink() && p.extension().is_some_and(|x| x == "jsonl");
    for path in entries.flatten().map(|e| e.path()).filter(branch) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        keep(format!("branches/{name}"), &path)?;
    }
    Ok(found)
}

/// The branches that a report carries, the trunk first.
fn report_branch_ids(files: &BTreeMap<String, String>) -> Vec<BranchId> {
    let name = |file: &String| file.strip_prefix("branches/")?.strip_suffix(".jsonl").map(str::to_owned);
    let mut ids: Vec<BranchId> = files.keys().filter_map(name).map(BranchId).collect();
    ids.retain(|id| id.0 != LABELS_STEM);
    ids.sort_by_key(|id| (*id != BranchId::trunk(), id.0.len(), id.0.clone()));
    ids
}

/// What people call the branches that a report carries.
fn report_labels(files: &BTreeMap<String, String>) -> BTreeMap<BranchId, Label> {
    let text = files.get(&format!("branches/{LABELS_STEM}.jsonl")).map_or("", String::as_str);
    parse_labels(text.as_bytes()).unwrap_or_default()
}

/// The longest exported report that is opened, in bytes: it is held in memory as a whole.
const MAX_REPORT_BYTES: u64 = 1 << 30;

fn open_report(file: &Path, branch: Option<&str>) -> Result<OpenedSession, CliError> {
    let page = files::read(file, MAX_REPORT_BYTES).map_err(|e| match e.kind() {
        ErrorKind::FileTooLarge => CliError::new(
            CliErrorKind::Session,
            format!(
                "{}: it is too large for an exported report, of which at most 1 GB is read",
                file.display()
            ),
            "open the session's folder instead, which may be of any size",
        ),
        _ => CliError::file(file, "could not be read", &e),
    })?;
    let page = String::from_utf8_lossy(&page);
    let refused = |what: String| {
        CliError::new(
            CliErrorKind::Session,
            format!("{}: {what}", file.display()),
            "open the session's folder instead, where you have it",
        )
    };
    let carried = extract_session(&page).map_err(|e| refused(e.to_string()))?;
    let meta = carried.files.get("meta.toml").ok_or_else(|| refused("it carries no meta.toml".to_owned()))?;
    let meta: Meta =
        toml::from_str(meta).map_err(|e| refused(format!("meta.toml in it: {}", e.message())))?;
    if !carried.files.contains_key("branches/trunk.jsonl") {
        return Err(refused("it carries no branches/trunk.jsonl".to_owned()));
    }
    let files = |id: &BranchId| carried.files.get(&format!("branches/{id}.jsonl")).map(String::as_bytes);
    let newest = || {
        last_written_of(carried.files.iter().filter_map(|(name, text)| {
            let id = name.strip_prefix("branches/")?.strip_suffix(".jsonl")?;
            Some((BranchId(id.to_owned()), text.as_bytes()))
        }))
    };
    let there = |id: &BranchId| id.0 != LABELS_STEM && files(id).is_some();
    let id = match branch {
        Some(word) => {
            let labels = report_labels(&carried.files);
            branch_name::find_branch_among(&meta.session, &report_branch_ids(&carried.files), &labels, word)?
        }
        // The branch that the page shows is the one that is meant by it.
        None => carried.branch.clone().map(BranchId).filter(there).unwrap_or_else(newest),
    };
    let read = read_with_parents(file, &id, &files)?;
    Ok(OpenedSession {
        dir: None,
        meta,
        branch: read.header,
        bytes_read: read.valid_len,
        timeline: fold_events(read.events),
        torn: read.torn_tail.map(|t| t.description),
        missing: None,
        position: None,
        report_files: carried.files,
    })
}
