//! A server that echoes the key: whole or in part, in any encoding, anywhere in any response, split anywhere.

use crate::block_on;
use crate::client::{ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, end_event, plain_response, reasoning_event, stream, text_event};
use futures_util::future::join_all;
use retrospect::provider::openai::{Secret, check_server};
use serde_json::json;
use std::time::Duration;

const SECRET: &str = "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE";

/// Returns Base64 without padding.
fn base64(bytes: &[u8], last: &str) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(last.chars()).collect();
    let mut encoded = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0_usize, |bits, b| bits << 8 | usize::from(*b)) << (8 * (3 - group.len()));
        encoded.extend((0..=group.len()).map(|n| alphabet[bits >> (18 - 6 * n) & 63]));
    }
    encoded
}

fn hex(upper: bool) -> String {
    let digits = |b: u8| if upper { format!("{b:02X}") } else { format!("{b:02x}") };
    SECRET.bytes().map(digits).collect()
}

/// Returns the encodings in which the key may be echoed.
fn key_encodings() -> Vec<String> {
    let mut encodings = vec![
        SECRET.to_owned(),
        SECRET[..28].to_owned(),
        SECRET[11..].to_owned(),
        SECRET.bytes().map(|b| format!("%{b:02X}")).collect::<Vec<_>>().concat(),
        SECRET.bytes().map(|b| format!("\\u{b:04x}")).collect::<Vec<_>>().concat(),
        SECRET.split("").collect::<Vec<_>>().join("\u{200b}"),
        hex(false),
        hex(true),
    ];
    for prefix in ["", "u", "me", "user:"] {
        let prefixed = format!("{prefix}{SECRET}");
        encodings.push(base64(prefixed.as_bytes(), "-_"));
        encodings.push(format!("{}==", base64(prefixed.as_bytes(), "+/")));
    }
    encodings
}

/// Returns the first eight-character part of the key found in `text`, plain or encoded. In Base64, searches only for
/// the characters that depend on nothing but the key.
fn leaked_part(text: &str) -> Option<String> {
    let text = text.replace(['\u{200b}'], "");
    let mut encodings = vec![SECRET.to_owned(), hex(false), hex(true)];
    for prefix_len in 0..3 {
        for last in ["+/", "-_"] {
            let bytes = [&b"abc"[..prefix_len], SECRET.as_bytes()].concat();
            let complete_len = bytes.len() * 8 / 6;
            encodings.push(base64(&bytes, last)[[0, 2, 3][prefix_len]..complete_len].to_owned());
        }
    }
    let windows = encodings.iter().flat_map(|f| (0..=f.len() - 8).map(|at| &f[at..at + 8]));
    windows.into_iter().find(|w| text.contains(w)).map(str::to_owned)
}

/// Returns one response for each place in which a server can put `text`. `padding` varies its position.
fn replies_with_text(text: &str, padding: usize) -> Vec<(&'static str, Vec<ScriptStep>)> {
    // A position near the length at which long texts are cut.
    let long = format!("{}{text}", "x ".repeat(120 + padding % 31));
    let data = |value: serde_json::Value| format!("data: {value}\n\n");
    let choice = |value: serde_json::Value| data(json!({"choices": [value]}));
    let end = end_event("stop");
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (front, back) = text.split_at(middle);
    let letters: String = text.chars().map(|c| text_event(&c.to_string())).collect();
    let header: String = text.chars().filter(char::is_ascii_graphic).collect();
    let error = |message: &str| json!({"error": {"message": message, "metadata": {"raw": text}}}).to_string();
    vec![
        ("an error's message", plain_response(400, "", &error("no"))),
        ("a long error", plain_response(401, "", &json!({"error": {"message": long}}).to_string())),
        ("plain text as an error", plain_response(403, "", &long)),
        ("malformed JSON as an error", plain_response(400, "", &format!("{{\"error\": \"{long}"))),
        ("validation errors", plain_response(422, "", &json!({"detail": [{"loc": ["body", text], "msg": long}]}).to_string())),
        ("an HTML page", plain_response(404, "", &format!("<html><title>{text}</title></html>"))),
        ("a redirect", plain_response(307, &format!("location: http://h/{header}?{header}\r\n"), "")),
        ("an unknown content encoding", plain_response(200, &format!("content-encoding: {header}\r\n"), "")),
        ("an error in the stream", stream(data(json!({"error": {"message": long}})).as_bytes())),
        ("an event named error", stream(format!("event: error\ndata: {long}\n\n").as_bytes())),
        ("a malformed chunk", stream(format!("data: {{\"choices\": [\"{} {text}\n\n", "y".repeat(padding % 70)).as_bytes())),
        ("JSON without choices", plain_response(200, "", &json!({text: {"x": long}}).to_string())),
        ("text that is not an event", stream(long.as_bytes())),
        ("a finish reason", stream(end_event(text).as_bytes())),
        ("a finish reason after text", stream(format!("{}{}", text_event("go"), end_event(text)).as_bytes())),
        ("the reply", stream(format!("{}{end}", text_event(&format!("go {text}"))).as_bytes())),
        ("two chunks", stream(format!("{}{}{end}", text_event(&format!("go {front}")), text_event(back)).as_bytes())),
        ("one chunk per character", stream(format!("{letters}{end}").as_bytes())),
        ("reasoning", stream(format!("{}{}{end}", reasoning_event("reasoning", front), reasoning_event("reasoning", back)).as_bytes())),
        ("think tags", stream(format!("{}{}{end}", text_event(&format!("<think>{front}")), text_event(&format!("</think>{back}"))).as_bytes())),
        (
            "content parts",
            stream(format!("{}{end}", choice(json!({"delta": {"content": [{"text": front}, {"text": back}]}}))).as_bytes()),
        ),
        (
            "other fields",
            stream(
                format!(
                    "{}{}{end}",
                    data(json!({"id": text, "model": text, "system_fingerprint": text, "usage": {text: text}})),
                    choice(json!({"delta": {"role": text, "content": "go", "tool_calls": [{"function": {"name": text, "arguments": {"key": text}}}]}})),
                )
                .as_bytes(),
            ),
        ),
        (
            "connection reset within the text",
            [stream(text_event(&format!("go {text}")[..]).as_bytes()), vec![ScriptStep::Reset]].concat(),
        ),
    ]
}

/// Regression: the error of a stream showed 28 of the key's 43 characters, and a `finish_reason` equal to the key was
/// shown unchanged.
#[test]
fn no_part_of_a_key_is_shown_however_a_server_echoes_it() {
    block_on(async {
        let mut padding = 0;
        for encoded in key_encodings() {
            padding += 7;
            let calls = replies_with_text(&encoded, padding).into_iter().map(async |(place, script)| {
                let server = Server::start(vec![script]).await;
                let mut endpoint = endpoint(&server.base);
                endpoint.key = Some(Secret::new(SECRET));
                endpoint.retry.max_retries = 1;
                endpoint.retry.max_retries_after_500 = 0;
                endpoint.timeouts.tail = Duration::from_millis(20);
                let answer = ask(&provider(endpoint), request()).await;
                let error = answer.error.unwrap_or_default();
                let called = answer.tool_calls.into_iter().flat_map(|call| [call.name, call.arguments]);
                let texts = [
                    answer.notices,
                    called.collect(),
                    vec![answer.text, answer.reasoning, error.message, error.hint, error.partial_reply],
                ];
                for text in texts.concat() {
                    assert_eq!(leaked_part(&text), None, "{place}, {encoded}: {text}");
                }
            });
            join_all(calls).await;
        }
    });
}

/// Regression: `doctor` showed the names of models unchanged.
#[test]
fn doctor_shows_no_part_of_a_key() {
    block_on(async {
        for encoded in key_encodings() {
            let list = json!({"data": [{"id": encoded}, {"id": "tiny"}]}).to_string();
            for models in [
                plain_response(200, "", &list),
                plain_response(401, "", &encoded),
                plain_response(500, "", &list),
            ] {
                let good = stream(format!("{}{}", text_event("one two"), end_event(&encoded)).as_bytes());
                let server = Server::start(vec![models, good]).await;
                let mut endpoint = endpoint(&server.base);
                endpoint.key = Some(Secret::new(SECRET));
                endpoint.model = String::new();
                endpoint.timeouts.tail = Duration::from_millis(20);
                for finding in check_server(
                    &provider(endpoint),
                    retrospect::domain::ModelRole::Actor,
                    &serde_json::Map::new(),
                )
                .await
                {
                    let text = format!("{} {}", finding.message, finding.hint);
                    assert_eq!(leaked_part(&text), None, "{encoded}: {text}");
                }
            }
        }
    });
}
