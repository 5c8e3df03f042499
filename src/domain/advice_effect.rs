//! What advice did to the number of steps: effective, ineffective or toxic (the paper DORA, question 3). The paper says neither
//! what a step is nor how an unsolved task counts; both are our choice (`docs/EFFECT.md`).

use serde::{Deserialize, Serialize};

/// The attempts at a task by one side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// Environment steps of all attempts up to and including the first success, or of all attempts.
    pub steps: u64,
    pub solved: bool,
    /// The steps that all attempts together were allowed; what an unsolved task counts.
    pub allowed: u64,
}

impl Attempts {
    /// Returns the steps that the comparison counts.
    pub fn counted_steps(self) -> u64 {
        if self.solved { self.steps } else { self.allowed }
    }
}

/// What advice did to the steps of one task. One pair is an observation, never a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceEffect {
    /// Fewer steps than without advice.
    Effective,
    /// As many steps.
    Ineffective,
    /// More steps.
    Toxic,
}

impl AdviceEffect {
    /// Compares the counted steps of a task with and without advice.
    pub fn from_steps(with: u64, without: u64) -> Self {
        match with.cmp(&without) {
            std::cmp::Ordering::Less => Self::Effective,
            std::cmp::Ordering::Equal => Self::Ineffective,
            std::cmp::Ordering::Greater => Self::Toxic,
        }
    }

    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Effective => "effective",
            Self::Ineffective => "ineffective",
            Self::Toxic => "toxic",
        }
    }
}

/// The number of pairs by what the advice did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdviceCounts {
    pub effective: u64,
    pub ineffective: u64,
    pub toxic: u64,
}

impl AdviceCounts {
    /// Counts a pair.
    pub fn add(&mut self, effect: AdviceEffect) {
        match effect {
            AdviceEffect::Effective => self.effective += 1,
            AdviceEffect::Ineffective => self.ineffective += 1,
            AdviceEffect::Toxic => self.toxic += 1,
        }
    }

    /// Returns the number of pairs.
    pub fn total(self) -> u64 {
        self.effective + self.ineffective + self.toxic
    }

    /// Returns each effect with its number of pairs.
    pub fn by_effect(self) -> [(AdviceEffect, u64); 3] {
        [
            (AdviceEffect::Effective, self.effective),
            (AdviceEffect::Ineffective, self.ineffective),
            (AdviceEffect::Toxic, self.toxic),
        ]
    }

    /// Describes the numbers: `effective 12, ineffective 5, toxic 3 pairs`.
    pub fn describe(self) -> String {
        format!("effective {}, ineffective {}, toxic {} pairs", self.effective, self.ineffective, self.toxic)
    }

    /// Describes the numbers with what was compared:
    /// `effective 12, ineffective 5, toxic 3 pairs (fewer, as many, more steps; with : without)`.
    pub fn describe_arms(self, first: &str, second: &str) -> String {
        format!("{} (fewer, as many, more steps; {first} : {second})", self.describe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DORA, question 3; unsolved tasks count what they were allowed.
    #[test]
    fn effects_compare_steps() {
        let solved = |steps| Attempts { steps, solved: true, allowed: 100 };
        let unsolved = Attempts { steps: 60, solved: false, allowed: 100 };
        let cases = [
            (solved(12), solved(30), AdviceEffect::Effective),
            (solved(30), solved(30), AdviceEffect::Ineffective),
            (solved(31), solved(30), AdviceEffect::Toxic),
            (unsolved, solved(99), AdviceEffect::Toxic),
            (unsolved, unsolved, AdviceEffect::Ineffective),
            (solved(100), unsolved, AdviceEffect::Ineffective),
            (solved(99), unsolved, AdviceEffect::Effective),
        ];
        let mut counts = AdviceCounts::default();
        for (with, without, effect) in cases {
            let found = AdviceEffect::from_steps(with.counted_steps(), without.counted_steps());
            assert_eq!(found, effect, "{with:?} {without:?}");
            counts.add(found);
        }
        assert_eq!(counts, AdviceCounts { effective: 2, ineffective: 3, toxic: 2 });
        assert_eq!(counts.total(), 7);
        assert_eq!(
            counts.describe_arms("with", "without"),
            "effective 2, ineffective 3, toxic 2 pairs (fewer, as many, more steps; with : without)"
        );
    }

    /// Why lanes don't judge advice by a task's first attempt in the same search, which had none: that attempt was lost, or there
    /// would be no advice, and beside it no advice is ever toxic (docs/METHODS.md).
    #[test]
    fn beside_a_lost_attempt_no_advice_is_toxic() {
        let lost = Attempts { steps: 50, solved: false, allowed: 50 };
        for steps in 1..=50 {
            for solved in [true, false] {
                let with = Attempts { steps, solved, allowed: 50 };
                let effect = AdviceEffect::from_steps(with.counted_steps(), lost.counted_steps());
                assert_ne!(effect, AdviceEffect::Toxic, "{with:?}");
                assert_eq!(effect == AdviceEffect::Effective, solved && steps < 50, "{with:?}");
            }
        }
    }
}
