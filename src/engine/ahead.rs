//! What asking ahead came to: questions that were asked before anybody wanted their answer (`--prefetch`).

use crate::domain::{Asked, CallId, Counted, Usage};
use serde::{Deserialize, Serialize};

/// A question that was asked ahead, and how it stands with it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedAhead {
    /// Its number among those that are open.
    pub number: u64,
    /// Whose model was asked.
    pub asked: Asked,
    /// How it stands with it.
    pub now: AheadNow,
    /// The call it was taken for, once it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// What it has cost by now, as far as is known: before it is answered, an estimate of the prompt.
    pub usage: Usage,
}

/// How it stands with a question that was asked ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AheadNow {
    /// It was asked.
    Asked,
    /// Its answer is whole, and waits.
    Answered,
    /// It is the answer of a call that has been made since; what it costs is counted with that call's reply.
    Taken,
    /// It was for nothing.
    Dropped,
}

/// What asking ahead came to so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AheadTally {
    /// Questions asked ahead.
    pub asked: u64,
    /// Answers that a call was given.
    pub used: u64,
    /// Answers that were for nothing.
    pub dropped: u64,
    /// What those for nothing came to; the others stand in the run's own counts.
    pub wasted: Counted,
}

impl AheadTally {
    /// Nothing was asked ahead.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// In words; none where nothing was asked ahead.
    pub fn words(&self) -> Option<String> {
        if self.asked == 0 {
            return None;
        }
        let tokens = match self.wasted.tokens() {
            0 => String::new(),
            n => format!(", {n} tokens"),
        };
        let cost = self.wasted.cost().map_or_else(String::new, |cost| format!(", cost {cost}"));
        Some(format!("{} asked, {} used, {} for nothing{tokens}{cost}", self.asked, self.used, self.dropped))
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            asked: self.asked.saturating_add(other.asked),
            used: self.used.saturating_add(other.used),
            dropped: self.dropped.saturating_add(other.dropped),
            wasted: self.wasted.with(other.wasted),
        }
    }

    pub(in crate::engine) fn drop_one(&mut self, usage: &Usage) {
        self.dropped = self.dropped.saturating_add(1);
        self.wasted.add(usage);
    }
}
