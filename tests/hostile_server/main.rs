//! Tests how the client handles servers that misbehave. The server's misbehavior is scripted, case by case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test may panic")]

mod answers;
mod bodies;
mod bounds;
#[path = "../serving/client.rs"]
mod client;
mod connections;
mod cut;
mod endings;
mod interrupted;
mod late_usage;
mod leaks;
mod requests;
#[path = "../serving/server.rs"]
mod server;
mod statuses;
mod usage;

use Expected::{Failure, Reply};
use client::{ask, endpoint, provider, request};
use retrospect::provider::FailureKind;
use retrospect::provider::openai::Endpoint;
use server::{ScriptStep, Server};
use std::future::Future;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// The expected result of a case.
enum Expected {
    /// Text and reasoning, after this many requests.
    Reply(&'static str, &'static str, usize),
    /// A failure of this kind whose message contains this text, after this many requests, with this partial reply.
    Failure(FailureKind, &'static str, usize, &'static str),
}

struct Case {
    name: &'static str,
    scripts: Vec<Vec<ScriptStep>>,
    configure: fn(&mut Endpoint),
    expected: Expected,
}

fn case(name: &'static str, script: Vec<ScriptStep>, expected: Expected) -> Case {
    Case { name, scripts: vec![script], configure: |_| {}, expected }
}

fn run_cases(cases: Vec<Case>) {
    block_on(async {
        for case in cases {
            let server = Server::start(case.scripts).await;
            let mut endpoint = endpoint(&server.base);
            (case.configure)(&mut endpoint);
            let answer = ask(&provider(endpoint), request()).await;
            let request_count = server.requests().len();
            let name = case.name;
            match case.expected {
                Reply(text, reasoning, times) => {
                    assert_eq!(answer.error, None, "{name}");
                    let actual = (answer.text.as_str(), answer.reasoning.as_str(), request_count);
                    assert_eq!(actual, (text, reasoning, times), "{name}: {:?}", answer.notices);
                    assert!(answer.usage.is_some(), "{name}: a complete reply has a usage");
                }
                Failure(kind, words, times, partial) => {
                    let error =
                        answer.error.unwrap_or_else(|| panic!("{name}: unexpected reply {:?}", answer.text));
                    assert_eq!((error.kind, request_count), (kind, times), "{name}: {error:?}");
                    assert!(error.message.contains(words), "{name}: {}", error.message);
                    if partial != "*" {
                        assert_eq!(answer.text, partial, "{name}");
                    }
                    assert_eq!(
                        error.partial_reply, answer.text,
                        "{name}: the partial reply differs from the text shown"
                    );
                    assert!(!error.hint.is_empty(), "{name}: no hint");
                    assert!(
                        !error.message.contains('\n') && error.message.len() < 900,
                        "{name}: {}",
                        error.message
                    );
                }
            }
        }
    });
}

fn send_bytes(bytes: &[u8]) -> ScriptStep {
    ScriptStep::Send(bytes.to_vec())
}

/// The error of llama.cpp's server for a prompt that is too long, if it sends one.
const OVERFLOW: &str = r#"{"error":{"message":"This model's maximum context length is 512 tokens. However, you requested 2065 tokens (2053 in the messages, 12 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}
