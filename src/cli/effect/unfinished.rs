//! Finds the measurements of the screen that were begun at earlier points of a session.

use crate::domain::Seq;
use crate::driver::measure::read_log;
use crate::timeline::effect::{AskedAt, EffectLog, EffectPlan, EffectRecord, StopReason};
use crate::ui::effect::EffectQuery;
use std::collections::BTreeMap;
use std::path::Path;

/// The maximum number of logs that are read.
const MAX_READ: usize = 500;

/// A log of one column of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BegunLog {
    effect: String,
    /// Whether it can be continued.
    is_open: bool,
}

/// Returns the logs in a folder about a lesson's version, by the point of the branch at which they were asked for. Logs that can't be
/// read are left out.
pub(super) fn begun_measurements(
    root: &Path,
    query: &EffectQuery,
    version: u32,
    now: &AskedAt,
) -> BTreeMap<Seq, Vec<BegunLog>> {
    let mut begun: BTreeMap<Seq, Vec<BegunLog>> = BTreeMap::new();
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten().take(MAX_READ) {
        let log = entry.path().join("log.jsonl");
        let Some(records) = log.is_file().then(|| read_log(&log).ok()).flatten() else { continue };
        let Some(EffectRecord::Planned(plan)) = records.first() else { continue };
        let Some(seq) = asked_seq(plan, query, version, now) else { continue };
        let Some(log) = EffectLog::fold(records) else { continue };
        let is_open = log.stopped().is_none_or(StopReason::can_go_on);
        begun.entry(seq).or_default().push(BegunLog { effect: log.plan().effect.clone(), is_open });
    }
    begun
}

/// Returns whether a measurement with these ids, one a column, has been begun and isn't finished.
pub(super) fn is_to_be_continued(logs: &[BegunLog], ids: &[&str]) -> bool {
    let own: Vec<&BegunLog> = logs.iter().filter(|log| ids.contains(&log.effect.as_str())).collect();
    // A program that was killed early has begun only one column.
    !own.is_empty() && (own.iter().any(|log| log.is_open) || own.len() < ids.len())
}

/// Returns where on the branch a measurement was asked for, if it may be what the query is about.
fn asked_seq(plan: &EffectPlan, query: &EffectQuery, version: u32, now: &AskedAt) -> Option<Seq> {
    let asked = plan.asked.as_ref()?;
    let is_earlier = asked.session == now.session && asked.branch == now.branch && asked.seq <= now.seq;
    let is_asked_for = plan.lesson.as_ref() == Some(&query.lesson)
        && plan.version == Some(version)
        && plan.frozen != query.live;
    (is_earlier && is_asked_for).then_some(asked.seq)
}
