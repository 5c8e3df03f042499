//! Runs with a model server: several trials, and what is sent.

use crate::episodes::Test;
use crate::server::{Server, complete_reply};
use serde_json::Value;
use std::process::{Command, Stdio};

pub(crate) const TESTS: &[Test] = &[
    ("a later trial reads program, feedback and plan", later_trials_improve),
    ("with retry_on=own, tests that pass end the task, also if it is lost", passed_tests_end_the_task),
    (
        "with retry_on=own, a program that fails its tests is judged in the last trial",
        the_last_trial_is_judged,
    ),
    ("the screen shows tests, a program and what they gave", the_screen_shows_an_exercise),
];

const TESTS_REPLY: &str = "These are tests.\n```python\nassert count_steps([1, 2]) == 1\n```";
/// A test that every right program fails.
const WRONG_TEST: &str = "```python\nassert count_steps([1, 2]) == 9\n```";
const WRONG: &str = "```python\ndef count_steps(heights):\n    return len(heights)\n```";
/// Passes the test of [`TESTS_REPLY`] and fails the hidden ones.
const LUCKY: &str = "```python\ndef count_steps(heights):\n    return 1\n```";
const PLAN: &str = "I counted the elements. I'll compare neighbours.";
const RIGHT: &str =
    "```python\ndef count_steps(heights):\n    return sum(b > a for a, b in zip(heights, heights[1:]))\n```";

/// A run of up to three trials with a model server.
struct Session {
    runtime: tokio::runtime::Runtime,
    server: Server,
    home: tempfile::TempDir,
}

impl Session {
    fn with_replies(replies: &[&str]) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let replies = replies.iter().map(|reply| complete_reply(reply)).collect();
        let server = runtime.block_on(Server::start(replies));
        Self { runtime, server, home: tempfile::tempdir().unwrap() }
    }

    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.home.path()).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.home.path());
        command.env("RETROSPECT_CONFIG_DIR", self.home.path().join("config"));
        command.env("RETROSPECT_SESSIONS", self.home.path().join("sessions"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Plays with a strategy and more arguments. Returns of each episode whether it was won, and its steps.
    fn play(&self, strategy: &str, more: &[&str]) -> Vec<(bool, u64)> {
        let base = "run --env programming --task count-steps --method reflexion --trials 3 --actor openai:tiny \
                    --mentor openai:tiny --headless --json --base-url";
        let mut args: Vec<&str> = base.split_whitespace().collect();
        args.extend([&self.server.base, "--set", strategy]);
        args.extend(more);
        let text = self.run(&args);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ends = lines.iter().filter(|line| line["type"] == "episode_end");
        ends.map(|end| (end["won"].as_bool().unwrap(), end["steps"].as_u64().unwrap())).collect()
    }

    /// Checks that the session's environment answers again as the journal says.
    fn verify(&self) {
        let text = self.run(&["verify", "--last"]);
        assert!(text.contains("journal, prompts and world agree"), "{text}");
    }
}

fn later_trials_improve() {
    let session = Session::with_replies(&[TESTS_REPLY, WRONG, PLAN, RIGHT]);
    assert_eq!(session.play("strategy=both", &[]), [(false, 2), (true, 2)]);
    let requests = session.server.requests();
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
    session.verify();
    assert!(!session.run(&["export", "--last", "--format", "markdown"]).is_empty());
    session.runtime.shutdown_background();
}

/// Reflexion's public code stops at a program that passes its own tests. With `retry_on=hidden` the task is repeated until the
/// hidden tests pass.
fn passed_tests_end_the_task() {
    /// Flags, the outcome of each trial, the number of requests.
    type Case<'a> = (&'a [&'a str], &'a [(bool, u64)], usize);
    let cases: [Case<'_>; 3] = [
        (&["--set", "retry_on=own"], &[(false, 2)], 2),
        (&["--as", "code"], &[(false, 2)], 2),
        (&["--set", "retry_on=hidden"], &[(false, 2), (true, 2)], 4),
    ];
    for (args, outcomes, requests) in cases {
        let session = Session::with_replies(&[TESTS_REPLY, LUCKY, PLAN, RIGHT]);
        assert_eq!(session.play("strategy=reflexion", args), outcomes, "{args:?}");
        assert_eq!(session.server.requests().len(), requests, "{args:?}");
        session.verify();
        session.runtime.shutdown_background();
    }
}

/// Each trial has the test that no right program passes.
fn the_last_trial_is_judged() {
    let session = Session::with_replies(&[WRONG_TEST, RIGHT, PLAN, RIGHT, PLAN, RIGHT]);
    let outcomes = session.play("retry_on=own", &[]);
    assert_eq!(outcomes, [(false, 2), (false, 2), (true, 2)]);
    let report = session.run(&["report", "--last"]);
    assert!(report.contains("pass@1"), "{report}");
    session.verify();
    session.runtime.shutdown_background();
}

fn the_screen_shows_an_exercise() {
    let session = Session::with_replies(&[TESTS_REPLY, LUCKY]);
    assert_eq!(session.play("retry_on=own", &[]), [(false, 2)]);
    #[cfg(feature = "tui")]
    {
        let sessions = std::fs::read_dir(session.home.path().join("sessions")).unwrap();
        let mut trunks = sessions.map(|entry| entry.unwrap().path().join("branches/trunk.jsonl"));
        crate::pictures::check_pictures("programming", &trunks.find(|trunk| trunk.is_file()).unwrap());
    }
    session.runtime.shutdown_background();
}
