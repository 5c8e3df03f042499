//! The panel of two columns, here and elsewhere (`docs/EFFECT.md`, "Here and elsewhere").

use super::verdict::{ALPHA, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A column of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// This task, with new seeds.
    Here,
    /// Other tasks of the environment, none that the lesson was learned on.
    Elsewhere,
}

impl Column {
    /// Both columns, in display order.
    pub const ALL: [Self; 2] = [Self::Here, Self::Elsewhere];
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here => "here",
            Self::Elsewhere => "elsewhere",
        })
    }
}

/// What both columns show together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelVerdict {
    /// It does harm in at least one column.
    Harmful,
    /// It helps elsewhere.
    Lesson,
    /// It helps here, and was not seen to help elsewhere.
    Answer,
    /// No effect was seen in either column.
    NoEffectSeen,
    /// The pairs of a column contradict each other over time.
    Inconsistent,
    #[default]
    Undecided,
}

impl PanelVerdict {
    /// Combines the verdicts of both columns, each at [`column_alpha`]`(2)`.
    pub fn combine(here: Verdict, elsewhere: Verdict) -> Self {
        let either = |verdict| here == verdict || elsewhere == verdict;
        match (here, elsewhere) {
            _ if either(Verdict::Inconsistent) => Self::Inconsistent,
            _ if either(Verdict::Harmful) => Self::Harmful,
            (_, Verdict::Helped) => Self::Lesson,
            (Verdict::Helped, Verdict::NoEffectSeen) => Self::Answer,
            (Verdict::NoEffectSeen, Verdict::NoEffectSeen) => Self::NoEffectSeen,
            _ => Self::Undecided,
        }
    }
}

impl fmt::Display for PanelVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Harmful => "harmful",
            Self::Lesson => "a lesson",
            Self::Answer => "an answer",
            Self::NoEffectSeen => "no effect seen",
            Self::Inconsistent => "inconsistent",
            Self::Undecided => "undecided",
        })
    }
}

/// Returns the level of one of `columns` columns, so that the chance of any wrong statement in the panel stays below
/// [`ALPHA`].
pub fn column_alpha(columns: usize) -> f64 {
    ALPHA / columns.max(1) as f64
}
