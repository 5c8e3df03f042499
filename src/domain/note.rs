//! What detectors see in a step.

use serde::{Deserialize, Serialize};

/// Which way a detector's finding points; marks, reflections and breakpoints choose by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A subgoal was reached.
    Progress,
    /// Something went wrong in this step.
    Mistake,
    /// Neither good nor bad; worth knowing (a place seen for the first time, ...).
    Fact,
}

/// One finding of one detector about one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Stable name of the detector, such as `nothing_happened` or `wrong_appliance`.
    pub detector: String,
    /// Which way it points.
    pub kind: NoteKind,
    /// The words of this trajectory that prove it, short enough for one line.
    pub evidence: String,
    /// Named parts of the finding, for rules that build sentences from it (`object`, `receptacle`, ...).
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub parts: std::collections::BTreeMap<String, String>,
}
