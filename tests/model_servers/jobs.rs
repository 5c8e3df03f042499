//! `--jobs`: requests don't depend on how many tasks run at once.

use crate::server::{Server, complete_reply};
use std::process::{Command, Stdio};

/// Returns the bodies of all requests of a run, sorted.
fn request_bodies(method: &str, trials: &str, jobs: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(vec![complete_reply("look")]));
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args([
        "run",
        "--env",
        "household",
        "--tasks",
        "easy/*/1",
        "--only",
        "3",
        "--max-steps",
        "2",
        "-q",
    ]);
    command.args(["--method", method, "--trials", trials, "--jobs", jobs, "--actor", "openai:m"]);
    command.args(["--base-url", &server.base, "--seed", "7"]);
    if method != "react" {
        command.args(["--mentor", "openai:m"]);
    }
    command.env("RETROSPECT_SESSIONS", home.path()).env("XDG_CONFIG_HOME", home.path().join("none"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{method} --jobs {jobs}: {}", String::from_utf8_lossy(&output.stderr));
    let mut bodies: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
    bodies.sort();
    bodies
}

/// Regression: each session of a `--jobs` run counted episodes from 1, so every task had the seeds of the first one.
#[test]
fn requests_do_not_depend_on_jobs() {
    for (method, trials) in [("react", "1"), ("react", "2"), ("reflexion", "2")] {
        let sequential = request_bodies(method, trials, "1");
        let seeds: std::collections::BTreeSet<_> = sequential
            .iter()
            .map(|b| serde_json::from_str::<serde_json::Value>(b).unwrap()["seed"].to_string())
            .collect();
        assert!(seeds.len() >= 6, "{method} of {trials} trials: {seeds:?}");
        for jobs in ["2", "4"] {
            assert_eq!(
                request_bodies(method, trials, jobs),
                sequential,
                "{method} of {trials} trials, --jobs {jobs}"
            );
        }
    }
}
