//! Prefetched requests, which are sent before their reply is needed (`--prefetch`), and their statistics.

use crate::domain::{CallId, ModelRole, TokenCounts, Usage};
use serde::{Deserialize, Serialize};

/// A prefetched request and its status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prefetch {
    /// A number that identifies the request.
    pub number: u64,
    #[serde(rename = "asked")]
    pub role: ModelRole,
    #[serde(rename = "now")]
    pub status: PrefetchStatus,
    /// The call that uses the reply, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The usage known so far. Before the reply arrives, it is an estimate of the prompt's tokens.
    pub usage: Usage,
}

/// The status of a prefetched request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefetchStatus {
    /// The request was sent.
    #[serde(rename = "asked")]
    Requested,
    /// The reply is complete, but no call has used it yet.
    Answered,
    /// A later call uses the reply; the usage is counted with that call.
    #[serde(rename = "taken")]
    Used,
    /// No call will use the reply.
    Dropped,
}

/// Counts of prefetched requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefetchStats {
    /// Requests sent.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// Replies that a call used.
    pub used: u64,
    /// Replies that no call used.
    pub dropped: u64,
    /// Tokens and cost of the dropped requests; those of the used requests are counted with their calls.
    pub wasted: TokenCounts,
    /// Requests that are neither used nor dropped yet: in progress, or left by a program that was killed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open: u64,
    /// Tokens and cost of the open requests so far. If the session is resumed, these requests count as dropped.
    #[serde(default, skip_serializing_if = "TokenCounts::is_empty")]
    pub pending: TokenCounts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl PrefetchStats {
    /// Returns whether nothing was prefetched.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Describes the statistics for a person. Returns `None` if nothing was prefetched.
    pub fn describe(&self) -> Option<String> {
        if self.requested == 0 {
            return None;
        }
        let describe_counts = |counts: TokenCounts| {
            let tokens = match counts.tokens() {
                0 => String::new(),
                n => format!(", {n} tokens"),
            };
            tokens + &counts.format_cost().map_or_else(String::new, |cost| format!(", cost {cost}"))
        };
        let wasted = describe_counts(self.wasted);
        let pending = match self.open {
            0 => String::new(),
            n => format!("; {n} pending{}", describe_counts(self.pending)),
        };
        Some(format!("{} sent, {} used, {} unused{wasted}{pending}", self.requested, self.used, self.dropped))
    }

    /// Returns the sums of both statistics.
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
