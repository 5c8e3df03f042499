//! Budgets of a measurement, as a person types them.

use super::EffectBudget;
use crate::domain::{format_price, pluralize};

/// What can be typed.
const EXAMPLES: &str =
    "write amounts such as `10 min`, `500 calls`, `200 episodes`, `300 k tokens` or `2.50` (cost)";

impl EffectBudget {
    /// Parses amounts with commas between them: `10 min, 500 calls, 2.50`. An amount without a unit is a cost. An empty text is no
    /// budget.
    ///
    /// # Errors
    /// Returns what isn't an amount, with examples.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut budget = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(part.len());
            let (number, unit) = part.split_at(end);
            let unit = unit.trim().to_lowercase();
            let (factor, unit) = match unit.split_once(' ') {
                Some(("k", unit)) => (1e3, unit.trim()),
                Some(("m", unit)) => (1e6, unit.trim()),
                _ => (1.0, unit.as_str()),
            };
            let refused = || format!("{part}: not a budget; {EXAMPLES}");
            let number = number.parse::<f64>().ok().filter(|number| *number > 0.0).ok_or_else(refused)?;
            let amount = Some(((number * factor).ceil() as u64).max(1));
            match unit {
                "" | "cost" => budget.cost_nano = Some(((number * factor * 1e9).round() as u64).max(1)),
                "min" | "minute" | "minutes" => budget.minutes = amount,
                "call" | "calls" => budget.calls = amount,
                "episode" | "episodes" => budget.episodes = amount,
                "token" | "tokens" => budget.tokens = amount,
                _ => return Err(refused()),
            }
        }
        Ok(budget)
    }

    /// Describes the amounts, as [`Self::parse`] takes them; empty without any.
    pub fn describe(&self) -> String {
        let count = |amount: Option<u64>, noun: &str| amount.map(|amount| pluralize(amount, noun));
        let parts = [
            self.minutes.map(|minutes| format!("{minutes} min")),
            count(self.calls, "call"),
            count(self.episodes, "episode"),
            count(self.tokens, "token"),
            self.cost_nano.map(|nano| format!("{} cost", format_price(nano))),
        ];
        parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_budgets_are_read_and_described() {
        for (text, described) in [
            ("", ""),
            ("10 min", "10 min"),
            ("1.5min", "2 min"),
            ("500 calls, 2.50", "500 calls, 2.50 cost"),
            ("300 k tokens, 1 episode,", "1 episode, 300000 tokens"),
            ("0.5 M tokens", "500000 tokens"),
        ] {
            let budget = EffectBudget::parse(text).unwrap();
            assert_eq!(budget.describe(), described, "{text}");
            assert_eq!(EffectBudget::parse(described), Ok(budget), "{text}");
        }
        for wrong in ["ten min", "0 calls", "-1", "5 pairs", "min", "1..2 calls"] {
            let refused = EffectBudget::parse(wrong).unwrap_err();
            assert!(refused.contains(wrong) && refused.contains("`10 min`"), "{refused}");
        }
    }
}
