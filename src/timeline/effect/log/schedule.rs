//! What a measurement does next. It follows from its log alone, so a measurement that was killed continues where it was,
//! and writes the same lines as one that wasn't.

use super::contrast::differs;
use super::{EffectLog, PairLog};
use crate::timeline::effect::record::{EffectJudged, EffectRecord, EffectScope, EffectStopped, StopReason};
use crate::timeline::effect::{SplitMix64, Verdict, sample_seed};
use serde::Serialize;

/// An episode to be played.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EpisodeSlot {
    /// Counted from 1.
    pub pair: u32,
    /// Counted from 1.
    pub repeat: u32,
    pub arm: String,
    /// The index of the task in the plan.
    pub task: usize,
    /// The sample seed, the same for all arms.
    pub seed: u64,
}

/// What a shard has played of its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShardPairs {
    pub played: u32,
    /// How many couldn't be played.
    pub failed: u32,
    /// How many it has.
    pub all: u32,
}

/// What is written next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextRecord {
    /// These episodes are to be played, at most as many as asked for.
    Play(Vec<EpisodeSlot>),
    /// This record follows from those before it.
    Write(Box<EffectRecord>),
    /// Nothing, until an episode that is being played has ended.
    Wait,
    /// The measurement has stopped.
    Done,
}

impl EffectLog {
    /// Returns what comes next, given the episodes that are being played. At most `limit` episodes are played at once.
    pub fn next(&self, in_progress: &[EpisodeSlot], limit: usize) -> NextRecord {
        if self.stopped.is_some() {
            return NextRecord::Done;
        }
        if self.plan.shard.is_none()
            && let Some(judged) = self.due_judgement(false)
        {
            return NextRecord::Write(Box::new(EffectRecord::Judged(Box::new(judged))));
        }
        if let Some(reason) = self.stop_reason() {
            // Episodes in progress may still end; their lines would follow the last one.
            if !in_progress.is_empty() {
                return NextRecord::Wait;
            }
            return self.stop(reason);
        }
        let slots = self.open_slots(in_progress, limit.saturating_sub(in_progress.len()));
        if slots.is_empty() { NextRecord::Wait } else { NextRecord::Play(slots) }
    }

    /// Returns the records that end a measurement for a reason: the judgements that are due, then the reason.
    pub fn stop(&self, reason: StopReason) -> NextRecord {
        if self.plan.shard.is_none()
            && let Some(judged) = self.due_judgement(true)
        {
            return NextRecord::Write(Box::new(EffectRecord::Judged(Box::new(judged))));
        }
        let effect = self.plan.effect.clone();
        NextRecord::Write(Box::new(EffectRecord::Stopped(EffectStopped { effect, reason })))
    }

    /// Returns the first judgement that isn't written yet. During a measurement, only changes of a verdict are written; at
    /// its end, what all pairs show.
    fn due_judgement(&self, at_end: bool) -> Option<EffectJudged> {
        let is_due = |index: &usize| {
            let written = self.judged[*index].as_ref();
            let (verdict, pairs) = written.map_or((Verdict::Undecided, 0), |j| (j.verdict, j.pairs));
            let verdict_now = self.verdict(*index).unwrap_or_default();
            verdict_now != verdict || (at_end && (written.is_none() || self.judged_pairs(*index) != pairs))
        };
        (0..self.contrasts.len()).find(is_due).map(|index| self.judge(index))
    }

    /// Returns the number of pairs that a judgement counts; of copies, that of the tasks.
    fn judged_pairs(&self, index: usize) -> u64 {
        match self.task_counts(index) {
            Some(tasks) => tasks.counts.pairs(),
            None => self.contrasts[index].pairs().len() as u64,
        }
    }

    /// Returns what the pairs so far show about a contrast, as a record. If they are copies, it counts the tasks and concludes
    /// nothing.
    pub fn judge(&self, index: usize) -> EffectJudged {
        let contrast = &self.contrasts[index];
        if let Some(tasks) = self.task_counts(index) {
            return EffectJudged {
                effect: self.plan.effect.clone(),
                contrast: contrast.contrast.clone(),
                pairs: tasks.counts.pairs(),
                counts: tasks.counts,
                difference: tasks.difference,
                low: -1.0,
                high: 1.0,
                ln_e: 0.0,
                verdict: Verdict::Undecided,
                gain: None,
            };
        }
        let judgement = contrast.judgement();
        EffectJudged {
            effect: self.plan.effect.clone(),
            contrast: contrast.contrast.clone(),
            // Pairs of tokens have no bounded difference that a judgement could count.
            pairs: contrast.pairs().len() as u64,
            counts: contrast.counts(),
            difference: judgement.difference,
            low: judgement.low,
            high: judgement.high,
            ln_e: judgement.ln_e,
            verdict: self.verdict(index).unwrap_or_default(),
            gain: contrast.pairing_gain(),
        }
    }

    /// Returns why the measurement ends now, or `None` if it goes on.
    fn stop_reason(&self) -> Option<StopReason> {
        let (plan, totals) = (&self.plan, self.totals);
        let reached = |limit: Option<u64>, done: u64| limit.is_some_and(|limit| done >= limit);
        if plan.shard.is_none() {
            if self.is_deterministic {
                return Some(self.with_failed_calls(StopReason::Deterministic));
            }
            if self.has_too_many_discarded() {
                return Some(StopReason::Discarded);
            }
            if (0..self.contrasts.len()).all(|index| !self.is_counting(index)) {
                return Some(self.with_failed_calls(StopReason::Decided));
            }
        }
        if self.open_slots(&[], 1).is_empty() {
            return Some(self.with_failed_calls(StopReason::Pairs));
        }
        if reached(plan.budget.episodes, totals.episodes) {
            return Some(StopReason::Episodes);
        }
        [
            (plan.budget.tokens, totals.tokens, StopReason::Tokens),
            (plan.budget.calls, totals.calls, StopReason::Calls),
            (plan.budget.cost_nano, totals.cost_nano, StopReason::Cost),
        ]
        .into_iter()
        .find_map(|(limit, done, reason)| reached(limit, done).then_some(reason))
    }

    /// Returns the next episodes that are neither recorded nor in progress, in order.
    fn open_slots(&self, in_progress: &[EpisodeSlot], limit: usize) -> Vec<EpisodeSlot> {
        let mut slots = Vec::new();
        let mut pair = match self.plan.shard {
            // A shard never judges, so all its pairs are played.
            Some(_) => 1,
            None => self.next_pair,
        };
        while pair <= self.last_pair() && slots.len() < limit {
            if self.is_own_pair(pair) {
                let open = self.open_slots_of_pair(pair).into_iter();
                slots.extend(open.filter(|slot| !in_progress.contains(slot)).take(limit - slots.len()));
            }
            pair += 1;
        }
        slots
    }

    /// Returns the episodes of a pair that are needed and not recorded yet.
    pub fn open_slots_of_pair(&self, pair: u32) -> Vec<EpisodeSlot> {
        let recorded = self.pairs.get(&pair);
        if recorded.is_some_and(|pair| self.failure(pair).is_some()) {
            return Vec::new();
        }
        let is_open =
            |slot: &EpisodeSlot| recorded.is_none_or(|p| p.episode(&slot.arm, slot.repeat).is_none());
        self.slots_of_pair(pair).into_iter().filter(is_open).collect()
    }

    /// Returns the episodes of a pair whose arms are recorded, in the order in which they are played.
    pub fn slots_with_arms(&self, pair: u32, recorded: &PairLog) -> Vec<EpisodeSlot> {
        let mut slots = self.all_slots_of_pair(pair, &self.plan.arms());
        slots.retain(|slot| recorded.episode(&slot.arm, slot.repeat).is_some());
        slots
    }

    /// Returns whether the outcomes of two compared arms of a pair differ.
    pub fn differs(&self, pair: &PairLog) -> bool {
        let Some(number) = pair.episodes.first().map(|episode| episode.pair) else { return false };
        let arms = |contrast| self.plan.arms_in_pair(contrast, number);
        self.contrasts.iter().any(|log| differs(pair, arms(&log.contrast), self.pair_rule()))
    }

    /// Returns the last pair: with one task a pair, there are no more pairs than tasks.
    pub fn last_pair(&self) -> u32 {
        match self.plan.scope {
            EffectScope::Tasks => self.plan.pairs.min(self.plan.tasks.len() as u32),
            EffectScope::Moment | EffectScope::These => self.plan.pairs,
        }
    }

    /// Returns what a shard has played of its pairs; of a whole measurement, of all.
    pub(in crate::timeline::effect) fn shard_pairs(&self) -> ShardPairs {
        let mut pairs = ShardPairs { played: 0, failed: 0, all: 0 };
        for number in (1..=self.last_pair()).filter(|number| self.is_own_pair(*number)) {
            let failed = self.pairs.get(&number).is_some_and(|pair| self.failure(pair).is_some());
            pairs.all += 1;
            pairs.failed += u32::from(failed);
            pairs.played += u32::from(!failed && self.open_slots_of_pair(number).is_empty());
        }
        pairs
    }

    fn is_own_pair(&self, pair: u32) -> bool {
        self.plan.shard.is_none_or(|shard| pair % shard.count.max(1) == shard.index.saturating_sub(1))
    }

    /// Returns the episodes of a pair that are still needed. The arms of each repeat come in random order, so that no arm
    /// always meets a server in another condition.
    fn slots_of_pair(&self, pair: u32) -> Vec<EpisodeSlot> {
        let needed: Vec<&str> = self.plan.arms().into_iter().filter(|arm| self.needs_arm(arm)).collect();
        self.all_slots_of_pair(pair, &needed)
    }

    fn all_slots_of_pair(&self, pair: u32, arms: &[&str]) -> Vec<EpisodeSlot> {
        let mut slots = Vec::new();
        for repeat in 1..=self.repeats_of_pair() {
            let seed = self.seed_of(pair, repeat);
            let mut order: Vec<usize> = (0..arms.len()).collect();
            SplitMix64::new(seed).shuffle(&mut order);
            let task = self.task_index(pair, repeat);
            slots.extend(order.into_iter().map(|arm| EpisodeSlot {
                pair,
                repeat,
                arm: arms[arm].to_owned(),
                task,
                seed,
            }));
        }
        slots
    }

    /// Returns the sample seed of an episode. A seed with which an episode was observed before is never used.
    fn seed_of(&self, pair: u32, repeat: u32) -> u64 {
        let mut pair = u64::from(pair);
        loop {
            let seed = sample_seed(self.plan.seed, pair, u64::from(repeat));
            if !self.plan.excluded_seeds.contains(&seed) {
                return seed;
            }
            pair += 1 << 32;
        }
    }
}
