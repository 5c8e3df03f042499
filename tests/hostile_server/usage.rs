//! Implausible token counts, and the cost of failed calls.

use crate::client::{ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, chunked, complete_reply, end_event, reasoning_event, text_event};
use crate::{MS, block_on};
use retrospect::domain::Usage;
use retrospect::provider::FailureKind;
use retrospect::provider::openai::{Endpoint, Prices};
use serde_json::{Value, json};

/// Regression: the program panicked, and so did every later one that opened the session.
#[test]
fn implausible_counts_are_ignored_and_reported_once() {
    let usages: [Value; 3] = [
        json!({"prompt_tokens": 1_u64 << 63, "completion_tokens": 1_u64 << 63}),
        json!({"prompt_tokens": 1e300, "completion_tokens": 1}),
        serde_json::from_str(r#"{"prompt_tokens": 1, "completion_tokens": 1000000000000000000000000000000}"#)
            .unwrap(),
    ];
    for usage in usages {
        block_on(async {
            let last = json!({"choices": [], "usage": usage});
            let body = format!("{}{}data: {last}\n\ndata: [DONE]\n\n", text_event("look"), end_event("stop"));
            let server = Server::start(vec![chunked(&[body.as_bytes()], true)]).await;
            let provider = provider(endpoint(&server.base));
            let mut notices = 0;
            for _ in 0..3 {
                let answer = ask(&provider, request()).await;
                let counted = answer.usage.unwrap();
                assert!(counted.estimated && counted.tokens() < 100, "{counted:?}");
                notices += answer.notices.iter().filter(|n| n.contains("impossible token counts")).count();
            }
            assert_eq!((notices, provider.learned().token_ratio), (1, None));
        });
    }
}

/// Regression: a failed call had no cost, even if part of its reply had arrived.
#[test]
fn the_partial_reply_of_a_failed_call_is_counted() {
    type Case = (&'static str, Vec<ScriptStep>, fn(&mut Endpoint), FailureKind, (u64, u64));
    let reasoned = "x".repeat(400);
    let partial_event = || reasoning_event("reasoning_content", &reasoned);
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 100}});
    let error = r#"data: {"error": {"message": "overloaded", "code": 503}}"#;
    let counted = format!("{}data: {usage}\n\n{error}\n\n", partial_event());
    let silent = [chunked(&[partial_event().as_bytes()], false), vec![ScriptStep::Hang]].concat();
    // Estimates: 13 tokens for the prompt, 100 for the reasoning.
    let cases: Vec<Case> = vec![
        (
            "an error after the usage",
            chunked(&[counted.as_bytes()], true),
            |_| {},
            FailureKind::Busy,
            (900, 100),
        ),
        (
            "a reset connection",
            chunked(&[partial_event().as_bytes()], false),
            |_| {},
            FailureKind::Interrupted,
            (13, 100),
        ),
        ("silence", silent.clone(), |e| e.timeouts.idle = 50 * MS, FailureKind::TimedOut, (13, 100)),
        (
            "total time limit exceeded",
            silent,
            |e| e.timeouts.total = Some(1500 * MS),
            FailureKind::TimedOut,
            (13, 100),
        ),
    ];
    for (name, script, configure, kind, (prompt, reply)) in cases {
        block_on(async {
            let server = Server::start(vec![script]).await;
            let mut endpoint = endpoint(&server.base);
            endpoint.prices = Some(Prices { prompt_per_million: 1.0, reply_per_million: 1.0 });
            configure(&mut endpoint);
            let answer = ask(&provider(endpoint), request()).await;
            assert_eq!(answer.error.map(|e| e.kind), Some(kind), "{name}");
            let usage = answer.usage.unwrap_or_else(|| panic!("{name}: nothing was counted"));
            assert_eq!((usage.prompt_tokens, usage.reply_tokens), (prompt, reply), "{name}");
            let counts = (usage.earlier.reported, usage.earlier.estimated);
            assert_eq!(counts, if prompt == 900 { (1000, 0) } else { (0, 113) }, "{name}");
            assert_eq!(usage.cost_nano, (prompt + reply) * 1000, "{name}");
        });
    }
}

/// A request without any response costs nothing.
#[test]
fn a_failed_call_without_a_response_costs_nothing() {
    block_on(async {
        let server = Server::start(vec![vec![ScriptStep::Hang]]).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.timeouts.first_piece = 50 * MS;
        let answer = ask(&provider(endpoint), request()).await;
        assert_eq!(answer.error.map(|e| e.kind), Some(FailureKind::TimedOut));
        assert_eq!(answer.usage, None::<Usage>);
    });
}

/// Regression: time spent in our own queue counted towards the total timeout, so calls failed before they were sent.
#[test]
fn the_total_timeout_excludes_the_wait_in_our_own_queue() {
    block_on(async {
        let slow = [vec![ScriptStep::Read, ScriptStep::Wait(100 * MS)], complete_reply("look")].concat();
        let server = Server::start(vec![slow]).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.one_at_a_time = true;
        endpoint.timeouts.total = Some(400 * MS);
        let provider = provider(endpoint);
        let calls = (0..8).map(|_| ask(&provider, request()));
        for answer in futures_util::future::join_all(calls).await {
            assert_eq!((answer.text.as_str(), answer.error), ("look", None));
        }
    });
}
