//! A server that echoes the key: whole or in part, in any encoding, anywhere in any response, split anywhere.

use crate::asking::{ask, endpoint, provider, request};
use crate::block_on;
use crate::server::{ScriptStep, Server, end_event, plain_response, reasoning_event, stream, text_event};
use futures_util::future::join_all;
use retrospect::provider::openai::{Secret, check_server};
use serde_json::json;
use std::time::Duration;

const SECRET: &str = "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE";

/// Returns Base64 without padding.
fn base64(bytes: &[u8], last: &str) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(last.chars()).collect();
    let mut coded = String::new();
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0_usize, |bits, b| bits << 8 | usize::from(*b)) << (8 * (3 - three.len()));
        coded.extend((0..=three.len()).map(|n| alphabet[bits >> (18 - 6 * n) & 63]));
    }
    coded
}

fn hex(upper: bool) -> String {
    let digits = |b: u8| if upper { format!("{b:02X}") } else { format!("{b:02x}") };
    SECRET.bytes().map(digits).collect()
}

/// Returns the encodings in which the key may be echoed.
fn key_encodings() -> Vec<String> {
    let mut forms = vec![
        SECRET.to_owned(),
        SECRET[..28].to_owned(),
        SECRET[11..].to_owned(),
        SECRET.bytes().map(|b| format!("%{b:02X}")).collect::<Vec<_>>().concat(),
        SECRET.bytes().map(|b| format!("\\u{b:04x}")).collect::<Vec<_>>().concat(),
        SECRET.split("").collect::<Vec<_>>().join("\u{200b}"),
        hex(false),
        hex(true),
    ];
    for before in ["", "u", "me", "user:"] {
        let whole = format!("{before}{SECRET}");
        forms.push(base64(whole.as_bytes(), "-_"));
        forms.push(format!("{}==", base64(whole.as_bytes(), "+/")));
    }
    forms
}

/// Returns eight consecutive characters of the key in a text, or of the part of an encoding that depends only on the
/// key.
fn leaked_part(text: &str) -> Option<String> {
    let text = text.replace(['\u{200b}'], "");
    let mut forms = vec![SECRET.to_owned(), hex(false), hex(true)];
    for before in 0..3 {
        for last in ["+/", "-_"] {
            let bytes = [&b"abc"[..before], SECRET.as_bytes()].concat();
            let whole = bytes.len() * 8 / 6;
            forms.push(base64(&bytes, last)[[0, 2, 3][before]..whole].to_owned());
        }
    }
    let windows = forms.iter().flat_map(|f| (0..=f.len() - 8).map(|at| &f[at..at + 8]));
    windows.into_iter().find(|w| text.contains(w)).map(str::to_owned)
}

/// Returns all kinds of responses, with a text in one place.
fn replies_with_text(text: &str, n: usize) -> Vec<(&'static str, Vec<ScriptStep>)> {
    // A position near the length at which long texts are cut.
    let long = format!("{}{text}", "x ".repeat(120 + n % 31));
    let data = |value: serde_json::Value| format!("data: {value}\n\n");
    let choice = |value: serde_json::Value| data(json!({"choices": [value]}));
    let done = end_event("stop");
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (front, back) = text.split_at(middle);
    let letters: String = text.chars().map(|c| text_event(&c.to_string())).collect();
    let header: String = text.chars().filter(char::is_ascii_graphic).collect();
    let error = |message: &str| json!({"error": {"message": message, "metadata": {"raw": text}}}).to_string();
    vec![
        ("an error's message", plain_response(400, "", &error("no"))),
        ("a long error", plain_response(401, "", &json!({"error": {"message": long}}).to_string())),
        ("a text as an error", plain_response(403, "", &long)),
        ("a broken JSON as an error", plain_response(400, "", &format!("{{\"error\": \"{long}"))),
        ("a list of complaints", plain_response(422, "", &json!({"detail": [{"loc": ["body", text], "msg": long}]}).to_string())),
        ("a page", plain_response(404, "", &format!("<html><title>{text}</title></html>"))),
        ("a redirection", plain_response(307, &format!("location: http://h/{header}?{header}\r\n"), "")),
        ("a packed answer", plain_response(200, &format!("content-encoding: {header}\r\n"), "")),
        ("an error in the stream", stream(data(json!({"error": {"message": long}})).as_bytes())),
        ("an event called error", stream(format!("event: error\ndata: {long}\n\n").as_bytes())),
        ("a broken piece", stream(format!("data: {{\"choices\": [\"{} {text}\n\n", "y".repeat(n % 70)).as_bytes())),
        ("no answer", plain_response(200, "", &json!({text: {"x": long}}).to_string())),
        ("loose text", stream(long.as_bytes())),
        ("a reason to finish", stream(end_event(text).as_bytes())),
        ("another reason", stream(format!("{}{}", text_event("go"), end_event(text)).as_bytes())),
        ("the answer", stream(format!("{}{done}", text_event(&format!("go {text}"))).as_bytes())),
        ("two pieces", stream(format!("{}{}{done}", text_event(&format!("go {front}")), text_event(back)).as_bytes())),
        ("letters", stream(format!("{letters}{done}").as_bytes())),
        ("reasoning", stream(format!("{}{}{done}", reasoning_event("reasoning", front), reasoning_event("reasoning", back)).as_bytes())),
        ("think tags", stream(format!("{}{}{done}", text_event(&format!("<think>{front}")), text_event(&format!("</think>{back}"))).as_bytes())),
        (
            "content parts",
            stream(format!("{}{done}", choice(json!({"delta": {"content": [{"text": front}, {"text": back}]}}))).as_bytes()),
        ),
        (
            "other fields",
            stream(
                format!(
                    "{}{}{done}",
                    data(json!({"id": text, "model": text, "system_fingerprint": text, "usage": {text: text}})),
                    choice(json!({"delta": {"role": text, "content": "go", "tool_calls": [{"function": {"name": text}}]}})),
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
        let mut n = 0;
        for form in key_encodings() {
            n += 7;
            let asked = replies_with_text(&form, n).into_iter().map(async |(place, script)| {
                let server = Server::start(vec![script]).await;
                let mut endpoint = endpoint(&server.base);
                endpoint.key = Some(Secret::new(SECRET));
                endpoint.retry.max_retries = 1;
                endpoint.retry.max_retries_after_500 = 0;
                endpoint.timeouts.after_end = Duration::from_millis(20);
                let answer = ask(&provider(endpoint), request()).await;
                let error = answer.error.unwrap_or_default();
                let texts = [
                    answer.notices,
                    vec![answer.text, answer.reasoning, error.message, error.hint, error.partial_reply],
                ];
                for text in texts.concat() {
                    assert_eq!(leaked_part(&text), None, "{place}, {form}: {text}");
                }
            });
            join_all(asked).await;
        }
    });
}

/// Regression: the names of models were shown unchanged.
#[test]
fn doctor_shows_no_part_of_a_key() {
    block_on(async {
        for form in key_encodings() {
            let list = json!({"data": [{"id": form}, {"id": "tiny"}]}).to_string();
            for models in [
                plain_response(200, "", &list),
                plain_response(401, "", &form),
                plain_response(500, "", &list),
            ] {
                let good = stream(format!("{}{}", text_event("one two"), end_event(&form)).as_bytes());
                let server = Server::start(vec![models, good]).await;
                let mut endpoint = endpoint(&server.base);
                endpoint.key = Some(Secret::new(SECRET));
                endpoint.model = String::new();
                endpoint.timeouts.after_end = Duration::from_millis(20);
                for found in check_server(
                    &provider(endpoint),
                    retrospect::domain::ModelRole::Actor,
                    &serde_json::Map::new(),
                )
                .await
                {
                    let text = format!("{} {}", found.message, found.hint);
                    assert_eq!(leaked_part(&text), None, "{form}: {text}");
                }
            }
        }
    });
}
