//! What asking ahead came to: questions that were asked before anybody wanted their answer (`--prefetch`).

use super::State;
use crate::domain::{CallId, Counted, ModelRole, Usage};
use serde::{Deserialize, Serialize};

/// A question that was asked ahead, and how it stands with it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedAhead {
    /// Its number among those that are open.
    pub number: u64,
    /// Whose model was asked.
    pub asked: ModelRole,
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
pub struct PrefetchStats {
    /// Questions asked ahead.
    pub asked: u64,
    /// Answers that a call was given.
    pub used: u64,
    /// Answers that were for nothing.
    pub dropped: u64,
    /// What those for nothing came to; the others stand in the run's own counts.
    pub wasted: Counted,
    /// Questions that have come to nothing yet, one way or the other: under way, or left by a program that was killed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open: u64,
    /// What those have cost so far, as far as is known; whoever takes the session up counts it as for nothing.
    #[serde(default, skip_serializing_if = "Counted::is_empty")]
    pub pending: Counted,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl State {
    /// What asking ahead came to by now, with what is open.
    pub fn asked_ahead(&self) -> PrefetchStats {
        let mut tally = self.spent.ahead;
        for early in &self.early {
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
    pub fn words(&self) -> Option<String> {
        if self.asked == 0 {
            return None;
        }
        let spent = |of: Counted| {
            let tokens = match of.tokens() {
                0 => String::new(),
                n => format!(", {n} tokens"),
            };
            tokens + &of.cost().map_or_else(String::new, |cost| format!(", cost {cost}"))
        };
        let nothing = spent(self.wasted);
        let open = match self.open {
            0 => String::new(),
            n => format!("; {n} open{}", spent(self.pending)),
        };
        Some(format!("{} asked, {} used, {} for nothing{nothing}{open}", self.asked, self.used, self.dropped))
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            asked: self.asked.saturating_add(other.asked),
            used: self.used.saturating_add(other.used),
            dropped: self.dropped.saturating_add(other.dropped),
            wasted: self.wasted.with(other.wasted),
            open: self.open.saturating_add(other.open),
            pending: self.pending.with(other.pending),
        }
    }

    pub(in crate::engine) fn drop_one(&mut self, usage: &Usage) {
        self.dropped = self.dropped.saturating_add(1);
        self.wasted.add(usage);
    }
}
