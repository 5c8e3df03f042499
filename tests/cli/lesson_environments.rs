//! Lessons and exemplars of one environment in a run of another.

use crate::Home;

/// Calibrates in two household tasks and returns the name of the pool file.
fn household_pool(home: &Home) -> &'static str {
    let args =
        ["calibrate", "--env", "household", "--per-type", "1", "--max-steps", "20", "--out", "c.jsonl"];
    home.run(&args).assert_success();
    "c.jsonl"
}

fn warnings(home: &Home, args: &[&str]) -> String {
    let prefix = ["run", "--dry-run", "--max-steps", "2", "--base-url", "http://127.0.0.1:9/v1"];
    home.run(&[&prefix[..], args].concat()).assert_success().stderr
}

/// Regression: lessons of one environment entered the prompts of another without a word.
#[test]
fn lessons_of_another_environment_are_named_at_the_start() {
    let home = Home::new();
    let pool = household_pool(&home);
    for flag in ["--pool", "--constitution"] {
        let foreign = warnings(&home, &["--env", "babyai", "--task", "GoToRedBall", flag, pool]);
        assert!(foreign.contains("lessons from household will enter prompts about babyai"), "{foreign}");
        assert!(foreign.contains("calibrate --env babyai --out FILE"), "{foreign}");
        let own = warnings(&home, &["--env", "household", "--task", "easy/put/1", flag, pool]);
        assert!(!own.contains("lessons from"), "{own}");
    }
    // The environments of older files are those of the calibration; a plain text has none.
    let lines = std::fs::read_to_string(home.path(pool)).unwrap();
    assert!(lines.contains(r#""env":"household","op":"add""#), "{lines}");
    let older = lines.replace(r#","env":"household","op":"#, r#","op":"#);
    std::fs::write(home.path("older.jsonl"), older).unwrap();
    let foreign = warnings(&home, &["--env", "babyai", "--task", "GoToRedBall", "--pool", "older.jsonl"]);
    assert!(foreign.contains("lessons from household will enter"), "{foreign}");
    std::fs::write(home.path("plain.txt"), "Look first.\n").unwrap();
    let plain = warnings(&home, &["--env", "babyai", "--task", "GoToRedBall", "--constitution", "plain.txt"]);
    assert!(!plain.contains("lessons from"), "{plain}");
}

/// Regression: the advised command lacked the lessons to retire.
#[test]
fn the_advised_command_retires_the_lessons_of_another_environment() {
    let home = Home::new();
    let pool = household_pool(&home);
    let said = |pool: &str| warnings(&home, &["--env", "babyai", "--task", "GoToRedBall", "--pool", pool]);
    let many = said(pool);
    assert!(many.contains("`retrospect lessons list --pool c.jsonl` numbers them"), "{many}");
    let lines = std::fs::read_to_string(home.path(pool)).unwrap();
    let few: Vec<&str> = lines.lines().take(4).collect();
    std::fs::write(home.path("few.jsonl"), few.join("\n") + "\n").unwrap();
    let advice = said("few.jsonl");
    let command = advice.split_once("`retrospect lessons retire").unwrap().1.split_once('`').unwrap().0;
    let args: Vec<&str> = ["lessons", "retire"].into_iter().chain(command.split_whitespace()).collect();
    home.run(&args).assert_success();
    assert!(!said("few.jsonl").contains("lessons from"));
}

/// The lessons of a session keep their environment when they are promoted or exported.
#[test]
fn promoted_and_exported_lessons_keep_their_environment() {
    let home = Home::new();
    household_pool(&home);
    let session = home.session().display().to_string();
    let environments = |lines: &str| {
        let adds = lines.lines().filter(|line| line.contains(r#""op":"add""#));
        let all: Vec<bool> = adds.map(|line| line.contains(r#""env":"household""#)).collect();
        assert!(!all.is_empty(), "{lines}");
        all.into_iter().all(|has_env| has_env)
    };
    home.run(&["lessons", "promote", &session]).assert_success();
    assert!(environments(&std::fs::read_to_string(home.path("pool.jsonl")).unwrap()));
    for from in [&["lessons", "export"][..], &["lessons", "export", &session]] {
        assert!(environments(&home.run(from).assert_success().stdout));
    }
    let listed = home.run(&["lessons", "list", "--json"]).assert_success().json_lines();
    assert!(listed.iter().all(|row| row["env"] == "household"), "{listed:?}");
}

/// Regression: a file of exemplars was used in another environment, and not used at all, without a word. A symbolic
/// calibration writes no Progress lessons, so the environment's own exemplars of them stay.
#[test]
fn exemplars_say_what_they_replace_and_where_they_are_from() {
    let home = Home::new();
    let pool = household_pool(&home);
    let model = ["--method", "omnireflect", "--actor", "openai:m", "--exemplars", pool, "--set"];
    let warnings = |more: &[&str]| warnings(&home, &[&model[..], more].concat());
    let own = warnings(&["generation=neuro-symbolic", "--env", "household", "--task", "easy/put/1"]);
    assert!(
        own.contains("has no Progress lessons written by rules: the environment's own examples"),
        "{own}"
    );
    assert!(!own.contains("lessons from"), "{own}");
    let foreign = warnings(&["generation=neuro-symbolic", "--env", "babyai", "--task", "GoToRedBall"]);
    assert!(foreign.contains("lessons from household will be the mentor's examples for babyai"), "{foreign}");
    let unused = warnings(&["generation=neural", "--env", "household", "--task", "easy/put/1"]);
    assert!(unused.contains("has no effect: only neuro-symbolic generation shows exemplars"), "{unused}");
}

/// Regression: rules write lessons about one domain of PDDL, so a calibration there said that it had learned nothing, and its file
/// was neither a pool nor could it replace exemplars, as errors advised.
#[test]
fn a_calibration_with_rules_in_pddl_is_written_and_can_be_used() {
    let home = Home::new();
    let learned = home.run(&[
        "calibrate",
        "--env",
        "pddl",
        "--mentor",
        "symbolic",
        "--max-steps",
        "20",
        "--out",
        "c.jsonl",
        "--headless",
    ]);
    let said = learned.assert_success().stderr;
    assert!(
        said.contains("each is about one type of task: use them with `retrospect run --pool c.jsonl`"),
        "{said}"
    );
    let run = |flag: &str| {
        home.run(&[
            "run",
            "--env",
            "pddl",
            "--task",
            "gripper/4",
            "--max-steps",
            "1",
            "--headless",
            flag,
            "c.jsonl",
        ])
    };
    run("--pool").assert_success();
    let refused = run("--constitution");
    assert!(refused.code != 0 && refused.stderr.contains("about one type of task"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--pool c.jsonl"), "{}", refused.stderr);
    // A second calibration says what the file already had.
    let again = home.run(&[
        "calibrate",
        "--env",
        "household",
        "--per-type",
        "1",
        "--max-steps",
        "20",
        "--out",
        "c.jsonl",
    ]);
    let said = again.assert_success().stderr;
    assert!(said.contains("which had ") && said.contains("(pddl)"), "{said}");
}

/// Regression: lessons about one type of task entered the prompts about every type once they were loaded from a pool.
#[test]
fn a_loaded_lesson_about_a_type_of_task_enters_no_prompt_about_another_type() {
    let home = Home::new();
    let calibrate = ["calibrate", "--env", "pddl", "--task", "gripper/easy/1", "--mentor", "symbolic"];
    home.run(&[&calibrate[..], &["--max-steps", "20", "--out", "c.jsonl"]].concat()).assert_success();
    let lines = std::fs::read_to_string(home.path("c.jsonl")).unwrap();
    let adds: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let learned = adds.iter().find(|add| add["scope"] == "task_type").expect("a lesson about a type of task");
    assert_eq!(learned["task_type"], "gripper", "{learned}");
    let lesson = learned["text"]["text"].as_str().unwrap();
    let prompts = |task: &str, pool: &str| {
        let args = ["run", "--dry-run", "--env", "pddl", "--task", task, "--pool", pool, "--method", "react"];
        home.run(&args).assert_success().stdout
    };
    assert!(prompts("gripper/easy/2", "c.jsonl").contains(lesson), "{lesson}");
    assert!(!prompts("blockworld/easy/2", "c.jsonl").contains(lesson), "{lesson}");
    // Nobody knows the type of the lessons of an older file.
    std::fs::write(home.path("older.jsonl"), lines.replace(r#","task_type":"gripper""#, "")).unwrap();
    assert!(prompts("blockworld/easy/2", "older.jsonl").contains(lesson), "{lesson}");
}

/// Regression: a plan about one task entered the prompts about all tasks once it was promoted to a pool.
#[test]
fn a_promoted_plan_enters_no_prompt_about_another_task() {
    let home = Home::new();
    let run = ["run", "--task", "easy/put/1", "--method", "reflexion", "--mentor", "symbolic", "--headless"];
    home.run(&[&run[..], &["--max-steps", "4", "--trials", "2"]].concat()).assert_success();
    home.run(&["lessons", "promote", &home.session().display().to_string(), "--pool", "plans.jsonl"])
        .assert_success();
    let lines = std::fs::read_to_string(home.path("plans.jsonl")).unwrap();
    let plan: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let text = plan["text"]["text"].as_str().unwrap().lines().next().unwrap();
    let prompts = |task: &str| {
        let args = ["run", "--dry-run", "--task", task, "--pool", "plans.jsonl", "--method", "reflexion"];
        home.run(&args).assert_success().stdout
    };
    assert!(prompts("easy/put/1").contains(text), "{text}");
    assert!(!prompts("easy/put/2").contains(text), "{text}");
}
