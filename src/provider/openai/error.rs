//! What a server says when it says no: its words, what they mean, and what a person can do.

use super::endpoint::Endpoint;
use crate::provider::{FailureKind, ProviderError};
use crate::text;
use serde_json::Value;

/// How much of a server's words is shown.
const SHOWN: usize = 300;

/// The words of an error body: `error.message`, `error`, `detail`, `message`, a page's title, else its beginning.
pub(super) fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<Value>(text.trim()) {
        Ok(value) => words_of(&value),
        Err(_) => shown(&page(&text)),
    }
}

/// The words of an error in JSON.
pub(super) fn words_of(value: &Value) -> String {
    // Some wrap the object into a list, some put the error into its choice.
    let value = value.get(0).unwrap_or(value);
    let inner = || value.get("choices")?.get(0)?.get("error");
    let error = value.get("error").filter(|e| !e.is_null()).or_else(inner);
    let places = [
        error.and_then(|e| e.get("message")),
        error.filter(|e| e.is_string()),
        value.get("detail"),
        value.get("message"),
    ];
    let found = places.into_iter().flatten().map(plain).find(|w| !w.trim().is_empty());
    let mut found = found.unwrap_or_else(|| error.unwrap_or(value).to_string());
    // A router's own words say little; what it was told stands beside them.
    if let Some(raw) = error.and_then(|e| e.get("metadata")?.get("raw")) {
        found = format!("{found}: {}", plain(raw));
    }
    shown(&found)
}

/// A text as it is, a list of complaints one after the other.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(complaint).collect::<Vec<_>>().join("; "),
        Value::Object(_) => {
            value.get("message").or_else(|| value.get("msg")).map_or_else(|| value.to_string(), plain)
        }
        other => other.to_string(),
    }
}

/// One complaint of a validator: where, and what.
fn complaint(value: &Value) -> String {
    let place: Vec<String> =
        value.get("loc").and_then(Value::as_array).into_iter().flatten().map(plain).collect();
    let what =
        ["msg", "message", "type"].iter().find_map(|n| value.get(n)).map_or_else(|| plain(value), plain);
    if place.is_empty() { what } else { format!("{}: {what}", place.join(".")) }
}

/// A page's title, or its words without marks; any other text as it is.
fn page(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if !lower.contains("<html") && !lower.contains("<!doctype") {
        return text.to_owned();
    }
    let title = lower.find("<title>").map(|a| a + 7).and_then(|a| Some((a, a + lower.get(a..)?.find('<')?)));
    let title = title.and_then(|(a, b)| text.get(a..b)).map_or("", str::trim);
    format!(
        "a page for people, not for programs: {}",
        if title.is_empty() { "without a title" } else { title }
    )
}

/// In one line, harmless and short.
fn shown(words: &str) -> String {
    let start: String = words.chars().take(SHOWN * 4).collect();
    let line = text::one_line(&start);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = line.chars().take(SHOWN).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

/// The words say that the prompt is too long.
pub(super) fn too_long(words: &str) -> bool {
    let words = words.to_lowercase();
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
    ]
    .iter()
    .any(|sign| words.contains(sign))
}

/// What an answer with a status other than success comes to. `body` has its secrets taken out.
pub(super) fn refused(endpoint: &Endpoint, status: u16, body: &[u8], asked: u64) -> ProviderError {
    let said = words(body);
    let raw = String::from_utf8_lossy(body);
    let host = endpoint.host();
    let no_quota = raw.contains("insufficient_quota");
    // Keys of the bodies of some servers count like words.
    let long = matches!(status, 400 | 413 | 422 | 500)
        && (too_long(&said) || raw.contains("context_length_exceeded"));
    let (kind, next) = if long {
        (FailureKind::TooLong, too_long_advice(asked))
    } else {
        match status {
            300..=399 => (
                FailureKind::Setup,
                "set the base URL to where the server says it is".to_owned(),
            ),
            401 => (FailureKind::Credentials, key_advice(endpoint)),
            402 => (FailureKind::Credit, "add credit there, or choose another server or model".to_owned()),
            429 if no_quota => (FailureKind::Credit, "add credit there, or choose another server or model".to_owned()),
            403 => (FailureKind::Forbidden, format!("{host} forbids this key, this model or these words; {}", key_advice(endpoint))),
            404 | 405 => (FailureKind::NotFound, not_found_advice(endpoint)),
            408 | 409 | 429 | 503 => (FailureKind::Busy, "wait, then retry".to_owned()),
            500..=599 => (
                FailureKind::ServerFault,
                "retry; if it stays, look at the server's own log: the request itself may be what it cannot take".to_owned(),
            ),
            _ => (
                FailureKind::Refused,
                "change the model or the endpoint's profile; `retrospect doctor` checks the server".to_owned(),
            ),
        }
    };
    let said = if said.is_empty() { "without a word".to_owned() } else { said };
    ProviderError {
        status: Some(status),
        ..ProviderError::new(format!("{host} answered {status}: {said}"), next).of_kind(kind)
    }
}

/// What to do about a prompt that is too long; `asked` is our estimate of its tokens.
pub(super) fn too_long_advice(asked: u64) -> String {
    format!(
        "this prompt has about {asked} tokens: lower its budget (--set context_tokens=N) or the answer's (max_tokens of the profile), or give the server a larger context"
    )
}

fn key_advice(endpoint: &Endpoint) -> String {
    if endpoint.key.is_some() {
        "check the key: the server does not take the one it got".to_owned()
    } else {
        "no key was sent: set OPENAI_API_KEY (for a server given with --base-url or OPENAI_BASE_URL), or key_env in its \
         profile"
            .to_owned()
    }
}

fn not_found_advice(endpoint: &Endpoint) -> String {
    let model = &endpoint.model;
    if endpoint.base_url.ends_with("/v1") || endpoint.base_url.contains("/v1beta") {
        format!("check that the server has the model {model:?}; `retrospect doctor` lists them")
    } else {
        format!(
            "the base URL {} does not end in /v1, as most do; check it, and the model {model:?}",
            endpoint.base_url
        )
    }
}

/// The innermost reason: the others only say that there is one.
pub(super) fn reason(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_found_in_every_shape_of_an_error() {
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
            ("<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>x</html>", "a page for people, not for programs: 502 Bad Gateway"),
            ("<html>", "a page for people, not for programs: without a title"),
            ("a\nb\u{1b}[31m c", "a b c"),
            ("", ""),
            (r#"{"error":{"message":""},"detail":"d"}"#, "d"),
        ];
        for (body, want) in cases {
            assert_eq!(words(body.as_bytes()), *want, "{body}");
        }
        assert_eq!(words("x".repeat(9000).as_bytes()).chars().count(), SHOWN + 1);
        assert!(words(b"\xff\xfe").contains('\u{fffd}'));
    }
}
