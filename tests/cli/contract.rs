//! Checks what scripts and old sessions rely on. Names, fields and exit codes may be added but not removed. The
//! recorded sessions were written by version 0.1 before its vocabulary changed; every later version opens, verifies and
//! resumes them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the program in an empty home folder, isolated from the machine.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear().env("HOME", self.0.path());
        command.env("RETROSPECT_SESSIONS", self.0.path().join("sessions"));
        command
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A closed pipe is fine: the program may end without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Returns the standard output of a command that must succeed.
    fn stdout_of(&self, args: &[&str]) -> String {
        let output = self.run(args, b"");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{out}\n{err}");
        out.into_owned()
    }
}

fn data_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Returns the lists of `names.txt` by heading.
fn frozen_names() -> BTreeMap<String, Vec<String>> {
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in fs::read_to_string(data_path("contract/names.txt")).unwrap().lines() {
        if let Some(heading) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            heading.clone_into(&mut section);
        } else if !line.is_empty() && !line.starts_with('#') {
            sections.entry(section.clone()).or_default().push(line.to_owned());
        }
    }
    sections
}

/// Returns whether a text contains a name as a separate word.
fn has_word(text: &str, name: &str) -> bool {
    let is_word_char = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_separate =
        |at: usize| !text[..at].ends_with(is_word_char) && !text[at + name.len()..].starts_with(is_word_char);
    text.match_indices(name).any(|(at, _)| is_separate(at))
}

#[test]
fn no_flag_disappears() {
    let (home, names) = (Home::new(), frozen_names());
    for line in &names["flags"] {
        let (verb, flags) = line.split_once(": ").unwrap();
        let args: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = home.stdout_of(&args);
        for flag in flags.split(' ') {
            assert!(has_word(&help, flag), "{verb} has no {flag} any more:\n{help}");
        }
    }
}

#[test]
fn no_setting_method_profile_or_preset_disappears() {
    let (home, names) = (Home::new(), frozen_names());
    let shown = home.stdout_of(&["config", "show"]);
    for name in names["configuration"].iter().chain(&names["settings"]) {
        let row = shown.lines().any(|l| l.split_whitespace().next() == Some(name));
        assert!(row, "config show has no {name} any more");
    }
    for name in &names["profiles"] {
        assert!(has_word(&shown, name), "there is no profile {name} any more");
    }
    let help = home.stdout_of(&["run", "--help"]);
    for name in names["methods"].iter().chain(&names["presets"]) {
        assert!(has_word(&help, name), "run --help does not name {name} any more");
    }
}

#[test]
fn every_environment_variable_has_an_effect() {
    let home = Home::new();
    for line in &frozen_names()["environment"] {
        let (variable, key) = line.split_once(": ").unwrap();
        let shown = home.command(&["config", "show"]).env(variable, sample_value(key)).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        let row = text.lines().find(|l| l.split_whitespace().next() == Some(key));
        let row = row.unwrap_or_else(|| {
            panic!("{variable}: no row {key}\n{text}{}", String::from_utf8_lossy(&shown.stderr))
        });
        assert!(row.contains(&format!("${variable}")), "{variable} does not set {key}: {row}");
    }
}

/// Returns a valid value of a configuration key that is not its default.
fn sample_value(key: &str) -> &'static str {
    match key {
        "run.env" => "babyai",
        "run.method" => "react",
        "run.interface" => "raw",
        "run.as" => "code",
        "run.seed" | "run.trials" => "3",
        "run.on_error" => "skip-task",
        "run.base_url" | "run.mentor_base_url" => "http://127.0.0.1:9/v1",
        "run.api" => "completions",
        "run.cache" => "read",
        "run.prefetch" => "true",
        "run.headers" => "X-Team: a",
        "run.breaks" => "lost",
        "screen.theme" => "paper",
        "screen.glyphs" => "ascii",
        "screen.motion" | "screen.mouse" | "screen.hints" => "false",
        "override.shown_as" => "own",
        "override.thought" => "kept",
        "pddl.goal" => "blank",
        _ => "something",
    }
}

#[test]
fn play_output_is_byte_identical() {
    let home = Home::new();
    let cases: [(&str, &[&str]); 3] = [
        ("household", &["--env", "household", "--task", "easy/heat/23"]),
        ("babyai", &["--env", "babyai", "--task", "GoToRedBall", "--seed", "7"]),
        ("pddl", &["--env", "pddl", "--task", "gripper/3"]),
    ];
    for (name, task) in cases {
        let input = fs::read(data_path(&format!("contract/{name}.in"))).unwrap();
        let expected = fs::read_to_string(data_path(&format!("contract/{name}.out"))).unwrap();
        let output = home.run(&[&["play", "--json"], task].concat(), &input);
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}");
    }
}

/// The fields that each line of `run --json` keeps; fields may be added.
const RUN_FIELDS: &[(&str, &str)] = &[
    ("run", "actor env interface max_steps mentor method name path seed seq settings tasks trials type"),
    (
        "episode_start",
        "admissible episode goal observation progress role seq task task_type trial type world",
    ),
    (
        "step",
        "action admissible by done episode observation progress proposed reward seq step thought type valid won world",
    ),
    ("reflection", "author episode items kind seq step type"),
    (
        "episode_end",
        "assisted calls episode moves progress reason seq spent steps task tokens trial type won",
    ),
    (
        "summary",
        "assisted by_difficulty calls counted ended episodes grounding_accuracy lessons moves paths progress_rate solved \
         spent steps success_rate tasks tokens type won",
    ),
];

#[test]
fn run_lines_keep_their_fields() {
    let home = Home::new();
    let args = ["run", "--task", "easy/heat/23", "--method", "omnireflect", "--max-steps", "12"];
    let output = home.stdout_of(&[&args[..], &["--headless", "--json"]].concat());
    let lines: Vec<Value> = output.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let mut kinds = BTreeSet::new();
    for line in &lines {
        let kind = line["type"].as_str().unwrap();
        kinds.insert(kind);
        let (_, fields) = RUN_FIELDS.iter().find(|(k, _)| *k == kind).unwrap_or_else(|| panic!("{kind}"));
        for field in fields.split_whitespace() {
            assert!(line.get(field).is_some(), "a line of type {kind} has no {field}: {line}");
        }
    }
    assert_eq!(kinds.len(), RUN_FIELDS.len(), "{kinds:?}");
}

#[test]
fn exit_codes_keep_their_meaning() {
    let home = Home::new();
    fs::write(home.0.path().join("once.toml"), "[models.once]\nretries = 0\n").unwrap();
    let no_server = ["run", "--actor", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--headless"];
    let cases: &[(i32, &[&str])] = &[
        (0, &["run", "--task", "easy/heat/23", "--max-steps", "2", "--headless"]),
        (0, &["tasks", "--env", "babyai", "--only", "1"]),
        (1, &["verify", "no-such-session"]),
        (2, &["run", "--no-such-flag"]),
        (2, &["run", "--method", "no-such-method"]),
        (2, &["no-such-verb"]),
        // No server answers there: the error policy stops the run, which can be resumed.
        (3, &[&no_server[..], &["--config", "once.toml", "--profile", "once"]].concat()),
    ];
    for (code, args) in cases {
        assert_eq!(home.run(args, b"").status.code(), Some(*code), "{args:?}");
    }
    let error = home.run(&["play", "--json", "--env", "no-such-env"], b"");
    let line: Value = serde_json::from_slice(&error.stdout).unwrap();
    for field in ["kind", "message", "hint"] {
        assert!(line["error"][field].is_string(), "{line}");
    }
}

/// The sessions of version 0.1, and whether their run was over.
const RECORDED: &[(&str, bool)] = &[
    ("babyai-agentboard", true),
    ("household-fcrf", true),
    ("household-fork", false),
    ("household-interventions", false),
    ("household-killed", false),
    ("household-omnireflect-neural", true),
    ("household-omnireflect-symbolic", true),
    ("household-reflexion-two-trials", true),
    ("pddl-react", true),
    ("pddl-sweet-sour", true),
];

#[test]
fn recorded_sessions_open_verify_and_resume() {
    let found = fs::read_dir(data_path("recorded_sessions")).unwrap().count();
    assert_eq!(found, RECORDED.len());
    for (name, over) in RECORDED {
        let home = Home::new();
        let session = home.0.path().join("sessions").join(name);
        copy_folder(&data_path("recorded_sessions").join(name), &session);
        let path = session.to_str().unwrap();
        let before = branch_lines(&session);
        assert!(home.stdout_of(&["open", path]).lines().count() > 10, "{name}");
        for format in ["json", "markdown", "html"] {
            assert!(home.stdout_of(&["export", path, "--format", format]).len() > 1000, "{name} {format}");
        }
        home.stdout_of(&["verify", path]);
        let json: Value = serde_json::from_str(&home.stdout_of(&["verify", path, "--json"])).unwrap();
        assert_eq!(json["problems"], serde_json::json!([]), "{name}");
        // The built-in templates may have changed since; `--accept-prompts` accepts that.
        home.stdout_of(&["resume", path, "--headless", "--accept-prompts"]);
        let after = branch_lines(&session);
        assert!(after.len() >= before.len() && after[..before.len()] == before[..], "{name}: history stays");
        let steps = |lines: &[String]| lines.iter().filter(|l| l.contains(r#""type":"observed""#)).count();
        assert_eq!(steps(&after) == steps(&before), *over, "{name}: a run continues unless it was over");
        home.stdout_of(&["verify", path]);
    }
}

/// Returns the lines of the branch that is resumed: the first fork if there is one, else the trunk.
fn branch_lines(session: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(session.join("branches")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "jsonl") && !f.ends_with("labels.jsonl"));
    // `b1.jsonl` sorts before `trunk.jsonl`.
    files.sort();
    let text = fs::read_to_string(&files[0]).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
