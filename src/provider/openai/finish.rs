//! Classifies the `finish_reason` of a reply; every server has its own words.

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// The model ended it, or a stop sequence did.
    Complete,
    /// The model called a tool, instead of a reply or after it.
    ToolCall,
    /// The token limit, or the end of the model's context.
    Length,
    /// A content filter of the server.
    Filter,
    /// The server interrupted it.
    Interrupted,
    /// An unknown reason: the reply may be complete or not.
    Unknown,
}

/// The words of finish reasons by meaning. The first row that contains any word of the reason wins, so that a reason
/// that also names a fault (`stop_timeout`) does not count as complete.
const WORDS: &[(Finish, &[&str])] = &[
    // OpenAI, Gemini (`SAFETY`, `RECITATION`, `PROHIBITED_CONTENT`, `SPII`), Anthropic, Cohere, Bedrock, GLM.
    (
        Finish::Filter,
        &[
            "filter",
            "filtered",
            "safety",
            "refusal",
            "refused",
            "recitation",
            "blocklist",
            "blocked",
            "prohibited",
            "spii",
            "guardrail",
            "moderation",
            "policy",
            "sensitive",
            "toxic",
        ],
    ),
    (Finish::ToolCall, &["tool", "tools", "function"]),
    // DeepSeek, OpenRouter, vLLM, SGLang, TensorRT-LLM, Cohere, GLM.
    (
        Finish::Interrupted,
        &[
            "insufficient",
            "error",
            "abort",
            "aborted",
            "cancel",
            "canceled",
            "cancelled",
            "interrupted",
            "preempted",
            "timeout",
            "time",
            "fail",
            "failed",
            "failure",
        ],
    ),
    // OpenAI, Anthropic, Gemini, Mistral (`model_length`), older servers of llama.cpp (`limit`).
    (Finish::Length, &["length", "max", "limit", "context"]),
    // OpenAI, Anthropic (`end_turn`), TGI and Together (`eos_token`, `eos`), Cohere, TensorRT-LLM (`end_id`,
    // `stop_words`).
    (Finish::Complete, &["stop", "eos", "end", "complete", "completed", "finished", "done"]),
];

impl Finish {
    /// Classifies a reason, in any case and style.
    pub(super) fn parse(reason: &str) -> Self {
        // Split camel case: `maxTokens` is two words.
        let mut words = String::new();
        let mut last = ' ';
        for c in reason.chars() {
            if last.is_lowercase() && c.is_uppercase() {
                words.push(' ');
            }
            words.extend(c.to_lowercase());
            last = c;
        }
        let has = |word: &&str| words.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word);
        let row = WORDS.iter().find(|(_, row)| row.iter().any(has));
        row.map_or(Self::Unknown, |(finish, _)| *finish)
    }

    /// Returns whether nothing was cut off.
    pub(super) fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::ToolCall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: all reasons but `length`, `max_tokens` and `content_filter` counted as complete.
    #[test]
    fn finish_reasons_are_classified() {
        let cases: &[(Finish, &[&str])] = &[
            (
                Finish::Complete,
                &[
                    "stop",
                    "STOP",
                    "eos",
                    "eos_token",
                    "end_turn",
                    "stop_sequence",
                    "COMPLETE",
                    "end_id",
                    "FINISH_REASON_STOP",
                ],
            ),
            (Finish::ToolCall, &["tool_calls", "tool_use", "function_call", "MALFORMED_FUNCTION_CALL"]),
            (
                Finish::Length,
                &[
                    "length",
                    "MAX_TOKENS",
                    "model_length",
                    "max_output_tokens",
                    "model_context_window_exceeded",
                    "limit",
                    "maxTokens",
                ],
            ),
            (
                Finish::Filter,
                &[
                    "content_filter",
                    "SAFETY",
                    "safety",
                    "refusal",
                    "PROHIBITED_CONTENT",
                    "guardrail_intervened",
                    "contentFilter",
                ],
            ),
            (
                Finish::Interrupted,
                &[
                    "insufficient_system_resource",
                    "error",
                    "ERROR",
                    "abort",
                    "cancelled",
                    "network_error",
                    "stop_timeout",
                ],
            ),
            (Finish::Unknown, &["unknown", "OTHER", "load", "pause_turn", "nonstop", "7"]),
        ];
        for (want, reasons) in cases {
            for reason in *reasons {
                assert_eq!(Finish::parse(reason), *want, "{reason}");
            }
        }
    }
}
