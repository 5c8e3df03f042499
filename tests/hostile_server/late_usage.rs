//! Usage that arrives after a stop sequence has ended the reply on our side: it is waited for, but not for long if it
//! doesn't arrive.

use crate::client::{ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, chunked, end_event, text_event};
use crate::{MS, block_on, chunk};
use serde_json::json;
use std::time::Duration;

/// Returns a reply of a server that ignores stop sequences: it continues to its own end, followed by these events.
fn reply_past_stop(last_events: &str) -> Vec<ScriptStep> {
    let events = [
        text_event("look\nObs"),
        text_event("ervation: made "),
        text_event("up\n> inventory"),
        end_event("length"),
    ];
    let mut bodies: Vec<&[u8]> = events.iter().map(String::as_bytes).collect();
    bodies.extend([last_events.as_bytes(), b"data: [DONE]\n\n"]);
    chunked(&bodies, true)
}

/// Regression: the connection was closed at the stop sequence, and 733 tokens were estimated where the server had counted
/// 1,668.
#[test]
fn usage_after_a_stop_sequence_is_received() {
    block_on(async {
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 150, "completion_tokens": 18}});
        let server = Server::start(vec![reply_past_stop(&format!("data: {usage}\n\n"))]).await;
        let client = provider(endpoint(&server.base));
        let answer = ask(&client, request()).await;
        assert_eq!((answer.text.as_str(), answer.error), ("look", None));
        let usage = answer.usage.unwrap();
        assert_eq!((usage.estimated, usage.prompt_tokens, usage.reply_tokens), (false, 150, 18));
        let learned = client.learned();
        assert!(
            learned.token_ratio.is_some_and(|ratio| ratio > 5.0),
            "the budget is based on it: {learned:?}"
        );
        assert_eq!((learned.sends_finish_reason, learned.usage_misses), (Some(true), 0));
        assert_eq!(answer.truncated, None, "the answer ended at its stop sequence, whatever ended the rest");
    });
}

/// A server that ends by itself and sends no usage isn't waited for.
#[test]
fn a_server_that_counts_nothing_is_not_waited_for() {
    block_on(async {
        let server = Server::start(vec![reply_past_stop(": nothing more\n\n")]).await;
        let client = provider(endpoint(&server.base));
        for _ in 0..3 {
            let answer = ask(&client, request()).await;
            assert!(answer.text == "look" && answer.usage.unwrap().estimated, "{answer:?}");
        }
        assert_eq!(client.learned().usage_misses, 0);
    });
}

/// A server that continues, slowly or fast, or stalls is disconnected after a moment, and from the third time on at
/// once, except for every eighth reply.
#[test]
fn a_server_that_does_not_end_is_disconnected_and_then_rarely_waited_for() {
    let partial_reply = || chunked(&[text_event("look\n").as_bytes()], false);
    let continues =
        |pause| [partial_reply(), vec![ScriptStep::Forever(chunk(&text_event("more ")), pause)]].concat();
    for script in
        [continues(MS), continues(Duration::ZERO), [partial_reply(), vec![ScriptStep::Hang]].concat()]
    {
        block_on(async {
            let server = Server::start(vec![script]).await;
            let client = provider(endpoint(&server.base));
            let waits = [1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3];
            for misses in waits {
                let answer = ask(&client, request()).await;
                assert_eq!((answer.text.as_str(), answer.error), ("look", None));
                assert!(answer.usage.unwrap().estimated);
                assert_eq!(client.learned().usage_misses, misses);
            }
            while server.disconnects() < waits.len() as u32 {
                tokio::time::sleep(MS).await;
            }
        });
    }
}

/// Regression: after two slow replies at the start, all later ones were estimated although their usage arrived at once.
#[test]
fn a_server_that_was_late_twice_is_waited_for_again() {
    block_on(async {
        let late = [chunked(&[text_event("look\n").as_bytes()], false), vec![ScriptStep::Hang]].concat();
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 150, "completion_tokens": 18}});
        let server =
            Server::start(vec![late.clone(), late, reply_past_stop(&format!("data: {usage}\n\n"))]).await;
        let client = provider(endpoint(&server.base));
        let mut estimated = Vec::new();
        for _ in 0..11 {
            estimated.push(ask(&client, request()).await.usage.unwrap().estimated);
        }
        assert_eq!(estimated, [vec![true; 9], vec![false; 2]].concat());
        assert_eq!(client.learned().usage_misses, 0);
    });
}
