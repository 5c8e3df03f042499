//! How a server counts tokens, beside how they are estimated before it is asked: a quarter of the characters.

use super::State;
use crate::domain::Asked;
use serde::{Deserialize, Serialize};

/// Prompts of a role that its server counted itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// Whose server.
    pub asked: Asked,
    /// Tokens of these prompts as they were estimated.
    pub estimated: u64,
    /// The same as they were counted.
    pub counted: u64,
}

impl Measure {
    /// Both numbers in use: a count below the estimate makes no prompt longer, for some servers leave out what they have
    /// kept of earlier prompts; and no more than a token a character is believed.
    fn bounded(self) -> (u64, u64) {
        let estimated = self.estimated.max(1);
        (estimated, self.counted.clamp(estimated, estimated.saturating_mul(4)))
    }
}

impl State {
    /// An estimate as the role's server would count it, as far as its counts have shown.
    pub fn as_counted(&self, asked: Asked, estimate: u64) -> u64 {
        let (estimated, counted) = self.measured(asked);
        scaled(estimate, counted, estimated)
    }

    /// How many estimated tokens make so many of the role's server.
    pub fn as_estimated(&self, asked: Asked, tokens: u64) -> u64 {
        let (estimated, counted) = self.measured(asked);
        scaled(tokens, estimated, counted)
    }

    fn measured(&self, asked: Asked) -> (u64, u64) {
        self.measures.iter().find(|m| m.asked == asked).map_or((1, 1), |m| m.bounded())
    }
}

fn scaled(number: u64, by: u64, of: u64) -> u64 {
    let whole = u128::from(number) * u128::from(by) / u128::from(of.max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PromptRecord, Usage};

    #[test]
    fn counts_are_added_up_bounded_and_told_from_estimates() {
        let prompt = PromptRecord { asked: Asked::Actor, tokens: 1000, ..PromptRecord::default() };
        let of = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        let cases: [(&[Usage], u64); 7] = [
            (&[], 1000),
            (&[of(1300)], 1300),
            (&[of(1300), of(1500)], 1400),
            // Who leaves out what it has kept, or talks nonsense.
            (&[of(10)], 1000),
            (&[of(u64::MAX), of(u64::MAX)], 4000),
            (&[of(0)], 1000),
            (
                &[
                    Usage { estimated: true, ..of(2000) },
                    Usage { proxy: true, ..of(2000) },
                    Usage { recorded: true, ..of(2000) },
                ],
                1000,
            ),
        ];
        for (usages, want) in cases {
            let mut state = State::default();
            for usage in usages {
                state.measure(&prompt, usage);
            }
            assert_eq!(state.as_counted(Asked::Actor, 1000), want, "{usages:?}");
            assert_eq!(state.as_counted(Asked::Mentor, 1000), 1000, "another server");
            let room = state.as_estimated(Asked::Actor, 8192);
            assert!(state.as_counted(Asked::Actor, room) <= 8192, "{room}");
        }
    }
}
