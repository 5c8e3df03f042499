//! Finds and opens sessions by path, name or end of a name.

mod branch_name;

pub(super) use branch_name::find_branch;

use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
use super::shipped_demos::ShippedDemo;
use crate::domain::{BranchId, Seq, pluralize};
use crate::engine::{Envelope, State};
use crate::files;
use crate::journal::import::{ImportError, ImportedSession, Source};
use crate::journal::{
    BranchHeader, JournalError, LABELS_STEM, Label, Meta, MissingEvents, OpenBranch, OpenMode, Session,
    SessionFiles, WritePart, fold_events, last_written_from_files, list_sessions, open_branch, parse_labels,
    read_with_parents,
};
use crate::report::{InvalidStepRef, ShownBranch, StepRef};
use crate::timeline::{ReportProgress, Timeline, no_progress};
use etcetera::BaseStrategy as _;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the folder for new sessions: the configured one, else `sessions/` in the working directory if it exists,
/// else one in the user's state folder.
pub(super) fn sessions_folder(config: &Config) -> PathBuf {
    if let Some(configured) = config.get(keys::SESSIONS) {
        return configured;
    }
    let local = PathBuf::from("sessions");
    if local.is_dir() {
        return local;
    }
    etcetera::choose_base_strategy()
        .map_or(local, |s| s.state_dir().unwrap_or_else(|| s.data_dir()).join("retrospect").join("sessions"))
}

/// Returns how many tasks the run of a session has, in words, if it has several: `22 tasks`.
pub(super) fn several_tasks(meta: &Meta) -> Option<&str> {
    let tasks = meta.title.strip_prefix(&meta.env)?.trim_start();
    let (count, rest) = tasks.split_once(' ')?;
    (rest == "tasks" && count.parse::<u32>().is_ok()).then_some(tasks)
}

/// Returns what lists call a session: the goal of its only task, or how many tasks its run has.
pub(super) fn run_label(meta: &Meta, goal: &str) -> String {
    match several_tasks(meta) {
        Some(tasks) => tasks.to_owned(),
        None if goal.is_empty() => meta.title.clone(),
        None => crate::catalog::short_goal(&meta.env, goal).into_owned(),
    }
}

/// Returns the folders of all sessions.
#[cfg(feature = "tui")]
pub(super) fn session_folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|e| e.path()).filter(|p| p.join("meta.toml").is_file()).collect()
}

/// Reads the newest sessions, at most `limit`, one after the other. A broken one is `None`.
#[cfg(feature = "tui")]
pub(super) fn recent_sessions(
    root: &Path,
    limit: usize,
) -> impl ExactSizeIterator<Item = Option<(Session, crate::journal::Summary)>> {
    let mut dirs = session_folders(root);
    crate::journal::sort_newest_first(&mut dirs);
    dirs.truncate(limit);
    dirs.into_iter().map(|dir| {
        let session = Session::open(&dir).ok()?;
        let summary = crate::journal::Summary::load(&session).ok()?;
        Some((session, summary))
    })
}

/// A session read from its folder or imported.
pub(super) struct OpenedSession {
    /// Folder of the session; `None` if it was imported, or ships with the program.
    pub(super) dir: Option<PathBuf>,
    /// The shipped session that it is, if it is one.
    pub(super) demo: Option<&'static ShippedDemo>,
    /// Whether it is played as a demo, with captions.
    pub(super) is_demo: bool,
    pub(super) meta: Meta,
    /// Header of the open branch.
    pub(super) branch: BranchHeader,
    /// The imported session; empty for a session from a folder.
    imported: ImportedSession,
    pub(super) timeline: Timeline,
    /// Number of bytes of the branch file that are in the timeline.
    pub(super) bytes_read: u64,
    /// Describes an incomplete last line that was cut off.
    pub(super) truncated_tail: Option<String>,
    /// Acknowledged events missing from the file.
    pub(super) missing: Option<MissingEvents>,
    /// Step named by `#E.S`.
    pub(super) position: Option<StepRef>,
}

impl OpenedSession {
    /// Wraps an opened branch of the session in `dir`.
    pub(super) fn from_branch(dir: PathBuf, meta: Meta, opened: OpenBranch) -> Self {
        let OpenBranch { header: branch, timeline, valid_len: bytes_read, torn_tail: torn, missing, .. } =
            opened;
        let (dir, torn) = (Some(dir), torn.map(|t| t.description));
        Self {
            dir,
            demo: None,
            is_demo: false,
            meta,
            branch,
            imported: ImportedSession::default(),
            timeline,
            bytes_read,
            truncated_tail: torn,
            missing,
            position: None,
        }
    }

    /// Describes what is missing from the journal, if anything.
    pub(super) fn missing_summary(&self) -> Option<String> {
        let missing = self.missing.as_ref().map(ToString::to_string);
        let all: Vec<String> = missing.into_iter().chain(self.truncated_tail.clone()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Calls `visit` with every event, without loading a long session into memory as a whole.
    pub(super) fn for_each_event(
        &self,
        mut visit: impl FnMut(&Arc<Envelope>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.timeline.iter_after(Seq(0)).try_for_each(|read| visit(&read.map_err(unreadable_events)?))
    }

    /// Returns all events.
    pub(super) fn events(&self) -> Result<Vec<Arc<Envelope>>, CliError> {
        let events = self.timeline.events_after(Seq(0));
        self.timeline.take_fetch_error().map_or(Ok(events), |why| Err(unreadable_events(why)))
    }

    /// Returns the ids of the session's branches.
    pub(super) fn branch_ids(&self) -> Result<Vec<BranchId>, CliError> {
        if let Some(dir) = &self.dir {
            return Ok(Session::open(dir)?.headers()?.into_iter().map(|h| h.id).collect());
        }
        Ok(imported_branch_ids(&self.imported.files))
    }

    /// Returns the open branch and the name a person gave it.
    pub(super) fn shown_branch(&self) -> Result<ShownBranch, CliError> {
        let labels = match &self.dir {
            Some(dir) => Session::open(dir)?.labels()?,
            None => imported_labels(&self.imported.files),
        };
        let name = labels.get(&self.branch.id).and_then(|label| label.name.clone());
        Ok(ShownBranch { id: self.branch.id.clone(), name })
    }

    /// Returns a message for each file in the session's folder that cannot be read as a branch.
    pub(super) fn skipped_branches(&self) -> Result<Vec<String>, CliError> {
        self.dir.as_deref().map_or_else(|| Ok(Vec::new()), skipped_branches)
    }

    /// Returns the session's files, from its folder or as they were imported.
    pub(super) fn files(&self) -> Result<SessionFiles<'_, io::Error>, CliError> {
        match &self.dir {
            Some(dir) => session_files(dir, &no_progress),
            None => Ok(self.imported.session_files()),
        }
    }
}

/// Returns the error for events that could not be read back.
pub(super) fn unreadable_events(why: String) -> CliError {
    CliError::new(CliErrorKind::Session, why, "open the session again, or restore it from a copy")
}

/// Checks that a session has the step named by `#E.S`.
pub(super) fn check_position(head: &State, at: StepRef) -> Result<(), CliError> {
    let open = head.episode.as_deref().map(|e| (e.number, e.steps.len() as u32));
    let ended = head.ended_episodes.iter().map(|e| (e.number, e.steps));
    let mut all: Vec<(u32, u32)> = ended.chain(open).collect();
    all.dedup_by_key(|e| e.0);
    let Some((_, steps)) = all.iter().find(|e| e.0 == at.episode) else {
        return Err(CliError::usage(
            format!(
                "#{at}: no episode {}; the session has {}",
                at.episode,
                pluralize(all.len() as u64, "episode")
            ),
            "choose an existing episode, or leave out the #",
        ));
    };
    if at.step > *steps {
        return Err(CliError::usage(
            format!("#{at}: episode {} has only {}", at.episode, pluralize(u64::from(*steps), "step")),
            "choose an existing step",
        ));
    }
    Ok(())
}

/// Splits `PATH#E.S` into path and position. A file whose name contains `#` takes precedence.
pub(super) fn split_position(text: &str) -> Result<(&str, Option<StepRef>), CliError> {
    match text.rsplit_once('#') {
        Some((path, at)) if !Path::new(text).exists() => {
            let at = at.parse().map_err(|e: InvalidStepRef| {
                CliError::usage(e.to_string(), "write PATH#EPISODE.STEP, such as sessions/NAME#1.14")
            })?;
            Ok((path, Some(at)))
        }
        _ => Ok((text, None)),
    }
}

/// Splits `PATH@BRANCH` into path and branch. A file whose name contains `@` takes precedence.
pub(super) fn split_branch(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((path, branch)) if !Path::new(text).exists() && !branch.contains('/') => (path, Some(branch)),
        _ => (text, None),
    }
}

/// Returns a message for each file in a session's folder that cannot be read as a branch.
pub(super) fn skipped_branches(dir: &Path) -> Result<Vec<String>, CliError> {
    let unreadable = Session::open(dir)?.unreadable_branches()?;
    Ok(unreadable.into_iter().map(|(id, why)| format!("branch {id} skipped: {why}")).collect())
}

/// Resolves `PATH[@BRANCH]` to folder and branch; the default branch is the one written last.
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

/// Finds the folder of a session by path, name or end of a name; `None` finds the newest session.
pub(super) fn find_session_dir(config: &Config, text: Option<&str>) -> Result<PathBuf, CliError> {
    let root = sessions_folder(config);
    let not_found = |message: String| {
        CliError::new(CliErrorKind::Session, message, "`retrospect sessions` lists the sessions")
    };
    let Some(text) = text else {
        let newest = list_sessions(&root).into_iter().find_map(|(dir, read)| read.ok().map(|_| dir));
        return newest.ok_or_else(|| not_found(format!("{}: no sessions yet", root.display())));
    };
    let path = Path::new(text);
    // A `meta.toml` that isn't a regular file belongs to a broken session; opening it reports the problem.
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
        let matching: Vec<PathBuf> = list_sessions(&root)
            .into_iter()
            .map(|(dir, _)| dir)
            .filter(|d| d.file_name().is_some_and(|n| n.to_string_lossy().ends_with(text)))
            .collect();
        match matching.as_slice() {
            [one] => return Ok(one.clone()),
            [] => {}
            several => {
                return Err(not_found(format!(
                    "{} sessions in {} end with {text:?}; type more of the name",
                    several.len(),
                    root.display()
                )));
            }
        }
    }
    if is_import(path) {
        let what = if path.is_dir() {
            "an imported run can't be continued or changed: it has nothing to replay"
        } else {
            "an exported report or another program's log can't be continued or changed"
        };
        return Err(CliError::new(
            CliErrorKind::Session,
            format!("{text}: {what}"),
            "name a session's folder; `retrospect open` shows this one",
        ));
    }
    Err(not_found(format!("no session named {text} (sessions are in {})", root.display())))
}

/// Opens a session, or imports one, read-only.
pub(super) fn open_session(config: &Config, text: Option<&str>) -> Result<OpenedSession, CliError> {
    open_session_for(config, text, OpenMode::Read)
}

/// Opens a session, or imports one; `mode` applies to a session's branch file.
pub(super) fn open_session_for(
    config: &Config,
    text: Option<&str>,
    mode: OpenMode,
) -> Result<OpenedSession, CliError> {
    let (text, at) = match text {
        Some(text) => split_position(text).map(|(text, at)| (Some(text), at))?,
        None => (None, None),
    };
    let (path, word) = text.map_or(("", None), split_branch);
    let file = Path::new(path);
    if is_import(file) {
        let imported = Source::open(file).and_then(|source| source.import()).map_err(import_error)?;
        return Ok(OpenedSession { position: at, ..open_imported(file, imported, word)? });
    }
    if let Some(demo) = find_demo(config, path) {
        return Ok(OpenedSession { position: at, ..open_demo(demo, word)? });
    }
    let (dir, id) = find_session_branch(config, text)?;
    let session = Session::open(&dir)?;
    let branch = open_branch(&session.branch_file(&id), mode)?;
    Ok(OpenedSession { position: at, ..OpenedSession::from_branch(dir, session.meta, branch) })
}

/// Returns the shipped session of this name, unless a session on disk has the name.
pub(super) fn find_demo(config: &Config, name: &str) -> Option<&'static ShippedDemo> {
    ShippedDemo::named(name).filter(|_| find_session_dir(config, Some(name)).is_err())
}

/// Opens a shipped session in memory: nothing of it is on disk, so nothing can change it.
pub(super) fn open_demo(demo: &'static ShippedDemo, branch: Option<&str>) -> Result<OpenedSession, CliError> {
    let opened = open_imported(Path::new(demo.name), demo.session(), branch)?;
    Ok(OpenedSession { demo: Some(demo), is_demo: true, ..opened })
}

/// Returns the session's own files. Symbolic links are skipped: they could lead to any file. An error of `report`, which is
/// called before each file, stops the search.
pub(super) fn session_files<'a>(
    dir: &Path,
    report: &ReportProgress<'_>,
) -> Result<SessionFiles<'a, io::Error>, CliError> {
    let mut found = SessionFiles::new();
    let mut add_file = |name: String, path: &Path| -> Result<(), CliError> {
        report(0, 1).map_err(JournalError::Stopped)?;
        files::open_no_follow(path).map_err(|e| CliError::file(path, "could not be read", &e))?;
        let path = path.to_owned();
        found.insert(name, Box::new(move |visit| read_lines(&path, visit)));
        Ok(())
    };
    add_file("meta.toml".to_owned(), &dir.join("meta.toml"))?;
    let branches = dir.join("branches");
    if branches.is_symlink() {
        let why = "a symbolic link, which is not followed";
        let error = io::Error::new(ErrorKind::InvalidInput, why);
        return Err(CliError::file(&branches, "could not be read", &error));
    }
    let entries =
        std::fs::read_dir(&branches).map_err(|e| CliError::file(&branches, "could not be read", &e))?;
    let is_branch_file =
        |p: &PathBuf| p.is_file() && !p.is_symlink() && p.extension().is_some_and(|x| x == "jsonl");
    for path in entries.flatten().map(|e| e.path()).filter(is_branch_file) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        add_file(format!("branches/{name}"), &path)?;
    }
    Ok(found)
}

/// Calls `visit` with each line. Bytes that aren't UTF-8 are replaced.
fn read_lines(path: &Path, visit: &mut WritePart<'_, io::Error>) -> io::Result<()> {
    let name_file =
        |e: io::Error| io::Error::new(e.kind(), format!("{}: could not be read: {e}", path.display()));
    let mut file = BufReader::new(files::open_no_follow(path).map_err(name_file)?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).map_err(name_file)? > 0 {
        visit(&String::from_utf8_lossy(&line))?;
        line.clear();
    }
    Ok(())
}

/// Returns the branches of an imported session, the trunk first.
fn imported_branch_ids(files: &BTreeMap<String, String>) -> Vec<BranchId> {
    let name = |file: &String| file.strip_prefix("branches/")?.strip_suffix(".jsonl").map(str::to_owned);
    let mut ids: Vec<BranchId> = files.keys().filter_map(name).map(BranchId).collect();
    ids.retain(|id| id.0 != LABELS_STEM);
    ids.sort_by_key(|id| (*id != BranchId::trunk(), id.0.len(), id.0.clone()));
    ids
}

/// Returns the labels of the branches of an imported session.
fn imported_labels(files: &BTreeMap<String, String>) -> BTreeMap<BranchId, Label> {
    let text = files.get(&format!("branches/{LABELS_STEM}.jsonl")).map_or("", String::as_str);
    parse_labels(text.as_bytes()).unwrap_or_default()
}

/// Returns whether a path is to be imported: any file but a session's own, or a folder of a known format.
pub(super) fn is_import(path: &Path) -> bool {
    if path.is_dir() {
        let is_session = path.join("meta.toml").symlink_metadata().is_ok();
        return !is_session && Source::open(path).is_ok_and(|source| source.importer().is_some());
    }
    path.is_file() && path.file_name().is_some_and(|n| n != "meta.toml")
}

/// Returns the error for something that can't be opened as a session.
fn import_error(error: ImportError) -> CliError {
    CliError::new(CliErrorKind::Session, error.to_string(), error.hint)
}

fn open_imported(
    file: &Path,
    imported: ImportedSession,
    branch: Option<&str>,
) -> Result<OpenedSession, CliError> {
    let invalid = |problem: String| {
        CliError::new(
            CliErrorKind::Session,
            format!("{}: {problem}", file.display()),
            "open the session's folder instead, if you have it",
        )
    };
    let meta = imported.files.get("meta.toml").ok_or_else(|| invalid("contains no meta.toml".to_owned()))?;
    let meta: Meta = toml::from_str(meta).map_err(|e| invalid(format!("its meta.toml: {}", e.message())))?;
    if !imported.files.contains_key("branches/trunk.jsonl") {
        return Err(invalid("contains no branches/trunk.jsonl".to_owned()));
    }
    let branch_bytes =
        |id: &BranchId| imported.files.get(&format!("branches/{id}.jsonl")).map(String::as_bytes);
    let last_written = || {
        last_written_from_files(imported.files.iter().filter_map(|(name, text)| {
            let id = name.strip_prefix("branches/")?.strip_suffix(".jsonl")?;
            Some((BranchId(id.to_owned()), text.as_bytes()))
        }))
    };
    let exists = |id: &BranchId| id.0 != LABELS_STEM && branch_bytes(id).is_some();
    let id = match branch {
        Some(word) => {
            let labels = imported_labels(&imported.files);
            branch_name::find_branch_among(
                &meta.session,
                &imported_branch_ids(&imported.files),
                &labels,
                word,
            )?
        }
        // By default, the branch that an exported report shows.
        None => imported.branch.clone().map(BranchId).filter(exists).unwrap_or_else(last_written),
    };
    let read = read_with_parents(file, &id, &branch_bytes)?;
    Ok(OpenedSession {
        dir: None,
        demo: None,
        is_demo: false,
        meta,
        branch: read.header,
        bytes_read: read.valid_len,
        timeline: fold_events(read.events),
        truncated_tail: read.torn_tail.map(|t| t.description),
        missing: None,
        position: None,
        imported,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: runs of several tasks were named by their last task, so that two of them looked alike.
    #[test]
    fn a_run_of_several_tasks_is_named_by_their_number() {
        let label = |title: &str| {
            let meta = serde_json::json!({
                "v": 1, "session": "s", "created": "2026-11-29T09:00:00Z", "program": "1", "env": "household",
                "method": "react", "actor": "rules", "title": title,
            });
            run_label(&serde_json::from_value(meta).unwrap(), "put a mug in desk")
        };
        assert_eq!(label("household 22 tasks"), "22 tasks");
        assert_eq!(label("household put a mug in desk"), "put a mug in desk");
        assert_eq!(label("household solve many tasks"), "put a mug in desk");
    }
}
