//! Decisions kept as tests, replayed by the real program: with lessons, without, with others, and with a model server that
//! doesn't answer.

use crate::run::{household, meta, spec, until};
use retrospect::domain::RunSpec;
use retrospect::driver::{Driver, OpenWorld, RunConfig, worlds};
use retrospect::engine::Command;
use retrospect::env::TaskOptions;
use retrospect::lesson_test::{Expectation, LessonTest};
use retrospect::prompt::render;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

/// A home folder with a pool and tests.
struct Home(tempfile::TempDir);

impl Home {
    fn run(&self, args: &[&str]) -> Output {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear().env("HOME", self.0.path());
        command.output().unwrap()
    }

    /// Runs `lessons test --json` with more arguments. Returns the exit code and the lines.
    fn test(&self, args: &[&str]) -> (Option<i32>, Vec<Value>) {
        let output = self.run(&[&["lessons", "test", "--json"], args].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        // An exit code other than 0 has an error in the last line.
        let lines: Vec<Value> = lines.filter(|line: &Value| line.get("error").is_none()).collect();
        assert!(!lines.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        (output.status.code(), lines)
    }
}

/// Returns the tests of the first decision of an episode whose mug is on a shelf.
fn kept_tests(dir: &Path, expectations: &[(&str, bool)]) -> Vec<LessonTest> {
    let spec: RunSpec = spec("omnireflect", vec![household("normal/heat/71")]);
    let options = TaskOptions::default();
    let open: OpenWorld = Arc::new(move |task| worlds::open(task, &options));
    let templates = Arc::new(retrospect::catalog::builtin_templates());
    let config = RunConfig::from_spec(&spec, templates, open, Duration::ZERO).unwrap();
    let (handle, thread, _) = Driver::start(dir, meta("s", &spec), spec, Vec::new(), config).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(handle.send_and_wait(Command::Step)).unwrap();
    until(&handle, |state| state.step_awaiting_decision().is_some());
    let state = handle.store.head();
    handle.quit();
    thread.join().unwrap();
    let record = state.actor_prompts.0.clone().unwrap();
    let (run, task) = (state.run.clone().unwrap(), state.episode.as_ref().unwrap().task.clone());
    let prompt = render(&state, &record);
    let test = |(typed, is_forbidden): &(&str, bool)| {
        let expectation = Expectation::parse(typed, *is_forbidden).unwrap();
        LessonTest::new(&run, &task, &record, &prompt, expectation)
    };
    expectations.iter().map(test).collect()
}

fn flips(lines: &[Value]) -> Vec<(String, String)> {
    let flips = lines.last().unwrap()["flips"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    flips.iter().map(|flip| (text(&flip["id"]), text(&flip["flip"]))).collect()
}

#[test]
fn kept_decisions_are_replayed_against_any_pool_and_actor() {
    let home = Home(tempfile::tempdir().unwrap());
    let tests = kept_tests(
        &home.0.path().join("sessions"),
        &[("if thought = shelf", false), ("if thought = coffeemachine", false), ("go to shelf 1", true)],
    );
    let lines: Vec<String> = tests.iter().map(|test| serde_json::to_string(test).unwrap()).collect();
    std::fs::write(home.0.path().join("tests.jsonl"), lines.join("\n")).unwrap();
    // As kept, the actor doesn't look on the shelf first.
    let (code, lines) = home.test(&["--tests", "tests.jsonl"]);
    assert_eq!(code, Some(1));
    let passed: Vec<bool> = lines[..3].iter().map(|line| line["passed"].as_bool().unwrap()).collect();
    assert_eq!(passed, [false, true, true], "{lines:?}");
    let summary = lines.last().unwrap();
    assert_eq!(
        (summary["tests"].as_u64(), summary["passed"].as_u64(), summary["calls"].as_u64()),
        (Some(3), Some(2), Some(3))
    );
    assert_eq!(summary["lessons"], "as kept", "there is no pool");
    assert_eq!(flips(&lines), [], "nothing to compare with");
    // With the lesson it does: that is a flip, and everything passes.
    let taught = ["--pool", "pool.jsonl"];
    let lesson = "Look for a mug in/on a shelf first.";
    assert!(home.run(&[&["lessons", "add", lesson], &taught[..]].concat()).status.success());
    let (code, lines) = home.test(&taught);
    assert_eq!(code, Some(0), "{lines:?}");
    assert_eq!(flips(&lines), [(tests[0].id.clone(), "fail_to_pass".to_owned())]);
    assert_eq!(lines[0]["flip"], "fail_to_pass");
    // Another pool without it: a new failure.
    assert!(
        home.run(&["lessons", "add", "Hold one object at a time.", "--pool", "other.jsonl"]).status.success()
    );
    let (code, lines) = home.test(&["--pool", "other.jsonl"]);
    assert_eq!((code, flips(&lines)), (Some(1), vec![(tests[0].id.clone(), "pass_to_fail".to_owned())]));
    // The prompts as they were kept, although there is a pool.
    let (code, lines) = home.test(&["--pool", "pool.jsonl", "--kept-lessons"]);
    assert_eq!((code, flips(&lines)), (Some(1), Vec::new()));
    // Shares: the rule-based actor decides in the same way each time.
    let (code, lines) = home.test(&["--pool", "pool.jsonl", "--samples", "10", "--need", "8"]);
    assert_eq!(code, Some(0));
    assert_eq!((lines[0]["complied"].as_u64(), lines[0]["share"].as_f64()), (Some(10), Some(1.0)));
    assert!(lines[0]["low"].as_f64().unwrap() > 0.7, "{}", lines[0]);
    // A model server that isn't there: the tests have no result, with the reason, here without waiting for retries.
    let config = home.0.path().join(".config/retrospect/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[models.mine]\nretries = 0\n").unwrap();
    let arguments = [
        "--pool",
        "pool.jsonl",
        "--actor",
        "openai:m",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--profile",
        "mine",
    ];
    let (code, lines) = home.test(&arguments);
    assert_eq!(code, Some(1));
    assert_eq!(lines[0]["complied"], 0);
    assert!(lines[0]["errors"][0].as_str().unwrap().contains("127.0.0.1:1"), "{}", lines[0]);
    // For people.
    let output = home.run(&["lessons", "test", "--pool", "other.jsonl"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(&format!("FAIL  {}", tests[0].id)) && text.contains("        got: think: "),
        "{text}"
    );
    assert!(text.contains("3 tests: 2 passed, 1 failed; 3 calls"), "{text}");
}

#[test]
fn mistakes_of_the_command_line_and_of_the_file_exit_with_2() {
    let home = Home(tempfile::tempdir().unwrap());
    std::fs::write(home.0.path().join("empty.jsonl"), "# nothing yet\n").unwrap();
    std::fs::write(home.0.path().join("broken.jsonl"), "{\"v\":1}\n").unwrap();
    let page = include_str!("../../docs/LESSON_TESTS.md");
    let documented = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    std::fs::write(home.0.path().join("one.jsonl"), documented).unwrap();
    let one = ["--tests", "one.jsonl", "--kept-lessons"];
    for (arguments, expected) in [
        (vec![], "no tests"),
        (vec!["--tests", "empty.jsonl"], "no tests"),
        (vec!["--tests", "broken.jsonl"], "broken.jsonl:1: "),
        ([&one[..], &["--samples", "0"]].concat(), "--samples"),
        ([&one[..], &["--need", "2"]].concat(), "--need 2: not between 1 and the number of samples, 1"),
        ([&one[..], &["--actor", "nobody"]].concat(), "unknown actor"),
        (vec!["--tests", "one.jsonl", "--pool", "missing.jsonl"], "no such file"),
    ] {
        let output = home.run(&[&["lessons", "test"], &arguments[..]].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

/// Regression: a model server that wasn't there was kept as "passed before, fails now", and the next run found a flip back.
#[test]
fn a_dead_server_is_no_flip() {
    let home = Home(tempfile::tempdir().unwrap());
    let tests = kept_tests(&home.0.path().join("sessions"), &[("if thought = coffeemachine", false)]);
    std::fs::write(home.0.path().join("tests.jsonl"), serde_json::to_string(&tests[0]).unwrap()).unwrap();
    let (code, _) = home.test(&["--tests", "tests.jsonl"]);
    assert_eq!(code, Some(0));
    let results = home.0.path().join("tests.results.json");
    let before = std::fs::read_to_string(&results).unwrap();
    let config = home.0.path().join(".config/retrospect/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "[models.mine]\nretries = 0\n").unwrap();
    let dead = ["--tests", "tests.jsonl", "--actor", "openai:m", "--base-url", "http://127.0.0.1:1/v1"];
    let (code, lines) = home.test(&[&dead[..], &["--profile", "mine"]].concat());
    let (test, summary) = (&lines[0], lines.last().unwrap());
    assert_eq!((code, &test["judged"], &test["unanswered"]), (Some(1), &Value::from(false), &Value::from(1)));
    assert_eq!(
        (flips(&lines), &summary["failed"], &summary["unjudged"]),
        (vec![], &Value::from(0), &Value::from(1))
    );
    assert_eq!(std::fs::read_to_string(&results).unwrap(), before);
    let (code, lines) = home.test(&["--tests", "tests.jsonl"]);
    assert_eq!((code, flips(&lines)), (Some(0), vec![]));
}
