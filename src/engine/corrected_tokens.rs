//! Corrects our token estimate of a prompt with the counts that its server reports.

use super::State;
use crate::domain::{ModelRole, PromptRecord};

impl State {
    /// Converts an estimate to the count that the role's server is expected to report.
    pub fn to_corrected_tokens(&self, role: ModelRole, estimate: u64) -> u64 {
        let (estimated, counted) = self.token_ratio(role);
        scale(estimate, counted, estimated)
    }

    /// Converts a count by the role's server to the estimate that corresponds to it.
    pub fn to_estimated_tokens(&self, role: ModelRole, tokens: u64) -> u64 {
        let (estimated, counted) = self.token_ratio(role);
        scale(tokens, estimated, counted)
    }

    /// Returns the count that the role's server is expected to report for a drafted prompt. This never exceeds the
    /// count expected at the time of the draft, because the draft was made to fit that one: later reports make only
    /// later drafts shorter.
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
    fn server_counts_are_summed_and_bounded_and_other_counts_are_ignored() {
        let prompt = PromptRecord { role: ModelRole::Actor, tokens: 1000, ..PromptRecord::default() };
        let prompt_usage = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        let cases: [(&[Usage], u64); 8] = [
            (&[], 1000),
            (&[prompt_usage(1300)], 1300),
            (&[prompt_usage(1300), prompt_usage(1500)], 1400),
            // Regression: the usage also includes the prompt of an earlier reply to the same call, and the sum of both
            // prompts was taken for the count of one.
            (&[prompt_usage(1300).with_earlier(&prompt_usage(1300))], 1300),
            // A server that doesn't count cached tokens, and one that reports absurd counts.
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
                state.update_token_ratio(&prompt, usage);
            }
            assert_eq!(state.to_corrected_tokens(ModelRole::Actor, 1000), expected, "{usages:?}");
            assert_eq!(state.to_corrected_tokens(ModelRole::Mentor, 1000), 1000, "only the actor's server");
            let longest = state.to_estimated_tokens(ModelRole::Actor, 8192);
            assert!(state.to_corrected_tokens(ModelRole::Actor, longest) <= 8192, "{longest}");
        }
    }

    /// Regression: the first reply of a round showed that the server counts twice as many tokens as estimated. The
    /// other calls of the round, which had failed, were then rejected as too long although their prompts hadn't
    /// changed.
    #[test]
    fn later_token_counts_do_not_make_an_earlier_draft_too_long() {
        let prompt = |tokens, corrected| PromptRecord {
            tokens,
            corrected_tokens: corrected,
            ..PromptRecord::default()
        };
        let mut state = State::default();
        assert_eq!(state.corrected_tokens(&prompt(466, 0)), 466);
        state.update_token_ratio(&prompt(473, 0), &Usage { prompt_tokens: 946, ..Usage::default() });
        assert_eq!(
            state.to_corrected_tokens(ModelRole::Actor, 466),
            932,
            "a new draft's estimate is corrected with the counts so far"
        );
        assert_eq!(state.corrected_tokens(&prompt(466, 0)), 466, "an earlier draft keeps its own count");
        assert_eq!(state.corrected_tokens(&prompt(466, 600)), 600);
        // The draft's own count was too high, so the current correction applies.
        assert_eq!(state.corrected_tokens(&prompt(466, 1800)), 932);
    }
}
