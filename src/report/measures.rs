//! The measures that an environment declares for its episodes, such as F1.

use crate::catalog::{Measure, find_environment};
use crate::domain::{Seq, Task};
use crate::engine::State;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The values of an environment's own measures in an episode, in their order.
pub type MeasureValues = Vec<(&'static str, f64)>;
/// The measures of a session's ended episodes, by the episode's number. Episodes without any are absent.
pub type SessionMeasures = BTreeMap<u32, MeasureValues>;

fn declared(task: &Task) -> &'static [Measure] {
    find_environment(&task.env).map_or(&[], |entry| entry.task_facts.measures)
}

/// Returns the measures of an episode, from what its environment shows at the end. What has no value counts as 0.
pub(super) fn episode_measures(task: &Task, shown: &Value) -> MeasureValues {
    declared(task).iter().map(|measure| (measure.name, (measure.value)(shown).unwrap_or(0.0))).collect()
}

/// Returns the measures of a session's ended episodes. `state_at` returns the state after an event; it is asked only about
/// episodes that have measures.
pub fn session_measures(state: &State, state_at: impl Fn(Seq) -> Arc<State>) -> SessionMeasures {
    let measured = state.ended_episodes.iter().filter(|summary| !declared(&summary.task).is_empty());
    let values = measured.filter_map(|summary| {
        let end = state_at(Seq(summary.seq_range.1));
        let episode = end.episode.as_deref().filter(|episode| episode.number == summary.number)?;
        Some((summary.number, episode_measures(&summary.task, &episode.shown)))
    });
    values.collect()
}

/// Returns the mean of each measure.
pub(super) fn mean_values<'a>(
    values: impl Iterator<Item = &'a (&'static str, f64)>,
) -> BTreeMap<&'static str, f64> {
    let mut sums: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for (name, value) in values {
        let (sum, count) = sums.entry(name).or_default();
        *sum += value;
        *count += 1;
    }
    sums.into_iter().map(|(name, (sum, count))| (name, sum / f64::from(count))).collect()
}
