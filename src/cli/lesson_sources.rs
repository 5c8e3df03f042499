//! The tasks on which lessons were learned. Measuring a lesson there would measure an answer.

use super::pool::{PoolFile, PoolLine, TaskKey, recorded_sources, with_parents};
use crate::domain::{Lesson, LessonOp, LessonOrigin};
use crate::engine::State;
use std::collections::BTreeSet;
use std::path::Path;

/// The tasks on which a lesson was learned, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// Their keys.
    pub(super) tasks: BTreeSet<String>,
    /// The files and sessions that would say more, but can't be read.
    unknown: BTreeSet<String>,
}

impl Sources {
    /// Says that a measurement elsewhere may have tasks on which the lesson was learned. `None` if it is known to have none.
    pub(super) fn warning(&self) -> Option<String> {
        let files: Vec<&str> = self.unknown.iter().map(String::as_str).collect();
        (!files.is_empty()).then(|| {
            format!(
                "elsewhere may have tasks on which the lesson was learned: this session doesn't say which these are, and {} can't be \
                 read as a pool that has the lesson (--pool names another file)",
                files.join(", ")
            )
        })
    }
}

/// Returns the tasks on which a lesson was learned: by the lesson and those that it was made from or, where a session is older than
/// that, by the pool that it was loaded from or else by `pool`. What a person typed may be another wording of any lesson of the session
/// and of the pool, so it counts as learned where they were.
pub(super) fn of_measured(lesson: &Lesson, state: Option<&State>, pool: &Path) -> Sources {
    let file = PoolFile::read(pool).ok();
    let mut sources = Sources { tasks: recorded_sources(lesson).collect(), ..Sources::default() };
    let is_loaded = lesson.file.is_some() || lesson.taken_from.is_some() || lesson.sources.is_some();
    let is_typed = lesson.origin == LessonOrigin::Person && !is_loaded;
    let own = match state {
        Some(state) if is_typed => state.pool.all().collect(),
        Some(state) => with_parents(&lesson.id, |id| state.pool.get(id)),
        None => Vec::new(),
    };
    for known in own.into_iter().chain([lesson]) {
        sources.tasks.extend(recorded_sources(known));
        if known.sources.is_some() {
            continue;
        }
        let loaded_from = known.file.as_deref().or(known.taken_from.as_deref());
        let loaded = loaded_from.and_then(|file| PoolFile::read(Path::new(file)).ok());
        let mut pools = [&loaded, &file].into_iter().flatten();
        match (pools.find(|pool| pool.lessons().any(|l| l.id == known.id)), loaded_from) {
            (Some(pool), _) => sources.tasks.extend(pool.sources(&known.id)),
            (None, Some(file)) if known.task_key.is_none() => {
                sources.unknown.insert(file.to_owned());
            }
            (None, _) => {}
        }
    }
    if let Some(file) = file.filter(|_| is_typed) {
        sources.tasks.extend(file.lessons().flat_map(|lesson| file.sources(&lesson.id)));
    }
    sources
}

/// Returns a lesson of a session as another session loads it: it says on which tasks it was learned, those of the calibration included.
pub(super) fn loadable(lesson: &Lesson, state: &State) -> Lesson {
    let mut tasks = BTreeSet::new();
    for lesson in with_parents(&lesson.id, |id| state.pool.get(id)).into_iter().chain([lesson]) {
        tasks.extend(recorded_sources(lesson));
        tasks.extend(tasks_of_session(lesson, state).iter().map(TaskKey::key));
    }
    if lesson.file.is_none() {
        let calibrated = state.ended_episodes.iter().filter(|episode| episode.role.is_calibration());
        tasks.extend(calibrated.map(|episode| episode.task.key()));
    }
    // What isn't known of a loaded lesson stays unknown.
    let is_unknown = lesson.file.is_some() && lesson.sources.is_none() && tasks.is_empty();
    Lesson { sources: (!is_unknown).then(|| tasks.into_iter().collect()), ..lesson.clone() }
}

/// Records in the lines that add a lesson of a session on which tasks it was learned: those of the episodes in which it, each of its
/// wordings and the lessons that it was made from were written, and those that were recorded when it was loaded.
pub(super) fn record(lines: &mut [PoolLine], state: &State) {
    for line in lines.iter_mut() {
        let LessonOp::Add { id, sources, .. } = &mut line.operation else { continue };
        let mut tasks = BTreeSet::new();
        let mut recorded: BTreeSet<String> = BTreeSet::new();
        for lesson in with_parents(id, |id| state.pool.get(id)) {
            tasks.extend(tasks_of_session(lesson, state));
            recorded.extend(lesson.sources.iter().flat_map(|keys| keys.iter().cloned()));
        }
        line.learned_on = tasks.into_iter().collect();
        *sources = (!recorded.is_empty()).then(|| recorded.into_iter().collect());
    }
}

/// Returns the tasks of the episodes in which a lesson of a session was written or reworded. One that was loaded was learned elsewhere.
fn tasks_of_session(lesson: &Lesson, state: &State) -> Vec<TaskKey> {
    let is_within = |seqs: (u64, u64), lesson: &Lesson| {
        lesson.versions.iter().any(|version| (seqs.0..=seqs.1).contains(&version.seq.0))
    };
    let is_source = |number: u32, seqs| lesson.learnt_at.0 == number || is_within(seqs, lesson);
    let ended = state.ended_episodes.iter().filter(|e| is_source(e.number, e.seq_range));
    let open = state.open_episode().filter(|e| is_source(e.number, (e.first_seq.0, u64::MAX)));
    let tasks = ended.map(|episode| &episode.task).chain(open.map(|episode| &episode.task));
    tasks.map(TaskKey::from_task).collect()
}
