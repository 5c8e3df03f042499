//! Replies that a server interrupts because another request arrives: `[DONE]` without a finish reason.

use crate::block_on;
use crate::client::{Answer, ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, chunked, complete_reply, plain_response, text_event};
use retrospect::provider::openai::{OpenAi, QuirkStore};
use retrospect::provider::{FailureKind, Provider as _, Request};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const ONE_AT_A_TIME: &str =
    "interrupts a reply when another request arrives; from now on it gets one request at a time";

/// Returns a reply that ends with `[DONE]` without a `finish_reason`, as llama_cpp.server sends it.
fn reply_without_finish(text: &str) -> Vec<ScriptStep> {
    let role = "data: {\"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\"}, \"finish_reason\": null}]}\n\n";
    chunked(&[format!("{role}{}data: [DONE]\n\n", text_event(text)).as_bytes()], true)
}

/// Returns the same reply, sent once this many requests have arrived in total.
fn interrupted_reply(text: &str, requests: usize) -> Vec<ScriptStep> {
    let mut steps = reply_without_finish(text);
    steps.splice(1..1, [ScriptStep::Requests(requests)]);
    steps.insert(0, ScriptStep::Read);
    steps
}

/// Returns a complete reply after a delay.
fn slow_reply(text: &str) -> Vec<ScriptStep> {
    let mut steps = vec![ScriptStep::Read, ScriptStep::Wait(Duration::from_millis(20))];
    steps.extend(complete_reply(text));
    steps
}

fn request_with_seed(seed: u64) -> Request {
    Request { seed, ..request() }
}

fn notice_count(answers: &[Answer], words: &str) -> usize {
    answers.iter().flat_map(|a| &a.notices).filter(|n| n.contains(words)).count()
}

/// Regression: half a reply was treated as complete, even the very first one.
#[test]
fn an_interrupted_reply_is_not_treated_as_complete() {
    block_on(async {
        let server = Server::start(vec![
            interrupted_reply("go to", 2),
            slow_reply("take mug 1"),
            slow_reply("go to desk 1"),
        ])
        .await;
        let client = provider(endpoint(&server.base));
        let (first, second) =
            tokio::join!(ask(&client, request_with_seed(1)), ask(&client, request_with_seed(2)));
        assert_eq!((first.text.as_str(), second.text.as_str()), ("go to desk 1", "take mug 1"));
        assert_eq!((&first.error, &second.error), (&None, &None));
        let usage = first.usage.unwrap();
        assert!(usage.earlier.estimated > 0, "the interrupted reply is counted: {usage:?}");
        let (a, b, c) = tokio::join!(
            ask(&client, request_with_seed(3)),
            ask(&client, request_with_seed(4)),
            ask(&client, request_with_seed(5))
        );
        let concurrent_requests: Vec<usize> = server.requests().iter().map(|a| a.concurrent).collect();
        assert_eq!(
            concurrent_requests,
            [0, 1, 0, 0, 0, 0],
            "one request at a time, from the interrupted one on"
        );
        let answers = [first, second, a, b, c];
        assert_eq!(
            (notice_count(&answers, ONE_AT_A_TIME), notice_count(&answers, "retrying (1 of 2)")),
            (1, 1)
        );
    });
}

/// This applies to the first call as well.
#[test]
fn a_server_known_to_interrupt_gets_one_request_at_a_time() {
    block_on(async {
        let server = Server::start(vec![slow_reply("look")]).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.one_at_a_time = true;
        let client = provider(endpoint);
        let (a, b, c) = tokio::join!(
            ask(&client, request_with_seed(1)),
            ask(&client, request_with_seed(2)),
            ask(&client, request_with_seed(3))
        );
        assert_eq!([&a.text, &b.text, &c.text], ["look"; 3]);
        let concurrent_requests: Vec<usize> = server.requests().iter().map(|a| a.concurrent).collect();
        assert_eq!(concurrent_requests, [0, 0, 0]);
    });
}

/// Two models of one server also interrupt each other.
#[test]
fn all_models_of_a_server_wait_for_each_other_once_it_is_known() {
    block_on(async {
        let server = Server::start(vec![
            interrupted_reply("go to", 2),
            slow_reply("take mug 1"),
            slow_reply("go to desk 1"),
        ])
        .await;
        let client_for = |model: &str| {
            let mut endpoint = endpoint(&server.base);
            model.clone_into(&mut endpoint.model);
            OpenAi::with_quirks(endpoint.clone(), QuirkStore::for_endpoint(&endpoint))
        };
        let (actor, mentor) = (client_for("actor"), client_for("mentor"));
        let (first, second) =
            tokio::join!(ask(&actor, request_with_seed(1)), ask(&mentor, request_with_seed(2)));
        assert_eq!((first.text.as_str(), second.text.as_str()), ("go to desk 1", "take mug 1"));
        tokio::join!(ask(&actor, request_with_seed(3)), ask(&mentor, request_with_seed(4)));
        let concurrent_requests: Vec<usize> = server.requests().iter().map(|a| a.concurrent).collect();
        assert_eq!(concurrent_requests, [0, 1, 0, 0, 0]);
        assert!(Arc::ptr_eq(
            &QuirkStore::for_endpoint(actor.endpoint()),
            &QuirkStore::for_endpoint(client_for("actor").endpoint())
        ));
    });
}

/// Returns an unstreamed reply, from a server that honours `stream: false`.
fn unstreamed_reply(text: &str) -> Vec<ScriptStep> {
    let message = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]});
    plain_response(200, "", &message.to_string())
}

/// Some servers never send a finish reason in streams: the same text without a stream shows that or, if the server
/// streams regardless, the same text four times.
#[test]
fn a_server_that_never_sends_a_finish_reason_is_recognized_once() {
    let honours_stream_false = vec![
        reply_without_finish("go"),
        reply_without_finish("go"),
        unstreamed_reply("go"),
        reply_without_finish("go"),
    ];
    for (scripts, first_requests) in [(honours_stream_false, 3), (vec![reply_without_finish("go")], 4)] {
        block_on(async {
            let server = Server::start(scripts).await;
            let client = provider(endpoint(&server.base));
            let first = ask(&client, request_with_seed(1)).await;
            let second = ask(&client, request_with_seed(2)).await;
            let requests = server.requests();
            assert_eq!((first.text.as_str(), second.text.as_str()), ("go", "go"));
            assert_eq!((first.error.clone(), second.error.clone()), (None, None));
            let streams: Vec<bool> = requests.iter().map(|a| a.body["stream"].as_bool().unwrap()).collect();
            let expected = (0..=first_requests).map(|n| n < 2 || n == first_requests);
            assert_eq!(streams, expected.collect::<Vec<_>>());
            assert_eq!(notice_count(&[first, second], "never sends a finish_reason"), 1);
            // Two concurrent replies of this kind don't show that requests interrupt each other.
            let (a, b) = tokio::join!(ask(&client, request_with_seed(3)), ask(&client, request_with_seed(4)));
            assert_eq!((server.requests().len(), notice_count(&[a, b], "")), (requests.len() + 2, 0));
        });
    }
}

/// Regression: half replies were treated as the server's normal way to end replies, and executed; the second attempt
/// was not made.
#[test]
fn half_replies_do_not_show_that_a_server_never_sends_a_finish_reason() {
    let cases: [(&str, Vec<Vec<ScriptStep>>, usize); 4] = [
        (
            "different partial replies",
            vec![
                reply_without_finish("open cab"),
                reply_without_finish("go to drawer "),
                complete_reply("look"),
            ],
            3,
        ),
        (
            "the same partial reply twice",
            vec![reply_without_finish("lo"), reply_without_finish("lo"), complete_reply("look")],
            3,
        ),
        (
            "the same partial reply three times",
            vec![
                reply_without_finish("lo"),
                reply_without_finish("lo"),
                reply_without_finish("lo"),
                complete_reply("look"),
            ],
            4,
        ),
        (
            "then a complete unstreamed reply",
            vec![reply_without_finish("lo"), reply_without_finish("lo"), unstreamed_reply("look")],
            3,
        ),
    ];
    for (name, scripts, requests) in cases {
        block_on(async {
            let server = Server::start(scripts).await;
            let answer = ask(&provider(endpoint(&server.base)), request_with_seed(1)).await;
            let actual = (answer.text.as_str(), answer.error.as_ref(), server.requests().len());
            assert_eq!(actual, ("look", None, requests), "{name}: {:?}", answer.notices);
            assert_eq!(notice_count(&[answer], "never sends a finish_reason"), 0, "{name}");
        });
    }
    block_on(async {
        let server = Server::start(vec![
            reply_without_finish("open it"),
            reply_without_finish("go"),
            reply_without_finish("look"),
        ])
        .await;
        let answer = ask(&provider(endpoint(&server.base)), request_with_seed(1)).await;
        assert_eq!((answer.error.unwrap().kind, server.requests().len()), (FailureKind::Interrupted, 3));
    });
}

/// Sampled replies differ: if streams never have a finish reason, replies are requested without streaming.
#[test]
fn a_server_whose_streams_have_no_finish_reason_is_called_without_streaming() {
    block_on(async {
        let call = [reply_without_finish("open it"), reply_without_finish("go on"), unstreamed_reply("look")];
        let server = Server::start([&call[..], &call[..], &[unstreamed_reply("look")]].concat()).await;
        let client = provider(endpoint(&server.base));
        let mut answers = Vec::new();
        for seed in 0..4 {
            answers.push(ask(&client, request_with_seed(seed)).await);
            assert_eq!(
                (answers[seed as usize].text.as_str(), &answers[seed as usize].error),
                ("look", &None)
            );
        }
        assert_eq!(
            (server.requests().len(), notice_count(&answers, "streaming is off for it from now on")),
            (8, 1)
        );
    });
}

/// Regression: a server with empty streams was called twice at every step, with a message each time.
#[test]
fn a_server_with_empty_streams_is_called_without_streaming() {
    block_on(async {
        let empty_stream = || chunked(&[b"data: [DONE]\n\n"], true);
        let server = Server::start(vec![
            empty_stream(),
            unstreamed_reply("look"),
            empty_stream(),
            unstreamed_reply("look"),
        ])
        .await;
        let client = provider(endpoint(&server.base));
        let mut answers = Vec::new();
        for seed in 0..5 {
            answers.push(ask(&client, request_with_seed(seed)).await);
        }
        assert!(answers.iter().all(|a| a.text == "look" && a.error.is_none()), "{answers:?}");
        assert_eq!(
            (server.requests().len(), notice_count(&answers, "without streaming")),
            (7, 2),
            "{answers:?}"
        );
        let next_process = provider(endpoint(&server.base));
        next_process.restore_quirks(&client.setting_deviations());
        assert_eq!(ask(&next_process, request_with_seed(9)).await.text, "look");
        assert_eq!(server.requests().len(), 8, "the next process knows it");
    });
}

/// Regression: after only `[DONE]`, a clean end or a lost connection there was no retry, and two were reported as an
/// overflow.
#[test]
fn a_stream_that_ended_beside_another_request_is_retried() {
    let role = b"data: {\"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\"}}]}\n\n";
    let partial = text_event("go t");
    let endings: [(&str, Vec<ScriptStep>); 5] = [
        ("[DONE] alone", chunked(&[b"data: [DONE]\n\n"], true)),
        ("a clean end", chunked(&[], true)),
        ("a clean end after some words", chunked(&[partial.as_bytes()], true)),
        ("a cut connection", chunked(&[role], false)),
        ("a cut connection after some words", chunked(&[partial.as_bytes()], false)),
    ];
    for (name, ending) in endings {
        block_on(async {
            // It ends as soon as the other request arrives.
            let interrupted = |requests| {
                let mut steps = ending.clone();
                steps.splice(1..1, [ScriptStep::Requests(requests)]);
                [vec![ScriptStep::Read], steps].concat()
            };
            let scripts = vec![
                interrupted(2),
                slow_reply("take mug 1"),
                slow_reply("look"),
                interrupted(5),
                slow_reply("take mug 1"),
            ];
            let server = Server::start(scripts).await;
            let client = provider(endpoint(&server.base));
            let mut answers = Vec::new();
            for seed in [1, 3] {
                let (a, b) = tokio::join!(
                    ask(&client, request_with_seed(seed)),
                    ask(&client, request_with_seed(seed + 1))
                );
                answers.extend([a, b]);
            }
            let (a, b) = tokio::join!(ask(&client, request_with_seed(5)), ask(&client, request_with_seed(6)));
            answers.extend([a, b]);
            let texts: Vec<&str> = answers.iter().map(|a| a.text.as_str()).collect();
            assert_eq!(texts[..2], ["look", "take mug 1"], "{name}: {answers:?}");
            assert!(answers.iter().all(|a| a.error.is_none() && !a.text.is_empty()), "{name}: {answers:?}");
            let concurrent_requests: Vec<usize> = server.requests().iter().map(|a| a.concurrent).collect();
            assert_eq!(
                concurrent_requests,
                [0, 1, 0, 0, 1, 0, 0, 0],
                "{name}: one at a time from the second one on"
            );
            assert_eq!(
                (notice_count(&answers, ONE_AT_A_TIME), notice_count(&answers, "exceeds their context")),
                (1, 0)
            );
        });
    }
}

/// Regression: llama-cpp-python interrupts streams by default, and its first replies were requested twice.
#[test]
fn llama_cpp_python_is_known_by_its_models_before_it_gets_two_requests_at_once() {
    let uvicorn = |steps: Vec<ScriptStep>| -> Vec<ScriptStep> {
        let add_header = |step| match step {
            ScriptStep::Send(bytes) if bytes.starts_with(b"HTTP/1.1") => {
                let text = String::from_utf8(bytes).unwrap();
                ScriptStep::Send(text.replacen("\r\n", "\r\nserver: uvicorn\r\n", 1).into_bytes())
            }
            step => step,
        };
        steps.into_iter().map(add_header).collect()
    };
    let list = |owner: &str| {
        let list = json!({"object": "list", "data": [{"id": "tiny", "object": "model", "owned_by": owner}]});
        uvicorn(plain_response(200, "", &list.to_string()))
    };
    let not_found = uvicorn(plain_response(404, "", "{}"));
    for (models, is_serialized) in [(list("me"), true), (list("vllm"), false), (not_found, false)] {
        block_on(async {
            let server =
                Server::start(vec![uvicorn(slow_reply("look")), models, uvicorn(slow_reply("look"))]).await;
            let client = provider(endpoint(&server.base));
            let requests = (0..4).map(|seed| ask(&client, request_with_seed(seed)));
            let answers = futures_util::future::join_all(requests).await;
            assert!(answers.iter().all(|a| a.text == "look"), "{answers:?}");
            let requests = server.requests();
            let concurrent_requests: Vec<usize> = requests.iter().map(|a| a.concurrent).collect();
            assert_eq!(
                (concurrent_requests[..3] == [0; 3], concurrent_requests[3..] == [0; 2]),
                (true, is_serialized),
                "{concurrent_requests:?}"
            );
            assert_eq!((requests.len(), requests[1].line.starts_with("GET /v1/models ")), (5, true));
            assert_eq!(notice_count(&answers, ONE_AT_A_TIME), usize::from(is_serialized));
        });
    }
    // No request is waiting, so the server isn't checked.
    block_on(async {
        let server = Server::start(vec![uvicorn(slow_reply("look"))]).await;
        let client = provider(endpoint(&server.base));
        for seed in 0..3 {
            assert_eq!(ask(&client, request_with_seed(seed)).await.text, "look");
        }
        assert!(server.requests().iter().all(|a| a.line.starts_with("POST ")));
    });
}

/// The cause may be another program that uses the server.
#[test]
fn a_reply_interrupted_repeatedly_is_a_failed_call() {
    block_on(async {
        let server = Server::start(vec![complete_reply("look"), reply_without_finish("go to")]).await;
        let client = provider(endpoint(&server.base));
        assert_eq!(ask(&client, request_with_seed(1)).await.text, "look");
        let answer = ask(&client, request_with_seed(2)).await;
        let error = answer.error.clone().unwrap();
        assert_eq!(
            (error.kind, error.partial_reply.as_str()),
            (FailureKind::Interrupted, "go to"),
            "{error:?}"
        );
        assert_eq!((server.requests().len(), notice_count(&[answer], ONE_AT_A_TIME)), (4, 0));
    });
    // A reply that got further the second time was interrupted the first time.
    block_on(async {
        let server = Server::start(vec![
            reply_without_finish("go"),
            reply_without_finish("go to"),
            complete_reply("go to desk 1"),
        ])
        .await;
        let answer = ask(&provider(endpoint(&server.base)), request_with_seed(1)).await;
        assert_eq!((answer.text.as_str(), answer.error, server.requests().len()), ("go to desk 1", None, 3));
    });
}
