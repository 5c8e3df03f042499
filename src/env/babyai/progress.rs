//! AgentBoard's progress: patterns searched for in observations, and its decision on whether an episode is over.

/// Appended to the observation that ends the episode.
pub(super) const COMPLETED: &str = "\n The task is completed.";

/// A subgoal: fragments that must all occur in one sentence of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    pieces: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let text = text.trim();
        let mark = if text.contains("**") { "**" } else { "*" };
        Self { pieces: text.split(mark).map(|piece| piece.trim_matches('.').to_owned()).collect() }
    }

    fn matches(&self, observation: &str) -> bool {
        observation
            .split('.')
            .any(|sentence| self.pieces.iter().all(|piece| sentence.contains(piece.as_str())))
    }
}

/// The progress of an episode.
#[derive(Clone, Debug)]
pub(super) struct ProgressTracker {
    /// The remaining patterns of each alternative list.
    remaining: Vec<Vec<Pattern>>,
    total: usize,
    /// Number of subgoals reached.
    pub(super) reached: usize,
    /// AgentBoard's reward: the share of subgoals reached, or the environment's reward if there are none.
    pub(super) reward: f64,
    /// Whether the episode is over.
    pub(super) is_done: bool,
}

impl ProgressTracker {
    pub(super) fn new(subgoals: &[Vec<String>]) -> Self {
        let remaining: Vec<Vec<Pattern>> =
            subgoals.iter().map(|list| list.iter().map(|text| Pattern::new(text)).collect()).collect();
        let total = remaining.first().map_or(0, Vec::len);
        Self { remaining, total, reached: 0, reward: 0.0, is_done: false }
    }

    /// Returns the number of subgoals, or 0 if progress is the environment's reward.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Records an executed action: the last primitive action's reward and end flag, and the observation, to which the
    /// final sentence may be appended.
    pub(super) fn record_action(&mut self, reward: f64, ended: bool, observation: &mut String) {
        self.is_done = ended;
        if ended {
            observation.push_str(COMPLETED);
        }
        if self.total == 0 {
            self.reward = reward;
        } else {
            self.credit_one_subgoal(observation);
        }
        // An end before half of the progress was reached doesn't count, although the text announces it.
        if self.is_done && self.reward <= 0.5 {
            self.is_done = false;
        }
        if self.reward >= 1.0 && !self.is_done {
            self.is_done = true;
            observation.push_str(COMPLETED);
        }
    }

    /// Credits at most one subgoal: the first position at which a pattern of any alternative matches.
    fn credit_one_subgoal(&mut self, observation: &str) {
        let longest = self.remaining.first().map_or(0, Vec::len);
        let matches_at = |at: usize| {
            self.remaining.iter().filter_map(|list| list.get(at)).any(|pattern| pattern.matches(observation))
        };
        let Some(at) = (0..longest).find(|&at| matches_at(at)) else { return };
        self.reached += 1;
        self.reward = self.reward.max(self.reached as f64 / self.total as f64);
        for list in &mut self.remaining {
            if let Some(pattern) = list.get(at).cloned() {
                // As in the original, the first equal pattern is removed.
                let first = list.iter().position(|other| *other == pattern).unwrap_or(at);
                list.remove(first);
            }
        }
    }
}
