//! Replies that a server breaks off because another request arrives: `[DONE]`, and no word of how the reply ended.

use crate::asking::{Answer, ask, endpoint, provider, request};
use crate::run;
use crate::server::{Act, Server, chunked, good, says};
use retrospect::provider::openai::{Memory, OpenAi};
use retrospect::provider::{FailureKind, Request};
use std::sync::Arc;
use std::time::Duration;

const ONE_AT_A_TIME: &str =
    "breaks off a reply when another request arrives; it gets one request at a time from now on";

/// A reply that ends with `[DONE]` and no finish_reason, as llama_cpp.server sends it.
fn unfinished(text: &str) -> Vec<Act> {
    let role = "data: {\"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\"}, \"finish_reason\": null}]}\n\n";
    chunked(&[format!("{role}{}data: [DONE]\n\n", says(text)).as_bytes()], true)
}

/// The same, as soon as so many requests have come in all.
fn interrupted(text: &str, requests: usize) -> Vec<Act> {
    let mut acts = vec![Act::Read, Act::Requests(requests)];
    acts.extend(unfinished(text));
    acts
}

/// A whole reply after a moment.
fn slow(text: &str) -> Vec<Act> {
    let mut acts = vec![Act::Read, Act::Wait(Duration::from_millis(20))];
    acts.extend(good(text));
    acts
}

fn question(seed: u64) -> Request {
    Request { seed, ..request() }
}

fn told(answers: &[Answer], words: &str) -> usize {
    answers.iter().flat_map(|a| &a.notices).filter(|n| n.contains(words)).count()
}

/// The half of a reply was taken for all of it, at the very first answer too.
#[test]
fn a_reply_that_another_request_interrupted_counted_as_whole() {
    run(async {
        let server =
            Server::start(vec![interrupted("go to", 2), slow("take mug 1"), slow("go to desk 1")]).await;
        let of = provider(endpoint(&server.base));
        let (first, second) = tokio::join!(ask(&of, question(1)), ask(&of, question(2)));
        assert_eq!((first.text.as_str(), second.text.as_str()), ("go to desk 1", "take mug 1"));
        assert_eq!((&first.error, &second.error), (&None, &None));
        let usage = first.usage.unwrap();
        assert!(usage.earlier.estimated > 0, "the interrupted reply is counted: {usage:?}");
        let (a, b, c) = tokio::join!(ask(&of, question(3)), ask(&of, question(4)), ask(&of, question(5)));
        let beside: Vec<usize> = server.asked().iter().map(|a| a.beside).collect();
        assert_eq!(beside, [0, 1, 0, 0, 0, 0], "one request at a time, from the interrupted one on");
        let answers = [first, second, a, b, c];
        assert_eq!((told(&answers, ONE_AT_A_TIME), told(&answers, "asking again (1 of 2)")), (1, 1));
    });
}

/// A server that is known to break replies off is spared the first one as well.
#[test]
fn one_at_a_time_sends_no_question_twice() {
    run(async {
        let server = Server::start(vec![slow("look")]).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.one_at_a_time = true;
        let of = provider(endpoint);
        let (a, b, c) = tokio::join!(ask(&of, question(1)), ask(&of, question(2)), ask(&of, question(3)));
        assert_eq!([&a.text, &b.text, &c.text], ["look"; 3]);
        let beside: Vec<usize> = server.asked().iter().map(|a| a.beside).collect();
        assert_eq!(beside, [0, 0, 0]);
    });
}

/// Two models of one server interrupt each other as well.
#[test]
fn all_models_of_a_server_wait_for_each_other_once_it_is_known() {
    run(async {
        let server =
            Server::start(vec![interrupted("go to", 2), slow("take mug 1"), slow("go to desk 1")]).await;
        let of = |model: &str| {
            let mut endpoint = endpoint(&server.base);
            model.clone_into(&mut endpoint.model);
            OpenAi::with_memory(endpoint.clone(), Memory::of(&endpoint))
        };
        let (actor, mentor) = (of("actor"), of("mentor"));
        let (first, second) = tokio::join!(ask(&actor, question(1)), ask(&mentor, question(2)));
        assert_eq!((first.text.as_str(), second.text.as_str()), ("go to desk 1", "take mug 1"));
        tokio::join!(ask(&actor, question(3)), ask(&mentor, question(4)));
        let beside: Vec<usize> = server.asked().iter().map(|a| a.beside).collect();
        assert_eq!(beside, [0, 1, 0, 0, 0]);
        assert!(Arc::ptr_eq(&Memory::of(actor.endpoint()), &Memory::of(of("actor").endpoint())));
    });
}

/// There are servers whose streams never say how a reply ended.
#[test]
fn a_server_that_never_sends_a_finish_reason_is_asked_twice_once() {
    run(async {
        let server = Server::start(vec![unfinished("go")]).await;
        let of = provider(endpoint(&server.base));
        let first = ask(&of, question(1)).await;
        let second = ask(&of, question(2)).await;
        assert_eq!((first.text.as_str(), second.text.as_str(), server.asked().len()), ("go", "go", 3));
        assert_eq!((first.error.clone(), second.error.clone()), (None, None));
        assert_eq!(told(&[first, second], "never sends a finish_reason"), 1);
        // Two of its replies at once say nothing about other requests.
        let (a, b) = tokio::join!(ask(&of, question(3)), ask(&of, question(4)));
        assert_eq!((server.asked().len(), told(&[a, b], "")), (5, 0));
    });
}

/// Two half replies in different words were taken for the way in which the server ends every reply, and the second one acted.
#[test]
fn different_words_twice_do_not_show_that_a_server_never_says_how_a_reply_ends() {
    run(async {
        let server =
            Server::start(vec![unfinished("open cab"), unfinished("go to drawer "), good("look")]).await;
        let answer = ask(&provider(endpoint(&server.base)), question(1)).await;
        assert_eq!((answer.text.as_str(), answer.error.as_ref(), server.asked().len()), ("look", None, 3));
        assert_eq!(told(&[answer], "never sends a finish_reason"), 0);
    });
    // Sampled replies of a server that never does differ every time.
    run(async {
        let server =
            Server::start(vec![unfinished("open it"), unfinished("go on"), unfinished("look")]).await;
        let answer = ask(&provider(endpoint(&server.base)), question(1)).await;
        assert_eq!((answer.text.as_str(), answer.error.as_ref(), server.asked().len()), ("look", None, 3));
        assert_eq!(told(&[answer], "never sends a finish_reason"), 1);
    });
}

/// Whatever interrupts it every time: other programs may use the server.
#[test]
fn a_reply_that_is_broken_off_again_and_again_is_a_failed_call() {
    run(async {
        let server = Server::start(vec![good("look"), unfinished("go to")]).await;
        let of = provider(endpoint(&server.base));
        assert_eq!(ask(&of, question(1)).await.text, "look");
        let answer = ask(&of, question(2)).await;
        let error = answer.error.clone().unwrap();
        assert_eq!((error.kind, error.partial.as_str()), (FailureKind::Interrupted, "go to"), "{error:?}");
        assert_eq!((server.asked().len(), told(&[answer], ONE_AT_A_TIME)), (4, 0));
    });
    // A reply that went further the second time was interrupted the first time.
    run(async {
        let server = Server::start(vec![unfinished("go"), unfinished("go to"), good("go to desk 1")]).await;
        let answer = ask(&provider(endpoint(&server.base)), question(1)).await;
        assert_eq!((answer.text.as_str(), answer.error, server.asked().len()), ("go to desk 1", None, 3));
    });
}
