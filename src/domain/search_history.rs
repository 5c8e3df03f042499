//! What a method that searches vectors has tried so far, for pictures of the search.

use serde::Serialize;

/// The evaluations of one search, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchHistory {
    pub points: Vec<SearchedPoint>,
    /// How many evaluations are made at most.
    pub planned: u64,
    /// The length of the searched vectors.
    pub dimension: usize,
    /// The share of the vectors' variance that their places in the plane show, from 0 to 1.
    pub shown_variance: f64,
    /// The type of tasks that is searched for, if the run has several: each has a search of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
}

/// An evaluated vector.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchedPoint {
    /// In which round it was chosen; 0: a first vector.
    pub round: u32,
    pub reward: f64,
    /// Whether a person changed the instruction, so that the optimiser doesn't get the reward.
    pub assisted: bool,
    /// Its place in a plane.
    pub place: [f64; 2],
    /// The vector itself. Of the search for an earlier type of tasks only its place is kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vector: Vec<f64>,
    /// What was expected of it before; first vectors have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PredictedReward>,
}

/// What a model of the rewards expects of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PredictedReward {
    pub mean: f64,
    pub deviation: f64,
    /// In standard deviations of the rewards.
    pub expected_improvement: f64,
}

/// What is said of a point that is [`SearchedPoint::assisted`].
pub const ASSISTED_MEANING: &str = "assisted: not given to the optimiser";

impl SearchHistory {
    /// Returns the index of the best evaluation that the optimiser got, of equal ones the first.
    pub fn best(&self) -> Option<usize> {
        let usable = self.points.iter().enumerate().filter(|(_, point)| !point.assisted);
        usable.rev().max_by(|(_, a), (_, b)| a.reward.total_cmp(&b.reward)).map(|(index, _)| index)
    }

    /// Returns the best reward up to each evaluation, without those that the optimiser didn't get.
    pub fn best_so_far(&self) -> Vec<Option<f64>> {
        let mut best: Option<f64> = None;
        let mut take_in = |point: &SearchedPoint| {
            if !point.assisted {
                best = Some(best.map_or(point.reward, |best| best.max(point.reward)));
            }
            best
        };
        self.points.iter().map(&mut take_in).collect()
    }

    /// Returns the smallest and the largest reward.
    pub fn reward_range(&self) -> Option<(f64, f64)> {
        let rewards = || self.points.iter().map(|point| point.reward);
        let (low, high) = (rewards().min_by(f64::total_cmp)?, rewards().max_by(f64::total_cmp)?);
        Some((low, high))
    }

    /// Returns the third of the range of rewards that a point is in, from 0 to 2. If all are equal, it's the last one.
    pub fn third(&self, point: &SearchedPoint) -> usize {
        let Some((low, high)) = self.reward_range().filter(|(low, high)| high > low) else { return 2 };
        ((3.0 * (point.reward - low) / (high - low)) as usize).min(2)
    }

    /// Returns the rewards at which the middle and the highest third begin; `None` if all rewards are equal.
    pub fn third_limits(&self) -> Option<[f64; 2]> {
        let (low, high) = self.reward_range().filter(|(low, high)| high > low)?;
        let third = (high - low) / 3.0;
        Some([low + third, low + 2.0 * third])
    }

    /// Returns whether a person changed an instruction that was evaluated.
    pub fn has_assisted(&self) -> bool {
        self.points.iter().any(|point| point.assisted)
    }

    /// Returns a heading: `Search`, with the type of tasks if the run has several.
    pub fn title(&self) -> String {
        self.task_type.as_ref().map_or_else(|| "Search".to_owned(), |name| format!("Search for {name}"))
    }

    /// Returns how far the search is, such as `12 of at most 46 evaluations in 10 dimensions`.
    pub fn extent(&self) -> String {
        format!("{} in {} dimensions", self.evaluations(), self.dimension)
    }

    /// Returns how many evaluations were made, such as `12 of at most 46 evaluations`.
    pub fn evaluations(&self) -> String {
        format!("{} of at most {} evaluations", self.points.len(), self.planned)
    }

    /// Returns the rounds, each with the index of its first evaluation, in order.
    pub fn round_starts(&self) -> Vec<(u32, usize)> {
        let mut starts: Vec<(u32, usize)> = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            if starts.last().is_none_or(|(round, _)| *round != point.round) {
                starts.push((point.round, index));
            }
        }
        starts
    }

    /// Returns the heading of a picture of the tried vectors in the plane.
    pub fn plane_heading(&self) -> String {
        if self.dimension <= 2 {
            return "Tried vectors".to_owned();
        }
        format!("Tried vectors, in the plane of {:.0} % of their variance", 100.0 * self.shown_variance)
    }

    /// Returns the names of the axes of such a picture, the longest form first.
    pub fn axis_names(&self) -> [&'static str; 2] {
        match self.dimension {
            0..=2 => ["\u{2192} first number, \u{2191} second", "\u{2192} 1st, \u{2191} 2nd"],
            _ => ["\u{2192} 1st, \u{2191} 2nd principal component", "\u{2192} 1st, \u{2191} 2nd"],
        }
    }

    /// Returns the corners of the smallest rectangle around all places, with at least some extent.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        let range = |axis: usize| {
            let values = || self.points.iter().map(|point| point.place[axis]);
            let low = values().fold(f64::INFINITY, f64::min);
            let high = values().fold(f64::NEG_INFINITY, f64::max);
            if high - low > 1e-9 {
                [low, high]
            } else {
                let middle = if low.is_finite() { low } else { 0.0 };
                [middle - 1.0, middle + 1.0]
            }
        };
        [range(0), range(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(reward: f64, assisted: bool) -> SearchedPoint {
        SearchedPoint { reward, assisted, place: [reward, 0.0], ..SearchedPoint::default() }
    }

    #[test]
    fn assisted_rewards_are_left_out_of_the_best() {
        let points = vec![point(0.2, false), point(0.9, true), point(0.5, false), point(0.5, false)];
        let history = SearchHistory { points, ..SearchHistory::default() };
        assert_eq!(history.best(), Some(2));
        assert_eq!(history.best_so_far(), [Some(0.2), Some(0.2), Some(0.5), Some(0.5)]);
        assert_eq!(history.reward_range(), Some((0.2, 0.9)));
        let thirds: Vec<usize> = history.points.iter().map(|point| history.third(point)).collect();
        assert_eq!(thirds, [0, 2, 1, 1]);
        let limits = history.third_limits().unwrap();
        assert!((limits[0] - 1.3 / 3.0).abs() < 1e-12 && (limits[1] - 2.0 / 3.0).abs() < 1e-12, "{limits:?}");
        assert_eq!(history.bounds(), [[0.2, 0.9], [-1.0, 1.0]]);
    }

    #[test]
    fn a_round_begins_with_its_first_evaluation() {
        let mut points = vec![point(0.2, false); 5];
        points[2].round = 1;
        (points[3].round, points[4].round) = (1, 3);
        let history = SearchHistory { points, planned: 46, dimension: 10, ..SearchHistory::default() };
        assert_eq!(history.round_starts(), [(0, 0), (1, 2), (3, 4)]);
        assert_eq!(
            (history.title(), history.extent()),
            ("Search".to_owned(), "5 of at most 46 evaluations in 10 dimensions".to_owned())
        );
        let heat = SearchHistory { task_type: Some("heat".to_owned()), ..history };
        assert_eq!(heat.title(), "Search for heat");
    }

    #[test]
    fn nothing_is_known_before_the_first_evaluation() {
        let history = SearchHistory::default();
        assert_eq!((history.best(), history.reward_range(), history.third_limits()), (None, None, None));
        assert_eq!(history.bounds(), [[-1.0, 1.0], [-1.0, 1.0]]);
        assert!(history.best_so_far().is_empty() && history.round_starts().is_empty());
    }
}
