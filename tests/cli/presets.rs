//! Presets: what they need, and what they set.

use crate::Home;

const MODEL: [&str; 6] =
    ["--actor", "openai:m", "--mentor", "openai:gpt-4", "--base-url", "http://127.0.0.1:9/v1"];

/// Runs with a preset and returns what it says on standard error.
fn said(home: &Home, preset: &str, more: &[&str]) -> String {
    let prefix = [
        "run",
        "--preset",
        preset,
        "--env",
        "household",
        "--task",
        "easy/put/1",
        "--max-steps",
        "2",
        "--dry-run",
    ];
    home.run(&[&prefix[..], &MODEL, more].concat()).stderr
}

/// Regression: without lessons the presets of Tables 4 and 5 advised `--constitution`, and with it they asked for `--calibrate`.
#[test]
fn the_advice_of_presets_with_a_constitution_leads_to_a_run() {
    let home = Home::new();
    std::fs::write(home.path("c.txt"), "Look first.\n").unwrap();
    for preset in ["omnireflect-4-advisor-no-abstract", "omnireflect-5-factor-3"] {
        let none = said(&home, preset, &[]);
        assert!(none.contains("add --calibrate") && !none.contains("--constitution"), "{none}");
        let file = said(&home, preset, &["--constitution", "c.txt"]);
        assert!(file.contains("add --calibrate and leave out --pool and --constitution"), "{file}");
    }
    // The other rows accept a file, but aren't compared then.
    let none = said(&home, "omnireflect-1-advisor-gpt-4", &[]);
    assert!(none.contains("--calibrate, as `report --against paper` requires"), "{none}");
    let file = said(&home, "omnireflect-1-advisor-gpt-4", &["--constitution", "c.txt"]);
    assert!(file.contains("will show no figures; use --calibrate instead of the file"), "{file}");
    let both = said(&home, "omnireflect-1-advisor-gpt-4", &["--constitution", "c.txt", "--calibrate"]);
    assert!(both.contains("will show no figures; leave the file out"), "{both}");
    let learned = said(&home, "omnireflect-1-advisor-gpt-4", &["--calibrate"]);
    assert!(!learned.contains("no figures; ") && !learned.contains("needs a"), "{learned}");
}

/// Regression: nothing showed what a preset sets.
#[test]
fn config_show_lists_the_values_of_a_preset() {
    let home = Home::new();
    let show = |preset: &str| home.run(&["config", "show", "--preset", preset]);
    let text = show("omnireflect-4-advisor-no-abstract").assert_success().stdout;
    for part in [
        "Table 4",
        "react",
        "kind_abstract=false",
        "the run starts with lessons: it needs calibration",
        "top_k=50",
        "thoughts_sent=false",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = home.run(&["config", "show", "--preset", "fcrf-1", "--json"]).assert_success().json_lines();
    assert_eq!((&json[0]["method"], &json[0]["trials"]), (&"fcrf".into(), &5.into()));
    assert_eq!(show("fast").code, 2);
}

/// Regression: `config show` printed 4294967295 where there is no limit.
#[test]
fn config_show_says_where_there_is_no_limit() {
    let text = Home::new().run(&["config", "show"]).assert_success().stdout;
    assert!(!text.contains("4294967295"));
    let long_term = text.lines().find(|line| line.trim_start().starts_with("long_term ")).unwrap();
    assert!(long_term.contains("no limit"), "{long_term}");
}

/// Regression: a preset of a paper's own environment was played in the configured one, whatever it was for.
#[test]
fn a_preset_of_one_environment_brings_it() {
    let home = Home::new();
    let run = |preset: &str, more: &[&str]| {
        let args = ["run", "--preset", preset, "--only", "1", "--max-steps", "1", "--headless", "--json"];
        let output = home.run(&[&args[..], &["--actor", "rules", "--mentor", "none"], more].concat());
        output.assert_success().json_lines()[0].clone()
    };
    let question = run("reflexion-hotpotqa-react", &[]);
    assert_eq!(
        (&question["env"], &question["settings"]["hotpotqa.agent"]["value"]),
        (&"hotpotqa".into(), &"react".into())
    );
    // A flag wins, several environments choose none, and one that stands in for another stays.
    assert_eq!(run("reflexion-hotpotqa-react", &["--env", "household"])["env"], "household");
    assert_eq!(run("omnireflect-1-react", &[])["env"], "household");
    assert_eq!(run("sweet-and-sour-2-react", &[])["env"], "household");
    for (preset, brought) in [
        ("reflexion-hotpotqa-react", Some("hotpotqa")),
        ("sweet-and-sour-1", Some("scienceworld")),
        ("sweet-and-sour-no-positive", Some("scienceworld")),
        ("dora-1-rci", Some("miniwob")),
        ("reflexion-programming", Some("programming")),
        ("fcrf-1", None),
        ("omnireflect-1-react", None),
    ] {
        let shown = home.run(&["config", "show", "--preset", preset, "--json"]).assert_success().json_lines();
        assert_eq!(shown[0].get("env").and_then(serde_json::Value::as_str), brought, "{preset}");
    }
}
