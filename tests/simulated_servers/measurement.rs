//! A lesson measured with a model behind HTTP: a server that is away for a while, and one that refuses until its key is right.

use crate::http::{Listener, Response};
use crate::{Home, run_command};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TOO_BUSY: &str = r#"{"error": {"message": "overloaded"}}"#;

/// A model without a will of its own: what it does depends on the request's seed, and on whether the lesson is in the prompt.
fn reply(body: &[u8]) -> Response {
    let sent: Value = serde_json::from_slice(body).unwrap();
    let has_lesson = sent["messages"].to_string().contains("Look around first.");
    let actions = ["go to countertop 1", "go to cabinet 1", "look", "inventory"];
    let action = if has_lesson { "look" } else { actions[sent["seed"].as_u64().unwrap_or(0) as usize % 4] };
    let event = |delta: Value, end: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": end}]);
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "choices": choices}))
    };
    let text = event(json!({"role": "assistant", "content": action}), Value::Null);
    let end = event(json!({}), json!("stop"));
    Response::Stream("", vec![text, end, "data: [DONE]\n\n".to_owned()])
}

/// Measures with a server; returns the exit code, the text on standard error, and the lines of the log.
fn measure(home: &Home, (server, key): (&Listener, &str), pairs: u32) -> (i32, String, Vec<Value>) {
    let config = home.0.path().join("config.toml");
    let profile = format!(
        "[models.test]\nbase_url = \"http://{}/v1\"\nkey_env = \"TEST_KEY\"\nretry_seconds = 0.01\nretry_total_seconds = 0.01\nprice_prompt = 1.0\n",
        server.address()
    );
    std::fs::write(&config, profile).unwrap();
    let args = format!(
        "lessons effect --text Look_around_first. --env household --tasks easy/put/1-{pairs} --actor openai:test --profile test \
                --pairs {pairs} --keep-going --placebo none --max-steps 4 --pool pool.jsonl --config config.toml"
    );
    let args: Vec<String> =
        args.split_whitespace().map(|word| word.replace("Look_around_", "Look around ")).collect();
    let mut command = home.command(&args);
    command.env("TEST_KEY", key);
    let (code, _, error) = run_command(command);
    let folders =
        std::fs::read_dir(home.0.path().join("effects")).unwrap_or_else(|why| panic!("{why}: {error}"));
    let logs: Vec<PathBuf> = folders.map(|folder| folder.unwrap().path().join("log.jsonl")).collect();
    assert_eq!(logs.len(), 1, "one measurement: {error}");
    let lines = std::fs::read_to_string(&logs[0]).unwrap();
    (code, error, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Returns the episodes of a log, without the measurement's id, of which the server's address is a part.
fn episodes(log: &[Value]) -> Vec<Value> {
    let mut episodes: Vec<Value> =
        log.iter().filter(|record| record["type"] == "effect_episode").cloned().collect();
    for episode in &mut episodes {
        episode.as_object_mut().unwrap().remove("effect");
    }
    episodes
}

#[test]
fn a_server_that_is_away_for_a_while_changes_no_episode() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (steady, home) = (Listener::start(|request| reply(&request.body)), Home::new());
    let (code, error, whole) = measure(&home, (&steady, "right"), 3);
    assert_eq!((code, episodes(&whole).len()), (0, 6), "{error}");
    assert!(error.is_empty() || !error.contains("waiting"), "{error}");
    let flaky = Listener::start(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        // The client itself sends a call twice.
        7 | 8 => Response::Json(503, "", TOO_BUSY.to_owned()),
        13 | 14 => Response::Json(502, "", TOO_BUSY.to_owned()),
        19 | 20 => Response::Json(504, "", TOO_BUSY.to_owned()),
        _ => reply(&request.body),
    });
    let home = Home::new();
    let (code, error, log) = measure(&home, (&flaky, "right"), 3);
    assert_eq!(code, 0, "{error}");
    assert_eq!(episodes(&log), episodes(&whole), "nothing lost, nothing counted twice");
    assert!(error.contains("waiting for the model server"), "{error}");
}

/// Regression: pairs that a server had refused stayed lost, and more pairs didn't help.
#[test]
fn what_a_server_refused_is_played_when_the_measurement_is_continued() {
    let server = Listener::start(|request| match request.authorization.as_str() {
        "Bearer right" => reply(&request.body),
        _ => Response::Json(401, "", r#"{"error": {"message": "wrong key"}}"#.to_owned()),
    });
    let home = Home::new();
    let (_, error, refused) = measure(&home, (&server, "wrong"), 20);
    assert_eq!(episodes(&refused).len(), 0, "{error}");
    assert!(refused.iter().any(|record| record["type"] == "effect_discarded"), "{refused:?}");
    let (code, error, log) = measure(&home, (&server, "right"), 20);
    assert_eq!((code, episodes(&log).len()), (0, 40), "{error}");
}
