//! What calls to models cost: of one call, and of many.

use serde::{Deserialize, Serialize};

/// What calls cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own in the journal")]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the reply.
    pub reply_tokens: u64,
    /// The numbers are our own estimate.
    #[serde(default)]
    pub estimated: bool,
    /// Milliseconds from request to reply.
    #[serde(default)]
    pub millis: u64,
    /// Of the reply's tokens, those of reasoning, where the server tells them apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// The numbers were counted by a proxy in between, not by who answered.
    #[serde(default, skip_serializing_if = "is_false")]
    #[serde(rename = "proxy")]
    pub counted_by_proxy: bool,
    /// The reply came out of our own cache; it cost nothing now.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// What it cost by the prices of the configuration, in billionths of their unit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_nano: u64,
    /// The reply was taken from a recording; nobody was asked and it cost nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub recorded: bool,
    /// Of all the tokens above, those of earlier answers to the same call that were of no use. What is said of the numbers
    /// (`estimated`, `proxy`) is said of the last answer's.
    #[serde(default, skip_serializing_if = "EarlierUsage::is_empty")]
    pub earlier: EarlierUsage,
}

/// What answers cost in tokens that a call had before its last one, kept apart by who counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierUsage {
    /// Tokens of their prompts, whoever counted them.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "prompt")]
    pub prompt_tokens: u64,
    /// Tokens that the server reported.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reported: u64,
    /// Tokens that a proxy in between counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub proxy: u64,
    /// Tokens that nobody counted: our estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated: u64,
}

/// Tokens of several calls, kept apart by who counted them, and what the calls cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Tokens that the server reported.
    #[serde(default)]
    pub reported: u64,
    /// Tokens that a proxy in between counted.
    #[serde(default)]
    pub proxy: u64,
    /// Tokens that nobody counted: our estimate.
    #[serde(default)]
    pub estimated: u64,
    /// Tokens of replies that came out of our own cache; they were paid for before.
    #[serde(default)]
    pub cached: u64,
    /// Tokens of replies that were taken from a recording.
    #[serde(default)]
    pub recorded: u64,
    /// What the calls cost by the prices of the configuration, in billionths of their unit.
    #[serde(default)]
    pub cost_nano: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(switch: &bool) -> bool {
    !switch
}

impl Usage {
    /// Prompt and reply together.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.reply_tokens)
    }

    /// Tokens of the last answer's prompt.
    pub fn last_prompt_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_sub(self.earlier.prompt_tokens)
    }

    /// Nothing but earlier answers is counted: the last one is still to come, or never came.
    pub fn has_only_earlier(&self) -> bool {
        !self.earlier.is_empty() && self.tokens() <= self.earlier.tokens()
    }

    /// All that was counted before is of earlier answers from here on.
    #[must_use]
    pub fn with_earlier(self, before: &Self) -> Self {
        let mut apart = TokenCounts::default();
        apart.add(before);
        let (this, sum) = (self.earlier, |a: u64, b: u64| a.saturating_add(b));
        Self {
            prompt_tokens: sum(self.prompt_tokens, before.prompt_tokens),
            reply_tokens: sum(self.reply_tokens, before.reply_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, before.reasoning_tokens),
            cost_nano: sum(self.cost_nano, before.cost_nano),
            earlier: EarlierUsage {
                prompt_tokens: sum(this.prompt_tokens, before.prompt_tokens),
                reported: sum(this.reported, apart.reported),
                proxy: sum(this.proxy, apart.proxy),
                estimated: sum(this.estimated, apart.estimated),
            },
            ..self
        }
    }
}

impl EarlierUsage {
    /// There was no earlier answer.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All tokens, whoever counted them.
    pub fn tokens(&self) -> u64 {
        self.reported.saturating_add(self.proxy).saturating_add(self.estimated)
    }
}

impl TokenCounts {
    /// Adds a call.
    pub fn add(&mut self, usage: &Usage) {
        let add = |place: &mut u64, tokens: u64| *place = place.saturating_add(tokens);
        let (all, earlier) = (usage.tokens(), &usage.earlier);
        let last = all.saturating_sub(earlier.tokens());
        // Who counted the earlier answers then is no matter where nobody was asked now.
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

    /// Both together.
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

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All tokens, whoever counted them.
    pub fn tokens(&self) -> u64 {
        let sum = |a: u64, b: u64| a.saturating_add(b);
        sum(sum(self.reported, self.proxy), sum(self.estimated, sum(self.cached, self.recorded)))
    }

    /// Who counted how many tokens, in words; empty where there are none.
    pub fn describe(&self) -> String {
        let parts = [
            (self.reported, "reported"),
            (self.proxy, "by a proxy"),
            (self.estimated, "estimated"),
            (self.cached, "from the cache"),
            (self.recorded, "from a recording"),
        ];
        let told = parts.iter().filter(|(tokens, _)| *tokens > 0);
        told.map(|(tokens, who)| format!("{tokens} {who}")).collect::<Vec<_>>().join(", ")
    }

    /// The cost as a number of its unit; none where there is none, as without prices.
    pub fn format_cost(&self) -> Option<String> {
        (self.cost_nano > 0).then(|| format_price(self.cost_nano))
    }
}

/// Billionths of a unit as a number of it: what is small keeps three digits, what is large two decimals.
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
    fn who_counted_what_is_kept_apart() {
        let of = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        let mut all = TokenCounts::default();
        assert_eq!((all.describe().as_str(), all.format_cost(), all.is_empty()), ("", None, true));
        for usage in [
            Usage { cost_nano: 1_500, ..of(1) },
            Usage { counted_by_proxy: true, cost_nano: 500, ..of(2) },
            Usage { estimated: true, ..of(4) },
            // What was estimated when it was first asked is still a reply of the cache now.
            Usage { cached: true, estimated: true, ..of(8) },
            Usage { recorded: true, estimated: true, ..of(16) },
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
    fn prices_are_read_at_any_size() {
        let cases =
            [(12_340_000_000, "12.34"), (12_345_678, "0.0123"), (123_456, "0.000123"), (5, "0.000000005")];
        for (nano, told) in cases {
            assert_eq!(format_price(nano), told);
        }
    }
}
