//! How a server's token counts compare with our estimate before a request, a quarter of the characters.

use super::State;
use crate::domain::{ModelRole, PromptRecord};
use serde::{Deserialize, Serialize};

/// Sums over the prompts of a role that its server counted itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRatio {
    pub role: ModelRole,
    /// Our estimates of these prompts.
    pub estimated: u64,
    /// The server's counts of them.
    pub counted: u64,
}

impl TokenRatio {
    /// Returns both sums, with the count limited to plausible values. A count below the estimate is raised to it,
    /// because some servers leave out tokens they have cached; a count above one token per character is lowered.
    fn bounded(self) -> (u64, u64) {
        let estimated = self.estimated.max(1);
        (estimated, self.counted.clamp(estimated, estimated.saturating_mul(4)))
    }
}

impl State {
    /// Converts an estimate to the count expected from the role's server.
    pub fn to_corrected_tokens(&self, role: ModelRole, estimate: u64) -> u64 {
        let (estimated, counted) = self.token_ratio(role);
        scale(estimate, counted, estimated)
    }

    /// Converts a count of the role's server to an estimate.
    pub fn to_estimated_tokens(&self, role: ModelRole, tokens: u64) -> u64 {
        let (estimated, counted) = self.token_ratio(role);
        scale(tokens, estimated, counted)
    }

    /// Returns the expected count of a prompt on the role's server. Counts learnt after it was drafted make later
    /// drafts shorter, but don't make this one too long.
    pub fn corrected_tokens(&self, prompt: &PromptRecord) -> u64 {
        let tokens = u64::from(prompt.tokens);
        let at_draft = if prompt.corrected_tokens == 0 { tokens } else { u64::from(prompt.corrected_tokens) };
        at_draft.min(self.to_corrected_tokens(prompt.role, tokens))
    }

    fn token_ratio(&self, role: ModelRole) -> (u64, u64) {
        self.token_ratios.iter().find(|m| m.role == role).map_or((1, 1), |m| m.bounded())
    }
}

fn scale(number: u64, numerator: u64, denominator: u64) -> u64 {
    let whole = u128::from(number) * u128::from(numerator) / u128::from(denominator.max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Usage;

    #[test]
    fn counts_are_summed_bounded_and_separate_from_estimates() {
        let prompt = PromptRecord { role: ModelRole::Actor, tokens: 1000, ..PromptRecord::default() };
        let prompt_usage = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        let cases: [(&[Usage], u64); 8] = [
            (&[], 1000),
            (&[prompt_usage(1300)], 1300),
            (&[prompt_usage(1300), prompt_usage(1500)], 1400),
            // Regression: the usage includes the prompt of an earlier reply to the same call, and the sum was taken for
            // one prompt.
            (&[prompt_usage(1300).with_earlier(&prompt_usage(1300))], 1300),
            // Servers that leave out cached tokens, or report absurd counts.
            (&[prompt_usage(10)], 1000),
            (&[prompt_usage(u64::MAX), prompt_usage(u64::MAX)], 4000),
            (&[prompt_usage(0)], 1000),
            (
                &[
                    Usage { estimated: true, ..prompt_usage(2000) },
                    Usage { counted_by_proxy: true, ..prompt_usage(2000) },
                    Usage { recorded: true, ..prompt_usage(2000) },
                ],
                1000,
            ),
        ];
        for (usages, expected) in cases {
            let mut state = State::default();
            for usage in usages {
                state.record_token_count(&prompt, usage);
            }
            assert_eq!(state.to_corrected_tokens(ModelRole::Actor, 1000), expected, "{usages:?}");
            assert_eq!(state.to_corrected_tokens(ModelRole::Mentor, 1000), 1000, "another server");
            let longest = state.to_estimated_tokens(ModelRole::Actor, 8192);
            assert!(state.to_corrected_tokens(ModelRole::Actor, longest) <= 8192, "{longest}");
        }
    }

    /// Regression: the first reply of a round showed that its server counts twice as many tokens; the other calls,
    /// which had failed, were then rejected as too long although their prompts hadn't changed.
    #[test]
    fn later_token_counts_do_not_make_an_earlier_draft_too_long() {
        let prompt = |tokens, corrected| PromptRecord {
            tokens,
            corrected_tokens: corrected,
            ..PromptRecord::default()
        };
        let mut state = State::default();
        assert_eq!(state.corrected_tokens(&prompt(466, 0)), 466);
        state.record_token_count(&prompt(473, 0), &Usage { prompt_tokens: 946, ..Usage::default() });
        assert_eq!(
            state.to_corrected_tokens(ModelRole::Actor, 466),
            932,
            "a new draft is estimated with the counts so far"
        );
        assert_eq!(state.corrected_tokens(&prompt(466, 0)), 466, "an earlier draft keeps its estimate");
        assert_eq!(state.corrected_tokens(&prompt(466, 600)), 600);
        // If the correction at the time of the draft was too high, the current one is used.
        assert_eq!(state.corrected_tokens(&prompt(466, 1800)), 932);
    }
}
