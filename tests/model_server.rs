//! Whole runs of the real program against a model server that fails: nothing is lost, and no key is seen.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it is wrong"
)]

#[path = "rig/files.rs"]
mod files;
#[path = "serving/server.rs"]
mod server;

use serde_json::{Value, json};
use server::{Act, Server, chunked, good, plain, reasons, says, stream};
use std::future::Future;
use std::path::PathBuf;
use std::process::Output;

const KEY: &str = "sk-whole-run-0123456789-never-to-be-seen";

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

/// The program in a home of its own.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    async fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
        self.run_with_input(args, variables, "").await
    }

    /// As [`Home::says`], with these lines to read.
    async fn run_with_input(&self, args: &[&str], variables: &[(&str, &str)], lines: &str) -> (i32, String) {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear().env("HOME", self.path("home"));
        command
            .env("RETROSPECT_CONFIG_DIR", self.path("config"))
            .env("RETROSPECT_SESSIONS", self.path("sessions"));
        command
            .env("RETROSPECT_CACHE_DIR", self.path("cache"))
            .env("OPENAI_API_KEY", KEY)
            .envs(variables.iter().copied());
        let input = self.path("input.txt");
        std::fs::write(&input, lines).unwrap();
        command.stdin(std::fs::File::open(input).unwrap());
        let done: Output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let said =
            format!("{}{}", String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        assert!(!said.contains(KEY), "the key is on the screen: {said}");
        (done.status.code().unwrap_or(-1), said)
    }

    /// The newest session.
    fn newest_session(&self) -> String {
        let sessions = std::fs::read_dir(self.path("sessions")).unwrap().flatten();
        // Two may have begun in the same second, which is all that a name tells.
        let made = |path: &PathBuf| std::fs::metadata(path.join("meta.toml")).unwrap().modified().unwrap();
        sessions.map(|e| e.path()).max_by_key(made).unwrap().display().to_string()
    }

    /// The files of the run, none of which holds the key.
    fn run_files(&self) -> Vec<(PathBuf, String)> {
        let all = files::below(self.0.path());
        for (path, text) in &all {
            assert!(!text.contains(KEY), "the key is in {}", path.display());
        }
        all
    }
}

/// Every way to fail, once, each followed by nothing: the error policy decides.
fn failure_scripts() -> Vec<Vec<Act>> {
    let echo = json!({"error": {"message": format!("Incorrect API key provided: {KEY}"), "param": null}})
        .to_string();
    let cut =
        chunked(&[says(&format!("go {KEY}")).as_bytes()], false).into_iter().chain([Act::Reset]).collect();
    vec![
        plain(401, "", &echo),
        plain(402, "", r#"{"error":{"message":"no credit","code":402}}"#),
        plain(404, "", KEY),
        plain(307, &format!("location: http://x/{KEY}\r\n"), ""),
        stream(format!("data: {}\n\n", json!({"error": {"message": KEY, "code": 400}})).as_bytes()),
        cut,
        stream(format!("{}{}", reasons("reasoning", KEY), says(KEY)).as_bytes()),
        // Nothing in a stream, and the reason outside of it: two requests.
        chunked(&[], true),
        plain(
            400,
            "",
            r#"{"error":{"message":"This model's maximum context length is 512 tokens.","code":"context_length_exceeded"}}"#,
        ),
        plain(200, "", &format!("<html><title>{KEY}</title></html>")),
    ]
}

#[test]
fn with_skip_task_a_failure_ends_its_episode_and_the_run_continues() {
    block_on(async {
        let count = failure_scripts().len() - 1;
        let server = Server::start(failure_scripts().into_iter().chain([good("look")]).collect()).await;
        let home = Home::new();
        // One task more than there are failures: the last one is played.
        let tasks = format!("easy/put/1-{}", count + 1);
        let args = [
            "run",
            "--tasks",
            &tasks,
            "--method",
            "react",
            "--actor",
            "openai:tiny",
            "--base-url",
            &server.base,
            "--max-steps",
            "3",
            "--headless",
            "--json",
            "--on-error",
            "skip-task",
            "--cache",
            "read-write",
        ];
        let (code, said) = home.run(&args, &[]).await;
        assert_eq!(code, 0, "{said}");
        let ends: Vec<Value> = said
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok())
            .filter(|l| l["type"] == "episode_end")
            .collect();
        let reasons: Vec<&str> = ends.iter().map(|e| e["reason"].as_str().unwrap()).collect();
        assert_eq!(reasons.len(), count + 1, "{said}");
        assert!(
            reasons[..count].iter().all(|r| *r == "error") && reasons[count] == "step_limit",
            "{reasons:?}"
        );
        assert!(server.asked().iter().all(|a| a.headers["authorization"] == format!("Bearer {KEY}")));
        let files = home.run_files();
        assert!(files.iter().any(|f| f.1.contains("[hidden]")), "what was hidden is marked");
        assert!(files.iter().any(|f| f.0.starts_with(home.path("cache"))), "answers are kept");
    });
}

#[test]
fn a_stopped_run_resumes_where_it_was() {
    block_on(async {
        let ok = |text: &str| good(text);
        let scripts = vec![
            ok("look"),
            chunked(&[says("inven").as_bytes()], false).into_iter().chain([Act::Reset]).collect(),
            plain(401, "", r#"{"detail":"Invalid API key"}"#),
            ok("inventory"),
            ok("look"),
        ];
        let server = Server::start(scripts).await;
        let home = Home::new();
        let args = [
            "run",
            "--task",
            "easy/put/1",
            "--method",
            "react",
            "--actor",
            "openai:tiny",
            "--base-url",
            &server.base,
            "--max-steps",
            "3",
            "--headless",
        ];
        let (code, said) = home.run(&args, &[]).await;
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("broke off") && said.contains("it had said: inven"), "{said}");
        // The address is on this machine and in the journal; the key is read anew.
        let (code, said) =
            home.run(&["resume", "--last", "--headless"], &[("OPENAI_API_KEY", "sk-another-key")]).await;
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("401: Invalid API key") && !said.contains("sk-another-key"), "{said}");
        let (code, said) = home.run(&["resume", "--last", "--headless"], &[]).await;
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("3 steps"), "no step is lost: {said}");
        let keys: Vec<bool> =
            server.asked().iter().map(|a| a.headers["authorization"].ends_with(KEY)).collect();
        assert_eq!(keys, [true, true, false, true, true]);
        let journal = home.run_files().into_iter().find(|f| f.0.ends_with("branches/trunk.jsonl")).unwrap().1;
        assert!(journal.contains("\"actor.base_url\"") && journal.contains("\"actor.unsent\""));
    });
}

#[test]
fn retries_and_refused_settings_are_reported() {
    block_on(async {
        let scripts = vec![
            plain(
                422,
                "connection: close\r\n",
                r#"{"detail":"Unexpected fields in the request: {'top_k'}"}"#,
            ),
            plain(503, "connection: close\r\nretry-after-ms: 1\r\n", "busy"),
            good("look"),
        ];
        let server = Server::start(scripts).await;
        let home = Home::new();
        let args = [
            "run",
            "--task",
            "easy/put/1",
            "--method",
            "react",
            "--actor",
            "openai:tiny",
            "--base-url",
            &server.base,
            "--profile",
            "paper",
            "--max-steps",
            "1",
            "--headless",
        ];
        let (code, said) = home.run(&args, &[]).await;
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("refused top_k") && said.contains("asking again in"), "{said}");
    });
}

#[test]
fn the_doctor_checks_a_server() {
    block_on(async {
        let models = plain(200, "connection: close\r\n", r#"{"data":[{"id":"tiny"}]}"#);
        let think = chunked(
            &[format!("{}{}{}", reasons("reasoning", "hm"), says("one two"), server::ends("stop"))
                .as_bytes()],
            true,
        );
        let server = Server::start(vec![models, think]).await;
        let home = Home::new();
        let (code, said) =
            home.run(&["doctor", "--actor", "openai:tiny", "--base-url", &server.base], &[]).await;
        assert_eq!(code, 0, "{said}");
        for words in [
            "has tiny",
            "one token",
            "streaming",
            "it wrote on after the stop text",
            "sampling seems to be without effect",
            "the model reasons, and temperature is 0",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let missing = plain(404, "connection: close\r\n", r#"{"detail":"Not Found"}"#);
        let models = plain(200, "connection: close\r\n", r#"{"data":[{"id":"tiny"}]}"#);
        let server = Server::start(vec![missing, models]).await;
        let base = server.base.trim_end_matches("/v1").to_owned();
        let (code, said) = home.run(&["doctor", "--actor", "openai:tiny", "--base-url", &base], &[]).await;
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(&format!("add /v1 to the base URL: {base}/v1")), "{said}");
        let (code, said) = home.run(&["doctor", "--base-url", "http://127.0.0.1:1/v1", "--json"], &[]).await;
        assert!(code == 1 && said.contains("cannot be reached"), "{said}");
        home.run_files();
    });
}

/// There was no setting `actor.max_tokens` on the command line, nor any other sampling parameter.
#[test]
fn sampling_parameters_are_set_on_the_command_line_and_in_presets() {
    let run_of = |base: &str, more: &[&str]| -> Vec<String> {
        let args = ["run", "--task", "easy/put/1", "--max-steps", "1", "--headless", "--base-url", base];
        args.iter().chain(more).map(|s| (*s).to_owned()).collect()
    };
    block_on(async {
        let home = Home::new();
        let says = |base: String, more: &'static [&'static str]| {
            let (home, args) = (&home, run_of(&base, more));
            async move { home.run(&args.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await }
        };
        let server = Server::start(vec![good("look")]).await;
        let all: &[&str] = &[
            "--actor",
            "openai:tiny",
            "--method",
            "react",
            "--set",
            "actor.max_tokens=64",
            "--set",
            "actor.temperature=0.7",
            "--set",
            "actor.top_p=off",
            "--set",
            "actor.top_k=40",
            "--set",
            "actor.repetition_penalty=1.1",
            "--set",
            "actor.seed=off",
            "--set",
            r#"actor.stop=["\n", "END"]"#,
        ];
        let (code, said) = says(server.base.clone(), all).await;
        assert_eq!(code, 0, "{said}");
        let body = server.asked()[0].body.clone();
        let sent = ["max_tokens", "temperature", "top_p", "top_k", "repetition_penalty", "seed", "stop"]
            .map(|name| body[name].clone());
        let want = json!([64, 0.7, null, 40, 1.1, null, ["\n", "END"]]);
        assert_eq!(Value::from(sent.to_vec()), want, "{body}");
        let journal = home.run_files().into_iter().find(|f| f.0.ends_with("branches/trunk.jsonl")).unwrap().1;
        assert!(journal.contains(r#""actor.max_tokens":{"value":64,"origin":"flag"}"#), "{journal}");
        // Of the mentor, in a preset of the configuration, in both forms that TOML has for such a name.
        std::fs::create_dir_all(home.path("config")).unwrap();
        let preset =
            "[preset.warm]\nactor.temperature = 0.3\n\"mentor.max_tokens\" = 99\nmentor.top_p = \"off\"\n";
        std::fs::write(home.path("config/config.toml"), preset).unwrap();
        let server = Server::start(vec![good("look")]).await;
        let warm: &[&str] = &[
            "--actor",
            "openai:tiny",
            "--mentor",
            "openai:tiny",
            "--method",
            "omnireflect",
            "--preset",
            "warm",
            "--set",
            "r_freq=1",
        ];
        let (code, said) = says(server.base.clone(), warm).await;
        assert_eq!(code, 0, "{said}");
        let bodies: Vec<Value> = server.asked().into_iter().map(|a| a.body).collect();
        let of = |bound: u64| bodies.iter().find(|b| b["max_tokens"] == bound).cloned().unwrap_or_default();
        assert_eq!((&of(256)["temperature"], &of(256)["top_p"]), (&json!(0.3), &json!(0.7)), "{bodies:?}");
        assert_eq!((&of(99)["temperature"], &of(99)["top_p"]), (&json!(0.0), &Value::Null), "{bodies:?}");
        // What nobody heeds, and what no parameter may be, is refused before anything is written.
        let before = home.run_files().len();
        let wrong: &[(&'static [&'static str], &str)] = &[
            (
                &["--actor", "openai:tiny", "--set", "actor.max_tokens=0"],
                "actor.max_tokens = 0: expected a whole number, at least 1",
            ),
            (&["--actor", "openai:tiny", "--set", "actor.max_token=9"], "did you mean \"actor.max_tokens\"?"),
            (&["--actor", "openai:tiny", "--set", "actor.top_p=2"], "expected a number from 0 to 1"),
            (
                &["--set", "actor.temperature=1"],
                "actor.temperature = 1: the rule-based actor has no sampling parameters",
            ),
            (&["--set", "mentor.top_p=0.5"], "symbolic rules call no model"),
        ];
        for (more, words) in wrong {
            let (code, said) = says(server.base.clone(), more).await;
            assert!(code == 2 && said.contains(words), "{more:?}: {code} {said}");
        }
        assert_eq!(home.run_files().len(), before);
        let (_, said) = home.run(&["config", "show"], &[]).await;
        assert!(said.contains("run --set actor.NAME=VALUE") && said.contains("repetition_penalty"), "{said}");
    });
}

/// It said ok to servers whose models never got to a reply in a run.
#[test]
fn the_doctor_says_what_a_model_that_reasons_needs() {
    let ends = |finish: &str, pieces: &[String]| {
        let body = format!("{}{}data: [DONE]\n\n", pieces.concat(), server::ends(finish));
        chunked(&[body.as_bytes()], true)
    };
    let hm = reasons("reasoning", "hm");
    let models = || plain(200, "connection: close\r\n", r#"{"data":[{"id":"tiny"}]}"#);
    let (empty, long) = (ends("stop", &[]), ends("length", std::slice::from_ref(&hm)));
    let whole = ends("stop", &[hm.clone(), says("take the mug")]);
    let [actor, mentor] = [["--actor", "openai:tiny"], ["--mentor", "openai:tiny"]];
    let stop = "warning  stop       a stop at a newline ends the model's reasoning";
    type Case<'a> = (&'a str, [&'a str; 2], Vec<Vec<Act>>, i32, Vec<&'a str>);
    #[rustfmt::skip]
    let cases: Vec<Case<'_>> = vec![
        ("its stop and its bound", actor, vec![empty.clone(), long.clone(), whole.clone()], 0,
            vec![stop, "omit = [\"stop\"]", "within max_tokens 256; with 4096 it did", "--set actor.max_tokens=4096"]),
        ("its stop", actor, vec![empty.clone(), whole.clone()], 0, vec![stop, "--set actor.max_tokens=4096"]),
        ("its bound", mentor, vec![long.clone(), whole.clone()], 0, vec!["within max_tokens 1024; with 4096 it did", "--set mentor.max_tokens=4096"]),
        ("no bound is enough but its own", actor, vec![long.clone(), long.clone(), whole.clone()], 0, vec!["without a bound it did", "--set actor.max_tokens=off"]),
        ("a short thought", actor, vec![whole], 0, vec!["the model reasons, and its reasoning counts", "--set actor.max_tokens=4096"]),
        ("no reply at all", actor, vec![long.clone()], 1, vec!["BROKEN   reply      the reply is empty", "enable_thinking = false"]),
        ("a tool call", actor, vec![ends("tool_calls", &[])], 1, vec!["BROKEN   reply      the model answered with a tool call"]),
        ("prose", actor, vec![ends("stop", &[says("The agent is in a kitchen, where a mug stands in the sink.")])], 0,
            vec!["warning  reply      the reply is not one of the three actions", "chat template"]),
    ];
    block_on(async {
        for (name, who, asked, code, words) in cases {
            // One token, a stream, and four seeds before it.
            let before = std::iter::repeat_n(long.clone(), 6);
            let server = Server::start([models()].into_iter().chain(before).chain(asked).collect()).await;
            let home = Home::new();
            let args = ["doctor", who[0], who[1], "--base-url", &server.base];
            // An address alone is enough for a look at it as an actor's.
            let args = if who == mentor {
                vec!["doctor", "--mentor", who[1], "--mentor-base-url", &server.base]
            } else {
                args.to_vec()
            };
            let (got, said) = home.run(&args, &[]).await;
            assert_eq!(got, code, "{name}: {said}");
            for words in words {
                assert!(said.contains(words), "{name}: {words}: {said}");
            }
            assert!(!said.contains("ok       reply"), "{name}: {said}");
            assert!(!said.contains("set --set"), "{name}: {said}");
            let one = said.lines().find(|line| line.contains("one token")).unwrap();
            assert!(one.contains("its limit of 1 token before") && !one.contains("--set"), "{name}: {one}");
        }
    });
}

/// It said "`retrospect doctor` lists them", and had listed them.
#[test]
fn the_doctor_does_not_send_to_the_doctor() {
    block_on(async {
        let models = plain(200, "connection: close\r\n", r#"{"data":[{"id":"other"}]}"#);
        let missing = plain(404, "", r#"{"error":{"message":"model tiny not found"}}"#);
        let server = Server::start(vec![models, missing]).await;
        let home = Home::new();
        let (code, said) =
            home.run(&["doctor", "--actor", "openai:tiny", "--base-url", &server.base], &[]).await;
        assert_eq!(code, 1, "{said}");
        assert!(
            said.contains("check that the server has the model \"tiny\"") && said.contains("other"),
            "{said}"
        );
        assert!(!said.contains("`retrospect doctor`"), "{said}");
    });
}

/// What a person can do where a call fails, with the real program: a recorded reply, another model. No key is seen in
/// the session, nor in anything that is made of it.
#[test]
fn after_a_failed_call_a_recorded_reply_or_another_model_continues() {
    block_on(async {
        let home = Home::new();
        let task = ["run", "--task", "easy/put/1", "--method", "react", "--set", "examples=1"];
        let of = |base: &str, more: &[&str]| -> Vec<String> {
            let at = ["--base-url", base];
            let all = task.iter().chain(&at).chain(more);
            all.map(|s| (*s).to_owned()).collect()
        };
        let says = |args: Vec<String>, lines: &'static str| {
            let home = &home;
            async move {
                home.run_with_input(&args.iter().map(String::as_str).collect::<Vec<_>>(), &[], lines).await
            }
        };
        let first = Server::start(vec![good("inventory"), good("look")]).await;
        let recording = of(&first.base, &["--actor", "openai:small", "--max-steps", "2", "--headless"]);
        let (code, said) = says(recording, "").await;
        assert_eq!(code, 0, "{said}");
        let name = std::fs::read_dir(home.path("sessions")).unwrap().flatten().next().unwrap().file_name();
        let name = name.to_str().unwrap().to_owned();
        let wrong = plain(401, "", &json!({"error": {"message": format!("wrong key {KEY}")}}).to_string());
        let second = Server::start(vec![wrong.clone(), wrong, good("go to cabinet 1")]).await;
        let args = of(&second.base, &["--actor", "openai:small", "--plain"]);
        let lines: &'static str = Box::leak(
            format!(
                "recorded nobody\nrecorded cache\nrecorded {name}\nstep\nmodel openai:big\nretry\nprompt\nquit\n"
            )
            .into_boxed_str(),
        );
        let (code, said) = says(args, lines).await;
        assert_eq!(code, 0, "{said}");
        for words in [
            "FAILED",
            "401",
            "there is no session of this path or name",
            "no answer to exactly this request",
            &format!("recorded reply from session {name}"),
            "1 > inventory",
            "run changed: react, actor openai:big",
            "go to cabinet 1",
            "[changed in the request] top_k 50",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let models: Vec<Value> = second.asked().iter().map(|a| a.body["model"].clone()).collect();
        assert_eq!(models, ["small", "small", "big"]);
        for form in ["html", "markdown", "json"] {
            let (code, page) = home.run(&["export", &home.newest_session(), "--format", form], &[]).await;
            assert_eq!(code, 0, "{page}");
            assert!(page.contains(&name) && page.contains("recorded"), "{form}: whose reply it was is told");
        }
        let (code, said) = home.run(&["verify", &home.newest_session()], &[]).await;
        assert_eq!(code, 0, "{said}");
        home.run_files();
    });
}

/// Sampling that a person changed at a fork is in the body of the very next request, stays after a resume, and is named where
/// branches are listed and compared.
#[test]
fn sampling_changed_at_a_fork_is_sent_and_stays() {
    block_on(async {
        let home = Home::new();
        let said = ["inventory", "look", "go to cabinet 1", "look", "inventory"];
        let server = Server::start(said.iter().map(|text| good(text)).collect()).await;
        let args = ["run", "--task", "easy/put/1", "--method", "react", "--set", "examples=1", "--plain"];
        let at = ["--actor", "openai:small", "--base-url", &server.base];
        let args: Vec<&str> = args.into_iter().chain(at).collect();
        let lines = "set actor.temperature hot\nset mentor.temperature 1\nstep\nstep\nfork 1\nset actor.temperature 0.7\n\
                     set actor.max_tokens 64\nset actor.top_p off\nset actor.seed 9\nstep\nprompt\nquit\n";
        let (code, told) = home.run_with_input(&args, &[], lines).await;
        assert_eq!(code, 0, "{told}");
        for words in [
            "expected a number, at least 0",
            "symbolic rules call no model",
            "temperature 0.7 (by a person)",
            "top_p off (by a person)",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
        let (code, told) =
            home.run_with_input(&["resume", &home.newest_session(), "--plain"], &[], "step\nquit\n").await;
        assert_eq!(code, 0, "{told}");
        let asked = server.asked();
        let of = |body: &Value| ["temperature", "max_tokens", "top_p"].map(|name| body[name].clone());
        let bodies: Vec<_> = asked.iter().map(|a| of(&a.body)).collect();
        // Three before the fork, one on the branch, one after the resume.
        let (profiles, chosen) = ([json!(0.0), json!(256), json!(0.7)], [json!(0.7), json!(64), Value::Null]);
        assert_eq!(bodies, [profiles.clone(), profiles.clone(), profiles, chosen.clone(), chosen]);
        assert_ne!(asked[1].body["seed"], asked[3].body["seed"], "the same turn, drawn from another seed");
        let newest = home.newest_session();
        let (code, told) =
            home.run(&["diff", &format!("{newest}@trunk"), &format!("{newest}@b1")], &[]).await;
        assert!(code == 0 && told.contains("actor.temperature"), "{told}");
        let (code, told) = home.run(&["verify", &newest], &[]).await;
        assert_eq!(code, 0, "{told}");
        home.run_files();
    });
}
