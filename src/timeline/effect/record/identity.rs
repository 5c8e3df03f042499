//! Which plans are the same measurement, and what a continued one is.

use super::{Contrast, EffectBudget, EffectPlan, Keep};

/// Counting by which two secondary contrasts share the level, and one of several lessons goes on after its verdict while it may still
/// be marked. Plans without several claims don't say so.
pub const COUNTING_TO_THE_MARK: u32 = 1;

impl EffectPlan {
    /// Returns what makes it this measurement: everything but its size, its budget, its shard, what is kept, and when it was asked
    /// for. Of a list of tasks in blocks, the first one.
    #[must_use]
    pub fn identified(&self) -> Self {
        let first = self.task_blocks.first().map_or(self.tasks.len(), |block| *block as usize);
        Self {
            pairs: 0,
            budget: EffectBudget::default(),
            shard: None,
            tasks: self.tasks.iter().take(first).cloned().collect(),
            task_blocks: Vec::new(),
            keep: Keep::default(),
            asked: None,
            // Its pool is identified by a hash, as in older logs.
            edited: None,
            retries: false,
            ..self.clone()
        }
    }

    /// Returns whether two plans are the same measurement, however large their budgets and whatever their shards are. One may
    /// have more tasks than the other, after the same ones.
    pub fn is_same_measurement(&self, other: &Self) -> bool {
        let is_prefix = self.tasks.iter().zip(&other.tasks).all(|(own, theirs)| own == theirs);
        is_prefix && self.identified() == other.identified()
    }

    /// Returns the contrast of another wording with the pool without the lesson. It is no claim of the measurement: it takes no level from
    /// the claims, and no episode is played for it. `None` if an arm of it is missing, or if it is a claim.
    pub fn exploratory_contrast(&self) -> Option<Contrast> {
        let contrast = Contrast::new("edited", "without");
        let arms = self.arms();
        let is_played = arms.contains(&contrast.first.as_str()) && arms.contains(&contrast.second.as_str());
        (is_played && !self.contrasts.contains(&contrast)).then_some(contrast)
    }

    /// Returns the level of all claims about a contrast together. Secondary contrasts have claims only if the primary one has
    /// helped; then they share the level.
    pub fn contrast_alpha(&self, index: usize) -> f64 {
        let is_shared = self.counting >= COUNTING_TO_THE_MARK && self.lessons.len() < 2 && index > 0;
        let sharing = if is_shared { self.contrasts.len() - 1 } else { 1 };
        self.alpha / sharing as f64
    }

    /// Returns the plan of this measurement when it goes on with the size, the budget and the shard of another plan of it.
    #[must_use]
    pub fn continued_with(&self, other: &Self) -> Self {
        let longer = if other.tasks.len() > self.tasks.len() { other } else { self };
        Self {
            pairs: other.pairs,
            budget: other.budget,
            shard: other.shard,
            tasks: longer.tasks.clone(),
            task_blocks: longer.task_blocks.clone(),
            keep: other.keep,
            asked: self.asked.clone().or_else(|| other.asked.clone()),
            edited: self.edited.clone().or_else(|| other.edited.clone()),
            retries: other.retries,
            ..self.clone()
        }
    }
}
