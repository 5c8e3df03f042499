//! The real program: what it prints, as text and as JSON, and how it ends.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail where it stands")]

use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A home of its own for every test, so that nothing of the machine is seen and nothing is left behind.
struct Home(tempfile::TempDir);

struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("RETROSPECT_CONFIG_DIR", self.path("config"));
        command
            .env("RETROSPECT_SESSIONS", self.path("sessions"))
            .env("RETROSPECT_POOL", self.path("pool.jsonl"));
        command
    }

    fn says(&self, args: &[&str], input: &str) -> Said {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that ends without reading its input closes the pipe; that is its right.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let done = child.wait_with_output().unwrap();
        Said {
            code: done.status.code().unwrap_or(-1),
            out: String::from_utf8(done.stdout).unwrap(),
            err: String::from_utf8(done.stderr).unwrap(),
        }
    }

    fn run(&self, args: &[&str]) -> Said {
        self.says(args, "")
    }

    /// The folder of the only session.
    fn session(&self) -> PathBuf {
        let mut found: Vec<_> =
            std::fs::read_dir(self.path("sessions")).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

impl Said {
    fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }

    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    }
}

/// The names of an object's fields in the order in which they are printed.
fn fields(line: &str) -> Vec<String> {
    let (mut names, mut depth, mut rest) = (Vec::new(), 0, line.char_indices());
    let mut name_due = false;
    while let Some((at, c)) = rest.next() {
        match c {
            '{' | '[' => {
                depth += 1;
                name_due = depth == 1;
            }
            '}' | ']' => depth -= 1,
            ',' => name_due = depth == 1,
            '"' => {
                let start = at + 1;
                let mut end = start;
                while let Some((at, c)) = rest.next() {
                    match c {
                        '\\' => {
                            rest.next();
                        }
                        '"' => {
                            end = at;
                            break;
                        }
                        _ => {}
                    }
                }
                if std::mem::take(&mut name_due) {
                    names.push(line[start..end].to_owned());
                }
            }
            _ => {}
        }
    }
    names
}

#[test]
fn every_error_says_what_where_and_what_next() {
    // Arguments, exit code, kind, and words of message and hint.
    let cases: &[(&[&str], i32, &str, &[&str])] = &[
        (&["frob"], 2, "usage", &["frob", "retrospect --help"]),
        (&["run", "--bogus"], 2, "usage", &["--bogus", "retrospect run --help"]),
        (&["run", "--trials", "0"], 2, "usage", &["--trials", "retrospect run --help"]),
        (&["run", "--env", "moon"], 2, "usage", &["--env \"moon\"", "household, alfworld"]),
        (
            &["run", "--task", "normal/boil/1"],
            2,
            "usage",
            &["normal/boil/1", "normal/heat/17", "retrospect tasks"],
        ),
        (
            &["run", "--actor", "openai:gpt"],
            2,
            "usage",
            &["--actor openai:gpt: no model server is known", "--base-url or OPENAI_BASE_URL"],
        ),
        (
            &["run", "--actor", "openai:", "--base-url", "http://127.0.0.1:9/v1"],
            2,
            "usage",
            &["names no model"],
        ),
        (
            &["run", "--actor", "openai:m", "--profile", "mine"],
            2,
            "usage",
            &["no profile \"mine\"", "llamacpp"],
        ),
        (&["run", "--actor", "openai:m", "--profile", "openrouter"], 1, "config", &["OPENROUTER_API_KEY"]),
        (&["run", "--api", "responses"], 2, "usage", &["--api", "chat, completions"]),
        (
            &["run", "--actor", "ghost"],
            2,
            "usage",
            &["no actor \"ghost\"", "openai:MODEL, rules (built in), human, and recorded:SESSION", "--actor"],
        ),
        (&["run", "--mentor", "openai:gpt"], 2, "usage", &["--mentor openai:gpt: no model server is known"]),
        (&["run", "--method", "dreams"], 2, "usage", &["dreams", "react, omnireflect"]),
        (&["run", "--set", "r_frek=5"], 2, "usage", &["did you mean \"r_freq\"?"]),
        (&["run", "--set", "r_freq=often"], 2, "usage", &["a whole number"]),
        (&["run", "--set", "r_freq=5", "--method", "react"], 2, "usage", &["is for omnireflect", "--method"]),
        (&["run", "--set", "context_tokens=4294967296"], 2, "usage", &["from 1 to 16000000"]),
        (&["run", "--set", "max_moves=4294967296"], 2, "usage", &["at most 4294967295"]),
        (&["run", "--preset", "fast"], 2, "usage", &["config.toml", "[preset.fast]"]),
        (&["run", "--preset", "fcrf-1", "--method", "react"], 2, "usage", &["is of fcrf, not of react"]),
        (&["run", "--preset", "omnireflect-3-neural"], 2, "usage", &["made beforehand", "--constitution"]),
        (&["rerun", "somewhere"], 2, "usage", &["names no episode", "--last#3"]),
        (&["report", "nothing"], 1, "session", &["nothing", "retrospect sessions"]),
        (&["run", "--break", "luck=7", "--headless"], 2, "usage", &["luck=7", "step=N"]),
        (
            &["run", "--jobs", "2", "--tasks", "easy/*/1", "--headless"],
            2,
            "usage",
            &["lessons cross", "--method react"],
        ),
        (&["run", "--jobs", "2", "--method", "react"], 2, "usage", &["--headless"]),
        (&["run", "--pool", "none.jsonl", "--headless"], 2, "usage", &["none.jsonl", "lessons add"]),
        (&["run", "--constitution", "none.txt", "--headless"], 1, "file", &["none.txt"]),
        (&["run", "--actor", "human", "--headless"], 2, "usage", &["--plain"]),
        (&["run", "--env", "alfworld", "--headless"], 2, "usage", &["ALFWORLD_DATA is not set", "--data"]),
        (
            &["run", "--env", "alfworld", "--only", "3", "--headless"],
            2,
            "usage",
            &["ALFWORLD_DATA is not set"],
        ),
        (&["run", "--theme", "nope", "--headless"], 2, "usage", &["there is no theme \"nope\"", "--theme"]),
        (&["--theme", "nope", "run", "--headless"], 2, "usage", &["there is no theme \"nope\"", "--theme"]),
        (&["--plain", "tasks"], 2, "usage", &["shows no screen", "leave it out"]),
        (
            &["run", "--env", "alfworld", "--split", "valid_seen", "--headless"],
            2,
            "usage",
            &["ALFWORLD_DATA", "--env household"],
        ),
        (
            &["play", "--env", "alfworld", "--task", "x"],
            2,
            "usage",
            &["no such file or folder", "ALFWORLD_DATA"],
        ),
        (
            &["play", "--task", "easy/put/1", "--tasks", "easy/*/1", "--index", "99"],
            2,
            "usage",
            &["7 tasks, counted from 0"],
        ),
        (&["resume", "nothing"], 1, "session", &["nothing", "retrospect sessions"]),
        (&["resume", "--last"], 1, "session", &["no session here yet", "retrospect sessions"]),
        (&["open", "nothing#1.2"], 1, "session", &["nothing", "retrospect sessions"]),
        (&["open", "nothing#x"], 2, "usage", &["EPISODE.STEP"]),
        (&["export", "--last"], 1, "session", &["no session here yet"]),
        (&["export", "x", "--format", "gif"], 2, "usage", &["gif", "html, markdown, json, svg, text"]),
        (&["verify", "nothing"], 1, "session", &["nothing"]),
        (&["tasks", "--env", "alfworld"], 2, "usage", &["ALFWORLD_DATA is not set", "json_2.1.1"]),
        (&["tasks", "--split", "train"], 2, "usage", &["no splits"]),
        (&["lessons", "edit", "1", "x"], 2, "usage", &["no lesson \"1\"", "lessons list"]),
        (&["lessons"], 2, "usage", &["needs a word", "list, add, edit", "lessons --help"]),
        (&["lessons", "add", " "], 2, "usage", &["teaches nothing"]),
        (&["lessons", "add", "x", "--kind", "joke"], 2, "usage", &["joke", "abstract, error"]),
        (&["config", "show", "--config", "none.toml"], 1, "file", &["none.toml"]),
    ];
    for (args, code, kind, words) in cases {
        let home = Home::new();
        let said = home.run(args);
        assert_eq!(said.code, *code, "{args:?}: {}", said.err);
        assert!(said.out.is_empty(), "{args:?}: {}", said.out);
        for word in *words {
            assert!(said.err.contains(word), "{args:?}: {word:?} is not in {}", said.err);
        }
        assert!(
            said.err.starts_with("retrospect: ") && said.err.lines().count() >= 2,
            "{args:?}: {}",
            said.err
        );
        // The same as JSON, on standard output.
        let mut with_json = args.to_vec();
        with_json.push("--json");
        let told = home.run(&with_json);
        // Verbs without --json refuse it, and some of these calls are right when no person is asked for.
        if told.code == *code && !told.out.is_empty() {
            assert_eq!(fields(&told.out), ["error"], "{args:?}");
            let error: Value = serde_json::from_str(&told.out).unwrap();
            assert!(error["error"]["message"].is_string() && error["error"]["hint"].is_string());
            assert_eq!(error["error"]["kind"], *kind, "{args:?}");
            assert!(told.err.is_empty(), "{args:?}: {}", told.err);
        }
    }
}

#[test]
fn a_broken_configuration_names_its_line() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("config")).unwrap();
    std::fs::write(home.path("config/config.toml"), "[run]\nmethod = \"react\"\ntrails = 3\n").unwrap();
    let said = home.run(&["run", "--headless"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("config.toml:3: there is no key \"run.trails\"; did you mean \"run.trials\"?"),
        "{}",
        said.err
    );
}

#[test]
fn play_answers_every_line_as_it_is() {
    let home = Home::new();
    let text = home
        .says(
            &["play", "--env", "household", "--task", "easy/heat/23"],
            "look\n look \n\"look\"\n\ngo to fridge 1",
        )
        .ok();
    insta::assert_snapshot!("play_text", text.out);
    assert_eq!(text.err, "");
}

#[test]
fn play_json_has_its_fields_in_order() {
    let home = Home::new();
    let input = "look\n\"go to\\u0020fridge 1\"\nxyzzy \"quoted\"\n";
    let said = home.says(&["play", "--task", "easy/heat/23", "--json"], input).ok();
    let lines: Vec<&str> = said.out.lines().collect();
    let shared = [
        "step",
        "action",
        "observation",
        "reward",
        "progress",
        "done",
        "won",
        "valid",
        "admissible",
        "world",
    ];
    assert_eq!(fields(lines[0]), [&shared[..], &["goal", "task"]].concat());
    for line in &lines[1..] {
        assert_eq!(fields(line), shared);
    }
    let told = said.lines();
    assert_eq!(told.len(), 4);
    assert_eq!((&told[0]["step"], &told[0]["action"]), (&0.into(), &Value::Null));
    assert_eq!(
        (&told[0]["task"], &told[0]["goal"]),
        (&"easy/heat/23".into(), &"put a hot apple in fridge".into())
    );
    assert_eq!((&told[2]["action"], &told[2]["valid"]), (&"go to fridge 1".into(), &true.into()));
    assert_eq!((&told[3]["action"], &told[3]["valid"]), (&"xyzzy \"quoted\"".into(), &false.into()));
    assert_eq!(told[3]["observation"], "Nothing happens.");
    assert!(told[3]["world"]["inventory"].is_array());
    let admissible: Vec<&str> =
        told[2]["admissible"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    assert!(admissible.is_sorted() && admissible.contains(&"open fridge 1"), "{admissible:?}");
    let broken = home.says(&["play", "--task", "easy/heat/23", "--json"], "look\n\"open\n");
    assert_eq!(broken.code, 2);
    assert_eq!(broken.lines().last().unwrap()["error"]["kind"], "usage");
    assert!(broken.out.contains("standard input, line 2"), "{}", broken.out);
}

/// The commands of the recorded traces, through the real program: feedback, admissible commands and won as recorded.
#[test]
fn play_repeats_the_recorded_traces() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/household");
    let index: Value = serde_json::from_slice(&std::fs::read(dir.join("index.json")).unwrap()).unwrap();
    let home = Home::new();
    let mut compared = 0;
    for game in index["games"].as_array().unwrap().iter().take(3) {
        let file = std::fs::File::open(dir.join(game["traces"].as_str().unwrap())).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let first: Vec<&Value> =
            lines.iter().enumerate().take_while(|(n, l)| *n == 0 || l["step"] != 0).map(|l| l.1).collect();
        let mut input = String::new();
        for line in &first[1..] {
            writeln!(input, "{}", line["command"]).unwrap();
        }
        let said = home.says(&["play", "--task", game["id"].as_str().unwrap(), "--json"], &input).ok();
        let told = said.lines();
        assert_eq!(told.len(), first.len());
        for (now, recorded) in told.iter().zip(&first) {
            assert_eq!(now["action"], recorded["command"]);
            assert_eq!(now["observation"], recorded["feedback"]);
            assert_eq!(now["admissible"], recorded["admissible_commands"]);
            assert_eq!(now["won"], recorded["won"]);
            assert_eq!(now["world"]["inventory"], recorded["inventory"]);
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn play_shows_an_interface() {
    let home = Home::new();
    let said = home.says(
        &["play", "--task", "easy/heat/23", "--interface", "agentboard", "--json"],
        "think: hm\ncheck valid actions\ngo to fridge 1.\n",
    );
    let told = said.ok().lines();
    assert!(told[0]["observation"].as_str().unwrap().starts_with("You are in the middle of a room."));
    assert_eq!(told[1]["observation"], "OK.");
    assert!(
        told[2]["observation"].as_str().unwrap().starts_with("Choose an action from these valid actions: ")
    );
    assert!(told[3]["observation"].as_str().unwrap().contains("The fridge 1 is closed."));
}

#[test]
fn without_a_terminal_the_built_in_episode_is_told() {
    let home = Home::new();
    let said = home.run(&[]).ok();
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    assert!(said.err.contains("no terminal here"), "{}", said.err);
    assert!(said.out.contains("Episode 1: put a hot mug in coffeemachine (household "), "{}", said.out);
    assert!(said.out.contains("Episode 1 ") && said.out.contains("session: "), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'));
}

#[test]
fn run_json_tells_a_run() {
    let home = Home::new();
    let args =
        ["run", "--env", "household", "--tasks", "easy/*/1", "--only", "2", "--json", "--max-steps", "12"];
    let said = home.run(&args).ok();
    let told = said.lines();
    let kinds: Vec<&str> = told.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["run", "episode_start"]);
    assert_eq!(kinds.last(), Some(&"summary"));
    assert_eq!(kinds.iter().filter(|k| **k == "episode_end").count(), 2);
    let step = said.out.lines().find(|l| l.starts_with("{\"type\":\"step\"")).unwrap();
    assert_eq!(
        fields(step),
        [
            "type",
            "episode",
            "step",
            "action",
            "observation",
            "reward",
            "progress",
            "done",
            "won",
            "valid",
            "admissible",
            "world",
            "thought",
            "proposed",
            "by",
            "seq"
        ]
    );
    let value: Value = serde_json::from_str(step).unwrap();
    assert!(value["admissible"].as_array().unwrap().len() > 3 && value["world"]["inventory"].is_array());
    assert_eq!(value["by"], "actor");
    let end = said.out.lines().find(|l| l.starts_with("{\"type\":\"episode_end\"")).unwrap();
    assert_eq!(
        fields(end),
        [
            "type", "episode", "task", "trial", "won", "steps", "moves", "progress", "calls", "tokens",
            "reason", "assisted", "seq"
        ]
    );
    let summary = told.last().unwrap();
    assert_eq!(
        (&summary["ended"], &summary["episodes"], &summary["assisted"]),
        (&"finished".into(), &2.into(), &0.into())
    );
    // The same seed and inputs give the same lines, but for the session's name.
    let plain = |said: &Said| -> Vec<String> {
        said.out
            .lines()
            .filter(|l| l.contains("\"type\":\"step\"") || l.contains("reflection"))
            .map(str::to_owned)
            .collect()
    };
    let again = home.run(&args).ok();
    assert_eq!(plain(&said), plain(&again));
    let other = home.run(&[&args[..], &["--seed", "9"]].concat()).ok();
    assert_ne!(plain(&said), plain(&other), "a seed that changes nothing is no seed");
}

#[test]
fn a_stopped_run_is_resumed_to_the_same_end() {
    let whole = Home::new();
    let unbroken = whole.run(&["run", "--task", "easy/heat/23", "--json"]).ok();
    let home = Home::new();
    let stopped = home.run(&["run", "--task", "easy/heat/23", "--break", "step=5", "--headless"]);
    assert_eq!(stopped.code, 3, "{}", stopped.err);
    assert!(stopped.err.contains("step=5") && stopped.err.contains("retrospect resume"), "{}", stopped.err);
    let name = home.session().file_name().unwrap().to_string_lossy().into_owned();
    let listed = home.run(&["sessions", "--json"]).ok().lines();
    assert_eq!((&listed[0]["standing"], &listed[0]["over"]), (&"closed".into(), &false.into()));
    let rest = home.run(&["resume", &name[name.len() - 6..], "--json"]).ok();
    // Pauses and resume marks are events too, so the numbers of events differ; nothing else may.
    let steps = |said: &Said| -> Vec<Value> {
        let late = |l: &Value| l["type"] == "step" && l["step"].as_u64() > Some(5);
        let mut lines: Vec<Value> = said.lines().into_iter().filter(late).collect();
        for line in &mut lines {
            line["seq"] = Value::Null;
        }
        lines
    };
    assert_eq!(steps(&rest), steps(&unbroken));
    assert_eq!(rest.lines()[0]["type"], "run");
    assert!(home.run(&["verify", &name]).ok().out.contains("whole: everything is as the journal says"));
}

#[test]
fn a_recording_acts_again_and_makes_nothing_up() {
    let home = Home::new();
    let first = home.run(&["run", "--task", "easy/heat/23", "--json"]).ok();
    let session = home.session().display().to_string();
    let actor = format!("recorded:{session}");
    let again = home.run(&["run", "--task", "easy/heat/23", "--actor", &actor, "--json"]).ok();
    let actions = |said: &Said| -> Vec<Value> {
        said.lines().into_iter().filter(|l| l["type"] == "step").map(|l| l["action"].clone()).collect()
    };
    assert_eq!(actions(&again), actions(&first));
    let other = home.run(&["run", "--task", "easy/heat/1", "--actor", &actor, "--headless"]);
    assert_eq!(other.code, 3, "{}", other.err);
    assert!(other.err.contains("differs first") && other.err.contains("retrospect resume"), "{}", other.err);
    let skipped = home.run(&[
        "run",
        "--task",
        "easy/heat/1",
        "--actor",
        &actor,
        "--headless",
        "--on-error",
        "skip-task",
    ]);
    assert!(skipped.ok().out.contains("not won: error"));
}

#[test]
fn independent_runs_mark_their_lines() {
    let home = Home::new();
    let args = [
        "run",
        "--tasks",
        "easy/*/1",
        "--only",
        "3",
        "--method",
        "react",
        "--jobs",
        "2",
        "--json",
        "--max-steps",
        "5",
    ];
    let told = home.run(&args).ok().lines();
    let (summary, lines) = told.split_last().unwrap();
    assert_eq!(summary["episodes"], 3);
    assert_eq!(summary["paths"].as_array().unwrap().len(), 3);
    let sessions: std::collections::BTreeSet<_> =
        lines.iter().map(|l| l["session"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sessions.len(), 3);
}

#[test]
fn a_session_is_exported_and_opened_again() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet"]).ok();
    let page = home.path("report.html");
    home.run(&["export", "--last", "--format", "html", "--at", "1.3", "--out", page.to_str().unwrap()]).ok();
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("id=\"s1-3\" tabindex=\"-1\" autofocus"));
    let reopened = home.run(&["open", page.to_str().unwrap()]).ok();
    let direct = home.run(&["open", "--last"]).ok();
    assert_eq!(reopened.out, direct.out);
    assert!(reopened.err.contains("no terminal here"));
    assert!(home.run(&["verify", page.to_str().unwrap()]).ok().out.contains("whole"));
    let json: Value = serde_json::from_str(&home.run(&["export", "--last", "-f", "json"]).ok().out).unwrap();
    assert_eq!(json["episodes"][0]["task"]["id"], "easy/put/1");
    assert!(home.run(&["export", "--last", "-f", "markdown"]).ok().out.contains("### Step 1"));
    let text = home.run(&["export", "--last", "-f", "text"]).ok().out;
    assert_eq!(text, direct.out);
    let far = home.run(&["export", "--last", "--at", "1.999"]);
    assert!(far.code == 2 && far.err.contains("steps"), "{}", far.err);
    let size = home.run(&["export", "--last", "-f", "svg", "--size", "big"]);
    assert!(size.code == 2 && size.err.contains("120x36"), "{}", size.err);
}

#[cfg(feature = "tui")]
#[test]
fn the_screen_is_exported_as_a_picture() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet", "--max-steps", "6"]).ok();
    for theme in ["default", "light", "mono"] {
        let svg = home
            .run(&["export", "--last", "-f", "svg", "--at", "1.4", "--size", "100x30", "--theme", theme])
            .ok()
            .out;
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{theme}");
        assert!(svg.contains("Story") && svg.contains("put some candle on countertop"), "{theme}");
    }
    let none = home.run(&["export", "--last", "-f", "svg", "--theme", "neon"]);
    assert!(none.code == 2 && none.err.contains("default, light"), "{}", none.err);
}

#[test]
fn lessons_live_in_a_pool() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look in the fridge first."]).ok();
    home.run(&["lessons", "add", "Took from a closed fridge.", "--solution", "Open it first."]).ok();
    home.run(&["lessons", "edit", "1", "Look in the fridge last."]).ok();
    std::fs::write(
        home.path("more.txt"),
        "# mine\n- Heated on a stove. -> Use a microwave.\nLook in the fridge last.\n",
    )
    .unwrap();
    let imported = home.run(&["lessons", "import", "more.txt"]).ok();
    assert!(imported.out.starts_with("1 of 1 changes were new"), "{}", imported.out);
    home.run(&["lessons", "retire", "2"]).ok();
    let listed = home.run(&["lessons", "list", "--json", "--all"]).ok().lines();
    let told: Vec<(&str, &str, u64)> = listed
        .iter()
        .map(|l| (l["text"].as_str().unwrap(), l["status"].as_str().unwrap(), l["version"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("Look in the fridge last.", "on", 2),
            ("Took from a closed fridge.", "retired", 1),
            ("Heated on a stove.", "on", 1)
        ]
    );
    // A pool is a run's beginning, and what was loaded is an event.
    let run = home
        .run(&["run", "--task", "easy/put/1", "--pool", "pool.jsonl", "--headless", "--max-steps", "2"])
        .ok();
    assert!(run.out.contains("2 lessons loaded from pool.jsonl"), "{}", run.out);
    // Merging is by id: what came from here changes nothing here.
    let export = home.run(&["lessons", "export"]).ok();
    std::fs::write(home.path("copy.jsonl"), &export.out).unwrap();
    let merged = home.run(&["lessons", "import", "copy.jsonl"]).ok();
    assert!(merged.out.starts_with("0 of "), "{}", merged.out);
    let text = home.run(&["lessons", "export", "--format", "text"]).ok();
    assert_eq!(text.out, "Look in the fridge last.\nHeated on a stove. -> Use a microwave.\n");
    std::fs::write(home.path("constitution.txt"), &text.out).unwrap();
    let run = home
        .run(&[
            "run",
            "--task",
            "easy/put/1",
            "--constitution",
            "constitution.txt",
            "--headless",
            "--max-steps",
            "2",
        ])
        .ok();
    assert!(run.out.contains("2 lessons loaded from constitution.txt"), "{}", run.out);
}

#[test]
fn two_programs_lose_no_lesson() {
    let home = Home::new();
    let children: Vec<_> = (0..8)
        .map(|n| {
            home.command(&["lessons", "add", &format!("Lesson {n}.")]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(home.run(&["lessons", "list"]).ok().out.lines().count(), 8);
}

/// What was added behind a half written line used to make the whole pool unreadable.
#[test]
fn a_torn_pool_line_is_cut_before_more_is_added() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).ok();
    home.run(&["lessons", "add", "Look twice."]).ok();
    let path = home.path("pool.jsonl");
    let len = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len - 20).unwrap();
    let said = home.run(&["lessons", "add", "Look thrice."]).ok();
    assert!(said.err.contains("half written") && said.err.contains("cut off"), "{}", said.err);
    assert_eq!(home.run(&["lessons", "add", "Look away."]).ok().err, "");
    // A whole line without its end, as an editor leaves it, stays.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.trim_end()).unwrap();
    assert_eq!(home.run(&["lessons", "add", "Look up."]).ok().err, "");
    let text = home.run(&["lessons", "export", "--format", "text"]).ok();
    assert_eq!(text.out, "Look around.\nLook thrice.\nLook away.\nLook up.\n");
}

#[test]
fn a_session_gives_its_lessons_away() {
    let home = Home::new();
    let input = "lesson Took from a closed fridge. -> Open it first.\nlesson Look around.\nedit 2 Look twice.\nquit\n";
    home.says(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input).ok();
    let session = home.session().display().to_string();
    let said = home.run(&["lessons", "promote", &session]).ok();
    assert!(said.out.starts_with("2 of 2 lessons were new"), "{}", said.out);
    let again = home.run(&["lessons", "promote", &session]).ok();
    assert!(again.out.starts_with("0 of 2 lessons were new"), "{}", again.out);
    let text = home.run(&["lessons", "export", "--format", "text"]).ok();
    assert_eq!(text.out, "Took from a closed fridge. -> Open it first.\nLook twice.\n");
    assert_eq!(home.run(&["lessons", "list", &session]).ok().out.lines().count(), 2);
}

/// A run that began with a pool used to give every lesson back under a new id.
#[test]
fn promoting_after_a_pool_run_doubles_nothing() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).ok();
    home.run(&["lessons", "add", "Look twice."]).ok();
    let before = std::fs::read_to_string(home.path("pool.jsonl")).unwrap();
    let play = |input: &str| {
        let args = ["run", "--task", "easy/put/1", "--pool", "pool.jsonl", "--plain", "--mentor", "none"];
        home.says(&args, input).ok();
        home.session().display().to_string()
    };
    let said = home.run(&["lessons", "promote", &play("quit\n")]).ok();
    assert!(said.out.starts_with("0 of 2 lessons were new and"), "{}", said.out);
    assert_eq!(std::fs::read_to_string(home.path("pool.jsonl")).unwrap(), before);
}

#[test]
fn words_changed_in_a_run_are_promoted_and_status_and_origin_come_with_a_pool() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).ok();
    home.run(&["lessons", "add", "Look twice."]).ok();
    let args = ["run", "--task", "easy/put/1", "--pool", "pool.jsonl", "--plain", "--mentor", "none"];
    home.says(&args, "edit 2 Look thrice.\nquit\n").ok();
    let session = home.session().display().to_string();
    let told = |which: &[&str]| -> Vec<(String, String, u64)> {
        let word = |l: &Value, f: &str| l[f].as_str().unwrap().to_owned();
        let args = [&["lessons", "list", "--json"], which].concat();
        home.run(&args)
            .ok()
            .lines()
            .iter()
            .map(|l| (word(l, "id"), word(l, "origin"), l["version"].as_u64().unwrap()))
            .collect()
    };
    let said = home.run(&["lessons", "promote", &session]).ok();
    assert!(said.out.starts_with("0 of 2 lessons were new, 1 had new words,"), "{}", said.out);
    assert_eq!(told(&[]), told(&[&session]));
    let text = home.run(&["lessons", "export", "--format", "text"]).ok();
    assert_eq!(text.out, "Look around.\nLook thrice.\n");
    // What the pool has made of a lesson since is not taken back.
    home.run(&["lessons", "edit", "2", "Look away."]).ok();
    let again = home.run(&["lessons", "promote", &session]).ok();
    assert!(again.out.starts_with("0 of 2 lessons were new and"), "{}", again.out);
    assert!(home.run(&["lessons", "export", "--format", "text"]).ok().out.contains("Look away."));
}

#[test]
fn plain_is_a_conversation_without_cursor_movement() {
    let home = Home::new();
    let input = "help\nn\noverride go to countertop 1\nnote here\nlessons\nprompt\nworld\nactions\nstory 1\nxyzzy\nhuman\nact look\nset max_steps 9\nquit\n";
    let said = home.says(&["run", "--task", "easy/heat/23", "--plain", "--mentor", "none"], input).ok();
    assert!(!said.out.contains('\u{1b}') && !said.out.contains('\r'));
    for words in [
        "your turn, step 1",
        "(by you)",
        "remark  here",
        "no lessons yet",
        "[instruction]",
        "goal: put a hot apple in fridge",
        "the world would accept",
        "there is no command \"xyzzy\"",
        "YOU PLAY",
        "setting max_steps = 9",
        "retrospect resume",
    ] {
        assert!(said.out.contains(words), "{words:?} is not in {}", said.out);
    }
}

#[test]
fn tasks_are_listed_and_written() {
    let home = Home::new();
    let listed = home.run(&["tasks", "--env", "household", "--json"]).ok().lines();
    assert_eq!(listed.len(), 24);
    assert!(listed.iter().all(|t| !t["goal"].as_str().unwrap().is_empty()));
    let written = home
        .run(&["tasks", "--env", "household", "--tasks", "easy/*/1", "--only", "2", "--write", "games"])
        .ok();
    for folder in written.out.lines() {
        for file in ["game.tw-pddl", "traj_data.json"] {
            assert!(home.path(folder).join(file).is_file(), "{folder}/{file}");
        }
    }
    // What was written is ALFWorld data.
    let games = home.path("games").display().to_string();
    let found = home.run(&["tasks", "--env", "alfworld", "--data", &games, "--json"]).ok().lines();
    assert_eq!(found.len(), 2);
    let id = found[0]["task"].as_str().unwrap();
    let first = home.says(&["play", "--env", "alfworld", "--data", &games, "--task", id], "").ok();
    assert!(first.out.contains(&format!("Your task is to: {}.", found[0]["goal"].as_str().unwrap())));
}

#[test]
fn a_reader_that_leaves_is_forgiven() {
    let home = Home::new();
    for args in
        [&["tasks", "--env", "household"][..], &["run", "--task", "easy/heat/23", "--headless"], &["man"]]
    {
        let mut child = home
            .command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(!String::from_utf8_lossy(&done.stderr).contains("panic"), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_is_put_down_in_order() {
    let home = Home::new();
    // A person that never acts keeps the program waiting.
    let mut child = home
        .command(&["run", "--task", "easy/heat/23", "--actor", "human", "--plain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    // Waiting for a child closes its input, and an input that ends is an order to leave.
    let input = child.stdin.take();
    let mut stdout = child.stdout.take().unwrap();
    let mut byte = [0; 1];
    while !told.contains("YOU PLAY") {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{told}");
        told.push(byte[0] as char);
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    drop(input);
    assert_eq!(status.code(), Some(130));
    let listed = home.run(&["sessions", "--json"]).ok().lines();
    assert_eq!(listed[0]["standing"], "closed");
}

#[test]
fn config_is_made_and_shown_with_its_origins() {
    let home = Home::new();
    let made = home.run(&["config", "init"]).ok();
    assert!(made.out.contains("config.toml"));
    let again = home.run(&["config", "init"]);
    assert!(again.code == 1 && again.err.contains("--force"), "{}", again.err);
    let mut text = std::fs::read_to_string(home.path("config/config.toml")).unwrap();
    text = text.replace("#theme = \"default\"", "theme = \"ember\"");
    text = text.replace("#thought = \"ask\"", "thought = \"dropped\"");
    std::fs::write(home.path("config/config.toml"), text).unwrap();
    let shown: Value = serde_json::from_str(&home.run(&["config", "show", "--json"]).ok().out).unwrap();
    let theme = &shown["values"]["screen.theme"];
    assert_eq!(theme["value"], "ember");
    assert!(theme["from"].as_str().unwrap().contains("config.toml:"), "{theme}");
    assert_eq!(shown["values"]["sessions"]["from"], "$RETROSPECT_SESSIONS");
    assert!(home.run(&["config", "show"]).ok().out.contains("r_freq"));
    // What is configured is part of the run, with its origin.
    let run = home.run(&["run", "--task", "easy/put/1", "--max-steps", "1", "--json"]).ok().lines();
    assert_eq!(
        run[0]["settings"]["override.thought"],
        serde_json::json!({"value": "dropped", "origin": "config"})
    );
    assert_eq!(run[0]["settings"]["templates"]["value"].as_str().unwrap().len(), 64);
}

#[test]
fn completions_and_manual() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.run(&["completions", shell]).ok().out.contains("retrospect"), "{shell}");
    }
    assert!(home.run(&["man"]).ok().out.contains(".TH retrospect 1"));
    let written = home.run(&["man", "--write", "pages"]).ok();
    assert!(written.out.lines().count() > 10 && home.path("pages/retrospect-run.1").is_file());
    for flag in ["-h", "--help", "--version"] {
        assert!(home.run(&[flag]).ok().out.contains("retrospect"), "{flag}");
    }
}

#[test]
fn doctor_says_what_works() {
    let home = Home::new();
    let said = home.run(&["doctor"]).ok();
    assert!(said.out.contains("the built-in world: normal/heat/71 won"), "{}", said.out);
    assert!(said.out.contains("ALFWORLD_DATA is not set"));
    let broken = home.run(&["doctor", "--data", "nowhere", "--json"]);
    assert_eq!(broken.code, 1);
    let checks: Value = serde_json::from_str(&broken.out).unwrap();
    assert!(
        checks["checks"]
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["name"] == "alfworld" && c["state"] == "broken")
    );
}

#[test]
fn doctor_goes_on_after_a_bad_configuration_and_tells_every_bad_key() {
    let home = Home::new();
    let config = home.path("config");
    std::fs::create_dir_all(config.join("themes")).unwrap();
    std::fs::write(config.join("config.toml"), "[run]\ntrials = \"many\"\n").unwrap();
    std::fs::write(
        config.join("keys.toml"),
        "[[main]]\non = \"f99\"\nrun = \"help\"\n\n[[main]]\non = \"f5\"\nrun = \"fly\"\n",
    )
    .unwrap();
    std::fs::write(config.join("themes/mine.toml"), "tex = \"red\"\n").unwrap();
    let said = home.run(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.out);
    for words in ["config.toml:2", "keys.toml:2: ", "keys.toml:7: ", "mine.toml:1: ", "normal/heat/71 won"] {
        assert!(said.out.contains(words), "{words} is not in\n{}", said.out);
    }
}

#[test]
fn the_doctor_called_a_folder_with_a_broken_session_ok() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "-q", "--max-steps", "2"]).ok();
    assert_eq!(home.run(&["doctor"]).code, 0);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    std::fs::write(&trunk, text.replacen("\"v\":1", "\"v\":9", 1)).unwrap();
    let said = home.run(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.out);
    let line = said.out.lines().find(|l| l.starts_with("BROKEN")).unwrap();
    assert!(line.contains("trunk.jsonl:1: ") && line.contains("version 9"), "{}", said.out);
    assert!(said.out.contains("move its folder away"), "{}", said.out);
}

#[test]
fn a_file_that_is_no_game_makes_no_session() {
    let home = Home::new();
    let file = home.path("passwd");
    std::fs::write(&file, "root:x:0:0").unwrap();
    let said = home.run(&["run", "--env", "alfworld", "--task", file.to_str().unwrap(), "--headless"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("passwd is no game.tw-pddl"), "{}", said.err);
    assert!(
        !home.path("sessions").exists() || std::fs::read_dir(home.path("sessions")).unwrap().count() == 0
    );
}

#[test]
fn a_changed_journal_is_found_out() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet", "--max-steps", "4"]).ok();
    let session = home.session();
    let trunk = session.join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    let line =
        text.lines().find(|l| l.contains("\"type\":\"observed\"") && l.contains("You arrive")).unwrap();
    std::fs::write(&trunk, text.replace(line, &line.replacen("You arrive", "You fly", 1))).unwrap();
    let said = home.run(&["verify", session.to_str().unwrap()]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("PROBLEM event") && said.out.contains("You fly"), "{}", said.out);
    let told = home.run(&["verify", session.to_str().unwrap(), "--json"]);
    assert_eq!((told.code, told.out.lines().count()), (1, 1));
    assert!(!told.lines()[0]["problems"].as_array().unwrap().is_empty());
}

/// Two games below `games`; the goal of the second is misspelt, so that it is a game which cannot be played. Gives the
/// folders and the second one's text as it should be.
fn a_broken_game(home: &Home) -> (String, String, String) {
    let write = |task: &str| {
        let said = home.run(&["tasks", "--env", "household", "--tasks", task, "--write", "games"]).ok();
        home.path(said.out.trim()).display().to_string()
    };
    let (good, broken) = (write("easy/put/2"), write("easy/put/1"));
    let game = Path::new(&broken).join("game.tw-pddl");
    let whole = std::fs::read_to_string(&game).unwrap();
    std::fs::write(&game, whole.replace("(:goal", "(:gaol")).unwrap();
    (good, broken, whole)
}

#[test]
fn a_broken_game_left_an_empty_session() {
    let home = Home::new();
    let (_, broken, _) = a_broken_game(&home);
    for how in [&["--headless"][..], &["--json"], &["--plain"], &["-q"], &["--jobs", "2", "-q"]] {
        let said = home.run(&[&["run", "--env", "alfworld", "--task", &broken], how].concat());
        assert_eq!(said.code, 1, "{how:?}: {}", said.err);
        let told = format!("{}{}", said.out, said.err);
        assert!(told.contains("game.tw-pddl") && told.contains("gaol"), "{how:?}: {told}");
        let left = std::fs::read_dir(home.path("sessions")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{how:?}: an empty session is left");
    }
}

#[test]
fn a_run_stopped_by_a_failed_call_is_resumed_once_its_cause_is_mended() {
    let home = Home::new();
    let (good, broken, whole) = a_broken_game(&home);
    let games = ["--task", &good, "--task", &broken, "--max-steps", "3", "--headless"];
    let run = home.run(&[&["run", "--env", "alfworld"], &games[..]].concat());
    assert_eq!(run.code, 3, "{}", run.err);
    let still = home.run(&["resume", "--last", "-q"]);
    assert_eq!(still.code, 3, "one more try, and no more: {}", still.err);
    std::fs::write(Path::new(&broken).join("game.tw-pddl"), whole).unwrap();
    let mended = home.run(&["resume", "--last", "-q"]).ok();
    assert!(mended.out.starts_with("2 episodes"), "{}", mended.out);
}

#[test]
fn what_cannot_be_played_is_skipped_where_that_is_asked() {
    let home = Home::new();
    let (good, broken, _) = a_broken_game(&home);
    let games = ["--task", &broken, "--task", &good, "--max-steps", "3", "--json"];
    let skip = ["--on-error", "skip-task"];
    let run = home.run(&[&["run", "--env", "alfworld"], &games[..], &skip].concat()).ok();
    let ends: Vec<Value> = run.lines().into_iter().filter(|l| l["type"] == "episode_end").collect();
    let reasons: Vec<&str> = ends.iter().map(|e| e["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["error", "step_limit"], "{}", run.out);
    // Stopped at what cannot be played, and gone on with by somebody who skips it.
    let stopped = home.run(&[&["run", "--env", "alfworld", "--task", &good], &games[..]].concat());
    assert_eq!(stopped.code, 3, "{}", stopped.err);
    let went_on = home.run(&[&["resume", "--last", "--json"], &skip[..]].concat()).ok();
    let last = went_on.lines().pop().unwrap();
    assert_eq!(
        (last["type"].as_str(), last["ended"].as_str()),
        (Some("summary"), Some("finished")),
        "{last}"
    );
}

#[test]
fn templates_and_settings_were_read_without_end() {
    let home = Home::new();
    let endless = |name: &str| {
        let path = home.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // It has no blocks on the disk.
        std::fs::File::create(&path).unwrap().set_len(100 << 30).unwrap();
        path.display().to_string()
    };
    let (config, prompt) = (endless("big.toml"), endless("prompts/react.toml"));
    let game = endless("game/game.tw-pddl");
    let prompts = Path::new(&prompt).parent().unwrap().display().to_string();
    let cases: [(&[&str], &str); 4] = [
        (&["config", "show", "--config", &config], "big.toml"),
        (&["run", "--headless", "--prompts", &prompts], "react.toml"),
        (&["run", "--headless", "--env", "alfworld", "--task", &game], "game.tw-pddl"),
        (&["run", "--headless", "--tasks", &config], "big.toml"),
    ];
    for (args, name) in cases {
        let said = home.run(args);
        assert!(matches!(said.code, 1 | 2), "{args:?}: {}", said.err);
        assert!(said.err.contains(name) && said.err.contains("longer than"), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_world_that_differs_stops_a_resume_and_says_what_can_be_done() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--break", "step=5"]);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    let line =
        text.lines().find(|l| l.contains("\"type\":\"observed\"") && l.contains("You arrive")).unwrap();
    std::fs::write(&trunk, text.replace(line, &line.replacen("You arrive", "You fly", 1))).unwrap();
    for _ in 0..2 {
        let said = home.run(&["resume", "--last", "-q"]);
        assert_eq!(said.code, 3, "{}", said.err);
        assert!(
            said.err.contains("You fly") && said.err.contains("--plain`: `retry` accepts"),
            "{}",
            said.err
        );
    }
}

#[test]
fn a_resume_with_other_prompt_templates_is_refused_until_it_is_meant() {
    let home = Home::new();
    let stop = ["--headless", "--break", "step=3"];
    home.run(&[&["run", "--task", "easy/put/1"], &stop[..]].concat());
    let prompts = home.path("mine");
    std::fs::create_dir_all(&prompts).unwrap();
    std::fs::write(prompts.join("put.txt"), "Another example.\n").unwrap();
    let mine = prompts.to_str().unwrap();
    let refused = home.run(&["resume", "--last", "-q", "--prompts", mine]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    for words in ["the built-in ones", mine, "--accept-prompts"] {
        assert!(refused.err.contains(words), "{words:?} is not in {}", refused.err);
    }
    // What was refused has not touched the session; the same templates go on.
    home.run(&["resume", "--last", "-q", "--prompts", "builtin", "--break", "step=4"]);
    assert_eq!(home.run(&["resume", "--last", "-q", "--prompts", mine]).code, 2);
    home.run(&["resume", "--last", "-q", "--prompts", mine, "--accept-prompts"]).ok();
    // From now on they are the run's.
    let built_in = home.run(&["resume", "--last", "-q"]);
    assert_eq!(built_in.code, 2, "{}", built_in.err);
    home.run(&["resume", "--last", "-q", "--prompts", mine]).ok();
}

#[test]
fn every_changed_field_of_a_journal_is_found_out() {
    // What is changed, once, in the first line that has both texts; the words with which it is found out.
    let cases: &[(&str, &str, &str, &str)] = &[
        ("observed", "\"reward\":0.0", "\"reward\":0.5", "reward = 0.0"),
        ("observed", "\"progress\":0.0", "\"progress\":0.25", "progress = 0.0"),
        ("observed", "\"done\":false", "\"done\":true", "done = false"),
        ("observed", "\"won\":false", "\"won\":true", "won = false"),
        ("observed", "\"valid\":true", "\"valid\":false", "valid = true"),
        ("world_reset", "\"shown\":{", "\"shown\":{\"zz\":1,", "shown = "),
        ("world_reset", "\"truth\":{", "\"truth\":{\"zz\":1,", "truth = "),
        ("proposed", "\"action\":\"", "\"action\":\"no ", "the reply reads as"),
        ("prompt_sent", "\"seed\":", "\"seed\":1", "the request has the seed"),
        ("noted", "\"step\":1", "\"step\":7", "steps are out of order"),
        ("episode_ended", "\"won\":false", "\"won\":true", "its summary says"),
        ("episode_ended", "\"steps\":6", "\"steps\":5", "its summary says"),
        ("episode_ended", "\"moves\":", "\"moves\":1", "its summary says"),
        ("episode_ended", "\"progress\":0.25", "\"progress\":0.5", "its summary says"),
    ];
    let home = Home::new();
    home.run(&["run", "--task", "easy/heat/23", "--headless", "--quiet", "--max-steps", "6"]).ok();
    let session = home.session();
    let trunk = session.join("branches/trunk.jsonl");
    let whole = std::fs::read_to_string(&trunk).unwrap();
    let path = session.to_str().unwrap();
    assert!(home.run(&["verify", path]).ok().out.contains("whole: everything"));
    for (kind, old, new, words) in cases {
        let mark = format!("\"type\":\"{kind}\"");
        let line = whole.lines().find(|l| l.contains(&mark) && l.contains(old));
        let line = line.unwrap_or_else(|| panic!("nothing to change: {kind} {old}"));
        std::fs::write(&trunk, whole.replace(line, &line.replacen(old, new, 1))).unwrap();
        let said = home.run(&["verify", path]);
        assert!(said.code == 1 && said.out.contains(words), "{kind} {old}: {}\n{}", said.out, said.err);
    }
}

#[test]
fn an_accepted_difference_was_called_a_change() {
    let home = Home::new();
    let written =
        home.run(&["tasks", "--env", "household", "--tasks", "easy/put/1", "--write", "games"]).ok();
    let folder = home.path(written.out.trim());
    let task = folder.display().to_string();
    home.run(&["run", "--env", "alfworld", "--task", &task, "--headless", "--break", "step=4"]);
    // The game is replaced by one with other words.
    let game = folder.join("game.tw-pddl");
    let text = std::fs::read_to_string(&game).unwrap();
    let other = text.replace("You arrive at", "You have come to");
    assert_ne!(text, other);
    std::fs::write(&game, other).unwrap();
    let path = home.session().display().to_string();
    let before = home.run(&["verify", &path]);
    assert!(before.code == 1 && before.out.contains("PROBLEM"), "nobody has accepted it yet: {}", before.out);
    home.says(&["resume", "--last", "--plain"], "retry\nset max_steps 8\nrun\nquit\n").ok();
    home.run(&["resume", "--last", "-q"]).ok();
    let said = home.run(&["verify", &path]).ok();
    assert!(said.out.contains("accepted: event ") && said.out.contains("You have come to"), "{}", said.out);
    assert!(
        said.out.contains("of another world, as was accepted") && !said.out.contains("PROBLEM"),
        "{}",
        said.out
    );
    let told = home.run(&["verify", &path, "--json"]).ok().lines().remove(0);
    assert!(!told["accepted"].as_array().unwrap().is_empty() && told["problems"] == serde_json::json!([]));
    // What was answered after it was accepted has to be as recorded again.
    std::fs::write(&game, text).unwrap();
    let back = home.run(&["verify", &path]);
    assert!(back.code == 1 && back.out.contains("PROBLEM"), "{}", back.out);
}

#[test]
fn notes_and_lessons_were_not_drawn_again() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/heat/23", "-q", "--max-steps", "12", "--interface", "raw"]).ok();
    let trunk = home.session().join("branches/trunk.jsonl");
    let path = home.session().display().to_string();
    let whole = std::fs::read_to_string(&trunk).unwrap();
    // What a program of other rules might have written: told and counted, and no failure.
    let line = whole.lines().find(|l| l.contains("\"type\":\"noted\"") && l.contains("evidence")).unwrap();
    let other = line.replacen("\"evidence\":\"", "\"evidence\":\"as it seems, ", 1);
    std::fs::write(&trunk, whole.replace(line, &other)).unwrap();
    let said = home.run(&["verify", &path]).ok();
    assert!(said.out.contains("drawn otherwise: event ") && said.out.contains("as it seems"), "{}", said.out);
    assert!(said.out.contains("the rules of this program draw otherwise"), "{}", said.out);
    let told = home.run(&["verify", &path, "--json"]).ok().lines().remove(0);
    assert!(!told["drawn_otherwise"].as_array().unwrap().is_empty(), "{told}");
    // What the interface makes of the world's words is a matter of the record.
    for (kind, old, new, words) in [
        ("world_reset", "\"goal\":\"", "\"goal\":\"do not ", "states the goal"),
        ("observed", "\"turn\":", "\"seen\":\"no\",\"turn\":", "prompts show \"no\""),
    ] {
        let line = whole.lines().find(|l| l.contains(&format!("\"type\":\"{kind}\""))).unwrap();
        assert!(line.contains(old), "{line}");
        std::fs::write(&trunk, whole.replace(line, &line.replacen(old, new, 1))).unwrap();
        let said = home.run(&["verify", &path]);
        assert!(said.code == 1 && said.out.contains(words), "{kind}: {}", said.out);
    }
}

#[test]
fn a_session_whose_world_cannot_be_opened_is_not_certified() {
    let home = Home::new();
    let written = home.run(&["tasks", "--env", "household", "--tasks", "easy/put/1", "--write", "games"]);
    let task = written.ok().out.trim().to_owned();
    let games = home.path("games").display().to_string();
    let run = ["run", "--env", "alfworld", "--data", &games, "--task", &task, "-q", "--max-steps", "3"];
    home.run(&run).ok();
    let path = home.session().display().to_string();
    assert!(home.run(&["verify", &path, "--data", &games]).ok().out.contains("whole: everything"));
    std::fs::remove_dir_all(home.path("games")).unwrap();
    let said = home.run(&["verify", &path, "--data", &games]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("prompts only: no world was compared"), "{}", said.out);
    let on_purpose = home.run(&["verify", &path, "--no-world"]).ok();
    assert!(on_purpose.out.contains("prompts only") && !on_purpose.out.contains("whole"));
}

#[test]
fn the_bounds_of_an_episode_are_settings() {
    // What is set, and the reason with which the episode ends or the field of the run that it becomes.
    let home = Home::new();
    let run = |set: &str| {
        let args = ["run", "--task", "easy/heat/23", "--method", "react", "--json", "--set", set];
        home.run(&args).ok().lines()
    };
    let told = run("max_moves=3");
    let end = told.iter().find(|l| l["type"] == "episode_end").unwrap();
    assert_eq!(end["reason"], "move_limit", "{end}");
    assert_eq!(told[0]["settings"]["max_moves"], serde_json::json!({"value": 3, "origin": "flag"}));
    let told = run("loop_detector=on");
    assert_eq!(told[0]["settings"]["loop_detector"]["value"], true);
    run("wall_seconds=5");
    let text = std::fs::read_dir(home.path("sessions"))
        .unwrap()
        .map(|e| std::fs::read_to_string(e.unwrap().path().join("branches/trunk.jsonl")).unwrap());
    let texts: Vec<String> = text.collect();
    for field in ["\"moves\":3,\"wall_seconds\":null", "\"loop_detector\":true", "\"wall_seconds\":5}"] {
        assert_eq!(texts.iter().filter(|t| t.contains(field)).count(), 1, "{field}");
    }
}

#[test]
fn every_actor_is_outfitted_in_one_place() {
    use retrospect::driver::{Launch, OpenWorld};
    use retrospect::env::EnvError;
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--quiet", "--max-steps", "2"]).ok();
    let folder = home.session();
    let (_, timeline, _) = retrospect::driver::open_read_only(&folder).unwrap();
    let mut spec = (**timeline.head().run.as_ref().unwrap()).clone();
    // Actor and mentor, and the words with which they are refused (empty: they are outfitted).
    let recorded = format!("recorded:{}", folder.display());
    let cases = [
        ("rules", "symbolic", ""),
        ("human", "none", ""),
        (&recorded, "symbolic", ""),
        ("recorded:nowhere", "symbolic", "nowhere"),
        ("openai:m", "symbolic", "no model server was named"),
        ("ghost", "symbolic", "there is no actor \"ghost\""),
        ("rules", "ghost", "there is no mentor \"ghost\""),
    ];
    for (actor, mentor, words) in cases {
        (spec.actor, spec.mentor) = (actor.to_owned(), mentor.to_owned());
        let open: OpenWorld =
            std::sync::Arc::new(|_| Err(EnvError::Refused { what: "not needed".to_owned() }));
        let templates = std::sync::Arc::new(retrospect::prompt::Templates::builtin());
        let said = Launch::of(&spec, templates, open, std::time::Duration::ZERO).err();
        let said = said.map(|e| e.to_string()).unwrap_or_default();
        assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{actor} {mentor}: {said}");
    }
}

#[test]
fn a_report_says_what_a_run_came_to_and_that_nothing_published_is_like_it() {
    let home = Home::new();
    let run = ["run", "--tasks", "easy/put/1-2", "--method", "react", "-q"];
    home.run(&run).ok();
    let text = home.run(&["report", "--last", "--against", "paper"]).ok().out;
    for words in ["stand-in, no model", "grounding", "IQM", "no table of the papers is about household"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let told: Value = serde_json::from_str(&home.run(&["report", "--last", "--json"]).ok().out).unwrap();
    assert_eq!(told["ways"][0]["all"]["tasks"], 2);
    assert!(home.run(&["report", "--last", "-f", "markdown"]).ok().out.contains("| tasks of | tasks |"));
}

#[test]
fn a_preset_is_the_settings_of_a_row_and_flags_count_more() {
    let home = Home::new();
    let args =
        ["run", "--preset", "omnireflect-1-symbolic", "--task", "easy/put/1", "--trials", "2", "--json"];
    let run = &home.run(&args).ok().lines()[0];
    assert_eq!(
        (&run["method"], &run["max_steps"], &run["trials"]),
        (&"omnireflect".into(), &50.into(), &2.into())
    );
    assert_eq!(run["settings"]["generation"], serde_json::json!({"value": "symbolic", "origin": "paper"}));
    assert_eq!(run["settings"]["preset"]["value"], "omnireflect-1-symbolic");
    let listed = home.run(&["config", "show"]).ok().out + &home.run(&["run", "--help"]).ok().out;
    assert_eq!(listed.matches("omnireflect-1-symbolic").count(), 2);
}

/// The second episode begins with what the first taught; played again alone it goes as it went.
#[test]
fn an_episode_played_again_begins_with_its_lessons_and_goes_as_it_went() {
    let home = Home::new();
    home.run(&["run", "--tasks", "normal/heat/1-2", "-q"]).ok();
    let session = home.session();
    let name = session.file_name().unwrap().to_str().unwrap().to_owned();
    let again = home.run(&["rerun", "--last#2", "--json"]).ok().lines();
    let first = home.run(&["open", &name, "--json"]).ok().lines();
    let steps = |lines: &[Value], episode: u64| -> Vec<Value> {
        let of = |l: &&Value| l["type"] == "step" && l["episode"] == episode;
        lines.iter().filter(of).map(|l| serde_json::json!([l["action"], l["observation"]])).collect()
    };
    assert!(!steps(&again, 1).is_empty());
    assert_eq!(steps(&again, 1), steps(&first, 2));
    assert_eq!(again[0]["settings"]["from.session"]["value"], name);
    assert_eq!(again[0]["settings"]["from.episode"]["value"], 2);
    home.run(&["verify", again[0]["name"].as_str().unwrap()]).ok();
    let none = home.run(&["rerun", &format!("{name}#3")]);
    assert!(none.code == 2 && none.err.contains("there is no episode 3; it has 2"), "{}", none.err);
}
