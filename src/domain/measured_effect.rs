//! What a measurement says about a lesson, kept with the lesson.

use serde::{Deserialize, Serialize};

/// The result of a measurement of a lesson, as it is kept in a pool file (`docs/EFFECT.md`). Words such as the verdict are
/// those of the measurement's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredEffect {
    /// The day, as `2026-11-20`.
    pub date: String,
    /// The id of the measurement.
    pub effect: String,
    /// The version of the lesson's text that was measured, counted from 1.
    pub version: u32,
    /// What one pair is: `moment`, `tasks` or `these`.
    pub scope: String,
    /// The column of the panel: `here` or `elsewhere`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The compared arms.
    pub arms: (String, String),
    pub outcome: String,
    pub pairs: u64,
    /// Pairs in which the first arm did better.
    pub b: u64,
    /// Pairs in which the second arm did better.
    pub c: u64,
    /// The mean difference; `None` without pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The running interval of the mean difference.
    pub low: f64,
    pub high: f64,
    pub alpha: f64,
    pub margin: f64,
    pub verdict: String,
    /// The actor, as on the command line.
    pub model: String,
    /// The server profile; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
}

impl MeasuredEffect {
    /// Describes the result in the fewest words: `+12 % [3, 21] · 60 pairs`.
    pub fn describe(&self) -> String {
        let percent = |share: f64| (share * 100.0).round() + 0.0;
        let place = self.column.as_deref().map_or_else(String::new, |column| format!(" {column}"));
        let (low, high) = (percent(self.low), percent(self.high));
        match self.difference {
            Some(difference) => {
                format!("{:+} %{place} [{low}, {high}] · {} pairs", percent(difference), self.pairs)
            }
            None => format!("no pairs{place}"),
        }
    }
}
