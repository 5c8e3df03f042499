//! Which reflection was the last advice on a task.

use crate::domain::Seq;
use serde::{Deserialize, Serialize};

/// The last advice of a kind on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastAdvice {
    /// Its index among all reflections, from 0.
    pub index: u32,
    /// The first of the successive reflections that say the same.
    pub since: Seq,
}
