//! What a provider is asked, made of a prompt's record.

use crate::domain::{ModelRole, Prompt, PromptRecord};
use crate::prompt;
use crate::provider::{Cut, Request, SamplingWish};
use std::sync::Arc;

/// One line is a step, and some models take two for it.
const CUT: Cut = Cut {
    short: prompt::cut_short,
    action: |reply| prompt::read(reply).action,
    may_be_reasoning: prompt::may_be_reasoning,
};

/// The question of a record.
pub(super) fn request(record: &PromptRecord, rendered: Prompt, accept_truncated: bool) -> Request {
    Request {
        call: record.call,
        asked: record.role,
        prompt: Arc::new(rendered),
        seed: record.seed,
        // One line is a step; a mentor may take as many as it needs.
        stop: if record.role == ModelRole::Actor { vec!["\n".to_owned()] } else { Vec::new() },
        cut: (record.role == ModelRole::Actor).then_some(CUT),
        anew: false,
        wish: wish(record),
        accept_truncated,
    }
}

/// How a question is sampled: as a person wants it, and warmer by the ladder.
fn wish(record: &PromptRecord) -> SamplingWish {
    SamplingWish {
        warmer: record.temperature_increase(),
        chosen: record.sampling.clone(),
        ..SamplingWish::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a person's temperature was known here: a profile's 0.6 became 0.2 on the first rung.
    #[test]
    fn the_ladder_says_how_much_warmer_and_never_a_temperature() {
        for (rung, warmer) in [(0, 0.0), (1, 0.2), (3, 0.6), (9, 1.0)] {
            let wish = wish(&PromptRecord { temperature_level: rung, ..PromptRecord::default() });
            assert_eq!((wish.temperature, wish.warmer), (None, warmer), "rung {rung}");
        }
    }
}
