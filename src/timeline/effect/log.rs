//! The fold of a measurement's log. Every number of a measurement that is shown anywhere comes from here.

mod contrast;
mod fact;
mod marking;
mod schedule;
#[cfg(test)]
mod tests;

pub use contrast::{ContrastLog, CountedPair};
pub(super) use fact::FULL_POOL;
pub use schedule::{EpisodeSlot, NextRecord, ShardPairs};

use super::record::{
    Contrast, EffectDiscarded, EffectEpisode, EffectJudged, EffectPlan, EffectRecord, EffectScope,
    ExtraCalls, StopReason,
};
use super::{Outcome, Verdict, block_order, too_many_discarded};
use contrast::PairRule;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A measurement, as its log tells it. Its numbers depend on the set of records and the order of pairs, not on the order in
/// which the records were written.
#[derive(Clone, Debug)]
pub struct EffectLog {
    plan: EffectPlan,
    /// The order in which pairs take the tasks, as indices.
    task_order: Vec<usize>,
    pairs: BTreeMap<u32, PairLog>,
    contrasts: Vec<ContrastLog>,
    /// The first pair that isn't counted yet.
    next_pair: u32,
    /// The last judgement written for each contrast.
    judged: Vec<Option<EffectJudged>>,
    stopped: Option<StopReason>,
    totals: Totals,
    /// Discarded pairs among those before `next_pair`, without those of absent shards.
    discarded: u32,
    /// The numbers of all discarded pairs before `next_pair`.
    discarded_pairs: BTreeSet<u32>,
    is_deterministic: bool,
    /// Whether the number of pairs was changed after some were seen.
    was_resized: bool,
    /// Several lessons: those that have a verdict, aren't marked, and may still be.
    may_be_marked: Vec<bool>,
}

/// Sums over all recorded episodes, counted in pairs or not; calls, tokens and cost with the extra ones ([`ExtraCalls`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub episodes: u64,
    pub tokens: u64,
    pub calls: u64,
    pub steps: u64,
    /// In billionths of the currency unit.
    pub cost_nano: u64,
}

impl Totals {
    fn add_extra(&mut self, extra: ExtraCalls) {
        self.calls += extra.calls;
        self.tokens = self.tokens.saturating_add(extra.tokens);
        self.cost_nano = self.cost_nano.saturating_add(extra.cost_nano);
    }
}

/// What is recorded of a pair.
#[derive(Clone, Debug, Default)]
pub struct PairLog {
    episodes: Vec<EffectEpisode>,
    /// The episodes that couldn't be played.
    failed: Vec<EffectDiscarded>,
}

impl PairLog {
    /// Returns an episode of an arm; repeats are counted from 1.
    pub fn episode(&self, arm: &str, repeat: u32) -> Option<&EffectEpisode> {
        self.episodes.iter().find(|e| e.arm == arm && e.repeat == repeat)
    }

    /// Returns all episodes of an arm.
    pub fn episodes_of<'a>(&'a self, arm: &'a str) -> impl Iterator<Item = &'a EffectEpisode> {
        self.episodes.iter().filter(move |e| e.arm == arm)
    }

    /// Returns whether the journals of all arms are kept.
    pub fn is_kept(&self) -> bool {
        self.episodes.iter().any(|e| e.kept)
    }
}

impl EffectLog {
    /// Starts a measurement without episodes.
    pub fn new(plan: EffectPlan) -> Self {
        let mut contrasts: Vec<ContrastLog> = plan
            .contrasts
            .iter()
            .enumerate()
            .map(|(index, contrast)| {
                ContrastLog::new(contrast.clone(), plan.contrast_alpha(index), plan.margin)
            })
            .collect();
        let exploratory = plan.exploratory_contrast();
        contrasts.extend(exploratory.map(|contrast| ContrastLog::new(contrast, plan.alpha, plan.margin)));
        Self {
            task_order: task_order(&plan),
            judged: vec![None; contrasts.len()],
            may_be_marked: vec![false; contrasts.len()],
            contrasts,
            plan,
            pairs: BTreeMap::new(),
            next_pair: 1,
            stopped: None,
            totals: Totals::default(),
            discarded: 0,
            discarded_pairs: BTreeSet::new(),
            is_deterministic: false,
            was_resized: false,
        }
    }

    /// Folds a log. Returns `None` if it doesn't begin with a plan.
    pub fn fold(records: impl IntoIterator<Item = EffectRecord>) -> Option<Self> {
        let mut records = records.into_iter();
        let Some(EffectRecord::Planned(plan)) = records.next() else { return None };
        let mut log = Self::new(*plan);
        records.for_each(|record| log.apply(record));
        Some(log)
    }

    /// Folds one record. Records of another measurement, and repeated ones, change nothing.
    pub fn apply(&mut self, record: EffectRecord) {
        match record {
            EffectRecord::Planned(plan) if self.plan.is_same_measurement(&plan) => {
                self.extend_plan(&plan);
            }
            EffectRecord::Episode(episode) if episode.effect == self.plan.effect => {
                let pair = self.pairs.entry(episode.pair).or_default();
                if pair.episode(&episode.arm, episode.repeat).is_some() {
                    return;
                }
                self.totals.episodes += 1;
                self.totals.tokens = self.totals.tokens.saturating_add(episode.tokens);
                self.totals.calls += u64::from(episode.calls);
                self.totals.steps += u64::from(episode.steps);
                self.totals.cost_nano = self.totals.cost_nano.saturating_add(episode.cost_nano);
                self.totals.add_extra(episode.extra);
                pair.episodes.push(*episode);
                self.count_pairs();
            }
            EffectRecord::Discarded(discarded) if discarded.effect == self.plan.effect => {
                let pair = self.pairs.entry(discarded.pair).or_default();
                if pair.failed.iter().all(|failed| failed.arm != discarded.arm) {
                    self.totals.add_extra(discarded.extra);
                    pair.failed.push(discarded);
                }
                self.count_pairs();
            }
            EffectRecord::Judged(judged) if judged.effect == self.plan.effect => {
                if let Some(index) = self.contrasts.iter().position(|c| c.contrast == judged.contrast) {
                    self.judged[index] = Some(*judged);
                }
            }
            EffectRecord::Stopped(stopped) if stopped.effect == self.plan.effect => {
                self.stopped = Some(stopped.reason);
            }
            _ => {}
        }
    }

    /// Continues with another number of pairs and budget.
    fn extend_plan(&mut self, plan: &EffectPlan) {
        // Pairs after the verdict count now, too.
        let counts_more = plan.budget.keep_going && !self.plan.budget.keep_going;
        // What couldn't be played is tried again, such as after a key has expired. Older logs say so by their stop alone.
        let tries_again = self.stopped == Some(StopReason::Discarded) || plan.retries && self.can_retry();
        // If the server couldn't be used, none of it counts: to play only what failed again would favour what didn't.
        let begins_anew = plan.retries && self.stopped() == Some(StopReason::FailedCalls);
        let is_other_size = plan.pairs != self.plan.pairs || counts_more;
        self.plan = self.plan.continued_with(plan);
        self.task_order = task_order(&self.plan);
        self.stopped = None;
        self.was_resized |= is_other_size && self.settled_pairs() > 0;
        if counts_more || tries_again || begins_anew {
            let (plan, was_resized) = (self.plan.clone(), self.was_resized);
            let (mut pairs, totals, judged) =
                (std::mem::take(&mut self.pairs), self.totals, std::mem::take(&mut self.judged));
            if begins_anew {
                pairs.clear();
            } else if tries_again {
                for pair in pairs.values_mut() {
                    pair.failed.retain(|failed| failed.absent);
                }
            }
            *self = Self { pairs, judged, totals, was_resized, ..Self::new(plan) };
        }
        self.update_marks();
        self.count_pairs();
    }

    /// Counts complete pairs in the order of their indices, until one is missing. Counting pairs in the order of their
    /// completion would favour short episodes, and short episodes are the won ones.
    fn count_pairs(&mut self) {
        while self.next_pair <= self.plan.pairs {
            // One episode at a time, the measurement would have ended here, and no later pair would have been played.
            if self.plan.shard.is_none() && (self.is_deterministic || self.has_too_many_discarded()) {
                break;
            }
            let number = self.next_pair;
            let Some(pair) = self.pairs.get(&number) else { break };
            if let Some(failed) = self.failure(pair) {
                self.discarded += u32::from(!failed.absent);
                self.discarded_pairs.insert(number);
                self.next_pair += 1;
                continue;
            }
            let counting: Vec<usize> =
                (0..self.contrasts.len()).filter(|index| self.is_counting(*index)).collect();
            if counting.is_empty() {
                break;
            }
            let rule = self.pair_rule();
            let is_missing = |arm: &str| (1..=rule.repeats).any(|repeat| pair.episode(arm, repeat).is_none());
            let arms = |contrast| self.plan.arms_in_pair(contrast, number);
            let compared = counting.iter().map(|index| arms(&self.contrasts[*index].contrast));
            if compared.into_iter().any(|(first, second)| is_missing(first) || is_missing(second)) {
                break;
            }
            for index in counting {
                let log = &mut self.contrasts[index];
                let contrast = log.contrast.clone();
                log.count(number, pair, self.plan.arms_in_pair(&contrast, number), rule);
            }
            self.next_pair += 1;
            self.update_marks();
            self.is_deterministic = self.is_deterministic || self.are_first_pairs_copies();
        }
    }

    /// Returns why a pair counts in no arm: an episode that is needed couldn't be played. One that isn't needed any more,
    /// because its contrast has a verdict, doesn't matter; it would not have been played one pair at a time.
    fn failure<'a>(&self, pair: &'a PairLog) -> Option<&'a EffectDiscarded> {
        pair.failed.iter().find(|failed| failed.arm.is_empty() || self.needs_arm(&failed.arm))
    }

    /// Returns whether episodes of an arm are still needed.
    fn needs_arm(&self, arm: &str) -> bool {
        self.plan.shard.is_some()
            || self
                .contrasts
                .iter()
                .enumerate()
                .any(|(n, c)| self.is_about(&c.contrast, arm) && self.is_counting(n))
    }

    /// Returns whether a contrast compares an arm. Where lessons join in random orders, each may follow any other one.
    fn is_about(&self, contrast: &Contrast, arm: &str) -> bool {
        self.plan.orders || contrast.has_arm(arm)
    }

    /// Returns why a settled pair counts in no arm, or `None` if it counts.
    pub fn discarded(&self, number: u32) -> Option<&EffectDiscarded> {
        let pair = self.pairs.get(&number).filter(|_| self.discarded_pairs.contains(&number))?;
        pair.failed.first()
    }

    /// Returns whether a contrast still counts pairs: it has no verdict, or the measurement goes on after one, or it is one of several
    /// lessons whose correction may still confirm the verdict. A secondary contrast that gets no verdict stops with the primary one.
    pub fn is_counting(&self, index: usize) -> bool {
        if self.is_given_up(index) {
            return false;
        }
        if self.plan.budget.keep_going {
            return true;
        }
        if self.plan.orders {
            // All count the same pairs, so that the credits add up to what all lessons do together.
            return (0..self.contrasts.len()).any(|index| self.needs_pairs(index));
        }
        self.needs_pairs(index)
    }

    /// Returns whether a contrast counts no further pairs because of its failed calls, or there is none with this index. Lessons that join
    /// in random orders count the same pairs, so all of them are given up or none.
    fn is_given_up(&self, index: usize) -> bool {
        if self.plan.orders {
            return self.contrasts.iter().all(ContrastLog::is_given_up);
        }
        self.contrasts.get(index).is_none_or(ContrastLog::is_given_up)
    }

    /// Returns whether further pairs may change what a contrast says.
    fn needs_pairs(&self, index: usize) -> bool {
        let Some(contrast) = self.contrasts.get(index).filter(|_| !self.is_given_up(index)) else {
            return false;
        };
        if self.has_own_claim(index) {
            let is_undecided = contrast.monitored_verdict() == Verdict::Undecided;
            return is_undecided || self.may_be_marked.get(index) == Some(&true);
        }
        // Its claim depends on the primary contrast, which is not decided yet or was decided against it.
        self.is_counting(0)
    }

    /// Returns whether a contrast gets a verdict. Of several arms of one lesson, the primary contrast is tested first; only
    /// if it helped, the others are tested, at [`EffectPlan::contrast_alpha`], which keeps the overall error rate at alpha (Maurer,
    /// Hothorn, Lehmacher 1995). Several lessons are tested each by itself.
    pub fn has_own_claim(&self, index: usize) -> bool {
        let is_secondary_claim =
            !self.is_exploratory(index) && self.contrasts[0].monitored_verdict() == Verdict::Helped;
        index == 0 || self.plan.lessons.len() > 1 || is_secondary_claim
    }

    /// Returns whether a contrast is none of the measurement's claims ([`EffectPlan::exploratory_contrast`]). It counts the pairs that the
    /// primary contrast counts.
    pub fn is_exploratory(&self, index: usize) -> bool {
        index >= self.plan.contrasts.len()
    }

    /// Returns whether the two verdicts that a wording helped more than a lesson, and that the lesson helped, imply that the wording helped.
    /// The implication is wrong only if one of the two is.
    pub fn implies_wording_helped(&self) -> bool {
        let has_helped = |first: &str, second: &str| {
            let mut contrasts = self.plan.contrasts.iter();
            let index = contrasts.position(|c| c.first == first && c.second == second);
            index.is_some_and(|index| self.verdict(index) == Some(Verdict::Helped))
        };
        has_helped("with", "without") && has_helped("edited", "with")
    }

    /// Returns the verdict about a contrast; `None` if it gets none.
    pub fn verdict(&self, index: usize) -> Option<Verdict> {
        if !self.has_own_claim(index) {
            return None;
        }
        if self.has_too_many_discarded() {
            return Some(Verdict::Undecided);
        }
        self.contrasts.get(index).map(ContrastLog::monitored_verdict)
    }

    /// Returns whether so many pairs were discarded that the rest may not represent them.
    pub fn has_too_many_discarded(&self) -> bool {
        // Whichever contrast counts them: one with a verdict counts no further pairs.
        let counted = u64::from(self.settled_pairs()) - self.discarded_pairs.len() as u64;
        too_many_discarded(counted, u64::from(self.discarded))
    }

    fn pair_rule(&self) -> PairRule {
        let (outcome, step_limit) = (self.plan.outcome, self.plan.step_limit);
        PairRule { outcome, step_limit, repeats: self.repeats_of_pair() }
    }

    /// Returns the number of episodes of each arm in a pair.
    pub fn repeats_of_pair(&self) -> u32 {
        let repeats = self.plan.repeats.max(1);
        match self.plan.scope {
            EffectScope::These => repeats.saturating_mul(self.plan.tasks.len() as u32),
            EffectScope::Moment | EffectScope::Tasks => repeats,
        }
    }

    /// Returns the index of the task that an episode of a pair plays.
    pub fn task_index(&self, pair: u32, repeat: u32) -> usize {
        let tasks = self.task_order.len().max(1);
        let place = match self.plan.scope {
            EffectScope::Moment => 0,
            EffectScope::Tasks => pair.saturating_sub(1) as usize,
            EffectScope::These => repeat.saturating_sub(1) as usize,
        };
        self.task_order.get(place % tasks).copied().unwrap_or(0)
    }

    /// Returns the plan, with the latest budget.
    pub fn plan(&self) -> &EffectPlan {
        &self.plan
    }

    /// Returns the contrasts, the primary one first and an exploratory one last.
    pub fn contrasts(&self) -> &[ContrastLog] {
        &self.contrasts
    }

    /// Returns the recorded pairs by their numbers.
    pub fn pairs(&self) -> &BTreeMap<u32, PairLog> {
        &self.pairs
    }

    /// Returns how many pairs were counted or discarded without a gap.
    pub fn settled_pairs(&self) -> u32 {
        self.next_pair - 1
    }

    /// Returns whether the number of pairs was fixed before the first one was seen, and was reached. Discarded pairs are among them: what
    /// discards a pair doesn't depend on its outcome. Without a verdict, as with tokens, nothing else ends a measurement.
    pub fn is_size_fixed(&self) -> bool {
        let plays_all = self.plan.budget.keep_going || self.plan.outcome == Outcome::Tokens;
        plays_all && !self.was_resized && self.settled_pairs() >= self.last_pair() && self.absent_pairs() == 0
    }

    /// Returns how many of the settled pairs count in no arm because their shards are missing.
    pub fn absent_pairs(&self) -> u32 {
        self.discarded_pairs.len() as u32 - self.discarded
    }

    /// Returns how many of them were discarded because an episode couldn't be played.
    pub fn discarded_pairs(&self) -> u32 {
        self.discarded
    }

    /// Returns how many of the discarded ones were left because the server timed out or was busy at a call, while it answered others.
    pub fn timed_out_pairs(&self) -> u32 {
        let numbers = self.discarded_pairs.iter();
        numbers.filter(|number| self.discarded(**number).is_some_and(|pair| pair.timed_out)).count() as u32
    }

    /// Returns why the first discarded pair couldn't be played; of a shard, which settles no pairs, the first of those that it has played.
    pub fn first_discard_reason(&self) -> Option<&str> {
        let is_shard = self.plan.shard.is_some();
        let pairs = self.pairs.iter().filter(|(number, _)| is_shard || self.discarded_pairs.contains(number));
        let failed = pairs.filter_map(|(_, pair)| self.failure(pair).or_else(|| pair.failed.first()));
        failed.filter(|failed| !failed.absent).map(|failed| failed.reason.as_str()).next()
    }

    /// Returns why it stopped, or `None` while it goes on.
    pub fn stopped(&self) -> Option<StopReason> {
        self.stopped.map(|reason| self.with_failed_calls(reason))
    }

    /// Returns the reason of a stop that is due, or that an earlier version wrote, unless it is that calls failed.
    fn with_failed_calls(&self, reason: StopReason) -> StopReason {
        let is_end = matches!(reason, StopReason::Decided | StopReason::Deterministic | StopReason::Pairs);
        if is_end && self.has_only_failed_calls() { StopReason::FailedCalls } else { reason }
    }

    /// Returns whether nothing can be concluded because so many calls failed: no contrast has a verdict because of that.
    fn has_only_failed_calls(&self) -> bool {
        self.plan.shard.is_none()
            && self.contrasts.iter().all(ContrastLog::has_failed_calls)
            && self.is_undecided()
    }

    fn is_undecided(&self) -> bool {
        (0..self.contrasts.len()).all(|index| matches!(self.verdict(index), None | Some(Verdict::Undecided)))
    }

    /// Returns whether it goes on when it is started again: something stopped it that may pass, or pairs are left that couldn't be
    /// played.
    pub fn can_go_on(&self) -> bool {
        match self.stopped() {
            Some(StopReason::Pairs) => self.can_retry(),
            Some(reason) => reason.can_go_on(),
            None => false,
        }
    }

    /// Returns whether discarded pairs, or after failed calls all pairs, are played again when the measurement goes on. Once there is a
    /// verdict they aren't: it was reached without them, and stays as it is.
    pub fn can_retry(&self) -> bool {
        let is_failed = |pair: &PairLog| pair.failed.iter().any(|failed| !failed.absent);
        self.stopped() == Some(StopReason::FailedCalls)
            || self.pairs.values().any(is_failed) && self.is_undecided()
    }

    /// Returns why the first counted episode that ended at a failed call did so; `None` without one, or in older logs.
    pub fn first_failed_call(&self) -> Option<&str> {
        let mut episodes = self.counted_pairs().flat_map(|pair| &pair.episodes);
        episodes.find_map(|episode| episode.failure.as_deref())
    }

    /// Returns the sums over all recorded episodes.
    pub fn totals(&self) -> Totals {
        self.totals
    }
}

/// Returns the order in which pairs take the tasks of a plan.
fn task_order(plan: &EffectPlan) -> Vec<usize> {
    let blocks: Vec<usize> = plan.task_blocks.iter().map(|block| *block as usize).collect();
    let listed: usize = blocks.iter().sum();
    let rest = plan.tasks.len().saturating_sub(listed);
    block_order(&[blocks, vec![rest]].concat(), plan.seed)
}
