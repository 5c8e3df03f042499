//! Error responses of a server: finds their message, classifies them, and advises the person.

use super::endpoint::{Auth, Endpoint};
use super::secret::KeySource;
use super::server_data::RedactedText;
use crate::provider::{FailureKind, ProviderError};
use crate::text;
use serde_json::Value;

/// Maximum length of a server's message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Returns the message of an error body: `error.message`, `error`, `detail`, `message`, the title of an HTML page, or
/// else the beginning of the body.
pub(super) fn error_message(body: &RedactedText) -> String {
    match serde_json::from_str::<Value>(body.trim()) {
        Ok(value) => json_error_message(&value),
        Err(_) => one_line_excerpt(&page_title(body)),
    }
}

/// Returns the message of an error in JSON.
pub(super) fn json_error_message(value: &Value) -> String {
    // Some servers wrap the object in a list, some put the error inside the choice.
    let value = value.get(0).unwrap_or(value);
    let inner = || value.get("choices")?.get(0)?.get("error");
    let error = value.get("error").filter(|e| !e.is_null()).or_else(inner);
    let candidates = [
        error.and_then(|e| e.get("message")),
        error.filter(|e| e.is_string()),
        value.get("detail"),
        value.get("message"),
    ];
    let found = candidates.into_iter().flatten().map(message_text).find(|w| !w.trim().is_empty());
    let mut found = found.unwrap_or_else(|| error.unwrap_or(value).to_string());
    // The message of a router says little; the message of its upstream server is in `metadata.raw`.
    if let Some(raw) = error.and_then(|e| e.get("metadata")?.get("raw")) {
        found = format!("{found}: {}", message_text(raw));
    }
    one_line_excerpt(&found)
}

/// Returns the text of a message value; the elements of a list are joined with `; `.
fn message_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(validation_message).collect::<Vec<_>>().join("; "),
        Value::Object(_) => {
            value.get("message").or_else(|| value.get("msg")).map_or_else(|| value.to_string(), message_text)
        }
        other => other.to_string(),
    }
}

/// Formats one problem of a validator as `location: message`.
fn validation_message(value: &Value) -> String {
    let location: Vec<String> =
        value.get("loc").and_then(Value::as_array).into_iter().flatten().map(message_text).collect();
    let what = ["msg", "message", "type"]
        .iter()
        .find_map(|n| value.get(n))
        .map_or_else(|| message_text(value), message_text);
    if location.is_empty() { what } else { format!("{}: {what}", location.join(".")) }
}

/// Describes an HTML page by its title. Returns any other text unchanged.
fn page_title(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if !lower.contains("<html") && !lower.contains("<!doctype") {
        return text.to_owned();
    }
    let title = lower.find("<title>").map(|a| a + 7).and_then(|a| Some((a, a + lower.get(a..)?.find('<')?)));
    let title = title.and_then(|(a, b)| text.get(a..b)).map_or("", str::trim);
    format!("an HTML page, not JSON: {}", if title.is_empty() { "no title" } else { title })
}

/// Returns the text as one line without control characters, truncated to [`MAX_MESSAGE_CHARS`].
fn one_line_excerpt(message: &str) -> String {
    let start: String = message.chars().take(MAX_MESSAGE_CHARS * 4).collect();
    let line = text::one_line(&start);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = line.chars().take(MAX_MESSAGE_CHARS).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

/// Returns whether a message says that reasoning used up the token limit before the reply began. OpenAI rejects a
/// request with a limit of a few tokens with this message, and returns an empty reply if the limit is larger.
pub(super) fn is_limit_used_up(message: &str) -> bool {
    message.contains("max_tokens or model output limit was reached")
}

/// Returns whether a message says that the prompt is too long.
pub(super) fn is_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "context_length",
        "maximum context length",
        "context length",
        "context window",
        "context size",
        "prompt is too long",
        "input is too long",
        "too many tokens",
        "exceeds the available context",
        // vLLM, xAI, Gemini, TGI.
        "maximum model length",
        "maximum prompt length",
        "input token count",
        "maximum number of tokens allowed",
        "`inputs` tokens + `max_new_tokens` must be",
        "`inputs` must have less than",
    ]
    .iter()
    .any(|phrase| message.contains(phrase))
}

/// Classifies a response with a status other than success. `estimate` is the estimated number of tokens in the prompt.
pub(super) fn http_status_error(
    endpoint: &Endpoint,
    status: u16,
    body: &RedactedText,
    estimate: u64,
) -> ProviderError {
    let message = error_message(body);
    let host = endpoint.host();
    let no_quota = body.contains("insufficient_quota");
    // Some servers name the problem only in a code beside the message.
    let long = matches!(status, 400 | 413 | 422 | 500)
        && (is_too_long(&message) || body.contains("context_length_exceeded"));
    let (kind, next) = if long {
        (FailureKind::TooLong, ContextOverflow::parse(body).advice(estimate))
    } else {
        match status {
            // Gemini's status for an unknown key.
            400 if body.contains("API_KEY_INVALID") => (FailureKind::Credentials, key_advice(endpoint)),
            300..=399 => (
                FailureKind::Misconfigured,
                "set the base URL to the address that the server redirects to".to_owned(),
            ),
            401 => (FailureKind::Credentials, key_advice(endpoint)),
            402 => (FailureKind::OutOfCredit, OUT_OF_CREDIT_ADVICE.to_owned()),
            429 if no_quota => (FailureKind::OutOfCredit, OUT_OF_CREDIT_ADVICE.to_owned()),
            403 => (
                FailureKind::Forbidden,
                format!(
                    "the key may have no access to this model, or the server blocks this prompt; {}",
                    key_advice(endpoint)
                ),
            ),
            404 | 405 => (FailureKind::NotFound, not_found_advice(endpoint)),
            408 | 409 | 429 | 502..=504 => (FailureKind::Busy, "wait, then retry".to_owned()),
            500..=599 => (
                FailureKind::ServerFault,
                "retry; if it fails again, check the server's log: the request itself may be the cause"
                    .to_owned(),
            ),
            _ => (
                FailureKind::BadRequest,
                "change the model or the server's profile; `retrospect doctor` checks the server".to_owned(),
            ),
        }
    };
    let message = if message.is_empty() { "no error message".to_owned() } else { message };
    ProviderError {
        status: Some(status),
        ..ProviderError::new(format!("{host} returned HTTP {status}: {message}"), next).with_kind(kind)
    }
}

const OUT_OF_CREDIT_ADVICE: &str = "add credit there, or choose another server or model";

/// The numbers in a server's message about a request that exceeds its context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ContextOverflow {
    /// Tokens of the request as the server counts them, including the reply's limit if the server adds or names it.
    requested: Option<u64>,
    /// Size of the server's context in tokens.
    context: Option<u64>,
}

impl ContextOverflow {
    /// Finds the numbers (`#`) in an error body by the phrases of known servers.
    fn parse(body: &str) -> Self {
        const REQUESTED: &[&str] = &[
            "you requested # tokens",
            "you requested about # tokens",
            "resulted in # tokens",
            "your request has # input",
            "\"n_prompt_tokens\":#",
            "request (# tokens",
            "request contains # tokens",
            "prompt is too long: # tokens",
            "prompt contains at least # input",
            "prompt contains # ",
            "input token count (#",
            "input length (#",
            "prompt (length #",
            "given: # `inputs`",
            "tokens. given: #",
        ];
        const REPLY_LIMIT: &[&str] = &["you requested # output tokens", "tokens and # `max_new_tokens`"];
        const CONTEXT: &[&str] = &[
            "maximum context length is #",
            "maximum context length of #",
            "maximum context length (#",
            "\"n_ctx\":#",
            "context size (#",
            "tokens > #",
            "tokens allowed (#",
            "maximum model length of #",
            "maximum prompt length is #",
            "`max_new_tokens` must be <= #",
            "must have less than # tokens",
        ];
        let body = body.to_lowercase();
        let number = |phrase: &str| {
            let (before, after) = phrase.split_once('#')?;
            body.match_indices(before).find_map(|(at, _)| {
                let rest = body.get(at + before.len()..)?.trim_start();
                let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
                let digits = if after.is_empty() { digits.trim_end_matches(',') } else { digits.as_str() };
                let matches_phrase = rest.get(digits.len()..)?.starts_with(after);
                digits.replace(',', "").parse::<u64>().ok().filter(|n| matches_phrase && *n > 0)
            })
        };
        let first = |phrases: &[&str]| phrases.iter().find_map(|phrase| number(phrase));
        let reply_limit = first(REPLY_LIMIT).unwrap_or(0);
        Self {
            requested: first(REQUESTED).map(|tokens| tokens.saturating_add(reply_limit)),
            context: first(CONTEXT),
        }
    }

    /// Returns what to do. `estimate` is our estimate of the prompt's tokens, used if the server gives no count.
    fn advice(self, estimate: u64) -> String {
        let counted = match (self.requested, self.context) {
            (Some(requested), Some(context)) => {
                format!("the server counts {requested} tokens, and its context holds {context}")
            }
            (Some(requested), None) => format!("the server counts {requested} tokens"),
            (None, Some(context)) => {
                format!("the server's context holds {context} tokens, and this prompt has about {estimate}")
            }
            (None, None) => return too_long_advice(estimate),
        };
        format!("{counted}: {SHORTEN_ADVICE}")
    }
}

const SHORTEN_ADVICE: &str = "lower the prompt's budget (--set context_tokens=N) or the reply's (max_tokens in the profile), or give the server a larger context";

/// Returns what to do about a prompt that is too long. `estimate` is our estimate of its tokens.
pub(super) fn too_long_advice(estimate: u64) -> String {
    format!("this prompt has about {estimate} tokens: {SHORTEN_ADVICE}")
}

/// Returns what to do about a missing or rejected key, naming where the key comes from or would come from.
fn key_advice(endpoint: &Endpoint) -> String {
    const OTHER_VARIABLE_ADVICE: &str =
        "to use another variable, name it with --key-env or with key_env in [models.NAME]";
    let header = match &endpoint.auth {
        Auth::None if endpoint.key.is_some() => {
            return "no key was sent: the profile says auth = \"none\"".to_owned();
        }
        Auth::Header(name) => name,
        Auth::None | Auth::Bearer => "authorization",
    };
    if endpoint.has_header(header) {
        return format!("the server rejects the header {header} from its profile: set it to a valid key");
    }
    match (&endpoint.key, &endpoint.key_source) {
        (Some(_), KeySource::Variable(name)) => {
            format!("the server rejects the key in ${name}: set {name} to a key of this server; {OTHER_VARIABLE_ADVICE}")
        }
        (Some(_), KeySource::File(path)) => {
            format!("the server rejects the key in {path}: write a key of this server to its first line")
        }
        (Some(_), KeySource::Unknown) => "the server rejects the key: check it".to_owned(),
        (None, KeySource::Variable(name)) => format!("no key was sent: set {name}; {OTHER_VARIABLE_ADVICE}"),
        (None, KeySource::File(_) | KeySource::Unknown) => {
            "no key was sent: set key_env in the server's profile ([models.NAME]) to the variable that holds the key"
                .to_owned()
        }
    }
}

fn not_found_advice(endpoint: &Endpoint) -> String {
    let model = &endpoint.model;
    if endpoint.base_url.ends_with("/v1") || endpoint.base_url.contains("/v1beta") {
        format!("check that the server has the model {model:?}; `retrospect doctor` lists its models")
    } else {
        format!("check the model name {model:?} and the base URL {}: most end in /v1", endpoint.display_url())
    }
}

/// Returns the innermost cause; the errors around it only say that there is one.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::Secret;
    use crate::provider::openai::redactor::Redactor;

    fn redact(body: &[u8]) -> RedactedText {
        Redactor::default().redact_body(body)
    }

    fn message_of(body: &[u8]) -> String {
        super::error_message(&redact(body))
    }

    /// Regression: our estimate was reported although the server had given a count.
    #[test]
    fn context_overflow_reports_the_servers_counts() {
        #[rustfmt::skip]
        let cases: &[(&str, Option<u64>, Option<u64>)] = &[
            ("This model's maximum context length is 512 tokens. However, you requested 2065 tokens (2053 in the messages, 12 in the completion).", Some(2065), Some(512)),
            ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", Some(9000), Some(8192)),
            (r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":2053,"n_ctx":512}}"#, Some(2053), Some(512)),
            ("request (2053 tokens) exceeds the available context size (512 tokens), try increasing it", Some(2053), Some(512)),
            ("'max_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 20 input tokens", Some(20), Some(4096)),
            ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", Some(5000), Some(4096)),
            ("prompt is too long: 205,000 tokens > 200,000 maximum", Some(205_000), Some(200_000)),
            ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", Some(1_200_000), Some(1_048_576)),
            ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", Some(40_000), None),
            ("the prompt exceeds the context window", None, None),
            // vLLM. Regression: the limit of the reply was reported as the size of the prompt.
            ("This model's maximum context length is 4096 tokens. However, you requested 256 output tokens and your prompt contains at least 3841 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input prompt or the number of requested output tokens.", Some(4097), Some(4096)),
            ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", Some(537_812), Some(131_072)),
            (r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 256 `max_new_tokens`","error_type":"validation"}"#, Some(5256), Some(4096)),
            ("Input validation error: `inputs` must have less than 1024 tokens. Given: 4000", Some(4000), Some(1024)),
            (r#"{"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (8000 of text input, 1000 in the output).","code":400}}"#, Some(9000), Some(8192)),
        ];
        for (body, requested, context) in cases {
            let want = ContextOverflow { requested: *requested, context: *context };
            assert_eq!(ContextOverflow::parse(body), want, "{body}");
            let json = serde_json::json!({"error": {"message": body}}).to_string();
            let body = if body.starts_with('{') { (*body).to_owned() } else { json };
            let error =
                http_status_error(&Endpoint::new("http://h/v1", "m"), 400, &redact(body.as_bytes()), 733);
            let next = &error.hint;
            assert_eq!(error.kind, FailureKind::TooLong, "{body}");
            let reported = |n: &Option<u64>| n.is_none_or(|n| next.contains(&n.to_string()));
            assert!(reported(requested) && reported(context), "{body}: {next}");
            assert_eq!(next.contains("733"), requested.is_none(), "{body}: {next}");
        }
    }

    /// Regression: the hint was only "Check the key", without where it came from.
    #[test]
    fn hint_for_a_rejected_key_names_its_source() {
        type Case = (u16, Option<&'static str>, KeySource, &'static str);
        let variable = |name: &str| KeySource::Variable(name.to_owned());
        let cases: [Case; 6] = [
            (401, None, variable("OPENAI_API_KEY"), "no key was sent: set OPENAI_API_KEY; to use another"),
            (401, Some("k"), variable("MY_KEY"), "rejects the key in $MY_KEY: set MY_KEY to"),
            (403, Some("k"), variable("MY_KEY"), "rejects the key in $MY_KEY: set MY_KEY to"),
            (401, Some("k"), KeySource::File("~/key".to_owned()), "rejects the key in ~/key: write"),
            (401, None, KeySource::Unknown, "no key was sent: set key_env in the server's profile"),
            (400, Some("k"), variable("GEMINI_API_KEY"), "rejects the key in $GEMINI_API_KEY"),
        ];
        for (status, key, source, want) in cases {
            let mut endpoint = Endpoint::new("http://h/v1", "m");
            endpoint.key = key.map(Secret::new);
            endpoint.key_source = source;
            let body = br#"{"error":{"message":"no","details":[{"reason":"API_KEY_INVALID"}]}}"#;
            let error = http_status_error(&endpoint, status, &redact(body), 0);
            assert!(error.hint.contains(want), "{}", error.hint);
        }
        let mut endpoint = Endpoint::new("http://h/v1", "m");
        endpoint.headers.push(("Authorization".to_owned(), Secret::new("Bearer k")));
        assert!(
            http_status_error(&endpoint, 401, &redact(b"no"), 0)
                .hint
                .contains("rejects the header authorization")
        );
    }

    /// Regression: a gateway in front of a server that is away counted as a fault of the server, so a measurement gave its pairs up.
    #[test]
    fn a_gateway_that_reaches_no_server_is_waited_for() {
        let kind =
            |status| http_status_error(&Endpoint::new("http://h/v1", "m"), status, &redact(b"x"), 0).kind;
        for status in [502, 503, 504] {
            assert_eq!(kind(status), FailureKind::Busy, "{status}");
        }
        assert_eq!(kind(500), FailureKind::ServerFault);
    }

    #[test]
    fn message_is_found_in_every_shape_of_an_error() {
        #[rustfmt::skip]
        let cases: &[(&str, &str)] = &[
            (r#"{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}"#, "No connected db."),
            (r#"{"error":"model not found"}"#, "model not found"),
            (r#"{"error":{"message":{"message":"inner"}}}"#, "inner"),
            (r#"{"detail":"Invalid API key"}"#, "Invalid API key"),
            (r#"{"detail":[{"type":"json_invalid","loc":["body",3],"msg":"bad"},{"type":"missing"}]}"#, "body.3: bad; missing"),
            (r#"{"message":"hello"}"#, "hello"),
            (r#"{"error":{"code":7}}"#, r#"{"code":7}"#),
            (r#"[{"error":{"code":400,"message":"in a list"}}]"#, "in a list"),
            (r#"{"error":{"message":"Provider returned error","metadata":{"raw":"overloaded"}}}"#, "Provider returned error: overloaded"),
            ("Internal Server Error", "Internal Server Error"),
            ("<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>x</html>", "an HTML page, not JSON: 502 Bad Gateway"),
            ("<html>", "an HTML page, not JSON: no title"),
            ("a\nb\u{1b}[31m c", "a b c"),
            ("", ""),
            (r#"{"error":{"message":""},"detail":"d"}"#, "d"),
        ];
        for (body, want) in cases {
            assert_eq!(message_of(body.as_bytes()), *want, "{body}");
        }
        assert_eq!(message_of("x".repeat(9000).as_bytes()).chars().count(), MAX_MESSAGE_CHARS + 1);
        assert!(message_of(b"\xff\xfe").contains('\u{fffd}'));
    }
}
