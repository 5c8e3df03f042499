//! The sub-goals of AgentBoard's labels: patterns of the answers that show them.
//!
//! Source: `agentboard/environment/scienceworld_env.py` of `hkust-nlp/AgentBoard`.

use regex::Regex;

/// The sub-goals of a label.
pub(super) struct LabelGoals {
    goal: String,
    /// With whether an answer since the reset has matched.
    patterns: Vec<(Regex, bool)>,
}

impl LabelGoals {
    /// Compiles the patterns, which are searched in answers as they are.
    ///
    /// # Errors
    /// Returns which pattern is invalid.
    pub(super) fn new(goal: &str, patterns: &[String]) -> Result<Self, String> {
        let compile = |pattern: &String| match Regex::new(pattern) {
            Ok(compiled) => Ok((compiled, false)),
            Err(error) => Err(format!("the sub-goal {pattern:?} is not a pattern: {error}")),
        };
        let patterns = patterns.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { goal: goal.to_owned(), patterns })
    }

    pub(super) fn goal(&self) -> &str {
        &self.goal
    }

    pub(super) fn count(&self) -> usize {
        self.patterns.len()
    }

    pub(super) fn restart(&mut self) {
        for (_, is_reached) in &mut self.patterns {
            *is_reached = false;
        }
    }

    /// Takes over the answer to an action.
    pub(super) fn update(&mut self, observation: &str) {
        for (pattern, is_reached) in &mut self.patterns {
            *is_reached = *is_reached || pattern.is_match(observation);
        }
    }

    /// Returns the share of the sub-goals that are reached, in any order.
    pub(super) fn progress(&self) -> f64 {
        self.reached() as f64 / self.patterns.len().max(1) as f64
    }

    pub(super) fn is_complete(&self) -> bool {
        self.reached() == self.patterns.len()
    }

    fn reached(&self) -> usize {
        self.patterns.iter().filter(|(_, is_reached)| *is_reached).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_the_patterns_that_an_answer_has_matched() {
        let patterns =
            ["You move to the (kitchen|hallway)", "focus on the .{0,2}egg", "water"].map(str::to_owned);
        let mut goals = LabelGoals::new("find an egg", &patterns).unwrap();
        assert_eq!((goals.goal(), goals.count()), ("find an egg", 3));
        let answers = [
            ("You move to the hallway.", 1),
            ("You move to the kitchen.", 1),
            ("You pour the water.", 2),
            ("You focus on the egg.", 3),
        ];
        for (answer, reached) in answers {
            goals.update(answer);
            assert!((goals.progress() - f64::from(reached) / 3.0).abs() < 1e-12, "{answer}");
            assert_eq!(goals.is_complete(), reached == 3);
        }
        goals.restart();
        assert_eq!(goals.reached(), 0);
        assert!(LabelGoals::new("", &["(".to_owned()]).is_err());
    }
}
