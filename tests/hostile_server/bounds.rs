//! Replies that a stop text or the bound of their tokens ended too early: models that reason, and models that write on.

use crate::asking::{Answer, ask, endpoint, provider, request};
use crate::cut::CUT;
use crate::run;
use crate::server::{Act, Server, ends, good, plain, reasons, says, stream};
use retrospect::domain::{EarlierUsage, ModelRole, Truncation};
use retrospect::provider::openai::{Bound, OpenAi};
use retrospect::provider::{Cut, FailureKind, Provider as _, Request};
use serde_json::{Value, json};

/// A stream of these pieces with a finish and a usage of 100 and so many tokens.
fn answers(pieces: &[String], finish: &str, tokens: u32) -> Vec<Act> {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": tokens}});
    stream(format!("{}{}data: {usage}\n\ndata: [DONE]\n\n", pieces.concat(), ends(finish)).as_bytes())
}

fn writes(text: &str, finish: &str) -> Vec<Act> {
    answers(&[says(text)], finish, 10)
}

/// An error of this status as hosted servers have it.
fn refuses(message: &str, param: &str) -> Vec<Act> {
    plain(400, "", &json!({"error": {"message": message, "param": param}}).to_string())
}

fn actors() -> Request {
    Request { cut: Some(CUT), ..request() }
}

fn mentors() -> Request {
    Request { asked: ModelRole::Mentor, stop: Vec::new(), ..request() }
}

/// Of each request whether it had a stop, and its bound.
fn sent(server: &Server) -> Vec<(bool, Value)> {
    let of = |body: &Value| {
        let bound = body.get("max_tokens").or_else(|| body.get("max_completion_tokens"));
        (body.get("stop").is_some(), bound.cloned().unwrap_or(Value::Null))
    };
    server.asked().iter().map(|asked| of(&asked.body)).collect()
}

fn bounds(server: &Server) -> Vec<Value> {
    sent(server).into_iter().map(|(_, bound)| bound).collect()
}

fn told(answer: &Answer, words: &str) -> bool {
    answer.notices.iter().any(|notice| notice.contains(words))
}

/// Asks once, with a provider of its own for the scripts.
async fn once(scripts: Vec<Vec<Act>>, request: Request) -> (Answer, Server, OpenAi) {
    let server = Server::start(scripts).await;
    let of = provider(endpoint(&server.base));
    let answer = ask(&of, request).await;
    (answer, server, of)
}

/// A server's name and scripts; whether each request had a stop, and its bound; the reasoning of the last.
type Reasons = (&'static str, Vec<Vec<Act>>, Vec<(bool, Value)>, &'static str);

/// Such a model answered nothing at its first step, three times, and the run was over.
#[test]
fn models_that_reason_died_at_their_first_step() {
    let hm = || reasons("reasoning", "hm\nhm");
    let content = |field: &str| reasons(field, "hm\nhm");
    let hosted = [
        refuses(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        refuses("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        refuses("Unsupported parameter: 'top_p' is not supported with this model.", "top_p"),
        refuses("Unsupported parameter: 'stop' is not supported with this model.", "stop"),
    ];
    let (n256, n4096) = (json!(256), json!(4096));
    let stop = |bound: &Value| (true, bound.clone());
    let none = |bound: &Value| (false, bound.clone());
    #[rustfmt::skip]
    let cases: Vec<Reasons> = vec![
        // The stop is applied to the raw text, right behind the mark that the server takes out: nothing is left of it.
        ("Ollama", vec![answers(&[], "stop", 2), answers(&[hm()], "length", 256), answers(&[hm(), says("look")], "stop", 400)],
            vec![stop(&n256), none(&n256), none(&n4096)], "hm\nhm"),
        ("Ollama, a short thought", vec![answers(&[], "stop", 2), answers(&[hm(), says("look")], "stop", 90)],
            vec![stop(&n256), none(&n256)], "hm\nhm"),
        // The stop is applied to the text behind the closing mark, which begins with a newline.
        ("vLLM with a reasoning parser", vec![answers(&[content("reasoning_content")], "stop", 90), answers(&[content("reasoning_content"), says("\n\nlook\nand more")], "stop", 90)],
            vec![stop(&n256), none(&n256)], "hm\nhm"),
        ("vLLM with a reasoning parser, a long thought", vec![answers(&[content("reasoning_content")], "length", 256), answers(&[content("reasoning_content")], "stop", 300), answers(&[content("reasoning_content"), says("\n\nlook\nand more")], "stop", 90)],
            vec![stop(&n256), stop(&n4096), none(&n4096)], "hm\nhm"),
        ("vLLM without a parser", vec![writes("<think>", "stop"), writes("<think>\nhm\nhm", "length"), writes("<think>\nhm\nhm</think>\n\nlook\nand more", "stop")],
            vec![stop(&n256), none(&n256), none(&n4096)], "\nhm\nhm"),
        ("gpt-5-mini", hosted.into_iter().chain([answers(&[], "length", 256), answers(&[says("look")], "stop", 700)]).collect(),
            vec![stop(&n256), stop(&n256), stop(&n256), stop(&n256), none(&n256), none(&n4096)], ""),
        ("no bound but its own is enough", vec![answers(&[hm()], "length", 256), answers(&[hm()], "length", 4096), answers(&[hm(), says("look")], "stop", 9000)],
            vec![stop(&n256), stop(&n4096), stop(&Value::Null)], "hm\nhm"),
        // 4,096 and the prompt are more than its context.
        ("a small context", vec![answers(&[hm()], "length", 256), refuses("This model's maximum context length is 4096 tokens. However, you requested 4196 tokens.", "max_tokens"), answers(&[hm(), says("look")], "stop", 900)],
            vec![stop(&n256), stop(&n4096), stop(&Value::Null)], "hm\nhm"),
    ];
    run(async {
        for (name, scripts, want, reasoning) in cases {
            let last = scripts.last().cloned().unwrap_or_default();
            let server = Server::start(scripts.into_iter().chain([last]).collect()).await;
            let of = provider(endpoint(&server.base));
            let answer = ask(&of, actors()).await;
            assert_eq!((answer.text.as_str(), answer.error.as_ref()), ("look", None), "{name}: {answer:?}");
            assert_eq!(answer.reasoning, reasoning, "{name}");
            assert_eq!(answer.truncated, None, "{name}");
            assert_eq!(sent(&server), want, "{name}");
            assert!(!told(&answer, "longer than its context"), "{name}: {:?}", answer.notices);
            // The next step pays for nothing again, nor does that of another process that reads the journal.
            let known = want.last().cloned().unwrap_or_default();
            let later = provider(endpoint(&server.base));
            later.recall(&of.unsent());
            assert_eq!(later.learnt().room, of.learnt().room, "{name}");
            for other in [&of, &later] {
                let before = server.asked().len();
                assert_eq!(ask(other, actors()).await.text, "look", "{name}");
                let asked = &sent(&server)[before..];
                let [(stop, bound)] = asked else { panic!("{name}: {asked:?}") };
                // A stop that was refused is refused again, at no cost.
                assert!(
                    (stop, bound) == (&known.0, &known.1) || name == "gpt-5-mini" && *bound == known.1,
                    "{name}: {asked:?}"
                );
            }
        }
    });
}

/// The bound that cut a reply off was not looked at: 117 of 117 lists that it had cut were taken for whole.
#[test]
fn a_reply_that_its_bound_cut_off_was_taken_for_whole() {
    let list = "1. Look first.\n2. Never put the mug in the coff";
    let whole = "1. Look first.\n2. Never put the mug in the coffeemachine before it is clean.";
    run(async {
        // One that is whole at twice the bound; that is remembered for this bound alone.
        let scripts =
            vec![writes(list, "length"), writes(whole, "stop"), writes(whole, "stop"), good("look")];
        let server = Server::start(scripts).await;
        let of = provider(endpoint(&server.base));
        let answer = ask(&of, mentors()).await;
        assert_eq!((answer.text.as_str(), answer.truncated), (whole, None));
        let usage = answer.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.reply_tokens), (200, 20));
        assert_eq!(
            usage.earlier,
            EarlierUsage { prompt_tokens: 100, reported: 110, ..EarlierUsage::default() }
        );
        assert!(told(&answer, "cut off at max_tokens 1024; asking again with 2048"), "{:?}", answer.notices);
        assert!(told(&answer, "--set mentor.max_tokens=2048"), "{:?}", answer.notices);
        let later = provider(endpoint(&server.base));
        later.recall(&of.unsent());
        ask(&later, mentors()).await;
        ask(&later, actors()).await;
        assert_eq!(bounds(&server), [json!(1024), json!(2048), json!(2048), json!(256)]);
    });
    run(async {
        // One that is cut again is handed on with the reason, and nothing is remembered.
        let (answer, server, of) =
            once(vec![writes("1. Look", "length"), writes(list, "length")], mentors()).await;
        assert_eq!((answer.text.as_str(), answer.truncated), (list, Some(Truncation::Length)));
        assert!(
            told(&answer, "cut off again at max_tokens 2048; --set mentor.max_tokens=4096"),
            "{answer:?}"
        );
        ask(&of, mentors()).await;
        assert_eq!(bounds(&server), [json!(1024), json!(2048), json!(1024), json!(2048)]);
    });
    run(async {
        // The public code takes what was cut off.
        let request = Request { accept_truncated: true, ..mentors() };
        let (answer, server, _) = once(vec![writes(list, "length")], request).await;
        assert_eq!((answer.text.as_str(), answer.truncated), (list, Some(Truncation::Length)));
        assert_eq!(bounds(&server), [json!(1024)]);
        assert!(answer.notices.is_empty(), "{:?}", answer.notices);
    });
}

#[test]
fn a_reply_whose_wanted_line_is_whole_is_not_cut_off() {
    let rambles = "Thought: it is near.\nAction: look\nObservation: I see a mu";
    let two = || vec![writes("Thought: it is near.", "stop"), writes(rambles, "length")];
    let json = json!({"choices": [{"message": {"content": "look\nThen I"}, "finish_reason": "length"}]});
    let filtered = || vec![writes("take the", "content_filter")];
    run(async {
        let cases = [
            ("our stop ended it", vec![writes("look\nThen I", "length")], "look", None, 1),
            ("our stop ended it, in one piece", vec![plain(200, "", &json.to_string())], "look", None, 1),
            ("the action stands before the line that is cut", two(), rambles, None, 2),
            ("a filter ended it", filtered(), "take the", Some(Truncation::Filter), 1),
        ];
        for (name, scripts, text, truncated, requests) in cases {
            let (answer, server, _) = once(scripts, actors()).await;
            assert_eq!((answer.text.as_str(), answer.truncated), (text, truncated), "{name}");
            assert_eq!(server.asked().len(), requests, "{name}");
        }
    });
}

/// A cut reply would have been lost for a bound that the server does not allow.
#[test]
fn a_cut_reply_stands_where_the_server_refuses_a_larger_bound() {
    let too_long = "This model's maximum context length is 512 tokens. However, you requested 2065 tokens.";
    let too_large = "max_tokens is too large: 512. This model supports at most 256 completion tokens.";
    run(async {
        for (message, param) in [(too_long, "messages"), (too_large, "max_tokens")] {
            let scripts = vec![
                answers(&[reasons("reasoning", "hm"), says("take the")], "length", 256),
                refuses(message, param),
            ];
            let (answer, server, of) = once(scripts, actors()).await;
            assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("take the", "hm"), "{message}");
            assert_eq!(
                (answer.truncated, answer.error.as_ref()),
                (Some(Truncation::Length), None),
                "{message}"
            );
            assert_eq!(bounds(&server), [json!(256), json!(512)], "{message}");
            assert!(told(&answer, "refused max_tokens 512; the reply stays cut off"), "{:?}", answer.notices);
            let usage = answer.usage.unwrap();
            assert_eq!(
                (usage.tokens(), usage.earlier),
                (356, EarlierUsage::default()),
                "it was paid for once"
            );
            let learnt = of.learnt();
            assert!(!learnt.other_max_field && learnt.dropped.is_empty() && learnt.raised.is_empty());
        }
    });
}

/// A bound that was learnt from a short prompt would have ended the run at a longer one.
#[test]
fn a_learnt_bound_gives_way_to_a_prompt_that_has_grown() {
    let too_long = || {
        refuses(
            "This model's maximum context length is 8192 tokens. However, you requested 8300 tokens.",
            "messages",
        )
    };
    run(async {
        let hm = || answers(&[reasons("reasoning", "hm")], "length", 256);
        let server = Server::start(vec![hm(), good("look"), too_long(), good("look")]).await;
        let of = provider(endpoint(&server.base));
        for _ in 0..2 {
            assert_eq!(ask(&of, actors()).await.text, "look");
        }
        assert_eq!(bounds(&server), [json!(256), json!(4096), json!(4096), Value::Null]);
    });
    run(async {
        let cut = || writes("1. Look", "length");
        // A bound that was refused for this prompt is not tried for it again.
        let scripts = vec![cut(), good("1. Look."), too_long(), cut(), too_long()];
        let server = Server::start(scripts).await;
        let of = provider(endpoint(&server.base));
        assert_eq!(ask(&of, mentors()).await.text, "1. Look.");
        let answer = ask(&of, mentors()).await;
        assert_eq!((answer.text.as_str(), answer.truncated), ("1. Look", Some(Truncation::Length)));
        assert_eq!(bounds(&server), [1024, 2048, 2048, 1024].map(|n| json!(n)));
        // A prompt that is too long at any bound is a failure.
        let answer = ask(&of, mentors()).await;
        assert_eq!(answer.error.map(|e| e.kind), Some(FailureKind::TooLong));
    });
}

/// The words said that the prompt is too long, where the bound had been reached.
#[test]
fn an_empty_reply_is_explained_by_what_ended_it_and_is_not_asked_for_for_ever() {
    run(async {
        let used = [256, 4096, 9000, 256, 4096, 256];
        let server = Server::start(used.map(|tokens| answers(&[], "length", tokens)).to_vec()).await;
        let of = provider(endpoint(&server.base));
        for requests in [3, 5, 6, 7] {
            let answer = ask(&of, actors()).await;
            assert_eq!((answer.text.as_str(), answer.truncated), ("", Some(Truncation::Length)));
            assert!(!told(&answer, "longer than its context"), "{:?}", answer.notices);
            assert!(told(&answer, "the reply is empty: all"), "{:?}", answer.notices);
            // It said that a larger bound helps, where none had.
            assert!(!told(&answer, "allows more"), "{:?}", answer.notices);
            let tried = requests == 3 || told(&answer, "without max_tokens no reply came either");
            assert!(tried, "{:?}", answer.notices);
            assert_eq!(server.asked().len(), requests);
        }
        assert_eq!(bounds(&server)[..4], [json!(256), json!(4096), Value::Null, json!(256)]);
        assert_eq!(of.learnt().room, None, "nothing has helped");
    });
    run(async {
        // A context that is full ends a reply before its bound.
        let mut endpoint = endpoint("http://127.0.0.1:9/v1");
        let server = Server::start(vec![answers(&[], "length", 3)]).await;
        (endpoint.base_url, endpoint.sampling.max_tokens) = (server.base.clone(), Some(8000));
        let mut request = mentors();
        request.wish.max_tokens = Some(8000);
        let answer = ask(&provider(endpoint), request).await;
        assert!(told(&answer, "it ended after 3 tokens, before max_tokens (8000)"), "{:?}", answer.notices);
    });
    run(async {
        // A model that says nothing by itself is asked without the stop twice, and the stop stays.
        let server = Server::start(vec![answers(&[], "stop", 2)]).await;
        let of = provider(endpoint(&server.base));
        for requests in [2, 4, 5, 6] {
            assert_eq!(ask(&of, actors()).await.text, "");
            assert_eq!(server.asked().len(), requests);
        }
        assert!(!of.learnt().stop_here && of.unsent().iter().all(|told| !told.starts_with("stop")));
    });
}

/// The template opened the reasoning: its first line was taken for a reply, and the stop for a good one.
#[test]
fn a_stop_that_cuts_reasoning_without_an_opening_mark_is_not_sent_again() {
    let prose = Cut { short: |text| !text.starts_with("look"), ..CUT };
    run(async {
        let scripts = vec![
            writes("Okay, let me see.", "stop"),
            writes("Okay, let me see.\nThe mug is near.\n</think>\n\nlook\nand more", "stop"),
            writes("Okay.\nNear.\n</think>\n\nlook\nand more", "stop"),
        ];
        let server = Server::start(scripts).await;
        let of = provider(endpoint(&server.base));
        let request = || Request { cut: Some(prose), ..request() };
        let first = ask(&of, request()).await;
        assert!(first.text.starts_with("look"), "{first:?}");
        assert!(first.notices.iter().all(|n| !n.contains("the stop stays")), "{:?}", first.notices);
        let later = provider(endpoint(&server.base));
        later.recall(&of.unsent());
        assert!(later.learnt().opened && later.learnt().stop_here);
        for of in [of, later] {
            let next = ask(&of, request()).await;
            assert_eq!((next.text.as_str(), next.reasoning.as_str()), ("look", "Okay.\nNear.\n"));
        }
        let stops: Vec<bool> = sent(&server).into_iter().map(|(stop, _)| stop).collect();
        assert_eq!(stops, [true, false, false, false]);
    });
}

/// The bound cut reasoning off that the template had opened: its prose was taken for a reply that acts, and never asked for again.
#[test]
fn prose_that_uses_up_its_bound_is_asked_for_again_as_reasoning_is() {
    let reasoning = "Okay, let's see what the observation says.\n\nThe candle is small, so it may be anywhere.\n\nWait, I shou";
    run(async {
        let scripts = vec![
            writes("Okay, let's see what the observation says.", "stop"),
            writes(reasoning, "length"),
            writes(&format!("{reasoning}ld look.\n</think>\n\nlook"), "stop"),
            writes("Okay.\n</think>\n\nlook\nand more", "stop"),
        ];
        let server = Server::start(scripts).await;
        let of = provider(endpoint(&server.base));
        assert_eq!(ask(&of, actors()).await.text, "look");
        assert_eq!(ask(&of, actors()).await.text, "look");
        assert_eq!(
            sent(&server),
            [(true, json!(256)), (false, json!(256)), (false, json!(4096)), (false, json!(4096))]
        );
    });
    run(async {
        // A model that only rambles is given the larger bound twice, and the stop stays.
        let line = writes("The mug is probably on a shelf.", "stop");
        let rambles = || writes(reasoning, "length");
        let scripts = vec![line.clone(), rambles(), rambles(), line.clone(), rambles(), rambles(), line];
        let server = Server::start(scripts).await;
        let of = provider(endpoint(&server.base));
        for requests in [3, 6, 7, 8] {
            assert!(!ask(&of, actors()).await.text.is_empty());
            assert_eq!(sent(&server).len(), requests);
        }
        assert_eq!(sent(&server)[7], (true, json!(256)));
    });
}

/// What a person set is where a reply begins to be bounded; `off` leaves it to the server.
#[test]
fn a_bound_that_a_person_chose_is_raised_for_a_cut_reply_as_any_other() {
    run(async {
        let scripts = vec![answers(&[reasons("reasoning", "hm")], "length", 64), good("look")];
        let server = Server::start(scripts).await;
        let of = provider(endpoint(&server.base));
        let mut request = actors();
        request.wish.chosen = json!({"max_tokens": 64}).as_object().unwrap().clone();
        assert_eq!(ask(&of, request.clone()).await.text, "look");
        assert_eq!(of.learnt().room, Some(Bound::Tokens(4096)));
        request.wish.chosen = json!({"max_tokens": false}).as_object().unwrap().clone();
        assert_eq!(ask(&of, request).await.text, "look");
        assert_eq!(bounds(&server), [json!(64), json!(4096), Value::Null]);
    });
}
