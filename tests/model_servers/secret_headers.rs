//! Secrets in configured headers: if a server echoes a part of one, it appears neither on the screen nor on standard
//! error nor in any file.

use crate::files;
use crate::server::{self, Server, plain_response};
use serde_json::json;
use std::process::Command;

struct Case {
    header: &'static str,
    /// The header as sent.
    sent: (&'static str, &'static str),
    /// What the server echoes, which must not be shown anywhere.
    secrets: &'static [&'static str],
}

const CASES: [Case; 6] = [
    Case {
        header: "Authorization: Bearer sk-secret-123456",
        sent: ("authorization", "Bearer sk-secret-123456"),
        secrets: &["sk-secret-123456"],
    },
    Case {
        header: "authorization: Token $MY_TOKEN",
        sent: ("authorization", "Token tok-from-env-77"),
        secrets: &["tok-from-env-77"],
    },
    Case {
        header: "Authorization: Basic c29tZW9uZTpodW50ZXIyMg==",
        sent: ("authorization", "Basic c29tZW9uZTpodW50ZXIyMg=="),
        secrets: &["c29tZW9uZTpodW50ZXIyMg", "hunter22"],
    },
    Case {
        header: "Cookie: theme=q; session=${MY_TOKEN}; id=cookie-id-9",
        sent: ("cookie", "theme=q; session=tok-from-env-77; id=cookie-id-9"),
        secrets: &["tok-from-env-77", "cookie-id-9"],
    },
    Case {
        header: "User-Agent: me/$MY_TOKEN",
        sent: ("user-agent", "me/tok-from-env-77"),
        secrets: &["tok-from-env-77"],
    },
    Case { header: "--profile", sent: ("x-proxy", "Bearer sk-profile-4242"), secrets: &["sk-profile-4242"] },
];

/// Regression: only the whole value was redacted, not its parts; and with a key set as well, two headers of one name
/// were sent.
#[test]
fn an_echoed_part_of_a_header_is_shown_nowhere() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        for case in CASES {
            let words =
                format!("Incorrect secret provided: {}. Type: application/json", case.secrets.join(" and "));
            let answer = plain_response(401, "", &json!({"error": {"message": words}}).to_string());
            let server = Server::start(vec![answer]).await;
            let home = tempfile::tempdir().unwrap();
            let config = home.path().join("config");
            std::fs::create_dir(&config).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
            command.args([
                "run",
                "--task",
                "easy/put/1",
                "--method",
                "react",
                "--actor",
                "openai:m",
                "--headless",
            ]);
            command.args(["--base-url", &server.base, "--cache", "read-write"]);
            if case.header == "--profile" {
                // The configuration file is the person's own; check what is derived from it.
                let profile = "[models.mine.headers]\nX-Proxy = \"Bearer $PROFILE_SECRET\"\n";
                std::fs::write(config.join("config.toml"), profile).unwrap();
                command.args(["--profile", "mine"]);
            } else {
                command.args(["--header", case.header]);
            }
            command.current_dir(home.path()).env_clear().env("HOME", home.path());
            command
                .env("RETROSPECT_CONFIG_DIR", &config)
                .env("RETROSPECT_SESSIONS", home.path().join("sessions"));
            command
                .env("RETROSPECT_CACHE_DIR", home.path().join("cache"))
                .env("OPENAI_API_KEY", "sk-beside-0123456789");
            command.env("MY_TOKEN", "tok-from-env-77").env("PROFILE_SECRET", "sk-profile-4242");
            let finished = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
            let output = String::from_utf8([finished.stdout, finished.stderr].concat()).unwrap();
            assert_eq!(finished.status.code(), Some(3), "{}: {output}", case.header);
            let mut outputs = vec![("the screen".to_owned(), output)];
            outputs.extend(
                files::files_below(home.path())
                    .into_iter()
                    .map(|(path, text)| (path.display().to_string(), text)),
            );
            for (location, text) in &outputs {
                for secret in case.secrets.iter().chain(&["sk-beside-0123456789"]) {
                    assert!(!text.contains(secret), "{}: {secret} is in {location}: {text}", case.header);
                }
            }
            let journal = outputs.iter().find(|f| f.0.ends_with("trunk.jsonl")).unwrap();
            assert!(journal.1.contains("provided: [hidden]"), "{}: {}", case.header, journal.1);
            assert!(journal.1.contains("Type: application/json"), "ordinary words stay: {}", journal.1);
            let requests = server.requests();
            let (name, value) = case.sent;
            assert_eq!(requests[0].headers.get(name).map(String::as_str), Some(value), "{}", case.header);
            let sends_key = name != "authorization";
            assert_eq!(
                requests[0].headers["authorization"] == "Bearer sk-beside-0123456789",
                sends_key,
                "{}",
                case.header
            );
            let names = requests[0].names.iter().filter(|n| *n == name).count();
            assert_eq!(names, 1, "one header per name: {}", case.header);
        }
    });
}

/// Checks every verb and every file of a run whose server echoes the key in text, reasoning, finish reason and errors.
/// Regression: 28 of the key's 43 characters remained in an error that was truncated for display.
#[test]
fn no_verb_and_no_file_shows_an_echoed_key() {
    const SECRET: &str = "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE";
    let hex = SECRET.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().concat();
    let encodings = [
        // Base64 of "user:" and the key.
        "dXNlcjpzay1SM2FsMG5lUTd2WHc5VHpCNG1LOHBMMmNENmZIMWpONXNHMHlBdUU=".to_owned(),
        SECRET.to_owned(),
        hex,
    ];
    let event = |value: serde_json::Value| format!("data: {value}\n\n");
    let delta = |value: serde_json::Value| event(json!({"choices": [{"index": 0, "delta": value}]}));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        for encoded in &encodings {
            let (front, back) = encoded.split_at(encoded.len() / 3);
            let finish = event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": encoded}]}));
            let good = [
                delta(json!({"reasoning": front})),
                delta(json!({"reasoning": back})),
                delta(json!({"content": format!("go to fridge 1 {front}")})),
                delta(json!({"content": back})),
                finish.clone(),
            ]
            .concat();
            let long = format!("{}{encoded}", "x ".repeat(136));
            let failing = event(json!({"error": {"message": long, "code": 400}}));
            let models =
                plain_response(200, "", &json!({"data": [{"id": encoded}, {"id": "m"}]}).to_string());
            let scripts = vec![
                server::stream(good.as_bytes()),
                server::stream(finish.as_bytes()),
                server::stream(failing.as_bytes()),
            ];
            let server = Server::start(scripts).await;
            let other = Server::start(vec![models, server::stream(good.as_bytes())]).await;
            let home = tempfile::tempdir().unwrap();
            let mut outputs: Vec<(String, String)> = Vec::new();
            let run = [
                "run",
                "--task",
                "easy/put/1",
                "--method",
                "react",
                "--mentor",
                "none",
                "--actor",
                "openai:m",
                "--max-steps",
                "4",
            ];
            let first = [&run[..], &["--json", "--cache", "read-write", "--base-url", &server.base]].concat();
            let doctor = ["doctor", "--actor", "openai:m", "--base-url", &other.base];
            let verbs: Vec<Vec<&str>> = vec![
                first,
                doctor.to_vec(),
                [&doctor[..], &["--json"]].concat(),
                vec!["sessions", "--json"],
                vec!["open", "--last"],
                vec!["open", "--last", "--json"],
                vec!["report", "--last", "-f", "markdown"],
                vec!["export", "--last", "-f", "text"],
                vec!["export", "--last", "-f", "markdown"],
                vec!["export", "--last", "-f", "json"],
                vec!["export", "--last", "-f", "html"],
                vec!["config", "show", "--json"],
            ];
            for args in verbs {
                let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
                command.args(&args).current_dir(home.path()).env_clear().env("HOME", home.path());
                command.env("RETROSPECT_CONFIG_DIR", home.path().join("config"));
                command.env("RETROSPECT_SESSIONS", home.path().join("sessions"));
                command.env("RETROSPECT_CACHE_DIR", home.path().join("cache")).env("OPENAI_API_KEY", SECRET);
                let finished = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
                outputs.push((
                    format!("{args:?}"),
                    String::from_utf8([finished.stdout, finished.stderr].concat()).unwrap(),
                ));
            }
            let files = files::files_below(home.path());
            assert!(
                files.iter().any(|(path, _)| path.starts_with(home.path().join("cache"))),
                "a reply was cached"
            );
            outputs.extend(files.into_iter().map(|(path, text)| (path.display().to_string(), text)));
            for (location, text) in &outputs {
                for encoding in encodings.iter().map(|f| f.trim_end_matches('=')) {
                    // The Base64 characters in the middle have bits of both the name and the key.
                    let key_part = if encoding.starts_with("dXNlcj") {
                        &encoding[8..encoding.len() - 1]
                    } else {
                        encoding
                    };
                    let shown =
                        (0..=key_part.len() - 8).map(|at| &key_part[at..at + 8]).find(|w| text.contains(w));
                    assert_eq!(shown, None, "{encoded} in {location}: {text}");
                }
            }
            let journal = outputs.iter().find(|f| f.0.ends_with("trunk.jsonl")).unwrap();
            assert!(
                journal.1.contains("go to fridge 1 [hidden]") || journal.1.contains("dXNlcjp"),
                "{}",
                journal.1
            );
        }
    });
}

/// Regression: a key in a lesson was journaled, and so was sent to the server and written into exports with every
/// prompt.
#[test]
fn text_with_the_key_is_not_journaled() {
    use std::io::Write as _;
    const SECRET: &str = "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE";
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("once.toml"), "[models.once]\nretries = 0\n").unwrap();
    let run_program = |args: &[&str], input: &str| {
        let run =
            ["run", "--task", "easy/put/1", "--method", "react", "--mentor", "none", "--actor", "openai:m"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command
            .args(run)
            .args(["--config", "once.toml", "--profile", "once"])
            .args(["--base-url", "http://127.0.0.1:9/v1"])
            .args(args)
            .current_dir(home.path());
        command.env_clear().env("HOME", home.path()).env("RETROSPECT_CONFIG_DIR", home.path().join("config"));
        command.env("RETROSPECT_SESSIONS", home.path().join("sessions")).env("OPENAI_API_KEY", SECRET);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let finished = child.wait_with_output().unwrap();
        (finished.status.code(), String::from_utf8([finished.stdout, finished.stderr].concat()).unwrap())
    };
    std::fs::write(home.path().join("lessons.txt"), format!("Log in with {SECRET} first.\n")).unwrap();
    let (code, output) = run_program(&["--constitution", "lessons.txt", "--headless"], "");
    assert_eq!(code, Some(1), "{output}");
    assert!(
        output.contains("lessons.txt contains the API key of a model server") && !output.contains(SECRET),
        "{output}"
    );
    std::fs::remove_file(home.path().join("lessons.txt")).unwrap();
    let (_, output) =
        run_program(&["--plain"], &format!("lesson Log in with {SECRET}.\nlesson Look first.\nquit\n"));
    assert!(output.contains("this text contains the key of a model server"), "{output}");
    let files = files::files_below(home.path());
    assert!(files.iter().any(|(_, text)| text.contains("Look first.")), "{output}");
    for (path, text) in files {
        assert!(!text.contains(SECRET), "{}: {text}", path.display());
    }
}
