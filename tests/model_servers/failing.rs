//! Whole runs of the real program against a failing model server: nothing is lost, and no key appears anywhere.

use crate::files;
use crate::server::{
    self, ScriptStep, Server, chunked, complete_reply, plain_response, reasoning_event, stream, text_event,
};
use serde_json::{Value, json};
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

/// Runs the program in its own home folder.
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

    /// Like [`Home::run`], with these input lines.
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
        let finished: Output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let output = format!(
            "{}{}",
            String::from_utf8(finished.stdout).unwrap(),
            String::from_utf8(finished.stderr).unwrap()
        );
        assert!(!output.contains(KEY), "the key is on the screen: {output}");
        (finished.status.code().unwrap_or(-1), output)
    }

    /// Returns the newest session.
    fn newest_session(&self) -> String {
        let sessions = std::fs::read_dir(self.path("sessions")).unwrap().flatten();
        // Names have a resolution of one second, so two sessions may have the same time.
        let created = |path: &PathBuf| std::fs::metadata(path.join("meta.toml")).unwrap().modified().unwrap();
        sessions.map(|e| e.path()).max_by_key(created).unwrap().display().to_string()
    }

    /// Returns the files of the run, after checking that none contains the key.
    fn run_files(&self) -> Vec<(PathBuf, String)> {
        let all = files::files_below(self.0.path());
        for (path, text) in &all {
            assert!(!text.contains(KEY), "the key is in {}", path.display());
        }
        all
    }
}

/// Returns a server script for each kind of failure that the error policy handles.
fn failure_scripts() -> Vec<Vec<ScriptStep>> {
    let echo = json!({"error": {"message": format!("Incorrect API key provided: {KEY}"), "param": null}})
        .to_string();
    let interrupted = chunked(&[text_event(&format!("go {KEY}")).as_bytes()], false)
        .into_iter()
        .chain([ScriptStep::Reset])
        .collect();
    vec![
        plain_response(401, "", &echo),
        plain_response(402, "", r#"{"error":{"message":"no credit","code":402}}"#),
        plain_response(404, "", KEY),
        plain_response(307, &format!("location: http://x/{KEY}\r\n"), ""),
        stream(format!("data: {}\n\n", json!({"error": {"message": KEY, "code": 400}})).as_bytes()),
        interrupted,
        stream(format!("{}{}", reasoning_event("reasoning", KEY), text_event(KEY)).as_bytes()),
        // An empty stream, and the reason outside it: two requests.
        chunked(&[], true),
        plain_response(
            400,
            "",
            r#"{"error":{"message":"This model's maximum context length is 512 tokens.","code":"context_length_exceeded"}}"#,
        ),
        plain_response(200, "", &format!("<html><title>{KEY}</title></html>")),
    ]
}

#[test]
fn with_skip_task_a_failure_ends_its_episode_and_the_run_continues() {
    block_on(async {
        let count = failure_scripts().len() - 1;
        let server =
            Server::start(failure_scripts().into_iter().chain([complete_reply("look")]).collect()).await;
        let home = Home::new();
        // One task more than there are failures, so that the last one is played.
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
        let (code, output) = home.run(&args, &[]).await;
        assert_eq!(code, 0, "{output}");
        let ends: Vec<Value> = output
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok())
            .filter(|l| l["type"] == "episode_end")
            .collect();
        let reasons: Vec<&str> = ends.iter().map(|e| e["reason"].as_str().unwrap()).collect();
        assert_eq!(reasons.len(), count + 1, "{output}");
        assert!(
            reasons[..count].iter().all(|r| *r == "error") && reasons[count] == "step_limit",
            "{reasons:?}"
        );
        assert!(server.requests().iter().all(|a| a.headers["authorization"] == format!("Bearer {KEY}")));
        let files = home.run_files();
        assert!(files.iter().any(|f| f.1.contains("[hidden]")), "redactions are marked");
        assert!(files.iter().any(|f| f.0.starts_with(home.path("cache"))), "replies are cached");
    });
}

#[test]
fn a_stopped_run_resumes_where_it_was() {
    block_on(async {
        let ok = |text: &str| complete_reply(text);
        let scripts = vec![
            ok("look"),
            chunked(&[text_event("inven").as_bytes()], false)
                .into_iter()
                .chain([ScriptStep::Reset])
                .collect(),
            plain_response(401, "", r#"{"detail":"Invalid API key"}"#),
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
        let (code, output) = home.run(&args, &[]).await;
        assert_eq!(code, 3, "{output}");
        assert!(output.contains("was cut off") && output.contains("partial reply: inven"), "{output}");
        // The journal has the address; the key is read again from the environment.
        let (code, output) =
            home.run(&["resume", "--last", "--headless"], &[("OPENAI_API_KEY", "sk-another-key")]).await;
        assert_eq!(code, 3, "{output}");
        assert!(output.contains("401: Invalid API key") && !output.contains("sk-another-key"), "{output}");
        let (code, output) = home.run(&["resume", "--last", "--headless"], &[]).await;
        assert_eq!(code, 0, "{output}");
        assert!(output.contains("3 steps"), "no step is lost: {output}");
        let keys: Vec<bool> =
            server.requests().iter().map(|a| a.headers["authorization"].ends_with(KEY)).collect();
        assert_eq!(keys, [true, true, false, true, true]);
        let journal = home.run_files().into_iter().find(|f| f.0.ends_with("branches/trunk.jsonl")).unwrap().1;
        assert!(journal.contains("\"actor.base_url\"") && journal.contains("\"actor.unsent\""));
    });
}

#[test]
fn retries_and_rejected_settings_are_reported() {
    block_on(async {
        let scripts = vec![
            plain_response(
                422,
                "connection: close\r\n",
                r#"{"detail":"Unexpected fields in the request: {'top_k'}"}"#,
            ),
            plain_response(503, "connection: close\r\nretry-after-ms: 1\r\n", "busy"),
            complete_reply("look"),
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
        let (code, output) = home.run(&args, &[]).await;
        assert_eq!(code, 0, "{output}");
        assert!(output.contains("rejected top_k") && output.contains("; retry 1 of "), "{output}");
    });
}

#[test]
fn the_doctor_checks_a_server() {
    block_on(async {
        let models = plain_response(200, "connection: close\r\n", r#"{"data":[{"id":"tiny"}]}"#);
        let think = chunked(
            &[format!(
                "{}{}{}",
                reasoning_event("reasoning", "hm"),
                text_event("one two"),
                server::end_event("stop")
            )
            .as_bytes()],
            true,
        );
        let server = Server::start(vec![models, think]).await;
        let home = Home::new();
        let (code, output) =
            home.run(&["doctor", "--actor", "openai:tiny", "--base-url", &server.base], &[]).await;
        assert_eq!(code, 0, "{output}");
        for words in [
            "has tiny",
            "one token",
            "streaming",
            "did not end the reply at the stop sequence",
            "sampling seems to have no effect",
            "the model reasons at temperature 0",
        ] {
            assert!(output.contains(words), "{words}: {output}");
        }
        let missing = plain_response(404, "connection: close\r\n", r#"{"detail":"Not Found"}"#);
        let models = plain_response(200, "connection: close\r\n", r#"{"data":[{"id":"tiny"}]}"#);
        let server = Server::start(vec![missing, models]).await;
        let base = server.base.trim_end_matches("/v1").to_owned();
        let (code, output) = home.run(&["doctor", "--actor", "openai:tiny", "--base-url", &base], &[]).await;
        assert_eq!(code, 1, "{output}");
        assert!(output.contains(&format!("add /v1 to the base URL: {base}/v1")), "{output}");
        let (code, output) =
            home.run(&["doctor", "--base-url", "http://127.0.0.1:1/v1", "--json"], &[]).await;
        assert!(code == 1 && output.contains("cannot connect to"), "{output}");
        home.run_files();
    });
}

/// Regression: sampling parameters such as `actor.max_tokens` couldn't be set on the command line.
#[test]
fn sampling_parameters_are_set_on_the_command_line_and_in_presets() {
    let run_of = |base: &str, extra: &[&str]| -> Vec<String> {
        let args = ["run", "--task", "easy/put/1", "--max-steps", "1", "--headless", "--base-url", base];
        args.iter().chain(extra).map(|s| (*s).to_owned()).collect()
    };
    block_on(async {
        let home = Home::new();
        let run_with = |base: String, extra: &'static [&'static str]| {
            let (home, args) = (&home, run_of(&base, extra));
            async move { home.run(&args.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await }
        };
        let server = Server::start(vec![complete_reply("look")]).await;
        let actor_args: &[&str] = &[
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
        let (code, output) = run_with(server.base.clone(), actor_args).await;
        assert_eq!(code, 0, "{output}");
        let body = server.requests()[0].body.clone();
        let sent = ["max_tokens", "temperature", "top_p", "top_k", "repetition_penalty", "seed", "stop"]
            .map(|name| body[name].clone());
        let expected = json!([64, 0.7, null, 40, 1.1, null, ["\n", "END"]]);
        assert_eq!(Value::from(sent.to_vec()), expected, "{body}");
        let journal = home.run_files().into_iter().find(|f| f.0.ends_with("branches/trunk.jsonl")).unwrap().1;
        assert!(journal.contains(r#""actor.max_tokens":{"value":64,"origin":"flag"}"#), "{journal}");
        // For the mentor, in a preset of the configuration, in both TOML forms of such a name.
        std::fs::create_dir_all(home.path("config")).unwrap();
        let preset =
            "[preset.warm]\nactor.temperature = 0.3\n\"mentor.max_tokens\" = 99\nmentor.top_p = \"off\"\n";
        std::fs::write(home.path("config/config.toml"), preset).unwrap();
        let server = Server::start(vec![complete_reply("look")]).await;
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
        let (code, output) = run_with(server.base.clone(), warm).await;
        assert_eq!(code, 0, "{output}");
        let bodies: Vec<Value> = server.requests().into_iter().map(|a| a.body).collect();
        let body_with_limit =
            |limit: u64| bodies.iter().find(|b| b["max_tokens"] == limit).cloned().unwrap_or_default();
        assert_eq!(
            (&body_with_limit(256)["temperature"], &body_with_limit(256)["top_p"]),
            (&json!(0.3), &json!(0.7)),
            "{bodies:?}"
        );
        assert_eq!(
            (&body_with_limit(99)["temperature"], &body_with_limit(99)["top_p"]),
            (&json!(0.0), &Value::Null),
            "{bodies:?}"
        );
        // Unsupported parameters and invalid values are rejected before anything is written.
        let before = home.run_files().len();
        let invalid: &[(&'static [&'static str], &str)] = &[
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
        for (extra, words) in invalid {
            let (code, output) = run_with(server.base.clone(), extra).await;
            assert!(code == 2 && output.contains(words), "{extra:?}: {code} {output}");
        }
        assert_eq!(home.run_files().len(), before);
        let (_, output) = home.run(&["config", "show"], &[]).await;
        assert!(
            output.contains("run --set actor.NAME=VALUE") && output.contains("repetition_penalty"),
            "{output}"
        );
    });
}

/// Regression: `--as code` and presets changed settings, but sent the program's own sampling parameters.
#[test]
fn the_public_code_and_the_papers_decide_what_is_sampled() {
    const ACTOR: &str = "--actor=openai:tiny";
    const MENTOR: &str = "--mentor=openai:tiny";
    let names = ["top_p", "top_k", "repetition_penalty", "max_tokens", "temperature"];
    let paper = json!([0.7, 50, 1, 256, 0]);
    // Columns: arguments, the actor's parameters, the mentor's.
    let cases: [(&[&str], Value, Value); 10] = [
        (&["--method=react", "--as=code", ACTOR], json!([1, null, null, 100, 0]), Value::Null),
        // Regression: OmniReflect's `top_p` was sent with methods whose papers state none.
        (&["--method=react", ACTOR], json!([null, null, null, 256, 0]), Value::Null),
        (&["--method=react", "--profile=paper", ACTOR], json!([0.7, 50, 1, 256, 0]), Value::Null),
        (
            &["--method=omnireflect", ACTOR, MENTOR, "--set=mentor_at_once=false"],
            json!([0.7, null, null, 256, 0]),
            json!([0.7, null, null, 1024, 0]),
        ),
        (
            &["--method=reflexion", "--as=code", "--trials=1", ACTOR, MENTOR],
            json!([1, null, null, 256, 0]),
            json!([1, null, null, 256, 0]),
        ),
        (&["--preset=omnireflect-1-neural", ACTOR, MENTOR], paper.clone(), json!([0.7, 50, 1, 1024, 0])),
        // The paper's comparison with Reflexion had the paper's parameters.
        (
            &["--preset=omnireflect-1-reflexion", "--as=code", "--trials=1", ACTOR, MENTOR],
            paper,
            json!([0.7, 50, 1, 256, 0]),
        ),
        // Regression: DORA's public code was said to send temperature 0.
        (
            &[
                "--method=dora",
                "--as=code",
                "--set=n_init=1",
                "--set=rounds=0",
                "--set=attempts=1",
                ACTOR,
                MENTOR,
            ],
            json!([null, null, null, 256, 0.3]),
            json!([null, null, null, 1024, 0.5]),
        ),
        // What a person sets, or a profile says about the server, stays.
        (
            &["--preset=omnireflect-1-react", "--set=actor.top_p=0.5", "--profile=picky", ACTOR],
            json!([0.5, null, 1, 64, 0]),
            Value::Null,
        ),
        (
            &["--method=react", "--as=code", "--profile=picky", ACTOR],
            json!([1, null, null, 64, 0]),
            Value::Null,
        ),
    ];
    block_on(async {
        for (extra, actor, mentor) in cases {
            let home = Home::new();
            std::fs::create_dir_all(home.path("config")).unwrap();
            let profile = "[models.picky]\nomit = [\"top_k\"]\nmax_tokens = 64\n";
            std::fs::write(home.path("config/config.toml"), profile).unwrap();
            let server = Server::start(vec![complete_reply("inventory")]).await;
            let mut args =
                vec!["run", "--task", "easy/put/1", "--max-steps", "1", "--headless", "--base-url"];
            args.push(&server.base);
            args.extend(extra);
            let (code, output) = home.run(&args, &[]).await;
            assert_eq!(code, 0, "{output}");
            let sent = |body: &Value| Value::from(names.map(|name| body[name].clone()).to_vec());
            let same = |sent: &Value, expected: &Value| {
                let numbers = |list: &Value| -> Vec<Option<f64>> {
                    list.as_array().unwrap().iter().map(Value::as_f64).collect()
                };
                numbers(sent) == numbers(expected)
            };
            let requests: Vec<Value> =
                server.requests().into_iter().map(|request| sent(&request.body)).collect();
            assert!(same(&requests[0], &actor), "{extra:?}: {requests:?}");
            let of_mentor = requests.get(1);
            assert_eq!(of_mentor.is_some(), !mentor.is_null(), "{extra:?}: {requests:?}");
            assert!(of_mentor.is_none_or(|sent| same(sent, &mentor)), "{extra:?}: {requests:?}");
        }
    });
}

/// Regression: a summary of a long list was cut off at the limit of short lists.
#[test]
fn only_summaries_have_room_for_a_long_list() {
    let list = || complete_reply("['Open a drawer first.', 'Heat food in a microwave.']");
    let too_long = "{\"error\":{\"message\":\"This model's maximum context length is 4096 tokens. However, you requested \
                    4796 tokens.\",\"code\":\"context_length_exceeded\"}}";
    let refused = || plain_response(400, "", too_long);
    // Two steps with a reflection after each, then the summary.
    let (actor, mentor) = (256, 1024);
    let steps = [actor, mentor, actor, mentor];
    let cases: [(&[&str], bool, &[u64]); 5] = [
        (&[], false, &[4096]),
        (&["--set", "summary_tokens=0"], false, &[mentor]),
        (&["--set", "context_tokens=6000"], false, &[3000]),
        (&["--set", "mentor.max_tokens=5000"], false, &[5000]),
        // A server with a small context still gets the question.
        (&[], true, &[4096, mentor]),
    ];
    block_on(async {
        for (extra, is_small, summary) in cases {
            let action = || complete_reply("inventory");
            let mut scripts = vec![action(), list(), action(), list()];
            scripts.extend(is_small.then(refused));
            scripts.push(list());
            let server = Server::start(scripts).await;
            let mut args =
                vec!["run", "--task", "easy/put/1", "--max-steps", "2", "--headless", "--actor=openai:m"];
            args.extend(["--mentor=openai:m", "--method=omnireflect", "--base-url", &server.base]);
            for setting in ["r_freq=1", "s_freq=1", "kind_error=false", "kind_progress=false"] {
                args.extend(["--set", setting]);
            }
            args.extend(extra);
            let home = Home::new();
            let (code, output) = home.run(&args, &[]).await;
            assert_eq!(code, 0, "{output}");
            let sent: Vec<u64> = server
                .requests()
                .iter()
                .map(|request| request.body["max_tokens"].as_u64().unwrap())
                .collect();
            let mut expected = steps.to_vec();
            expected.extend(summary);
            if extra.contains(&"mentor.max_tokens=5000") {
                (expected[1], expected[3]) = (5000, 5000);
            }
            assert_eq!(sent, expected, "{extra:?}: {output}");
        }
    });
}

/// In BabyAI and PDDL, OmniReflect's ReAct agents have AgentBoard's prompts, whose agents keep their thoughts to themselves.
#[test]
fn thoughts_count_in_the_papers_presets_as_in_their_environment() {
    block_on(async {
        for (task, extra, requests) in [
            (["household", "easy/put/1"], &[][..], 2),
            (["babyai", "GoToRedBall/1"], &[], 8),
            (["pddl", "gripper/easy/1"], &[], 8),
            // A person's word counts.
            (["babyai", "GoToRedBall/1"], &["--set", "thoughts_count=true"], 2),
        ] {
            let server = Server::start(vec![complete_reply("think: I'm not sure.")]).await;
            let mut args = vec!["run", "--env", task[0], "--task", task[1], "--max-steps", "2", "--headless"];
            args.extend([
                "--preset",
                "omnireflect-1-react",
                "--actor",
                "openai:m",
                "--base-url",
                &server.base,
            ]);
            args.extend(extra);
            let home = Home::new();
            let (code, output) = home.run(&args, &[]).await;
            assert_eq!((code, server.requests().len()), (0, requests), "{task:?} {extra:?}: {output}");
        }
    });
}

/// Regression: a thought was valid in one environment and not in another.
#[test]
fn no_thought_reaches_an_environment_under_agentboards_interface() {
    block_on(async {
        for (task, thought) in [
            (["household", "easy/put/1"], "think: hm"),
            (["babyai", "GoToRedBall/1"], "think: I should check what I can do"),
            (["pddl", "gripper/easy/1"], "think: move rooma roomb"),
        ] {
            let server = Server::start(vec![complete_reply(thought)]).await;
            let mut args = vec!["run", "--env", task[0], "--task", task[1], "--max-steps", "1", "--json"];
            args.extend(["--interface", "agentboard", "--method", "react", "--actor", "openai:m"]);
            args.extend(["--base-url", &server.base]);
            let home = Home::new();
            let (code, output) = home.run(&args, &[]).await;
            assert_eq!(code, 0, "{output}");
            let lines = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let steps: Vec<Value> = lines.filter(|line| line["type"] == "step").collect();
            assert_eq!(
                (&steps[0]["valid"], &steps[0]["observation"]),
                (&json!(true), &json!("")),
                "{output}"
            );
            let summary = output.lines().rev().find(|line| line.contains(r#""type":"summary""#)).unwrap();
            assert!(!summary.contains(r#""grounding_accuracy":0"#), "{summary}");
        }
    });
}

/// Regression: `doctor` reported OK for servers whose models never finished a reply in a run.
#[test]
fn the_doctor_says_what_a_reasoning_model_needs() {
    let reply_script = |finish: &str, events: &[String]| {
        let body = format!("{}{}data: [DONE]\n\n", events.concat(), server::end_event(finish));
        chunked(&[body.as_bytes()], true)
    };
    let thought = reasoning_event("reasoning", "hm");
    let models = || plain_response(200, "connection: close\r\n", r#"{"data":[{"id":"tiny"}]}"#);
    let (empty, long) = (reply_script("stop", &[]), reply_script("length", std::slice::from_ref(&thought)));
    let complete = reply_script("stop", &[thought.clone(), text_event("take the mug")]);
    let [actor, mentor] = [["--actor", "openai:tiny"], ["--mentor", "openai:tiny"]];
    let stop = "warning  stop        the newline stop ends the model's reasoning";
    type Case<'a> = (&'a str, [&'a str; 2], Vec<Vec<ScriptStep>>, i32, Vec<&'a str>);
    #[rustfmt::skip]
    let cases: Vec<Case<'_>> = vec![
        ("its stop sequence and its limit", actor, vec![empty.clone(), long.clone(), complete.clone()], 0,
            vec![stop, "omit = [\"stop\"]", "used up max_tokens 256 before the reply began; 4096 was enough", "--set actor.max_tokens=4096"]),
        ("its stop sequence", actor, vec![empty.clone(), complete.clone()], 0, vec![stop, "--set actor.max_tokens=4096"]),
        ("its limit", mentor, vec![long.clone(), complete.clone()], 0, vec!["used up max_tokens 1024 before the reply began; 4096 was enough", "--set mentor.max_tokens=4096"]),
        ("only the server's own limit is enough", actor, vec![long.clone(), long.clone(), complete.clone()], 0, vec!["it replied without a limit", "--set actor.max_tokens=off"]),
        ("a short thought", actor, vec![complete], 0, vec!["the model reasons, and its reasoning counts", "--set actor.max_tokens=4096"]),
        ("no reply at all", actor, vec![long.clone()], 1, vec!["BROKEN   reply       the reply is empty", "enable_thinking = false"]),
        ("a tool call", actor, vec![reply_script("tool_calls", &[])], 1, vec!["BROKEN   reply       the model replied with a tool call"]),
        ("prose", actor, vec![reply_script("stop", &[text_event("The agent is in a kitchen, where a mug stands in the sink.")])], 0,
            vec!["warning  reply       the model did not choose one of the three actions", "chat template"]),
    ];
    block_on(async {
        for (name, role_args, scripts, code, words) in cases {
            // The requests before it: one token, a stream, and four seeds.
            let before = std::iter::repeat_n(long.clone(), 6);
            let server = Server::start([models()].into_iter().chain(before).chain(scripts).collect()).await;
            let home = Home::new();
            let args = ["doctor", role_args[0], role_args[1], "--base-url", &server.base];
            // An address alone is enough to check a server for the actor.
            let args = if role_args == mentor {
                vec!["doctor", "--mentor", role_args[1], "--mentor-base-url", &server.base]
            } else {
                args.to_vec()
            };
            let (actual, output) = home.run(&args, &[]).await;
            assert_eq!(actual, code, "{name}: {output}");
            for words in words {
                assert!(output.contains(words), "{name}: {words}: {output}");
            }
            assert!(!output.contains("ok       reply"), "{name}: {output}");
            assert!(!output.contains("set --set"), "{name}: {output}");
            let line = output.lines().find(|line| line.contains("one token")).unwrap();
            assert!(
                line.contains("its limit of 1 token before") && !line.contains("--set"),
                "{name}: {line}"
            );
        }
    });
}

/// Regression: `doctor` itself said "`retrospect doctor` lists them".
#[test]
fn doctor_does_not_advise_running_doctor() {
    block_on(async {
        let models = plain_response(200, "connection: close\r\n", r#"{"data":[{"id":"other"}]}"#);
        let missing = plain_response(404, "", r#"{"error":{"message":"model tiny not found"}}"#);
        let server = Server::start(vec![models, missing]).await;
        let home = Home::new();
        let (code, output) =
            home.run(&["doctor", "--actor", "openai:tiny", "--base-url", &server.base], &[]).await;
        assert_eq!(code, 1, "{output}");
        assert!(
            output.contains("check that the server has the model \"tiny\"") && output.contains("other"),
            "{output}"
        );
        assert!(!output.contains("`retrospect doctor`"), "{output}");
    });
}

/// After a failed call, a person uses a recorded reply, and later another model. No key appears in the session or in
/// anything exported from it.
#[test]
fn after_a_failed_call_a_recorded_reply_or_another_model_continues() {
    block_on(async {
        let home = Home::new();
        let task = ["run", "--task", "easy/put/1", "--method", "react", "--set", "examples=1"];
        let run_args = |base: &str, extra: &[&str]| -> Vec<String> {
            let address = ["--base-url", base];
            let all = task.iter().chain(&address).chain(extra);
            all.map(|s| (*s).to_owned()).collect()
        };
        let run_program = |args: Vec<String>, lines: &'static str| {
            let home = &home;
            async move {
                home.run_with_input(&args.iter().map(String::as_str).collect::<Vec<_>>(), &[], lines).await
            }
        };
        let first = Server::start(vec![complete_reply("inventory"), complete_reply("look")]).await;
        let recording = run_args(&first.base, &["--actor", "openai:small", "--max-steps", "2", "--headless"]);
        let (code, output) = run_program(recording, "").await;
        assert_eq!(code, 0, "{output}");
        let name = std::fs::read_dir(home.path("sessions")).unwrap().flatten().next().unwrap().file_name();
        let name = name.to_str().unwrap().to_owned();
        let unauthorized =
            plain_response(401, "", &json!({"error": {"message": format!("wrong key {KEY}")}}).to_string());
        let second =
            Server::start(vec![unauthorized.clone(), unauthorized, complete_reply("go to cabinet 1")]).await;
        let args = run_args(&second.base, &["--actor", "openai:small", "--plain"]);
        let lines: &'static str = Box::leak(
            format!(
                "recorded nobody\nrecorded cache\nrecorded {name}\nstep\nmodel openai:big\nretry\nprompt\nquit\n"
            )
            .into_boxed_str(),
        );
        let (code, output) = run_program(args, lines).await;
        assert_eq!(code, 0, "{output}");
        for words in [
            "FAILED",
            "401",
            "no session named",
            "no cached reply of",
            &format!("recorded reply from session {name}"),
            "1 > inventory",
            "run changed: react, actor openai:big",
            "go to cabinet 1",
            "[changed in the request] top_k 50",
        ] {
            assert!(output.contains(words), "{words}: {output}");
        }
        let models: Vec<Value> = second.requests().iter().map(|a| a.body["model"].clone()).collect();
        assert_eq!(models, ["small", "small", "big"]);
        for format in ["html", "markdown", "json"] {
            let (code, page) = home.run(&["export", &home.newest_session(), "--format", format], &[]).await;
            assert_eq!(code, 0, "{page}");
            assert!(
                page.contains(&name) && page.contains("recorded"),
                "{format}: the source of the reply is named"
            );
        }
        let (code, output) = home.run(&["verify", &home.newest_session()], &[]).await;
        assert_eq!(code, 0, "{output}");
        home.run_files();
    });
}

/// Sampling parameters changed at a fork are in the body of the next request, stay after a resume, and are named where
/// branches are listed and compared.
#[test]
fn sampling_changed_at_a_fork_is_sent_and_stays() {
    block_on(async {
        let home = Home::new();
        let replies = ["inventory", "look", "go to cabinet 1", "look", "inventory"];
        let server = Server::start(replies.iter().map(|text| complete_reply(text)).collect()).await;
        let args = ["run", "--task", "easy/put/1", "--method", "react", "--set", "examples=1", "--plain"];
        let model_args = ["--actor", "openai:small", "--base-url", &server.base, "--set", "actor.top_p=0.7"];
        let args: Vec<&str> = args.into_iter().chain(model_args).collect();
        let lines = "set actor.temperature hot\nset mentor.temperature 1\nstep\nstep\nfork 1\nset actor.temperature 0.7\n\
                     set actor.max_tokens 64\nset actor.top_p off\nset actor.seed 9\nstep\nprompt\nquit\n";
        let (code, output) = home.run_with_input(&args, &[], lines).await;
        assert_eq!(code, 0, "{output}");
        for words in [
            "expected a number, at least 0",
            "symbolic rules call no model",
            "temperature 0.7 (by a person)",
            "top_p off (by a person)",
        ] {
            assert!(output.contains(words), "{words}: {output}");
        }
        let (code, output) =
            home.run_with_input(&["resume", &home.newest_session(), "--plain"], &[], "step\nquit\n").await;
        assert_eq!(code, 0, "{output}");
        let requests = server.requests();
        let sampling_of =
            |body: &Value| ["temperature", "max_tokens", "top_p"].map(|name| body[name].clone());
        let bodies: Vec<_> = requests.iter().map(|a| sampling_of(&a.body)).collect();
        // Three calls before the fork, one on the branch, one after the resume.
        let (profiles, chosen) = ([json!(0.0), json!(256), json!(0.7)], [json!(0.7), json!(64), Value::Null]);
        assert_eq!(bodies, [profiles.clone(), profiles.clone(), profiles, chosen.clone(), chosen]);
        assert_ne!(requests[1].body["seed"], requests[3].body["seed"], "the same step has another seed");
        let newest = home.newest_session();
        let (code, output) =
            home.run(&["diff", &format!("{newest}@trunk"), &format!("{newest}@b1")], &[]).await;
        assert!(code == 0 && output.contains("actor temperature"), "{output}");
        let (code, output) = home.run(&["verify", &newest], &[]).await;
        assert_eq!(code, 0, "{output}");
        home.run_files();
    });
}
