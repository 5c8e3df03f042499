//! How a server counts tokens, beside how they are estimated before it is asked: a quarter of the characters.

use super::State;
use crate::domain::{ModelRole, PromptRecord};
use serde::{Deserialize, Serialize};

/// Prompts of a role that its server counted itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRatio {
    /// Whose server.
    pub role: ModelRole,
    /// Tokens of these prompts as they were estimated.
    pub estimated: u64,
    /// The same as they were counted.
    pub counted: u64,
}

impl TokenRatio {
    /// Both numbers in use: a count below the estimate makes no prompt longer, for some servers leave out what they have
    /// kept of earlier prompts; and no more than a token a character is believed.
    fn bounded(self) -> (u64, u64) {
        let estimated = self.estimated.max(1);
        (estimated, self.counted.clamp(estimated, estimated.saturating_mul(4)))
    }
}

impl State {
    /// An estimate as the role's server would count it, as far as its counts have shown.
    pub fn to_counted_tokens(&self, asked: ModelRole, estimate: u64) -> u64 {
        let (estimated, counted) = self.token_ratio(asked);
        scale(estimate, counted, estimated)
    }

    /// How many estimated tokens make so many of the role's server.
    pub fn to_estimated_tokens(&self, asked: ModelRole, tokens: u64) -> u64 {
        let (estimated, counted) = self.token_ratio(asked);
        scale(tokens, estimated, counted)
    }

    /// Tokens of a prompt as the role's server counts them. It is held to what was known when it was drafted: what was counted
    /// since makes the next drafts shorter, and this one not too long.
    pub fn counted_tokens(&self, prompt: &PromptRecord) -> u64 {
        let tokens = u64::from(prompt.tokens);
        let then = if prompt.counted_tokens == 0 { tokens } else { u64::from(prompt.counted_tokens) };
        then.min(self.to_counted_tokens(prompt.role, tokens))
    }

    fn token_ratio(&self, asked: ModelRole) -> (u64, u64) {
        self.token_ratios.iter().find(|m| m.role == asked).map_or((1, 1), |m| m.bounded())
    }
}

fn scale(number: u64, by: u64, of: u64) -> u64 {
    let whole = u128::from(number) * u128::from(by) / u128::from(of.max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Usage;

    #[test]
    fn counts_are_added_up_bounded_and_told_from_estimates() {
        let prompt = PromptRecord { role: ModelRole::Actor, tokens: 1000, ..PromptRecord::default() };
        let of = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        let cases: [(&[Usage], u64); 8] = [
            (&[], 1000),
            (&[of(1300)], 1300),
            (&[of(1300), of(1500)], 1400),
            // An earlier answer to the same call had a prompt too: the sum of both was taken for one.
            (&[of(1300).with_earlier(&of(1300))], 1300),
            // Who leaves out what it has kept, or talks nonsense.
            (&[of(10)], 1000),
            (&[of(u64::MAX), of(u64::MAX)], 4000),
            (&[of(0)], 1000),
            (
                &[
                    Usage { estimated: true, ..of(2000) },
                    Usage { counted_by_proxy: true, ..of(2000) },
                    Usage { recorded: true, ..of(2000) },
                ],
                1000,
            ),
        ];
        for (usages, want) in cases {
            let mut state = State::default();
            for usage in usages {
                state.record_token_count(&prompt, usage);
            }
            assert_eq!(state.to_counted_tokens(ModelRole::Actor, 1000), want, "{usages:?}");
            assert_eq!(state.to_counted_tokens(ModelRole::Mentor, 1000), 1000, "another server");
            let room = state.to_estimated_tokens(ModelRole::Actor, 8192);
            assert!(state.to_counted_tokens(ModelRole::Actor, room) <= 8192, "{room}");
        }
    }

    /// The first answer of a round showed that its server counts twice as many: the others, which had failed, were called too
    /// long, though nothing of them had changed.
    #[test]
    fn a_prompt_was_too_long_for_what_was_counted_after_it_was_drafted() {
        let prompt =
            |tokens, counted| PromptRecord { tokens, counted_tokens: counted, ..PromptRecord::default() };
        let mut state = State::default();
        assert_eq!(state.counted_tokens(&prompt(466, 0)), 466);
        state.record_token_count(&prompt(473, 0), &Usage { prompt_tokens: 946, ..Usage::default() });
        assert_eq!(
            state.to_counted_tokens(ModelRole::Actor, 466),
            932,
            "a draft that is made now is held to 800"
        );
        assert_eq!(state.counted_tokens(&prompt(466, 0)), 466, "one that was made before is not");
        assert_eq!(state.counted_tokens(&prompt(466, 600)), 600);
        // What was believed too much is not held against it either.
        assert_eq!(state.counted_tokens(&prompt(466, 1800)), 932);
    }
}
