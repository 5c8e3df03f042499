//! Calls a provider and collects its reply.

#![allow(dead_code, reason = "each target uses only part of it")]

use futures_util::StreamExt as _;
use retrospect::domain::{
    CallPhase, MessageRole, ModelRole, Prompt, Segment, SegmentLabel, SegmentOrigin, ToolCall, Truncation,
    Usage,
};
use retrospect::provider::openai::{Endpoint, OpenAi, QuirkStore, Retry, Secret, Timeouts};
use retrospect::provider::{Delta, Provider, ProviderError, Request};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const KEY: &str = "sk-test-0123456789-never-to-be-seen";

/// Everything a provider sent in reply to a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Option<Usage>,
    pub(crate) truncated: Option<Truncation>,
    pub(crate) notices: Vec<String>,
    pub(crate) phases: Vec<CallPhase>,
    pub(crate) pieces: usize,
    pub(crate) error: Option<ProviderError>,
}

/// Returns an endpoint with a key and long timeouts, but quick retries.
pub(crate) fn endpoint(base: &str) -> Endpoint {
    let mut endpoint = Endpoint::new(base, "tiny");
    endpoint.key = Some(Secret::new(KEY));
    endpoint.timeouts = Timeouts {
        connect: Duration::from_secs(20),
        first_piece: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        // For data after the end of the reply (usage).
        tail: Duration::from_millis(200),
        total: None,
    };
    endpoint.retry = Retry {
        first_wait: Duration::from_millis(1),
        max_wait: Duration::from_millis(4),
        max_total_wait: Duration::from_secs(10),
        ..Retry::default()
    };
    endpoint
}

/// Returns a provider with its own quirk store, because ports are reused and servers differ in what they reject.
pub(crate) fn provider(endpoint: Endpoint) -> OpenAi {
    OpenAi::with_quirks(endpoint, Arc::new(QuirkStore::default()))
}

pub(crate) fn request() -> Request {
    let segment = |message_role, text: &str| Segment {
        label: SegmentLabel::Task,
        origin: SegmentOrigin::Task,
        message_role,
        text: Arc::from(text),
    };
    let segments = vec![
        segment(MessageRole::System, "You are in a kitchen."),
        segment(MessageRole::User, "Put a clean mug on the desk."),
        segment(MessageRole::User, "\n>"),
    ];
    Request {
        role: ModelRole::Actor,
        prompt: Arc::new(Prompt { segments }),
        seed: 7,
        stop: vec!["\n".to_owned()],
        ..Request::default()
    }
}

/// Calls the provider and returns its reply; panics if that takes more than a minute.
pub(crate) async fn ask(provider: &dyn Provider, request: Request) -> Answer {
    tokio::time::timeout(Duration::from_secs(60), collect(provider, request)).await.expect("it hangs")
}

async fn collect(provider: &dyn Provider, request: Request) -> Answer {
    let mut answer = Answer::default();
    let mut stream = provider.stream(request);
    while let Some(delta) = stream.next().await {
        assert!(answer.error.is_none(), "nothing follows a failure");
        match delta {
            Ok(Delta::Text(words)) => {
                answer.text.push_str(&words);
                answer.pieces += 1;
            }
            Ok(Delta::Reasoning(words)) => answer.reasoning.push_str(&words),
            Ok(Delta::WasReasoning) => answer.reasoning.push_str(&std::mem::take(&mut answer.text)),
            Ok(Delta::Restarted) => {
                answer.text.clear();
                answer.reasoning.clear();
                answer.tool_calls.clear();
                answer.truncated = None;
            }
            Ok(Delta::Usage(usage)) => {
                // Usage of earlier attempts alone may arrive first; the final usage, which includes the last attempt,
                // arrives once.
                assert!(answer.usage.is_none_or(|u| u.has_only_earlier()), "the final usage arrives once");
                answer.usage = Some(usage);
            }
            Ok(Delta::Notice(words)) => answer.notices.push(words),
            Ok(Delta::ToolCalls(calls)) => answer.tool_calls = calls,
            Ok(Delta::Truncated(reason)) => answer.truncated = Some(reason),
            Ok(Delta::KeepAlive) => {}
            Ok(Delta::Phase(phase)) => answer.phases.push(phase),
            Err(error) => answer.error = Some(error),
        }
    }
    let all = format!("{answer:?}");
    assert!(!all.contains(KEY), "the key leaked: {all}");
    answer
}
