//! The environments that lessons were learned in, and what to say of a run that takes its lessons from another one.

use super::error::CliError;
use super::pool::{self, PoolFile, PoolLine};
use crate::domain::{Lesson, LessonId, LessonOp, RunSpec, Scope, pluralize};
use crate::engine::{LessonCommand, State};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The largest number of lessons whose ids a command in a warning lists.
const MAX_RETIRED_BY_ID: usize = 10;

/// Returns the environments of a session's own lessons: that of the episode in which a lesson was learned, or else of the
/// run's first task. Lessons that were loaded from a file may be of any.
pub(super) fn of_session(state: &State) -> BTreeMap<LessonId, String> {
    let first = || state.run.as_deref().and_then(|run| run.tasks.first());
    let env_of = |lesson: &Lesson| {
        let task = state.ended_episode(lesson.learnt_at.0).map(|episode| &episode.task).or_else(first)?;
        Some((lesson.id.clone(), task.env.clone()))
    };
    state.pool.all().filter(|lesson| lesson.file_name().is_none()).filter_map(env_of).collect()
}

/// Returns a copy of a session's lesson that says which task or type of task it is about, as far as its scope is one. A
/// session that loads the lesson doesn't know the episode in which it was learned.
pub(super) fn with_task(lesson: &Lesson, state: &State) -> Lesson {
    let mut lesson = lesson.clone();
    let (learnt_in, _) = lesson.learnt_at;
    let open = || state.episode.as_deref().filter(|e| e.number == learnt_in).map(|e| &e.task);
    let Some(task) = state.ended_episode(learnt_in).map(|episode| &episode.task).or_else(open) else {
        return lesson;
    };
    match lesson.scope {
        Scope::Task => lesson.task_key = lesson.task_key.or_else(|| Some(task.key().into())),
        Scope::TaskType => {
            lesson.task_type = lesson.task_type.or_else(|| task.task_type.as_deref().map(Arc::from));
        }
        Scope::Episode | Scope::Environment => {}
    }
    lesson
}

/// Records in the lines that add a lesson where it was learned.
pub(super) fn record(lines: &mut [PoolLine], environments: &BTreeMap<LessonId, String>) {
    for line in lines.iter_mut().filter(|line| matches!(line.operation, LessonOp::Add { .. })) {
        line.env = environments.get(line.operation.id()).cloned().unwrap_or_default();
    }
}

/// Returns a warning for each pool file whose lessons a run loads although its tasks are from another environment. That is
/// a legitimate experiment, but easily a mistake.
pub(super) fn foreign_lessons(
    spec: &RunSpec,
    files: &[&Path],
    loaded: &[(String, LessonCommand)],
) -> Result<Vec<String>, CliError> {
    let mut warnings = Vec::new();
    for file in files.iter().filter(|file| pool::is_pool(file)) {
        let (name, environments) = (file.display().to_string(), PoolFile::read(file)?.environments());
        let ids =
            loaded.iter().filter(|(source, _)| *source == name).filter_map(|(_, command)| match command {
                LessonCommand::Load(lesson) => Some(&lesson.id),
                _ => None,
            });
        let Some(ForeignLessons { ids, lessons, here }) = find_foreign(spec, &environments, ids) else {
            continue;
        };
        let retire = if ids.len() > MAX_RETIRED_BY_ID {
            format!(
                "`retrospect lessons list --pool {name}` numbers them for `retrospect lessons retire --pool {name} 1 2 3`"
            )
        } else {
            format!("`retrospect lessons retire --pool {name} {}`", ids.join(" "))
        };
        warnings.push(format!(
            "{name}: {lessons} will enter prompts about {here}; unless you test transfer between environments, learn \
             lessons there (`retrospect calibrate --env {here} --out FILE`) or retire these ({retire})"
        ));
    }
    Ok(warnings)
}

/// Returns a warning if the lessons of the pool file that replace the exemplars are from another environment than a run's
/// tasks. `named` is the flag with the file.
pub(super) fn foreign_exemplars(spec: &RunSpec, named: &str, pool: &PoolFile) -> Option<String> {
    let written_by_rules = pool.lessons().filter(|lesson| lesson.rule.is_some() && lesson.is_active());
    let ForeignLessons { lessons, here, .. } =
        find_foreign(spec, &pool.environments(), written_by_rules.map(|lesson| &lesson.id))?;
    Some(format!(
        "{named}: {lessons} will be the mentor's examples for {here}; unless you test transfer between \
         environments, leave it out or calibrate there (`retrospect calibrate --env {here} --mentor symbolic --out FILE`)"
    ))
}

/// Lessons that were learned in other environments than those of a run's tasks.
struct ForeignLessons<'a> {
    ids: Vec<&'a str>,
    /// Their numbers: "3 lessons from A and 1 lesson from B".
    lessons: String,
    /// The first environment of the run.
    here: String,
}

/// Finds the lessons that were learned in other environments than those of a run's tasks; `None` if there are none.
fn find_foreign<'a>(
    spec: &RunSpec,
    environments: &BTreeMap<LessonId, String>,
    ids: impl Iterator<Item = &'a LessonId>,
) -> Option<ForeignLessons<'a>> {
    let here: BTreeSet<&str> = spec.tasks.iter().map(|task| task.env.as_str()).collect();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut foreign = Vec::new();
    for id in ids {
        let Some(env) = environments.get(id).filter(|env| !here.contains(env.as_str())) else { continue };
        *counts.entry(env).or_default() += 1;
        foreign.push(&*id.0);
    }
    let counts: Vec<String> =
        counts.into_iter().map(|(env, count)| format!("{} from {env}", pluralize(count, "lesson"))).collect();
    let here = spec.tasks.first()?.env.clone();
    (!counts.is_empty()).then(|| ForeignLessons { ids: foreign, lessons: counts.join(" and "), here })
}
