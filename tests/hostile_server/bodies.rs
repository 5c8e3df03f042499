//! Malformed and unexpected response bodies.

use crate::Expected::{Failure, Reply as Says};
use crate::server::{ScriptStep, chunked, end_event, head, plain_response, stream, text_event};
use crate::{case, chunk, run_cases, send_bytes};
use retrospect::provider::FailureKind;
use serde_json::json;
use std::time::Duration;

#[test]
fn bodies() {
    let done = format!("{}data: [DONE]\n\n", end_event("stop"));
    let whole = |text: &str| stream(format!("{}{done}", text_event(text)).as_bytes());
    let error = |json: &str| format!("data: {json}\n\n");
    let go = text_event("go");
    let long = text_event(&"x".repeat(10 << 20));
    let numbered = error(
        r#"{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
    );
    let html = [
        head(200, "content-type: text/html\r\n"),
        b"<html><head><title>Log in</title></head>\n<body></body></html>".to_vec(),
    ]
    .concat();
    let wrong_type = [head(200, "content-type: text/plain\r\n"), format!("{go}{done}").into_bytes()].concat();
    let json_lines = format!(
        "{}\n{}\n",
        json!({"choices": [{"delta": {"content": "go"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    );
    let pretty = serde_json::to_string_pretty(
        &json!({"choices": [{"message": {"content": "go"}, "finish_reason": "stop"}]}),
    )
    .unwrap();
    let mut letters: Vec<Vec<u8>> = Vec::new();
    for byte in format!("{}{done}", text_event("é€𝄞 go")).bytes() {
        letters.push(vec![byte]);
    }
    let letters: Vec<&[u8]> = letters.iter().map(Vec::as_slice).collect();
    let raw_utf8 = |bytes: &[u8]| {
        stream(
            &[b"data: {\"choices\":[{\"delta\":{\"content\":\"a", bytes, b"b\"}}]}\n\n", done.as_bytes()]
                .concat(),
        )
    };
    run_cases(vec![
        case("a character a byte at a time", chunked(&letters, true), Says("é€𝄞 go", "", 1)),
        case("no UTF-8", raw_utf8(b"\xff\xc3"), Says("a\u{fffd}\u{fffd}b", "", 1)),
        case("U+FFFD in the text", whole("a\u{fffd}b"), Says("a\u{fffd}b", "", 1)),
        case(
            "control characters",
            whole("go \u{10}\u{14}\u{1b}[31m"),
            Says("go \u{10}\u{14}\u{1b}[31m", "", 1),
        ),
        case("white space first", whole("\n\n go\nmore"), Says("go", "", 1)),
        case(
            "a line of 10 MB",
            stream(long.as_bytes()),
            Failure(FailureKind::InvalidResponse, "does not end", 1, ""),
        ),
        case(
            "words without an end",
            chunked(&[], false)
                .into_iter()
                .chain([ScriptStep::Forever(chunk(&text_event(&"word ".repeat(200))), Duration::ZERO)])
                .collect(),
            Failure(FailureKind::InvalidResponse, "does not end", 1, "*"),
        ),
        case(
            "signs of life between pieces",
            stream(format!(": x\n\n{}: y\n\n{done}", text_event("go")).as_bytes()),
            Says("go", "", 1),
        ),
        case(
            "no blank lines",
            stream(format!("{go}{done}").replace("\n\n", "\n").as_bytes()),
            Says("go", "", 1),
        ),
        case(
            "carriage returns",
            stream(format!("{go}{done}").replace('\n', "\r\n").as_bytes()),
            Says("go", "", 1),
        ),
        case("no [DONE]", stream(format!("{go}{}", end_event("stop")).as_bytes()), Says("go", "", 1)),
        case(
            "[DONE] and no finish_reason, every time",
            stream(format!("{go}data: [DONE]\n\n").as_bytes()),
            Says("go", "", 4),
        ),
        case(
            "only [DONE]",
            stream(b"data: [DONE]\n\n"),
            Failure(FailureKind::EmptyReply, "empty reply", 2, ""),
        ),
        case(
            "only comments",
            stream(b": a\n\n: b\n\n"),
            Failure(FailureKind::EmptyReply, "empty reply", 2, ""),
        ),
        case(
            "breaks after its end",
            chunked(&[format!("{go}{}", end_event("stop")).as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Reset])
                .collect(),
            Says("go", "", 1),
        ),
        case(
            "hangs after its end",
            chunked(&[format!("{go}{}", end_event("stop")).as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Hang])
                .collect(),
            Says("go", "", 1),
        ),
        case(
            "talks on after its end",
            chunked(&[format!("{go}{done}").as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Forever(chunk(&text_event("more")), Duration::ZERO)])
                .collect(),
            Says("go", "", 1),
        ),
        case(
            "rubbish after its end",
            stream(format!("{go}{done}data: {{\"cho\n\n").as_bytes()),
            Says("go", "", 1),
        ),
        case(
            "a page, with success",
            vec![send_bytes(&html)],
            Failure(FailureKind::InvalidResponse, "an HTML page, not JSON: Log in", 1, ""),
        ),
        case("another content type", vec![send_bytes(&wrong_type)], Says("go", "", 1)),
        case("JSON lines", stream(json_lines.as_bytes()), Says("go", "", 1)),
        case("a plain answer over several lines", stream(pretty.as_bytes()), Says("go", "", 1)),
        case(
            "other JSON",
            plain_response(200, "", r#"{"hello":"world"}"#),
            Failure(FailureKind::InvalidResponse, "hello", 1, ""),
        ),
        case(
            "a broken piece",
            stream(format!("{go}data: {{\"choices\": [}}\n\n{done}").as_bytes()),
            Failure(FailureKind::InvalidResponse, "not valid JSON", 1, "go"),
        ),
        case(
            "an error first",
            stream(error(r#"{"error":{"message":"it broke","code":"bad"}}"#).as_bytes()),
            Failure(FailureKind::ServerFault, "it broke", 1, ""),
        ),
        case(
            "an error with a number, in words",
            stream(error(r#"{"error":{"message":"no credit","code":402}}"#).as_bytes()),
            Failure(FailureKind::OutOfCredit, "no credit", 1, ""),
        ),
        case(
            "an error that may pass is asked again",
            stream(numbered.as_bytes()),
            Failure(FailureKind::ServerFault, "Provider disconnected", 5, ""),
        ),
        case(
            "an error in the middle is not",
            stream(format!("{go}{numbered}").as_bytes()),
            Failure(FailureKind::ServerFault, "Provider disconnected", 1, "go"),
        ),
        case(
            "an event called error",
            stream(format!("{go}event: error\ndata: {{\"message\": \"it broke\"}}\n\n").as_bytes()),
            Failure(FailureKind::ServerFault, "it broke", 1, "go"),
        ),
        case(
            "an event called error, in words",
            stream(format!("{go}event: error\ndata: it broke\n\n").as_bytes()),
            Failure(FailureKind::ServerFault, "it broke", 1, "go"),
        ),
        case(
            "detail in the stream",
            stream(error(r#"{"detail":"Not enough memory"}"#).as_bytes()),
            Failure(FailureKind::ServerFault, "Not enough memory", 1, ""),
        ),
        case(
            "an overflow in the stream",
            stream(
                error(r#"{"error":{"message":"the prompt exceeds the available context size","code":400}}"#)
                    .as_bytes(),
            ),
            Failure(FailureKind::TooLong, "context size", 1, ""),
        ),
        case(
            "an error with success",
            plain_response(200, "", r#"{"error":"no such model"}"#),
            Failure(FailureKind::ServerFault, "no such model", 1, ""),
        ),
        case("a server that ignores stop", whole("go to desk 1\n> look\n"), Says("go to desk 1", "", 1)),
        case(
            "two answers",
            stream(
                format!(
                    "data: {}\n\n{go}{done}",
                    json!({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]})
                )
                .as_bytes(),
            ),
            Says("go", "", 1),
        ),
    ]);
}
