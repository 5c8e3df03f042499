//! Text about a trajectory.

use super::{LessonText, Seq};
use serde::{Deserialize, Serialize};

/// The kind of a reflection, and of the lessons kept from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// OmniReflect: a general aspect learnt.
    Abstract,
    /// OmniReflect: a mistake and its solution.
    Error,
    /// OmniReflect: where this episode stands and what comes next.
    Progress,
    /// Reflexion and FCRF: a plan for the next trial.
    Plan,
    /// FCRF: what was worth keeping of a failed trial.
    Experience,
    /// FCRF: a lesson from a corrected failure.
    Lesson,
    /// Sweet&Sour: what worked.
    Positive,
    /// Sweet&Sour: what failed.
    Negative,
    /// DORA: advice from a chosen prompt.
    Advice,
}

/// Who wrote a reflection, or changed the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The rules of symbolic generation.
    Symbolic,
    /// A model.
    Mentor,
    /// A person.
    Person,
    /// A pool file that the run was started with.
    File,
}

/// One item of a reflection, and where the evidence for it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// What it says.
    pub text: LessonText,
    /// The detector or rule behind it, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The words of the trajectory it rests on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// A reflection as it was written; its kept items live on as lessons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    /// Its kind.
    pub kind: Kind,
    /// Its author.
    pub author: Author,
    /// Episode it is about.
    pub episode: u32,
    /// Step it was written after (0: before the first).
    pub step: u32,
    /// Its items.
    pub items: Vec<Item>,
    /// The event that brought it (set when it is folded).
    #[serde(default, skip_serializing_if = "Seq::is_before_all")]
    pub seq: Seq,
}

impl Kind {
    /// The word for it on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abstract => "Abstract",
            Self::Error => "Error",
            Self::Progress => "Progress",
            Self::Plan => "Plan",
            Self::Experience => "Experience",
            Self::Lesson => "Lesson",
            Self::Positive => "Positive",
            Self::Negative => "Negative",
            Self::Advice => "Advice",
        }
    }
}
