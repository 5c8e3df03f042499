//! Tests that the actor's reply is streamed in pieces and can be cut off.

use super::*;
use crate::domain::CallId;
use crate::provider::rules::RuleBasedActor;
use crate::provider::{Delta, Phase, Provider, Request};
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;

const TASK: &str = "You see a bed 1, and a desk 1.\n\nYour task is to: put a pen in desk.";

fn request() -> Request {
    let prompt = Arc::new(prompt(&[], TASK, &[]));
    Request { call: CallId(1), role: ModelRole::Actor, prompt, seed: 5, ..Request::default() }
}

async fn collect(rules: RuleBasedActor, request: Request) -> Vec<Delta> {
    rules.stream(request).map(Result::unwrap).collect().await
}

#[tokio::test]
async fn pieces_are_words_and_add_up_to_the_answer() {
    let request = request();
    let whole = answer(&request.prompt, request.seed);
    let deltas = collect(RuleBasedActor::default().with_word_delay(Duration::from_millis(1)), request).await;
    assert_eq!(deltas.first(), Some(&Delta::Phase(Phase::Answering)));
    let words: Vec<&str> = deltas
        .iter()
        .filter_map(|d| if let Delta::Text(text) = d { Some(text.as_str()) } else { None })
        .collect();
    assert!(words.len() > 3);
    assert_eq!(words.concat(), whole);
    assert!(
        matches!(deltas.last(), Some(Delta::Usage(u)) if u.estimated && u.prompt_tokens > 10 && u.reply_tokens > 3)
    );
}

#[tokio::test]
async fn the_delay_applies_before_each_word() {
    let started = tokio::time::Instant::now();
    let deltas =
        collect(RuleBasedActor::default().with_word_delay(Duration::from_millis(2)), request()).await;
    let words = deltas.iter().filter(|d| matches!(d, Delta::Text(_))).count() as u32;
    assert!(started.elapsed() >= Duration::from_millis(2) * words);
}

#[tokio::test]
async fn a_stop_sequence_ends_the_answer() {
    let mut request = request();
    request.stop = vec!["pen".to_owned()];
    let text: String = collect(RuleBasedActor::default(), request)
        .await
        .into_iter()
        .filter_map(|d| if let Delta::Text(text) = d { Some(text) } else { None })
        .collect();
    assert!(text.starts_with("think:") && !text.contains("pen"), "{text:?}");
}

#[test]
fn its_name_says_that_it_is_a_stand_in() {
    assert!(RuleBasedActor::default().name().contains("stand-in"));
}
