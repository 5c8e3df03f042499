//! A model server with random scripts of valid and invalid bytes, pauses and resets. Every call must end, with a
//! complete reply or an error message, and the key must never leak.

use crate::cases::{Rng, Soak};
use crate::client::{KEY, ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, complete_reply, end_event, head, reasoning_event, text_event};
use retrospect::provider::FailureKind;
use serde_json::json;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Returns a piece of a body, valid or not.
fn body_piece(rng: &mut Rng) -> Vec<u8> {
    let text = match rng.below(16) {
        0..=3 => text_event(rng.pick(&[
            "go ",
            "to desk 1",
            "é€𝄞",
            "\n",
            " ",
            "<think>",
            "</think>",
            KEY,
            "sk-test-01",
        ])),
        4 => reasoning_event("reasoning_content", "hm "),
        5 => end_event(rng.pick(&["stop", "length", "content_filter", ""])),
        6 => "data: [DONE]\n\n".to_owned(),
        7 => ": alive\n\n".to_owned(),
        8 => format!(
            "data: {}\n\n",
            json!({"choices": [], "usage": {"prompt_tokens": rng.below(99), "completion_tokens": 3}})
        ),
        9 => format!(
            "data: {}\n\n",
            json!({"error": {"message": format!("no {KEY}"), "code": rng.below(600)}})
        ),
        10 => "event: error\ndata: it broke\n\n".to_owned(),
        11 => "data: {\"choices\": [\n\n".to_owned(),
        12 => json!({"choices": [{"message": {"content": "go"}, "finish_reason": "stop"}]}).to_string(),
        13 => "<html><title>no</title></html>\n".to_owned(),
        14 => {
            format!("data: {}\n", json!({"choices": [{"delta": {"content": [1, {"text": 2}]}}], "usage": 3}))
        }
        _ => return (0..rng.below(40)).map(|_| rng.next() as u8).collect(),
    };
    let mut bytes = text.into_bytes();
    if rng.once_in(12) {
        bytes.truncate(rng.below(bytes.len() + 1));
    }
    if rng.once_in(12) && !bytes.is_empty() {
        let at = rng.below(bytes.len());
        bytes[at] = rng.next() as u8;
    }
    bytes
}

/// Returns the script of one connection.
fn server_script(rng: &mut Rng) -> Vec<ScriptStep> {
    if rng.once_in(8) {
        return complete_reply("go to desk 1");
    }
    let status = [200, 200, 200, 200, 400, 401, 422, 429, 500, 503][rng.below(10)];
    let chunked = rng.once_in(2);
    let mut steps = Vec::new();
    if rng.once_in(20) {
        steps.push(ScriptStep::Send((0..rng.below(30)).map(|_| rng.next() as u8).collect()));
    }
    let kind = rng.pick(&["text/event-stream", "application/json", "text/html", "text/plain"]);
    let ending = if chunked { "transfer-encoding: chunked\r\n" } else { "" };
    let wait = rng.pick(&["", "retry-after-ms: 1\r\n", "retry-after: 100\r\n", "x-should-retry: false\r\n"]);
    let head_bytes = head(status, &format!("content-type: {kind}\r\n{ending}{wait}"));
    steps.push(ScriptStep::Send(if rng.once_in(20) {
        head_bytes[..rng.below(head_bytes.len())].to_vec()
    } else {
        head_bytes
    }));
    for _ in 0..rng.below(12) {
        let bytes = body_piece(rng);
        if chunked && !bytes.is_empty() {
            let mut chunk = format!("{:x}\r\n", bytes.len() + usize::from(rng.once_in(40))).into_bytes();
            chunk.extend(bytes);
            chunk.extend(b"\r\n");
            steps.push(ScriptStep::Send(chunk));
        } else {
            steps.push(ScriptStep::Send(bytes));
        }
        if rng.once_in(16) {
            steps.push(ScriptStep::Wait(MS * rng.below(4) as u32));
        }
    }
    match rng.below(6) {
        0 => steps.push(ScriptStep::Hang),
        1 => steps.push(ScriptStep::Reset),
        2 => steps.push(ScriptStep::Forever(
            if chunked { b"3\r\n: \n\r\n".to_vec() } else { b": \n".to_vec() },
            MS,
        )),
        _ if chunked => steps.push(ScriptStep::Send(b"0\r\n\r\n".to_vec())),
        _ => {}
    }
    steps
}

#[test]
fn every_call_ends_whatever_the_server_does() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut complete, mut failed) = (0, 0);
    Soak::new("model server", 1000).run(|rng, number| {
        let scripts: Vec<Vec<ScriptStep>> = (0..=rng.below(4)).map(|_| server_script(rng)).collect();
        let script_text = format!("{scripts:?}");
        runtime.block_on(async {
            let server = Server::start(scripts).await;
            let mut endpoint = endpoint(&server.base);
            endpoint.timeouts.first_piece = 40 * MS;
            endpoint.timeouts.idle = 30 * MS;
            endpoint.timeouts.tail = 10 * MS;
            // The helper checks everything for the key, and has a timeout.
            let answer = ask(&provider(endpoint), request()).await;
            match answer.error {
                None => {
                    complete += 1;
                    assert!(answer.usage.is_some(), "case {number}: {script_text}");
                }
                Some(error) => {
                    failed += 1;
                    assert!(!error.message.is_empty() && !error.hint.is_empty(), "case {number}: {error:?}");
                    assert_eq!(error.partial_reply, answer.text, "case {number}");
                    assert!(
                        error.kind != FailureKind::NoAnswer && error.kind != FailureKind::Misconfigured
                            || error.status.is_some()
                    );
                }
            }
        });
    });
    println!("model server: {complete} complete replies, {failed} failures");
}
