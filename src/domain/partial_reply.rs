//! What there is of an answer that nobody waited for.

use super::Usage;
use serde::{Deserialize, Serialize};

/// What had come of an answer when its call was broken off. It is no answer: it is kept to be read, and enters no prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialReply {
    /// Its words so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Its reasoning so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// What it cost, an estimate where nobody had counted yet; none: the question had not gone out, or it is not known
    /// (sessions of older versions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl PartialReply {
    /// Nothing of it can be read.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.reasoning.trim().is_empty()
    }

    /// What it cost, in words: `about 40 tokens (estimated)`; none where that is not known.
    pub fn describe_cost(&self) -> Option<String> {
        let usage = self.usage.as_ref()?;
        Some(match (usage.estimated, usage.tokens()) {
            (true, n) => format!("about {n} tokens, estimated"),
            (false, n) => format!("{n} tokens"),
        })
    }
}
