//! Finds the measurements of the screen that were begun at earlier points of a session.

use crate::domain::{AskedAt, Seq};
use crate::driver::measure::{newest_logs, read_log};
use crate::timeline::effect::{EffectLog, EffectPlan, EffectRecord};
use crate::ui::effect::EffectQuery;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the ids of the logs in a folder that are about a lesson's version and can be continued, by the point of the branch at which
/// they were asked for. Logs that can't be read are left out.
pub(super) fn open_measurements(
    root: &Path,
    query: &EffectQuery,
    version: u32,
    now: &AskedAt,
) -> BTreeMap<Seq, Vec<String>> {
    let mut open: BTreeMap<Seq, Vec<String>> = BTreeMap::new();
    for file in newest_logs(root) {
        let Ok(records) = read_log(&file) else { continue };
        let Some(EffectRecord::Planned(plan)) = records.first() else { continue };
        let Some(seq) = asked_seq(plan, query, version, now) else { continue };
        let Some(log) = EffectLog::fold(records) else { continue };
        if log.stopped().is_none() || log.can_go_on() {
            open.entry(seq).or_default().push(log.plan().effect.clone());
        }
    }
    open
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
