//! Error messages: what failed, where, and what to do next.

use crate::{Home, field_names};
use serde_json::Value;
use std::path::Path;

#[test]
fn every_error_says_where_and_what_to_do() {
    // Arguments, exit code, kind, and words of message and hint.
    let cases: &[(&[&str], i32, &str, &[&str])] = &[
        (&["frob"], 2, "usage", &["frob", "retrospect --help"]),
        (&["run", "--bogus"], 2, "usage", &["--bogus", "retrospect run --help"]),
        // Only the flag switches the sandbox off.
        (
            &["run", "--env", "programming", "--set", "programming.sandbox=none", "--headless"],
            2,
            "usage",
            &["unknown setting \"programming.sandbox\""],
        ),
        // Before a browser is started, and before its pages are looked for.
        #[cfg(not(target_os = "macos"))]
        (
            &["run", "--env", "miniwob", "--task", "click-color/1", "--show", "--headless"],
            2,
            "usage",
            &["neither DISPLAY nor WAYLAND_DISPLAY is set", "xvfb-run", "leave out --show"],
        ),
        // Explorations showed the question, which is the goal.
        (
            &["calibrate", "--env", "hotpotqa", "--explore", "1", "--headless"],
            2,
            "usage",
            &["the first observation of a task is its goal", "leave out --explore"],
        ),
        (&["run", "--trials", "0"], 2, "usage", &["--trials \"0\"", "a whole number, at least 1"]),
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
            &["--actor openai:gpt: no model server is configured", "--base-url or OPENAI_BASE_URL"],
        ),
        (
            &["run", "--actor", "openai:", "--base-url", "http://127.0.0.1:9/v1"],
            2,
            "usage",
            &["has no model name"],
        ),
        (
            &["run", "--actor", "openai:m", "--profile", "mine"],
            2,
            "usage",
            &["no profile named \"mine\"", "llamacpp"],
        ),
        (&["run", "--actor", "openai:m", "--profile", "openrouter"], 1, "config", &["OPENROUTER_API_KEY"]),
        (&["run", "--api", "responses"], 2, "usage", &["--api", "chat, completions"]),
        (
            &["run", "--actor", "ghost"],
            2,
            "usage",
            &[
                "unknown actor \"ghost\"",
                "openai:MODEL, rules (built in, not a model), human or recorded:SESSION",
                "choose one of them",
            ],
        ),
        (
            &["run", "--mentor", "openai:gpt"],
            2,
            "usage",
            &["--mentor openai:gpt: no model server is configured"],
        ),
        (&["run", "--method", "dreams"], 2, "usage", &["dreams", "react, omnireflect"]),
        (
            &["play", "--env", "household", "--problem", "p.pddl"],
            2,
            "usage",
            &["--problem: household has no problem files", "--env pddl"],
        ),
        (
            &["tasks", "--env", "babyai", "--write", "games"],
            2,
            "usage",
            &["--write: tasks of babyai can't be written as folders", "--env household"],
        ),
        (&["run", "--set", "max_steps=0"], 2, "usage", &["max_steps", "at least 1"]),
        (&["run", "--set", "override.shown_as=ask"], 2, "usage", &["expected own, human_edit"]),
        (&["run", "--set", "r_frek=5"], 2, "usage", &["did you mean \"r_freq\"?"]),
        (&["run", "--set", "r_freq=often"], 2, "usage", &["a whole number"]),
        (
            &["run", "--set", "r_freq=5", "--method", "react"],
            2,
            "usage",
            &["applies to omnireflect", "--method"],
        ),
        (&["run", "--set", "context_tokens=4294967296"], 2, "usage", &["from 1 to 16000000"]),
        (&["run", "--set", "max_moves=4294967296"], 2, "usage", &["at most 4294967295"]),
        (&["run", "--preset", "fast"], 2, "usage", &["config.toml", "[preset.fast]", "fcrf-1"]),
        (
            &["run", "--preset", "omnireflect-5-factor-3", "--constitution", "c.txt"],
            2,
            "usage",
            &[
                "needs a constitution learned in this run with per_type=3",
                "leave out --pool and --constitution",
            ],
        ),
        (&["run", "--preset", "fcrf-1", "--method", "react"], 2, "usage", &["is for method fcrf, not react"]),
        (
            &["run", "--preset", "omnireflect-3-neural"],
            2,
            "usage",
            &["needs initial lessons", "--constitution"],
        ),
        (&["rerun", "somewhere"], 2, "usage", &["no episode given", "--last#3"]),
        (&["report", "nothing"], 1, "session", &["nothing", "retrospect sessions"]),
        (&["run", "--break", "luck=7", "--headless"], 2, "usage", &["luck=7", "docs/BREAKPOINTS.md"]),
        (
            &["run", "--break", "note wrong_objct", "--headless"],
            2,
            "usage",
            &["unknown detector `wrong_objct`", "did you mean `wrong_object`?", "docs/SYMBOLIC.md"],
        ),
        (
            &["run", "--jobs", "2", "--tasks", "easy/*/1", "--headless"],
            2,
            "usage",
            &["lessons carry over", "--method react"],
        ),
        (
            &["run", "--jobs", "2", "--tasks", "easy/*/1", "--method", "fcrf", "--headless"],
            2,
            "usage",
            &["one pool of all tasks"],
        ),
        (
            &[
                "run",
                "--jobs",
                "2",
                "--tasks",
                "easy/*/1",
                "--method",
                "sweet_sour",
                "--set",
                "memory_scope=type",
                "--headless",
            ],
            2,
            "usage",
            &["memory_scope type"],
        ),
        (
            &[
                "run",
                "--jobs",
                "2",
                "--task",
                "easy/put/1",
                "--task",
                "easy/put/1",
                "--method",
                "reflexion",
                "--headless",
            ],
            2,
            "usage",
            &["easy/put/1", "listed twice"],
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
        (&["run", "--theme", "nope", "--headless"], 2, "usage", &["no theme \"nope\"", "--theme"]),
        (&["--theme", "nope", "run", "--headless"], 2, "usage", &["no theme \"nope\"", "--theme"]),
        (&["--plain", "tasks"], 2, "usage", &["has no screen", "omit the flag"]),
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
        (&["resume", "--last"], 1, "session", &["no sessions yet", "retrospect sessions"]),
        (&["open", "nothing#1.2"], 1, "session", &["nothing", "retrospect sessions"]),
        (&["open", "nothing#x"], 2, "usage", &["EPISODE.STEP"]),
        (&["export", "--last"], 1, "session", &["no sessions yet"]),
        (
            &["export", "x", "--format", "gif"],
            2,
            "usage",
            &["gif", "html, markdown, json, svg, cast-svg, text"],
        ),
        (&["verify", "nothing"], 1, "session", &["nothing"]),
        (&["tasks", "--env", "alfworld"], 2, "usage", &["ALFWORLD_DATA is not set", "json_2.1.1"]),
        (&["tasks", "--split", "train"], 2, "usage", &["no splits"]),
        (&["lessons", "edit", "1", "x"], 2, "usage", &["no lesson \"1\"", "lessons list"]),
        (&["lessons"], 2, "usage", &["needs a subcommand", "list, add, edit", "lessons --help"]),
        (&["lessons", "add", " "], 2, "usage", &["the lesson is empty"]),
        (&["lessons", "add", "x", "--kind", "joke"], 2, "usage", &["joke", "abstract, error"]),
        (&["config", "show", "--config", "none.toml"], 1, "file", &["none.toml"]),
    ];
    for (args, code, kind, words) in cases {
        let home = Home::new();
        let output = home.run(args);
        assert_eq!(output.code, *code, "{args:?}: {}", output.stderr);
        assert!(output.stdout.is_empty(), "{args:?}: {}", output.stdout);
        for word in *words {
            assert!(output.stderr.contains(word), "{args:?}: {word:?} is not in {}", output.stderr);
        }
        assert!(
            output.stderr.starts_with("retrospect: ") && output.stderr.lines().count() >= 2,
            "{args:?}: {}",
            output.stderr
        );
        // The same as JSON, on standard output.
        let mut with_json = args.to_vec();
        with_json.push("--json");
        let as_json = home.run(&with_json);
        // Verbs without --json reject it, and some of these calls succeed without a screen.
        if as_json.code == *code && !as_json.stdout.is_empty() {
            assert_eq!(field_names(&as_json.stdout), ["error"], "{args:?}");
            let error: Value = serde_json::from_str(&as_json.stdout).unwrap();
            assert!(error["error"]["message"].is_string() && error["error"]["hint"].is_string());
            assert_eq!(error["error"]["kind"], *kind, "{args:?}");
            assert!(as_json.stderr.is_empty(), "{args:?}: {}", as_json.stderr);
        }
    }
}

#[test]
fn a_broken_configuration_names_its_line() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("config")).unwrap();
    std::fs::write(home.path("config/config.toml"), "[run]\nmethod = \"react\"\ntrails = 3\n").unwrap();
    let output = home.run(&["run", "--headless"]);
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("config.toml:3: unknown key \"run.trails\"; did you mean \"run.trials\"?"),
        "{}",
        output.stderr
    );
    // Only a flag switches the sandbox of programs off.
    std::fs::write(home.path("config/config.toml"), "[programming]\nsandbox = \"none\"\n").unwrap();
    let output = home.run(&["run", "--headless"]);
    assert!(
        output.stderr.contains("config.toml:2: unknown key \"programming.sandbox\""),
        "{}",
        output.stderr
    );
}

#[test]
fn an_invalid_game_file_creates_no_session() {
    let home = Home::new();
    let file = home.path("passwd");
    std::fs::write(&file, "root:x:0:0").unwrap();
    let output = home.run(&["run", "--env", "alfworld", "--task", file.to_str().unwrap(), "--headless"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("passwd is not a game.tw-pddl"), "{}", output.stderr);
    assert!(
        !home.path("sessions").exists() || std::fs::read_dir(home.path("sessions")).unwrap().count() == 0
    );
}

/// Writes two games below `games`. The second has a misspelt goal, which makes it unplayable. Returns the folders and
/// the correct text of the second.
fn broken_game(home: &Home) -> (String, String, String) {
    let write = |task: &str| {
        let output =
            home.run(&["tasks", "--env", "household", "--tasks", task, "--write", "games"]).assert_success();
        home.path(output.stdout.trim()).display().to_string()
    };
    let (good, broken) = (write("easy/put/2"), write("easy/put/1"));
    let game = Path::new(&broken).join("game.tw-pddl");
    let original = std::fs::read_to_string(&game).unwrap();
    std::fs::write(&game, original.replace("(:goal", "(:gaol")).unwrap();
    (good, broken, original)
}

#[test]
fn broken_game_leaves_no_session() {
    let home = Home::new();
    let (_, broken, _) = broken_game(&home);
    for flags in [&["--headless"][..], &["--json"], &["--plain"], &["-q"], &["--jobs", "2", "-q"]] {
        let output = home.run(&[&["run", "--env", "alfworld", "--task", &broken], flags].concat());
        assert_eq!(output.code, 1, "{flags:?}: {}", output.stderr);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(all.contains("game.tw-pddl") && all.contains("gaol"), "{flags:?}: {all}");
        let session_count = std::fs::read_dir(home.path("sessions")).map_or(0, Iterator::count);
        assert_eq!(session_count, 0, "{flags:?}: an empty session is left");
    }
}

#[test]
fn a_run_stopped_by_a_failed_call_resumes_once_the_cause_is_fixed() {
    let home = Home::new();
    let (good, broken, original) = broken_game(&home);
    let games = ["--task", &good, "--task", &broken, "--max-steps", "3", "--headless"];
    let run = home.run(&[&["run", "--env", "alfworld"], &games[..]].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    let retried = home.run(&["resume", "--last", "-q"]);
    assert_eq!(retried.code, 3, "one retry and no more: {}", retried.stderr);
    std::fs::write(Path::new(&broken).join("game.tw-pddl"), original).unwrap();
    let resumed = home.run(&["resume", "--last", "-q"]).assert_success();
    assert!(resumed.stdout.starts_with("2 episodes"), "{}", resumed.stdout);
}

#[test]
fn unplayable_tasks_are_skipped_on_request() {
    let home = Home::new();
    let (good, broken, _) = broken_game(&home);
    let games = ["--task", &broken, "--task", &good, "--max-steps", "3", "--json"];
    let skip = ["--on-error", "skip-task"];
    let run = home.run(&[&["run", "--env", "alfworld"], &games[..], &skip].concat()).assert_success();
    let ends: Vec<Value> = run.json_lines().into_iter().filter(|l| l["type"] == "episode_end").collect();
    let reasons: Vec<&str> = ends.iter().map(|e| e["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["env_died", "step_limit"], "{}", run.stdout);
    // Stopped at an unplayable task, then resumed with skip-task.
    let stopped = home.run(&[&["run", "--env", "alfworld", "--task", &good], &games[..]].concat());
    assert_eq!(stopped.code, 3, "{}", stopped.stderr);
    let resumed = home.run(&[&["resume", "--last", "--json"], &skip[..]].concat()).assert_success();
    let last = resumed.json_lines().pop().unwrap();
    assert_eq!(
        (last["type"].as_str(), last["ended"].as_str()),
        (Some("summary"), Some("finished")),
        "{last}"
    );
}

#[test]
fn templates_and_settings_are_size_limited() {
    let home = Home::new();
    let huge_file = |name: &str| {
        let path = home.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A sparse file: it uses no disk blocks.
        std::fs::File::create(&path).unwrap().set_len(100 << 30).unwrap();
        path.display().to_string()
    };
    let (config, prompt) = (huge_file("big.toml"), huge_file("prompts/react.toml"));
    let game = huge_file("game/game.tw-pddl");
    let prompts = Path::new(&prompt).parent().unwrap().display().to_string();
    let cases: [(&[&str], &str); 4] = [
        (&["config", "show", "--config", &config], "big.toml"),
        (&["run", "--headless", "--prompts", &prompts], "react.toml"),
        (&["run", "--headless", "--env", "alfworld", "--task", &game], "game.tw-pddl"),
        (&["run", "--headless", "--tasks", &config], "big.toml"),
    ];
    for (args, name) in cases {
        let output = home.run(args);
        assert!(matches!(output.code, 1 | 2), "{args:?}: {}", output.stderr);
        assert!(
            output.stderr.contains(name) && output.stderr.contains("longer than"),
            "{args:?}: {}",
            output.stderr
        );
    }
}

/// Regression: in front of an audience, a session whose server wasn't there named it when it was resumed.
#[test]
fn on_stage_errors_hide_hosts_and_folders() {
    let home = Home::new();
    let args = ["--actor", "openai:m", "--base-url", "ftp://gpu7-secret/v1"];
    let run = |stage: &[&str]| home.run(&[&["run"], &args[..], stage].concat()).stderr;
    assert!(run(&[]).contains("gpu7-secret"), "{}", run(&[]));
    let hidden = run(&["--stage"]);
    assert!(!hidden.contains("gpu7") && hidden.contains("****"), "{hidden}");
    let hidden = home.run(&["resume", "/secret/folder/one", "--stage"]).stderr;
    assert!(!hidden.contains("secret") && hidden.contains("****"), "{hidden}");
}
