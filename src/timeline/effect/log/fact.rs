//! What a deterministic agent shows: a fact about each task, not a sample. Every further round over the tasks is a copy of the first.

use super::{ContrastLog, EffectLog, PairLog};
use crate::domain::{AdviceCounts, AdviceEffect, Attempts, DeterministicFact};
use crate::timeline::effect::record::{EffectEpisode, EffectScope};
use crate::timeline::effect::{Difference, EpisodeResult, Outcome, PairCounts};
use std::collections::BTreeSet;

/// The arm with all lessons, where they join in random orders.
pub(in crate::timeline::effect) const FULL_POOL: &str = "all";

/// What both arms of a contrast did, by task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::timeline::effect) struct TaskCounts {
    pub(in crate::timeline::effect) counts: PairCounts,
    pub(in crate::timeline::effect) difference: Option<f64>,
    pub(in crate::timeline::effect) advice: AdviceCounts,
    pub(in crate::timeline::effect) fact: DeterministicFact,
}

impl EffectLog {
    /// Returns whether further pairs would be copies, as far as two repeats show.
    pub fn is_deterministic(&self) -> bool {
        // What a server that can't be used does is a fact about the server.
        self.is_deterministic && !self.contrasts.iter().any(ContrastLog::has_failed_calls)
    }

    /// Returns the tasks by what both arms of a contrast did there, if every further pair would be a copy.
    pub(in crate::timeline::effect) fn task_counts(&self, index: usize) -> Option<TaskCounts> {
        let contrast = &self.contrasts.get(index).filter(|_| self.is_deterministic())?.contrast;
        let first_round = self.counted_pairs().next()?;
        let (outcome, allowed) = (self.plan.outcome, u64::from(self.plan.step_limit));
        let (mut counts, mut advice) = (PairCounts::default(), AdviceCounts::default());
        let (mut won, mut differences) = ((0, 0), Vec::new());
        for repeat in 1..=self.tasks_in_round() {
            let result = |arm: &str| first_round.episode(arm, repeat).map(EffectEpisode::result);
            let (first, second) = result(&contrast.first).zip(result(&contrast.second))?;
            won = (won.0 + u64::from(first.won), won.1 + u64::from(second.won));
            if outcome == Outcome::Success {
                counts.add(first.won, second.won);
            } else {
                let exact = outcome.exact_difference(&first, &second, allowed);
                counts.add(exact > 0, exact < 0);
            }
            differences.extend(outcome.difference(&first, &second, allowed));
            let steps = |of: &EpisodeResult| {
                Attempts { steps: of.steps.min(allowed), solved: of.won, allowed }.counted_steps()
            };
            advice.add(AdviceEffect::from_steps(steps(&first), steps(&second)));
        }
        let fact = DeterministicFact { tasks: u64::from(self.tasks_in_round()), won };
        let difference = Difference::mean(&differences).map(Difference::value);
        Some(TaskCounts { counts, difference, advice, fact })
    }

    /// Returns whether the first two counted pairs went exactly the same way in every episode although their seeds differ. Where a pair
    /// is a task, two pairs are never copies.
    pub(super) fn are_first_pairs_copies(&self) -> bool {
        // In another order, another pair may end differently.
        if self.plan.scope == EffectScope::Tasks || self.plan.orders {
            return false;
        }
        let mut counted = self.counted_pairs();
        let (Some(first), Some(second), None) = (counted.next(), counted.next(), counted.next()) else {
            return false;
        };
        let trace = |pair: &PairLog, arm: &str, repeat| pair.episode(arm, repeat).map(|e| e.trace.clone());
        let same = |arm: &str, repeat| match (trace(first, arm, repeat), trace(second, arm, repeat)) {
            (Some(a), Some(b)) => !a.is_empty() && a == b,
            _ => false,
        };
        let repeats = self.repeats_of_pair();
        self.plan.arms().into_iter().all(|arm| (1..=repeats).all(|repeat| same(arm, repeat)))
    }

    /// Returns how many recorded episodes of an arm were won, and how many there are, in the pairs that a contrast with this arm counts:
    /// once they have verdicts, it is played no further. Of copies, the first counts.
    pub fn wins(&self, arm: &str) -> (u64, u64) {
        let episodes = self.counted_episodes(arm);
        episodes.fold((0, 0), |(won, all), episode| (won + u64::from(episode.won), all + 1))
    }

    /// Returns how many counted episodes of an arm ended at a failed call, which counts as lost.
    pub fn failed_calls(&self, arm: &str) -> u64 {
        self.counted_episodes(arm).filter(|episode| episode.ended_at_failed_call()).count() as u64
    }

    /// Returns the arm that a name stands for in a pair: where lessons join in random orders, the last one has all of them.
    fn arm_in_pair<'a>(&'a self, arm: &'a str, pair: u32) -> &'a str {
        let has_all = self.plan.orders && arm == FULL_POOL;
        let last = has_all.then(|| self.plan.joining_order(pair).pop());
        last.flatten().unwrap_or(arm)
    }

    /// Returns the episodes of an arm in the pairs that a contrast with it counts, without copies of a task's first one. What another job
    /// was playing when the arm wasn't needed any more is in no such pair.
    fn counted_episodes<'a>(&'a self, arm: &'a str) -> impl Iterator<Item = &'a EffectEpisode> {
        let (rounds, repeats) =
            if self.is_deterministic() { (1, self.tasks_in_round()) } else { (usize::MAX, u32::MAX) };
        let contrasts = self.contrasts.iter().filter(|contrast| self.is_about(&contrast.contrast, arm));
        let numbers: BTreeSet<u32> = contrasts.flat_map(ContrastLog::pairs).map(|pair| pair.pair).collect();
        let pairs = numbers.into_iter().take(rounds);
        let pairs =
            pairs.filter_map(|number| Some((self.pairs.get(&number)?, self.arm_in_pair(arm, number))));
        let episodes = pairs.flat_map(|(pair, arm)| pair.episodes_of(arm));
        episodes.filter(move |episode| episode.repeat <= repeats)
    }

    /// Returns the pairs that are settled and not discarded, in order.
    pub(in crate::timeline::effect) fn counted_pairs(&self) -> impl Iterator<Item = &PairLog> {
        let settled = self.pairs.range(..self.next_pair);
        settled.filter(|(number, _)| !self.discarded_pairs.contains(number)).map(|(_, pair)| pair)
    }

    /// Returns the number of different tasks in a pair.
    fn tasks_in_round(&self) -> u32 {
        match self.plan.scope {
            EffectScope::These => self.plan.tasks.len().max(1) as u32,
            EffectScope::Moment | EffectScope::Tasks => 1,
        }
    }
}
