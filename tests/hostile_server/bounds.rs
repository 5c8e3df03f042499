//! Replies that a stop sequence or the token limit ended too early: models that reason, and models that don't stop.

use crate::block_on;
use crate::client::{Answer, ask, endpoint, provider, request};
use crate::cut::NEWLINE_STOP_CHECK;
use crate::server::{
    ScriptStep, Server, complete_reply, end_event, plain_response, reasoning_event, stream, text_event,
};
use retrospect::domain::{EarlierUsage, ModelRole, Truncation};
use retrospect::provider::openai::{OpenAi, TokenLimit};
use retrospect::provider::{FailureKind, NewlineStopCheck, Provider as _, Request};
use serde_json::{Value, json};

/// Returns a stream of these events with a finish reason and a usage of 100 prompt and `tokens` reply tokens.
fn reply_script(events: &[String], finish: &str, tokens: u32) -> Vec<ScriptStep> {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": tokens}});
    stream(format!("{}{}data: {usage}\n\ndata: [DONE]\n\n", events.concat(), end_event(finish)).as_bytes())
}

fn text_script(text: &str, finish: &str) -> Vec<ScriptStep> {
    reply_script(&[text_event(text)], finish, 10)
}

/// Returns an error as hosted servers send it.
fn error_script(message: &str, param: &str) -> Vec<ScriptStep> {
    plain_response(400, "", &json!({"error": {"message": message, "param": param}}).to_string())
}

fn actor_request() -> Request {
    Request { newline_stop_check: Some(NEWLINE_STOP_CHECK), ..request() }
}

fn mentor_request() -> Request {
    Request { role: ModelRole::Mentor, stop: Vec::new(), ..request() }
}

/// Regression: after a summary that was cut off, the advice named `mentor.max_tokens`, which doesn't lengthen summaries.
#[test]
fn a_summary_that_was_cut_off_names_its_own_limit() {
    block_on(async {
        let request = Request { long_reply_tokens: Some(4096), ..mentor_request() };
        let scripts = vec![text_script("1. Look", "length"), text_script("1. Look", "length")];
        let (answer, _server, _client) = ask_once(scripts, request).await;
        assert!(
            has_notice(&answer, "cut off again at max_tokens 8192; --set summary_tokens=16384"),
            "{:?}",
            answer.notices
        );
    });
}

/// Returns for each request whether it had a stop sequence, and its token limit.
fn sent_stops_and_limits(server: &Server) -> Vec<(bool, Value)> {
    let stop_and_limit = |body: &Value| {
        let limit = body.get("max_tokens").or_else(|| body.get("max_completion_tokens"));
        (body.get("stop").is_some(), limit.cloned().unwrap_or(Value::Null))
    };
    server.requests().iter().map(|received| stop_and_limit(&received.body)).collect()
}

fn sent_limits(server: &Server) -> Vec<Value> {
    sent_stops_and_limits(server).into_iter().map(|(_, limit)| limit).collect()
}

fn has_notice(answer: &Answer, words: &str) -> bool {
    answer.notices.iter().any(|notice| notice.contains(words))
}

/// Sends one request with a new provider.
async fn ask_once(scripts: Vec<Vec<ScriptStep>>, request: Request) -> (Answer, Server, OpenAi) {
    let server = Server::start(scripts).await;
    let client = provider(endpoint(&server.base));
    let answer = ask(&client, request).await;
    (answer, server, client)
}

/// A server's name and scripts; whether each request had a stop sequence, and its token limit; the last reply's reasoning.
type ReasoningCase = (&'static str, Vec<Vec<ScriptStep>>, Vec<(bool, Value)>, &'static str);

/// Regression: such a model's reply at the first step was empty, three times, which ended the run.
#[test]
fn reasoning_models_get_past_their_first_step() {
    let thought = || reasoning_event("reasoning", "hm\nhm");
    let content = |field: &str| reasoning_event(field, "hm\nhm");
    let hosted = [
        error_script(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        error_script("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        error_script("Unsupported parameter: 'top_p' is not supported with this model.", "top_p"),
        error_script("Unsupported parameter: 'stop' is not supported with this model.", "stop"),
    ];
    let (limit_256, limit_4096) = (json!(256), json!(4096));
    let stop = |limit: &Value| (true, limit.clone());
    let none = |limit: &Value| (false, limit.clone());
    #[rustfmt::skip]
    let cases: Vec<ReasoningCase> = vec![
        // The stop sequence is applied to the raw text, right after the tag that the server removes: nothing is left.
        ("Ollama", vec![reply_script(&[], "stop", 2), reply_script(&[thought()], "length", 256), reply_script(&[thought(), text_event("look")], "stop", 400)],
            vec![stop(&limit_256), none(&limit_256), none(&limit_4096)], "hm\nhm"),
        ("Ollama, a short thought", vec![reply_script(&[], "stop", 2), reply_script(&[thought(), text_event("look")], "stop", 90)],
            vec![stop(&limit_256), none(&limit_256)], "hm\nhm"),
        // The stop sequence is applied to the text after the closing tag, which starts with a newline.
        ("vLLM with a reasoning parser", vec![reply_script(&[content("reasoning_content")], "stop", 90), reply_script(&[content("reasoning_content"), text_event("\n\nlook\nand more")], "stop", 90)],
            vec![stop(&limit_256), none(&limit_256)], "hm\nhm"),
        ("vLLM with a reasoning parser, a long thought", vec![reply_script(&[content("reasoning_content")], "length", 256), reply_script(&[content("reasoning_content")], "stop", 300), reply_script(&[content("reasoning_content"), text_event("\n\nlook\nand more")], "stop", 90)],
            vec![stop(&limit_256), stop(&limit_4096), none(&limit_4096)], "hm\nhm"),
        ("vLLM without a parser", vec![text_script("<think>", "stop"), text_script("<think>\nhm\nhm", "length"), text_script("<think>\nhm\nhm</think>\n\nlook\nand more", "stop")],
            vec![stop(&limit_256), none(&limit_256), none(&limit_4096)], "\nhm\nhm"),
        ("gpt-5-mini", hosted.into_iter().chain([reply_script(&[], "length", 256), reply_script(&[text_event("look")], "stop", 700)]).collect(),
            vec![stop(&limit_256), stop(&limit_256), stop(&limit_256), stop(&limit_256), none(&limit_256), none(&limit_4096)], ""),
        ("only the server's own limit is enough", vec![reply_script(&[thought()], "length", 256), reply_script(&[thought()], "length", 4096), reply_script(&[thought(), text_event("look")], "stop", 9000)],
            vec![stop(&limit_256), stop(&limit_4096), stop(&Value::Null)], "hm\nhm"),
        // 4,096 tokens and the prompt exceed its context.
        ("a small context", vec![reply_script(&[thought()], "length", 256), error_script("This model's maximum context length is 4096 tokens. However, you requested 4196 tokens.", "max_tokens"), reply_script(&[thought(), text_event("look")], "stop", 900)],
            vec![stop(&limit_256), stop(&limit_4096), stop(&Value::Null)], "hm\nhm"),
    ];
    block_on(async {
        for (name, scripts, expected, reasoning) in cases {
            let last = scripts.last().cloned().unwrap_or_default();
            let server = Server::start(scripts.into_iter().chain([last]).collect()).await;
            let client = provider(endpoint(&server.base));
            let answer = ask(&client, actor_request()).await;
            assert_eq!((answer.text.as_str(), answer.error.as_ref()), ("look", None), "{name}: {answer:?}");
            assert_eq!(answer.reasoning, reasoning, "{name}");
            assert_eq!(answer.truncated, None, "{name}");
            assert_eq!(sent_stops_and_limits(&server), expected, "{name}");
            assert!(!has_notice(&answer, "exceeds their context"), "{name}: {:?}", answer.notices);
            // The next step needs no extra request, nor does that of a new process that reads the journal.
            let learned_request = expected.last().cloned().unwrap_or_default();
            let later = provider(endpoint(&server.base));
            later.restore_quirks(&client.setting_deviations());
            assert_eq!(later.learned().min_limit, client.learned().min_limit, "{name}");
            for other in [&client, &later] {
                let before = server.requests().len();
                assert_eq!(ask(other, actor_request()).await.text, "look", "{name}");
                let sent = &sent_stops_and_limits(&server)[before..];
                let [(stop, limit)] = sent else { panic!("{name}: {sent:?}") };
                // A rejected stop sequence is rejected again, at no cost.
                assert!(
                    (stop, limit) == (&learned_request.0, &learned_request.1)
                        || name == "gpt-5-mini" && *limit == learned_request.1,
                    "{name}: {sent:?}"
                );
            }
        }
    });
}

/// Regression: finish reason `length` was ignored, so 117 of 117 truncated lists were treated as complete.
#[test]
fn a_truncated_reply_is_not_treated_as_complete() {
    let list = "1. Look first.\n2. Never put the mug in the coff";
    let complete = "1. Look first.\n2. Never put the mug in the coffeemachine before it is clean.";
    block_on(async {
        // A reply that is complete at twice the limit; that is remembered only for this limit.
        let scripts = vec![
            text_script(list, "length"),
            text_script(complete, "stop"),
            text_script(complete, "stop"),
            complete_reply("look"),
        ];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        let answer = ask(&client, mentor_request()).await;
        assert_eq!((answer.text.as_str(), answer.truncated), (complete, None));
        let usage = answer.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.reply_tokens), (200, 20));
        assert_eq!(
            usage.earlier,
            EarlierUsage { prompt_tokens: 100, reported: 110, ..EarlierUsage::default() }
        );
        assert!(
            has_notice(&answer, "cut off at max_tokens 1024; retrying with 2048"),
            "{:?}",
            answer.notices
        );
        assert!(has_notice(&answer, "--set mentor.max_tokens=2048"), "{:?}", answer.notices);
        let later = provider(endpoint(&server.base));
        later.restore_quirks(&client.setting_deviations());
        ask(&later, mentor_request()).await;
        ask(&later, actor_request()).await;
        assert_eq!(sent_limits(&server), [json!(1024), json!(2048), json!(2048), json!(256)]);
    });
    block_on(async {
        // A reply that is truncated again is returned with the reason, and nothing is remembered.
        let (answer, server, client) =
            ask_once(vec![text_script("1. Look", "length"), text_script(list, "length")], mentor_request())
                .await;
        assert_eq!((answer.text.as_str(), answer.truncated), (list, Some(Truncation::Length)));
        assert!(
            has_notice(&answer, "cut off again at max_tokens 2048; --set mentor.max_tokens=4096"),
            "{answer:?}"
        );
        ask(&client, mentor_request()).await;
        assert_eq!(sent_limits(&server), [json!(1024), json!(2048), json!(1024), json!(2048)]);
    });
    block_on(async {
        // The public code uses the truncated reply.
        let request = Request { accept_truncated: true, ..mentor_request() };
        let (answer, server, _) = ask_once(vec![text_script(list, "length")], request).await;
        assert_eq!((answer.text.as_str(), answer.truncated), (list, Some(Truncation::Length)));
        assert_eq!(sent_limits(&server), [json!(1024)]);
        assert!(answer.notices.is_empty(), "{:?}", answer.notices);
    });
}

#[test]
fn a_reply_with_a_complete_action_line_is_not_truncated() {
    let rambles = "Thought: it is near.\nAction: look\nObservation: I see a mu";
    let two_replies = || vec![text_script("Thought: it is near.", "stop"), text_script(rambles, "length")];
    let json = json!({"choices": [{"message": {"content": "look\nThen I"}, "finish_reason": "length"}]});
    let filtered = || vec![text_script("take the", "content_filter")];
    block_on(async {
        let cases = [
            ("our stop ended it", vec![text_script("look\nThen I", "length")], "look", None, 1),
            (
                "our stop ended it, in one piece",
                vec![plain_response(200, "", &json.to_string())],
                "look",
                None,
                1,
            ),
            ("the action is before the truncated line", two_replies(), rambles, None, 2),
            ("a filter ended it", filtered(), "take the", Some(Truncation::Filter), 1),
        ];
        for (name, scripts, text, truncated, requests) in cases {
            let (answer, server, _) = ask_once(scripts, actor_request()).await;
            assert_eq!((answer.text.as_str(), answer.truncated), (text, truncated), "{name}");
            assert_eq!(server.requests().len(), requests, "{name}");
        }
    });
}

/// A truncated reply must not be lost if the server rejects a larger limit.
#[test]
fn a_truncated_reply_is_kept_if_the_server_rejects_a_larger_limit() {
    let too_long = "This model's maximum context length is 512 tokens. However, you requested 2065 tokens.";
    let too_large = "max_tokens is too large: 512. This model supports at most 256 completion tokens.";
    block_on(async {
        for (message, param) in [(too_long, "messages"), (too_large, "max_tokens")] {
            let scripts = vec![
                reply_script(&[reasoning_event("reasoning", "hm"), text_event("take the")], "length", 256),
                error_script(message, param),
            ];
            let (answer, server, client) = ask_once(scripts, actor_request()).await;
            assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("take the", "hm"), "{message}");
            assert_eq!(
                (answer.truncated, answer.error.as_ref()),
                (Some(Truncation::Length), None),
                "{message}"
            );
            assert_eq!(sent_limits(&server), [json!(256), json!(512)], "{message}");
            assert!(
                has_notice(&answer, "rejected max_tokens 512; using the truncated reply"),
                "{:?}",
                answer.notices
            );
            let usage = answer.usage.unwrap();
            assert_eq!((usage.tokens(), usage.earlier), (356, EarlierUsage::default()), "it is counted once");
            let learned = client.learned();
            assert!(
                !learned.uses_other_max_field
                    && learned.dropped_fields.is_empty()
                    && learned.raised_limits.is_empty()
            );
        }
    });
}

/// A limit learned from a short prompt must not end the run at a longer one.
#[test]
fn a_learned_limit_is_not_used_for_a_longer_prompt() {
    let too_long = || {
        error_script(
            "This model's maximum context length is 8192 tokens. However, you requested 8300 tokens.",
            "messages",
        )
    };
    block_on(async {
        let reasoning_only = || reply_script(&[reasoning_event("reasoning", "hm")], "length", 256);
        let server =
            Server::start(vec![reasoning_only(), complete_reply("look"), too_long(), complete_reply("look")])
                .await;
        let client = provider(endpoint(&server.base));
        for _ in 0..2 {
            assert_eq!(ask(&client, actor_request()).await.text, "look");
        }
        assert_eq!(sent_limits(&server), [json!(256), json!(4096), json!(4096), Value::Null]);
    });
    block_on(async {
        let truncated_list = || text_script("1. Look", "length");
        // A limit rejected for this prompt isn't tried for it again.
        let scripts =
            vec![truncated_list(), complete_reply("1. Look."), too_long(), truncated_list(), too_long()];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        assert_eq!(ask(&client, mentor_request()).await.text, "1. Look.");
        let answer = ask(&client, mentor_request()).await;
        assert_eq!((answer.text.as_str(), answer.truncated), ("1. Look", Some(Truncation::Length)));
        assert_eq!(sent_limits(&server), [1024, 2048, 2048, 1024].map(|n| json!(n)));
        // A prompt that is too long with any limit is a failure.
        let answer = ask(&client, mentor_request()).await;
        assert_eq!(answer.error.map(|e| e.kind), Some(FailureKind::TooLong));
    });
}

/// Regression: the message said that the prompt is too long, although the token limit had been reached.
#[test]
fn an_empty_reply_is_explained_and_not_retried_forever() {
    block_on(async {
        let used = [256, 4096, 9000, 256, 4096, 256];
        let server = Server::start(used.map(|tokens| reply_script(&[], "length", tokens)).to_vec()).await;
        let client = provider(endpoint(&server.base));
        for requests in [3, 5, 6, 7] {
            let answer = ask(&client, actor_request()).await;
            assert_eq!((answer.text.as_str(), answer.truncated), ("", Some(Truncation::Length)));
            assert!(!has_notice(&answer, "exceeds their context"), "{:?}", answer.notices);
            assert!(has_notice(&answer, "the reply is empty: all"), "{:?}", answer.notices);
            // Regression: it suggested a larger limit, although that hadn't helped.
            assert!(!has_notice(&answer, "allows more"), "{:?}", answer.notices);
            let tried = requests == 3 || has_notice(&answer, "there was no reply without max_tokens either");
            assert!(tried, "{:?}", answer.notices);
            assert_eq!(server.requests().len(), requests);
        }
        assert_eq!(sent_limits(&server)[..4], [json!(256), json!(4096), Value::Null, json!(256)]);
        assert_eq!(client.learned().min_limit, None, "nothing has helped");
    });
    block_on(async {
        // A full context ends a reply before its limit.
        let mut endpoint = endpoint("http://127.0.0.1:9/v1");
        let server = Server::start(vec![reply_script(&[], "length", 3)]).await;
        (endpoint.base_url, endpoint.sampling.max_tokens) = (server.base.clone(), Some(8000));
        let mut request = mentor_request();
        request.sampling.max_tokens = Some(8000);
        let answer = ask(&provider(endpoint), request).await;
        assert!(
            has_notice(&answer, "it ended after 3 tokens, before max_tokens (8000)"),
            "{:?}",
            answer.notices
        );
    });
    block_on(async {
        // A model that returns nothing by itself is called twice without the stop sequence, which then stays.
        let server = Server::start(vec![reply_script(&[], "stop", 2)]).await;
        let client = provider(endpoint(&server.base));
        for requests in [2, 4, 5, 6] {
            assert_eq!(ask(&client, actor_request()).await.text, "");
            assert_eq!(server.requests().len(), requests);
        }
        assert!(
            !client.learned().match_stops_locally
                && client.setting_deviations().iter().all(|text| !text.starts_with("stop"))
        );
    });
}

/// Regression: with reasoning opened by the template, its first line was treated as a reply with a valid stop.
#[test]
fn a_stop_that_cuts_reasoning_without_an_opening_tag_is_not_sent_again() {
    let prose = NewlineStopCheck { is_cut_short: |text, _| !text.starts_with("look"), ..NEWLINE_STOP_CHECK };
    block_on(async {
        let scripts = vec![
            text_script("Okay, let me see.", "stop"),
            text_script("Okay, let me see.\nThe mug is near.\n</think>\n\nlook\nand more", "stop"),
            text_script("Okay.\nNear.\n</think>\n\nlook\nand more", "stop"),
        ];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        let request = || Request { newline_stop_check: Some(prose), ..request() };
        let first = ask(&client, request()).await;
        assert!(first.text.starts_with("look"), "{first:?}");
        assert!(first.notices.iter().all(|n| !n.contains("keeping the stop")), "{:?}", first.notices);
        let later = provider(endpoint(&server.base));
        later.restore_quirks(&client.setting_deviations());
        assert!(later.learned().starts_in_reasoning && later.learned().match_stops_locally);
        for client in [client, later] {
            let next = ask(&client, request()).await;
            assert_eq!((next.text.as_str(), next.reasoning.as_str()), ("look", "Okay.\nNear.\n"));
        }
        let stops: Vec<bool> = sent_stops_and_limits(&server).into_iter().map(|(stop, _)| stop).collect();
        assert_eq!(stops, [true, false, false, false]);
    });
}

/// Regression: reasoning opened by the template and truncated by the limit was treated as a reply with an action,
/// without a retry.
#[test]
fn prose_that_exhausts_its_limit_is_retried_like_reasoning() {
    let reasoning = "Okay, let's see what the observation says.\n\nThe candle is small, so it may be anywhere.\n\nWait, I shou";
    block_on(async {
        let scripts = vec![
            text_script("Okay, let's see what the observation says.", "stop"),
            text_script(reasoning, "length"),
            text_script(&format!("{reasoning}ld look.\n</think>\n\nlook"), "stop"),
            text_script("Okay.\n</think>\n\nlook\nand more", "stop"),
        ];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        assert_eq!(ask(&client, actor_request()).await.text, "look");
        assert_eq!(ask(&client, actor_request()).await.text, "look");
        assert_eq!(
            sent_stops_and_limits(&server),
            [(true, json!(256)), (false, json!(256)), (false, json!(4096)), (false, json!(4096))]
        );
    });
    block_on(async {
        // A model that only rambles gets the larger limit twice, and the stop sequence stays.
        let line = text_script("The mug is probably on a shelf.", "stop");
        let rambles = || text_script(reasoning, "length");
        let scripts = vec![line.clone(), rambles(), rambles(), line.clone(), rambles(), rambles(), line];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        for requests in [3, 6, 7, 8] {
            assert!(!ask(&client, actor_request()).await.text.is_empty());
            assert_eq!(sent_stops_and_limits(&server).len(), requests);
        }
        assert_eq!(sent_stops_and_limits(&server)[7], (true, json!(256)));
    });
}

/// A person's token limit is the first one tried; `off` leaves it to the server.
#[test]
fn a_limit_set_by_a_person_is_raised_for_a_truncated_reply() {
    block_on(async {
        let scripts =
            vec![reply_script(&[reasoning_event("reasoning", "hm")], "length", 64), complete_reply("look")];
        let server = Server::start(scripts).await;
        let client = provider(endpoint(&server.base));
        let mut request = actor_request();
        request.sampling.user_fields = json!({"max_tokens": 64}).as_object().unwrap().clone();
        assert_eq!(ask(&client, request.clone()).await.text, "look");
        assert_eq!(client.learned().min_limit, Some(TokenLimit::Tokens(4096)));
        request.sampling.user_fields = json!({"max_tokens": false}).as_object().unwrap().clone();
        assert_eq!(ask(&client, request).await.text, "look");
        assert_eq!(sent_limits(&server), [json!(64), json!(4096), Value::Null]);
    });
}
