//! Pool files: logs of lesson operations, one JSON object a line, only added to. Two programs that add at the same time
//! lose no lesson: every line goes in as a whole at the end of the file, and lines are merged by the ids of their lessons.

use super::bounded;
use super::error::{CliError, CliErrorKind};
use crate::domain::{
    Author, Lesson, LessonId, LessonOp, LessonOrigin, LessonStatus, LessonText, ReflectionKind, Scope, Seq,
    Task, hex,
};
use crate::engine::{Cause, Envelope, Event, LessonCommand, State};
use crate::files;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// One line of a pool file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolLine {
    /// Version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// When it was written.
    #[serde(rename = "at")]
    pub written_at: Timestamp,
    /// The session it was promoted from; empty where it was typed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The tasks that its session was calibrated on; they stand in the first of the lines that were promoted together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<TaskKey>,
    /// The change, with old and new words.
    #[serde(flatten)]
    pub operation: LessonOp,
}

/// What tells a task from all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    /// Its environment.
    pub env: String,
    /// Its name there.
    pub id: String,
    /// The seed of its world's chance.
    #[serde(default)]
    pub seed: u64,
}

impl TaskKey {
    /// The name of a task.
    pub fn from_task(task: &Task) -> Self {
        Self { env: task.env.clone(), id: task.id.clone(), seed: task.seed }
    }
}

/// A pool file, read.
#[derive(Clone, Debug, Default)]
pub struct PoolFile {
    /// Its lines, in order.
    pub lines: Vec<PoolLine>,
    /// The tasks that lessons in it were calibrated on.
    pub calibration: BTreeSet<TaskKey>,
    state: State,
}

impl PoolFile {
    /// Reads a pool; one that is not there yet is empty. A torn last line does not count.
    ///
    /// # Errors
    /// A [`CliError`] with file and line, also where the file is no pool.
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

    /// Folds a line in. A lesson that is there already is not added twice, and a change that changes nothing is left out.
    pub fn merge_line(&mut self, line: PoolLine) -> bool {
        let changes = match (self.state.pool.get(line.operation.id()), &line.operation) {
            (None, op) => matches!(op, LessonOp::Add { .. }),
            (Some(_), LessonOp::Add { .. }) => false,
            (Some(lesson), LessonOp::Edit { text, .. }) => lesson.text() != text,
            (Some(lesson), LessonOp::Status { status, .. }) => lesson.status != *status,
            (Some(lesson), LessonOp::Rescope { scope, .. }) => lesson.scope != *scope,
            (Some(_), LessonOp::Move { .. } | LessonOp::Recur { .. }) => !self.lines.contains(&line),
        };
        let before = self.calibration.len();
        self.calibration.extend(line.calibration.iter().cloned());
        if !changes {
            // What a constitution was calibrated on is kept, whether or not its first lesson is known here.
            let news = self.calibration.len() > before;
            if news {
                self.lines.push(line);
            }
            return news;
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

    /// Every lesson, retired ones too.
    pub fn lessons(&self) -> impl Iterator<Item = &Lesson> {
        self.state.pool.all()
    }

    /// The lesson of a number in the list, or of an id or the beginning of one.
    ///
    /// # Errors
    /// A usage [`CliError`] when there is none.
    pub fn find(&self, text: &str) -> Result<&Lesson, CliError> {
        let all: Vec<&Lesson> = self.state.pool.all().collect();
        find_lesson(&all, text)
    }
}

/// A lesson by its number or the beginning of its id.
pub(super) fn find_lesson<'a>(lessons: &[&'a Lesson], text: &str) -> Result<&'a Lesson, CliError> {
    let number: Option<u32> = text.parse().ok().filter(|n| *n < 100_000);
    let by_number = number.and_then(|n| lessons.iter().find(|l| l.number == n));
    let by_id = || lessons.iter().find(|l| text.len() >= 4 && l.id.0.starts_with(text));
    by_number.or_else(by_id).copied().ok_or_else(|| {
        CliError::usage(
            format!("there is no lesson {text:?}"),
            "`retrospect lessons list` shows numbers and ids",
        )
    })
}

/// What is in a pool file.
struct ParsedPool {
    lines: Vec<PoolLine>,
    end: FileEnd,
}

/// How a pool file ends.
enum FileEnd {
    /// With a line break, or it is empty.
    Complete,
    /// With a whole line that only lacks its line break, as an editor may leave it.
    Unterminated,
    /// With so many bytes of a line that a killed program left half written.
    Torn(usize),
}

/// Reads the lines of a pool file. Every line has to be one of a pool: any other file is somebody's own, and is refused.
///
/// # Errors
/// A [`CliError`] with file and line.
fn parse_pool(path: &Path, bytes: &[u8]) -> Result<ParsedPool, CliError> {
    let text = String::from_utf8_lossy(bytes);
    let mut parsed = ParsedPool { lines: Vec::new(), end: FileEnd::Complete };
    let refused = |number: usize, line: &str, error: &serde_json::Error| {
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
            "correct or delete the line, or name another pool; `retrospect lessons import FILE` and `run --constitution FILE` \
             read plain text",
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
                let begins = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                parsed.end = FileEnd::Torn(bytes.len() - begins);
            }
            Err(error) => return Err(refused(number, line, &error)),
        }
    }
    Ok(parsed)
}

/// Whether a text without a line break is the beginning of a pool line. Behind other pool lines less of it is enough: any other
/// JSON is a person's own.
fn is_torn(text: &str, behind_others: bool) -> bool {
    const LINE_START: &str = "{\"v\":1,\"at\":";
    let unfinished = serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|e| e.is_eof());
    unfinished && (text.starts_with(LINE_START) || behind_others && LINE_START.starts_with(text))
}

/// Adds lines at the end of a pool file, under a lock, in one write. A line that a killed program left half written is
/// cut off first: with more behind it the whole file could not be read any more. Gives the bytes that were cut.
///
/// # Errors
/// A [`CliError`] when the file cannot be written, or is no pool; it is untouched then.
pub fn append(path: &Path, lines: &[PoolLine]) -> Result<u64, CliError> {
    if lines.is_empty() {
        return Ok(0);
    }
    crate::driver::check_clock()?;
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        files::create_folder(parent).map_err(|e| CliError::file(parent, "could not be made", &e))?;
    }
    let failed = |e: std::io::Error| CliError::file(path, "the pool could not be written", &e);
    let mut file = open_to_append(path).map_err(failed)?;
    file.lock().map_err(failed)?;
    let parsed = parse_pool(path, &bounded::read_file(path).map_err(failed)?)?;
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).map_err(|e| failed(e.into()))?);
        text.push('\n');
    }
    let mut cut = 0;
    let mut write = || {
        match parsed.end {
            FileEnd::Complete => {}
            FileEnd::Unterminated => text.insert(0, '\n'),
            FileEnd::Torn(bytes) => {
                cut = bytes as u64;
                file.set_len(file.metadata()?.len().saturating_sub(cut))?;
            }
        }
        file.write_all(text.as_bytes())?;
        file.sync_data()
    };
    write().map_err(failed)?;
    Ok(cut)
}

/// Opens a regular file to append to it; a new one is for its owner alone, whatever the umask is. A person's link is followed.
fn open_to_append(path: &Path) -> std::io::Result<fs::File> {
    match files::open_to_append(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => files::create_new(path),
        opened => opened,
    }
}

/// The id of a lesson that was typed into a pool: a hash of time, program and words.
pub(super) fn typed_lesson_id(at: Timestamp, kind: ReflectionKind, text: &LessonText) -> LessonId {
    let mut hash = Sha256::new();
    hash.update(at.as_nanosecond().to_le_bytes());
    hash.update(std::process::id().to_le_bytes());
    hash.update(kind.name().as_bytes());
    hash.update(text.text.as_bytes());
    hash.update([0]);
    hash.update(text.solution.as_deref().unwrap_or("").as_bytes());
    LessonId(hex(&hash.finalize()[..6]).into())
}

/// The lessons of a pool file that are in force, as a run's beginning.
///
/// # Errors
/// A [`CliError`] with file and line; also for a file that is not there.
pub fn load_commands(path: &Path) -> Result<Vec<(String, LessonCommand)>, CliError> {
    if !path.exists() {
        return Err(CliError::usage(
            format!("--pool {}: there is no such file", path.display()),
            "`retrospect lessons add` or `lessons promote` makes one",
        ));
    }
    let pool = PoolFile::read(path)?;
    let source = path.display().to_string();
    let wish = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(l.clone())));
    Ok(pool.lessons().filter(|l| l.is_active()).map(wish).collect())
}

/// Whether a file is a pool file, and no plain text; one that cannot be read is none.
pub(super) fn is_pool(path: &Path) -> bool {
    bounded::read_text(path).is_ok_and(|text| text.trim_start().starts_with('{'))
}

/// Whether a lesson belongs to the constitution: the kinds that outlive their task, as far as the environment reaches.
pub(super) fn is_constitution(lesson: &Lesson) -> bool {
    matches!(lesson.kind, ReflectionKind::Abstract | ReflectionKind::Error)
        && lesson.scope == Scope::Environment
        && lesson.is_active()
}

/// The constitution in a pool file (its Abstract and Error lessons in force, of scope environment), or the lessons of a
/// plain text, one a line: `mistake -> solution` is an Error lesson, all else an Abstract one. Empty lines and lines that
/// begin with `#` do not count; a list mark before the words is left out.
///
/// # Errors
/// A [`CliError`] when the file cannot be read or holds no lesson.
pub fn load_constitution(path: &Path) -> Result<Vec<(String, LessonCommand)>, CliError> {
    let text =
        bounded::read_text(path).map_err(|e| CliError::file(path, "the lessons could not be read", &e))?;
    let source = path.display().to_string();
    if text.trim_start().starts_with('{') {
        let pool = PoolFile::read(path)?;
        let wish = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(l.clone())));
        let lessons: Vec<_> = pool.lessons().filter(|l| is_constitution(l)).map(wish).collect();
        if lessons.is_empty() {
            return Err(CliError::new(
                CliErrorKind::File,
                format!("{source}: there is no Abstract or Error lesson of scope environment in it"),
                "`retrospect lessons list` shows what is there; --pool takes lessons of every kind",
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
                },
            )
        })
        .collect();
    if lessons.is_empty() {
        return Err(CliError::new(
            CliErrorKind::File,
            format!("{source}: there is no lesson in it"),
            "write one sentence a line; `mistake -> solution` for an Error lesson",
        ));
    }
    Ok(lessons)
}

/// Kinds and words of a plain text.
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

/// A new lesson as a line.
pub(super) fn add_line(
    at: Timestamp,
    kind: ReflectionKind,
    scope: Scope,
    text: LessonText,
    origin: LessonOrigin,
) -> PoolLine {
    let id = typed_lesson_id(at, kind, &text);
    let op = LessonOp::Add {
        id,
        kind,
        scope,
        origin,
        text,
        evidence: String::new(),
        rule: None,
        parents: Vec::new(),
        transition: None,
        task_key: None,
    };
    PoolLine { version: 1, written_at: at, session: String::new(), calibration: Vec::new(), operation: op }
}

/// A session's lesson as lines: as it was first, with the changes that brought it to its words and status of now.
pub(super) fn promote_lines(at: Timestamp, session: &str, lesson: &Lesson) -> Vec<PoolLine> {
    let line = |op| PoolLine {
        version: 1,
        written_at: at,
        session: session.to_owned(),
        calibration: Vec::new(),
        operation: op,
    };
    // What ends with the episode in a session has to outlive it in a pool.
    let scope = if lesson.scope == Scope::Episode { Scope::Environment } else { lesson.scope };
    let mut lines = Vec::new();
    if let Some(first) = lesson.versions.first() {
        lines.push(line(LessonOp::Add {
            id: lesson.id.clone(),
            kind: lesson.kind,
            scope,
            origin: lesson.origin,
            text: first.text.clone(),
            evidence: lesson.evidence.to_string(),
            rule: lesson.rule.as_deref().map(str::to_owned),
            parents: lesson.parents.to_vec(),
            transition: lesson.transition.as_deref().cloned(),
            task_key: lesson.task_key.as_deref().map(str::to_owned),
        }));
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
        }));
    }
    lines
}

/// A session's lesson as the lines that a pool lacks: all of it where it is new, its words where they are. A lesson that
/// the pool knows in these words, or once had in them, keeps what has become of it there.
pub(super) fn missing_lines(pool: &PoolFile, at: Timestamp, session: &str, lesson: &Lesson) -> Vec<PoolLine> {
    let Some(known) = pool.lessons().find(|l| l.id == lesson.id) else {
        return promote_lines(at, session, lesson);
    };
    if known.versions.iter().any(|v| v.text == *lesson.text()) {
        return Vec::new();
    }
    let (was, text) = (known.text().clone(), lesson.text().clone());
    let op = LessonOp::Edit { id: lesson.id.clone(), previous: was, text };
    vec![PoolLine {
        version: 1,
        written_at: at,
        session: session.to_owned(),
        calibration: Vec::new(),
        operation: op,
    }]
}

/// The pool file that is meant.
pub(super) fn pool_path(config: &super::config::Config) -> PathBuf {
    use etcetera::BaseStrategy as _;
    config.path("pool").unwrap_or_else(|| {
        etcetera::choose_base_strategy().map_or_else(
            |_| PathBuf::from("pool.jsonl"),
            |s| s.data_dir().join("retrospect").join("pool.jsonl"),
        )
    })
}
