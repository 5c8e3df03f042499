//! The program with a model as prompter: `--prompter local:DIR`, and runs that are killed during their search.

use crate::folder;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns a command of the program with a home of its own, without a screen.
fn program(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(args).current_dir(home).env_clear().env("HOME", home).stdin(std::process::Stdio::null());
    command.env("RETROSPECT_CONFIG_DIR", home.join("config"));
    command.env("RETROSPECT_SESSIONS", home.join("sessions"));
    command.env("RETROSPECT_POOL", home.join("pool.jsonl"));
    command
}

fn run(home: &Path, args: &[&str]) -> Output {
    program(home, args).output().unwrap()
}

/// Returns the folder of the only session.
fn only_session(home: &Path) -> PathBuf {
    let sessions = fs::read_dir(home.join("sessions")).unwrap().flatten().map(|entry| entry.path());
    let mut sessions: Vec<PathBuf> = sessions.filter(|path| path.join("branches").is_dir()).collect();
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

/// Plays two evaluations of one attempt each. Returns the folder of the session.
fn play(home: &Path, model: &Path) -> PathBuf {
    let prompter = format!("local:{}", model.display());
    let mut args =
        vec!["run", "--env", "household", "--task", "normal/put/3", "--max-steps", "2", "--headless"];
    args.extend(["--method", "dora", "--prompter", &prompter, "--actor", "rules", "--mentor", "symbolic"]);
    for setting in ["n_init=2", "rounds=0", "attempts=1", "prompter_tokens=8"] {
        args.extend(["--set", setting]);
    }
    let output = run(home, &args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("the prompter is a local model") && errors.contains("parameters"), "{errors}");
    only_session(home)
}

/// Returns the events. A run that was killed may have left an incomplete last line.
fn journal(session: &Path) -> Vec<Value> {
    let text = fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the jobs that asked for an instruction, and the results.
fn instructions(session: &Path) -> (Vec<Value>, Vec<Value>) {
    let (mut asked, mut results) = (Vec::new(), Vec::new());
    for event in journal(session) {
        if event["type"] == "compute_requested" && event["job"]["name"] == "dora.instruct" {
            asked.push(event["job"]["inputs"].clone());
        } else if event["type"] == "computed" && event["result"]["model_name"].is_string() {
            results.push(event["result"].clone());
        }
    }
    (asked, results)
}

/// Copies a model whose folder the test may remove.
fn copy_of(name: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder(name)).unwrap().flatten() {
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn a_run_writes_its_instructions_with_the_model_and_resumes_to_the_same_ones() {
    let (home, model) = (tempfile::tempdir().unwrap(), copy_of("llama"));
    let session = play(home.path(), model.path());
    let (asked, results) = instructions(&session);
    assert_eq!((asked.len(), results.len()), (2, 2));
    for (inputs, result) in asked.iter().zip(&results) {
        assert_eq!(inputs["prompter"], "local");
        assert_eq!(inputs["model"].as_str().map(Path::new), Some(model.path()));
        assert_eq!(
            (&result["decoding"], result["tokens_out"].as_u64().unwrap() <= 8),
            (&"greedy".into(), true)
        );
        assert!(result["p_norm"].as_f64().unwrap() > 0.0);
    }
    assert_ne!(results[0]["text"], results[1]["text"], "another vector, another instruction");
    // As if it had been killed while the second instruction was written.
    let events = journal(&session);
    let is_instruct = |event: &&Value| event["type"] == "compute_requested";
    let kept = events.iter().rposition(|event| is_instruct(&event)).unwrap();
    let text = fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').take(kept + 1).collect();
    fs::write(session.join("branches/trunk.jsonl"), lines.concat()).unwrap();
    let _ = fs::remove_dir_all(session.join("index"));
    let resume = ["resume", session.to_str().unwrap(), "--headless"];
    // Without the folder the run stops, and can be resumed.
    let moved = model.path().with_extension("moved");
    fs::rename(model.path(), &moved).unwrap();
    let stopped = run(home.path(), &resume);
    assert!(!stopped.status.success());
    let said =
        String::from_utf8_lossy(&stopped.stdout).into_owned() + &String::from_utf8_lossy(&stopped.stderr);
    assert!(said.contains("config.json") || said.contains(model.path().to_str().unwrap()), "{said}");
    fs::rename(&moved, model.path()).unwrap();
    let resumed = run(home.path(), &resume);
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let (_, again) = instructions(&session);
    assert_eq!(again, results);
    assert!(journal(&session).iter().any(|event| event["type"] == "run_ended"));
}

/// Returns what a search asked for and found, in order: its jobs and their results, the advice, and the rewards.
fn search_sequence(session: &Path) -> Vec<Value> {
    let parts = journal(session).into_iter().filter_map(|event| match event["type"].as_str()? {
        "compute_requested" => Some(event["job"].clone()),
        "computed" => Some(event["result"].clone()),
        "reflected" => Some(event["reflection"]["items"].clone()),
        "memory_set" => Some(event["value"]["done"].clone()),
        _ => None,
    });
    parts.collect()
}

/// Kills a run with `kill -9` after it has printed this many lines. Returns the job that it was computing then.
fn kill_after(home: &Path, args: &[&str], lines: usize) -> Option<String> {
    let mut child = program(home, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(printed.by_ref().take(lines).flatten().count(), lines);
    child.kill().unwrap();
    child.wait().unwrap();
    let events = journal(&only_session(home));
    let mut jobs =
        events.iter().filter(|event| event["type"] == "compute_requested" || event["type"] == "computed");
    jobs.next_back()?["job"]["name"].as_str().map(str::to_owned)
}

#[test]
fn a_search_that_is_killed_resumes_to_the_same_sequence() {
    const KILLS: usize = 4;
    let prompter = format!("local:{}", folder("llama").display());
    let mut args =
        vec!["run", "--env", "household", "--task", "normal/put/3", "--max-steps", "2", "--headless"];
    args.extend([
        "--json",
        "--method",
        "dora",
        "--prompter",
        &prompter,
        "--actor",
        "rules",
        "--mentor",
        "symbolic",
    ]);
    // Two evaluations, a fit, and two more.
    for setting in ["n_init=2", "rounds=1", "batch=2", "attempts=1", "prompter_tokens=4", "intrinsic_dim=2"] {
        args.extend(["--set", setting]);
    }
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap().lines().count();
    let uninterrupted = search_sequence(&only_session(home.path()));
    let count = |name: &str| uninterrupted.iter().filter(|part| part["name"] == name).count();
    // An instruction that is there already isn't written again.
    assert!(count("dora.instruct") >= 3 && count("dora.next_points") == 1, "{uninterrupted:#?}");
    let mut during_jobs = 0;
    for n in 0..KILLS {
        let home = tempfile::tempdir().unwrap();
        let killed_after = 1 + n * (lines - 2) / KILLS;
        during_jobs += usize::from(kill_after(home.path(), &args, killed_after).is_some());
        let session = only_session(home.path());
        let resumed = run(home.path(), &["resume", session.to_str().unwrap(), "--headless"]);
        assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
        assert_eq!(search_sequence(&session), uninterrupted, "killed after {killed_after} of {lines} lines");
    }
    assert!(during_jobs > 0, "no kill happened during a job");
}

#[test]
fn a_folder_without_a_model_is_refused_before_anything_starts() {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let args = [
        "run",
        "--env",
        "household",
        "--only",
        "1",
        "--headless",
        "--method",
        "dora",
        "--prompter",
        "local:empty",
    ];
    let output = run(home.path(), &args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("config.json"), "{errors}");
    assert!(
        !home.path().join("sessions").exists()
            || fs::read_dir(home.path().join("sessions")).unwrap().count() == 0
    );
}
