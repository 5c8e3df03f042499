//! Partial replies of cancelled calls.

use super::Usage;
use serde::{Deserialize, Serialize};

/// A partial reply is what had arrived of a reply when its call was cancelled. It is kept for reading only and enters
/// no prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialReply {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Tokens and cost, estimated unless the server had reported them. `None` if the request wasn't sent, or if nothing
    /// is known (sessions of older versions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl PartialReply {
    /// Returns whether it has neither text nor reasoning.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.reasoning.trim().is_empty()
    }

    /// Describes the cost, as in `about 40 tokens, estimated`. Returns `None` if it isn't known.
    pub fn describe_cost(&self) -> Option<String> {
        let usage = self.usage.as_ref()?;
        Some(match (usage.estimated, usage.tokens()) {
            (true, n) => format!("about {n} tokens, estimated"),
            (false, n) => format!("{n} tokens"),
        })
    }
}
