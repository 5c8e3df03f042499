//! Builds the body of a request: as few fields as possible, and none that the server is known to reject.

use super::endpoint::{Api, Endpoint, MaxTokensField, PENALTY_NAMES};
use super::learned_quirks::{LearnedQuirks, TokenLimit};
use crate::domain::{ModelRole, raised_temperature};
use crate::provider::Request;
use crate::provider::request_preview::chat_messages;
use serde_json::{Map, Value, json};

/// Fields that a request can omit. If a rejection mentions one of them, the request is repeated without it.
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

/// Returns the token limit that the request asks for: its own, else the person's, else the profile's, else the role's
/// default, which is 256 for the actor (one line, as in Reflexion's code) and 1024 for the mentor (a list).
pub(super) fn wanted_max_tokens(endpoint: &Endpoint, request: &Request) -> u32 {
    let default = endpoint.sampling.max_tokens.unwrap_or(match request.role {
        ModelRole::Actor => 256,
        ModelRole::Mentor => 1024,
    });
    let extra = endpoint.extra.get(endpoint.effective_max_tokens_field().name());
    let chosen = [request.sampling.user_field("max_tokens").flatten(), extra].into_iter().flatten();
    let chosen = chosen.filter_map(Value::as_u64).find_map(|n| u32::try_from(n).ok());
    request.sampling.max_tokens.or(chosen).unwrap_or(default)
}

impl Endpoint {
    /// Returns the token limit for replies of a role, unless a request sets its own. Returns `None` if no limit is
    /// sent.
    pub fn max_tokens(&self, role: ModelRole) -> Option<u32> {
        let is_sent = !self.omit.contains(self.effective_max_tokens_field().name());
        is_sent.then(|| wanted_max_tokens(self, &Request { role, ..Request::default() }))
    }
}

/// Returns the value of the token limit field: the request's own limit, else that of the person, the profile or the
/// role, but no less than the model is known to need. A value in `extra` that is not a valid token count is sent as
/// it is.
fn max_tokens_value(endpoint: &Endpoint, learned: &LearnedQuirks, request: &Request) -> Option<Value> {
    let sampling = &request.sampling;
    if let Some(tokens) = sampling.max_tokens {
        return Some(json!(tokens));
    }
    let chosen = sampling.user_field("max_tokens");
    let extra = endpoint.extra.get(endpoint.effective_max_tokens_field().name()).filter(|_| chosen.is_none());
    let is_count = |value: &Value| value.as_u64().is_some_and(|n| u32::try_from(n).is_ok());
    match (chosen, extra) {
        (Some(None), _) => None,
        (_, Some(other)) if !is_count(other) => Some(other.clone()),
        _ => match learned.token_limit(wanted_max_tokens(endpoint, request)) {
            TokenLimit::Tokens(tokens) => Some(json!(tokens)),
            TokenLimit::ServerDefault => None,
        },
    }
}

/// Returns the token limit in a request body.
pub(super) fn sent_max_tokens(body: &Map<String, Value>) -> Option<u32> {
    MAX_TOKENS_NAMES.iter().find_map(|name| u32::try_from(body.get(*name)?.as_u64()?).ok())
}

/// Returns the name that settings use for a request field that some servers name differently.
fn canonical_name(name: &str) -> &str {
    let first_if_listed = |names: &[&'static str]| names.contains(&name).then(|| names[0]);
    first_if_listed(&PENALTY_NAMES).or_else(|| first_if_listed(&MAX_TOKENS_NAMES)).unwrap_or(name)
}

const MAX_TOKENS_NAMES: [&str; 2] =
    [MaxTokensField::MaxTokens.name(), MaxTokensField::MaxCompletionTokens.name()];

/// Returns the texts that end the reply: the person's, else the profile's, else the request's. Newline stops in the
/// latter two are omitted if the model's replies are known to span several lines.
pub(super) fn stop_sequences(endpoint: &Endpoint, learned: &LearnedQuirks, request: &Request) -> Vec<String> {
    if let Some(chosen) = request.sampling.user_field("stop") {
        let texts = chosen.and_then(Value::as_array).into_iter().flatten();
        return texts.filter_map(|t| t.as_str().map(str::to_owned)).collect();
    }
    let stops = endpoint.sampling.stop.as_ref().unwrap_or(&request.stop);
    stops.iter().filter(|stop| !learned.skip_newline_stop || !is_newline_stop(stop)).cloned().collect()
}

/// Returns whether a stop sequence ends the reply at the end of a line.
pub(super) fn is_newline_stop(stop: &str) -> bool {
    stop.contains('\n') && stop.trim().is_empty()
}

/// Returns the body of a request. It asks for a stream unless streaming is known to fail with this server.
pub(super) fn build_body(
    endpoint: &Endpoint,
    learned: &LearnedQuirks,
    request: &Request,
) -> Map<String, Value> {
    let (sampling, overrides) = (&endpoint.sampling, &request.sampling);
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        // A person's choice is sent even if the profile omits the field, but not if the server rejected it.
        let omitted =
            endpoint.omit.contains(name) && !overrides.user_fields.contains_key(canonical_name(name));
        if let Some(value) = value
            && !omitted
            && !learned.dropped_fields.contains(name)
        {
            body.insert(name.to_owned(), value);
        }
    };
    let chosen = |name: &str, default: Option<Value>| {
        overrides.user_field(name).map_or(default, Option::<&Value>::cloned)
    };
    let stops = stop_sequences(endpoint, learned, request);
    let temperature = overrides.temperature.map(Value::from);
    put("temperature", temperature.or_else(|| chosen("temperature", sampling.temperature.map(Value::from))));
    // A server that knows the field by the profile's name ignores the other name.
    let penalty =
        PENALTY_NAMES.into_iter().rfind(|n| endpoint.extra.contains_key(*n)).unwrap_or(PENALTY_NAMES[0]);
    let penalty =
        if overrides.user_fields.contains_key(PENALTY_NAMES[0]) { penalty } else { PENALTY_NAMES[0] };
    put("top_p", chosen("top_p", sampling.top_p.map(Value::from)));
    put("top_k", chosen("top_k", sampling.top_k.map(Value::from)));
    put(penalty, chosen("repetition_penalty", sampling.repetition_penalty.map(Value::from)));
    // A stop sequence meant for the reply must not end the reasoning before it.
    let omit_stops = stops.is_empty() || learned.match_stops_locally || endpoint.reasoning.opened;
    put("stop", (!omit_stops).then(|| json!(stops)));
    let send_seed = overrides.user_field("seed").map_or(sampling.seed, |sent| sent.is_some());
    // Some servers store the seed in 31 bits and reject larger ones.
    put("seed", send_seed.then(|| json!(request.seed & 0x7fff_ffff)));
    put("stream_options", endpoint.send_usage_option.then(|| json!({"include_usage": true})));
    let limit_field = match endpoint.api {
        Api::Chat => learned.max_tokens_field(endpoint).name(),
        Api::Completions => "max_tokens",
    };
    put(limit_field, max_tokens_value(endpoint, learned, request));
    let is_set = |name: &str| {
        overrides.user_fields.contains_key(canonical_name(name)) || MAX_TOKENS_NAMES.contains(&name)
    };
    for (name, value) in endpoint.extra.iter().filter(|(name, _)| !is_set(name)) {
        put(name, Some(value.clone()));
    }
    if let Some(base) =
        body.get("temperature").and_then(Value::as_f64).filter(|_| overrides.temperature_increase > 0.0)
    {
        body.insert(
            "temperature".to_owned(),
            json!(raised_temperature(base, overrides.temperature_increase)),
        );
    }
    body.insert("model".to_owned(), json!(endpoint.model));
    body.insert("stream".to_owned(), json!(!learned.without_stream));
    if learned.without_stream {
        body.remove("stream_options");
    }
    match endpoint.api {
        Api::Completions => body.insert("prompt".to_owned(), json!(request.prompt.body())),
        Api::Chat if endpoint.one_message || learned.one_message => {
            body.insert("messages".to_owned(), json!([{"role": "user", "content": request.prompt.body()}]))
        }
        Api::Chat => body.insert("messages".to_owned(), chat_messages(&request.prompt)),
    };
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MessageRole, Prompt, Segment, SegmentLabel, SegmentOrigin};
    use std::sync::Arc;

    fn request(parts: &[(MessageRole, &str)]) -> Request {
        let segment = |(message_role, text): &(MessageRole, &str)| Segment {
            label: SegmentLabel::Task,
            origin: SegmentOrigin::Task,
            message_role: *message_role,
            text: Arc::from(*text),
        };
        let prompt = Arc::new(Prompt { segments: parts.iter().map(segment).collect() });
        Request { prompt, seed: 7, stop: vec!["\n".to_owned()], ..Request::default() }
    }

    #[test]
    fn body_is_minimal_and_content_is_a_plain_string() {
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
    fn user_fields_override_the_profile() {
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
        let mut expected = json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.7, "top_k": 9,
            "repetition_penalty": 1.1, "max_tokens": 64, "stop": ["END"], "min_p": 0.1,
            "messages": [{"role": "user", "content": ">"}],
        });
        assert_eq!(Value::Object(build_body(&endpoint, &LearnedQuirks::default(), &request)), expected);
        // The request's own parameters override them, and rejected fields are never sent.
        request.sampling.temperature = Some(0.9);
        expected["temperature"] = json!(0.9);
        expected.as_object_mut().unwrap().remove("top_k");
        let learned =
            LearnedQuirks { dropped_fields: ["top_k".to_owned()].into(), ..LearnedQuirks::default() };
        assert_eq!(Value::Object(build_body(&endpoint, &learned, &request)), expected);
        request.sampling.user_fields = json!({"stop": false}).as_object().unwrap().clone();
        assert_eq!(build_body(&endpoint, &LearnedQuirks::default(), &request).get("stop"), None);
    }

    #[test]
    fn rejected_fields_are_not_sent_again() {
        let mut endpoint = Endpoint::new("http://h/v1", "m");
        endpoint.sampling.top_k = Some(50);
        endpoint.extra = json!({"min_p": 0.1, "chat_template_kwargs": {"enable_thinking": false}})
            .as_object()
            .unwrap()
            .clone();
        endpoint.omit.insert("top_p".to_owned());
        let mut learned =
            LearnedQuirks { uses_other_max_field: true, one_message: true, ..LearnedQuirks::default() };
        learned.dropped_fields.extend(["top_k", "seed", "min_p", "temperature"].map(str::to_owned));
        let sent = build_body(
            &endpoint,
            &learned,
            &request(&[(MessageRole::System, "a"), (MessageRole::User, "b")]),
        );
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

    /// Regression: a profile's 0.6 was sent as 0.2 for the first increase, which lowered the temperature.
    #[test]
    fn increase_is_added_to_the_temperature_that_would_be_sent() {
        // Columns: `extra`, whether the profile omits the field, the person's choice, increase, temperature sent. The
        // profile has 0.6.
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
        for (extra, omitted, chosen, increase, expected) in cases {
            let mut endpoint = Endpoint::new("http://h/v1", "m");
            endpoint.sampling.temperature = Some(0.6);
            endpoint.extra = extra.as_object().unwrap().clone();
            endpoint.omit.extend(omitted.then(|| "temperature".to_owned()));
            let mut request = request(&[(MessageRole::User, ">")]);
            (request.sampling.temperature_increase, request.sampling.user_fields) =
                (increase, chosen.as_object().unwrap().clone());
            let sent = build_body(&endpoint, &LearnedQuirks::default(), &request);
            assert_eq!(
                *sent.get("temperature").unwrap_or(&Value::Null),
                expected,
                "{extra} {chosen} {increase}"
            );
        }
    }

    /// Regression: both names were sent, and the server used the default under the other name.
    #[test]
    fn user_fields_are_sent_under_the_profiles_names() {
        let names = ["repetition_penalty", "repeat_penalty", "max_tokens", "max_completion_tokens"];
        let llamacpp = json!({"repeat_penalty": 1.0});
        let limited = json!({"max_completion_tokens": 4096});
        let cases = [
            (json!({}), json!({"repetition_penalty": 1.3}), false, json!([1.3, null, 256, null])),
            (llamacpp.clone(), json!({}), false, json!([null, 1.0, 256, null])),
            (llamacpp.clone(), json!({"repetition_penalty": 1.3}), false, json!([null, 1.3, 256, null])),
            (llamacpp, json!({"repetition_penalty": false}), false, json!([null, null, 256, null])),
            (limited.clone(), json!({}), false, json!([null, null, null, 4096])),
            (limited.clone(), json!({"max_tokens": 64}), false, json!([null, null, null, 64])),
            (limited, json!({"max_tokens": 64}), true, json!([null, null, 64, null])),
            (json!({"max_tokens": -1}), json!({}), false, json!([null, null, -1, null])),
            (json!({"max_tokens": -1}), json!({"max_tokens": 64}), false, json!([null, null, 64, null])),
            (json!({"max_tokens": 64}), json!({"max_tokens": false}), false, json!([null, null, null, null])),
        ];
        for (extra, chosen, other_max_field, expected) in cases {
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
            assert_eq!(got, expected, "{extra} {chosen}");
        }
    }

    #[test]
    fn completions_get_the_prompt_as_one_text() {
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
