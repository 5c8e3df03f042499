//! Saved pools for the screen: pool files and the lessons of other sessions, and promoting a lesson into a file.

use super::config::Config;
use super::lessons::{self, Promotion};
use super::pool::{self, PoolFile, PoolLine};
use super::{lesson_environments, lesson_sources, locate};
use crate::domain::{Lesson, LessonId, LessonStatus, pluralize};
use crate::engine::State;
use crate::ui::types::{SavedPool, WorkProgress};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum number of other sessions whose lessons are read, newest first.
const MAX_SESSIONS: usize = 50;
/// Maximum size of a file that may be a pool, in bytes.
const MAX_POOL_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of files that are looked at for pools, in each folder.
const MAX_FILES: usize = 200;

/// Returns the saved pools: first the configured pool file, even if there is none yet, then the pool files that this run
/// loaded, those beside them and those in the working directory, then the other sessions that have lessons, newest first.
///
/// # Errors
/// Returns a message if the configured pool file can't be read, or if the work was cancelled.
pub(super) fn list(
    config: &Config,
    own_dir: &Path,
    state: &State,
    progress: &WorkProgress,
) -> Result<Vec<SavedPool>, String> {
    let configured = pool::pool_path(config);
    let read = PoolFile::read(&configured).map_err(|error| format!("{error}; {}", error.hint))?;
    let mut pools = vec![file_pool(&configured, &read)];
    pools.extend(
        other_files(&configured, state)
            .iter()
            .filter_map(|path| Some(file_pool(path, &PoolFile::read(path).ok()?))),
    );
    let own = own_dir.canonicalize().ok();
    let root = locate::sessions_folder(config);
    let sessions = locate::recent_sessions(&root, MAX_SESSIONS);
    let all = sessions.len() as u64;
    for (done, session) in (0..).zip(sessions) {
        progress.report(done, all)?;
        let Some((session, _)) = session.filter(|(session, _)| session.dir.canonicalize().ok() != own) else {
            continue;
        };
        let opened = locate::open_session(config, Some(&session.dir.display().to_string()));
        // A broken session has no lessons to offer; `verify` says what is wrong with it.
        let Ok(opened) = opened else { continue };
        let lessons = saved_lessons(opened.timeline.head().pool.all());
        let head = opened.timeline.head();
        let lessons: Vec<Lesson> =
            lessons.iter().map(|lesson| lesson_sources::loadable(lesson, head)).collect();
        if !lessons.is_empty() {
            let name = opened.meta.session;
            pools.push(SavedPool { path: name.clone(), name, is_file: false, lessons });
        }
    }
    Ok(pools)
}

fn saved_lessons<'a>(all: impl Iterator<Item = &'a Lesson>) -> Vec<Lesson> {
    all.filter(|lesson| lesson.status != LessonStatus::Retired).cloned().collect()
}

fn file_pool(path: &Path, pool: &PoolFile) -> SavedPool {
    let name = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into());
    let lessons = saved_lessons(pool.lessons()).iter().map(|lesson| pool.loadable(lesson)).collect();
    SavedPool { name, path: path.display().to_string(), is_file: true, lessons }
}

/// Returns the pool files besides the configured one that a person may mean.
fn other_files(configured: &Path, state: &State) -> Vec<PathBuf> {
    let loaded: BTreeSet<PathBuf> =
        state.pool.all().filter_map(|lesson| lesson.file.as_deref()).map(PathBuf::from).collect();
    let folders = loaded.iter().map(PathBuf::as_path).chain([configured]).filter_map(Path::parent);
    let folders: BTreeSet<PathBuf> = folders.chain([Path::new("")]).map(Path::to_owned).collect();
    let beside = folders.iter().flat_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FILES);
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
            .collect();
        files.sort();
        files
    });
    let mut known: BTreeSet<PathBuf> = configured.canonicalize().ok().into_iter().collect();
    let mut found = Vec::new();
    for path in loaded.iter().cloned().chain(beside) {
        if path.canonicalize().is_ok_and(|canonical| known.insert(canonical)) && begins_as_pool(&path) {
            found.push(path.strip_prefix(".").map_or(path.clone(), Path::to_owned));
        }
    }
    found
}

/// Returns whether a file begins with the line of a pool; other files may have the same ending.
fn begins_as_pool(path: &Path) -> bool {
    let is_small = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MAX_POOL_BYTES);
    let text = is_small.then(|| super::bounded::read_text(path).ok()).flatten().unwrap_or_default();
    text.lines().next().is_some_and(|line| serde_json::from_str::<PoolLine>(line).is_ok())
}

/// Saves a lesson of a session, given by its state, in a pool file, which is created if there is none. Returns what was
/// saved where.
///
/// # Errors
/// Returns a message if the lesson isn't there, or if the file can't be written.
pub(super) fn promote(config: &Config, state: &State, id: &LessonId, pool: &str) -> Result<String, String> {
    let path = Path::new(pool);
    let lesson = state.pool.get(id).ok_or_else(|| format!("no lesson {id}; it was not saved"))?;
    let number = lesson.number;
    let lesson = lesson_environments::with_task(lesson, state);
    let saved = lessons::promote_into(config, path, &state.session, state, &[lesson]);
    let Promotion { added, changed, measured, removed_bytes } =
        saved.map_err(|error| format!("lesson {number} was not saved: {error}; {}", error.hint))?;
    let what = match (added, changed, measured) {
        (0, 0, 0) => "already has lesson",
        (0, 0, _) => "has the new measurements of lesson",
        (0, _, _) => "has the new text of lesson",
        _ => "now has lesson",
    };
    Ok(format!("{pool} {what} {number}{}", describe_removed(removed_bytes)))
}

/// Saves the lessons of a session that outlast an episode, as [`promote`] does with one.
///
/// # Errors
/// Returns a message if the file can't be written.
pub(super) fn promote_all(config: &Config, state: &State, pool: &str) -> Result<String, String> {
    let lessons: Vec<Lesson> =
        state.pool.lasting().map(|lesson| lesson_environments::with_task(lesson, state)).collect();
    let saved = lessons::promote_into(config, Path::new(pool), &state.session, state, &lessons);
    let Promotion { added, changed, measured, removed_bytes } =
        saved.map_err(|error| format!("no lesson was saved: {error}; {}", error.hint))?;
    let parts = [(added, "new"), (changed, "changed"), (measured, "with new measurements")];
    let parts: Vec<String> =
        parts.iter().filter(|part| part.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let what = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
    let removed = describe_removed(removed_bytes);
    Ok(format!("{pool} has the run's {}: {what}{removed}", pluralize(lessons.len() as u64, "lesson")))
}

/// Says that an incomplete last line of a pool file was removed.
fn describe_removed(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!("; an incomplete last line ({bytes} bytes) was removed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::fixture::sample_session;
    use std::fs;

    fn config(dir: &Path) -> Config {
        let file = dir.join("config.toml");
        fs::write(
            &file,
            format!("pool = {:?}\nsessions = {:?}\n", dir.join("mine.jsonl"), dir.join("sessions")),
        )
        .unwrap();
        Config::load(Some(&file), |_| None).unwrap()
    }

    #[test]
    fn a_promoted_lesson_is_listed_and_other_files_are_not() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        let config = config(dir);
        let fixture = sample_session();
        let state = fixture.state();
        let lesson = state.pool.all().find(|lesson| lesson.is_active() && lesson.file.is_none()).unwrap();
        let list = || list(&config, dir, state, &WorkProgress::default()).unwrap();
        let listed = list();
        let mine = dir.join("mine.jsonl").display().to_string();
        assert_eq!((listed[0].path.as_str(), listed[0].lessons.len()), (mine.as_str(), 0));

        // A pool beside it is found; the log of another program isn't taken for one.
        let other = dir.join("other.jsonl").display().to_string();
        fs::write(dir.join("log.jsonl"), "{\"level\":\"info\"}\n").unwrap();
        let saved = promote(&config, state, &lesson.id, &other).unwrap();
        assert_eq!(saved, format!("{other} now has lesson {}", lesson.number));
        let again = promote(&config, state, &lesson.id, &other).unwrap();
        assert_eq!(again, format!("{other} already has lesson {}", lesson.number));
        let listed = list();
        let files: Vec<&SavedPool> = listed.iter().filter(|pool| pool.is_file).collect();
        assert!(files.iter().any(|pool| pool.path == other), "{files:?}");
        assert!(!files.iter().any(|pool| pool.path.ends_with("log.jsonl")), "{files:?}");
        let found = files.iter().find(|pool| pool.path == other).unwrap();
        assert_eq!(found.lessons.iter().map(Lesson::text).collect::<Vec<_>>(), [lesson.text()]);

        // All of the run's lessons follow, those of an episode excepted.
        let lasting = state.pool.lasting().count();
        assert!(lasting > 1 && lasting < state.pool.all().filter(|lesson| lesson.is_active()).count());
        let saved = promote_all(&config, state, &other).unwrap();
        assert_eq!(saved, format!("{other} has the run's {lasting} lessons: {} new", lasting - 1));
        let again = promote_all(&config, state, &other).unwrap();
        assert_eq!(again, format!("{other} has the run's {lasting} lessons: nothing new"));

        // What isn't a pool is never written to.
        let log = dir.join("log.jsonl").display().to_string();
        assert!(promote(&config, state, &lesson.id, &log).is_err());
        assert_eq!(fs::read_to_string(&log).unwrap(), "{\"level\":\"info\"}\n");
        assert!(promote(&config, state, &LessonId("0".into()), &other).unwrap_err().contains("no lesson"));
    }

    /// What was measured of a lesson goes with it into the pool, also if the pool has the lesson already.
    #[test]
    fn a_promoted_lesson_takes_its_results_along() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        let config = config(dir);
        let mut fixture = sample_session();
        let lesson = |state: &State| state.pool.all().find(|lesson| lesson.is_active()).unwrap().clone();
        let id = lesson(fixture.state()).id;
        let other = dir.join("other.jsonl").display().to_string();
        promote(&config, fixture.state(), &id, &other).unwrap();
        let measured: crate::domain::MeasuredEffect = serde_json::from_value(serde_json::json!({
            "date": "2026-11-20", "effect": "0a", "version": 1, "scope": "tasks", "column": "elsewhere",
            "arms": ["with", "without"], "outcome": "success", "pairs": 120, "b": 25, "c": 1, "difference": 0.2,
            "low": 0.12, "high": 0.27, "alpha": 0.025, "margin": 0.1, "verdict": "helped", "model": "rules"
        }))
        .unwrap();
        let op = crate::domain::LessonOp::Measured { id: id.clone(), measured: Box::new(measured.clone()) };
        fixture.write(
            crate::engine::Cause::Person,
            crate::engine::Event::LessonChanged { op: Box::new(op), author: crate::domain::Author::Person },
        );
        let number = lesson(fixture.state()).number;
        let saved = promote(&config, fixture.state(), &id, &other).unwrap();
        assert_eq!(saved, format!("{other} has the new measurements of lesson {number}"));
        let again = promote(&config, fixture.state(), &id, &other).unwrap();
        assert_eq!(again, format!("{other} already has lesson {number}"));
        let kept = |path: &str| {
            let pool = PoolFile::read(Path::new(path)).unwrap();
            let found = pool.lessons().find(|lesson| lesson.id == id).unwrap().clone();
            found.measured.to_vec()
        };
        assert_eq!(kept(&other), std::slice::from_ref(&measured));
        let new = dir.join("new.jsonl").display().to_string();
        promote(&config, fixture.state(), &id, &new).unwrap();
        assert_eq!(kept(&new), [measured]);
    }
}
