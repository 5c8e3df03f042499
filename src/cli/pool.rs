//! Pool files: append-only logs of lesson operations, one JSON object per line. Concurrent writers lose no lessons:
//! each line is appended whole, and lines are merged by lesson id.

use super::bounded;
use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
use crate::domain::{
    Author, Lesson, LessonId, LessonOp, LessonOrigin, LessonStatus, LessonText, MeasuredEffect,
    ReflectionKind, Scope, Seq, Task, hex,
};
use crate::engine::{Cause, Envelope, Event, LessonCommand, State};
use crate::files;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The shortest line that adds a lesson, for error messages.
const EXAMPLE_LINE: &str = r#"{"v":1,"at":"2026-11-20T10:40:00Z","op":"add","id":"0123456789ab","kind":"abstract","scope":"environment","origin":"person","text":{"text":"Look in the fridge first."}}"#;

/// One line of a pool file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolLine {
    /// Format version.
    #[serde(rename = "v")]
    pub version: u32,
    #[serde(rename = "at")]
    pub written_at: Timestamp,
    /// The session that the lesson was promoted from; empty for typed lessons.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The tasks that the session was calibrated on; recorded in the first of the lines that were promoted together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<TaskKey>,
    /// The tasks on which the lesson was learned in that session; only in lines that add one, and not in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned_on: Vec<TaskKey>,
    /// The environment that the lesson was learned in; empty for typed lessons, for changes, and in older files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub env: String,
    /// The change, with old and new text.
    #[serde(flatten)]
    pub operation: LessonOp,
}

impl PoolLine {
    /// Returns the line with a change that belongs to no session.
    pub fn new(written_at: Timestamp, operation: LessonOp) -> Self {
        Self {
            version: 1,
            written_at,
            session: String::new(),
            calibration: Vec::new(),
            learned_on: Vec::new(),
            env: String::new(),
            operation,
        }
    }
}

/// Identifies a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    pub env: String,
    /// Task id within the environment.
    pub id: String,
    /// Seed of the environment's random numbers.
    #[serde(default)]
    pub seed: u64,
}

impl TaskKey {
    /// Returns the key of a task.
    pub fn from_task(task: &Task) -> Self {
        Self { env: task.env.clone(), id: task.id.clone(), seed: task.seed }
    }

    /// Returns the same as [`Task::key`].
    pub fn key(&self) -> String {
        Task::key_of(&self.env, &self.id, self.seed)
    }
}

/// The contents of a pool file.
#[derive(Clone, Debug, Default)]
pub struct PoolFile {
    /// Lines that had an effect, in order.
    pub lines: Vec<PoolLine>,
    /// The tasks on which its lessons were calibrated.
    pub calibration: BTreeSet<TaskKey>,
    state: State,
}

impl PoolFile {
    /// Reads a pool file; a missing file is an empty pool. Ignores an incomplete last line.
    ///
    /// # Errors
    /// Fails with a [`CliError`] that names file and line if the file can't be read or isn't a pool.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let bytes = match bounded::read_file(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(CliError::file(path, "the pool could not be read", &e)),
        };
        let mut pool = Self::default();
        for line in parse_pool(path, &bytes)?.lines {
            pool.merge_line(line);
        }
        Ok(pool)
    }

    /// Merges a line and returns whether it had an effect: adding a known lesson, or a change that changes nothing, has
    /// none.
    pub fn merge_line(&mut self, line: PoolLine) -> bool {
        let changes = match (self.state.pool.get(line.operation.id()), &line.operation) {
            (None, op) => matches!(op, LessonOp::Add { .. }),
            (Some(_), LessonOp::Add { .. }) => false,
            (Some(lesson), LessonOp::Edit { text, .. }) => lesson.text() != text,
            (Some(lesson), LessonOp::Status { status, .. }) => lesson.status != *status,
            (Some(lesson), LessonOp::Rescope { scope, .. }) => lesson.scope != *scope,
            (Some(lesson), LessonOp::Measured { measured, .. }) => {
                !lesson.measured.iter().any(|known| known.is_same_result(measured))
            }
            (Some(_), LessonOp::Move { .. } | LessonOp::Recur { .. }) => !self.lines.contains(&line),
        };
        let before = self.calibration.len();
        self.calibration.extend(line.calibration.iter().cloned());
        if !changes {
            // The calibration tasks of a constitution count even if its first lesson is already known.
            let has_new_tasks = self.calibration.len() > before;
            if has_new_tasks {
                self.lines.push(line);
            }
            return has_new_tasks;
        }
        let seq = Seq(self.lines.len() as u64 + 1);
        let event = Event::LessonChanged { op: Box::new(line.operation.clone()), author: Author::File };
        self.state.apply(&Envelope {
            seq,
            timestamp: line.written_at,
            cause: Cause::Policy,
            batch_continues: false,
            event,
        });
        self.lines.push(line);
        true
    }

    /// Returns the environments of its lessons, as far as they are known: from their own lines or, in older files, from the
    /// calibration of their session.
    pub fn environments(&self) -> BTreeMap<LessonId, String> {
        let calibrated =
            self.lines.iter().filter_map(|line| Some((&line.session, &line.calibration.first()?.env)));
        let by_session: BTreeMap<&String, &String> =
            calibrated.filter(|(session, _)| !session.is_empty()).collect();
        let added = self.lines.iter().filter(|line| matches!(line.operation, LessonOp::Add { .. }));
        let env_of = |line: &PoolLine| match line.env.as_str() {
            "" => by_session.get(&line.session).map(|env| (*env).clone()),
            env => Some(env.to_owned()),
        };
        added.filter_map(|line| Some((line.operation.id().clone(), env_of(line)?))).collect()
    }

    /// Returns the keys of the tasks on which a lesson was learned, as far as the file says so: those of the lesson and of the lessons that
    /// it was made from, and those that their sessions were calibrated on.
    pub fn sources(&self, id: &LessonId) -> BTreeSet<String> {
        let lessons = with_parents(id, |id| self.state.pool.get(id));
        let mut keys: BTreeSet<String> = lessons.iter().copied().flat_map(recorded_sources).collect();
        let is_own = |line: &&PoolLine| lessons.iter().any(|lesson| lesson.id == *line.operation.id());
        for line in self.lines.iter().filter(is_own) {
            keys.extend(line.learned_on.iter().map(TaskKey::key));
            let of_session = self.lines.iter().filter(|l| !l.session.is_empty() && l.session == line.session);
            keys.extend(of_session.flat_map(|line| &line.calibration).map(TaskKey::key));
        }
        keys
    }

    /// Returns a lesson as a run loads it: it says on which tasks it was learned, also after the file was moved.
    pub fn loadable(&self, lesson: &Lesson) -> Lesson {
        Lesson { sources: Some(self.sources(&lesson.id).into_iter().collect()), ..lesson.clone() }
    }

    /// Returns all lessons, including retired ones.
    pub fn lessons(&self) -> impl Iterator<Item = &Lesson> {
        self.state.pool.all()
    }

    /// Finds a lesson by its number in the list, its id or the beginning of its id.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if there is none.
    pub fn find(&self, text: &str) -> Result<&Lesson, CliError> {
        let all: Vec<&Lesson> = self.state.pool.all().collect();
        find_lesson(&all, text)
    }
}

/// Returns a lesson and all lessons that it was made from, as far as they are known.
pub(super) fn with_parents<'a>(
    id: &LessonId,
    find: impl Fn(&LessonId) -> Option<&'a Lesson>,
) -> Vec<&'a Lesson> {
    let mut found: Vec<&Lesson> = Vec::new();
    let mut open = vec![id.clone()];
    while let Some(id) = open.pop() {
        let Some(lesson) = find(&id).filter(|_| found.iter().all(|known| known.id != id)) else { continue };
        open.extend(lesson.parents.iter().cloned());
        found.push(lesson);
    }
    found
}

/// Returns the keys of the tasks that a lesson itself names as those on which it was learned.
pub(super) fn recorded_sources(lesson: &Lesson) -> impl Iterator<Item = String> {
    let recorded = lesson.sources.iter().flat_map(|keys| keys.iter().cloned());
    recorded.chain(lesson.task_key.as_deref().map(str::to_owned))
}

/// Finds a lesson by its number or at least four leading characters of its id.
pub(super) fn find_lesson<'a>(lessons: &[&'a Lesson], text: &str) -> Result<&'a Lesson, CliError> {
    let number: Option<u32> = text.parse().ok().filter(|n| *n < 100_000);
    let by_number = number.and_then(|n| lessons.iter().find(|l| l.number == n));
    let by_id = || lessons.iter().find(|l| text.len() >= 4 && l.id.0.starts_with(text));
    by_number.or_else(by_id).copied().ok_or_else(|| {
        CliError::usage(format!("no lesson {text:?}"), "`retrospect lessons list` shows numbers and ids")
    })
}

/// A parsed pool file.
struct ParsedPool {
    lines: Vec<PoolLine>,
    end: FileEnd,
}

/// How a pool file ends.
enum FileEnd {
    /// With a line break, or the file is empty.
    Complete,
    /// With a complete line that lacks only its line break, as some editors write it.
    Unterminated,
    /// With this many bytes of a line that a killed program left incomplete.
    Torn(usize),
}

/// Parses the lines of a pool file. Every line has to be a pool line: any other file is someone's own and is rejected.
///
/// # Errors
/// Fails with a [`CliError`] that names file and line.
fn parse_pool(path: &Path, bytes: &[u8]) -> Result<ParsedPool, CliError> {
    let text = String::from_utf8_lossy(bytes);
    let mut parsed = ParsedPool { lines: Vec::new(), end: FileEnd::Complete };
    let invalid_line = |number: usize, line: &str, error: &serde_json::Error| {
        let file = path.display();
        if serde_json::from_str::<serde::de::IgnoredAny>(line).is_err() && number == 0 {
            return CliError::new(
                CliErrorKind::File,
                format!("{file} is not a lesson pool (line 1 is not JSON); it was not changed"),
                "name another pool; `retrospect lessons import FILE` and `run --constitution FILE` read plain text",
            );
        }
        CliError::new(
            CliErrorKind::File,
            format!("{file}:{}: not a line of a lesson pool: {error}; the file was not changed", number + 1),
            format!(
                "a pool line is a JSON object such as {EXAMPLE_LINE}; correct or delete the line, or name another pool; \
                 `retrospect lessons import FILE` and `run --constitution FILE` read plain text"
            ),
        )
    };
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(read) => {
                parsed.lines.push(read);
                parsed.end = if line.ends_with('\n') { FileEnd::Complete } else { FileEnd::Unterminated };
            }
            Err(_) if !line.ends_with('\n') && is_torn(line, !parsed.lines.is_empty()) => {
                let start = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                parsed.end = FileEnd::Torn(bytes.len() - start);
            }
            Err(error) => return Err(invalid_line(number, line, &error)),
        }
    }
    Ok(parsed)
}

/// Returns whether a text without a line break is the beginning of a pool line. After other pool lines, a shorter
/// beginning is enough; otherwise it might be someone's own JSON.
fn is_torn(text: &str, after_pool_lines: bool) -> bool {
    const LINE_START: &str = "{\"v\":1,\"at\":";
    let unfinished = serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|e| e.is_eof());
    unfinished && (text.starts_with(LINE_START) || after_pool_lines && LINE_START.starts_with(text))
}

/// Appends lines to a pool file, under a lock, in one write. First removes an incomplete last line, since text after it
/// would make the whole file unreadable. Returns the number of bytes removed.
///
/// # Errors
/// Fails with a [`CliError`] if the file can't be written or isn't a pool; the file is then unchanged.
pub fn append(path: &Path, lines: &[PoolLine]) -> Result<u64, CliError> {
    if lines.is_empty() {
        return Ok(0);
    }
    crate::driver::check_clock()?;
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        files::create_folder(parent)
            .map_err(|e| CliError::file(parent, "the folder could not be created", &e))?;
    }
    let failed = |e: std::io::Error| CliError::file(path, "the pool could not be written", &e);
    let mut file = files::open_or_create_to_append(path).map_err(failed)?;
    file.lock().map_err(failed)?;
    let parsed = parse_pool(path, &bounded::read_file(path).map_err(failed)?)?;
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).map_err(|e| failed(e.into()))?);
        text.push('\n');
    }
    let mut removed_bytes = 0;
    let mut write = || {
        match parsed.end {
            FileEnd::Complete => {}
            FileEnd::Unterminated => text.insert(0, '\n'),
            FileEnd::Torn(bytes) => {
                removed_bytes = bytes as u64;
                file.set_len(file.metadata()?.len().saturating_sub(removed_bytes))?;
            }
        }
        file.write_all(text.as_bytes())?;
        file.sync_data()
    };
    write().map_err(failed)?;
    Ok(removed_bytes)
}

/// Returns the id of a lesson typed into a pool: a hash of time, process id, kind and text.
pub(super) fn typed_lesson_id(
    at: Timestamp,
    process: u32,
    kind: ReflectionKind,
    text: &LessonText,
) -> LessonId {
    let mut hash = Sha256::new();
    hash.update(at.as_nanosecond().to_le_bytes());
    hash.update(process.to_le_bytes());
    hash.update(kind.name().as_bytes());
    hash.update(text.text.as_bytes());
    hash.update([0]);
    hash.update(text.solution.as_deref().unwrap_or("").as_bytes());
    LessonId(hex(&hash.finalize()[..6]).into())
}

/// Returns a lesson about the environment that a person typed and that is in no pool. Equal texts give equal ids, so that a
/// measurement of it can be continued.
pub(super) fn typed_pool_lesson(kind: ReflectionKind, text: LessonText) -> Option<Lesson> {
    let id = typed_lesson_id(Timestamp::UNIX_EPOCH, 0, kind, &text);
    let mut line = add_line(Timestamp::UNIX_EPOCH, kind, Scope::Environment, text, LessonOrigin::Person);
    if let LessonOp::Add { id: own, .. } = &mut line.operation {
        *own = id;
    }
    let mut pool = PoolFile::default();
    pool.merge_line(line);
    pool.lessons().next().cloned()
}

/// Returns the commands that load the active lessons of a pool file at the start of a run.
///
/// # Errors
/// Fails with a [`CliError`] that names file and line; a missing file is an error as well.
pub fn load_commands(path: &Path) -> Result<Vec<(String, LessonCommand)>, CliError> {
    if !path.exists() {
        return Err(CliError::usage(
            format!("--pool {}: no such file", path.display()),
            "`retrospect lessons add` or `lessons promote` creates one",
        ));
    }
    let pool = PoolFile::read(path)?;
    let source = path.display().to_string();
    let load = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(pool.loadable(l))));
    Ok(pool.lessons().filter(|l| l.is_active()).map(load).collect())
}

/// Returns whether a file is a pool file rather than plain text; `false` if it can't be read.
pub(super) fn is_pool(path: &Path) -> bool {
    bounded::read_text(path).is_ok_and(|text| text.trim_start().starts_with('{'))
}

/// Returns the commands that load the constitution of a pool file (its active Abstract and Error lessons with
/// environment scope), or the lessons of a plain text file, one per line: `mistake -> solution` is an Error lesson,
/// anything else an Abstract one. Skips empty lines and lines that begin with `#`; strips a list marker (`- ` or `* `).
///
/// # Errors
/// Fails with a [`CliError`] if the file can't be read or holds no lesson.
pub fn load_constitution(path: &Path) -> Result<Vec<(String, LessonCommand)>, CliError> {
    let text =
        bounded::read_text(path).map_err(|e| CliError::file(path, "the lessons could not be read", &e))?;
    let source = path.display().to_string();
    if text.trim_start().starts_with('{') {
        let pool = PoolFile::read(path)?;
        let load = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(pool.loadable(l))));
        let lessons: Vec<_> = pool.lessons().filter(|l| l.is_in_constitution()).map(load).collect();
        if lessons.is_empty() {
            return Err(CliError::new(
                CliErrorKind::File,
                format!(
                    "{source} contains no Abstract or Error lesson about a whole environment; {} about one type of task",
                    pool.lessons().filter(|l| l.is_general()).count()
                ),
                format!(
                    "--pool {source} loads lessons of every kind and scope; `retrospect lessons list` shows them"
                ),
            ));
        }
        return Ok(lessons);
    }
    let lessons: Vec<(String, LessonCommand)> = parse_plain_text(&text)
        .into_iter()
        .map(|(kind, text)| {
            let (rule, evidence) = (None, String::new());
            (
                source.clone(),
                LessonCommand::Add {
                    kind,
                    scope: Scope::Environment,
                    text,
                    rule,
                    evidence,
                    parents: Vec::new(),
                    transition: None,
                    pinned: false,
                },
            )
        })
        .collect();
    if lessons.is_empty() {
        return Err(CliError::new(
            CliErrorKind::File,
            format!("{source} contains no lessons"),
            "write one lesson per line; `mistake -> solution` is an Error lesson",
        ));
    }
    Ok(lessons)
}

/// Parses the lessons of a plain text; see [`load_constitution`].
pub(super) fn parse_plain_text(text: &str) -> Vec<(ReflectionKind, LessonText)> {
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|line| {
            let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim();
            match line.split_once(" -> ").or_else(|| line.split_once(" → ")) {
                Some((mistake, solution)) => {
                    (ReflectionKind::Error, LessonText::error(mistake.trim(), solution.trim()))
                }
                None => (ReflectionKind::Abstract, LessonText::plain(line)),
            }
        })
        .filter(|(_, text)| !text.text.is_empty())
        .collect()
}

/// Returns the pool line that adds a new lesson.
pub(super) fn add_line(
    at: Timestamp,
    kind: ReflectionKind,
    scope: Scope,
    text: LessonText,
    origin: LessonOrigin,
) -> PoolLine {
    let id = typed_lesson_id(at, std::process::id(), kind, &text);
    let op = LessonOp::plain(id, kind, scope, origin, text);
    PoolLine::new(at, op)
}

/// Returns a session's lesson as pool lines: its first version, followed by the changes that led to its current text
/// and status.
pub(super) fn promote_lines(at: Timestamp, session: &str, lesson: &Lesson) -> Vec<PoolLine> {
    let line = |op| PoolLine { session: session.to_owned(), ..PoolLine::new(at, op) };
    // A lesson of scope episode would be useless in a pool, so its scope becomes the environment.
    let scope = if lesson.scope == Scope::Episode { Scope::Environment } else { lesson.scope };
    let mut lines = Vec::new();
    if let Some(first) = lesson.versions.first() {
        let mut op = lesson.add_op();
        if let LessonOp::Add { scope: its_scope, text, pinned, taken_from, .. } = &mut op {
            (*its_scope, *text, *pinned, *taken_from) = (scope, first.text.clone(), false, None);
        }
        lines.push(line(op));
    }
    for pair in lesson.versions.windows(2) {
        lines.push(line(LessonOp::Edit {
            id: lesson.id.clone(),
            previous: pair[0].text.clone(),
            text: pair[1].text.clone(),
        }));
    }
    if lesson.status != LessonStatus::On && lesson.is_active() {
        lines.push(line(LessonOp::Status {
            id: lesson.id.clone(),
            previous: LessonStatus::On,
            status: lesson.status,
            merged_into: None,
        }));
    }
    lines.extend(lesson.measured.iter().map(|measured| measured_line(at, session, lesson, measured)));
    lines
}

fn measured_line(at: Timestamp, session: &str, lesson: &Lesson, measured: &MeasuredEffect) -> PoolLine {
    let op = LessonOp::Measured { id: lesson.id.clone(), measured: Box::new(measured.clone()) };
    PoolLine { session: session.to_owned(), ..PoolLine::new(at, op) }
}

/// Returns the lines of a session's lesson that a pool lacks: all of them if the lesson is new, an edit if its text is new
/// (not if the pool's lesson once had it), and what was measured.
pub(super) fn missing_lines(pool: &PoolFile, at: Timestamp, session: &str, lesson: &Lesson) -> Vec<PoolLine> {
    let Some(existing) = pool.lessons().find(|l| l.id == lesson.id) else {
        return promote_lines(at, session, lesson);
    };
    let mut lines = Vec::new();
    if existing.versions.iter().all(|v| v.text != *lesson.text()) {
        let (previous, text) = (existing.text().clone(), lesson.text().clone());
        let op = LessonOp::Edit { id: lesson.id.clone(), previous, text };
        lines.push(PoolLine { session: session.to_owned(), ..PoolLine::new(at, op) });
    }
    let is_new =
        |result: &&MeasuredEffect| !existing.measured.iter().any(|known| known.is_same_result(result));
    let measured = lesson.measured.iter().filter(is_new);
    lines.extend(measured.map(|measured| measured_line(at, session, lesson, measured)));
    lines
}

/// Returns the path of the pool file: the configured one, else `pool.jsonl` in the user's data folder.
pub(super) fn pool_path(config: &Config) -> PathBuf {
    use etcetera::BaseStrategy as _;
    config.get(keys::POOL).unwrap_or_else(|| {
        etcetera::choose_base_strategy().map_or_else(
            |_| PathBuf::from("pool.jsonl"),
            |s| s.data_dir().join("retrospect").join("pool.jsonl"),
        )
    })
}
