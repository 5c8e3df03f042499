//! Whole runs of the real program with models that answer oddly: in two parts, nothing at all, without an end. And with a
//! mentor that some setting keeps from being asked.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is wrong")]

#[path = "serving/server.rs"]
mod server;

use server::{Act, Server, chunked, ends, good, plain, reasons, says};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A server of this runtime, a home, and what the program says there.
struct TestSetup {
    runtime: Runtime,
    home: TempDir,
}

impl TestSetup {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { runtime: runtime.unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn server(&self, scripts: Vec<Vec<Act>>) -> Server {
        self.runtime.block_on(Server::start(scripts))
    }

    /// Exit and all that was said, standard error behind.
    fn run_program(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.home.path()).env_clear().env("HOME", self.home.path());
        let done = command.env("RETROSPECT_SESSIONS", self.home.path().join("sessions")).output().unwrap();
        let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (done.status.code().unwrap_or(-1), said)
    }

    /// A run of one task without a screen, with more arguments.
    fn run_one_task(&self, server: &Server, more: &[&str]) -> (i32, String) {
        let mut args = vec!["run", "--task", "easy/put/1", "--base-url", &server.base, "--headless"];
        args.extend(more);
        self.run_program(&args)
    }

    /// The journal of the only session.
    fn journal(&self) -> String {
        let session = std::fs::read_dir(self.home.path().join("sessions")).unwrap().next().unwrap().unwrap();
        std::fs::read_to_string(session.path().join("branches/trunk.jsonl")).unwrap()
    }
}

const REACT_ARGS: [&str; 4] = ["--method", "react", "--actor", "openai:tiny"];

/// The default stop cut every reply after its thought: no action was ever taken, and nothing complained.
#[test]
fn a_reply_with_thought_and_action_is_used_and_the_stop_text_is_dropped() {
    let place = TestSetup::new();
    let whole = good("Thought: the mug may be anywhere.\nAction: look\nObservation: made up.");
    let server = place.server(vec![
        good("Thought: the mug may be anywhere."),
        whole.clone(),
        plain(401, "", r#"{"detail":"wrong key"}"#),
        whole,
    ]);
    let (code, said) = place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "3"]].concat());
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("the stop at a newline cut off the action; it isn't sent to this server any more"),
        "{said}"
    );
    assert!(
        said.contains("  1 > look") && said.contains("one more line after the action was not used"),
        "{said}"
    );
    let journal = place.journal();
    assert!(
        journal.contains(r#""type":"settings_unsent""#) && journal.contains("stop at a newline: "),
        "{journal}"
    );
    // Another process knows it of the journal.
    let (code, said) = place.run_program(&["resume", "--last", "--headless"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("  3 > look") && !said.contains("cut off the action;"), "{said}");
    let stops: Vec<bool> = server.asked().iter().map(|a| a.body.get("stop").is_some()).collect();
    assert_eq!(stops, [true, false, false, false, false]);
}

/// "Okay, let me check the drawer first." was executed at every step: ten of fourteen ways to begin with prose were.
#[test]
fn prose_was_executed_and_a_line_that_only_looks_like_prose_costs_two_requests() {
    let place = TestSetup::new();
    let prose = "Okay, let me check the drawer first.";
    let server = place.server(vec![good(prose), good(&format!("{prose}\nlook")), good("look")]);
    let (code, said) = place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "2"]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("  1 > look") && said.contains("cut off the action;"), "{said}");
    assert_eq!(server.asked().len(), 3);

    let place = TestSetup::new();
    let server = place.server(vec![good("Attack troll.")]);
    let (code, said) = place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "4"]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("  4 > Attack troll.") && !said.contains("cut off the action;"), "{said}");
    let stops: Vec<bool> = server.asked().iter().map(|a| a.body.get("stop").is_some()).collect();
    assert_eq!(stops, [true, false, true, false, true, true]);
}

/// The stop message named `--set actor.max_tokens=1024` and `resume`, which did not know the flag; nor did `doctor`.
#[test]
fn advice_to_set_a_sampling_parameter_works_where_a_session_is_resumed_and_for_doctor() {
    let place = TestSetup::new();
    let server = place.server(vec![good("look"), plain(401, "", r#"{"detail":"wrong key"}"#), good("look")]);
    let (code, said) = place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "3"]].concat());
    assert_eq!(code, 3, "{said}");
    for (set, words) in [
        ("r_freq=5", "only sampling parameters (actor.NAME, mentor.NAME) and context_tokens can be set here"),
        ("actor.max_tokens=many", "setting actor.max_tokens = many"),
        ("actor.max_tokens", "expected NAME=VALUE"),
        ("mentor.max_tokens=9", "--set mentor.max_tokens:"),
    ] {
        let (code, said) = place.run_program(&["resume", "--last", "--headless", "--set", set]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(words), "{said}");
    }
    let set = ["--set", "actor.max_tokens=777", "--set", "context_tokens=4000"];
    let (code, said) = place.run_program(&[&["resume", "--last", "--headless"][..], &set].concat());
    assert_eq!(code, 0, "{said}");
    assert!(place.journal().contains(r#""name":"context_tokens","value":4000"#));
    let bounds = |server: &Server| -> Vec<Option<u64>> {
        server.asked().iter().map(|a| a.body.get("max_tokens").and_then(serde_json::Value::as_u64)).collect()
    };
    assert_eq!(bounds(&server), [Some(256), Some(256), Some(777), Some(777)], "{said}");
    let doctor = ["doctor", "--actor", "openai:tiny", "--base-url", &server.base];
    let (_, said) = place.run_program(&[&doctor[..], &["--set", "actor.max_tokens=555"]].concat());
    assert!(bounds(&server).contains(&Some(555)), "{said}");
    let (code, said) = place.run_program(&[&doctor[..], &["--set", "context_tokens=4000"]].concat());
    assert!(code == 2 && said.contains("only sampling parameters"), "{said}");
}

/// The README's own example: the model's first reply was empty, three times, and the run was over at its first step.
#[test]
fn a_reasoning_model_plays_as_documented_and_raises_its_bound_once() {
    let place = TestSetup::new();
    let hm = || reasons("reasoning", "hm hm");
    // What Ollama sends of Qwen3: the stop hits the raw text behind `<think>`, of which it shows nothing.
    let empty = chunked(&[ends("stop").as_bytes()], true);
    let long = chunked(&[format!("{}{}", hm(), ends("length")).as_bytes()], true);
    let whole = chunked(&[format!("{}{}{}", hm(), says("look"), ends("stop")).as_bytes()], true);
    let refused = plain(401, "", r#"{"detail":"wrong key"}"#);
    let server = place.server(vec![empty, long, whole.clone(), whole.clone(), refused, whole]);
    let who = ["--method", "react", "--actor", "openai:qwen3:4b", "--profile", "ollama", "--max-steps", "4"];
    let (code, said) = place.run_one_task(&server, &who);
    assert_eq!(code, 3, "{said}");
    for words in [
        "the stop text ended the model's reasoning",
        "all 256 tokens of max_tokens were used before the reply began; asking again with 4096",
        "--set actor.max_tokens=4096",
        "  2 > look",
    ] {
        assert_eq!(said.matches(words).count(), 1, "{words}: {said}");
    }
    let journal = place.journal();
    assert!(journal.contains("stop: left out for qwen3:4b at "), "{journal}");
    assert!(journal.contains("max_tokens: at least 4096 for qwen3:4b at "), "{journal}");
    // Another process knows it of the journal.
    let (code, said) = place.run_program(&["resume", "--last", "--headless"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("  4 > look"), "{said}");
    let sent: Vec<(bool, u64)> = server
        .asked()
        .iter()
        .map(|a| (a.body.get("stop").is_some(), a.body["max_tokens"].as_u64().unwrap_or(0)))
        .collect();
    let later = (false, 4096);
    assert_eq!(sent, [(true, 256), (false, 256), later, later, later, later, later]);
}

/// An empty reply became an empty action, which the world was sent.
#[test]
fn a_model_that_answers_nothing_is_a_failed_call_and_no_empty_action() {
    let reasoning = format!("{}{}", reasons("reasoning", "hm hm"), ends("length"));
    let empty = good("");
    let cases = [
        (empty.clone(), &REACT_ARGS[..], "the model returned an empty reply, 3 times"),
        (
            chunked(&[reasoning.as_bytes()], true),
            &REACT_ARGS[..],
            "the model returned only reasoning, 3 times",
        ),
        (
            good("{\"action\": {\"name\": \"look\"}}"),
            &REACT_ARGS[..],
            "the model's reply has no action, 3 times",
        ),
        (
            empty.clone(),
            &["--method", "reflexion", "--actor", "openai:tiny"],
            "the model returned an empty reply, 6 times",
        ),
    ];
    for (script, who, words) in cases {
        let place = TestSetup::new();
        let server = place.server(vec![script]);
        let (code, said) =
            place.run_one_task(&server, &[who, &["--max-steps", "2", "--trials", "1"]].concat());
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(words) && said.contains("act yourself"), "{words}: {said}");
        let journal = place.journal();
        assert!(journal.contains(r#""kind":"unusable""#) && !journal.contains("action_taken"), "{journal}");
        let replies = journal.matches(r#""type":"reply_received""#).count();
        assert!(words.contains(&format!("{replies} times")), "no reply is lost: {words}, {replies}");
    }
    // It goes on where it was as soon as somebody answers.
    let place = TestSetup::new();
    // The first two empty replies are asked for once more without the stop that may have cut them off.
    let mut scripts = vec![empty.clone(); 5];
    scripts.push(good("look"));
    let server = place.server(scripts);
    assert_eq!(place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "2"]].concat()).0, 3);
    let (code, said) = place.run_program(&["resume", "--last", "--headless"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2 steps"), "{said}");
    // The public code takes the empty action; without a person so does a run that follows it.
    for method in ["react", "reflexion"] {
        let place = TestSetup::new();
        let server = place.server(vec![empty.clone()]);
        let who = ["--method", method, "--actor", "openai:tiny", "--mentor", "symbolic", "--as", "code"];
        let (code, said) =
            place.run_one_task(&server, &[&who[..], &["--max-steps", "1", "--trials", "1"]].concat());
        assert_eq!(code, 0, "{said}");
        assert!(place.journal().contains("action_taken"), "{said}");
    }
}

/// Three lessons were made of it, one of each kind; and the half of an action was sent to the world.
#[test]
fn a_refusal_and_an_interrupted_reply_are_neither_lessons_nor_actions() {
    let words = "This request was blocked by the usage policy.";
    let refusal = format!(
        "data: {}\n\n{}",
        serde_json::json!({"choices": [{"index": 0, "delta": {"refusal": words}}]}),
        ends("stop")
    );
    let place = TestSetup::new();
    let server = place.server(vec![chunked(&[refusal.as_bytes()], true)]);
    let omni = ["--method", "omnireflect", "--mentor", "openai:tiny", "--max-steps", "2"];
    let (code, said) = place.run_one_task(&server, &omni);
    assert_eq!((code, server.asked().len()), (0, 3), "{said}");
    assert!(said.contains(&format!("the model refused to answer: {words}")), "{said}");
    let journal = place.journal();
    assert!(journal.contains(r#""truncated":"refusal""#) && !journal.contains("lesson_changed"), "{journal}");
    assert_eq!(place.run_program(&["verify", "--last"]).0, 0);
    let place = TestSetup::new();
    let half = format!("{}{}", says("go to counterto"), ends("insufficient_system_resource"));
    let server = place.server(vec![chunked(&[half.as_bytes()], true), good("look")]);
    let (code, said) = place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "1"]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("  1 > look") && said.contains("finish_reason insufficient_system_resource"),
        "{said}"
    );
}

/// The error said "0 MB so far" and held the end of the text.
#[test]
fn a_reply_without_an_end_is_reported_with_length_and_beginning() {
    let place = TestSetup::new();
    let mut script = chunked(&[says("Thought: where to begin? ").as_bytes()], false);
    let event = says(&"lorem ipsum dolor ".repeat(100));
    let piece = format!("{:x}\r\n{event}\r\n", event.len()).into_bytes();
    script.push(Act::Forever(piece, Duration::ZERO));
    let server = place.server(vec![script]);
    let mentor = ["--method", "planning", "--actor", "rules", "--mentor", "openai:tiny"];
    let (code, said) = place.run_one_task(&server, &mentor);
    assert_eq!(code, 3, "{said}");
    let told =
        said.lines().find(|l| l.contains("sends without an end (")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        told.contains(" kB so far); it had said 1")
            && told.contains(" characters, beginning: Thought: where to begin?"),
        "{told}"
    );
    assert!(said.contains("it was sent max_tokens 1024 and ignores it"), "{said}");
    assert!(told.len() < 600 && !said.contains("0 MB"), "{told}");
    let journal = place.journal();
    let failed = journal.lines().find(|l| l.contains("call_failed")).unwrap();
    assert!(failed.contains(r#""came":"Thought: where"#) && failed.len() < 4000, "{failed}");
}

/// `--mentor openai:M` alone never asked the mentor, and nothing said so.
#[test]
fn a_named_mentor_is_called_or_the_reason_is_printed() {
    let omni = ["--method", "omnireflect", "--mentor", "openai:tiny", "--max-steps", "2"];
    let place = TestSetup::new();
    let server = place.server(vec![good("['Look first.']")]);
    let (code, said) = place.run_one_task(&server, &omni);
    assert_eq!((code, server.asked().len()), (0, 3), "{said}");
    assert!(place.journal().contains(r#""generation":{"value":"neural","origin":"mentor"}"#));
    assert!(!said.contains("will never be called"), "{said}");
    let told: [(&[&str], &str); 2] = [
        (
            &["--set", "generation=symbolic"],
            "generation is symbolic, so rules write the reflections; to call it, use --set generation=neural",
        ),
        (&["--method", "react"], "ReAct doesn't reflect; to call it, use another --method or --calibrate"),
    ];
    for (more, words) in told {
        let place = TestSetup::new();
        let rest: &[&str] = if more.contains(&"--method") { &omni[2..] } else { &omni };
        let (code, said) = place.run_one_task(&server, &[rest, more].concat());
        assert_eq!((code, server.asked().len()), (0, 3), "{said}");
        let line = format!("warning: the mentor openai:tiny will never be called: {words}");
        assert_eq!(said.matches(&line).count(), 1, "{said}");
    }
}

/// Each line named the server twice, "tiny at HOST: HOST answered 401", and no line said which variable holds the key.
#[test]
fn an_error_line_names_the_server_once_and_the_variable_of_its_key() {
    let place = TestSetup::new();
    let server = place.server(vec![plain(401, "", r#"{"error":{"message":"Incorrect API key provided"}}"#)]);
    let host = server.base.trim_start_matches("http://").trim_end_matches("/v1");
    let (code, said) = place.run_one_task(&server, &REACT_ARGS);
    assert_eq!(code, 3, "{said}");
    let doctor = place.run_program(&["doctor", "--actor", "openai:tiny", "--base-url", &server.base]);
    for said in [said, doctor.1] {
        let lines: Vec<&str> = said.lines().filter(|l| l.contains("answered 401")).collect();
        assert!(!lines.is_empty() && lines.iter().all(|l| l.matches(host).count() == 1), "{said}");
        assert!(said.contains("no key was sent: set OPENAI_API_KEY; --key-env NAME"), "{said}");
    }
    let (_, said) = place.run_program(&["open", "--last", "--plain"]);
    for line in said.lines().filter(|l| l.contains("answered 401")) {
        assert_eq!(line.matches(host).count(), 1, "{line}");
    }
}

/// Counts of 2^63 tokens overflowed sums: the run ended by a panic, and so did whatever told its session afterwards.
#[test]
fn token_counts_that_cannot_be_true_end_neither_a_run_nor_what_tells_of_it() {
    let place = TestSetup::new();
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":9223372036854775808,"completion_tokens":9223372036854775808}}"#;
    let reply = format!("{}{}data: {usage}\n\ndata: [DONE]\n\n", says("look"), ends("stop"));
    let server = place.server(vec![chunked(&[reply.as_bytes()], true)]);
    let (code, said) = place.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "3"]].concat());
    assert_eq!((code, said.matches("cannot be true").count()), (0, 1), "{said}");
    // An old session holds what was believed then.
    let session = std::fs::read_dir(place.home.path().join("sessions")).unwrap().next().unwrap().unwrap();
    let trunk = session.path().join("branches/trunk.jsonl");
    let _ = std::fs::remove_dir_all(session.path().join("index"));
    let huge = |line: &str| match line.split_once(r#""usage":{"prompt_tokens":"#) {
        Some((before, behind)) => {
            let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}\"usage\":{{\"prompt_tokens\":{}{rest}", u64::MAX)
        }
        None => line.to_owned(),
    };
    let old: Vec<String> = place.journal().lines().map(huge).collect();
    assert!(old.iter().any(|line| line.contains("18446744073709551615")), "{old:?}");
    std::fs::write(&trunk, old.join("\n") + "\n").unwrap();
    let name = session.path().display().to_string();
    for args in [
        &["export", &name, "--format", "json", "--out", "out.json"][..],
        &["export", &name, "--format", "html", "--out", "out.html"],
        &["diff", &name, &name],
        &["report", &name, &name],
        &["resume", &name, "--headless", "--base-url", &server.base],
    ] {
        let (code, said) = place.run_program(args);
        assert!(code != 101 && !said.contains("panicked"), "{args:?}: {code} {said}");
    }
}
