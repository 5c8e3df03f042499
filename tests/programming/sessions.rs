//! Runs with a model server: several trials, and what is sent.

use crate::episodes::Test;
use crate::server::{Server, complete_reply};
use serde_json::Value;
use std::process::{Command, Stdio};

pub(crate) const TESTS: &[Test] = &[("a later trial reads program, feedback and plan", later_trials_improve)];

const TESTS_REPLY: &str = "These are tests.\n```python\nassert count_steps([1, 2]) == 1\n```";
const WRONG: &str = "```python\ndef count_steps(heights):\n    return len(heights)\n```";
const PLAN: &str = "I counted the elements. I'll compare neighbours.";
const RIGHT: &str =
    "```python\ndef count_steps(heights):\n    return sum(b > a for a, b in zip(heights, heights[1:]))\n```";

fn later_trials_improve() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let replies = [TESTS_REPLY, WRONG, PLAN, RIGHT].map(complete_reply).to_vec();
    let server = runtime.block_on(Server::start(replies));
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(home.path()).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", home.path());
        command.env("RETROSPECT_CONFIG_DIR", home.path().join("config"));
        command.env("RETROSPECT_SESSIONS", home.path().join("sessions"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let base =
        ["run", "--env", "programming", "--task", "count-steps", "--method", "reflexion", "--trials", "3"];
    let more = [
        "--set",
        "strategy=both",
        "--actor",
        "openai:tiny",
        "--mentor",
        "openai:tiny",
        "--headless",
        "--json",
    ];
    let text = run(&[&base[..], &more, &["--base-url", &server.base]].concat());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ends: Vec<&Value> = lines.iter().filter(|line| line["type"] == "episode_end").collect();
    let outcomes: Vec<(bool, u64)> =
        ends.iter().map(|end| (end["won"].as_bool().unwrap(), end["steps"].as_u64().unwrap())).collect();
    assert_eq!(outcomes, [(false, 2), (true, 2)], "{text}");
    let requests = server.requests();
    // The tests of the first trial are proposed again without a request.
    assert_eq!(requests.len(), 4);
    for (number, request) in requests.iter().enumerate() {
        let body = request.body.to_string();
        assert!(!body.contains("candidate("), "request {number} has hidden tests: {body}");
        assert_eq!(request.body.get("stop"), None, "request {number} is ended by a line break");
    }
    let last = requests[3].body["messages"].to_string();
    for part in [
        "def count_steps(heights):\\\\n    return len(heights)",
        "assert count_steps([1, 2]) == 1 # output: 2",
        "I'll compare neighbours.",
    ] {
        assert!(last.contains(&part.replace("\\\\", "\\")), "{part} is missing in {last}");
    }
    for verb in ["verify", "export"] {
        let format: &[&str] = if verb == "export" { &["--format", "markdown"] } else { &[] };
        let text = run(&[&[verb, "--last"], format].concat());
        assert!(!text.is_empty());
    }
}
