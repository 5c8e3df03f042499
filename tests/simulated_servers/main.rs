//! Whole episodes of the real program against servers that behave as the real ones do, from the README's commands alone: every
//! server, every method, no other setting.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test may stop where it is wrong"
)]

mod http;
mod model;
mod readme;
mod servers;

use model::{LESSON, PLAN, PROSE, SENTENCES};
use serde_json::Value;
use servers::{Behavior, Exchange, Server, is_action, key_of};
use std::fmt::Write as _;
use std::process::Command;
use tempfile::TempDir;

/// Steps of an episode.
const STEPS: usize = 5;
const METHODS: [&str; 5] = ["react", "reflexion", "omnireflect", "fcrf", "sweet_sour"];

/// The command line that the README gives for a server, and the address that stands in it or is expected in a variable.
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

/// A home for sessions, and the program in it.
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

    /// The journal of the only session.
    fn journal(&self) -> String {
        let mut sessions = std::fs::read_dir(self.0.path().join("sessions")).unwrap();
        let session = sessions.next().expect("a session").unwrap().path();
        std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap()
    }

    /// A command of the README with the address of its server, the key in this variable, and more arguments.
    fn ask(
        &self,
        server: &Server,
        key: Option<&str>,
        mut words: Vec<String>,
        more: &[&str],
    ) -> (i32, String, String) {
        let (address, key) = (server.base_url(), key.map(|name| (name, key_of(&server.behavior))));
        match words.iter().position(|w| w == "--base-url") {
            Some(at) => words[at + 1].clone_from(&address),
            // The profile of a hosted server has its address; that of a server on this machine gives way to the variable.
            None if key.is_some() => words.extend(["--base-url".to_owned(), address.clone()]),
            None => {}
        }
        words.extend(more.iter().map(|w| (*w).to_owned()));
        let mut command = self.command(&words);
        match key {
            Some((name, value)) => command.env(name, value),
            None => command.env("OPENAI_BASE_URL", address),
        };
        outcome(command)
    }
}

/// Exit code, standard output, standard error.
fn outcome(mut command: Command) -> (i32, String, String) {
    let done = command.output().unwrap();
    let [out, err] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (done.status.code().unwrap_or(-1), out, err)
}

/// What is wrong with one run, in a line each.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, good: bool, words: impl FnOnce() -> String) {
        if !good {
            self.0.push(words());
        }
    }
}

/// Every method against one server. All that is wrong is told at once.
fn assert_plays(behavior: &Behavior) {
    let mut told = String::new();
    for method in METHODS {
        let faults = play_method(behavior, behavior.key, readme_command(behavior), method);
        for fault in &faults.0 {
            let _ = writeln!(told, "{method}: {fault}");
        }
    }
    // Without its profile what is to be known of a server is learnt from what it refuses.
    if behavior.profile.is_some() {
        let generic = readme_command(&Behavior { profile: None, ..behavior.clone() });
        for fault in &play_method(behavior, Some("OPENAI_API_KEY"), generic, "omnireflect").0 {
            let _ = writeln!(told, "omnireflect without a profile: {fault}");
        }
    }
    assert!(told.is_empty(), "{}:\n{told}", behavior.name);
}

fn play_method(behavior: &Behavior, key: Option<&str>, words: Vec<String>, method: &str) -> Faults {
    let (server, home, mut faults) = (Server::start(behavior.clone()), Home::new(), Faults::default());
    let (steps, mentor) = (STEPS.to_string(), format!("openai:{}", behavior.model));
    let trials = if matches!(method, "react" | "omnireflect") { 1 } else { 2 };
    let count = trials.to_string();
    let mut more = vec!["--method", method, "--max-steps", &steps, "--headless", "--json"];
    if method != "react" {
        more.extend(["--mentor", &mentor]);
    }
    if trials > 1 {
        more.extend(["--trials", &count]);
    }
    let (code, out, err) = home.ask(&server, key, words, &more);
    let exchanges = server.exchanges();
    faults.check(code == 0, || format!("exit {code}: {}", last_lines(&out, &err)));
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap_or(Value::Null)).collect();
    let of = |kind: &str| lines.iter().filter(|l| l["type"] == kind).collect::<Vec<_>>();
    check_actions(&mut faults, &of("step"), &exchanges, trials * STEPS);
    if method != "react" {
        let reflections = of("reflection");
        let written = |l: &&Value| {
            let text = l["items"].to_string();
            text.contains(LESSON) || text.contains(PROSE)
        };
        faults.check(!reflections.is_empty(), || "no reflection".to_owned());
        let empty = reflections.iter().filter(|l| !written(l) && l["kind"] != "progress").count();
        faults.check(empty == 0, || format!("{empty} reflections of {} without a lesson", reflections.len()));
    }
    let Some(summary) = of("summary").first().copied() else {
        faults.check(false, || "no summary".to_owned());
        return faults;
    };
    // Reasoning is nobody's business but the journal's.
    let reasons = |text: &Value| SENTENCES.iter().any(|s| text.to_string().contains(s));
    let sent = exchanges.iter().filter(|e| reasons(&e.sent)).count();
    faults.check(sent == 0, || format!("{sent} prompts have reasoning in them"));
    let shown = of("step").into_iter().chain(of("reflection")).filter(|l| reasons(l)).count();
    faults.check(shown == 0, || format!("{shown} steps and reflections have reasoning in them"));
    let kept =
        home.journal().lines().filter(|l| l.contains("\"reasoning\":\"") && l.contains(SENTENCES[1])).count();
    let shows = behavior.shows_reasoning();
    faults.check(!shows || kept >= trials * STEPS, || {
        format!("{kept} replies in the journal have their reasoning")
    });
    let last = exchanges.iter().rfind(|e| is_action(e));
    for field in behavior.keeps {
        let kept = last.is_none_or(|e| e.sent.get(field).is_some());
        faults.check(kept, || format!("{field} is not sent any more, though it was not refused"));
    }
    check_requests(&mut faults, summary, &exchanges, behavior.extra_requests);
    let counted: u64 = exchanges.iter().map(|e| e.counts.total()).sum();
    let told =
        ["reported", "proxy"].map(|name| summary["spent"][name].as_u64().unwrap_or(0)).iter().sum::<u64>();
    let estimated = summary["spent"]["estimated"].as_u64().unwrap_or(0);
    faults.check((told, estimated) == (counted, 0), || {
        format!("the server counted {counted} tokens; told were {told}, and {estimated} estimated")
    });
    // Every method's prompts are recorded by the same code, so one method shows it; each check is a process of its own.
    if method == METHODS[1] {
        let (code, out, err) = outcome(home.command(&["verify".to_owned(), "--last".to_owned()]));
        faults.check(code == 0, || format!("verify: {}", last_lines(&out, &err)));
    }
    faults
}

/// With `planning` the mentor writes the whole episode's actions, and no actor is called.
#[test]
fn plans_are_read_and_executed_from_every_server() {
    let mut failed = String::new();
    for behavior in servers::all() {
        let (server, home) = (Server::start(behavior.clone()), Home::new());
        let mentor = format!("openai:{}", behavior.model);
        let more = ["--method", "planning", "--mentor", &mentor, "--trials", "1", "--headless", "--json"];
        let (code, out, err) = home.ask(&server, behavior.key, readme_command(&behavior), &more);
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

/// Every step's action is one that the model gave, in its order, and none is empty.
fn check_actions(faults: &mut Faults, steps: &[&Value], exchanges: &[Exchange], wanted: usize) {
    faults.check(steps.len() == wanted, || format!("{} steps of {wanted}", steps.len()));
    let given: Vec<&str> =
        exchanges.iter().filter_map(|e| e.completion.as_ref()).map(|c| c.action.as_str()).collect();
    let mut next = 0;
    for step in steps {
        let action = step["action"].as_str().unwrap_or("");
        let found = given.iter().skip(next).position(|a| !a.is_empty() && *a == action);
        next += found.map_or(0, |at| at + 1);
        faults.check(found.is_some(), || {
            format!("step {}: {action:?} is no action that the model gave", step["step"])
        });
    }
}

/// What is learnt about a server is remembered: `most` requests more than calls, and all of them at the beginning.
fn check_requests(faults: &mut Faults, summary: &Value, exchanges: &[Exchange], most: usize) {
    let calls = summary["calls"].as_u64().unwrap_or(0) as usize;
    let extra = exchanges.len().saturating_sub(calls);
    faults.check(extra <= most, || format!("{} requests for {calls} calls", exchanges.len()));
    for (who, mine) in [("actor", true), ("mentor", false)] {
        let asked: Vec<&Exchange> =
            exchanges.iter().filter(|e| e.completion.is_some() && is_action(e) == mine).collect();
        let useless = asked.iter().enumerate().filter(|(_, e)| !e.is_whole()).map(|(at, _)| at).max();
        // What the actor's replies taught holds for the mentor's.
        let late = useless.filter(|at| !mine || *at >= most);
        faults.check(late.is_none(), || {
            format!("the {who}'s request {late:?} of {} was of no use", asked.len())
        });
    }
    let refused = exchanges.iter().rposition(|e| e.status != 200);
    let late = refused.filter(|at| *at >= most);
    faults.check(late.is_none(), || format!("request {late:?} of {} was refused", exchanges.len()));
}

fn last_lines(out: &str, err: &str) -> String {
    let last =
        |text: &str| text.trim_end().lines().next_back().unwrap_or("").chars().take(600).collect::<String>();
    let errors =
        err.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" | ");
    format!("{} {}", last(out), errors.chars().take(600).collect::<String>())
}

#[test]
fn qwen3_on_ollama() {
    assert_plays(&servers::ollama());
}

#[test]
fn qwen3_on_vllm() {
    assert_plays(&servers::vllm());
}

#[test]
fn qwen3_on_vllm_that_looks_for_stop_texts_behind_the_reasoning() {
    assert_plays(&servers::vllm_content_stops());
}

#[test]
fn qwen3_on_vllm_without_a_reasoning_parser() {
    assert_plays(&servers::vllm_no_parser());
}

#[test]
fn qwen3_on_vllm_whose_template_opens_the_reasoning_without_a_parser() {
    assert_plays(&servers::vllm_no_parser_opened());
}

#[test]
fn gpt_5_mini() {
    assert_plays(&servers::openai());
}

#[test]
fn claude_at_anthropic() {
    assert_plays(&servers::anthropic());
}

#[test]
fn claude_behind_litellm() {
    assert_plays(&servers::litellm());
}

#[test]
fn claude_on_openrouter() {
    assert_plays(&servers::openrouter_claude());
}

#[test]
fn deepseek_r1_on_openrouter() {
    assert_plays(&servers::openrouter());
}

#[test]
fn gemini() {
    assert_plays(&servers::gemini());
}

#[test]
fn deepseek() {
    assert_plays(&servers::deepseek());
}

/// `doctor` with the README's command for each server: nothing that works is called broken, and what is odd is said.
#[test]
fn doctor_tells_the_truth() {
    let mut told = String::new();
    for behavior in servers::all() {
        let (server, home, mut faults) = (Server::start(behavior.clone()), Home::new(), Faults::default());
        let mut words = readme_command(&behavior);
        words[0] = "doctor".to_owned();
        let (code, out, err) = home.ask(&server, behavior.key, words, &["--json"]);
        faults.check(code == 0, || format!("exit {code}: {err}"));
        let report: Value = serde_json::from_str(out.lines().next().unwrap_or("")).unwrap_or(Value::Null);
        let about = ["server", "one token", "streaming", "stop", "seed", "reply", "reasoning"];
        let checks = report["checks"].as_array().into_iter().flatten();
        let checks: Vec<&Value> = checks.filter(|c| about.iter().any(|name| c["name"] == *name)).collect();
        for check in checks.iter().filter(|c| c["state"] == "broken") {
            faults.check(false, || format!("called broken: {check}"));
        }
        let state = |name: &str| checks.iter().find(|c| c["name"] == name).map(|c| &c["state"]);
        faults.check(state("server").is_some_and(|s| s == "ok"), || {
            "the server is there and has the model".to_owned()
        });
        let seeded = state("seed").is_some_and(|s| s == "ok");
        faults.check(seeded == behavior.seeds, || format!("seed: heeded {}, said {seeded}", behavior.seeds));
        let streams = checks.iter().all(|c| {
            c["name"] != "streaming" || c["state"] == "ok" || !c["what"].to_string().contains("piece")
        });
        faults.check(streams, || "said not to stream".to_owned());
        let at_zero = checks.iter().any(|c| c["what"].to_string().contains("temperature is 0"));
        faults.check(!at_zero || behavior.keeps.contains(&"temperature"), || {
            "a temperature that is not sent".to_owned()
        });
        for words in behavior.doctor {
            let said = checks.iter().any(|c| words.iter().all(|w| c.to_string().contains(w)));
            faults.check(said, || format!("nothing is said of {words:?}"));
        }
        for fault in &faults.0 {
            let _ = writeln!(told, "{}: {fault}", behavior.name);
        }
        if !faults.0.is_empty() {
            for check in checks {
                let _ = writeln!(told, "    {check}");
            }
        }
    }
    assert!(told.is_empty(), "{told}");
}
