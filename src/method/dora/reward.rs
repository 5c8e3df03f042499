//! What an evaluation is worth: success, and how different the advice is that led to it.

use super::settings::{Diversity, RewardKind};
use std::collections::BTreeMap;

/// What became of one task in an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) solved: bool,
    /// The environment's reward at the end of the last attempt, from -1 to 1.
    pub(super) reward: f64,
    /// How many attempts were made, at least 1.
    pub(super) attempts: u32,
    /// The last two pieces of advice about the task, oldest first; fewer if fewer were written.
    pub(super) advice: Vec<String>,
}

/// What an evaluation is worth, with its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reward {
    pub(super) value: f64,
    /// The share of solved tasks.
    pub(super) performance: f64,
    pub(super) diversity: f64,
    /// Three numbers for each task: result, attempts, diversity (the public code's).
    pub(super) scores: Vec<f64>,
}

/// How rewards are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RewardRules {
    pub(super) kind: RewardKind,
    pub(super) diversity: Diversity,
    /// The weight of diversity, from 0 to 1.
    pub(super) alpha: f64,
}

impl RewardRules {
    pub(super) fn evaluate(self, outcomes: &[Outcome]) -> Reward {
        let count = outcomes.len().max(1) as f64;
        let performance = outcomes.iter().filter(|outcome| outcome.solved).count() as f64 / count;
        let diversities: Vec<f64> =
            outcomes.iter().map(|outcome| self.diversity_of(&outcome.advice)).collect();
        let diversity = diversities.iter().sum::<f64>() / count;
        let scores: Vec<f64> = outcomes
            .iter()
            .zip(&diversities)
            .flat_map(|(outcome, diversity)| {
                // First and second attempt are worth the same, as in the code.
                let attempts = 1.0 / f64::from(outcome.attempts.saturating_sub(1).max(1));
                [f64::midpoint(outcome.reward.clamp(-1.0, 1.0), 1.0), attempts, *diversity]
            })
            .collect();
        let value = match self.kind {
            RewardKind::Paper => (1.0 - self.alpha) * performance + self.alpha * diversity,
            RewardKind::Code => scores.iter().sum::<f64>() / scores.len().max(1) as f64,
        };
        Reward { value, performance, diversity, scores }
    }

    /// Returns how different the last two pieces of advice are: 1 if there are fewer.
    fn diversity_of(self, advice: &[String]) -> f64 {
        let [.., earlier, last] = advice else { return 1.0 };
        let (earlier, last) = (count_words(earlier), count_words(last));
        let cosine = cosine(&earlier, &last);
        match self.diversity {
            Diversity::Printed => cosine,
            // The code calls two empty texts different.
            Diversity::Distance
                if earlier.is_empty() && last.is_empty() && self.kind == RewardKind::Paper =>
            {
                0.0
            }
            Diversity::Distance => 1.0 - cosine,
        }
    }
}

/// Counts the words of a text: letters of the Latin alphabet, in lower case.
fn count_words(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        let letters: String = word.chars().filter(char::is_ascii_alphabetic).collect();
        if !letters.is_empty() {
            *counts.entry(letters.to_ascii_lowercase()).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns the cosine of two vectors of word counts, rounded to two decimals as the code does; 0 if one is empty.
fn cosine(a: &BTreeMap<String, u32>, b: &BTreeMap<String, u32>) -> f64 {
    let product: f64 =
        a.iter().filter_map(|(word, count)| Some(f64::from(*count) * f64::from(*b.get(word)?))).sum();
    let length = |counts: &BTreeMap<String, u32>| {
        counts.values().map(|count| f64::from(*count).powi(2)).sum::<f64>().sqrt()
    };
    let lengths = length(a) * length(b);
    if lengths > 0.0 {
        // Rounds the exact value, halves to even, as Python's `round`.
        format!("{:.2}", product / lengths).parse().unwrap_or(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: RewardRules =
        RewardRules { kind: RewardKind::Paper, diversity: Diversity::Distance, alpha: 0.5 };
    const CODE: RewardRules = RewardRules { kind: RewardKind::Code, ..PAPER };

    fn outcome(solved: bool, reward: f64, attempts: u32, advice: &[&str]) -> Outcome {
        Outcome { solved, reward, attempts, advice: advice.iter().map(|text| (*text).to_owned()).collect() }
    }

    #[test]
    fn diversity_is_one_minus_the_cosine_of_the_words() {
        let cases: [(&[&str], f64); 7] = [
            (&["click the red box", "click the blue box"], 0.25),
            (&["a b", "a b"], 0.0),
            (&["a b", "A, b!"], 0.0),
            (&["a b", "c d"], 1.0),
            (&["a b", ""], 1.0),
            (&["a"], 1.0),
            (&["first", "click the red box", "click the blue box"], 0.25),
        ];
        for (advice, expected) in cases {
            let diversity = PAPER.evaluate(&[outcome(false, 0.0, 1, advice)]).diversity;
            assert!((diversity - expected).abs() < 1e-12, "{advice:?}: {diversity}");
        }
        assert_eq!(
            PAPER.evaluate(&[outcome(false, 0.0, 1, &["", "7"])]).diversity.to_bits(),
            0.0_f64.to_bits()
        );
        assert_eq!(
            CODE.evaluate(&[outcome(false, 0.0, 1, &["", "7"])]).diversity.to_bits(),
            1.0_f64.to_bits()
        );
    }

    #[test]
    fn the_scores_of_the_code() {
        let at_once = CODE.evaluate(&[outcome(true, 0.99, 1, &[])]);
        assert_eq!(at_once.scores, [0.995, 1.0, 1.0]);
        let thrice = CODE.evaluate(&[outcome(false, -1.0, 3, &["click the red box", "click the blue box"])]);
        assert_eq!(thrice.scores, [0.0, 0.5, 0.25]);
        assert!((thrice.value - 0.25).abs() < 1e-12);
    }

    #[test]
    fn the_papers_reward_weighs_success_and_diversity() {
        let outcomes = [outcome(true, 1.0, 1, &[]), outcome(false, 0.0, 3, &["a b", "a b"])];
        let reward = PAPER.evaluate(&outcomes);
        assert_eq!((reward.performance, reward.diversity, reward.value), (0.5, 0.5, 0.5));
        let only_success = RewardRules { alpha: 0.0, ..PAPER };
        assert_eq!(only_success.evaluate(&outcomes[..1]).value.to_bits(), 1.0_f64.to_bits());
        let printed = RewardRules { diversity: Diversity::Printed, ..PAPER };
        assert_eq!(printed.evaluate(&outcomes[1..]).value.to_bits(), 0.5_f64.to_bits());
    }
}
