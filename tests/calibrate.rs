//! The real program: calibration, the constitution that comes of it, and what is made of it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail where it stands")]

use serde_json::Value;
use std::process::Command;

struct Home(tempfile::TempDir);

impl Home {
    /// Runs the program in a home of its own: output, complaints, code.
    fn run(&self, args: &[&str]) -> (String, String, i32) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.0.path()).env("RETROSPECT_CONFIG_DIR", self.0.path().join("config"));
        command.env("RETROSPECT_SESSIONS", self.0.path().join("sessions"));
        command.env("RETROSPECT_POOL", self.0.path().join("pool.jsonl"));
        let done = command.stdin(std::process::Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(done.stdout), text(done.stderr), done.status.code().unwrap_or(-1))
    }

    fn lines(&self, args: &[&str]) -> (Vec<Value>, String) {
        let (out, err, code) = self.run(args);
        assert_eq!(code, 0, "{args:?}\n{out}\n{err}");
        (out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect(), err)
    }
}

fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|l| l["type"] == kind).collect()
}

const TESTED: &[&str] = &["run", "--env", "household", "--max-steps", "5", "--json"];

#[test]
fn a_constitution_is_made_loaded_and_warned_of() {
    let home = Home(tempfile::tempdir().unwrap());
    let (lines, err) = home.lines(&["calibrate", "--env", "household", "--json", "--out", "c.jsonl"]);
    let begun = of(&lines, "episode_start");
    assert_eq!(begun.len(), 6, "one task of each of six types");
    assert!(begun.iter().all(|e| e["role"] == "calibrate"), "{begun:?}");
    let summary = of(&lines, "summary")[0];
    assert_eq!((&summary["episodes"], &summary["counted"]), (&Value::from(6), &Value::from(0)), "in no rate");
    assert!(err.contains("--constitution c.jsonl"), "{err}");
    let again = home.lines(&["calibrate", "--env", "household", "--json"]).0;
    let tasks =
        |lines: &[Value]| of(lines, "episode_start").iter().map(|e| e["task"].clone()).collect::<Vec<_>>();
    assert_eq!(tasks(&again), tasks(&lines), "the same tasks every time");

    let file = std::fs::read_to_string(home.0.path().join("c.jsonl")).unwrap();
    let pool: Vec<Value> = file.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(pool.len() >= 4, "{file}");
    assert_eq!(pool[0]["calibration"].as_array().unwrap().len(), 6, "the tasks stand in the first line");
    assert!(pool[1..].iter().all(|l| l.get("calibration").is_none()));
    assert!(pool.iter().all(|l| l["op"] == "add" && l["scope"] == "environment"), "{file}");
    assert!(pool.iter().all(|l| l["kind"] == "abstract" || l["kind"] == "error"));

    // Any method begins with it; no mentor is asked; another task is no reason to warn.
    let test = |more: &[&str]| home.lines(&[TESTED, more].concat());
    let (lines, err) = test(&["--method", "react", "--task", "normal/heat/71", "--constitution", "c.jsonl"]);
    assert_eq!(of(&lines, "summary")[0]["lessons"], pool.len());
    assert_eq!(of(&lines, "summary")[0]["calls"], of(&lines, "summary")[0]["steps"], "a call a step");
    assert!(!err.contains("warning"), "{err}");
    let learnt_from = pool[0]["calibration"][0]["id"].as_str().unwrap();
    let (_, err) = test(&["--method", "react", "--task", learnt_from, "--constitution", "c.jsonl"]);
    assert!(err.contains("warning: c.jsonl") && err.contains(learnt_from), "{err}");

    // Symbolic lessons are exemplars; a run that had them says so by its templates.
    let (plain, _) = test(&["--method", "react"]);
    let (shown, _) = test(&["--method", "react", "--exemplars", "c.jsonl"]);
    let templates = |lines: &[Value]| lines[0]["settings"]["templates"]["value"].clone();
    assert_ne!(templates(&plain), templates(&shown));
    let (_, err, code) = home.run(&["run", "--exemplars", "nothing.jsonl", "--headless"]);
    assert!(code != 0 && err.contains("nothing.jsonl"), "{err}");
}

#[test]
fn one_run_learns_first_and_is_tested_then() {
    let home = Home(tempfile::tempdir().unwrap());
    let args = ["--calibrate", "--method", "react", "--task", "normal/heat/71", "--set", "explore=1"];
    let (lines, _) = home.lines(&[TESTED, &args].concat());
    let roles: Vec<&str> = of(&lines, "episode_start").iter().map(|e| e["role"].as_str().unwrap()).collect();
    assert_eq!(roles, [vec!["calibrate"; 6], vec!["explore"; 6], vec!["test"]].concat());
    assert_eq!(of(&lines, "summary")[0]["counted"], 1);
    let session = std::fs::read_dir(home.0.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
    home.run(&["lessons", "promote", session.to_str().unwrap()]);
    let pool = std::fs::read_to_string(home.0.path().join("pool.jsonl")).unwrap();
    assert!(pool.lines().next().unwrap().contains("\"calibration\":["), "{pool}");
    for (args, why) in [
        (&["calibrate", "--mentor", "none"][..], "--mentor none writes no lessons"),
        (&["calibrate", "--method", "react"], "OmniReflect is the method"),
        (&["run", "--calibrate", "--jobs", "2", "--headless", "--only", "2"], "--jobs"),
    ] {
        let (_, err, code) = home.run(args);
        assert!(code == 2 && err.contains(why), "{args:?}: {err}");
    }
}
