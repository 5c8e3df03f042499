//! Secrets in headers that a person gives: a server that says a part of one back is not believed, on the screen, on stderr or
//! in any file.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may stop where it is wrong")]

#[path = "rig/files.rs"]
mod files;
#[path = "serving/server.rs"]
mod server;

use serde_json::json;
use server::{Server, plain};
use std::process::Command;

struct Case {
    header: &'static str,
    /// The header as it is sent.
    sent: (&'static str, &'static str),
    /// What the server says back, and nobody may see.
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

/// The whole value was known and its parts were not; with a key beside it, two headers of one name went out.
#[test]
fn a_part_of_a_header_that_is_said_back_is_seen_nowhere() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        for case in CASES {
            let words =
                format!("Incorrect secret provided: {}. Type: application/json", case.secrets.join(" and "));
            let answer = plain(401, "", &json!({"error": {"message": words}}).to_string());
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
                // The file is a person's own; what is made of it is looked at.
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
            let done = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
            let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
            assert_eq!(done.status.code(), Some(3), "{}: {said}", case.header);
            let mut all = vec![("the screen".to_owned(), said)];
            all.extend(
                files::below(home.path()).into_iter().map(|(path, text)| (path.display().to_string(), text)),
            );
            for (place, text) in &all {
                for secret in case.secrets.iter().chain(&["sk-beside-0123456789"]) {
                    assert!(!text.contains(secret), "{}: {secret} is in {place}: {text}", case.header);
                }
            }
            let told = all.iter().find(|f| f.0.ends_with("trunk.jsonl")).unwrap();
            assert!(told.1.contains("provided: [hidden]"), "{}: {}", case.header, told.1);
            assert!(told.1.contains("Type: application/json"), "ordinary words stay: {}", told.1);
            let asked = server.asked();
            let (name, value) = case.sent;
            assert_eq!(asked[0].headers.get(name).map(String::as_str), Some(value), "{}", case.header);
            let key = name != "authorization";
            assert_eq!(
                asked[0].headers["authorization"] == "Bearer sk-beside-0123456789",
                key,
                "{}",
                case.header
            );
            let names = asked[0].names.iter().filter(|n| *n == name).count();
            assert_eq!(names, 1, "one of a name: {}", case.header);
        }
    });
}
