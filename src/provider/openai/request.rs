//! The body of a request: as little as possible, and nothing that the server was seen to refuse.

use super::endpoint::{Api, Endpoint, MaxTokensField, PENALTY_NAMES};
use super::learned_quirks::{LearnedQuirks, TokenLimit};
use crate::domain::{MessageRole, ModelRole, Prompt, raised_temperature};
use crate::provider::Request;
use serde_json::{Map, Value, json};

/// Fields a request can do without; the first name of a refusal that is among them is left away.
pub(super) const OPTIONAL_FIELDS: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "repetition_penalty",
    "repeat_penalty",
    "stop",
    "seed",
    "stream_options",
    "max_completion_tokens",
    "max_tokens",
];

/// The most tokens an answer may have where nobody says: the actor's line (Reflexion's code), the mentor's list.
pub(super) fn wanted_max_tokens(endpoint: &Endpoint, request: &Request) -> u32 {
    let own = endpoint.sampling.max_tokens.unwrap_or(match request.role {
        ModelRole::Actor => 256,
        ModelRole::Mentor => 1024,
    });
    let extra = endpoint.extra.get(endpoint.effective_max_tokens_field().name());
    let chosen = [request.sampling.user_field("max_tokens").flatten(), extra].into_iter().flatten();
    let chosen = chosen.filter_map(Value::as_u64).find_map(|n| u32::try_from(n).ok());
    request.sampling.max_tokens.or(chosen).unwrap_or(own)
}

impl Endpoint {
    /// The most tokens that an answer of this role may have where no question wants another bound; none: no bound is sent.
    pub fn max_tokens(&self, asked: ModelRole) -> Option<u32> {
        let sent = !self.omit.contains(self.effective_max_tokens_field().name());
        sent.then(|| wanted_max_tokens(self, &Request { role: asked, ..Request::default() }))
    }
}

/// How a reply is bounded: as this question wants it, else as a person, the profile or the role has it, but not below what the
/// model is known to need. What `extra` has that is no number of tokens is sent as it is, whatever that means to the server.
fn max_tokens_value(endpoint: &Endpoint, learnt: &LearnedQuirks, request: &Request) -> Option<Value> {
    let wish = &request.sampling;
    if let Some(tokens) = wish.max_tokens {
        return Some(json!(tokens));
    }
    let chosen = wish.user_field("max_tokens");
    let extra = endpoint.extra.get(endpoint.effective_max_tokens_field().name()).filter(|_| chosen.is_none());
    let number = |value: &Value| value.as_u64().is_some_and(|n| u32::try_from(n).is_ok());
    match (chosen, extra) {
        (Some(None), _) => None,
        (_, Some(other)) if !number(other) => Some(other.clone()),
        _ => match learnt.token_limit(wanted_max_tokens(endpoint, request)) {
            TokenLimit::Tokens(tokens) => Some(json!(tokens)),
            TokenLimit::ServerDefault => None,
        },
    }
}

/// The bound that a body has.
pub(super) fn sent_max_tokens(body: &Map<String, Value>) -> Option<u32> {
    MAX_TOKENS_NAMES.iter().find_map(|name| u32::try_from(body.get(*name)?.as_u64()?).ok())
}

/// The field of a person's choice that a field of the request stands for: servers have other names for some.
fn canonical_name(name: &str) -> &str {
    let of = |names: &[&'static str]| names.contains(&name).then(|| names[0]);
    of(&PENALTY_NAMES).or_else(|| of(&MAX_TOKENS_NAMES)).unwrap_or(name)
}

const MAX_TOKENS_NAMES: [&str; 2] =
    [MaxTokensField::MaxTokens.name(), MaxTokensField::MaxCompletionTokens.name()];

/// The texts that end the answer: a person's, else the endpoint's, else the question's; of these none that is only a newline,
/// where the server's answers take more than a line.
pub(super) fn stop_texts(endpoint: &Endpoint, learnt: &LearnedQuirks, request: &Request) -> Vec<String> {
    if let Some(chosen) = request.sampling.user_field("stop") {
        let texts = chosen.and_then(Value::as_array).into_iter().flatten();
        return texts.filter_map(|t| t.as_str().map(str::to_owned)).collect();
    }
    let own = endpoint.sampling.stop.as_ref().unwrap_or(&request.stop);
    own.iter().filter(|stop| !learnt.skip_newline_stop || !is_newline_stop(stop)).cloned().collect()
}

/// A stop that ends an answer with its line.
pub(super) fn is_newline_stop(stop: &str) -> bool {
    stop.contains('\n') && stop.trim().is_empty()
}

/// The body of a request, streamed unless the server's streams are known to be of no use.
pub(super) fn build_body(
    endpoint: &Endpoint,
    learnt: &LearnedQuirks,
    request: &Request,
) -> Map<String, Value> {
    let (sampling, wish) = (&endpoint.sampling, &request.sampling);
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        // What a person chose is sent though the profile leaves the field away; not what the server has refused.
        let omitted = endpoint.omit.contains(name) && !wish.user_fields.contains_key(canonical_name(name));
        if let Some(value) = value
            && !omitted
            && !learnt.dropped_fields.contains(name)
        {
            body.insert(name.to_owned(), value);
        }
    };
    let chosen = |name: &str, own: Option<Value>| wish.user_field(name).map_or(own, Option::<&Value>::cloned);
    let stops = stop_texts(endpoint, learnt, request);
    let warm = wish.temperature.map(Value::from);
    put("temperature", warm.or_else(|| chosen("temperature", sampling.temperature.map(Value::from))));
    // Under the name that the profile has for it; a server that knows that one does not heed the other.
    let penalty =
        PENALTY_NAMES.into_iter().rfind(|n| endpoint.extra.contains_key(*n)).unwrap_or(PENALTY_NAMES[0]);
    let penalty = if wish.user_fields.contains_key(PENALTY_NAMES[0]) { penalty } else { PENALTY_NAMES[0] };
    put("top_p", chosen("top_p", sampling.top_p.map(Value::from)));
    put("top_k", chosen("top_k", sampling.top_k.map(Value::from)));
    put(penalty, chosen("repetition_penalty", sampling.repetition_penalty.map(Value::from)));
    // A stop text that is meant for the reply must not end the reasoning before it.
    let ends_here = stops.is_empty() || learnt.match_stops_locally || endpoint.reasoning.opened;
    put("stop", (!ends_here).then(|| json!(stops)));
    let seeded = wish.user_field("seed").map_or(sampling.seed, |sent| sent.is_some());
    // Some servers keep a seed in 31 bits and refuse more.
    put("seed", seeded.then(|| json!(request.seed & 0x7fff_ffff)));
    put("stream_options", endpoint.send_usage_option.then(|| json!({"include_usage": true})));
    let bounds = match endpoint.api {
        Api::Chat => learnt.max_tokens_field(endpoint).name(),
        Api::Completions => "max_tokens",
    };
    put(bounds, max_tokens_value(endpoint, learnt, request));
    let taken =
        |name: &str| wish.user_fields.contains_key(canonical_name(name)) || MAX_TOKENS_NAMES.contains(&name);
    for (name, value) in endpoint.extra.iter().filter(|(name, _)| !taken(name)) {
        put(name, Some(value.clone()));
    }
    if let Some(own) =
        body.get("temperature").and_then(Value::as_f64).filter(|_| wish.temperature_increase > 0.0)
    {
        body.insert("temperature".to_owned(), json!(raised_temperature(own, wish.temperature_increase)));
    }
    body.insert("model".to_owned(), json!(endpoint.model));
    body.insert("stream".to_owned(), json!(!learnt.without_stream));
    if learnt.without_stream {
        body.remove("stream_options");
    }
    match endpoint.api {
        Api::Completions => body.insert("prompt".to_owned(), json!(request.prompt.body())),
        Api::Chat if endpoint.one_message || learnt.one_message => {
            body.insert("messages".to_owned(), json!([{"role": "user", "content": request.prompt.body()}]))
        }
        Api::Chat => body.insert("messages".to_owned(), build_messages(&request.prompt)),
    };
    body
}

/// The messages of a prompt: neighbours of one speaker are one message, and its content is a plain text.
fn build_messages(prompt: &Prompt) -> Value {
    let mut messages: Vec<(MessageRole, String)> = Vec::new();
    for segment in &prompt.segments {
        match messages.last_mut() {
            Some((speaker, text)) if *speaker == segment.message_role => text.push_str(&segment.text),
            _ => messages.push((segment.message_role, segment.text.to_string())),
        }
    }
    let role = |speaker| match speaker {
        MessageRole::System => "system",
        MessageRole::User => "user",
        MessageRole::Assistant => "assistant",
    };
    messages.iter().map(|(speaker, text)| json!({"role": role(*speaker), "content": text})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Segment, SegmentLabel, SegmentOrigin};
    use std::sync::Arc;

    fn request(parts: &[(MessageRole, &str)]) -> Request {
        let segment = |(speaker, text): &(MessageRole, &str)| Segment {
            label: SegmentLabel::Task,
            origin: SegmentOrigin::Task,
            message_role: *speaker,
            text: Arc::from(*text),
        };
        let prompt = Arc::new(Prompt { segments: parts.iter().map(segment).collect() });
        Request { prompt, seed: 7, stop: vec!["\n".to_owned()], ..Request::default() }
    }

    #[test]
    fn the_least_is_sent_and_content_is_a_plain_text() {
        let endpoint = Endpoint::new("http://h/v1/", "m");
        let request = request(&[
            (MessageRole::System, "s1 "),
            (MessageRole::System, "s2"),
            (MessageRole::User, "u1 "),
            (MessageRole::User, "u2"),
            (MessageRole::Assistant, "a"),
            (MessageRole::User, ">"),
        ]);
        let sent = Value::Object(build_body(&endpoint, &LearnedQuirks::default(), &request));
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
        let mut request = request(&[(MessageRole::User, ">")]);
        request.sampling.user_fields = json!({
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
        assert_eq!(Value::Object(build_body(&endpoint, &LearnedQuirks::default(), &request)), want);
        // What one question wants goes before it, and what the server refused is not sent whoever wants it.
        request.sampling.temperature = Some(0.9);
        want["temperature"] = json!(0.9);
        want.as_object_mut().unwrap().remove("top_k");
        let learnt =
            LearnedQuirks { dropped_fields: ["top_k".to_owned()].into(), ..LearnedQuirks::default() };
        assert_eq!(Value::Object(build_body(&endpoint, &learnt, &request)), want);
        request.sampling.user_fields = json!({"stop": false}).as_object().unwrap().clone();
        assert_eq!(build_body(&endpoint, &LearnedQuirks::default(), &request).get("stop"), None);
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
        let mut learnt =
            LearnedQuirks { uses_other_max_field: true, one_message: true, ..LearnedQuirks::default() };
        learnt.dropped_fields.extend(["top_k", "seed", "min_p", "temperature"].map(str::to_owned));
        let sent =
            build_body(&endpoint, &learnt, &request(&[(MessageRole::System, "a"), (MessageRole::User, "b")]));
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

    /// A profile's 0.6 was sent as 0.2 on the first rung: the ladder went down.
    #[test]
    fn a_warmer_question_is_warmer_than_what_would_be_sent() {
        // Extra, omitted, chosen, how much warmer, what is sent after 0.6 of the profile.
        let cases = [
            (json!({}), false, json!({}), 0.0, json!(0.6)),
            (json!({}), false, json!({}), 0.2, json!(0.8)),
            (json!({}), false, json!({}), 0.4, json!(1.0)),
            (json!({}), false, json!({}), 0.8, json!(1.0)),
            (json!({"temperature": 0.4}), false, json!({}), 0.2, json!(0.6)),
            (json!({}), false, json!({"temperature": 0.1}), 0.4, json!(0.5)),
            (json!({}), false, json!({"temperature": 1.4}), 0.4, json!(1.4)),
            (json!({}), false, json!({"temperature": false}), 0.4, Value::Null),
            (json!({}), true, json!({}), 0.4, Value::Null),
            (json!({}), true, json!({"temperature": 0.0}), 0.6, json!(0.6)),
        ];
        for (extra, omitted, chosen, warmer, want) in cases {
            let mut endpoint = Endpoint::new("http://h/v1", "m");
            endpoint.sampling.temperature = Some(0.6);
            endpoint.extra = extra.as_object().unwrap().clone();
            endpoint.omit.extend(omitted.then(|| "temperature".to_owned()));
            let mut request = request(&[(MessageRole::User, ">")]);
            (request.sampling.temperature_increase, request.sampling.user_fields) =
                (warmer, chosen.as_object().unwrap().clone());
            let sent = build_body(&endpoint, &LearnedQuirks::default(), &request);
            assert_eq!(*sent.get("temperature").unwrap_or(&Value::Null), want, "{extra} {chosen} {warmer}");
        }
    }

    /// Both names were sent, and the server heeded the one that nobody had chosen.
    #[test]
    fn what_a_person_chose_is_sent_under_the_name_that_the_profile_has() {
        let names = ["repetition_penalty", "repeat_penalty", "max_tokens", "max_completion_tokens"];
        let llamacpp = json!({"repeat_penalty": 1.0});
        let bounded = json!({"max_completion_tokens": 4096});
        let cases = [
            (json!({}), json!({"repetition_penalty": 1.3}), false, json!([1.3, null, 256, null])),
            (llamacpp.clone(), json!({}), false, json!([null, 1.0, 256, null])),
            (llamacpp.clone(), json!({"repetition_penalty": 1.3}), false, json!([null, 1.3, 256, null])),
            (llamacpp, json!({"repetition_penalty": false}), false, json!([null, null, 256, null])),
            (bounded.clone(), json!({}), false, json!([null, null, null, 4096])),
            (bounded.clone(), json!({"max_tokens": 64}), false, json!([null, null, null, 64])),
            (bounded, json!({"max_tokens": 64}), true, json!([null, null, 64, null])),
            (json!({"max_tokens": -1}), json!({}), false, json!([null, null, -1, null])),
            (json!({"max_tokens": -1}), json!({"max_tokens": 64}), false, json!([null, null, 64, null])),
            (json!({"max_tokens": 64}), json!({"max_tokens": false}), false, json!([null, null, null, null])),
        ];
        for (extra, chosen, other_max_field, want) in cases {
            let mut endpoint = Endpoint::new("http://h/v1", "m");
            endpoint.extra = extra.as_object().unwrap().clone();
            let mut request = request(&[(MessageRole::User, ">")]);
            request.sampling.user_fields = chosen.as_object().unwrap().clone();
            let sent = build_body(
                &endpoint,
                &LearnedQuirks { uses_other_max_field: other_max_field, ..LearnedQuirks::default() },
                &request,
            );
            let got: Value = names.iter().map(|name| sent.get(*name).cloned()).collect();
            assert_eq!(got, want, "{extra} {chosen}");
        }
    }

    #[test]
    fn completions_get_the_body_as_it_is() {
        let mut endpoint = Endpoint::new("http://h/v1", "m");
        endpoint.api = Api::Completions;
        endpoint.max_tokens_field = super::super::endpoint::MaxTokensField::MaxCompletionTokens;
        let mut request = request(&[(MessageRole::System, "a"), (MessageRole::User, "b\n>")]);
        request.sampling.temperature_increase = 0.4;
        request.seed = u64::MAX;
        let sent = build_body(&endpoint, &LearnedQuirks::default(), &request);
        assert_eq!(
            (&sent["prompt"], &sent["max_tokens"], &sent["temperature"]),
            (&json!("ab\n>"), &json!(256), &json!(0.4))
        );
        assert_eq!(sent["seed"], json!(0x7fff_ffff));
        assert!(!sent.contains_key("messages"));
    }
}
