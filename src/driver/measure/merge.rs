//! Joins the logs of shards to the log that one process would have written.

use crate::timeline::effect::{
    EffectDiscarded, EffectEpisode, EffectLog, EffectPlan, EffectRecord, EpisodeSlot, ExtraCalls, NextRecord,
    Shard,
};
use std::collections::{BTreeMap, BTreeSet};

/// Why logs can't be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    #[error("{0}: this log has no plan")]
    Empty(String),
    #[error("{name}: this log is about measurement {found}, the others are about {expected}")]
    OtherMeasurement { name: String, found: String, expected: String },
    #[error("{0}: this log is not one of the shards of the others")]
    OtherShards(String),
    #[error("{name}: pair {pair}, arm {arm} has another result than in another log")]
    Contradiction { name: String, pair: u32, arm: String },
}

/// What the logs say, by pair.
#[derive(Default)]
struct Collected {
    episodes: BTreeMap<(u32, u32, String), EffectEpisode>,
    /// By pair and arm.
    discarded: BTreeMap<(u32, String), EffectDiscarded>,
    /// The pairs whose journals are kept.
    kept: BTreeSet<u32>,
}

/// Joins logs, each with its name. Returns the records that one process would have written, up to the first pair that is
/// missing in a log. The pairs of shards without any log count in no arm.
///
/// # Errors
/// Returns [`MergeError`] if the logs don't belong together.
pub fn merge_logs(logs: &[(String, Vec<EffectRecord>)]) -> Result<Vec<EffectRecord>, MergeError> {
    let mut plan: Option<EffectPlan> = None;
    let mut stages: Vec<EffectPlan> = Vec::new();
    let mut collected = Collected::default();
    let (mut count, mut present) = (1, BTreeSet::new());
    for (name, records) in logs {
        let own = EffectLog::fold(records.iter().cloned()).ok_or_else(|| MergeError::Empty(name.clone()))?;
        let own_plan = own.plan().clone();
        let shard = own_plan.shard.unwrap_or(Shard { index: 1, count: 1 });
        match &plan {
            None => {
                count = shard.count.max(1);
                plan = Some(EffectPlan { shard: None, ..own_plan });
            }
            Some(first) if !first.is_same_measurement(&own_plan) => {
                return Err(MergeError::OtherMeasurement {
                    name: name.clone(),
                    found: own_plan.effect,
                    expected: first.effect.clone(),
                });
            }
            Some(_) if shard.count != count => return Err(MergeError::OtherShards(name.clone())),
            // A shard that was continued with more pairs says how large the measurement is now.
            Some(first) if own_plan.pairs > first.pairs => {
                plan = Some(EffectPlan { shard: None, ..own_plan });
            }
            Some(_) => {}
        }
        present.insert(shard.index);
        let own_stages = sizes(records);
        if own_stages.len() > stages.len() {
            stages = own_stages;
        }
        collected.add(name, records)?;
    }
    let Some(plan) = plan else { return Ok(Vec::new()) };
    if stages.last().is_none_or(|last| size(last) != size(&plan)) {
        stages.push(plan);
    }
    let is_absent = |pair: u32| !present.contains(&(pair % count + 1));
    Ok(collected.canonical(stages, is_absent))
}

/// Returns the plans by which the size of a measurement was set, without those that repeat it.
fn sizes(records: &[EffectRecord]) -> Vec<EffectPlan> {
    let mut plans: Vec<EffectPlan> = Vec::new();
    for record in records {
        let EffectRecord::Planned(plan) = record else { continue };
        if plans.last().is_none_or(|last| size(last) != size(plan)) {
            plans.push(EffectPlan { shard: None, ..(**plan).clone() });
        }
    }
    plans
}

/// Returns how many pairs are played: at most so many, and whether also after a verdict.
fn size(plan: &EffectPlan) -> (u32, bool) {
    (plan.pairs, plan.budget.keep_going)
}

/// Returns the shards of which there is no log, with the number of all shards. `logs` belong together.
pub fn missing_shards(logs: &[(String, Vec<EffectRecord>)]) -> (Vec<u32>, u32) {
    let shards = logs.iter().filter_map(|(_, records)| match records.first() {
        Some(EffectRecord::Planned(plan)) => plan.shard,
        _ => None,
    });
    let present: Vec<Shard> = shards.collect();
    let count = present.first().map_or(0, |shard| shard.count);
    let is_missing = |index: &u32| present.iter().all(|shard| shard.index != *index);
    ((1..=count).filter(is_missing).collect(), count)
}

/// Returns whether a log is an earlier merge of some of these logs, from when shards were missing, and tells nothing of its plays that they
/// don't tell. `merged` is the complete merge of the logs; it takes the place of such a log.
pub fn is_earlier_part(
    known: &[EffectRecord],
    logs: &[(String, Vec<EffectRecord>)],
    merged: &[EffectRecord],
) -> bool {
    // Only a merge has pairs of shards that never ran.
    let is_absent =
        |record: &EffectRecord| matches!(record, EffectRecord::Discarded(pair) if pair.arm.is_empty());
    let mut collected = Collected::default();
    let have_all = logs.iter().all(|(name, records)| collected.add(name, records).is_ok());
    let episodes = collected.episodes.len();
    let is_told = |record: &EffectRecord| match record {
        EffectRecord::Discarded(pair) => is_absent(record) || collected.discarded_pair(pair.pair).is_some(),
        _ => true,
    };
    // Which sizes were asked for after a look is told by the plans.
    let (old, new) = (sizes(known), sizes(merged));
    let continues = old.len() <= new.len()
        && old.iter().zip(&new).all(|(a, b)| a.is_same_measurement(b) && size(a) == size(b));
    known.iter().any(is_absent)
        && known.iter().all(is_told)
        && continues
        && have_all
        && collected.add("", known).is_ok()
        && collected.episodes.len() == episodes
}

impl Collected {
    fn add(&mut self, name: &str, records: &[EffectRecord]) -> Result<(), MergeError> {
        for record in records {
            match record {
                EffectRecord::Episode(episode) => {
                    let key = (episode.pair, episode.repeat, episode.arm.clone());
                    if episode.kept {
                        self.kept.insert(episode.pair);
                    }
                    // Which line says that a pair is kept depends on the order in which the arms were played.
                    let episode = EffectEpisode { kept: false, ..(**episode).clone() };
                    let known = self.episodes.entry(key).or_insert_with(|| episode.clone());
                    // How often a server failed, and in which words, makes no other result.
                    let (extra, failure) = (known.extra, known.failure.clone());
                    if *known != (EffectEpisode { extra, failure, ..episode.clone() }) {
                        return Err(MergeError::Contradiction {
                            name: name.to_owned(),
                            pair: episode.pair,
                            arm: episode.arm.clone(),
                        });
                    }
                }
                EffectRecord::Discarded(discarded) => {
                    let key = (discarded.pair, discarded.arm.clone());
                    self.discarded.entry(key).or_insert_with(|| discarded.clone());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the log as one process would have that was continued with each size in turn. So it says that a size was changed after pairs
    /// were seen.
    fn canonical(&self, stages: Vec<EffectPlan>, is_absent: impl Fn(u32) -> bool) -> Vec<EffectRecord> {
        let mut records = Vec::new();
        let mut log: Option<EffectLog> = None;
        for plan in stages {
            let planned = EffectRecord::Planned(Box::new(plan.clone()));
            records.push(planned.clone());
            match &mut log {
                Some(log) => log.apply(planned),
                None => log = Some(EffectLog::new(plan)),
            }
            if let Some(log) = &mut log {
                self.play_stage(log, &mut records, &is_absent);
            }
        }
        records
    }

    /// Adds the records of one size, as far as there are episodes.
    fn play_stage(
        &self,
        log: &mut EffectLog,
        records: &mut Vec<EffectRecord>,
        is_absent: &impl Fn(u32) -> bool,
    ) {
        let effect = log.plan().effect.clone();
        loop {
            let record = match log.next(&[], 1) {
                NextRecord::Write(record) => *record,
                NextRecord::Play(slots) => {
                    let Some(slot) = slots.into_iter().next() else { break };
                    let episode = self.episodes.get(&(slot.pair, slot.repeat, slot.arm.clone()));
                    match (episode, self.discarded.get(&(slot.pair, slot.arm.clone()))) {
                        (Some(episode), _) => {
                            let kept = self.is_kept_here(log, &slot, episode);
                            EffectRecord::Episode(Box::new(EffectEpisode { kept, ..episode.clone() }))
                        }
                        (None, Some(discarded)) => EffectRecord::Discarded(discarded.clone()),
                        (None, None) if is_absent(slot.pair) => EffectRecord::Discarded(EffectDiscarded {
                            effect: effect.clone(),
                            pair: slot.pair,
                            arm: String::new(),
                            reason: "its shard never ran".to_owned(),
                            absent: true,
                            timed_out: false,
                            extra: ExtraCalls::default(),
                        }),
                        (None, None) => match self.discarded_pair(slot.pair) {
                            // A shard stops a pair at its first arm that fails, also at one that one process no longer needs.
                            Some(discarded) => EffectRecord::Discarded(EffectDiscarded {
                                arm: slot.arm,
                                ..discarded.clone()
                            }),
                            // Later pairs may be there, but pairs count without a gap.
                            None => break,
                        },
                    }
                }
                NextRecord::Wait | NextRecord::Done => break,
            };
            log.apply(record.clone());
            records.push(record);
        }
    }

    /// Returns why a shard discarded a pair, if it did.
    fn discarded_pair(&self, pair: u32) -> Option<&EffectDiscarded> {
        self.discarded.iter().find(|((number, _), _)| *number == pair).map(|(_, discarded)| discarded)
    }

    /// Returns whether one process would have written with this episode that its pair is kept: it is the pair's last one, and what is
    /// kept is decided by the arms that one process plays.
    fn is_kept_here(&self, log: &EffectLog, slot: &EpisodeSlot, episode: &EffectEpisode) -> bool {
        let is_last = log.open_slots_of_pair(slot.pair).iter().all(|open| open == slot);
        if !is_last || !self.kept.contains(&slot.pair) {
            return false;
        }
        let mut with_last = log.clone();
        with_last.apply(EffectRecord::Episode(Box::new(episode.clone())));
        let differs = with_last.pairs().get(&slot.pair).is_some_and(|pair| with_last.differs(pair));
        log.plan().keep.keeps(differs)
    }
}
