//! The same with the real program: killed, out of disk space, and in eight processes.

use retrospect::driver::measure::{merge_logs, read_log};
use retrospect::timeline::effect::EffectRecord;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_retrospect");
/// An answer in the README's episode, which is part of the program.
const MEASURE: &[&str] = &[
    "lessons",
    "effect",
    "--session",
    "hot-mug-untaught",
    "--text",
    "Look for a mug in/on a shelf first.",
    "--only",
    "here",
    "--step",
    "25",
    "--placebo",
    "none",
    "--pairs",
    "8",
    "--keep-going",
];

/// Returns the program in a folder, with an environment of its own.
fn program(dir: &Path) -> Command {
    let mut program = Command::new(PROGRAM);
    program.current_dir(dir).env_clear().env("HOME", dir).stdin(Stdio::null());
    program
}

fn command(dir: &Path, more: &[&str]) -> Command {
    let mut command = program(dir);
    command.args(MEASURE).args(more).args(["--pool", "pool.jsonl"]);
    command
}

/// Returns what the program prints.
fn retrospect(dir: &Path, arguments: &[&str]) -> String {
    let output = program(dir).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns what a verb of `lessons` prints, with the pool of the folder.
fn lessons(dir: &Path, arguments: &[&str]) -> String {
    retrospect(dir, &[&["lessons"], arguments, &["--pool", "pool.jsonl"]].concat())
}

fn run(dir: &Path, more: &[&str]) -> Output {
    let output = command(dir, more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns the only log of this name below a folder.
fn find_log(dir: &Path, name: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(dir.join("effects")).ok()?;
    folders.flatten().map(|folder| folder.path().join(name)).find(|path| path.is_file())
}

#[test]
fn a_killed_program_continues_to_the_same_log() {
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(whole.path(), &[]);
    let expected = std::fs::read(find_log(whole.path(), "log.jsonl").unwrap()).unwrap();
    for lines in [1, 4, 11] {
        let mut program =
            command(killed.path(), &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(300);
        loop {
            let written = find_log(killed.path(), "log.jsonl").map(|path| std::fs::read(path).unwrap());
            let count = written.map_or(0, |log| log.split(|byte| *byte == b'\n').count() - 1);
            if count >= lines || program.try_wait().unwrap().is_some() {
                break;
            }
            assert!(Instant::now() < deadline, "{count} lines");
            std::thread::sleep(Duration::from_millis(2));
        }
        program.kill().unwrap();
        program.wait().unwrap();
        let log = std::fs::read(find_log(killed.path(), "log.jsonl").unwrap()).unwrap();
        let complete = log.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        assert!(expected.starts_with(&log[..complete]), "after {lines} lines");
    }
    run(killed.path(), &[]);
    let log = std::fs::read(find_log(killed.path(), "log.jsonl").unwrap()).unwrap();
    assert!(log == expected, "{}", String::from_utf8_lossy(&log));
}

#[test]
fn a_full_disk_keeps_what_was_measured() {
    let (whole, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(whole.path(), &["--keep", "none"]);
    let expected = std::fs::read(find_log(whole.path(), "log.jsonl").unwrap()).unwrap();
    // Files can't grow beyond four blocks of 512 or 1024 bytes, depending on the shell; the log is longer.
    let arguments = ["--keep", "none"];
    let mut limited = Command::new("sh");
    let program = command(full.path(), &arguments);
    let words = program.get_args().map(std::borrow::ToOwned::to_owned);
    limited.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"", PROGRAM]).args(words);
    limited.current_dir(full.path()).env_clear().env("HOME", full.path()).stdin(Stdio::null());
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"), "{output:?}");
    let log = std::fs::read(find_log(full.path(), "log.jsonl").unwrap()).unwrap();
    assert!(log.ends_with(b"\n") && expected.starts_with(&log) && log.len() < expected.len());
    run(full.path(), &["--keep", "none"]);
    assert!(std::fs::read(find_log(full.path(), "log.jsonl").unwrap()).unwrap() == expected);
}

#[test]
fn eight_processes_give_the_log_of_one() {
    let (one, eight) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(one.path(), &["--keep", "none"]);
    let expected = std::fs::read(find_log(one.path(), "log.jsonl").unwrap()).unwrap();
    let shards: Vec<String> = (1..=8).map(|index| format!("{index}/8")).collect();
    let running: Vec<_> = shards
        .iter()
        .map(|shard| {
            let mut shard = command(eight.path(), &["--keep", "none", "--shard", shard]);
            shard.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for shard in running {
        let output = shard.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let logs: Vec<PathBuf> =
        (1..=8).map(|index| find_log(eight.path(), &format!("shard-{index}-of-8.jsonl")).unwrap()).collect();
    let logs: Vec<&str> = logs.iter().map(|log| log.to_str().unwrap()).collect();
    retrospect(eight.path(), &[&["lessons", "effect", "--json", "--merge"], &logs[..]].concat());
    assert!(std::fs::read(find_log(eight.path(), "log.jsonl").unwrap()).unwrap() == expected);
}

#[test]
fn json_has_the_plan_every_pair_and_the_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["--json"]);
    let lines: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types[0], "plan");
    assert_eq!(types.iter().filter(|kind| **kind == "pair").count(), 8);
    assert_eq!(types[types.len() - 2..], ["verdict", "summary"]);
    let (plan, verdict) = (&lines[0], &lines[lines.len() - 2]);
    assert_eq!((plan["alpha"].as_f64(), plan["frozen"].as_bool()), (Some(0.05), Some(true)));
    assert_eq!(verdict["pairs"].as_u64(), Some(8));
    let counted: u64 = ["a", "b", "c", "d"].iter().map(|name| verdict[name].as_u64().unwrap()).sum();
    assert_eq!(counted, 8);
    assert!(verdict["low"].as_f64().unwrap() <= verdict["high"].as_f64().unwrap());
}

#[test]
fn exit_codes_tell_verdicts_budgets_and_mistakes_apart() {
    let dir = tempfile::tempdir().unwrap();
    let code = |more: &[&str]| command(dir.path(), more).output().unwrap().status.code();
    // Nothing happens in two steps, so it isn't decided; the measurement reached its budget.
    let undecided = program(dir.path())
        .args(["lessons", "effect", "--text", "Look.", "--env", "household", "--tasks", "easy/put/1-3"])
        .args(["--pairs", "2", "--placebo", "none", "--pool", "pool.jsonl"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&undecided.stderr);
    assert_eq!(undecided.status.code(), Some(3), "{said}");
    // Regression: that a budget had stopped it was said where all planned pairs were played.
    assert!(said.contains("undecided after all planned pairs") && !said.contains("a budget"), "{said}");
    assert_eq!(code(&["--expect", "harmful"]), Some(1));
    assert_eq!(code(&["--contrast", "with,nothing"]), Some(2));
    assert_eq!(code(&["--shard", "9/8"]), Some(2));
    assert_eq!(code(&["--in-episode", "9"]), Some(2));
    // What the session says isn't ignored in silence.
    assert_eq!(code(&["--actor", "rules"]), Some(2));
    assert_eq!(code(&["--set", "r_freq=3"]), Some(2));
    // Progress is no outcome where it says no more than success.
    let no_progress = program(dir.path())
        .args([
            "lessons",
            "effect",
            "--text",
            "Look.",
            "--env",
            "babyai",
            "--task",
            "UnlockPickupDist/1",
            "--pairs",
            "2",
        ])
        .args(["--outcome", "progress", "--pool", "pool.jsonl"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&no_progress.stderr).into_owned();
    assert!(no_progress.status.code() == Some(2) && error.contains("has no sub-goals"), "{error}");
    // A budget in money stops nothing that has no price.
    assert_eq!(code(&["--cost", "2.50"]), Some(2));
    assert_eq!(code(&["--cost", "cheap"]), Some(2));
    // Without a budget somebody must confirm the plan.
    let unconfirmed = program(dir.path())
        .args(["lessons", "effect", "--text", "Look.", "--env", "household", "--tasks", "easy/put/1-3"])
        .args(["--pool", "pool.jsonl"])
        .output()
        .unwrap();
    assert_eq!(unconfirmed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unconfirmed.stderr).contains("--yes"), "{unconfirmed:?}");
}

#[test]
fn a_result_stays_with_the_lesson_in_the_pool() {
    let dir = tempfile::tempdir().unwrap();
    lessons(dir.path(), &["add", "Do not repeat an action that did nothing."]);
    let markdown = lessons(
        dir.path(),
        &[
            "effect",
            "--lesson",
            "1",
            "--env",
            "household",
            "--tasks",
            "easy/put/1-2",
            "--pairs",
            "2",
            "--keep-going",
            "--placebo",
            "none",
            "--markdown",
        ],
    );
    assert!(markdown.contains("| 2 |") && markdown.contains("# Effect of a lesson"), "{markdown}");
    let pool = std::fs::read_to_string(dir.path().join("pool.jsonl")).unwrap();
    let line: Value = serde_json::from_str(pool.lines().last().unwrap()).unwrap();
    assert_eq!(
        (line["op"].as_str(), line["measured"]["pairs"].as_u64()),
        (Some("measured"), Some(2)),
        "{pool}"
    );
    assert!(lessons(dir.path(), &["list"]).contains("2 pairs"), "{}", lessons(dir.path(), &["list"]));
}

/// Regression: only the last of several trials could be measured in.
#[test]
fn an_earlier_episode_can_be_measured_in() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sessions")).unwrap();
    let run = "run --env household --task hard/put/1 --method reflexion --trials 2 --max-steps 8 --headless";
    retrospect(dir.path(), &run.split(' ').collect::<Vec<_>>());
    let session = sessions(dir.path()).remove(0).display().to_string();
    for (place, started) in [
        (&["--in-episode", "1", "--step", "5"][..], "from step 5 of episode 1 on"),
        (&["--in-episode", "1"], "from the start of episode 1"),
        (&["--step", "5"], "from step 5 of episode 2 on"),
    ] {
        let measure = ["effect", "--session", &session, "--text", "Look.", "--only", "here", "--markdown"];
        let size = ["--pairs", "1", "--keep-going", "--placebo", "none"];
        let page = lessons(dir.path(), &[&measure[..], &size, place].concat());
        assert!(page.contains(started), "{place:?}: {page}");
    }
}

/// Regression: the result of shards was stored with no lesson.
#[test]
fn a_merged_result_stays_with_the_lesson_in_the_pool() {
    let dir = tempfile::tempdir().unwrap();
    lessons(dir.path(), &["add", "Do not repeat an action that did nothing."]);
    let measure =
        ["effect", "--lesson", "1", "--env", "household", "--tasks", "normal/put/1-4", "--pairs", "4"];
    let edited = ["--keep-going", "--edited", "Look for a mug in/on a shelf first.", "--keep", "all"];
    for shard in ["1/2", "2/2"] {
        lessons(dir.path(), &[&measure[..], &edited, &["--shard", shard]].concat());
    }
    assert!(!lessons(dir.path(), &["list"]).contains("measured"), "nothing is kept of a shard");
    let logs: Vec<String> = (1..=2)
        .map(|n| find_log(dir.path(), &format!("shard-{n}-of-2.jsonl")).unwrap().display().to_string())
        .collect();
    // Regression: with a shard missing, all pairs were said to be played, and the exit code was that of a complete measurement.
    let part = ["lessons", "effect", "--merge", &logs[0], "--pool", "pool.jsonl"];
    let part = program(dir.path()).args(part).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&part.stdout), String::from_utf8_lossy(&part.stderr));
    assert_eq!(part.status.code(), Some(3), "{said}");
    for text in ["no log of shard 2 of 2", "not complete: 2 pairs of missing shards", "won", "of 2 "] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert_eq!(find_log(dir.path(), "log.jsonl"), None, "a merged log is a complete one");
    lessons(dir.path(), &["effect", "--merge", &logs[0], &logs[1]]);
    assert!(lessons(dir.path(), &["list"]).contains("4 pairs"), "{}", lessons(dir.path(), &["list"]));
    let merged = std::fs::read(find_log(dir.path(), "log.jsonl").unwrap()).unwrap();
    // One process, in a folder of its own.
    let one = tempfile::tempdir().unwrap();
    std::fs::copy(dir.path().join("pool.jsonl"), one.path().join("pool.jsonl")).unwrap();
    lessons(one.path(), &[&measure[..], &edited].concat());
    let whole = std::fs::read(find_log(one.path(), "log.jsonl").unwrap()).unwrap();
    assert!(merged == whole, "{}", String::from_utf8_lossy(&merged));
}

/// Regression: the log of an older version's merge, which lacked a shard, kept the complete one from being written.
#[test]
fn a_complete_merge_replaces_the_log_of_a_partial_one() {
    let dir = tempfile::tempdir().unwrap();
    for shard in ["1/2", "2/2"] {
        let tasks = ["--env", "household", "--tasks", "normal/put/1-4", "--pairs", "4", "--keep-going"];
        let lesson = ["effect", "--text", "Look.", "--placebo", "none", "--shard", shard];
        lessons(dir.path(), &[&lesson[..], &tasks].concat());
    }
    let logs =
        [1, 2].map(|n| find_log(dir.path(), &format!("shard-{n}-of-2.jsonl")).unwrap().display().to_string());
    let merged = Path::new(&logs[0]).with_file_name("log.jsonl");
    let merge = || {
        let merge = ["lessons", "effect", "--merge", &logs[0], &logs[1]];
        let output = program(dir.path()).args(merge).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    merge();
    let complete = std::fs::read_to_string(&merged).unwrap();
    let part = merge_logs(&[("1".to_owned(), read_log(Path::new(&logs[0])).unwrap())]).unwrap();
    let lines = |records: &[EffectRecord]| -> String {
        records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
    };
    let part = lines(&part);
    assert!(part.contains("its shard never ran") && !complete.starts_with(&part), "{part}");
    std::fs::write(&merged, &part).unwrap();
    assert!(!merge().contains("not replaced"));
    assert_eq!(std::fs::read_to_string(&merged).unwrap(), complete);
    // A play that the logs don't have is never lost.
    let other = part.lines().find(|line| line.contains("effect_episode")).unwrap();
    let number = |pair: u32| format!("\"pair\":{pair},");
    let own = (1..=4).map(number).find(|own| other.contains(own.as_str())).unwrap();
    let more = format!("{part}{}\n", other.replace(&own, &number(9)));
    std::fs::write(&merged, &more).unwrap();
    let said = merge();
    assert!(said.contains("not replaced") && said.contains("move that file away and merge again"), "{said}");
    assert_eq!(std::fs::read_to_string(&merged).unwrap(), more);
}

/// Calibrates on a task of each type into `pool.jsonl`, and plays another task with that pool. Returns the session that was played.
fn calibrate_and_play(dir: &Path) -> PathBuf {
    std::fs::create_dir(dir.join("sessions")).unwrap();
    retrospect(dir, &["calibrate", "--env", "household", "--per-type", "1", "--out", "pool.jsonl"]);
    let before = sessions(dir);
    let run = ["run", "--env", "household", "--task", "easy/put/1", "--method", "omnireflect"];
    retrospect(dir, &[&run[..], &["--pool", "pool.jsonl", "--headless"]].concat());
    sessions(dir).into_iter().find(|path| !before.contains(path)).unwrap()
}

/// Regression: a lesson that was learned in a calibration was measured "elsewhere" on its own calibration tasks.
#[test]
fn elsewhere_has_no_task_on_which_the_lesson_was_learned() {
    let dir = tempfile::tempdir().unwrap();
    let session = calibrate_and_play(dir.path());
    let pool = std::fs::read_to_string(dir.path().join("pool.jsonl")).unwrap();
    let lines: Vec<Value> = pool.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids = |tasks: &Value| -> Vec<String> {
        let tasks = tasks.as_array().into_iter().flatten();
        tasks.map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    let calibrated: Vec<String> = lines.iter().flat_map(|line| ids(&line["calibration"])).collect();
    assert_eq!(calibrated.len(), 6);
    assert!(
        lines.iter().any(|line| !ids(&line["learned_on"]).is_empty()),
        "a lesson's own tasks are recorded"
    );
    let measure = ["--lesson", "1", "--only", "elsewhere", "--keep-going", "--placebo", "none", "--json"];
    let session = ["lessons", "effect", "--session", session.to_str().unwrap(), "--pool", "pool.jsonl"];
    let planned = |pairs: &str| -> (String, Vec<String>) {
        let output = retrospect(dir.path(), &[&session[..], &measure, &["--pairs", pairs]].concat());
        let plan: Value = serde_json::from_str(output.lines().next().unwrap()).unwrap();
        (plan["effect"].as_str().unwrap().to_owned(), ids(&plan["tasks"]))
    };
    let (effect, tasks) = planned("1");
    assert!(tasks.len() > 100 && tasks.iter().all(|task| !calibrated.contains(task)), "{tasks:?}");
    // More pairs continue the same measurement.
    let log = || std::fs::read(find_log(Path::new(session[3]), "log.jsonl").unwrap()).unwrap();
    let begun = log();
    assert_eq!(planned("3"), (effect, tasks));
    let episodes = |log: &[u8]| String::from_utf8_lossy(log).matches("effect_episode").count();
    assert!(log().starts_with(&begun) && (episodes(&begun), episodes(&log())) == (2, 6));
}

/// Regression: with the pool moved, or in other words, a lesson was measured "elsewhere" on the tasks on which it had been learned, without a
/// word.
#[test]
fn a_moved_pool_and_another_wording_bring_no_source_of_the_lesson_back() {
    let dir = tempfile::tempdir().unwrap();
    let session = calibrate_and_play(dir.path());
    let pool = std::fs::read_to_string(dir.path().join("pool.jsonl")).unwrap();
    let lines: Vec<Value> = pool.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calibrated: Vec<String> = lines
        .iter()
        .flat_map(|line| line["calibration"].as_array().into_iter().flatten())
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(calibrated.len(), 6);
    // Without a session, they count, and the title says so.
    let over_tasks = ["lessons", "effect", "--env", "household", "--task", &calibrated[0], "--lesson", "1"];
    let said = retrospect(
        dir.path(),
        &[&over_tasks[..], &["--pool", "pool.jsonl", "--pairs", "1", "--keep-going"]].concat(),
    );
    assert!(said.contains("household tasks (1 task; learned on 1 of them)"), "{said}");
    std::fs::rename(dir.path().join("pool.jsonl"), dir.path().join("moved.jsonl")).unwrap();
    let planned = |lesson: [&str; 2]| -> (Vec<String>, String) {
        let output = program(dir.path())
            .args(["lessons", "effect", "--session", session.to_str().unwrap(), "--pool", "other.jsonl"])
            .args(["--only", "elsewhere", "--keep-going", "--placebo", "none", "--json", "--pairs", "1"])
            .args(lesson)
            .output()
            .unwrap();
        let (plan, said) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{said}");
        let plan: Value = serde_json::from_str(plan.lines().next().unwrap()).unwrap();
        let tasks = plan["tasks"].as_array().unwrap().iter();
        (tasks.map(|task| task["id"].as_str().unwrap().to_owned()).collect(), said)
    };
    for lesson in [["--lesson", "1"], ["--text", "The same in other words."]] {
        let (tasks, said) = planned(lesson);
        assert!(
            tasks.len() > 100 && tasks.iter().all(|task| !calibrated.contains(task)),
            "{lesson:?}: {tasks:?}"
        );
        assert!(!said.contains("warning: elsewhere"), "{said}");
    }
    // A session of an earlier version doesn't have the sources.
    let journal = session.join("branches/trunk.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let older: Vec<String> = text.lines().map(without_sources).collect();
    assert_ne!(older.join("\n") + "\n", text);
    std::fs::write(&journal, older.join("\n") + "\n").unwrap();
    let (_, said) = planned(["--lesson", "1"]);
    assert!(said.contains("warning: elsewhere may have tasks on which the lesson was learned"), "{said}");
    assert!(said.contains("pool.jsonl can't be read"), "{said}");
}

/// Returns a line of a journal as an earlier version wrote it.
fn without_sources(line: &str) -> String {
    let Some((before, rest)) = line.split_once(",\"sources\":[") else { return line.to_owned() };
    format!("{before}{}", rest.split_once(']').unwrap().1)
}

/// Regression: a measurement of tokens that had played all its pairs ended as stopped by a budget.
#[test]
fn a_measurement_of_tokens_ends_with_its_interval() {
    let dir = tempfile::tempdir().unwrap();
    let (last, measure) = MEASURE.split_last().unwrap();
    assert_eq!(*last, "--keep-going");
    let said = retrospect(dir.path(), &[measure, &["--outcome", "tokens", "--pool", "pool.jsonl"]].concat());
    assert!(said.contains("with - without: tokens ") && said.contains(" · 8 pairs; no verdict"), "{said}");
}

fn sessions(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir.join("sessions")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A session that has ended isn't written any more; its exports have what was measured of its lessons all the same.
#[test]
fn exports_of_a_closed_session_have_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sessions")).unwrap();
    retrospect(
        dir.path(),
        &["lessons", "add", "Do not repeat an action that did nothing.", "--pool", "pool.jsonl"],
    );
    let run = [
        "run",
        "--env",
        "household",
        "--task",
        "easy/put/1",
        "--method",
        "omnireflect",
        "--pool",
        "pool.jsonl",
    ];
    retrospect(dir.path(), &[&run[..], &["--headless"]].concat());
    std::fs::remove_file(dir.path().join("pool.jsonl")).unwrap();
    let session = std::fs::read_dir(dir.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let session = session.to_str().unwrap();
    let journal = || std::fs::read(Path::new(session).join("branches/trunk.jsonl")).unwrap();
    let before = journal();
    let measure = ["lessons", "effect", "--session", session, "--lesson", "1", "--only", "elsewhere"];
    retrospect(dir.path(), &[&measure[..], &["--pairs", "2", "--keep-going", "--placebo", "none"]].concat());
    assert!(journal() == before, "the session is closed");
    let exported = |format: &str| retrospect(dir.path(), &["export", session, "--format", format]);
    for format in ["markdown", "html"] {
        let page = exported(format).replace('\\', "");
        assert!(page.contains("elsewhere") && page.contains("2 pairs"), "{format}: {page}");
    }
    let json: Value = serde_json::from_str(&exported("json")).unwrap();
    assert_eq!(json["lessons"][0]["measured"][0]["pairs"].as_u64(), Some(2), "{}", json["lessons"]);
}
