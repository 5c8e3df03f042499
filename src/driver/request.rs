//! What a provider is asked, made of a prompt's record.

use crate::domain::{ModelRole, Prompt, PromptRecord};
use crate::prompt;
use crate::provider::{NewlineStopCheck, Request, SamplingOverrides};
use std::sync::Arc;

/// One line is a step, and some models take two for it.
const NEWLINE_STOP_CHECK: NewlineStopCheck = NewlineStopCheck {
    is_cut_short: prompt::is_cut_short,
    action: |reply| prompt::read_reply(reply).action,
    may_be_reasoning: prompt::can_be_reasoning,
};

/// The question of a record.
pub(super) fn build_request(record: &PromptRecord, rendered: Prompt, accept_truncated: bool) -> Request {
    Request {
        call: record.call,
        role: record.role,
        prompt: Arc::new(rendered),
        seed: record.seed,
        // One line is a step; a mentor may take as many as it needs.
        stop: if record.role == ModelRole::Actor { vec!["\n".to_owned()] } else { Vec::new() },
        newline_stop_check: (record.role == ModelRole::Actor).then_some(NEWLINE_STOP_CHECK),
        refresh_cache: false,
        sampling: sampling_overrides(record),
        accept_truncated,
    }
}

/// How a question is sampled: as a person wants it, and warmer by the ladder.
fn sampling_overrides(record: &PromptRecord) -> SamplingOverrides {
    SamplingOverrides {
        temperature_increase: record.temperature_increase(),
        user_fields: record.sampling.clone(),
        ..SamplingOverrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a person's temperature was known here: a profile's 0.6 became 0.2 on the first rung.
    #[test]
    fn the_ladder_says_how_much_warmer_and_never_a_temperature() {
        for (rung, warmer) in [(0, 0.0), (1, 0.2), (3, 0.6), (9, 1.0)] {
            let wish =
                sampling_overrides(&PromptRecord { temperature_level: rung, ..PromptRecord::default() });
            assert_eq!((wish.temperature, wish.temperature_increase), (None, warmer), "rung {rung}");
        }
    }
}
