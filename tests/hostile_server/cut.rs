//! Replies that end at a newline: which of them were cut off there, which are requested again, and what that costs.

use crate::block_on;
use crate::client::{ask, endpoint, provider, request};
use crate::server::{
    ScriptStep, Server, complete_reply, end_event, plain_response, reasoning_event, stream, text_event,
};
use retrospect::domain::EarlierUsage;
use retrospect::prompt::{can_be_reasoning, is_cut_short, read_reply_with};
use retrospect::provider::openai::OpenAi;
use retrospect::provider::{NewlineStopCheck, Provider as _, Request};
use serde_json::json;
use std::time::Duration;

/// How the actor checks whether the newline stop truncated a reply.
pub(crate) const NEWLINE_STOP_CHECK: NewlineStopCheck = NewlineStopCheck {
    is_cut_short,
    action: |reply, verbs| read_reply_with(verbs, reply).action,
    may_be_reasoning: can_be_reasoning,
};

const PARTIAL_TEXT: &str = "Thought: it is near.";
const WHOLE_TEXT: &str = "Thought: it is near.\nAction: look";
const STOP_NOTICE: &str = "the newline stop cut off the action; it is no longer sent to this server";

fn actor_request(seed: u64) -> Request {
    Request { newline_stop_check: Some(NEWLINE_STOP_CHECK), seed, ..request() }
}

/// Returns a complete reply with a usage of 100 prompt and 10 reply tokens.
fn counted_reply(text: &str) -> Vec<ScriptStep> {
    let counts = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
    stream(format!("{}{}data: {counts}\n\n", text_event(text), end_event("stop")).as_bytes())
}

fn sent_stops(server: &Server) -> Vec<bool> {
    server.requests().iter().map(|a| a.body.get("stop").is_some()).collect()
}

fn has_stop(client: &OpenAi) -> bool {
    !client.learned().skip_newline_stop
        && !client.setting_deviations().iter().any(|text| text.contains("newline"))
}

/// Regression: of two concurrent calls with the stop sequence, the second saw that it had been dropped meanwhile and
/// treated its half reply as complete.
#[test]
fn a_truncated_reply_is_not_used_after_a_concurrent_call_dropped_the_stop() {
    let delayed_partial = |millis| {
        let mut steps = vec![ScriptStep::Read, ScriptStep::Wait(Duration::from_millis(millis))];
        steps.extend(complete_reply(PARTIAL_TEXT));
        steps
    };
    block_on(async {
        let server =
            Server::start(vec![delayed_partial(20), delayed_partial(400), complete_reply(WHOLE_TEXT)]).await;
        let client = provider(endpoint(&server.base));
        let (first, second) = tokio::join!(ask(&client, actor_request(1)), ask(&client, actor_request(2)));
        assert_eq!((first.text.as_str(), second.text.as_str()), (WHOLE_TEXT, WHOLE_TEXT));
        assert_eq!(sent_stops(&server), [true, true, false, false]);
        assert_eq!([first.notices, second.notices].concat(), [STOP_NOTICE], "reported once");
    });
}

/// Regression: the prompt tokens of both replies were added up, and the context budget computed from the sum; and one
/// estimated count turned all counts into estimates.
#[test]
fn the_cost_of_an_unusable_reply_is_counted_separately() {
    block_on(async {
        let server = Server::start(vec![
            counted_reply(PARTIAL_TEXT),
            counted_reply(WHOLE_TEXT),
            counted_reply(WHOLE_TEXT),
        ])
        .await;
        let client = provider(endpoint(&server.base));
        let usage = ask(&client, actor_request(1)).await.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.reply_tokens, usage.last_prompt_tokens()), (200, 20, 100));
        assert_eq!(
            usage.earlier,
            EarlierUsage { prompt_tokens: 100, reported: 110, ..EarlierUsage::default() }
        );
        assert!(ask(&client, actor_request(2)).await.usage.unwrap().earlier.is_empty());
    });
    block_on(async {
        let server = Server::start(vec![counted_reply(PARTIAL_TEXT), complete_reply(WHOLE_TEXT)]).await;
        let usage = ask(&provider(endpoint(&server.base)), actor_request(1)).await.usage.unwrap();
        let mut counts = retrospect::domain::TokenCounts::default();
        counts.add(&usage);
        assert!(usage.estimated && counts.reported == 110 && counts.estimated > 0, "{counts:?}");
        assert_eq!(counts.tokens(), usage.tokens());
    });
}

/// Regression: the counts of the first reply were lost when the second failed.
#[test]
fn an_unusable_reply_is_counted_even_if_the_retry_fails() {
    block_on(async {
        let server = Server::start(vec![
            counted_reply(PARTIAL_TEXT),
            plain_response(402, "", r#"{"detail":"no credit"}"#),
        ])
        .await;
        let client = provider(endpoint(&server.base));
        let answer = ask(&client, actor_request(1)).await;
        assert!(answer.error.is_some());
        let usage = answer.usage.unwrap();
        assert!(
            usage.has_only_earlier() && usage.tokens() == 110 && usage.last_prompt_tokens() == 0,
            "{usage:?}"
        );
        assert!(has_stop(&client), "nothing is known yet");
    });
}

/// Regression: one odd reply disabled the stop sequence for good, with a wrong reason.
#[test]
fn a_model_that_ends_by_itself_keeps_the_stop_sequence() {
    block_on(async {
        let server = Server::start(vec![complete_reply(PARTIAL_TEXT)]).await;
        let client = provider(endpoint(&server.base));
        for (seed, requests) in [(1, 2), (2, 4), (3, 5), (4, 6)] {
            let answer = ask(&client, actor_request(seed)).await;
            assert_eq!((answer.text.as_str(), server.requests().len()), (PARTIAL_TEXT, requests));
            let notices: Vec<bool> = answer.notices.iter().map(|n| n.contains("keeping the stop")).collect();
            assert_eq!(notices, if seed < 3 { vec![true] } else { vec![] });
            assert!(has_stop(&client));
        }
        assert_eq!(sent_stops(&server), [true, false, true, false, true, true]);
    });
    // An action on the first line doesn't show anything about the stop sequence.
    block_on(async {
        let server = Server::start(vec![
            complete_reply(PARTIAL_TEXT),
            complete_reply("look"),
            complete_reply(PARTIAL_TEXT),
            complete_reply(WHOLE_TEXT),
        ])
        .await;
        let client = provider(endpoint(&server.base));
        assert_eq!(ask(&client, actor_request(1)).await.text, "look");
        assert!(has_stop(&client));
        let answer = ask(&client, actor_request(2)).await;
        assert_eq!((answer.text.as_str(), answer.notices), (WHOLE_TEXT, vec![STOP_NOTICE.to_owned()]));
        assert!(!has_stop(&client));
    });
}

/// Regression: one empty reply of a model that doesn't reason removed its stop sequences for good, because they "ended its
/// reasoning".
#[test]
fn stop_sequences_stay_until_a_reply_shows_that_they_do_harm() {
    let empty = || stream(format!("{}data: [DONE]\n\n", end_event("stop")).as_bytes());
    let reasoned =
        [reasoning_event("reasoning_content", "It is near."), text_event("look"), end_event("stop")].concat();
    let look = || complete_reply("look");
    let cases = [
        (
            "one empty reply changes nothing",
            vec![empty(), look()],
            3,
            [true, false, true, true].as_slice(),
            "",
        ),
        (
            "two empty replies remove the stop",
            vec![empty(), look(), look(), empty(), look()],
            4,
            &[true, false, true, true, false, false],
            "whose replies were empty with it",
        ),
        (
            "a reply with reasoning removes the stop at once",
            vec![empty(), stream(reasoned.as_bytes()), look()],
            2,
            &[true, false, false],
            "where it ended the model's reasoning",
        ),
    ];
    for (name, scripts, calls, stops, expected) in cases {
        block_on(async {
            let server = Server::start(scripts).await;
            let client = provider(endpoint(&server.base));
            let mut notices = Vec::new();
            for seed in 0..calls {
                let answer = ask(&client, actor_request(seed)).await;
                assert_eq!((answer.text.as_str(), answer.error), ("look", None), "{name}");
                notices.extend(answer.notices);
            }
            assert_eq!(sent_stops(&server), stops, "{name}");
            let unsent = client.setting_deviations().join("\n");
            assert_eq!(unsent.contains("stop: left out"), !expected.is_empty(), "{name}: {unsent}");
            assert!(unsent.contains(expected), "{name}: {unsent}");
            assert_eq!(notices.len(), usize::from(!expected.is_empty()), "{name}: {notices:?}");
            let misleading =
                notices.iter().any(|n| n.contains("reasoning")) && !expected.contains("reasoning");
            assert!(!misleading, "{name}: {notices:?}");
            let next = provider(endpoint(&server.base));
            next.restore_quirks(&client.setting_deviations());
            assert_eq!(next.learned().match_stops_locally, !expected.is_empty(), "{name}");
        });
    }
}

#[test]
fn a_reply_without_a_stream_is_checked() {
    let unstreamed = |text: &str| {
        let choice = json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
        plain_response(200, "", &json!({"object": "chat.completion", "choices": [choice]}).to_string())
    };
    block_on(async {
        let server =
            Server::start(vec![stream(b""), unstreamed(PARTIAL_TEXT), stream(b""), unstreamed(WHOLE_TEXT)])
                .await;
        let answer = ask(&provider(endpoint(&server.base)), actor_request(1)).await;
        assert_eq!((answer.text.as_str(), answer.error), (WHOLE_TEXT, None));
        assert_eq!(sent_stops(&server), [true, true, false, false]);
        assert_eq!(answer.notices.len(), 2, "{:?}", answer.notices);
        assert!(answer.notices[0].contains("streams empty replies") && answer.notices[1] == STOP_NOTICE);
    });
}

/// Regression: a run resumed with another server didn't send that one the stop sequence either.
#[test]
fn quirks_of_one_server_are_not_applied_to_another() {
    block_on(async {
        let server = Server::start(vec![complete_reply(PARTIAL_TEXT), complete_reply(WHOLE_TEXT)]).await;
        let client = provider(endpoint(&server.base));
        ask(&client, actor_request(1)).await;
        let settings = client.setting_deviations();
        let elsewhere = provider(endpoint("http://127.0.0.1:9/v1"));
        let mut model = endpoint(&server.base);
        model.model = "another".to_owned();
        for (other, same) in
            [(elsewhere, false), (provider(model), false), (provider(endpoint(&server.base)), true)]
        {
            other.restore_quirks(&settings);
            assert_eq!(other.learned().skip_newline_stop, same, "{}", other.name());
        }
    });
}
