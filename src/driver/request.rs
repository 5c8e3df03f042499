//! Builds a provider's request from a prompt record.

use crate::domain::{ModelRole, Prompt, PromptRecord};
use crate::engine::State;
use crate::prompt;
use crate::provider::{NewlineStopCheck, Request, SamplingOverrides};
use std::sync::Arc;

/// Recognizes a step cut off at a line break: one line is a step, but some models write two.
const NEWLINE_STOP_CHECK: NewlineStopCheck = NewlineStopCheck {
    is_cut_short: prompt::is_cut_short,
    action: |reply, verbs| prompt::read_reply_with(verbs, reply).action,
    may_be_reasoning: prompt::can_be_reasoning,
};

/// Builds the request of a record in a state.
pub(super) fn build_request_in(state: &State, record: &PromptRecord, rendered: Prompt) -> Request {
    let request = build_request(record, rendered, state.settings().accept_truncated);
    Request { action_verbs: Arc::new(prompt::action_verbs(state, record)), ..request }
}

/// Builds the request of a record without its state: what the environment itself lists of its actions isn't known.
pub fn build_request(record: &PromptRecord, rendered: Prompt, accept_truncated: bool) -> Request {
    Request {
        call: record.call,
        role: record.role,
        question: record.question,
        action_verbs: Arc::new(prompt::verbs_of_prompt(&rendered)),
        prompt: Arc::new(rendered),
        seed: record.seed,
        stop: record.own_stops(),
        newline_stop_check: (record.role == ModelRole::Actor && !record.whole_reply)
            .then_some(NEWLINE_STOP_CHECK),
        refresh_cache: false,
        sampling: sampling_overrides(record),
        long_reply_tokens: (record.summary_tokens > 0).then_some(record.summary_tokens),
        accept_truncated,
    }
}

/// Returns the sampling parameters: the person's, and the temperature increase of a retry.
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

    /// Regression: a profile's temperature of 0.6 became 0.2 at the first retry level.
    #[test]
    fn a_retry_raises_the_temperature_without_setting_it() {
        for (level, increase) in [(0, 0.0), (1, 0.2), (3, 0.6), (9, 1.0)] {
            let overrides =
                sampling_overrides(&PromptRecord { temperature_level: level, ..PromptRecord::default() });
            assert_eq!(
                (overrides.temperature, overrides.temperature_increase),
                (None, increase),
                "level {level}"
            );
        }
    }
}
