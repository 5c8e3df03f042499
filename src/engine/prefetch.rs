//! What asking ahead came to: questions that were asked before anybody wanted their answer (`--prefetch`).

use super::State;
use crate::domain::{CallId, ModelRole, TokenCounts, Usage};
use serde::{Deserialize, Serialize};

/// A question that was asked ahead, and how it stands with it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prefetch {
    /// Its number among those that are open.
    pub number: u64,
    /// Whose model was asked.
    #[serde(rename = "asked")]
    pub role: ModelRole,
    /// How it stands with it.
    #[serde(rename = "now")]
    pub status: PrefetchStatus,
    /// The call it was taken for, once it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// What it has cost by now, as far as is known: before it is answered, an estimate of the prompt.
    pub usage: Usage,
}

/// How it stands with a question that was asked ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefetchStatus {
    /// It was asked.
    #[serde(rename = "asked")]
    Requested,
    /// Its answer is whole, and waits.
    Answered,
    /// It is the answer of a call that has been made since; what it costs is counted with that call's reply.
    #[serde(rename = "taken")]
    Used,
    /// It was for nothing.
    Dropped,
}

/// What asking ahead came to so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefetchStats {
    /// Questions asked ahead.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// Answers that a call was given.
    pub used: u64,
    /// Answers that were for nothing.
    pub dropped: u64,
    /// What those for nothing came to; the others stand in the run's own counts.
    pub wasted: TokenCounts,
    /// Questions that have come to nothing yet, one way or the other: under way, or left by a program that was killed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open: u64,
    /// What those have cost so far, as far as is known; whoever takes the session up counts it as for nothing.
    #[serde(default, skip_serializing_if = "TokenCounts::is_empty")]
    pub pending: TokenCounts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl State {
    /// What asking ahead came to by now, with what is open.
    pub fn prefetch_stats(&self) -> PrefetchStats {
        let mut tally = self.usage.prefetch;
        for early in &self.prefetched {
            tally.open = tally.open.saturating_add(1);
            tally.pending.add(&early.usage);
        }
        tally
    }
}

impl PrefetchStats {
    /// Nothing was asked ahead.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// In words; none where nothing was asked ahead.
    pub fn describe(&self) -> Option<String> {
        if self.requested == 0 {
            return None;
        }
        let spent = |of: TokenCounts| {
            let tokens = match of.tokens() {
                0 => String::new(),
                n => format!(", {n} tokens"),
            };
            tokens + &of.format_cost().map_or_else(String::new, |cost| format!(", cost {cost}"))
        };
        let nothing = spent(self.wasted);
        let open = match self.open {
            0 => String::new(),
            n => format!("; {n} open{}", spent(self.pending)),
        };
        Some(format!(
            "{} asked, {} used, {} for nothing{nothing}{open}",
            self.requested, self.used, self.dropped
        ))
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requested: self.requested.saturating_add(other.requested),
            used: self.used.saturating_add(other.used),
            dropped: self.dropped.saturating_add(other.dropped),
            wasted: self.wasted.plus(other.wasted),
            open: self.open.saturating_add(other.open),
            pending: self.pending.plus(other.pending),
        }
    }

    pub(in crate::engine) fn count_dropped(&mut self, usage: &Usage) {
        self.dropped = self.dropped.saturating_add(1);
        self.wasted.add(usage);
    }
}
