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
    let chosen = request.wish.field("max_tokens").flatten().and_then(Value::as_u64);
    let chosen = chosen.and_then(|n| u32::try_from(n).ok());
    request.wish.max_tokens.or(chosen).unwrap_or(own)
}

/// The texts that end the answer: a person's, else the endpoint's, else the question's.
pub(super) fn stops(endpoint: &Endpoint, request: &Request) -> Vec<String> {
    match request.wish.field("stop") {
        Some(chosen) => {
            let texts = chosen.and_then(Value::as_array).into_iter().flatten();
            texts.filter_map(|t| t.as_str().map(str::to_owned)).collect()
        }
        None => endpoint.sampling.stop.as_ref().unwrap_or(&request.stop).clone(),
    }
}

/// The body of a streamed request.
pub(super) fn body(endpoint: &Endpoint, learnt: &Learnt, request: &Request) -> Map<String, Value> {
    let (sampling, wish) = (&endpoint.sampling, &request.wish);
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        // What a person chose is sent though the profile leaves the field away; not what the server has refused.
        let omitted = endpoint.omit.contains(name) && !wish.chosen.contains_key(name);
        if let Some(value) = value
            && !omitted
            && !learnt.dropped.contains(name)
        {
            body.insert(name.to_owned(), value);
        }
    };
    let chosen = |name: &str, own: Option<Value>| wish.field(name).map_or(own, Option::<&Value>::cloned);
    let stops = stops(endpoint, request);
    let warm = wish.temperature.map(Value::from);
    put("temperature", warm.or_else(|| chosen("temperature", sampling.temperature.map(Value::from))));
    put("top_p", chosen("top_p", sampling.top_p.map(Value::from)));
    put("top_k", chosen("top_k", sampling.top_k.map(Value::from)));
    put("repetition_penalty", chosen("repetition_penalty", sampling.repetition_penalty.map(Value::from)));
    put("stop", (!stops.is_empty()).then(|| json!(stops)));
    let seeded = wish.field("seed").map_or(sampling.seed, |sent| sent.is_some());
    // Some servers keep a seed in 31 bits and refuse more.
    put("seed", seeded.then(|| json!(request.seed & 0x7fff_ffff)));
    put("stream_options", endpoint.send_usage_option.then(|| json!({"include_usage": true})));
    let bound = match endpoint.api {
        Api::Chat => learnt.max_field(endpoint).name(),
        Api::Completions => "max_tokens",
    };
    put(bound, Some(json!(max_tokens(endpoint, request))));
    for (name, value) in endpoint.extra.iter().filter(|(name, _)| !wish.chosen.contains_key(*name)) {
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
    fn what_a_person_chose_goes_before_the_profile() {
        let mut endpoint = Endpoint::new("http://h/v1", "m");
        endpoint.omit.insert("temperature".to_owned());
        endpoint.extra = json!({"top_k": 3, "min_p": 0.1}).as_object().unwrap().clone();
        let mut request = request(&[(Speaker::User, ">")]);
        request.wish.chosen = json!({
            "temperature": 0.7, "top_p": false, "top_k": 9, "repetition_penalty": 1.1, "max_tokens": 64, "stop": ["END"],
            "seed": false,
        })
        .as_object()
        .unwrap()
        .clone();
        let mut want = json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.7, "top_k": 9,
            "repetition_penalty": 1.1, "max_tokens": 64, "stop": ["END"], "min_p": 0.1,
            "messages": [{"role": "user", "content": ">"}],
        });
        assert_eq!(Value::Object(body(&endpoint, &Learnt::default(), &request)), want);
        // A warmer question goes before it, and what the server refused is not sent whoever wants it.
        request.wish.temperature = Some(0.9);
        want["temperature"] = json!(0.9);
        want.as_object_mut().unwrap().remove("top_k");
        let learnt = Learnt { dropped: ["top_k".to_owned()].into(), ..Learnt::default() };
        assert_eq!(Value::Object(body(&endpoint, &learnt, &request)), want);
        request.wish.chosen = json!({"stop": false}).as_object().unwrap().clone();
        assert_eq!(body(&endpoint, &Learnt::default(), &request).get("stop"), None);
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
