//! How a server's token counts compare with our estimates (one token per four characters).

use crate::domain::ModelRole;
use serde::{Deserialize, Serialize};

/// Token sums over those prompts of a role whose tokens the server counted itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRatio {
    pub role: ModelRole,
    /// Our estimates of these prompts.
    pub estimated: u64,
    /// The server's counts of them.
    pub counted: u64,
}

impl TokenRatio {
    /// Returns (estimated, counted), with `counted` limited to plausible values: at least the estimate, because some
    /// servers don't count cached tokens, and at most one token per character.
    pub(super) fn bounded(self) -> (u64, u64) {
        let estimated = self.estimated.max(1);
        // The estimate is a quarter of the characters.
        (estimated, self.counted.clamp(estimated, estimated.saturating_mul(4)))
    }
}
