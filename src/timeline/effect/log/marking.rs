//! How long one of several lessons is measured: a verdict of its own isn't enough, the correction for many lessons (e-BH) must mark it,
//! and further pairs may still lead to that.

use super::{ContrastLog, EffectLog};
use crate::timeline::effect::betting::largest_ln_growth;
use crate::timeline::effect::record::COUNTING_TO_THE_MARK;
use crate::timeline::effect::{FALSE_DISCOVERY_RATE, Verdict, e_bh};

impl EffectLog {
    /// Finds the lessons that have a verdict, aren't marked, and would be marked if all further pairs were won by the same side. Every
    /// choice follows from the pairs before, so the evidence stays valid.
    pub(super) fn update_marks(&mut self) {
        if self.plan.lessons.len() < 2 || self.plan.counting < COUNTING_TO_THE_MARK {
            return;
        }
        let is_claim = |verdict| matches!(verdict, Verdict::Helped | Verdict::Harmful);
        let verdicts: Vec<Verdict> = self.contrasts.iter().map(ContrastLog::monitored_verdict).collect();
        let ln_e: Vec<f64> = self.contrasts.iter().map(|contrast| contrast.judgement().ln_e).collect();
        let marked = e_bh(&ln_e, FALSE_DISCOVERY_RATE);
        let further = self.last_pair().saturating_sub(self.settled_pairs());
        let growth = f64::from(further) * largest_ln_growth();
        let largest = |(index, ln_e): (usize, &f64)| {
            let verdict = verdicts[index];
            let goes_on = verdict == Verdict::Undecided || (is_claim(verdict) && !marked.contains(&index));
            ln_e + if goes_on { growth } else { 0.0 }
        };
        let largest: Vec<f64> = ln_e.iter().enumerate().map(largest).collect();
        let reachable = e_bh(&largest, FALSE_DISCOVERY_RATE);
        self.may_be_marked = (0..verdicts.len())
            .map(|index| is_claim(verdicts[index]) && !marked.contains(&index) && reachable.contains(&index))
            .collect();
    }
}
