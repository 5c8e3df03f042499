//! Identifiers of events, calls, branches and lessons.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A sequence number is the position of an event in its branch, counted from 1; 0 means "before any event".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// A call id identifies one call in flight to a model or an environment. A reply whose call id isn't in flight yields
/// no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

/// A branch id identifies a branch, one sequence of events of a session; it is also the stem of the branch's file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(pub String);

/// A lesson id identifies a lesson across sessions: twelve hexadecimal digits of a hash of the session, branch and
/// sequence number of the event that added it. For a lesson typed into a pool, the hash covers time, process id, kind
/// and text instead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LessonId(pub Arc<str>);

impl BranchId {
    /// Returns the id of the trunk, the branch with which every session starts.
    pub fn trunk() -> Self {
        Self("trunk".to_owned())
    }
}

impl Seq {
    /// Returns whether this is 0, which no event has.
    pub fn is_unset(&self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for LessonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Encodes bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)] as char, DIGITS[usize::from(b & 15)] as char])
        .collect()
}
