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
