//! The body of a request: as little as possible, and nothing that the server was seen to refuse.

use super::endpoint::{Api, Endpoint};
use super::memory::Learnt;
use crate::domain::{Asked, Prompt, Speaker};
use crate::provider::Request;
use serde_json::{Map, Value, json};

/// Fields a request can do without; the first name of a refusal that is among them is left away.
pub(super) const OPTIONAL: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "repetition_penalty",
    "stop",
    "seed",
    "stream_options",
    "max_completion_tokens",
    "max_tokens",
];

/// The most tokens an answer may have where nobody says: the actor's line (Reflexion's code), the mentor's list.
pub(super) fn max_tokens(endpoint: &Endpoint, request: &Request) -> u32 {
    let own = endpoint.sampling.max_tokens.unwrap_or(match request.asked {
        Asked::Actor => 256,
        Asked::Mentor => 1024,
    });
    request.wish.max_tokens.unwrap_or(own)
}

/// The texts that end the answer, the endpoint's before the question's.
pub(super) fn stops<'a>(endpoint: &'a Endpoint, request: &'a Request) -> &'a [String] {
    endpoint.sampling.stop.as_deref().unwrap_or(&request.stop)
}

/// The body of a streamed request.
pub(super) fn body(endpoint: &Endpoint, learnt: &Learnt, request: &Request) -> Map<String, Value> {
    let sampling = &endpoint.sampling;
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value
            && !endpoint.omit.contains(name)
            && !learnt.dropped.contains(name)
        {
            body.insert(name.to_owned(), value);
        }
    };
    let stops = stops(endpoint, request);
    put("temperature", request.wish.temperature.or(sampling.temperature).map(Value::from));
    put("top_p", sampling.top_p.map(Value::from));
    put("top_k", sampling.top_k.map(Value::from));
    put("repetition_penalty", sampling.repetition_penalty.map(Value::from));
    put("stop", (!stops.is_empty()).then(|| json!(stops)));
    // Some servers keep a seed in 31 bits and refuse more.
    put("seed", sampling.seed.then(|| json!(request.seed & 0x7fff_ffff)));
    put("stream_options", endpoint.send_usage_option.then(|| json!({"include_usage": true})));
    let bound = match endpoint.api {
        Api::Chat => learnt.max_field(endpoint).name(),
        Api::Completions => "max_tokens",
    };
    put(bound, Some(json!(max_tokens(endpoint, request))));
    for (name, value) in &endpoint.extra {
        put(name, Some(value.clone()));
    }
    body.insert("model".to_owned(), json!(endpoint.model));
    body.insert("stream".to_owned(), json!(true));
    match endpoint.api {
        Api::Completions => body.insert("prompt".to_owned(), json!(request.prompt.body())),
        Api::Chat if endpoint.one_message || learnt.one_message => {
            body.insert("messages".to_owned(), json!([{"role": "user", "content": request.prompt.body()}]))
        }
        Api::Chat => body.insert("messages".to_owned(), messages(&request.prompt)),
    };
    body
}

/// The messages of a prompt: neighbours of one speaker are one message, and its content is a plain text.
fn messages(prompt: &Prompt) -> Value {
    let mut messages: Vec<(Speaker, String)> = Vec::new();
    for segment in &prompt.segments {
        match messages.last_mut() {
            Some((speaker, text)) if *speaker == segment.speaker => text.push_str(&segment.text),
            _ => messages.push((segment.speaker, segment.text.to_string())),
        }
    }
    let role = |speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    messages.iter().map(|(speaker, text)| json!({"role": role(*speaker), "content": text})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Label, Origin, Segment};
    use std::sync::Arc;

    fn request(parts: &[(Speaker, &str)]) -> Request {
        let segment = |(speaker, text): &(Speaker, &str)| Segment {
            label: Label::Task,
            origin: Origin::Task,
            speaker: *speaker,
            text: Arc::from(*text),
        };
        let prompt = Arc::new(Prompt { segments: parts.iter().map(segment).collect() });
        Request { prompt, seed: 7, stop: vec!["\n".to_owned()], ..Request::default() }
    }

    #[test]
    fn the_least_is_sent_and_content_is_a_plain_text() {
        let endpoint = Endpoint::new("http://h/v1/", "m");
        let request = request(&[
            (Speaker::System, "s1 "),
            (Speaker::System, "s2"),
            (Speaker::User, "u1 "),
            (Speaker::User, "u2"),
            (Speaker::Assistant, "a"),
            (Speaker::User, ">"),
        ]);
        let sent = Value::Object(body(&endpoint, &Learnt::default(), &request));
        assert_eq!(
            sent,
            json!({
                "model": "m", "stream": true, "temperature": 0.0, "top_p": 0.7, "stop": ["\n"], "seed": 7, "max_tokens": 256,
                "stream_options": {"include_usage": true},
                "messages": [
                    {"role": "system", "content": "s1 s2"}, {"role": "user", "content": "u1 u2"},
                    {"role": "assistant", "content": "a"}, {"role": "user", "content": ">"},
                ],
            })
        );
    }

    #[test]
    fn what_a_server_refused_is_not_sent_again() {
        let mut endpoint = Endpoint::new("http://h/v1", "m");
        endpoint.sampling.top_k = Some(50);
        endpoint.extra = json!({"min_p": 0.1, "chat_template_kwargs": {"enable_thinking": false}})
            .as_object()
            .unwrap()
            .clone();
        endpoint.omit.insert("top_p".to_owned());
        let mut learnt = Learnt { other_max_field: true, one_message: true, ..Learnt::default() };
        learnt.dropped.extend(["top_k", "seed", "min_p", "temperature"].map(str::to_owned));
        let sent = body(&endpoint, &learnt, &request(&[(Speaker::System, "a"), (Speaker::User, "b")]));
        let names: Vec<&str> = sent.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "chat_template_kwargs",
                "max_completion_tokens",
                "messages",
                "model",
                "stop",
                "stream",
                "stream_options"
            ]
        );
        assert_eq!(sent["messages"], json!([{"role": "user", "content": "ab"}]));
    }

    #[test]
    fn completions_get_the_body_as_it_is() {
        let mut endpoint = Endpoint::new("http://h/v1", "m");
        endpoint.api = Api::Completions;
        endpoint.max_tokens_field = super::super::endpoint::MaxTokensField::MaxCompletionTokens;
        let mut request = request(&[(Speaker::System, "a"), (Speaker::User, "b\n>")]);
        request.wish.temperature = Some(0.4);
        request.seed = u64::MAX;
        let sent = body(&endpoint, &Learnt::default(), &request);
        assert_eq!(
            (&sent["prompt"], &sent["max_tokens"], &sent["temperature"]),
            (&json!("ab\n>"), &json!(256), &json!(0.4))
        );
        assert_eq!(sent["seed"], json!(0x7fff_ffff));
        assert!(!sent.contains_key("messages"));
    }
}
