//! What is sent, what is never shown, and what is sent only once.

use crate::block_on;
use crate::client::{Answer, KEY, ask, endpoint, provider, request};
use crate::cut::NEWLINE_STOP_CHECK;
use crate::server::{
    ScriptStep, Server, complete_reply, end_event, plain_response, reasoning_event, stream, text_event,
};
use retrospect::domain::CallPhase;
use retrospect::provider::openai::{Api, Auth, KeySource, MaxTokensField, Secret};
use retrospect::provider::{CacheMode, CachedProvider, Provider as _, Request};
use serde_json::json;
use std::sync::Arc;

#[test]
fn each_api_sends_its_fields_and_headers() {
    block_on(async {
        let server = Server::start(vec![complete_reply("go"), stream(b"data: {\"choices\":[{\"text\":\"go\"}]}\n\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n"), complete_reply("go")]).await;
        let chat = endpoint(&server.base);
        let mut completions = chat.clone();
        completions.api = Api::Completions;
        completions.auth = Auth::Header("api-key".to_owned());
        completions.query = vec![("api-version".to_owned(), Secret::new("2024-10-21"))];
        completions.headers = vec![("x-team".to_owned(), Secret::new("reflection"))];
        let mut without_auth = chat.clone();
        without_auth.auth = Auth::None;
        without_auth.max_tokens_field = MaxTokensField::MaxCompletionTokens;
        for endpoint in [chat, completions, without_auth] {
            let answer = ask(&provider(endpoint), request()).await;
            assert_eq!((answer.text.as_str(), answer.error), ("go", None));
            assert_eq!(answer.phases, [CallPhase::Connecting, CallPhase::Waiting, CallPhase::Answering]);
        }
        let requests = server.requests();
        let header = |n: usize, name: &str| requests[n].headers.get(name).map(String::as_str);
        assert_eq!(requests[0].line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(header(0, "authorization").unwrap(), format!("Bearer {KEY}"));
        assert_eq!(header(0, "content-type"), Some("application/json"));
        assert_eq!(
            requests[0].body["messages"][1],
            json!({"role": "user", "content": "Put a clean mug on the desk.\n>"})
        );
        assert_eq!(requests[1].line, "POST /v1/completions?api-version=2024-10-21 HTTP/1.1");
        assert_eq!(
            (header(1, "api-key"), header(1, "authorization"), header(1, "x-team")),
            (Some(KEY), None, Some("reflection"))
        );
        assert_eq!(requests[1].body["prompt"], json!("You are in a kitchen.Put a clean mug on the desk.\n>"));
        assert_eq!((header(2, "api-key"), header(2, "authorization")), (None, None));
        assert!(requests[2].body.get("max_tokens").is_none());
    });
}

/// What a person copies is what is sent, with names of variables in place of everything that may be secret.
#[test]
fn a_copied_request_is_the_sent_one_without_secrets() {
    let completion = stream(b"data: {\"choices\":[{\"text\":\"go\"}]}\n\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n");
    block_on(async {
        let server = Server::start(vec![complete_reply("go"), completion]).await;
        let mut chat = endpoint(&server.base);
        chat.key_source = KeySource::Variable("TEAM_KEY".to_owned());
        // Whoever puts a key into a body has it in every request.
        chat.extra.insert("user".to_owned(), json!(format!("it's {KEY}")));
        let mut completions = chat.clone();
        (completions.api, completions.key_source) = (Api::Completions, KeySource::Unknown);
        completions.auth = Auth::Header("api-key".to_owned());
        completions.query = vec![("api-version".to_owned(), Secret::new("2024-10-21"))];
        completions.headers = vec![("x-team".to_owned(), Secret::new("reflection"))];
        let expected = [
            ("/chat/completions\"", vec!["\"Authorization: Bearer $TEAM_KEY\""]),
            (
                "/completions?api-version=$API_VERSION\"",
                vec!["\"api-key: $OPENAI_API_KEY\"", "\"x-team: $X_TEAM\""],
            ),
        ];
        for (index, (endpoint, (path, headers))) in [chat, completions].into_iter().zip(expected).enumerate()
        {
            let client = provider(endpoint);
            let preview = client.preview_request(&request());
            assert_eq!(ask(&client, request()).await.error, None);
            let mut sent = server.requests()[index].body.clone();
            let mut copied: serde_json::Value = serde_json::from_str(&preview.body).unwrap();
            assert!(sent["user"].as_str().unwrap().contains(KEY));
            assert!(copied["user"].as_str().unwrap().starts_with("it's "));
            (sent["user"], copied["user"]) = (json!(""), json!(""));
            assert_eq!(copied, sent);
            let command = preview.to_curl().unwrap();
            assert!(command.starts_with(&format!("curl \"{}{path}", server.base)), "{command}");
            for header in headers {
                assert!(command.contains(&format!("-H {header}")), "{header}: {command}");
            }
            assert!(
                command.contains("-H \"Content-Type: application/json\"") && command.contains(r"it'\''s")
            );
            for secret in [KEY, "2024-10-21", "reflection"] {
                assert!(!command.contains(secret) && !preview.body.contains(secret), "{secret}: {command}");
            }
        }
    });
}

/// The server echoes the key in an error, in an HTML page, in its reply, and split between chunks.
#[test]
fn an_echoed_key_is_not_shown() {
    let (front, back) = KEY.split_at(9);
    let in_reply = format!(
        "{}{}{}",
        text_event(&format!("your key is {front}")),
        text_event(&format!("{back} ok")),
        end_event("stop")
    );
    let error = format!("data: {}\n\n", json!({"error": {"message": format!("bad key {KEY}")}}));
    let location = format!("location: http://elsewhere/{KEY}\r\n");
    let scripts = vec![
        plain_response(
            401,
            "",
            &json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}).to_string(),
        ),
        stream(in_reply.as_bytes()),
        stream(error.as_bytes()),
        stream(
            format!("{}{}{}", reasoning_event("reasoning", KEY), text_event("look"), end_event("stop"))
                .as_bytes(),
        ),
        plain_response(307, &location, ""),
        plain_response(200, "", &format!("<html><title>{KEY}</title></html>")),
        plain_response(400, "", KEY),
    ];
    block_on(async {
        let count = scripts.len();
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(&server.base));
        let mut answers: Vec<Answer> = Vec::new();
        for _ in 0..count {
            // The helper searches everything received for the key.
            answers.push(ask(&provider, request()).await);
        }
        assert_eq!(answers[1].text, "your key is [hidden] ok");
        let notices = answers
            .iter()
            .filter_map(|a| a.error.as_ref())
            .filter(|e| e.message.contains("[hidden]"))
            .count();
        assert_eq!(notices, 5, "{answers:#?}");
        assert!(!format!("{provider:?}").contains(KEY));
    });
}

#[test]
fn the_cache_answers_only_identical_requests() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(vec![
            complete_reply("one"),
            complete_reply("two"),
            complete_reply("three"),
            plain_response(401, "", "no"),
            complete_reply("four"),
            complete_reply("five"),
            complete_reply("six"),
        ])
        .await;
        let inner = provider(endpoint(&server.base));
        let identity = inner.endpoint().identity();
        assert!(!identity.contains(KEY));
        let cached =
            |mode| CachedProvider::new(Arc::new(inner.clone()), identity.clone(), folder.path(), mode);
        let read_write = cached(CacheMode::ReadWrite);
        assert_eq!(ask(&read_write, request()).await.text, "one");
        let again = ask(&read_write, request()).await;
        assert_eq!((again.text.as_str(), again.usage.map(|u| u.cached)), ("one", Some(true)));
        let mut other = request();
        other.seed = 8;
        assert_eq!(
            ask(&cached(CacheMode::Read), other.clone()).await.text,
            "two",
            "the seed is part of the request"
        );
        assert_eq!(ask(&read_write, other.clone()).await.text, "three", "a reply in read mode is not stored");
        other.sampling.temperature = Some(0.2);
        assert!(ask(&read_write, other.clone()).await.error.is_some());
        assert_eq!(ask(&read_write, other.clone()).await.text, "four", "a failure is not stored");
        // A person's settings are part of the request as well.
        other.sampling.user_fields = json!({"top_p": 0.5}).as_object().unwrap().clone();
        assert_eq!(ask(&read_write, other.clone()).await.text, "five");
        assert_eq!(server.requests().last().unwrap().body["top_p"], json!(0.5));
        // A file that is not a reply is ignored.
        for file in files_in(folder.path()) {
            assert!(!String::from_utf8_lossy(&std::fs::read(&file).unwrap()).contains(KEY));
            std::fs::write(file, "{").unwrap();
        }
        assert_eq!(ask(&cached(CacheMode::Read), request()).await.text, "six");
        assert_eq!(ask(&cached(CacheMode::Off), request()).await.text, "six");
    });
}

/// Regression: a chat model that replies with `Thought: ...` and `Action: ...` on two lines never acted: our stop sequence
/// cut it after the thought.
#[test]
fn an_action_after_a_newline_is_retried_without_the_stop_sequence() {
    const WHOLE_TEXT: &str = "Thought: it is near.\nAction: look\nObservation: a desk.";
    let reply_script = |text: &str| stream(format!("{}{}", text_event(text), end_event("stop")).as_bytes());
    let sent_stops = |server: &Server| -> Vec<bool> {
        server.requests().iter().map(|a| a.body.get("stop").is_some()).collect()
    };
    let actor_request = || Request { newline_stop_check: Some(NEWLINE_STOP_CHECK), ..request() };
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let server =
            Server::start(vec![reply_script("Thought: it is near."), reply_script(WHOLE_TEXT)]).await;
        let inner = provider(endpoint(&server.base));
        let identity = inner.endpoint().identity();
        let cached = CachedProvider::new(
            Arc::new(inner.clone()),
            identity.clone(),
            folder.path(),
            CacheMode::ReadWrite,
        );
        let first = ask(&cached, actor_request()).await;
        assert_eq!((first.text.as_str(), &first.error), (WHOLE_TEXT, &None));
        assert_eq!(
            first.notices,
            ["the newline stop cut off the action; it is no longer sent to this server"]
        );
        assert!(
            inner.setting_deviations().last().unwrap().starts_with("stop at a newline: "),
            "{:?}",
            inner.setting_deviations()
        );
        let other = Request { seed: 8, ..actor_request() };
        let next = ask(&cached, other.clone()).await;
        assert_eq!((next.text.as_str(), next.notices.len()), (WHOLE_TEXT, 0));
        assert_eq!(sent_stops(&server), [true, false, false]);
        // Both replies are counted.
        let (first, next) = (first.usage.unwrap(), next.usage.unwrap());
        assert!(first.reply_tokens > next.reply_tokens && first.prompt_tokens == 2 * next.prompt_tokens);
        // A new process with the journal: the same requests get the same replies, and none is sent with the stop sequence.
        let later = provider(endpoint(&server.base));
        let cached =
            CachedProvider::new(Arc::new(later.clone()), identity, folder.path(), CacheMode::ReadWrite);
        cached.restore_quirks(&inner.setting_deviations());
        assert_eq!(later.setting_deviations(), inner.setting_deviations());
        for repeated in [actor_request(), other] {
            assert_eq!(ask(&cached, repeated).await.text, WHOLE_TEXT);
        }
        assert_eq!(server.requests().len(), 3, "they were cached");
        ask(&cached, Request { seed: 9, ..actor_request() }).await;
        assert_eq!(sent_stops(&server), [true, false, false, false]);
    });
    // For servers that ignore stop sequences, our side cuts the reply, with the same effect.
    block_on(async {
        let server = Server::start(vec![reply_script(WHOLE_TEXT)]).await;
        let answer = ask(&provider(endpoint(&server.base)), actor_request()).await;
        assert_eq!((answer.text.as_str(), sent_stops(&server)), (WHOLE_TEXT, vec![true, false]));
    });
    // Nothing is learned from a complete step, a mentor, a reply that is too long, or against a person's own stop sequence.
    let with_own_stop = || {
        let mut with_own_stop = actor_request();
        with_own_stop.sampling.user_fields = json!({"stop": ["\n"]}).as_object().unwrap().clone();
        with_own_stop
    };
    type EchoCase = (&'static str, fn(&str) -> Vec<ScriptStep>, fn() -> Request, &'static str);
    let ended: fn(&str) -> Vec<ScriptStep> =
        |text| stream(format!("{}{}", text_event(text), end_event("stop")).as_bytes());
    let cases: [EchoCase; 3] = [
        (
            "think: it is near.",
            ended,
            || Request { newline_stop_check: Some(NEWLINE_STOP_CHECK), ..request() },
            "think: it is near.",
        ),
        ("Thought: it is near.", ended, request, "Thought: it is near."),
        (
            "look\nThought: it is near.",
            ended,
            || Request { newline_stop_check: Some(NEWLINE_STOP_CHECK), ..request() },
            "look",
        ),
    ];
    for (text, script, make_request, expected) in cases {
        block_on(async {
            let server = Server::start(vec![script(text)]).await;
            let client = provider(endpoint(&server.base));
            assert_eq!(ask(&client, make_request()).await.text, expected);
            assert_eq!((server.requests().len(), client.learned().skip_newline_stop), (1, false), "{text}");
        });
    }
    block_on(async {
        let long = stream(format!("{}{}", text_event("Thought: it is ne"), end_event("length")).as_bytes());
        let server = Server::start(vec![long]).await;
        let client = provider(endpoint(&server.base));
        assert_eq!(ask(&client, actor_request()).await.text, "Thought: it is ne");
        assert_eq!((sent_stops(&server), client.learned().skip_newline_stop), (vec![true, true], false));
    });
    block_on(async {
        let server = Server::start(vec![reply_script("Thought: it is near.")]).await;
        let client = provider(endpoint(&server.base));
        assert_eq!(ask(&client, with_own_stop()).await.text, "Thought: it is near.");
        assert!(!client.learned().skip_newline_stop && sent_stops(&server) == [true]);
    });
}

fn files_in(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { all.extend(files_in(&entry.path())) } else { all.push(entry.path()) }
    }
    all
}
