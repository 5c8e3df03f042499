//! `export`, `tasks`, `config`, `doctor` and the rest.

use crate::Home;
use serde_json::Value;

#[test]
fn exported_session_can_be_opened() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet"]).assert_success();
    let page = home.path("report.html");
    home.run(&["export", "--last", "--format", "html", "--at", "1.3", "--out", page.to_str().unwrap()])
        .assert_success();
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("class=\"step marked\" id=\"s1-3\""));
    let reopened = home.run(&["open", page.to_str().unwrap()]).assert_success();
    let direct = home.run(&["open", "--last"]).assert_success();
    assert_eq!(reopened.stdout, direct.stdout);
    assert!(reopened.stderr.contains("no terminal here"));
    assert!(home.run(&["verify", page.to_str().unwrap()]).assert_success().stdout.contains("OK:"));
    let json: Value =
        serde_json::from_str(&home.run(&["export", "--last", "-f", "json"]).assert_success().stdout).unwrap();
    assert_eq!(json["episodes"][0]["task"]["id"], "easy/put/1");
    assert!(home.run(&["export", "--last", "-f", "markdown"]).assert_success().stdout.contains("### Step 1"));
    let text = home.run(&["export", "--last", "-f", "text"]).assert_success().stdout;
    assert_eq!(text, direct.stdout);
    let out_of_range = home.run(&["export", "--last", "--at", "1.999"]);
    assert!(out_of_range.code == 2 && out_of_range.stderr.contains("steps"), "{}", out_of_range.stderr);
    let size = home.run(&["export", "--last", "-f", "svg", "--size", "big"]);
    assert!(size.code == 2 && size.stderr.contains("120x36"), "{}", size.stderr);
}

/// Regression: `export --out x.md` wrote HTML into `x.md`.
#[test]
fn the_extension_of_the_file_decides_the_format() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet"]).assert_success();
    let cases: [(&str, &[&str], &str); 6] = [
        ("x.md", &[], "# put some"),
        ("x.JSON", &[], "{"),
        ("x.txt", &[], "omnireflect"),
        ("x.htm", &[], "<!doctype html>"),
        ("x", &[], "<!doctype html>"),
        ("y.md", &["--format", "json"], "{"),
    ];
    for (name, flags, start) in cases {
        let path = home.path(name);
        home.run(&[&["export", "--last", "--out", path.to_str().unwrap()], flags].concat()).assert_success();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(start), "{name}: {text}");
    }
    let other = home.run(&["open", home.path("x.JSON").to_str().unwrap()]);
    assert!(
        other.code == 1
            && other.stderr.contains("x.JSON: a JSON export, which contains the steps but no journal"),
        "{}",
        other.stderr
    );
    let unknown = home.run(&["export", "--last", "--out", "report.pdf"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("add --format"), "{}", unknown.stderr);
}

#[cfg(feature = "tui")]
#[test]
fn the_screen_is_exported_as_a_picture() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "--headless", "--quiet", "--max-steps", "6"]).assert_success();
    for theme in ["default", "light", "mono"] {
        let svg = home
            .run(&["export", "--last", "-f", "svg", "--at", "1.4", "--size", "100x30", "--theme", theme])
            .assert_success()
            .stdout;
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{theme}");
        assert!(svg.contains("Story") && svg.contains("put some candle on countertop"), "{theme}");
    }
    let none = home.run(&["export", "--last", "-f", "svg", "--theme", "neon"]);
    assert!(none.code == 2 && none.stderr.contains("default, light"), "{}", none.stderr);
}

#[test]
fn tasks_are_listed_and_written() {
    let home = Home::new();
    let listed = home.run(&["tasks", "--env", "household", "--json"]).assert_success().json_lines();
    assert_eq!(listed.len(), 24);
    assert!(listed.iter().all(|t| !t["goal"].as_str().unwrap().is_empty()));
    let written = home
        .run(&["tasks", "--env", "household", "--tasks", "easy/*/1", "--only", "2", "--write", "games"])
        .assert_success();
    for folder in written.stdout.lines() {
        for file in ["game.tw-pddl", "traj_data.json"] {
            assert!(home.path(folder).join(file).is_file(), "{folder}/{file}");
        }
    }
    // The written games are ALFWorld data.
    let games = home.path("games").display().to_string();
    let found =
        home.run(&["tasks", "--env", "alfworld", "--data", &games, "--json"]).assert_success().json_lines();
    assert_eq!(found.len(), 2);
    let id = found[0]["task"].as_str().unwrap();
    let first = home
        .run_with_input(&["play", "--env", "alfworld", "--data", &games, "--task", id], "")
        .assert_success();
    assert!(first.stdout.contains(&format!("Your task is to: {}.", found[0]["goal"].as_str().unwrap())));
}

#[test]
fn config_is_written_and_shown_with_its_origins() {
    let home = Home::new();
    let made = home.run(&["config", "init"]).assert_success();
    assert!(made.stdout.contains("config.toml"));
    let again = home.run(&["config", "init"]);
    assert!(again.code == 1 && again.stderr.contains("--force"), "{}", again.stderr);
    let mut text = std::fs::read_to_string(home.path("config/config.toml")).unwrap();
    text = text.replace("#theme = \"auto\"", "theme = \"ember\"");
    text = text.replace("#thought = \"kept\"", "thought = \"dropped\"");
    std::fs::write(home.path("config/config.toml"), text).unwrap();
    let shown: Value =
        serde_json::from_str(&home.run(&["config", "show", "--json"]).assert_success().stdout).unwrap();
    let theme = &shown["values"]["screen.theme"];
    assert_eq!(theme["value"], "ember");
    assert!(theme["from"].as_str().unwrap().contains("config.toml:"), "{theme}");
    assert_eq!(shown["values"]["sessions"]["from"], "$RETROSPECT_SESSIONS");
    assert!(home.run(&["config", "show"]).assert_success().stdout.contains("r_freq"));
    // Configured values are recorded in the run, with their origin.
    let run = home
        .run(&["run", "--task", "easy/put/1", "--max-steps", "1", "--json"])
        .assert_success()
        .json_lines();
    assert_eq!(
        run[0]["settings"]["override.thought"],
        serde_json::json!({"value": "dropped", "origin": "config"})
    );
    assert_eq!(run[0]["settings"]["templates"]["value"].as_str().unwrap().len(), 64);
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.run(&["completions", shell]).assert_success().stdout.contains("retrospect"), "{shell}");
    }
    assert!(home.run(&["man"]).assert_success().stdout.contains(".TH retrospect 1"));
    let written = home.run(&["man", "--write", "pages"]).assert_success();
    assert!(written.stdout.lines().count() > 10 && home.path("pages/retrospect-run.1").is_file());
    for flag in ["-h", "--help", "--version"] {
        assert!(home.run(&[flag]).assert_success().stdout.contains("retrospect"), "{flag}");
    }
}

#[test]
fn doctor_reports_what_works() {
    let home = Home::new();
    let output = home.run(&["doctor"]).assert_success();
    assert!(output.stdout.contains("built-in environment: normal/heat/71 won"), "{}", output.stdout);
    assert!(output.stdout.contains("ALFWORLD_DATA is not set"));
    // Regression: some environments weren't listed.
    for environment in
        ["household", "alfworld", "babyai", "pddl", "hotpotqa", "programming", "miniwob", "scienceworld"]
    {
        let is_row = |line: &&str| line.split_whitespace().nth(1) == Some(environment);
        assert!(output.stdout.lines().any(|line| is_row(&line)), "{environment}: {}", output.stdout);
    }
    let broken = home.run(&["doctor", "--data", "nowhere", "--json"]);
    assert_eq!(broken.code, 1);
    let checks: Value = serde_json::from_str(&broken.stdout).unwrap();
    assert!(
        checks["checks"]
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["name"] == "alfworld" && c["state"] == "broken")
    );
}

#[test]
fn doctor_continues_after_a_bad_configuration_and_reports_every_bad_key() {
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
    let output = home.run(&["doctor"]);
    assert_eq!(output.code, 1, "{}", output.stdout);
    for words in ["config.toml:2", "keys.toml:2: ", "keys.toml:7: ", "mine.toml:1: ", "normal/heat/71 won"] {
        assert!(output.stdout.contains(words), "{words} is not in\n{}", output.stdout);
    }
}

#[test]
fn doctor_reports_a_broken_session() {
    let home = Home::new();
    home.run(&["run", "--task", "easy/put/1", "-q", "--max-steps", "2"]).assert_success();
    assert_eq!(home.run(&["doctor"]).code, 0);
    let trunk = home.session().join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&trunk).unwrap();
    std::fs::write(&trunk, text.replacen("\"v\":1", "\"v\":9", 1)).unwrap();
    let output = home.run(&["doctor"]);
    assert_eq!(output.code, 1, "{}", output.stdout);
    let line = output.stdout.lines().find(|l| l.starts_with("BROKEN")).unwrap();
    assert!(line.contains("trunk.jsonl:1: ") && line.contains("version 9"), "{}", output.stdout);
    assert!(output.stdout.contains("move its folder away"), "{}", output.stdout);
}

/// Regression: the last step of a won BabyAI episode had its reward as progress, and the episode 1.
#[test]
fn a_step_that_reaches_the_goal_has_the_progress_of_its_episode() {
    let home = Home::new();
    let run = home.run(&["run", "--env", "babyai", "--task", "GoToRedBall", "--actor", "rules", "--json"]);
    let lines = run.assert_success().json_lines();
    let last = lines.iter().rfind(|line| line["won"] == true && line["step"].is_u64()).unwrap();
    assert!(last["reward"].as_f64().unwrap() < 1.0 && last["progress"] == 1.0, "{last}");
}
