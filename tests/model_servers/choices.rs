//! Tests what a person can do after a failed call, with the real program and a failing server: retry, edit the prompt,
//! switch the model, use a recorded reply, act manually. The first step is the failed one, and no step is lost.

use crate::server::{self, Server, complete_reply, plain_response};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the program with these input lines; returns exit code and output.
async fn run_program(home: &Path, args: &[&str], lines: &str) -> (i32, String) {
    let input = home.join("input.txt");
    std::fs::write(&input, lines).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(args).current_dir(home).env_clear().env("HOME", home);
    command.env("RETROSPECT_CONFIG_DIR", home.join("config"));
    command.env("RETROSPECT_SESSIONS", home.join("sessions"));
    command.stdin(std::fs::File::open(input).unwrap());
    let finished = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let output = [finished.stdout, finished.stderr].concat();
    (finished.status.code().unwrap_or(-1), String::from_utf8(output).unwrap())
}

struct Case {
    /// Input lines after the failed first call.
    lines: &'static str,
    /// The expected models of the calls.
    models: &'static [&'static str],
    /// Text in the last prompt.
    prompt_contains: &'static str,
    /// Texts in the output.
    output_contains: &'static [&'static str],
}

#[test]
fn each_choice_after_a_failed_call_continues_the_same_step() {
    let cases = [
        Case {
            lines: "retry",
            models: &["small", "small"],
            prompt_contains: "You are in a household",
            output_contains: &[],
        },
        Case {
            lines: "prompt-edit 1 Say what you hold.\nprompt\nretry",
            models: &["small", "small"],
            prompt_contains: "Say what you hold.",
            output_contains: &["call failed: `retry` sends it", "Say what you hold."],
        },
        Case {
            lines: "model openai:big\nretry",
            models: &["small", "big"],
            prompt_contains: "You are in a household",
            output_contains: &["actor openai:big"],
        },
        Case {
            lines: "prompt-edit 1 Say what you hold.\nmodel openai:big\nretry",
            models: &["small", "big"],
            prompt_contains: "Say what you hold.",
            output_contains: &["actor openai:big"],
        },
        Case {
            lines: "recorded NAME",
            models: &["small"],
            prompt_contains: "You are in a household",
            output_contains: &["recorded reply from session"],
        },
        Case {
            lines: "prompt-edit 1 Say what you hold.\nrecorded NAME\nundo\nrecorded NAME",
            models: &["small"],
            prompt_contains: "You are in a household",
            output_contains: &[
                "there is no recorded reply for an edited prompt",
                "recorded reply from session",
            ],
        },
        Case {
            lines: "set actor.max_tokens 64\nset actor.seed 7\nretry",
            models: &["small", "small"],
            prompt_contains: "\"max_tokens\":64",
            output_contains: &[],
        },
        Case {
            lines: "act inventory",
            models: &["small"],
            prompt_contains: "You are in a household",
            output_contains: &[],
        },
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let home = tempfile::tempdir().unwrap();
        let run = |base: &str| -> Vec<String> {
            let args = ["run", "--task", "easy/put/1", "--method", "react", "--actor", "openai:small"];
            args.iter().chain(&["--max-steps", "1", "--base-url", base]).map(ToString::to_string).collect()
        };
        let start = async |base: &str, mode: &str, lines: &str| {
            let args = [run(base), vec![mode.to_owned()]].concat();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            run_program(home.path(), &args, lines).await
        };
        let first = Server::start(vec![complete_reply("inventory")]).await;
        assert_eq!(start(&first.base, "--headless", "").await.0, 0);
        let name =
            std::fs::read_dir(home.path().join("sessions")).unwrap().next().unwrap().unwrap().file_name();
        for case in cases {
            let server = Server::start(vec![
                plain_response(401, "", r#"{"detail":"who are you"}"#),
                complete_reply("inventory"),
            ])
            .await;
            let lines = case.lines.replace("NAME", name.to_str().unwrap());
            let (code, output) =
                start(&server.base, "--plain", &format!("step\n{lines}\nstep\nquit\n")).await;
            assert_eq!(code, 0, "{}: {output}", case.lines);
            for words in ["401: who are you", "1 > inventory", "You are not carrying anything."] {
                assert!(output.contains(words), "{}: {words}: {output}", case.lines);
            }
            for words in case.output_contains {
                assert!(output.contains(words), "{}: {words}: {output}", case.lines);
            }
            let requests = server.requests();
            let models: Vec<&Value> = requests.iter().map(|a| &a.body["model"]).collect();
            assert_eq!(models, case.models, "{}: {output}", case.lines);
            let last = requests.last().unwrap().body.to_string();
            assert!(last.contains(case.prompt_contains), "{}: {last}", case.lines);
            let (code, output) = run_program(home.path(), &["verify", "--last"], "").await;
            assert_eq!(code, 0, "{}: {output}", case.lines);
        }
    });
}

/// If the segments that are never dropped don't fit, nothing is sent, since a server might truncate it silently. A
/// second server counts four times the estimated tokens, which is known only after its first reply.
#[test]
fn a_prompt_that_cannot_fit_is_not_sent_and_continues_with_a_larger_budget() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let usage = "{\"choices\":[],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":2}}";
        let counted = format!(
            "{}{}data: {usage}\n\ndata: [DONE]\n\n",
            server::text_event("inventory"),
            server::end_event("stop")
        );
        for (response, budget, first_requests) in [
            (complete_reply("inventory"), "60", 0),
            (server::chunked(&[counted.as_bytes()], true), "1500", 1),
        ] {
            let server = Server::start(vec![response]).await;
            let home = tempfile::tempdir().unwrap();
            let set = format!("context_tokens={budget}");
            let args =
                ["run", "--task", "easy/put/1", "--method", "react", "--actor", "openai:small", "--headless"];
            let args = [&args[..], &["--max-steps", "2", "--base-url", &server.base, "--set", &set]].concat();
            let (code, output) = run_program(home.path(), &args, "").await;
            assert!(
                code == 3 && output.contains("the newest step alone do not fit"),
                "{budget}: {code}: {output}"
            );
            assert!(output.contains(&format!("more than the {budget} allowed")), "{output}");
            assert_eq!(server.requests().len(), first_requests, "{budget}: {output}");
            let lines = "set context_tokens 9000\nretry\nrun\nquit\n";
            let (code, output) = run_program(home.path(), &["resume", "--last", "--plain"], lines).await;
            assert!(code == 0 && output.contains("2 > inventory"), "{budget}: {output}");
            assert_eq!(server.requests().len(), 2);
        }
    });
}

/// Regression: of three mentor calls, the first reply shows that the server counts four times the estimated tokens, and
/// the other two fail. They then counted as "too long", and `retry` never sent them again.
#[test]
fn a_failed_mentor_prompt_still_fits_after_the_server_counted_tokens() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let usage = "{\"choices\":[],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":2}}";
        let lesson = server::text_event("[\"Look first.\"]");
        let counted = format!("{lesson}{}data: {usage}\n\ndata: [DONE]\n\n", server::end_event("stop"));
        let counted = server::chunked(&[counted.as_bytes()], true);
        let failure = || plain_response(402, "", r#"{"error":{"message":"no credit","code":402}}"#);
        let reply = || complete_reply("[\"Look first.\"]");
        let server = Server::start(vec![counted, failure(), failure(), reply(), reply()]).await;
        let home = tempfile::tempdir().unwrap();
        let mentor = ["--method", "omnireflect", "--mentor", "openai:small", "--set", "generation=neural"];
        let args = ["run", "--task", "easy/put/1", "--plain", "--base-url", &server.base];
        let set = ["--set", "context_tokens=800"];
        let (code, output) =
            run_program(home.path(), &[&args[..], &mentor, &set].concat(), "step\nstep\nquit\n").await;
        assert!(code == 0 && output.contains("402"), "{output}");
        assert_eq!(server.requests().len(), 3, "{output}");
        // Two calls have failed; their prompts are unchanged.
        let (code, output) =
            run_program(home.path(), &["resume", "--last", "--plain"], "retry\nstep\nquit\n").await;
        assert!(code == 0 && !output.contains("do not fit"), "{output}");
        assert_eq!(server.requests().len(), 5, "{output}");
        let (code, output) = run_program(home.path(), &["verify", "--last"], "").await;
        assert_eq!(code, 0, "{output}");
    });
}

/// Regression: a prompt that a person's edit made too long was reported as having only segments that are never dropped.
#[test]
fn an_overlong_edit_is_not_reported_as_undroppable() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let failure = plain_response(402, "", r#"{"error":{"message":"no credit","code":402}}"#);
        let server = Server::start(vec![failure, complete_reply("inventory")]).await;
        let home = tempfile::tempdir().unwrap();
        let args = ["run", "--task", "easy/put/1", "--method", "react", "--actor", "openai:small", "--plain"];
        let set = ["--base-url", &server.base, "--set", "context_tokens=2000", "--set", "examples=0"];
        let lines =
            format!("step\nprompt-edit 1 {}\nretry\ngive-up\nstep\nquit\n", "look well ".repeat(1000));
        let (code, output) = run_program(home.path(), &[&args[..], &set].concat(), &lines).await;
        assert!(code == 0 && output.contains("drafted now would be shorter"), "{output}");
        assert!(!output.contains("alone do not fit") && output.contains("step 1: inventory"), "{output}");
        assert_eq!(server.requests().len(), 2, "{output}");
    });
}
