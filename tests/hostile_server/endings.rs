//! How servers report the end of a reply (`finish_reason`, `refusal`), and how incomplete replies are handled.

use crate::block_on;
use crate::client::{Answer, ask, endpoint, provider, request};
use crate::cut::NEWLINE_STOP_CHECK;
use crate::server::{ScriptStep, Server, complete_reply, end_event, plain_response, stream, text_event};
use retrospect::domain::{ModelRole, ToolCall, Truncation};
use retrospect::provider::{FailureKind, Request};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns a stream of this text with a finish reason and a usage of 100 prompt and `tokens` reply tokens.
fn text_script(text: &str, finish: &str, tokens: u32) -> Vec<ScriptStep> {
    let text = if text.is_empty() { String::new() } else { text_event(text) };
    events_script(&text, finish, tokens)
}

/// The same for these events.
fn events_script(events: &str, finish: &str, tokens: u32) -> Vec<ScriptStep> {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": tokens}});
    stream(format!("{events}{}data: {usage}\n\ndata: [DONE]\n\n", end_event(finish)).as_bytes())
}

fn error_script(message: &str) -> Vec<ScriptStep> {
    plain_response(400, "", &json!({"error": {"message": message, "param": "max_tokens"}}).to_string())
}

fn actor_request() -> Request {
    Request { newline_stop_check: Some(NEWLINE_STOP_CHECK), ..request() }
}

fn mentor_request() -> Request {
    Request { role: ModelRole::Mentor, stop: Vec::new(), ..request() }
}

fn sent_limits(server: &Server) -> Vec<Value> {
    server
        .requests()
        .iter()
        .map(|request| request.body.get("max_tokens").cloned().unwrap_or(Value::Null))
        .collect()
}

fn notice_count(answer: &Answer, words: &str) -> usize {
    answer.notices.iter().filter(|notice| notice.contains(words)).count()
}

/// Regression: `go to counterto` was sent to the environment, and half a rule became a lesson: only three finish
/// reasons counted as incomplete.
#[test]
fn a_reply_that_ended_for_another_reason_is_not_complete() {
    block_on(async {
        for reason in ["insufficient_system_resource", "error", "abort", "ERROR"] {
            let partial = || text_script("go to counterto", reason, 4);
            let server = Server::start(vec![partial(), complete_reply("look")]).await;
            let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
            assert_eq!((answer.text.as_str(), answer.truncated, answer.error.as_ref()), ("look", None, None));
            let notice = format!("interrupted the reply: finish_reason {reason}; retrying (1 of 2)");
            assert_eq!(notice_count(&answer, &notice), 1, "{:?}", answer.notices);
            assert_eq!(answer.usage.unwrap().earlier.reported, 104, "{reason}");
            // After three attempts, the call fails and keeps the partial reply.
            let server = Server::start(vec![partial()]).await;
            let error = ask(&provider(endpoint(&server.base)), actor_request()).await.error.unwrap();
            assert_eq!(
                (error.kind, error.partial_reply.as_str()),
                (FailureKind::Interrupted, "go to counterto")
            );
            assert!(error.message.contains(reason) && server.requests().len() == 3, "{error:?}");
        }
        let cases = [
            ("SAFETY", Some(Truncation::Filter), 1),
            ("content_filter", Some(Truncation::Filter), 1),
            ("model_length", None, 2),
            ("MAX_TOKENS", None, 2),
            ("OTHER", Some(Truncation::Other), 1),
            ("eos", None, 1),
            ("STOP", None, 1),
            ("end_turn", None, 1),
        ];
        for (reason, truncated, requests) in cases {
            let server =
                Server::start(vec![text_script("go to desk 1", reason, 4), complete_reply("go to desk 1")])
                    .await;
            let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
            assert_eq!(
                (answer.truncated, server.requests().len()),
                (truncated, requests),
                "{reason}: {answer:?}"
            );
        }
        // An unknown finish reason is reported once.
        let server = Server::start(vec![text_script("go to desk 1", "OTHER", 4)]).await;
        let client = provider(endpoint(&server.base));
        for times in [1, 0] {
            let answer = ask(&client, actor_request()).await;
            assert_eq!(notice_count(&answer, "unknown finish_reason OTHER"), times);
            assert_eq!(answer.truncated, Some(Truncation::Other));
        }
    });
}

/// Regression: "This request was blocked by the usage policy." became three lessons and an action.
#[test]
fn a_refusal_beside_the_content_is_not_a_reply() {
    let refusal = "This request was blocked by the usage policy.";
    let delta = json!({"choices": [{"index": 0, "delta": {"content": null, "refusal": refusal}}]});
    let unstreamed =
        json!({"choices": [{"message": {"content": null, "refusal": refusal}, "finish_reason": "stop"}]});
    block_on(async {
        for script in [
            stream(format!("data: {delta}\n\n{}", end_event("stop")).as_bytes()),
            stream(format!("data: {delta}\n\n{}", end_event("length")).as_bytes()),
            plain_response(200, "", &unstreamed.to_string()),
        ] {
            for request in
                [actor_request(), mentor_request(), Request { accept_truncated: true, ..mentor_request() }]
            {
                let server = Server::start(vec![script.clone()]).await;
                let answer = ask(&provider(endpoint(&server.base)), request).await;
                assert_eq!((answer.text.as_str(), answer.truncated), (refusal, Some(Truncation::Refusal)));
                assert_eq!(notice_count(&answer, &format!("the model refused to answer: {refusal}")), 1);
                assert_eq!(server.requests().len(), 1);
            }
        }
    });
}

/// Regression: only the exact word `stop` counted as an end at the stop sequence: other servers caused three empty replies
/// and a hint about the context.
#[test]
fn an_empty_reply_that_ended_at_the_stop_sequence_by_another_name_is_retried_without_it() {
    block_on(async {
        for reason in ["STOP", "stop_sequence", "eos", "end_turn"] {
            let server = Server::start(vec![text_script("", reason, 2), complete_reply("look")]).await;
            let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
            // Once may be chance, so nothing is learned from it yet.
            assert_eq!((answer.text.as_str(), answer.notices.len()), ("look", 0), "{reason}: {answer:?}");
            let stops: Vec<bool> = server.requests().iter().map(|a| a.body.get("stop").is_some()).collect();
            assert_eq!(stops, [true, false], "{reason}");
        }
    });
}

#[test]
fn a_tool_call_is_not_reported_as_a_prompt_that_is_too_long() {
    block_on(async {
        let server = Server::start(vec![text_script("", "tool_calls", 9)]).await;
        let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
        assert_eq!(
            notice_count(&answer, "the model replied with a tool call (finish_reason tool_calls)"),
            1,
            "{answer:?}"
        );
        assert_eq!((notice_count(&answer, "context"), server.requests().len()), (0, 1));
    });
}

/// A call arrives in pieces, another one between them; a server that reports `stop` has called a tool all the same.
#[test]
fn tool_calls_are_collected_from_their_pieces() {
    let piece = |index: u32, function: Value| {
        let delta = json!({"tool_calls": [{"index": index, "function": function}]});
        format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}))
    };
    let pieces = [
        piece(0, json!({"name": "look", "arguments": ""})),
        piece(0, json!({"arguments": "{\"at\": "})),
        piece(1, json!({"name": "take", "arguments": "{}"})),
        piece(0, json!({"arguments": "\"desk 1\"}"})),
    ];
    block_on(async {
        for (text, reason, notices) in [("", "tool_calls", 1), ("", "stop", 1), ("look", "tool_calls", 0)] {
            let words = if text.is_empty() { String::new() } else { text_event(text) };
            let server = Server::start(vec![events_script(&(pieces.concat() + &words), reason, 9)]).await;
            let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
            let calls: Vec<String> = answer.tool_calls.iter().map(ToolCall::describe).collect();
            assert_eq!(calls, [r#"look({"at": "desk 1"})"#, "take({})"], "{reason}: {answer:?}");
            assert_eq!(
                notice_count(&answer, "the model replied with a tool call"),
                notices,
                "{reason}: {answer:?}"
            );
            assert_eq!(answer.text, text, "{reason}");
        }
    });
}

/// Regression: a truncated list was lost when the request for a longer one failed.
#[test]
fn a_truncated_reply_is_kept_if_the_second_request_fails() {
    let list = "1. Look first.\n2. Never put the mug in the coff";
    let broken = || stream(text_event("1. Look first.\n2. Nev").as_bytes());
    let busy = |more: &str| plain_response(429, more, r#"{"error":{"message":"slow down"}}"#);
    block_on(async {
        let cases = [
            ("retry-after: 600", busy("retry-after: 600\r\n"), "slow down"),
            ("busy", plain_response(503, "", r#"{"error":{"message":"overloaded"}}"#), "overloaded"),
            ("a stream that breaks off", broken(), "was cut off"),
            ("a reply that is broken off", text_script("1. Loo", "error", 4), "finish_reason error"),
            ("an empty reply", text_script("", "stop", 1), "the reply was empty (finish_reason stop)"),
            ("no time", vec![ScriptStep::Read, ScriptStep::Hang], "was not complete after"),
        ];
        for (name, second, why) in cases {
            let server = Server::start(vec![text_script(list, "length", 1024), second]).await;
            let mut endpoint = endpoint(&server.base);
            endpoint.timeouts.total = (name == "no time").then_some(Duration::from_secs(1));
            let answer = ask(&provider(endpoint), mentor_request()).await;
            assert_eq!(answer.error, None, "{name}");
            assert_eq!((answer.text.as_str(), answer.truncated), (list, Some(Truncation::Length)), "{name}");
            let expected = "the retry with max_tokens 2048 failed; using the truncated reply";
            let notice = answer
                .notices
                .iter()
                .find(|n| n.contains(expected))
                .unwrap_or_else(|| panic!("{name}: {answer:?}"));
            assert!(notice.contains(why), "{name}: {notice}");
        }
    });
}

/// Regression: the same larger limit was tried, and rejected, at every call.
#[test]
fn a_rejected_doubled_limit_is_not_tried_again() {
    let too_long = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.";
    let too_large = "max_tokens is too large: 2048. This model supports at most 1024 completion tokens.";
    block_on(async {
        for message in [too_long, too_large] {
            let truncated = || text_script("1. Look", "length", 1024);
            let server = Server::start(vec![truncated(), error_script(message), truncated()]).await;
            let client = provider(endpoint(&server.base));
            for _ in 0..3 {
                let answer = ask(&client, mentor_request()).await;
                assert_eq!((answer.text.as_str(), answer.truncated), ("1. Look", Some(Truncation::Length)));
            }
            assert_eq!(sent_limits(&server), [1024, 2048, 1024, 1024], "{message}");
        }
        // A shorter prompt may leave room for it.
        let scripts = vec![
            text_script("1. Look", "length", 9),
            error_script(too_long),
            text_script("1.", "length", 9),
            complete_reply("1. Look."),
        ];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        ask(&client, mentor_request()).await;
        let mut short = mentor_request();
        let mut prompt = (*short.prompt).clone();
        prompt.segments.truncate(1);
        short.prompt = std::sync::Arc::new(prompt);
        assert_eq!(ask(&client, short).await.text, "1. Look.");
    });
}

/// Regression: 356 of 968 tokens were counted, and the rejected limit was reported as 512.
#[test]
fn requests_between_a_truncated_reply_and_a_rejected_limit_are_counted() {
    block_on(async {
        let too_large = "max_tokens is too large: 4096. This model supports at most 1024 completion tokens.";
        let scripts = vec![
            text_script("take the", "length", 256),
            text_script("", "length", 512),
            error_script(too_large),
        ];
        let server = Server::start(scripts).await;
        let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
        assert_eq!((answer.text.as_str(), answer.truncated), ("take the", Some(Truncation::Length)));
        assert_eq!(sent_limits(&server), [256, 512, 4096]);
        let usage = answer.usage.unwrap();
        assert_eq!((usage.tokens(), usage.earlier.reported), (968, 612));
        assert_eq!(
            notice_count(&answer, "rejected max_tokens 4096; using the truncated reply"),
            1,
            "{:?}",
            answer.notices
        );
    });
}
