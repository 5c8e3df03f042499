//! The tasks on which the lessons of a pool file were learned. Measuring a lesson there would measure an answer.

use super::pool::{PoolFile, PoolLine, TaskKey};
use crate::domain::{Lesson, LessonId, LessonOp};
use crate::engine::State;
use std::collections::BTreeSet;

/// Records in the lines that add a lesson of a session on which tasks it was learned: those of the episodes in which it, each of its
/// wordings and the lessons that it was made from were written.
pub(super) fn record(lines: &mut [PoolLine], state: &State) {
    for line in lines.iter_mut().filter(|line| matches!(line.operation, LessonOp::Add { .. })) {
        let mut tasks = BTreeSet::new();
        for lesson in with_parents(line.operation.id(), |id| state.pool.get(id)) {
            tasks.extend(tasks_of_session(lesson, state));
        }
        line.learned_on = tasks.into_iter().collect();
    }
}

/// Returns the keys of the tasks on which a lesson of a pool file was learned, as far as the file says so: its own, and those that its
/// session was calibrated on.
pub(super) fn of_pool(pool: &PoolFile, id: &LessonId) -> Vec<String> {
    let lessons = with_parents(id, |id| pool.lessons().find(|lesson| lesson.id == *id));
    let mut keys: BTreeSet<String> =
        lessons.iter().filter_map(|lesson| lesson.task_key.as_deref().map(str::to_owned)).collect();
    let is_own = |line: &&PoolLine| lessons.iter().any(|lesson| lesson.id == *line.operation.id());
    for line in pool.lines.iter().filter(is_own) {
        keys.extend(line.learned_on.iter().map(TaskKey::key));
        let of_session = pool.lines.iter().filter(|l| !l.session.is_empty() && l.session == line.session);
        keys.extend(of_session.flat_map(|line| &line.calibration).map(TaskKey::key));
    }
    keys.into_iter().collect()
}

/// Returns a lesson and all lessons that it was made from, as far as they are known.
fn with_parents<'a>(id: &LessonId, find: impl Fn(&LessonId) -> Option<&'a Lesson>) -> Vec<&'a Lesson> {
    let mut found: Vec<&Lesson> = Vec::new();
    let mut open = vec![id.clone()];
    while let Some(id) = open.pop() {
        let Some(lesson) = find(&id).filter(|_| found.iter().all(|known| known.id != id)) else { continue };
        open.extend(lesson.parents.iter().cloned());
        found.push(lesson);
    }
    found
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
