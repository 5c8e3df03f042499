//! Repeated advice.

use super::{REPEATED_COSINE, REPEATED_TIMES};
use crate::domain::{Author, Purpose, Reflection, ReflectionKind};
use crate::timeline::effect::WordCounts;
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

/// Returns the runs of successive reflections with the same advice. `task_of` gives the task of an episode; reflections are
/// compared with the one before of the same kind on the same task.
///
/// Rules write Abstract, Error and Progress reflections at every step in the same words, so these are compared only if a model
/// wrote them.
pub fn repeated_advice<'a>(
    reflections: impl IntoIterator<Item = &'a Reflection>,
    task_of: impl Fn(u32) -> Option<String>,
) -> Vec<RepeatedAdvice> {
    let mut runs: BTreeMap<(String, ReflectionKind), (WordCounts, RepeatedAdvice)> = BTreeMap::new();
    let mut found = Vec::new();
    for reflection in reflections.into_iter().filter(|reflection| is_advice(reflection)) {
        let Some(task) = task_of(reflection.episode) else { continue };
        let words = WordCounts::of(&advice_text(reflection));
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
        if run.times > 0 && cosine >= REPEATED_COSINE {
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

/// Returns whether a reflection advises the next steps or attempts, so that repeating it says nothing new.
fn is_advice(reflection: &Reflection) -> bool {
    let asks_for_advice = matches!(reflection.purpose, Purpose::Reflect | Purpose::Build);
    let is_of_model = reflection.author == Author::Mentor;
    let is_written_each_step = matches!(
        reflection.kind,
        ReflectionKind::Abstract | ReflectionKind::Error | ReflectionKind::Progress
    );
    !reflection.items.is_empty() && asks_for_advice && (is_of_model || !is_written_each_step)
}

fn advice_text(reflection: &Reflection) -> String {
    let parts = reflection
        .items
        .iter()
        .flat_map(|item| [Some(item.text.text.as_str()), item.text.solution.as_deref()]);
    parts.flatten().collect::<Vec<_>>().join("\n")
}
