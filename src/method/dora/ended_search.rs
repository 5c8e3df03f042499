//! What is kept of the search for a type of tasks once the next one has begun.

use crate::domain::{SearchHistory, SearchedPoint};
use serde::{Deserialize, Serialize};

/// A search that has ended, for pictures. It is short, because the memory is written after every episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EndedSearch {
    /// Which group of tasks it was for.
    pub(super) group: usize,
    planned: u64,
    dimension: usize,
    shown_variance: f64,
    /// Of each evaluation its round, its reward, and its place in the plane.
    points: Vec<(u32, f64, f64, f64)>,
    /// The indices of the evaluations that the optimiser didn't get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assisted: Vec<usize>,
}

impl EndedSearch {
    /// Keeps of a search what pictures show.
    pub(super) fn new(group: usize, history: &SearchHistory) -> Self {
        let assisted = history.points.iter().enumerate().filter(|(_, point)| point.assisted);
        let points = history.points.iter().map(|point| {
            let [x, y] = point.place.map(|value| rounded(value, 3));
            (point.round, rounded(point.reward, 6), x, y)
        });
        Self {
            group,
            planned: history.planned,
            dimension: history.dimension,
            shown_variance: rounded(history.shown_variance, 4),
            points: points.collect(),
            assisted: assisted.map(|(index, _)| index).collect(),
        }
    }

    /// Returns the search as pictures take it.
    pub(super) fn history(&self, task_type: Option<String>) -> SearchHistory {
        let points = self.points.iter().enumerate().map(|(index, (round, reward, x, y))| SearchedPoint {
            round: *round,
            reward: *reward,
            assisted: self.assisted.contains(&index),
            place: [*x, *y],
            ..SearchedPoint::default()
        });
        SearchHistory {
            points: points.collect(),
            planned: self.planned,
            dimension: self.dimension,
            shown_variance: self.shown_variance,
            task_type,
        }
    }

    /// Returns the reward of an evaluation, by its index.
    pub(super) fn reward(&self, index: usize) -> Option<f64> {
        self.points.get(index).map(|(_, reward, ..)| *reward)
    }
}

/// Rounds to a number of decimals: the others are in no picture.
fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pictures_show_is_kept_and_46_evaluations_take_two_kilobytes() {
        let point = |index: u32| SearchedPoint {
            round: index / 10,
            reward: f64::from(index) / 45.0,
            assisted: index == 3,
            place: [f64::from(index).sin(), -f64::from(index).cos()],
            ..SearchedPoint::default()
        };
        let history = SearchHistory {
            points: (0..46).map(point).collect(),
            planned: 46,
            dimension: 10,
            shown_variance: 1.0 / 3.0,
            task_type: Some("heat".to_owned()),
        };
        let text = serde_json::to_string(&EndedSearch::new(2, &history)).unwrap();
        assert!(text.len() < 2048, "{} bytes", text.len());
        let ended: EndedSearch = serde_json::from_str(&text).unwrap();
        let read = ended.history(Some("heat".to_owned()));
        assert_eq!((ended.group, read.extent(), read.best()), (2, history.extent(), history.best()));
        assert_eq!((ended.reward(45), ended.reward(46)), (Some(1.0), None));
        for (kept, point) in read.points.iter().zip(&history.points) {
            assert_eq!((kept.round, kept.assisted), (point.round, point.assisted));
            assert!((kept.reward - point.reward).abs() < 1e-6);
            let off = |axis: usize| (kept.place[axis] - point.place[axis]).abs();
            assert!(off(0) < 1e-3 && off(1) < 1e-3, "{kept:?} {point:?}");
        }
    }
}
