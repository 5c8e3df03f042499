//! Whole runs with models that reason, in every shape: what they think is kept and shown, and is in no later prompt, no action
//! and no lesson. And what it all cost.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is wrong")]

#[path = "serving/server.rs"]
mod server;

use serde_json::{Value, json};
use server::{Act, Server, chunked, ends, reasons, says};
use std::process::Command;

const THOUGHT: &str = "MUSINGS";

/// An answer with this reasoning before it, and its usage.
fn thinking(shape: &str, text: &str) -> Vec<Act> {
    let begun = match shape {
        "tags" => says(&format!("<think>{THOUGHT}\n[\"{THOUGHT}\"]</think>\n")),
        // The template opened it: only the closing mark comes.
        "closed" => says(&format!("{THOUGHT}\n> {THOUGHT}\n</think>")),
        field => reasons(field, THOUGHT),
    };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 20}});
    let body = format!("{begun}{}{}data: {usage}\n\ndata: [DONE]\n\n", says(text), ends("stop"));
    chunked(&[body.as_bytes()], true)
}

#[test]
fn what_a_model_thinks_is_kept_and_told_and_asked_of_nobody_again() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for shape in ["reasoning_content", "reasoning", "thinking", "tags", "closed"] {
        // Good as an action and as a list of one lesson.
        let server = runtime.block_on(Server::start(vec![thinking(shape, "inventory")]));
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("config.toml");
        std::fs::write(&config, "[models.mine]\nprice_prompt = 2.0\nprice_reply = 50.0\n").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(["run", "--task", "easy/put/1", "--set", "generation=neural", "--set", "r_freq=2"]);
        command.args([
            "--actor",
            "openai:tiny",
            "--mentor",
            "openai:tiny",
            "--profile",
            "mine",
            "--max-steps",
            "3",
        ]);
        command.args(["--base-url", &server.base, "--config"]).arg(&config).args(["--headless", "--json"]);
        command.current_dir(home.path()).env_clear().env("HOME", home.path());
        command.env("RETROSPECT_SESSIONS", home.path().join("sessions"));
        let done = command.output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success(), "{shape}: {said}{}", String::from_utf8_lossy(&done.stderr));
        let asked = server.asked();
        assert_eq!(asked.len(), 9, "three turns, and two rounds of three questions");
        for ask in &asked {
            assert!(!ask.body.to_string().contains(THOUGHT), "{shape}: {}", ask.body);
        }
        let lines: Vec<Value> = said.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        for line in lines.iter().filter(|l| l["type"] == "step" || l["type"] == "reflection") {
            assert!(!line.to_string().contains(THOUGHT), "{shape}: {line}");
        }
        // A thousand tokens at 2 and twenty at 50 for a million, nine times.
        let spent = &lines.last().unwrap()["spent"];
        assert_eq!((&spent["reported"], &spent["cost_nano"]), (&json!(9180), &json!(27_000_000)), "{shape}");
        let session =
            std::fs::read_dir(home.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
        let journal = std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
        let kept = journal.lines().filter(|l| l.contains("\"reasoning\":\"") && l.contains(THOUGHT)).count();
        assert_eq!(kept, 9, "{shape}: all of it is in the journal");
    }
}
