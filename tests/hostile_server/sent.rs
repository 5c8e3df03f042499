//! What is sent, what is never seen again, and what is asked once.

use crate::asking::{Answer, KEY, ask, endpoint, provider, request};
use crate::run;
use crate::server::{Server, ends, good, plain, reasons, says, stream};
use retrospect::provider::openai::{Api, Auth, Key, MaxTokensField};
use retrospect::provider::{Cache, Cached, Phase};
use serde_json::json;
use std::sync::Arc;

#[test]
fn what_is_sent_and_how() {
    run(async {
        let server = Server::start(vec![good("go"), stream(b"data: {\"choices\":[{\"text\":\"go\"}]}\n\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n"), good("go")]).await;
        let chat = endpoint(&server.base);
        let mut raw = chat.clone();
        raw.api = Api::Completions;
        raw.auth = Auth::Header("api-key".to_owned());
        raw.query = vec![("api-version".to_owned(), Key::new("2024-10-21"))];
        raw.headers = vec![("x-team".to_owned(), Key::new("reflection"))];
        let mut none = chat.clone();
        none.auth = Auth::None;
        none.max_tokens_field = MaxTokensField::MaxCompletionTokens;
        for endpoint in [chat, raw, none] {
            let answer = ask(&provider(endpoint), request()).await;
            assert_eq!((answer.text.as_str(), answer.error), ("go", None));
            assert_eq!(answer.phases, [Phase::Connecting, Phase::Waiting, Phase::Answering]);
        }
        let asked = server.asked();
        let header = |n: usize, name: &str| asked[n].headers.get(name).map(String::as_str);
        assert_eq!(asked[0].line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(header(0, "authorization").unwrap(), format!("Bearer {KEY}"));
        assert_eq!(header(0, "content-type"), Some("application/json"));
        assert_eq!(
            asked[0].body["messages"][1],
            json!({"role": "user", "content": "Put a clean mug on the desk.\n>"})
        );
        assert_eq!(asked[1].line, "POST /v1/completions?api-version=2024-10-21 HTTP/1.1");
        assert_eq!(
            (header(1, "api-key"), header(1, "authorization"), header(1, "x-team")),
            (Some(KEY), None, Some("reflection"))
        );
        assert_eq!(asked[1].body["prompt"], json!("You are in a kitchen.Put a clean mug on the desk.\n>"));
        assert_eq!((header(2, "api-key"), header(2, "authorization")), (None, None));
        assert!(asked[2].body.get("max_tokens").is_none());
    });
}

/// A server that says the key back, in an error, in a page, in its answer, in pieces.
#[test]
fn a_key_that_is_said_back_is_not_seen() {
    let (front, back) = KEY.split_at(9);
    let inside =
        format!("{}{}{}", says(&format!("your key is {front}")), says(&format!("{back} ok")), ends("stop"));
    let error = format!("data: {}\n\n", json!({"error": {"message": format!("bad key {KEY}")}}));
    let location = format!("location: http://elsewhere/{KEY}\r\n");
    let scripts = vec![
        plain(
            401,
            "",
            &json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}).to_string(),
        ),
        stream(inside.as_bytes()),
        stream(error.as_bytes()),
        stream(format!("{}{}", reasons("reasoning", KEY), ends("length")).as_bytes()),
        plain(307, &location, ""),
        plain(200, "", &format!("<html><title>{KEY}</title></html>")),
        plain(400, "", KEY),
    ];
    run(async {
        let count = scripts.len();
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(&server.base));
        let mut answers: Vec<Answer> = Vec::new();
        for _ in 0..count {
            // The helper looks for the key in all that comes.
            answers.push(ask(&provider, request()).await);
        }
        assert_eq!(answers[1].text, "your key is [hidden] ok");
        let told =
            answers.iter().filter_map(|a| a.error.as_ref()).filter(|e| e.what.contains("[hidden]")).count();
        assert_eq!(told, 5, "{answers:#?}");
        assert!(!format!("{provider:?}").contains(KEY));
    });
}

#[test]
fn the_cache_answers_the_same_question_alone() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(vec![
            good("one"),
            good("two"),
            good("three"),
            plain(401, "", "no"),
            good("four"),
            good("five"),
            good("six"),
        ])
        .await;
        let inner = provider(endpoint(&server.base));
        let identity = inner.endpoint().identity();
        assert!(!identity.contains(KEY));
        let cached = |mode| Cached::new(Arc::new(inner.clone()), identity.clone(), folder.path(), mode);
        let both = cached(Cache::ReadWrite);
        assert_eq!(ask(&both, request()).await.text, "one");
        let again = ask(&both, request()).await;
        assert_eq!((again.text.as_str(), again.usage.map(|u| u.cached)), ("one", Some(true)));
        let mut other = request();
        other.seed = 8;
        assert_eq!(
            ask(&cached(Cache::Read), other.clone()).await.text,
            "two",
            "the seed is part of the question"
        );
        assert_eq!(ask(&both, other.clone()).await.text, "three", "and what was only read is not kept");
        other.wish.temperature = Some(0.2);
        assert!(ask(&both, other.clone()).await.error.is_some());
        assert_eq!(ask(&both, other.clone()).await.text, "four", "a failure is not kept");
        // What a person chose is part of the question too.
        other.wish.chosen = json!({"top_p": 0.5}).as_object().unwrap().clone();
        assert_eq!(ask(&both, other.clone()).await.text, "five");
        assert_eq!(server.asked().last().unwrap().body["top_p"], json!(0.5));
        // A file that is no answer is none.
        for file in files(folder.path()) {
            assert!(!String::from_utf8_lossy(&std::fs::read(&file).unwrap()).contains(KEY));
            std::fs::write(file, "{").unwrap();
        }
        assert_eq!(ask(&cached(Cache::Read), request()).await.text, "six");
        assert_eq!(ask(&cached(Cache::Off), request()).await.text, "six");
    });
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { all.extend(files(&entry.path())) } else { all.push(entry.path()) }
    }
    all
}
