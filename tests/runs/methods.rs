//! Tests of the real program: calibration and its constitution, Reflexion run directories, and custom prompts.

use serde_json::Value;
use std::process::Command;

struct Home(tempfile::TempDir);

impl Home {
    /// Runs the program in its own home folder; returns standard output, standard error and exit code.
    fn run(&self, args: &[&str]) -> (String, String, i32) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(args).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.0.path()).env("RETROSPECT_CONFIG_DIR", self.0.path().join("config"));
        command.env("RETROSPECT_SESSIONS", self.0.path().join("sessions"));
        command.env("RETROSPECT_POOL", self.0.path().join("pool.jsonl"));
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
    }

    fn lines(&self, args: &[&str]) -> (Vec<Value>, String) {
        let (out, err, code) = self.run(args);
        assert_eq!(code, 0, "{args:?}\n{out}\n{err}");
        (out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect(), err)
    }
}

fn lines_of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|l| l["type"] == kind).collect()
}

const TEST_ARGS: &[&str] = &["run", "--env", "household", "--max-steps", "5", "--json"];

#[test]
fn a_constitution_is_written_loaded_and_warned_about() {
    let home = Home(tempfile::tempdir().unwrap());
    let (lines, err) = home.lines(&["calibrate", "--env", "household", "--json", "--out", "c.jsonl"]);
    let starts = lines_of_kind(&lines, "episode_start");
    assert_eq!(starts.len(), 6, "one task of each of six types");
    assert!(starts.iter().all(|e| e["role"] == "calibrate"), "{starts:?}");
    let summary = lines_of_kind(&lines, "summary")[0];
    assert_eq!(
        (&summary["episodes"], &summary["counted"]),
        (&Value::from(6), &Value::from(0)),
        "not counted in rates"
    );
    assert!(err.contains("--constitution c.jsonl"), "{err}");
    let again = home.lines(&["calibrate", "--env", "household", "--json"]).0;
    let tasks = |lines: &[Value]| {
        lines_of_kind(lines, "episode_start").iter().map(|e| e["task"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&again), tasks(&lines), "the same tasks every time");

    let file = std::fs::read_to_string(home.0.path().join("c.jsonl")).unwrap();
    let pool: Vec<Value> = file.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(pool.len() >= 4, "{file}");
    assert_eq!(pool[0]["calibration"].as_array().unwrap().len(), 6, "the first line has the tasks");
    assert!(pool[1..].iter().all(|l| l.get("calibration").is_none()));
    assert!(pool.iter().all(|l| l["op"] == "add" && l["scope"] == "environment"), "{file}");
    assert!(pool.iter().all(|l| l["kind"] == "abstract" || l["kind"] == "error"));

    // Any method can start with it, without calling a mentor; a task that wasn't seen in calibration causes no warning.
    let test = |extra: &[&str]| home.lines(&[TEST_ARGS, extra].concat());
    let (lines, err) = test(&["--method", "react", "--task", "normal/heat/71", "--constitution", "c.jsonl"]);
    assert_eq!(lines_of_kind(&lines, "summary")[0]["lessons"], pool.len());
    assert_eq!(
        lines_of_kind(&lines, "summary")[0]["calls"],
        lines_of_kind(&lines, "summary")[0]["steps"],
        "one call per step"
    );
    assert!(!err.contains("warning"), "{err}");
    let calibration_task = pool[0]["calibration"][0]["id"].as_str().unwrap();
    let (_, err) = test(&["--method", "react", "--task", calibration_task, "--constitution", "c.jsonl"]);
    assert!(err.contains("warning: c.jsonl") && err.contains(calibration_task), "{err}");

    // Symbolic lessons are exemplars; a run that can show them records another hash of its templates.
    let templates = |args: &[&str]| test(args).0[0]["settings"]["templates"]["value"].clone();
    for (method, can_show) in [("react", false), ("omnireflect", true)] {
        let plain = templates(&["--method", method]);
        let with_exemplars = templates(&["--method", method, "--exemplars", "c.jsonl"]);
        assert_eq!(plain != with_exemplars, can_show, "{method}");
    }
    let (_, err, code) = home.run(&["run", "--exemplars", "nothing.jsonl", "--headless"]);
    assert!(code != 0 && err.contains("nothing.jsonl"), "{err}");
}

#[test]
fn one_run_calibrates_first_and_then_tests() {
    let home = Home(tempfile::tempdir().unwrap());
    let args = ["--calibrate", "--method", "react", "--task", "normal/heat/71", "--set", "explore=1"];
    let (lines, _) = home.lines(&[TEST_ARGS, &args].concat());
    let roles: Vec<&str> =
        lines_of_kind(&lines, "episode_start").iter().map(|e| e["role"].as_str().unwrap()).collect();
    assert_eq!(roles, [vec!["calibrate"; 6], vec!["explore"; 6], vec!["test"]].concat());
    assert_eq!(lines_of_kind(&lines, "summary")[0]["counted"], 1);
    let session = std::fs::read_dir(home.0.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
    home.run(&["lessons", "promote", session.to_str().unwrap()]);
    let pool = std::fs::read_to_string(home.0.path().join("pool.jsonl")).unwrap();
    assert!(pool.lines().next().unwrap().contains("\"calibration\":["), "{pool}");
    for (args, why) in [
        (&["calibrate", "--mentor", "none"][..], "--mentor none writes no lessons"),
        (
            &["calibrate", "--method", "react"],
            "the method react doesn't learn a constitution by itself; omnireflect does",
        ),
        (&["run", "--calibrate", "--jobs", "2", "--headless", "--only", "2"], "--jobs"),
    ] {
        let (_, err, code) = home.run(args);
        assert!(code == 2 && err.contains(why), "{args:?}: {err}");
    }
}

#[test]
fn a_reflexion_run_directory_is_written_and_continued() {
    let home = Home(tempfile::tempdir().unwrap());
    let run =
        ["run", "--env", "household", "--method", "reflexion", "--max-steps", "14", "--json", "--trials"];
    let tasks = ["--tasks", "easy/*/1-1", "--only", "3"];
    let (lines, _) = home.lines(&[&run[..], &["3"], &tasks].concat());
    let ended: Vec<(&str, u64, bool)> = lines_of_kind(&lines, "episode_end")
        .iter()
        .map(|e| (e["task"].as_str().unwrap(), e["trial"].as_u64().unwrap(), e["won"].as_bool().unwrap()))
        .collect();
    let won = |task: &str, trials: u64| ended.iter().any(|(t, n, won)| *t == task && *n <= trials && *won);
    let names: Vec<&str> = ended[..3].iter().map(|e| e.0).collect();
    let solved = names.iter().filter(|t| won(t, 3)).count();
    assert!(solved > 0 && solved < 3, "some are won, some are not: {ended:?}");

    let (_, err, code) = home.run(&["export", "--last", "--format", "reflexion", "--out", "dir"]);
    assert!(code == 0 && err.contains("wrote 7 files"), "{err}");
    let read = |name: &str| std::fs::read_to_string(home.0.path().join("dir").join(name)).unwrap();
    let results: Vec<Value> = serde_json::from_str(&read("env_results_trial_2.json")).unwrap();
    for (index, (row, task)) in results.iter().zip(&names).enumerate() {
        assert_eq!(row["name"], format!("env_{index}"));
        assert_eq!((&row["is_success"], &row["skip"]), (&Value::from(won(task, 3)), &Value::from(false)));
        let plans = row["memory"].as_array().unwrap().len();
        let lost = (1..3).filter(|trials| !won(task, *trials)).count();
        assert_eq!(plans, lost, "one plan after each lost trial except the last");
    }
    assert!(
        read("env_results_trial_2.json")
            .starts_with("[\n    {\n        \"name\": \"env_0\",\n        \"memory\": [")
    );
    let log = read("trial_2.log");
    let chunks: Vec<&str> = log.split("#####\n\n#####").collect();
    assert_eq!(chunks.len(), 3, "the public code splits the log like this, and asserts one chunk per task");
    for (chunk, task) in chunks.iter().zip(&names) {
        if won(task, 2) {
            assert!(chunk.contains(": Success\n"), "{chunk}");
            continue;
        }
        let scenario = chunk.rsplit("Here is the task:").next().unwrap();
        assert!(scenario.trim_start().starts_with("You are in the middle of a room."), "{chunk}");
        assert!(scenario.contains("\nYour task is to:") && scenario.contains("\n> "), "{scenario}");
        assert!(chunk.contains("\n\nYour memory for the task below:\nTrial 0:\n"), "{chunk}");
        assert!(scenario.contains(if won(task, 3) { "\n\nSTATUS: OK\n\n" } else { "\n\nSTATUS: FAIL\n\n" }));
    }
    let totals = format!("\n-----\nSUCCESS: {solved}\nADDITIONAL SUCCESS: ");
    assert!(
        log.contains(&totals) && log.contains("\nTOTAL: 3\nACCURACY: 0.") && log.ends_with("\n-----"),
        "{log}"
    );
    let world = read("world.log");
    assert!(world.starts_with("\n\n***** Start Trial #0 *****\n\nEnvironment #0 Trial #0: "), "{world}");
    assert!(world.contains("\n\n***** End Trial #2 *****\n\n") && world.contains(&totals));

    // It can be opened as a session with the same steps and plans.
    let (text, _, code) = home.run(&["open", "dir", "--plain"]);
    assert_eq!((code, text.matches("\nEpisode ").count()), (0, 2 * ended.len()), "{text}");
    let (_, err, code) = home.run(&["export", "dir", "--format", "reflexion", "--out", "opened"]);
    assert_eq!(code, 0, "{err}");
    for trial in 0..3 {
        let name = format!("env_results_trial_{trial}.json");
        let again = std::fs::read_to_string(home.0.path().join("opened").join(&name)).unwrap();
        assert_eq!(again, read(&name));
    }
    let steps = |log: &str| log.rsplit("Here is the task:").next().unwrap().to_owned();
    let again = std::fs::read_to_string(home.0.path().join("opened/trial_2.log")).unwrap();
    assert_eq!(steps(&again), steps(&log));
    let (_, err, code) = home.run(&["resume", "dir", "--headless"]);
    assert!(code == 1 && err.contains("can't be continued or changed: it has nothing to replay"), "{err}");
    let (_, err, code) = home.run(&["rerun", "dir#1", "--headless"]);
    assert!(code == 1 && err.contains("an imported reflexion run can't be played again"), "{err}");
    let (said, err, code) = home.run(&["verify", "dir"]);
    assert!(code == 0 && said.contains("an imported run has nothing to replay"), "{said}{err}");
    assert!(!said.contains("--data") && !err.contains("--data"), "{said}{err}");

    // Continuing it skips solved tasks, and each plan is only in the prompts of its own task.
    let (lines, err) = home.lines(&[&run[..], &["4"], &tasks, &["--reflexion", "dir"]].concat());
    assert!(err.contains("trials left: 1"), "{err}");
    let remaining: Vec<&str> = names.iter().copied().filter(|t| !won(t, 3)).collect();
    let starts = lines_of_kind(&lines, "episode_start");
    assert_eq!(starts.iter().map(|e| e["task"].as_str().unwrap()).collect::<Vec<_>>(), remaining);
    let (_, _, code) = home.run(&["export", "--last", "--format", "reflexion", "--out", "again"]);
    assert_eq!(code, 0);
    let again = std::fs::read_to_string(home.0.path().join("again/env_results_trial_0.json")).unwrap();
    let again: Vec<Value> = serde_json::from_str(&again).unwrap();
    let memory = |rows: &[Value]| rows.iter().map(|r| r["memory"].clone()).collect::<Vec<_>>();
    let unsolved: Vec<Value> = results.iter().filter(|r| r["is_success"] == false).cloned().collect();
    assert_eq!(memory(&again), memory(&unsolved), "the memory is unchanged after export and import");

    // Importing into a pool: unknown and missing keys are fine, a second import adds nothing, and errors name the
    // entry.
    let old = r#"[{"memory": ["Look twice."], "v": 3}, {"name": "env_1", "is_success": true}]"#;
    std::fs::write(home.0.path().join("env_results_trial_7.json"), old).unwrap();
    for expected in ["1 of 1 changes were new", "0 of 1 changes were new"] {
        let (out, err, _) = home.run(&["lessons", "import", "env_results_trial_7.json"]);
        assert!(out.contains(expected), "{out}{err}");
    }
    let (out, ..) = home.run(&["lessons", "list", "--json"]);
    let lesson: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&lesson["kind"], &lesson["scope"]), (&Value::from("plan"), &Value::from("task")));
    std::fs::write(home.0.path().join("env_results_trial_8.json"), r#"[{"memory": [3]}]"#).unwrap();
    let (_, err, code) = home.run(&["lessons", "import", "env_results_trial_8.json"]);
    assert!(code == 1 && err.contains("env_results_trial_8.json, entry 0"), "{err}");
}

#[test]
fn custom_prompts_are_read_with_their_location() {
    let home = Home(tempfile::tempdir().unwrap());
    let folder = home.0.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    let write = |text: &str| std::fs::write(folder.join("alfworld_3prompts.json"), text).unwrap();
    write(r#"{"react_heat_0": "Zero.\n> look\nOK.", "react_heat_1": "One.\n> look\nOK."}"#);
    let args = ["--method", "react", "--task", "normal/heat/71", "--prompts", "mine"];
    home.lines(&[TEST_ARGS, &args].concat());
    let session = std::fs::read_dir(home.0.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_dir(session.join("branches")).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(journal).unwrap();
    assert!(
        journal.contains("One.\\n> look") && journal.contains("Zero.\\n> look"),
        "both examples are in the journal"
    );
    write("{\n\"react_heat_0\": 1}");
    let (out, _, code) = home.run(&[TEST_ARGS, &args].concat());
    assert!(code == 1 && out.contains("alfworld_3prompts.json:2"), "{code} {out}");
}
