//! Finds the measurements of the screen that were begun at earlier points of a session.

use crate::domain::{AskedAt, EffectStart};
use crate::driver::measure::{EpisodePlace, newest_logs, read_log};
use crate::timeline::effect::{EffectLog, EffectPlan, EffectRecord};
use crate::ui::effect::EffectQuery;
use std::cmp::Reverse;
use std::path::Path;

/// Returns the measurements of a lesson's version on the branch that a folder has, with the ids of their logs, each as a query that
/// names the point at which it was asked for. Those at the query's place come first, the others only if it allows them; of equal
/// ones the one that was asked for last. Logs that can't be read are left out.
pub(super) fn earlier_measurements(
    root: &Path,
    query: &EffectQuery,
    version: u32,
    now: &AskedAt,
) -> Vec<(String, EffectQuery)> {
    let logs: Vec<EffectPlan> =
        newest_logs(root).iter().filter_map(|file| first_plan(file, query, version, now)).collect();
    let mut found: Vec<(String, EffectQuery)> = Vec::new();
    let mut add = |plan: &EffectPlan, query: EffectQuery| {
        let earlier = EffectQuery { asked: plan.asked.clone(), or_earlier: false, ..query };
        found.push((plan.effect.clone(), earlier));
    };
    if query.or_earlier {
        for plan in &logs {
            // A column of other tasks belongs to the one here that was asked for with it.
            let here = logs.iter().find(|here| here.asked == plan.asked && place_of(here).is_some());
            let place = place_of(plan).or_else(|| here.and_then(place_of)).unwrap_or(query.place);
            add(plan, EffectQuery { place, live: !plan.frozen, ..query.clone() });
        }
    } else {
        for plan in logs.iter().filter(|plan| plan.frozen != query.live) {
            add(plan, query.clone());
        }
    }
    let asked_seq = |query: &EffectQuery| query.asked.as_ref().map(|asked| asked.seq);
    found.sort_by_key(|(_, earlier)| (earlier.place != query.place, Reverse(asked_seq(earlier))));
    found
}

/// Returns the plan of a log with pairs, if it is about the lesson and was asked for earlier on the branch.
fn first_plan(file: &Path, query: &EffectQuery, version: u32, now: &AskedAt) -> Option<EffectPlan> {
    let records = read_log(file).ok()?;
    let Some(EffectRecord::Planned(plan)) = records.first() else { return None };
    let asked = plan.asked.as_ref()?;
    let is_earlier = asked.session == now.session && asked.branch == now.branch && asked.seq <= now.seq;
    if !is_earlier || plan.lesson.as_ref() != Some(&query.lesson) || plan.version != Some(version) {
        return None;
    }
    Some(EffectLog::fold(records)?.plan().clone())
}

/// Returns where the episodes of a column here begin.
fn place_of(plan: &EffectPlan) -> Option<EpisodePlace> {
    match &plan.start {
        EffectStart::Moment { episode, step, .. } => {
            Some(EpisodePlace { episode: Some(*episode), step: Some(*step) })
        }
        EffectStart::Episode { episode, .. } => Some(EpisodePlace { episode: Some(*episode), step: None }),
        EffectStart::Tasks => None,
    }
}
