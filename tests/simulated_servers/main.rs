//! Whole episodes of the real program against simulated servers that behave like the real ones, with only the README's
//! commands: every server, every method, no other settings.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a failing test may panic")]

mod http;
mod measurement;
mod model;
mod readme;
mod servers;

use model::{LESSON, PLAN, PROSE, SENTENCES};
use serde_json::Value;
use servers::{Behavior, Exchange, Server, is_action, key_of};
use std::fmt::Write as _;
use std::process::Command;
use tempfile::TempDir;

/// Number of steps per episode.
const STEPS: usize = 5;
const METHODS: [&str; 5] = ["react", "reflexion", "omnireflect", "fcrf", "sweet_sour"];

/// Returns the README's command line for a server.
fn readme_command(behavior: &Behavior) -> Vec<String> {
    let readme = include_str!("../../README.md");
    let section = readme
        .split("\n## ")
        .find(|s| s.starts_with("Your own model\n"))
        .expect("a section about models of the user");
    let wanted = behavior.profile.map_or("--base-url ".to_owned(), |name| format!("--profile {name}"));
    let line = section
        .lines()
        .filter(|l| l.starts_with("retrospect run"))
        .find(|l| l.ends_with(&wanted) || l.contains(&wanted));
    let line = line.unwrap_or_else(|| panic!("the README has no command with {wanted}"));
    let words = line.split_whitespace().skip(1);
    words
        .map(
            |word| {
                if word.starts_with("openai:") {
                    format!("openai:{}", behavior.model)
                } else {
                    word.to_owned()
                }
            },
        )
        .collect()
}

/// Runs the program in its own home folder.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear().env("HOME", self.0.path());
        command.env("RETROSPECT_SESSIONS", self.0.path().join("sessions"));
        command
    }

    /// Returns the journal of the only session.
    fn journal(&self) -> String {
        let mut sessions = std::fs::read_dir(self.0.path().join("sessions")).unwrap();
        let session = sessions.next().expect("a session").unwrap().path();
        std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap()
    }

    /// Runs a command of the README with the server's address, the key in its variable, and extra arguments.
    fn ask(
        &self,
        server: &Server,
        key: Option<&str>,
        mut args: Vec<String>,
        extra: &[&str],
    ) -> (i32, String, String) {
        let (address, key) = (server.base_url(), key.map(|name| (name, key_of(&server.behavior))));
        match args.iter().position(|w| w == "--base-url") {
            Some(index) => args[index + 1].clone_from(&address),
            // The profile of a hosted server has its address; for a local server, the variable overrides the profile's.
            None if key.is_some() => args.extend(["--base-url".to_owned(), address.clone()]),
            None => {}
        }
        args.extend(extra.iter().map(|w| (*w).to_owned()));
        let mut command = self.command(&args);
        match key {
            Some((name, value)) => command.env(name, value),
            None => command.env("OPENAI_BASE_URL", address),
        };
        run_command(command)
    }
}

/// Runs a command; returns exit code, standard output and standard error.
fn run_command(mut command: Command) -> (i32, String, String) {
    let done = command.output().unwrap();
    let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (done.status.code().unwrap_or(-1), out, err)
}

/// The faults of one run, one per line.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, good: bool, words: impl FnOnce() -> String) {
        if !good {
            self.0.push(words());
        }
    }
}

/// Plays every method against one server and reports all faults together.
fn assert_plays(behavior: &Behavior) {
    let mut faults_text = String::new();
    for method in METHODS {
        let faults = play_method(behavior, behavior.key, readme_command(behavior), method);
        for fault in &faults.0 {
            let _ = writeln!(faults_text, "{method}: {fault}");
        }
    }
    // Without a profile, a server's quirks are learned from its errors.
    if behavior.profile.is_some() {
        let generic = readme_command(&Behavior { profile: None, ..behavior.clone() });
        for fault in &play_method(behavior, Some("OPENAI_API_KEY"), generic, "omnireflect").0 {
            let _ = writeln!(faults_text, "omnireflect without a profile: {fault}");
        }
    }
    assert!(faults_text.is_empty(), "{}:\n{faults_text}", behavior.name);
}

fn play_method(behavior: &Behavior, key: Option<&str>, args: Vec<String>, method: &str) -> Faults {
    let (server, home, mut faults) = (Server::start(behavior.clone()), Home::new(), Faults::default());
    let (steps, mentor) = (STEPS.to_string(), format!("openai:{}", behavior.model));
    let trials = if matches!(method, "react" | "omnireflect") { 1 } else { 2 };
    let count = trials.to_string();
    let mut extra_args = vec!["--method", method, "--max-steps", &steps, "--headless", "--json"];
    if method != "react" {
        extra_args.extend(["--mentor", &mentor]);
    }
    if trials > 1 {
        extra_args.extend(["--trials", &count]);
    }
    let (code, out, err) = home.ask(&server, key, args, &extra_args);
    let exchanges = server.exchanges();
    faults.check(code == 0, || format!("exit {code}: {}", last_lines(&out, &err)));
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap_or(Value::Null)).collect();
    let lines_of_type = |kind: &str| lines.iter().filter(|l| l["type"] == kind).collect::<Vec<_>>();
    check_actions(&mut faults, &lines_of_type("step"), &exchanges, trials * STEPS);
    if method != "react" {
        let reflections = lines_of_type("reflection");
        let written = |l: &&Value| {
            let text = l["items"].to_string();
            text.contains(LESSON) || text.contains(PROSE)
        };
        faults.check(!reflections.is_empty(), || "no reflection".to_owned());
        let empty = reflections.iter().filter(|l| !written(l) && l["kind"] != "progress").count();
        faults.check(empty == 0, || format!("{empty} reflections of {} without a lesson", reflections.len()));
    }
    let Some(summary) = lines_of_type("summary").first().copied() else {
        faults.check(false, || "no summary".to_owned());
        return faults;
    };
    // Reasoning is only in the journal.
    let has_reasoning = |text: &Value| SENTENCES.iter().any(|s| text.to_string().contains(s));
    let sent = exchanges.iter().filter(|e| has_reasoning(&e.sent)).count();
    faults.check(sent == 0, || format!("{sent} prompts have reasoning in them"));
    let shown = lines_of_type("step")
        .into_iter()
        .chain(lines_of_type("reflection"))
        .filter(|l| has_reasoning(l))
        .count();
    faults.check(shown == 0, || format!("{shown} steps and reflections have reasoning in them"));
    let kept =
        home.journal().lines().filter(|l| l.contains("\"reasoning\":\"") && l.contains(SENTENCES[1])).count();
    let shows = behavior.shows_reasoning();
    faults.check(!shows || kept >= trials * STEPS, || {
        format!("{kept} replies in the journal have their reasoning")
    });
    let first = exchanges.iter().find(|e| is_action(e));
    let last = exchanges.iter().rfind(|e| is_action(e));
    // Only OmniReflect's paper states each of these parameters; the other methods may never send them.
    let is_sent = |field: &&&str| {
        method == "omnireflect" || first.is_some_and(|exchange| exchange.sent.get(**field).is_some())
    };
    for field in behavior.kept_fields.iter().filter(is_sent) {
        let kept = last.is_none_or(|e| e.sent.get(field).is_some());
        faults.check(kept, || format!("{field} is no longer sent although it was not rejected"));
    }
    check_requests(&mut faults, summary, &exchanges, behavior.extra_requests);
    let counted: u64 = exchanges.iter().map(|e| e.counts.total()).sum();
    let reported =
        ["reported", "proxy"].map(|name| summary["spent"][name].as_u64().unwrap_or(0)).iter().sum::<u64>();
    let estimated = summary["spent"]["estimated"].as_u64().unwrap_or(0);
    faults.check((reported, estimated) == (counted, 0), || {
        format!("the server counted {counted} tokens, but {reported} were reported and {estimated} estimated")
    });
    // The same code records the prompts of every method, so one method is enough; each check starts a process.
    if method == METHODS[1] {
        let (code, out, err) = run_command(home.command(&["verify".to_owned(), "--last".to_owned()]));
        faults.check(code == 0, || format!("verify: {}", last_lines(&out, &err)));
    }
    faults
}

/// With `planning`, the mentor writes the actions of the whole episode, and no actor is called.
#[test]
fn plans_are_read_and_executed_from_every_server() {
    let mut failed = String::new();
    for behavior in servers::all() {
        let (server, home) = (Server::start(behavior.clone()), Home::new());
        let mentor = format!("openai:{}", behavior.model);
        let extra_args =
            ["--method", "planning", "--mentor", &mentor, "--trials", "1", "--headless", "--json"];
        let (code, out, err) = home.ask(&server, behavior.key, readme_command(&behavior), &extra_args);
        let lines = out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap_or(Value::Null));
        let actions: Vec<String> = lines
            .filter(|l| l["type"] == "step")
            .map(|l| l["action"].as_str().unwrap_or_default().to_owned())
            .collect();
        if code != 0 || actions != PLAN {
            let _ =
                writeln!(failed, "{}: exit {code}, {actions:?}: {}", behavior.name, last_lines(&out, &err));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Checks that every step's action came from the model, in order, and that none is empty.
fn check_actions(faults: &mut Faults, steps: &[&Value], exchanges: &[Exchange], expected: usize) {
    faults.check(steps.len() == expected, || format!("{} steps of {expected}", steps.len()));
    let model_actions: Vec<&str> =
        exchanges.iter().filter_map(|e| e.completion.as_ref()).map(|c| c.action.as_str()).collect();
    let mut next = 0;
    for step in steps {
        let action = step["action"].as_str().unwrap_or("");
        let found = model_actions.iter().skip(next).position(|a| !a.is_empty() && *a == action);
        next += found.map_or(0, |index| index + 1);
        faults.check(found.is_some(), || {
            format!("step {}: {action:?} is not an action from the model", step["step"])
        });
    }
}

/// Checks that learned quirks are remembered: at most `max_extra` more requests than calls, all of them at the start.
fn check_requests(faults: &mut Faults, summary: &Value, exchanges: &[Exchange], max_extra: usize) {
    let calls = summary["calls"].as_u64().unwrap_or(0) as usize;
    let extra = exchanges.len().saturating_sub(calls);
    faults.check(extra <= max_extra, || format!("{} requests for {calls} calls", exchanges.len()));
    for (role, is_actor) in [("actor", true), ("mentor", false)] {
        let answered: Vec<&Exchange> =
            exchanges.iter().filter(|e| e.completion.is_some() && is_action(e) == is_actor).collect();
        let last_useless =
            answered.iter().enumerate().filter(|(_, e)| !e.is_complete()).map(|(index, _)| index).max();
        // Quirks learned from the actor's replies apply to the mentor's calls as well.
        let late = last_useless.filter(|index| !is_actor || *index >= max_extra);
        faults.check(late.is_none(), || {
            format!("the {role}'s request {late:?} of {} was useless", answered.len())
        });
    }
    let last_rejected = exchanges.iter().rposition(|e| e.status != 200);
    let late = last_rejected.filter(|index| *index >= max_extra);
    faults.check(late.is_none(), || format!("request {late:?} of {} was rejected", exchanges.len()));
}

fn last_lines(out: &str, err: &str) -> String {
    let last =
        |text: &str| text.trim_end().lines().next_back().unwrap_or("").chars().take(600).collect::<String>();
    let errors =
        err.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" | ");
    format!("{} {}", last(out), errors.chars().take(600).collect::<String>())
}

#[test]
fn qwen3_on_ollama_plays_every_method() {
    assert_plays(&servers::ollama());
}

#[test]
fn qwen3_on_vllm_plays_every_method() {
    assert_plays(&servers::vllm());
}

#[test]
fn qwen3_on_vllm_with_stop_sequences_only_after_the_reasoning_plays_every_method() {
    assert_plays(&servers::vllm_content_stops());
}

#[test]
fn qwen3_on_vllm_without_a_reasoning_parser_plays_every_method() {
    assert_plays(&servers::vllm_no_parser());
}

#[test]
fn qwen3_on_vllm_whose_template_opens_the_reasoning_without_a_parser_plays_every_method() {
    assert_plays(&servers::vllm_no_parser_opened());
}

#[test]
fn gpt_5_mini_plays_every_method() {
    assert_plays(&servers::openai());
}

#[test]
fn claude_at_anthropic_plays_every_method() {
    assert_plays(&servers::anthropic());
}

#[test]
fn claude_behind_litellm_plays_every_method() {
    assert_plays(&servers::litellm());
}

#[test]
fn claude_on_openrouter_plays_every_method() {
    assert_plays(&servers::openrouter_claude());
}

#[test]
fn deepseek_r1_on_openrouter_plays_every_method() {
    assert_plays(&servers::openrouter());
}

#[test]
fn gemini_plays_every_method() {
    assert_plays(&servers::gemini());
}

#[test]
fn deepseek_plays_every_method() {
    assert_plays(&servers::deepseek());
}

/// Runs `doctor` with the README's command for each server: working servers aren't called broken, and quirks are
/// reported.
#[test]
fn doctor_reports_each_server_correctly() {
    let mut faults_text = String::new();
    for behavior in servers::all() {
        let (server, home, mut faults) = (Server::start(behavior.clone()), Home::new(), Faults::default());
        let mut words = readme_command(&behavior);
        words[0] = "doctor".to_owned();
        let (code, out, err) = home.ask(&server, behavior.key, words, &["--json"]);
        faults.check(code == 0, || format!("exit {code}: {err}"));
        let report: Value = serde_json::from_str(out.lines().next().unwrap_or("")).unwrap_or(Value::Null);
        let check_names = ["server", "one token", "streaming", "stop", "seed", "reply", "reasoning"];
        let checks = report["checks"].as_array().into_iter().flatten();
        let checks: Vec<&Value> =
            checks.filter(|c| check_names.iter().any(|name| c["name"] == *name)).collect();
        for check in checks.iter().filter(|c| c["state"] == "broken") {
            faults.check(false, || format!("called broken: {check}"));
        }
        let state = |name: &str| checks.iter().find(|c| c["name"] == name).map(|c| &c["state"]);
        faults.check(state("server").is_some_and(|s| s == "ok"), || {
            "the server or its model is not reported as OK".to_owned()
        });
        let reports_seed = state("seed").is_some_and(|s| s == "ok");
        faults.check(reports_seed == behavior.honours_seed, || {
            format!("seed: honoured {}, reported {reports_seed}", behavior.honours_seed)
        });
        let streams = checks.iter().all(|c| {
            c["name"] != "streaming" || c["state"] == "ok" || !c["what"].to_string().contains("piece")
        });
        faults.check(streams, || "reported as not streaming".to_owned());
        let at_zero = checks.iter().any(|c| c["what"].to_string().contains("at temperature 0"));
        faults.check(!at_zero || behavior.kept_fields.contains(&"temperature"), || {
            "reports a temperature that is not sent".to_owned()
        });
        for words in behavior.doctor {
            let is_reported = checks.iter().any(|c| words.iter().all(|w| c.to_string().contains(w)));
            faults.check(is_reported, || format!("{words:?} is not reported"));
        }
        for fault in &faults.0 {
            let _ = writeln!(faults_text, "{}: {fault}", behavior.name);
        }
        if !faults.0.is_empty() {
            for check in checks {
                let _ = writeln!(faults_text, "    {check}");
            }
        }
    }
    assert!(faults_text.is_empty(), "{faults_text}");
}
