//! Hostile text (terminal control sequences, markup) in every field of a session, a pool and a command line: all verbs
//! must print it harmlessly on both outputs. The outputs here are pipes, not terminals.

use crate::{Home, ProgramOutput};
use serde_json::Value;
use std::path::Path;

/// CSI, OSC, BEL, C1, DEL, backspace, bidirectional overrides, separators, a zero-width space, line breaks, HTML and
/// Markdown.
const HOSTILE: &str = "\u{1b}[31mx\u{1b}]0;t\u{7}\u{9b}2J\u{90}q\u{7f}\u{85}\u{8}\u{202e}\u{2066}\u{2028}\u{200b}\r\nROW | <script>x</script>\
                       <img src=q onerror=x> [l](javascript:x) `*_";

/// Returns the first character that must not be printed.
fn first_control_char(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    })
}

fn assert_harmless(command: &str, output: &ProgramOutput) {
    for (stream, text) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        if let Some(c) = first_control_char(text) {
            let at = text.find(c).unwrap();
            let before: String =
                text[..at].chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
            panic!("{command}: {c:?} in {stream} after {before:?}");
        }
    }
}

/// Returns the hostile text escaped for a TOML string.
fn toml_text() -> String {
    HOSTILE.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect::<Vec<_>>().concat()
}

/// Appends the text to every value that a person, a model or an environment may have written.
fn insert_hostile_text(value: &mut Value, key: &str) {
    const NAMES: [&str; 4] = ["goal", "actor", "mentor", "task_type"];
    match value {
        Value::String(text)
            if text.contains(' ') || NAMES.contains(&key) || (key == "id" && text.contains('/')) =>
        {
            text.push_str(HOSTILE);
        }
        Value::Array(all) => all.iter_mut().for_each(|v| insert_hostile_text(v, key)),
        Value::Object(all) => all.iter_mut().for_each(|(k, v)| insert_hostile_text(v, k)),
        _ => {}
    }
}

/// Creates a copy of a recorded session with the hostile text inserted.
fn hostile_session(home: &Home, name: &str) -> String {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded_sessions").join(name);
    let to = home.path("sessions").join(name);
    std::fs::create_dir_all(to.join("branches")).unwrap();
    for entry in std::fs::read_dir(from.join("branches")).unwrap() {
        let entry = entry.unwrap();
        let mut lines = String::new();
        for line in std::fs::read_to_string(entry.path()).unwrap().lines() {
            let mut value: Value = serde_json::from_str(line).unwrap();
            insert_hostile_text(&mut value, "");
            lines.extend([value.to_string(), "\n".to_owned()]);
        }
        std::fs::write(to.join("branches").join(entry.file_name()), lines).unwrap();
    }
    let escaped = toml_text();
    let meta = std::fs::read_to_string(from.join("meta.toml")).unwrap();
    let meta = meta.lines().map(|line| match line.split_once(" = \"") {
        Some(("actor" | "title", _)) => {
            format!("{}{escaped}\"", line.trim_end_matches('"'))
        }
        _ => line.to_owned(),
    });
    std::fs::write(to.join("meta.toml"), meta.collect::<Vec<_>>().join("\n")).unwrap();
    name.to_owned()
}

/// Regression: a piped report contained the escapes of a task's name, and piped JSON the C1 controls.
#[test]
fn every_verb_prints_hostile_sessions_harmlessly() {
    let home = Home::new();
    let names = ["household-interventions", "household-omnireflect-neural", "household-reflexion-two-trials"];
    let sessions: Vec<String> = names.iter().map(|name| hostile_session(&home, name)).collect();
    let run_checked = |args: &[&str]| {
        let output = home.run(args);
        assert_harmless(&format!("{args:?}"), &output);
        assert!([0, 1, 2].contains(&output.code), "{args:?}: {} {}", output.code, output.stderr);
        output
    };
    let listed = run_checked(&["sessions"]).assert_success();
    assert_eq!(listed.stdout.lines().count(), sessions.len(), "one row per session: {}", listed.stdout);
    run_checked(&["sessions", "--json"]).assert_success().json_lines();
    run_checked(&["doctor"]);
    for s in &sessions {
        let s = s.as_str();
        run_checked(&["open", s]).assert_success();
        run_checked(&["open", s, "--json"]).assert_success().json_lines();
        run_checked(&["verify", s]);
        run_checked(&["verify", s, "--json"]).json_lines();
        run_checked(&["report", s]).assert_success();
        run_checked(&["report", s, "--json"]).assert_success().json_lines();
        let markdown = run_checked(&["report", s, "-f", "markdown"]).assert_success();
        assert!(!markdown.stdout.contains('<'), "no HTML: {}", markdown.stdout);
        let rows = markdown.stdout.lines().filter(|l| l.starts_with('|'));
        assert!(rows.clone().count() > 3 && rows.clone().all(|l| l.ends_with('|')), "{}", markdown.stdout);
        for format in ["text", "markdown", "json", "html", "svg", "cast-svg"] {
            let output = run_checked(&["export", s, "--format", format]).assert_success();
            match format {
                "json" => drop(serde_json::from_str::<Value>(&output.stdout).unwrap()),
                "html" | "svg" | "cast-svg" => {
                    assert!(
                        !output.stdout.contains("<script>x") && !output.stdout.contains("<img"),
                        "{}",
                        output.stdout
                    );
                }
                _ => {}
            }
        }
        let lessons = run_checked(&["lessons", "list", s, "--all"]).assert_success();
        let as_json = run_checked(&["lessons", "list", s, "--all", "--json"]).assert_success();
        assert_eq!(
            lessons.stdout.lines().count(),
            as_json.json_lines().len(),
            "one row per lesson: {}",
            lessons.stdout
        );
        for format in ["text", "markdown", "pool"] {
            let output = run_checked(&["lessons", "export", s, "--format", format]).assert_success();
            assert!(format != "markdown" || !output.stdout.contains('<'), "no HTML: {}", output.stdout);
        }
        run_checked(&["lessons", "promote", s]);
        run_checked(&["rerun", &format!("{s}#1"), "--headless"]);
        run_checked(&["diff", s, &sessions[0]]);
        run_checked(&["diff", s, &sessions[1], "--json"]);
    }
    run_checked(&["lessons", "list"]).assert_success();
    run_checked(&["lessons", "export"]).assert_success();
    let page = home.path("page.html");
    let page = page.to_str().unwrap();
    run_checked(&["export", &sessions[0], "--format", "html", "--out", page]).assert_success();
    let text = std::fs::read_to_string(page).unwrap();
    assert_eq!(first_control_char(&text), None, "the page");
    run_checked(&["open", page]).assert_success();
}

#[test]
fn every_verb_prints_hostile_input_harmlessly() {
    let home = Home::new();
    // Command lines cannot contain zero bytes, and each line of `--plain` ends at a line break.
    let word = HOSTILE;
    let run_checked = |args: &[&str], input: &str| {
        let output = home.run_with_input(args, input);
        assert_harmless(&format!("{args:?}"), &output);
        output
    };
    run_checked(&["lessons", "add", word], "").assert_success();
    run_checked(&["lessons", "edit", "1", &format!("{word} {word}")], "").assert_success();
    let line = word.replace(['\n', '\r'], " ");
    let inputs = format!("go to fridge 1 {line}\n{line}\nlook\n");
    run_checked(&["play", "--task", "easy/put/1"], &inputs).assert_success();
    run_checked(&["play", "--task", "easy/put/1", "--json"], &inputs).assert_success().json_lines();
    let human =
        ["run", "--task", "easy/put/1", "--mentor", "none", "--max-steps", "3", "--pool", "pool.jsonl"];
    let person = format!("override {line}\nlesson {line} -> {line}\nnote {line}\nn\nn\nquit\n");
    run_checked(&[&human[..], &["--plain"]].concat(), &person);
    run_checked(&[&human[..], &["--json"]].concat(), "");
    run_checked(&[&human[..], &["--headless", "--set", &format!("{line}=1")]].concat(), "");
    for args in [
        vec!["open", word],
        vec!["export", word],
        vec!["report", word],
        vec!["diff", word, word],
        vec!["verify", word],
        vec!["resume", word],
        vec!["rerun", word],
        vec![word],
        vec!["run", "--task", word],
        vec!["run", "--env", word],
        vec!["run", "--actor", word],
        vec!["run", "--actor", "openai:m", "--base-url", word],
        vec!["run", "--pool", word],
        vec!["run", "--constitution", word],
        vec!["run", "--break", word],
        vec!["run", "--preset", word],
        vec!["tasks", "--env", word],
        vec!["play", "--task", word],
        vec!["lessons", "list", word],
        vec!["lessons", "import", word],
        vec!["calibrate", "--method", word],
        vec!["doctor", "--actor", "openai:m", "--base-url", word],
        vec!["config", "show", "--set", word],
        vec!["demo", word],
    ] {
        let output = run_checked(&args, "");
        assert_ne!(output.code, 0, "{args:?}");
        run_checked(&[&args[..], &["--json"]].concat(), "");
    }
    std::fs::create_dir_all(home.path("config")).unwrap();
    let escaped = toml_text();
    for config in [
        format!("[run]\nactor = \"{escaped}\"\n"),
        format!(
            "[run]\nbase_url = \"{escaped}\"\n[preset.\"{escaped}\"]\nr_freq = 3\n[models.\"{escaped}\"]\ntop_k = 1\n"
        ),
        format!("[run]\nenv = \"{escaped}\"\n"),
        format!("# {word}\n[run\n{word}"),
    ] {
        std::fs::write(home.path("config/config.toml"), config).unwrap();
        for args in [
            &["config", "show"][..],
            &["config", "show", "--json"],
            &["doctor"],
            &["doctor", "--json"],
            &["tasks"],
        ] {
            run_checked(args, "");
        }
    }
}

/// Regression: `config show` and other messages showed a password inside an address.
#[test]
fn a_password_in_a_base_url_is_shown_nowhere() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("config")).unwrap();
    for url in ["http://me:s3cr3t-pass@127.0.0.1:9/v1", "http://127.0.0.1:9/v1?api-key=s3cr3t-pass"] {
        let config = format!("[run]\nbase_url = \"{url}\"\nmentor_base_url = \"{url}\"\n");
        std::fs::write(home.path("config/config.toml"), config).unwrap();
        for args in [
            &["config", "show"][..],
            &["config", "show", "--json"],
            &["doctor"],
            &["doctor", "--json"],
            &["doctor", "--actor", "openai:m"],
            &["run", "--task", "easy/put/1", "--actor", "openai:m", "--headless"],
            &["run", "--task", "easy/put/1", "--actor", "openai:m", "--mentor", "openai:m", "--json"],
            &["run", "--task", "easy/put/1", "--actor", "openai:m", "--base-url", url, "--headless"],
            &["sessions", "--json"],
        ] {
            let output = home.run(args);
            let all = output.stdout + &output.stderr;
            assert!(!all.contains("s3cr3t-pass"), "{args:?}: {all}");
        }
        let shown = home.run(&["config", "show"]).assert_success().stdout;
        assert!(shown.contains("127.0.0.1:9/v1") && shown.contains("[hidden]"), "{shown}");
    }
    if home.path("sessions").exists() {
        for (path, text) in crate::files::files_below(&home.path("sessions")) {
            assert!(!text.contains("s3cr3t-pass"), "{}: {text}", path.display());
        }
    }
}
