//! Token counts and cost of calls to models.

use serde::{Deserialize, Serialize};

/// Usage is what one call to a model took: tokens, time and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own in the journal")]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the reply.
    pub reply_tokens: u64,
    /// Whether the token counts are our own estimate.
    #[serde(default)]
    pub estimated: bool,
    /// Milliseconds from request to reply.
    #[serde(default)]
    pub millis: u64,
    /// Reasoning tokens among the reply's, if the server reports them separately.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Whether a proxy counted the tokens, rather than the server that replied.
    #[serde(default, skip_serializing_if = "is_false")]
    #[serde(rename = "proxy")]
    pub counted_by_proxy: bool,
    /// Whether the reply came from our own cache and cost nothing now.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// Cost by the prices of the configuration, in billionths of their currency unit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_nano: u64,
    /// Whether the reply was taken from a recording; no model was called and it cost nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recorded: bool,
    /// The part of the token counts above that was spent on earlier, unusable replies to the same call. The flags (`estimated`,
    /// `counted_by_proxy`) describe the counts of the last reply only.
    #[serde(default, skip_serializing_if = "EarlierUsage::is_empty")]
    pub earlier: EarlierUsage,
}

/// Earlier usage is the tokens spent on the unusable replies before a call's last one, by who counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierUsage {
    /// Tokens of their prompts, whoever counted them.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "prompt")]
    pub prompt_tokens: u64,
    /// Tokens that the server reported.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reported: u64,
    /// Tokens that a proxy counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub proxy: u64,
    /// Tokens that we estimated because nobody counted them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated: u64,
}

/// Token counts are the tokens of several calls, by who counted them, and the cost of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Tokens that the server reported.
    #[serde(default)]
    pub reported: u64,
    /// Tokens that a proxy counted.
    #[serde(default)]
    pub proxy: u64,
    /// Tokens that we estimated because nobody counted them.
    #[serde(default)]
    pub estimated: u64,
    /// Tokens of replies from our own cache, which were paid for earlier.
    #[serde(default)]
    pub cached: u64,
    /// Tokens of replies from a recording.
    #[serde(default)]
    pub recorded: u64,
    /// Cost by the prices of the configuration, in billionths of their currency unit.
    #[serde(default)]
    pub cost_nano: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(switch: &bool) -> bool {
    !switch
}

impl Usage {
    /// Returns the tokens of prompt and reply.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.reply_tokens)
    }

    /// Returns the prompt tokens of the last reply.
    pub fn last_prompt_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_sub(self.earlier.prompt_tokens)
    }

    /// Returns whether only earlier replies are counted, because the last one hasn't arrived.
    pub fn has_only_earlier(&self) -> bool {
        !self.earlier.is_empty() && self.tokens() <= self.earlier.tokens()
    }

    /// Adds the usage of earlier replies to the same call.
    #[must_use]
    pub fn with_earlier(self, before: &Self) -> Self {
        let mut counts = TokenCounts::default();
        counts.add(before);
        let (earlier, sum) = (self.earlier, |a: u64, b: u64| a.saturating_add(b));
        Self {
            prompt_tokens: sum(self.prompt_tokens, before.prompt_tokens),
            reply_tokens: sum(self.reply_tokens, before.reply_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, before.reasoning_tokens),
            cost_nano: sum(self.cost_nano, before.cost_nano),
            earlier: EarlierUsage {
                prompt_tokens: sum(earlier.prompt_tokens, before.prompt_tokens),
                reported: sum(earlier.reported, counts.reported),
                proxy: sum(earlier.proxy, counts.proxy),
                estimated: sum(earlier.estimated, counts.estimated),
            },
            ..self
        }
    }
}

impl EarlierUsage {
    /// Returns whether there were no earlier replies.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns all tokens, whoever counted them.
    pub fn tokens(&self) -> u64 {
        self.reported.saturating_add(self.proxy).saturating_add(self.estimated)
    }
}

impl TokenCounts {
    /// Adds the usage of a call.
    pub fn add(&mut self, usage: &Usage) {
        let add = |count: &mut u64, tokens: u64| *count = count.saturating_add(tokens);
        let (all, earlier) = (usage.tokens(), &usage.earlier);
        let last = all.saturating_sub(earlier.tokens());
        // For a cached or recorded reply it doesn't matter who counted the earlier replies.
        match usage {
            Usage { recorded: true, .. } => add(&mut self.recorded, all),
            Usage { cached: true, .. } => add(&mut self.cached, all),
            Usage { estimated: true, .. } => add(&mut self.estimated, last),
            Usage { counted_by_proxy: true, .. } => add(&mut self.proxy, last),
            _ => add(&mut self.reported, last),
        }
        if !usage.recorded && !usage.cached {
            add(&mut self.reported, earlier.reported);
            add(&mut self.proxy, earlier.proxy);
            add(&mut self.estimated, earlier.estimated);
        }
        self.cost_nano = self.cost_nano.saturating_add(usage.cost_nano);
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            reported: self.reported.saturating_add(other.reported),
            proxy: self.proxy.saturating_add(other.proxy),
            estimated: self.estimated.saturating_add(other.estimated),
            cached: self.cached.saturating_add(other.cached),
            recorded: self.recorded.saturating_add(other.recorded),
            cost_nano: self.cost_nano.saturating_add(other.cost_nano),
        }
    }

    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns all tokens, whoever counted them.
    pub fn tokens(&self) -> u64 {
        let sum = |a: u64, b: u64| a.saturating_add(b);
        sum(sum(self.reported, self.proxy), sum(self.estimated, sum(self.cached, self.recorded)))
    }

    /// Lists how many tokens each source counted; empty if there are none.
    pub fn describe(&self) -> String {
        let parts = [
            (self.reported, "reported"),
            (self.proxy, "by a proxy"),
            (self.estimated, "estimated"),
            (self.cached, "from the cache"),
            (self.recorded, "from a recording"),
        ];
        let counted = parts.iter().filter(|(tokens, _)| *tokens > 0);
        counted.map(|(tokens, source)| format!("{tokens} {source}")).collect::<Vec<_>>().join(", ")
    }

    /// Formats the cost in currency units. Returns `None` if it is 0, as without configured prices.
    pub fn format_cost(&self) -> Option<String> {
        (self.cost_nano > 0).then(|| format_price(self.cost_nano))
    }
}

/// Formats billionths of a currency unit as units, with more decimals the smaller the amount.
pub fn format_price(nano: u64) -> String {
    let units = nano as f64 / 1e9;
    let decimals = match units {
        u if u >= 1.0 => 2,
        u if u >= 0.01 => 4,
        u if u >= 0.0001 => 6,
        _ => 9,
    };
    format!("{units:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_counts_are_kept_separately_by_source() {
        let with_prompt_tokens = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        let mut all = TokenCounts::default();
        assert_eq!((all.describe().as_str(), all.format_cost(), all.is_empty()), ("", None, true));
        for usage in [
            Usage { cost_nano: 1_500, ..with_prompt_tokens(1) },
            Usage { counted_by_proxy: true, cost_nano: 500, ..with_prompt_tokens(2) },
            Usage { estimated: true, ..with_prompt_tokens(4) },
            // A cached reply counts as cached even if its tokens were estimated originally.
            Usage { cached: true, estimated: true, ..with_prompt_tokens(8) },
            Usage { recorded: true, estimated: true, ..with_prompt_tokens(16) },
        ] {
            all.add(&usage);
        }
        assert_eq!(all.tokens(), 31);
        assert_eq!(
            all.describe(),
            "1 reported, 2 by a proxy, 4 estimated, 8 from the cache, 16 from a recording"
        );
        assert_eq!(all.format_cost().unwrap(), "0.000002000");
        assert_eq!(all.plus(all).tokens(), 62);
    }

    #[test]
    fn prices_of_any_size_are_formatted() {
        let cases =
            [(12_340_000_000, "12.34"), (12_345_678, "0.0123"), (123_456, "0.000123"), (5, "0.000000005")];
        for (nano, formatted) in cases {
            assert_eq!(format_price(nano), formatted);
        }
    }
}
