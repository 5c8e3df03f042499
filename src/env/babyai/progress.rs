//! AgentBoard's progress: patterns that are looked for in observations, and its word on whether an episode is over.

/// What is added to an observation that ends the episode.
pub(super) const COMPLETED: &str = "\n The task is completed.";

/// A subgoal: pieces that must all stand in one sentence of an observation.
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

/// How far an episode has come.
#[derive(Clone, Debug)]
pub(super) struct ProgressTracker {
    /// What is left of each alternative list.
    remaining: Vec<Vec<Pattern>>,
    total: usize,
    /// Subgoals that were seen.
    pub(super) reached: usize,
    /// AgentBoard's reward: the share of subgoals, or the environment's reward where there are none.
    pub(super) reward: f64,
    /// The episode is over.
    pub(super) is_done: bool,
}

impl ProgressTracker {
    pub(super) fn new(subgoals: &[Vec<String>]) -> Self {
        let left: Vec<Vec<Pattern>> =
            subgoals.iter().map(|list| list.iter().map(|text| Pattern::new(text)).collect()).collect();
        let total = left.first().map_or(0, Vec::len);
        Self { remaining: left, total, reached: 0, reward: 0.0, is_done: false }
    }

    /// How many subgoals there are; 0 where progress is the environment's reward.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Takes in an executed action: the last low-level step's reward and end, and the observation, which may get its last sentence.
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
        // An end that came before half of the progress was seen does not count, although the text says it.
        if self.is_done && self.reward <= 0.5 {
            self.is_done = false;
        }
        if self.reward >= 1.0 && !self.is_done {
            self.is_done = true;
            observation.push_str(COMPLETED);
        }
    }

    /// At most one subgoal is credited: the first position at which a pattern of any alternative is there.
    fn credit_one_subgoal(&mut self, observation: &str) {
        let longest = self.remaining.first().map_or(0, Vec::len);
        let is_there = |at: usize| {
            self.remaining.iter().filter_map(|list| list.get(at)).any(|pattern| pattern.matches(observation))
        };
        let Some(at) = (0..longest).find(|&at| is_there(at)) else { return };
        self.reached += 1;
        self.reward = self.reward.max(self.reached as f64 / self.total as f64);
        for list in &mut self.remaining {
            if let Some(pattern) = list.get(at).cloned() {
                // As the original does: the first that is equal goes.
                let first = list.iter().position(|other| *other == pattern).unwrap_or(at);
                list.remove(first);
            }
        }
    }
}
