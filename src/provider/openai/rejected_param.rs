//! Finds out which field of a request a server rejected, so that the request is repeated without it.

use super::endpoint::{Endpoint, MaxTokensField};
use super::error;
use super::learned_quirks::{EMPTY_REPLIES_TO_BLAME_STOPS, LearnedQuirks};
use super::request::OPTIONAL_FIELDS;
use super::server_data::RedactedText;
use serde_json::{Map, Value};

/// A change to requests after a rejection or an unusable reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestChange {
    /// Omit the field.
    DropField(String),
    /// Send the token limit in the other field.
    UseOtherMaxField,
    /// Send the prompt as a single user message.
    MergeMessages,
    /// Neither send nor apply newline stops.
    SkipNewlineStop,
    /// Send no stop sequences and cut replies here, because one ended the model's reasoning.
    MatchStopsLocally,
    /// The same, because replies were empty with stop sequences but not without them.
    EmptyWithStops,
}

impl RequestChange {
    /// Returns the change that a rejection asks for, if it names a field that was sent and can be omitted.
    pub(super) fn from_rejection(
        status: u16,
        body: &RedactedText,
        sent: &Map<String, Value>,
        learned: &LearnedQuirks,
    ) -> Option<Self> {
        if !matches!(status, 400 | 422) {
            return None;
        }
        let message = error::error_message(body);
        if error::is_too_long(&message) || body.contains("context_length_exceeded") {
            return None;
        }
        let json = serde_json::from_str::<Value>(body).unwrap_or(Value::Null);
        let can_omit = |name: &str| {
            sent.contains_key(name) && !["model", "messages", "prompt", "stream"].contains(&name)
        };
        // Anthropic's newer models accept only one of the two. Keep the temperature, which the papers specify.
        let either = body.contains("both") && body.contains("temperature") && body.contains("top_p");
        if either && can_omit("top_p") && can_omit("temperature") {
            return Some(Self::DropField("top_p".to_owned()));
        }
        let named = named_fields(&json, &message).into_iter().find(|name| can_omit(name));
        let mentioned = || {
            let optional = OPTIONAL_FIELDS.iter().copied().chain(sent.keys().map(String::as_str));
            let mentions = optional
                .filter(|name| can_omit(name))
                .filter_map(|name| Some((find_rejected_mention(body, name)?, name)));
            mentions.min().map(|(_, name)| name.to_owned())
        };
        if let Some(name) = named.or_else(mentioned) {
            let chat = sent.contains_key("messages");
            return Some(if is_limit_field(&name) && chat && !learned.uses_other_max_field {
                Self::UseOtherMaxField
            } else {
                Self::DropField(name)
            });
        }
        let several = sent.get("messages").and_then(Value::as_array).is_some_and(|m| m.len() > 1);
        let lower = message.to_lowercase();
        let about_roles = lower.contains("role")
            && ["alternate", "system", "unknown", "only"].iter().any(|w| lower.contains(w));
        (several && about_roles && !learned.one_message).then_some(Self::MergeMessages)
    }

    /// Applies the change to the learned quirks.
    pub(super) fn apply(&self, learned: &mut LearnedQuirks) {
        match self {
            Self::DropField(name) => {
                learned.dropped_fields.insert(name.clone());
            }
            Self::UseOtherMaxField => learned.uses_other_max_field = true,
            Self::MergeMessages => learned.one_message = true,
            Self::SkipNewlineStop => learned.skip_newline_stop = true,
            Self::MatchStopsLocally => (learned.match_stops_locally, learned.empty_with_stops) = (true, 0),
            Self::EmptyWithStops => learned.match_stops_locally = true,
        }
    }

    /// Returns whether the change concerns the token limit.
    pub(super) fn is_about_limit(&self) -> bool {
        match self {
            Self::UseOtherMaxField => true,
            Self::DropField(name) => is_limit_field(name),
            _ => false,
        }
    }

    /// Returns the notice for the person; `why` is the server's message.
    pub(super) fn describe(&self, endpoint: &Endpoint, why: &str) -> String {
        let host = endpoint.host();
        let why = why.strip_prefix(host).unwrap_or(why).trim_start();
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        match self {
            Self::DropField(name) => format!("{host} rejected {name}; it is no longer sent there{why}"),
            Self::UseOtherMaxField => {
                let field = endpoint.effective_max_tokens_field();
                format!(
                    "{host} rejected {}; {} is sent there instead{why}",
                    field.name(),
                    field.other().name()
                )
            }
            Self::MergeMessages => {
                format!(
                    "{host} does not accept these message roles; the prompt is sent there as one user message{why}"
                )
            }
            Self::SkipNewlineStop => {
                "the newline stop cut off the action; it is no longer sent to this server".to_owned()
            }
            Self::EmptyWithStops => format!(
                "the model's replies were empty with stop sequences {EMPTY_REPLIES_TO_BLAME_STOPS} times, but not without them; stop sequences are no \
                 longer sent to {host}, replies are truncated locally instead"
            ),
            Self::MatchStopsLocally => format!(
                "the stop sequence ended the model's reasoning before its reply began; stop sequences are no longer sent to {host}, \
                 replies are truncated locally instead"
            ),
        }
    }
}

fn is_limit_field(name: &str) -> bool {
    [MaxTokensField::MaxTokens, MaxTokensField::MaxCompletionTokens].iter().any(|field| field.name() == name)
}

/// Returns the fields that an error names in a structured way (`param`, `loc`). Returns none if there is no message.
fn named_fields(json: &Value, message: &str) -> Vec<String> {
    let param = json.get("error").and_then(|e| e.get("param")).and_then(Value::as_str).map(str::to_owned);
    let details = json.get("detail").and_then(Value::as_array).into_iter().flatten();
    let locations = details
        .filter_map(|d| d.get("loc")?.as_array()?.iter().rev().find_map(|l| l.as_str().map(str::to_owned)));
    let all = param.into_iter().chain(locations);
    // `param` may be a path whose first part is the field.
    all.map(|p| p.split(['.', '[']).next().unwrap_or(&p).to_owned()).filter(|_| !message.is_empty()).collect()
}

/// Returns the position at which a rejection mentions a field. Returns `None` if the text does not mention the field as
/// a word, or does not read like a rejection.
fn find_rejected_mention(text: &str, name: &str) -> Option<usize> {
    const REJECTION_WORDS: &[&str] = &[
        "unsupported",
        "not support",
        "unexpected",
        "unknown",
        "not permitted",
        "not allowed",
        "extra",
        "invalid",
        "must be",
        "only",
        "deprecated",
        "unrecognized",
        "does not",
    ];
    let lower = text.to_lowercase();
    if !REJECTION_WORDS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name)
        .find(|(at, _)| {
            let before = text.get(..*at).and_then(|t| t.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
            !part_of_word(before) && !part_of_word(after)
        })
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::redactor::Redactor;
    use serde_json::json;

    #[test]
    fn rejected_field_is_found_and_no_other() {
        let sent = json!({
            "model": "m", "stream": true, "temperature": 0.0, "top_p": 0.7, "top_k": 50, "max_tokens": 9, "stop": ["\n"], "seed": 1,
            "chat_template_kwargs": {}, "messages": [{"role": "system"}, {"role": "user"}],
        });
        let sent = sent.as_object().unwrap();
        let redact = |body: &str| Redactor::default().redact_body(body.as_bytes());
        let drop = |name: &str| Some(RequestChange::DropField(name.to_owned()));
        #[rustfmt::skip]
        let cases: Vec<(u16, &str, Option<RequestChange>)> = vec![
            (400, r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#, Some(RequestChange::UseOtherMaxField)),
            (400, r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","param":"temperature"}}"#, drop("temperature")),
            (422, r#"{"detail":"Unexpected fields in the request: {'top_k', 'repetition_penalty'}"}"#, drop("top_k")),
            (422, r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#, drop("seed")),
            (400, r#"{"error":{"message":"property 'chat_template_kwargs' is unsupported"}}"#, drop("chat_template_kwargs")),
            (400, "stop: must be shorter", drop("stop")),
            (400, r#"{"error":{"message":"litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\"}}","type":null,"param":null,"code":"400"}}"#, drop("top_p")),
            (400, r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\"}}","provider_name":"Anthropic"}}}"#, drop("top_p")),
            (400, r#"{"error":{"message":"Conversation roles must alternate user/assistant/user"}}"#, Some(RequestChange::MergeMessages)),
            (400, r#"{"error":{"message":"System role not supported"}}"#, Some(RequestChange::MergeMessages)),
            // Not one of our fields, or not the rejection of a field.
            (400, r#"{"error":{"message":"unknown model m"}}"#, None),
            (400, r#"{"error":{"message":"messages must be a list","param":"messages"}}"#, None),
            (400, r#"{"error":{"message":"please stop sending"}}"#, None),
            (400, r#"{"error":{"message":"unsupported: nonstop, seeds and my_top_k"}}"#, None),
            (400, r#"{"error":{"message":"This model's maximum context length is 512 tokens. However, you requested 2065 tokens; only max_tokens","code":"context_length_exceeded"}}"#, None),
            (500, r#"{"error":{"message":"unsupported temperature","param":"temperature"}}"#, None),
            (401, "unsupported temperature", None),
            (400, "", None),
        ];
        for (status, body, want) in cases {
            assert_eq!(
                RequestChange::from_rejection(status, &redact(body), sent, &LearnedQuirks::default()),
                want,
                "{body}"
            );
        }
        // If the other field was tried already, no limit is sent.
        let learned =
            LearnedQuirks { uses_other_max_field: true, one_message: true, ..LearnedQuirks::default() };
        let body = r#"{"error":{"message":"unknown field max_tokens"}}"#;
        assert_eq!(RequestChange::from_rejection(400, &redact(body), sent, &learned), drop("max_tokens"));
        assert_eq!(
            RequestChange::from_rejection(400, &redact("System role not supported"), sent, &learned),
            None
        );
    }
}
