//! Runs every row of the papers' tables as a preset: the run starts, sends the paper's sampling parameters, and calls its
//! mentor as often as the row's settings say.

use crate::server::{Server, complete_reply};
use retrospect::catalog::{PaperRow, published_results};
use retrospect::domain::common_settings::ACTING;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

const TRIALS: u64 = 2;
const STEPS: u64 = 2;

/// DORA ignores the number of trials: one evaluation has three attempts.
const ATTEMPTS_OF_DORA: u64 = 3;

/// Returns the number of mentor calls in two failed trials of two steps each. Step 0 is a reflection step whatever the
/// frequency; only Sweet&Sour also reflects on the last attempt.
fn mentor_calls_per_run(row: &PaperRow) -> u64 {
    let is_on = |name: &str| row.settings.get(name) != Some(&Value::Bool(false));
    let kinds = || ["kind_abstract", "kind_error", "kind_progress"].into_iter().filter(|k| is_on(k)).count();
    let text = |name: &str| row.settings.get(name).and_then(Value::as_str).unwrap_or("");
    match row.method.as_str() {
        "react" => 0,
        "reflexion" => u64::from(["reflexion", "both"].contains(&text("strategy"))),
        "omnireflect" if text("generation") == "symbolic" => 0,
        "omnireflect" => TRIALS * kinds() as u64,
        // The first reflection is a simple one: Experience and Plan.
        "fcrf" => 1 + u64::from(is_on("experience")),
        "sweet_sour" => {
            if is_on("negative") {
                TRIALS
            } else {
                0
            }
        }
        "planning" => TRIALS,
        // A plan, its criticism and a better plan.
        "rci" => 3 * TRIALS,
        "dora" => ATTEMPTS_OF_DORA,
        other => panic!("{other}: add its number of mentor calls here"),
    }
}

/// Runs the program with a folder of its own; of the variables, it gets those that say where real environments are.
fn run_program(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(args).current_dir(home).env_clear().env("HOME", home);
    for name in ["PATH", "SCIENCEWORLD_JAR", "MINIWOB_HTML"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command.env("RETROSPECT_CONFIG_DIR", home.join("config"));
    command.env("RETROSPECT_SESSIONS", home.join("sessions"));
    command.env("RETROSPECT_POOL", home.join("pool.jsonl"));
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

/// Returns a folder whose pool has a lesson.
fn home_with_a_lesson() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let lesson = ["lessons", "add", "--kind", "error", "Open a drawer before you look into it."];
    let added = run_program(home.path(), &lesson);
    assert!(added.status.success(), "{added:?}");
    home
}

#[test]
fn every_preset_starts_with_a_model_and_sends_its_requests() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(vec![complete_reply("inventory")]));
    let home = home_with_a_lesson();
    let run_program = |args: &[&str]| run_program(home.path(), args);
    assert!(published_results().len() > 30);
    let (trials, steps) = (TRIALS.to_string(), STEPS.to_string());
    for row in published_results() {
        let before = server.requests().len();
        let mut args = vec!["run", "--env", "household", "--task", "easy/put/1", "--headless", "--json"];
        args.extend(["--preset", &row.preset, "--trials", &trials, "--max-steps", &steps]);
        args.extend(["--actor", "openai:tiny", "--mentor", "openai:tiny", "--base-url", &server.base]);
        if row.method == "dora" {
            args.extend(["--set", "n_init=1", "--set", "rounds=0"]);
        }
        // Household has no page whose elements change; `web_pages` in the tests of requests plays it.
        let acts_by_pages = row.settings.contains_key(ACTING.spec.name);
        if acts_by_pages {
            args.extend(["--set", "acting=step"]);
        }
        if !row.calibration.is_empty() {
            args.extend(["--calibrate", "--set", "per_type=1"]);
        } else if row.starts_with_lessons {
            args.extend(["--constitution", "pool.jsonl"]);
        }
        let output = run_program(&args);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}: {text}{}", row.preset, String::from_utf8_lossy(&output.stderr));
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let settings = &lines[0]["settings"];
        for (name, value) in
            row.settings.iter().chain(&row.calibration).filter(|(name, _)| *name != "per_type")
        {
            if acts_by_pages && *name == ACTING.spec.name {
                continue;
            }
            assert_eq!(&settings[name]["value"], value, "{}: {name}", row.preset);
            assert_eq!(settings[name]["origin"], "paper", "{}: {name}", row.preset);
        }
        for request in &server.requests()[before..] {
            for (name, value) in row.sampling() {
                assert_eq!(request.body[name].as_f64(), value.as_f64(), "{}: {name}", row.preset);
            }
            // Regression: presets of papers that state no `top_p` sent OmniReflect's.
            for name in row.unstated_sampling() {
                assert_eq!(request.body.get(name), None, "{}: {name}", row.preset);
            }
        }
        // How often a calibration asks is tested elsewhere.
        if !row.calibration.is_empty() {
            continue;
        }
        let summary = lines.last().unwrap();
        let (kind, episodes) = (&summary["type"], &summary["episodes"]);
        let played = if row.method == "dora" { ATTEMPTS_OF_DORA } else { TRIALS };
        assert_eq!((kind, episodes), (&Value::from("summary"), &Value::from(played)), "{}", row.preset);
        let mut actor = if row.method == "planning" { 0 } else { played * STEPS };
        // A later attempt begins with the first action of the first one, without asking for it.
        if row.settings.get("repeat_opening") == Some(&Value::Bool(true)) {
            actor -= TRIALS - 1;
        }
        assert_eq!(summary["calls"], actor + mentor_calls_per_run(row), "{}", row.preset);
        assert_eq!(
            (server.requests().len() - before) as u64,
            actor + mentor_calls_per_run(row),
            "{}",
            row.preset
        );
    }
}

/// Returns whether programs can be run in a sandbox here, which a container may forbid.
fn runs_programs() -> bool {
    static RUNS: LazyLock<bool> = LazyLock::new(|| {
        let home = tempfile::tempdir().unwrap();
        run_program(home.path(), &["play", "--env", "programming", "--task", "count-steps"]).status.success()
    });
    *RUNS
}

/// Says what is skipped, past the harness, which shows what is printed only of tests that fail.
fn print_skipped(skipped: &BTreeSet<String>) {
    let mut stderr = std::io::stderr().lock();
    for why in skipped {
        writeln!(stderr, "skipped: {why}").unwrap();
    }
}

/// Returns the task with which an environment is tried, or why it can't be played here.
fn task_of(env: &str) -> Result<Vec<String>, String> {
    let set = |variable: &str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    // Whether other programs may be started for a test.
    let real = set("RETROSPECT_REAL");
    let is_installed = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let task = match env {
        "programming" if real && runs_programs() => None,
        "programming" => return Err("RETROSPECT_REAL isn't set, or bubblewrap doesn't work".to_owned()),
        "hotpotqa" | "babyai" | "pddl" => None,
        "scienceworld" if real && set("SCIENCEWORLD_JAR") && is_installed("java") => {
            Some("boil/21".to_owned())
        }
        "scienceworld" => return Err("SCIENCEWORLD_JAR or Java is missing".to_owned()),
        "miniwob" if real && set("MINIWOB_HTML") && is_installed("chromedriver") => {
            // One of the ten pages of the paper.
            Some("click-option/1".to_owned())
        }
        "miniwob" => return Err("MINIWOB_HTML or chromedriver is missing".to_owned()),
        "alfworld" => {
            let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
            let game =
                std::fs::read_dir(&games).into_iter().flatten().flatten().map(|game| game.path()).min();
            Some(game.ok_or("there are no games")?.display().to_string())
        }
        other => panic!("{other}: add its task here"),
    };
    let chosen =
        task.map_or_else(|| ["--only".to_owned(), "1".to_owned()], |task| ["--task".to_owned(), task]);
    Ok(["--env".to_owned(), env.to_owned()].into_iter().chain(chosen).collect())
}

/// Checks that the report of the last session compares it with the paper: it has the row of the table, and ours.
fn check_report(home: &Path, row: &PaperRow, env: &str) {
    let output = run_program(home, &["report", "--last", "--against", "paper"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{} in {env}: {text}", row.preset);
    let name = format!("{}, {} ({})", row.paper.title, row.table, row.label);
    let (ours, theirs) = text.split_once("Published figures").unwrap_or_else(|| panic!("{env}: {text}"));
    assert!(theirs.contains(&name), "{} in {env}: no {name:?} in {text}", row.preset);
    // Its group, tasks and solved ones.
    let all =
        ours.lines().find_map(|line| line.trim().strip_prefix("all ")).unwrap_or_else(|| panic!("{text}"));
    let tasks = all.split_whitespace().next().and_then(|count| count.parse::<u32>().ok());
    assert!(tasks.is_some_and(|count| count > 0), "{} in {env}: {all}", row.preset);
}

/// One row of each paper and method in each environment that the row's figures are about, and every row where that is quick. The
/// run has the row's settings and options, plays, and its report has the row's table.
#[test]
fn rows_are_played_in_the_environments_of_their_papers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(vec![complete_reply("inventory")]));
    let home = home_with_a_lesson();
    let run_program = |args: &[&str]| run_program(home.path(), args);
    let (mut played, mut skipped) = (BTreeSet::new(), BTreeSet::new());
    let is_slow = |env: &str| matches!(env, "scienceworld" | "miniwob" | "alfworld" | "programming");
    // A calibration in the run itself is played by the test above.
    for row in published_results().iter().filter(|row| row.calibration.is_empty()) {
        for env in row.environments() {
            if is_slow(env) && played.contains(&(row.method.as_str(), env)) {
                continue;
            }
            let task = match task_of(env) {
                Ok(task) => task,
                Err(why) => {
                    skipped.insert(format!("{env}: {why}"));
                    continue;
                }
            };
            let mut args = vec!["run", "--headless", "--json", "--preset", &row.preset, "--actor", "rules"];
            args.extend(["--trials", "1", "--max-steps", "2"]);
            args.extend(task.iter().map(String::as_str));
            args.extend(["--mentor", "openai:tiny", "--base-url", &server.base]);
            if row.method == "dora" {
                args.extend(["--set", "n_init=1", "--set", "rounds=0"]);
            }
            if row.starts_with_lessons {
                args.extend(["--constitution", "pool.jsonl"]);
            }
            let output = run_program(&args);
            let text = String::from_utf8(output.stdout).unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} in {env}: {text}{errors}", row.preset);
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            for (name, value) in &row.settings {
                assert_eq!(&lines[0]["settings"][name]["value"], value, "{} in {env}: {name}", row.preset);
            }
            for (name, value) in &row.options {
                assert_eq!(&lines[0]["settings"][name]["value"], value, "{} in {env}: {name}", row.preset);
            }
            assert_eq!(lines.last().unwrap()["type"], "summary", "{} in {env}", row.preset);
            check_report(home.path(), row, env);
            played.insert((row.method.as_str(), env));
        }
    }
    println!("played {played:?}");
    print_skipped(&skipped);
    let required = |name| std::env::var(name).is_ok_and(|value| value == "required");
    if std::env::var_os("RETROSPECT_NO_SANDBOX").is_some() {
        skipped.retain(|why| !why.starts_with("programming"));
    }
    assert!(
        skipped.is_empty() || !required("RETROSPECT_REAL") || !required("RETROSPECT_GOLDEN"),
        "{skipped:?}"
    );
    assert!(played.contains(&("reflexion", "hotpotqa")) && played.contains(&("omnireflect", "babyai")));
}
