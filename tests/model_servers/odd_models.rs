//! Whole runs of the real program with models that reply oddly: on two lines, with nothing, or without end. Also with a
//! mentor that is never called because of a setting.

use crate::server::{
    ScriptStep, Server, chunked, complete_reply, end_event, plain_response, reasoning_event, text_event,
};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A runtime for servers, and a home folder in which the program runs.
struct TestSetup {
    runtime: Runtime,
    home: TempDir,
}

impl TestSetup {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self { runtime: runtime.unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn server(&self, scripts: Vec<Vec<ScriptStep>>) -> Server {
        self.runtime.block_on(Server::start(scripts))
    }

    /// Runs the program; returns exit code and output, standard output first.
    fn run_program(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.home.path()).env_clear().env("HOME", self.home.path());
        let finished =
            command.env("RETROSPECT_SESSIONS", self.home.path().join("sessions")).output().unwrap();
        let output =
            [finished.stdout, finished.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (finished.status.code().unwrap_or(-1), output)
    }

    /// Runs one task without a screen, with more arguments.
    fn run_one_task(&self, server: &Server, extra: &[&str]) -> (i32, String) {
        let mut args = vec!["run", "--task", "easy/put/1", "--base-url", &server.base, "--headless"];
        args.extend(extra);
        self.run_program(&args)
    }

    /// Returns the journal of the only session.
    fn journal(&self) -> String {
        let session = std::fs::read_dir(self.home.path().join("sessions")).unwrap().next().unwrap().unwrap();
        std::fs::read_to_string(session.path().join("branches/trunk.jsonl")).unwrap()
    }
}

const REACT_ARGS: [&str; 4] = ["--method", "react", "--actor", "openai:tiny"];

/// Regression: the default stop sequence cut every reply after its thought, so no action was ever taken and no problem
/// reported.
#[test]
fn a_reply_with_thought_and_action_is_used_and_the_stop_sequence_is_dropped() {
    let setup = TestSetup::new();
    let complete = complete_reply("Thought: the mug may be anywhere.\nAction: look\nObservation: made up.");
    let server = setup.server(vec![
        complete_reply("Thought: the mug may be anywhere."),
        complete.clone(),
        plain_response(401, "", r#"{"detail":"wrong key"}"#),
        complete,
    ]);
    let (code, output) = setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "3"]].concat());
    assert_eq!(code, 3, "{output}");
    assert!(
        output.contains("the newline stop cut off the action; it is no longer sent to this server"),
        "{output}"
    );
    assert!(
        output.contains("  1 > look") && output.contains("one more line after the action was not used"),
        "{output}"
    );
    let journal = setup.journal();
    assert!(
        journal.contains(r#""type":"settings_unsent""#) && journal.contains("stop at a newline: "),
        "{journal}"
    );
    // A new process knows it from the journal.
    let (code, output) = setup.run_program(&["resume", "--last", "--headless"]);
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("  3 > look") && !output.contains("cut off the action;"), "{output}");
    let stops: Vec<bool> = server.requests().iter().map(|a| a.body.get("stop").is_some()).collect();
    assert_eq!(stops, [true, false, false, false, false]);
}

/// Regression: prose such as "Okay, let me check the drawer first." was executed as an action, in ten of fourteen
/// forms.
#[test]
fn prose_is_not_executed_and_a_line_that_looks_like_prose_costs_two_requests() {
    let setup = TestSetup::new();
    let prose = "Okay, let me check the drawer first.";
    let server = setup.server(vec![
        complete_reply(prose),
        complete_reply(&format!("{prose}\nlook")),
        complete_reply("look"),
    ]);
    let (code, output) = setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "2"]].concat());
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("  1 > look") && output.contains("cut off the action;"), "{output}");
    assert_eq!(server.requests().len(), 3);

    let setup = TestSetup::new();
    let server = setup.server(vec![complete_reply("Attack troll.")]);
    let (code, output) = setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "4"]].concat());
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("  4 > Attack troll.") && !output.contains("cut off the action;"), "{output}");
    let stops: Vec<bool> = server.requests().iter().map(|a| a.body.get("stop").is_some()).collect();
    assert_eq!(stops, [true, false, true, false, true, true]);
}

/// Regression: the stop message suggested `--set actor.max_tokens=1024` with `resume`, which didn't have the flag; nor
/// did `doctor`.
#[test]
fn sampling_parameters_can_be_set_for_resume_and_doctor() {
    let setup = TestSetup::new();
    let server = setup.server(vec![
        complete_reply("look"),
        plain_response(401, "", r#"{"detail":"wrong key"}"#),
        complete_reply("look"),
    ]);
    let (code, output) = setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "3"]].concat());
    assert_eq!(code, 3, "{output}");
    for (set, words) in [
        ("r_freq=5", "only sampling parameters (actor.NAME, mentor.NAME) and context_tokens can be set here"),
        ("actor.max_tokens=many", "setting actor.max_tokens = many"),
        ("actor.max_tokens", "expected NAME=VALUE"),
        ("mentor.max_tokens=9", "--set mentor.max_tokens:"),
    ] {
        let (code, output) = setup.run_program(&["resume", "--last", "--headless", "--set", set]);
        assert_eq!(code, 2, "{output}");
        assert!(output.contains(words), "{output}");
    }
    let set = ["--set", "actor.max_tokens=777", "--set", "context_tokens=4000"];
    let (code, output) = setup.run_program(&[&["resume", "--last", "--headless"][..], &set].concat());
    assert_eq!(code, 0, "{output}");
    assert!(setup.journal().contains(r#""name":"context_tokens","value":4000"#));
    let sent_limits = |server: &Server| -> Vec<Option<u64>> {
        server
            .requests()
            .iter()
            .map(|a| a.body.get("max_tokens").and_then(serde_json::Value::as_u64))
            .collect()
    };
    assert_eq!(sent_limits(&server), [Some(256), Some(256), Some(777), Some(777)], "{output}");
    let doctor = ["doctor", "--actor", "openai:tiny", "--base-url", &server.base];
    let (_, output) = setup.run_program(&[&doctor[..], &["--set", "actor.max_tokens=555"]].concat());
    assert!(sent_limits(&server).contains(&Some(555)), "{output}");
    let (code, output) = setup.run_program(&[&doctor[..], &["--set", "context_tokens=4000"]].concat());
    assert!(code == 2 && output.contains("only sampling parameters"), "{output}");
}

/// Regression: in the README's own example the model's first reply was empty, three times, which ended the run at its
/// first step.
#[test]
fn a_reasoning_model_plays_as_documented_and_raises_its_limit_once() {
    let setup = TestSetup::new();
    let thought = || reasoning_event("reasoning", "hm hm");
    // What Ollama sends for Qwen3: the stop sequence matches inside the hidden text after `<think>`.
    let empty = chunked(&[end_event("stop").as_bytes()], true);
    let long = chunked(&[format!("{}{}", thought(), end_event("length")).as_bytes()], true);
    let complete =
        chunked(&[format!("{}{}{}", thought(), text_event("look"), end_event("stop")).as_bytes()], true);
    let unauthorized = plain_response(401, "", r#"{"detail":"wrong key"}"#);
    let server = setup.server(vec![empty, long, complete.clone(), complete.clone(), unauthorized, complete]);
    let args = ["--method", "react", "--actor", "openai:qwen3:4b", "--profile", "ollama", "--max-steps", "4"];
    let (code, output) = setup.run_one_task(&server, &args);
    assert_eq!(code, 3, "{output}");
    for words in [
        "the stop sequence ended the model's reasoning",
        "all 256 tokens of max_tokens were used before the reply began; retrying with 4096",
        "--set actor.max_tokens=4096",
        "  2 > look",
    ] {
        assert_eq!(output.matches(words).count(), 1, "{words}: {output}");
    }
    let journal = setup.journal();
    assert!(journal.contains("stop: left out for qwen3:4b at "), "{journal}");
    assert!(journal.contains("max_tokens: at least 4096 for qwen3:4b at "), "{journal}");
    // A new process knows it from the journal.
    let (code, output) = setup.run_program(&["resume", "--last", "--headless"]);
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("  4 > look"), "{output}");
    let sent: Vec<(bool, u64)> = server
        .requests()
        .iter()
        .map(|a| (a.body.get("stop").is_some(), a.body["max_tokens"].as_u64().unwrap_or(0)))
        .collect();
    let later = (false, 4096);
    assert_eq!(sent, [(true, 256), (false, 256), later, later, later, later, later]);
}

/// Regression: an empty reply became an empty action, which was sent to the environment.
#[test]
fn an_empty_reply_is_a_failed_call_and_not_an_empty_action() {
    let reasoning = format!("{}{}", reasoning_event("reasoning", "hm hm"), end_event("length"));
    let call = serde_json::json!([{"index": 0, "function": {"name": "look", "arguments": "{}"}}]);
    let called = format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"tool_calls": call}}]}));
    let called = called + &end_event("tool_calls");
    let empty = complete_reply("");
    let cases = [
        (empty.clone(), &REACT_ARGS[..], "the model returned an empty reply, 3 times"),
        (
            chunked(&[reasoning.as_bytes()], true),
            &REACT_ARGS[..],
            "the model returned only reasoning, 3 times",
        ),
        (
            complete_reply("{\"action\": {\"name\": \"look\"}}"),
            &REACT_ARGS[..],
            "the model's reply has no action, 3 times",
        ),
        (
            chunked(&[called.as_bytes()], true),
            &REACT_ARGS[..],
            "the model called a tool instead of writing a reply, 3 times",
        ),
        (
            empty.clone(),
            &["--method", "reflexion", "--actor", "openai:tiny"],
            "the model returned an empty reply, 6 times",
        ),
    ];
    for (script, args, words) in cases {
        let setup = TestSetup::new();
        let server = setup.server(vec![script]);
        let (code, output) =
            setup.run_one_task(&server, &[args, &["--max-steps", "2", "--trials", "1"]].concat());
        assert_eq!(code, 3, "{output}");
        assert!(output.contains(words) && output.contains("act yourself"), "{words}: {output}");
        let journal = setup.journal();
        assert!(journal.contains(r#""kind":"unusable""#) && !journal.contains("action_taken"), "{journal}");
        let replies = journal.matches(r#""type":"reply_received""#).count();
        assert!(words.contains(&format!("{replies} times")), "no reply is lost: {words}, {replies}");
    }
    // The run continues as soon as a model replies.
    let setup = TestSetup::new();
    // The first two empty replies are requested once more without the stop sequence that may have cut them off.
    let mut scripts = vec![empty.clone(); 5];
    scripts.push(complete_reply("look"));
    let server = setup.server(scripts);
    assert_eq!(setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "2"]].concat()).0, 3);
    let (code, output) = setup.run_program(&["resume", "--last", "--headless"]);
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("2 steps"), "{output}");
    // The public code executes the empty action; so does an unattended run with `--as code`.
    for method in ["react", "reflexion"] {
        let setup = TestSetup::new();
        let server = setup.server(vec![empty.clone()]);
        let args = ["--method", method, "--actor", "openai:tiny", "--mentor", "symbolic", "--as", "code"];
        let (code, output) =
            setup.run_one_task(&server, &[&args[..], &["--max-steps", "1", "--trials", "1"]].concat());
        assert_eq!(code, 0, "{output}");
        assert!(setup.journal().contains("action_taken"), "{output}");
    }
}

/// Regression: a refusal became three lessons, one of each kind, and half of an action was sent to the environment.
#[test]
fn a_refusal_and_an_interrupted_reply_are_neither_lessons_nor_actions() {
    let refusal_text = "This request was blocked by the usage policy.";
    let refusal = format!(
        "data: {}\n\n{}",
        serde_json::json!({"choices": [{"index": 0, "delta": {"refusal": refusal_text}}]}),
        end_event("stop")
    );
    let setup = TestSetup::new();
    let server = setup.server(vec![chunked(&[refusal.as_bytes()], true)]);
    let args = ["--method", "omnireflect", "--mentor", "openai:tiny", "--max-steps", "2"];
    let (code, output) = setup.run_one_task(&server, &args);
    assert_eq!((code, server.requests().len()), (0, 3), "{output}");
    assert!(output.contains(&format!("the model refused to answer: {refusal_text}")), "{output}");
    let journal = setup.journal();
    assert!(journal.contains(r#""truncated":"refusal""#) && !journal.contains("lesson_changed"), "{journal}");
    assert_eq!(setup.run_program(&["verify", "--last"]).0, 0);
    let setup = TestSetup::new();
    let partial = format!("{}{}", text_event("go to counterto"), end_event("insufficient_system_resource"));
    let server = setup.server(vec![chunked(&[partial.as_bytes()], true), complete_reply("look")]);
    let (code, output) = setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "1"]].concat());
    assert_eq!(code, 0, "{output}");
    assert!(
        output.contains("  1 > look") && output.contains("finish_reason insufficient_system_resource"),
        "{output}"
    );
}

/// Regression: the error said "0 MB so far" and showed the end of the text instead of its beginning.
#[test]
fn a_reply_without_an_end_is_reported_with_length_and_beginning() {
    let setup = TestSetup::new();
    let mut script = chunked(&[text_event("Thought: where to begin? ").as_bytes()], false);
    let event = text_event(&"lorem ipsum dolor ".repeat(100));
    let chunk = format!("{:x}\r\n{event}\r\n", event.len()).into_bytes();
    script.push(ScriptStep::Forever(chunk, Duration::ZERO));
    let server = setup.server(vec![script]);
    let mentor = ["--method", "planning", "--actor", "rules", "--mentor", "openai:tiny"];
    let (code, output) = setup.run_one_task(&server, &mentor);
    assert_eq!(code, 3, "{output}");
    let line = output.lines().find(|l| l.contains("does not end (")).unwrap_or_else(|| panic!("{output}"));
    assert!(
        line.contains(" kB so far); partial reply of 1")
            && line.contains(" characters: Thought: where to begin?"),
        "{line}"
    );
    assert!(output.contains("it ignores max_tokens 1024"), "{output}");
    assert!(line.len() < 600 && !output.contains("0 MB"), "{line}");
    let journal = setup.journal();
    let failed = journal.lines().find(|l| l.contains("call_failed")).unwrap();
    assert!(failed.contains(r#""came":"Thought: where"#) && failed.len() < 4000, "{failed}");
}

/// Regression: with `--mentor openai:M` alone the mentor was never called, without any message.
#[test]
fn a_named_mentor_is_called_or_the_reason_is_printed() {
    let omni = ["--method", "omnireflect", "--mentor", "openai:tiny", "--max-steps", "2"];
    let setup = TestSetup::new();
    let server = setup.server(vec![complete_reply("['Look first.']")]);
    let (code, output) = setup.run_one_task(&server, &omni);
    assert_eq!((code, server.requests().len()), (0, 3), "{output}");
    assert!(setup.journal().contains(r#""generation":{"value":"neural","origin":"mentor"}"#));
    assert!(!output.contains("will never be called"), "{output}");
    let cases: [(&[&str], &str); 2] = [
        (
            &["--set", "generation=symbolic"],
            "generation is symbolic, so rules write the reflections; to call it, use --set generation=neural",
        ),
        (&["--method", "react"], "ReAct doesn't reflect; to call it, use another --method or --calibrate"),
    ];
    for (extra, words) in cases {
        let setup = TestSetup::new();
        let rest: &[&str] = if extra.contains(&"--method") { &omni[2..] } else { &omni };
        let (code, output) = setup.run_one_task(&server, &[rest, extra].concat());
        assert_eq!((code, server.requests().len()), (0, 3), "{output}");
        let line = format!("warning: the mentor openai:tiny will never be called: {words}");
        assert_eq!(output.matches(&line).count(), 1, "{output}");
    }
}

/// Regression: each line named the server twice ("tiny at HOST: HOST answered 401"), and none named the key's variable.
#[test]
fn an_error_line_names_the_server_once_and_the_variable_of_its_key() {
    let setup = TestSetup::new();
    let server =
        setup.server(vec![plain_response(401, "", r#"{"error":{"message":"Incorrect API key provided"}}"#)]);
    let host = server.base.trim_start_matches("http://").trim_end_matches("/v1");
    let (code, output) = setup.run_one_task(&server, &REACT_ARGS);
    assert_eq!(code, 3, "{output}");
    let doctor = setup.run_program(&["doctor", "--actor", "openai:tiny", "--base-url", &server.base]);
    for output in [output, doctor.1] {
        let lines: Vec<&str> = output.lines().filter(|l| l.contains("returned HTTP 401")).collect();
        assert!(!lines.is_empty() && lines.iter().all(|l| l.matches(host).count() == 1), "{output}");
        assert!(output.contains("no key was sent: set OPENAI_API_KEY; to use another variable"), "{output}");
    }
    let (_, output) = setup.run_program(&["open", "--last", "--plain"]);
    for line in output.lines().filter(|l| l.contains("returned HTTP 401")) {
        assert_eq!(line.matches(host).count(), 1, "{line}");
    }
}

/// Regression: counts of 2^63 tokens overflowed sums, so the run panicked, and so did every verb that read the session.
#[test]
fn implausible_token_counts_break_neither_the_run_nor_its_reports() {
    let setup = TestSetup::new();
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":9223372036854775808,"completion_tokens":9223372036854775808}}"#;
    let reply = format!("{}{}data: {usage}\n\ndata: [DONE]\n\n", text_event("look"), end_event("stop"));
    let server = setup.server(vec![chunked(&[reply.as_bytes()], true)]);
    let (code, output) = setup.run_one_task(&server, &[&REACT_ARGS[..], &["--max-steps", "3"]].concat());
    assert_eq!((code, output.matches("impossible token counts").count()), (0, 1), "{output}");
    // An old session has the counts as they were recorded then.
    let session = std::fs::read_dir(setup.home.path().join("sessions")).unwrap().next().unwrap().unwrap();
    let trunk = session.path().join("branches/trunk.jsonl");
    let _ = std::fs::remove_dir_all(session.path().join("index"));
    let with_huge_count = |line: &str| match line.split_once(r#""usage":{"prompt_tokens":"#) {
        Some((before, behind)) => {
            let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}\"usage\":{{\"prompt_tokens\":{}{rest}", u64::MAX)
        }
        None => line.to_owned(),
    };
    let old: Vec<String> = setup.journal().lines().map(with_huge_count).collect();
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
        let (code, output) = setup.run_program(args);
        assert!(code != 101 && !output.contains("panicked"), "{args:?}: {code} {output}");
    }
}
