//! Findings of detectors.

use serde::{Deserialize, Serialize};

/// A note's kind says whether a finding is progress, a mistake or a neutral fact. Timeline marks, reflections and
/// breakpoints select notes by their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A subgoal was reached.
    Progress,
    /// Something went wrong in this step.
    Mistake,
    /// Neutral, but worth recording (a place seen for the first time, ...).
    Fact,
}

/// A note is a finding about one step by a detector, a pure function that examines each step after its observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Stable name of the detector, such as `nothing_happened` or `wrong_appliance`.
    pub detector: String,
    pub kind: NoteKind,
    /// The passage of this trajectory that proves it, short enough for one line.
    pub evidence: String,
    /// Named parts of the finding, for rules that build sentences from it (`object`, `receptacle`, ...).
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub parts: std::collections::BTreeMap<String, String>,
}

/// The names of detectors that mean the same in every environment: breakpoints, warnings and lists go by them. An environment
/// that notes one of these findings uses its name.
impl Note {
    /// The action had no effect.
    pub const NOTHING_HAPPENED: &str = "nothing_happened";
    /// The agent goes in circles.
    pub const CIRCLING: &str = "circling";
    /// The environment doesn't have such an action.
    pub const UNKNOWN_ACTION: &str = "unknown_action";
    /// The environment didn't understand the text as an action.
    pub const NOT_UNDERSTOOD: &str = "not_understood";
    /// The action failed, and no reason is known.
    pub const UNCLEAR: &str = "unclear";
}
