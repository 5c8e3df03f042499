//! Malformed and unexpected response bodies.

use crate::Expected::{Failure, Reply};
use crate::server::{ScriptStep, chunked, end_event, head, plain_response, stream, text_event};
use crate::{case, chunk, run_cases, send_bytes};
use retrospect::provider::FailureKind;
use serde_json::json;
use std::time::Duration;

#[test]
fn unexpected_bodies_are_read_or_reported() {
    let stream_end = format!("{}data: [DONE]\n\n", end_event("stop"));
    let complete_stream = |text: &str| stream(format!("{}{stream_end}", text_event(text)).as_bytes());
    let error_event = |json: &str| format!("data: {json}\n\n");
    let go_event = text_event("go");
    let long_event = text_event(&"x".repeat(10 << 20));
    let error_with_code = error_event(
        r#"{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
    );
    let html = [
        head(200, "content-type: text/html\r\n"),
        b"<html><head><title>Log in</title></head>\n<body></body></html>".to_vec(),
    ]
    .concat();
    let wrong_type =
        [head(200, "content-type: text/plain\r\n"), format!("{go_event}{stream_end}").into_bytes()].concat();
    let json_lines = format!(
        "{}\n{}\n",
        json!({"choices": [{"delta": {"content": "go"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    );
    let pretty = serde_json::to_string_pretty(
        &json!({"choices": [{"message": {"content": "go"}, "finish_reason": "stop"}]}),
    )
    .unwrap();
    let mut single_bytes: Vec<Vec<u8>> = Vec::new();
    for byte in format!("{}{stream_end}", text_event("é€𝄞 go")).bytes() {
        single_bytes.push(vec![byte]);
    }
    let single_bytes: Vec<&[u8]> = single_bytes.iter().map(Vec::as_slice).collect();
    let raw_utf8 = |bytes: &[u8]| {
        stream(
            &[
                b"data: {\"choices\":[{\"delta\":{\"content\":\"a",
                bytes,
                b"b\"}}]}\n\n",
                stream_end.as_bytes(),
            ]
            .concat(),
        )
    };
    run_cases(vec![
        case(
            "multi-byte characters, one byte per chunk",
            chunked(&single_bytes, true),
            Reply("é€𝄞 go", "", 1),
        ),
        case("invalid UTF-8", raw_utf8(b"\xff\xc3"), Reply("a\u{fffd}\u{fffd}b", "", 1)),
        case("U+FFFD in the text", complete_stream("a\u{fffd}b"), Reply("a\u{fffd}b", "", 1)),
        case(
            "control characters",
            complete_stream("go \u{10}\u{14}\u{1b}[31m"),
            Reply("go \u{10}\u{14}\u{1b}[31m", "", 1),
        ),
        case("leading whitespace", complete_stream("\n\n go\nmore"), Reply("go", "", 1)),
        case(
            "a line of 10 MB",
            stream(long_event.as_bytes()),
            Failure(FailureKind::InvalidResponse, "does not end", 1, ""),
        ),
        case(
            "text that never ends",
            chunked(&[], false)
                .into_iter()
                .chain([ScriptStep::Forever(chunk(&text_event(&"word ".repeat(200))), Duration::ZERO)])
                .collect(),
            Failure(FailureKind::InvalidResponse, "does not end", 1, "*"),
        ),
        case(
            "keep-alive comments between chunks",
            stream(format!(": x\n\n{}: y\n\n{stream_end}", text_event("go")).as_bytes()),
            Reply("go", "", 1),
        ),
        case(
            "no blank lines",
            stream(format!("{go_event}{stream_end}").replace("\n\n", "\n").as_bytes()),
            Reply("go", "", 1),
        ),
        case(
            "carriage returns",
            stream(format!("{go_event}{stream_end}").replace('\n', "\r\n").as_bytes()),
            Reply("go", "", 1),
        ),
        case("no [DONE]", stream(format!("{go_event}{}", end_event("stop")).as_bytes()), Reply("go", "", 1)),
        case(
            "[DONE] and no finish_reason, every time",
            stream(format!("{go_event}data: [DONE]\n\n").as_bytes()),
            Reply("go", "", 4),
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
            "connection reset after the last event",
            chunked(&[format!("{go_event}{}", end_event("stop")).as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Reset])
                .collect(),
            Reply("go", "", 1),
        ),
        case(
            "connection left open after the last event",
            chunked(&[format!("{go_event}{}", end_event("stop")).as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Hang])
                .collect(),
            Reply("go", "", 1),
        ),
        case(
            "more text after [DONE]",
            chunked(&[format!("{go_event}{stream_end}").as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Forever(chunk(&text_event("more")), Duration::ZERO)])
                .collect(),
            Reply("go", "", 1),
        ),
        case(
            "garbage after [DONE]",
            stream(format!("{go_event}{stream_end}data: {{\"cho\n\n").as_bytes()),
            Reply("go", "", 1),
        ),
        case(
            "an HTML page with status 200",
            vec![send_bytes(&html)],
            Failure(FailureKind::InvalidResponse, "an HTML page, not JSON: Log in", 1, ""),
        ),
        case("wrong content type", vec![send_bytes(&wrong_type)], Reply("go", "", 1)),
        case("JSON lines", stream(json_lines.as_bytes()), Reply("go", "", 1)),
        case("an unstreamed reply over several lines", stream(pretty.as_bytes()), Reply("go", "", 1)),
        case(
            "other JSON",
            plain_response(200, "", r#"{"hello":"world"}"#),
            Failure(FailureKind::InvalidResponse, "hello", 1, ""),
        ),
        case(
            "a chunk with invalid JSON",
            stream(format!("{go_event}data: {{\"choices\": [}}\n\n{stream_end}").as_bytes()),
            Failure(FailureKind::InvalidResponse, "not valid JSON", 1, "go"),
        ),
        case(
            "an error as the first event",
            stream(error_event(r#"{"error":{"message":"it broke","code":"bad"}}"#).as_bytes()),
            Failure(FailureKind::ServerFault, "it broke", 1, ""),
        ),
        case(
            "an error with a status code in the stream",
            stream(error_event(r#"{"error":{"message":"no credit","code":402}}"#).as_bytes()),
            Failure(FailureKind::OutOfCredit, "no credit", 1, ""),
        ),
        case(
            "a temporary error is retried",
            stream(error_with_code.as_bytes()),
            Failure(FailureKind::Busy, "Provider disconnected", 5, ""),
        ),
        case(
            "a temporary error after some text is not retried",
            stream(format!("{go_event}{error_with_code}").as_bytes()),
            Failure(FailureKind::Busy, "Provider disconnected", 1, "go"),
        ),
        case(
            "an event named error",
            stream(format!("{go_event}event: error\ndata: {{\"message\": \"it broke\"}}\n\n").as_bytes()),
            Failure(FailureKind::ServerFault, "it broke", 1, "go"),
        ),
        case(
            "an event named error with plain text",
            stream(format!("{go_event}event: error\ndata: it broke\n\n").as_bytes()),
            Failure(FailureKind::ServerFault, "it broke", 1, "go"),
        ),
        case(
            "an error in the field detail",
            stream(error_event(r#"{"detail":"Not enough memory"}"#).as_bytes()),
            Failure(FailureKind::ServerFault, "Not enough memory", 1, ""),
        ),
        case(
            "a context overflow in the stream",
            stream(
                error_event(
                    r#"{"error":{"message":"the prompt exceeds the available context size","code":400}}"#,
                )
                .as_bytes(),
            ),
            Failure(FailureKind::TooLong, "context size", 1, ""),
        ),
        case(
            "an error with status 200",
            plain_response(200, "", r#"{"error":"no such model"}"#),
            Failure(FailureKind::ServerFault, "no such model", 1, ""),
        ),
        case(
            "a server that ignores stop",
            complete_stream("go to desk 1\n> look\n"),
            Reply("go to desk 1", "", 1),
        ),
        case(
            "two choices",
            stream(
                format!(
                    "data: {}\n\n{go_event}{stream_end}",
                    json!({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]})
                )
                .as_bytes(),
            ),
            Reply("go", "", 1),
        ),
    ]);
}
