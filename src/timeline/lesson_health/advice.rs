//! Repeated advice.

use super::REPEATED_TIMES;
use crate::domain::{Reflection, ReflectionKind, WordCounts};
use serde::Serialize;
use std::collections::BTreeMap;

/// Successive reflections on a task that say the same: the mentor has nothing new to say. It doesn't mean that the task can't
/// be solved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepeatedAdvice {
    /// The task's environment and name.
    pub task: String,
    pub kind: ReflectionKind,
    /// The number of successive reflections, at least [`REPEATED_TIMES`].
    pub times: usize,
    /// Episode and step of each of them.
    pub written_at: Vec<(u32, u32)>,
    /// The smallest similarity of one of them to the one before.
    pub cosine: f64,
}

impl RepeatedAdvice {
    pub(super) fn describe(&self) -> String {
        format!(
            "same advice {} times: {} on {} (similarity {:.2} or more)",
            self.times,
            self.kind.name(),
            self.task,
            self.cosine
        )
    }
}

/// Returns the runs of successive reflections with the same advice: those whose similarity is at least `same_cosine`. `task_of`
/// gives the task of an episode; reflections are compared with the one before of the same kind on the same task.
///
/// The engine does the same while a run goes on (`SameAdvice`). This also finds what sessions of earlier versions repeated.
pub fn repeated_advice<'a>(
    reflections: impl IntoIterator<Item = &'a Reflection>,
    same_cosine: f64,
    task_of: impl Fn(u32) -> Option<String>,
) -> Vec<RepeatedAdvice> {
    let mut runs: BTreeMap<(String, ReflectionKind), (WordCounts, RepeatedAdvice)> = BTreeMap::new();
    let mut found = Vec::new();
    for reflection in reflections.into_iter().filter(|reflection| reflection.is_advice()) {
        let Some(task) = task_of(reflection.episode) else { continue };
        let words = reflection.word_counts();
        let position = (reflection.episode, reflection.step);
        let single = || RepeatedAdvice {
            task: task.clone(),
            kind: reflection.kind,
            times: 1,
            written_at: vec![position],
            cosine: 1.0,
        };
        let (last, run) = runs.entry((task.clone(), reflection.kind)).or_insert_with(|| {
            (WordCounts::default(), RepeatedAdvice { times: 0, written_at: Vec::new(), ..single() })
        });
        let cosine = words.cosine(last);
        if run.times > 0 && cosine >= same_cosine {
            run.times += 1;
            run.written_at.push(position);
            run.cosine = run.cosine.min(cosine);
        } else {
            found.push(std::mem::replace(run, single()));
        }
        *last = words;
    }
    found.extend(runs.into_values().map(|(_, run)| run));
    found.retain(|run| run.times >= REPEATED_TIMES);
    found.sort_by(|x, y| x.written_at.cmp(&y.written_at));
    found
}
