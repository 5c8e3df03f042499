//! The built program, killed with `kill -9` in the middle of a run in an environment that is another program, and resumed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

use super::processes::{Process, in_groups_of, wait_until, wait_until_all_gone, with_variable};
use retrospect::engine::Event;
use retrospect::journal::read_branch;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// How often a run is started again because it had ended before it could be killed.
const ATTEMPTS: usize = 10;

/// Returns a command of the program, whose files, and whose processes' files, are below a folder.
fn program(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(args).args(["--headless", "--json"]).current_dir(home).env("HOME", home);
    command
        .env("RETROSPECT_CONFIG_DIR", home.join("config"))
        .env("RETROSPECT_SESSIONS", home.join("sessions"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Returns what the steps of the only session of a folder were, and what they were answered; and whether the run has ended.
fn played(home: &Path) -> (Vec<(String, String)>, bool) {
    let sessions = std::fs::read_dir(home.join("sessions")).unwrap();
    let mut journals = sessions.map(|entry| entry.unwrap().path().join("branches/trunk.jsonl"));
    let events = read_branch(&journals.find(|journal| journal.is_file()).unwrap()).unwrap().events;
    let mut steps = Vec::new();
    let mut action = String::new();
    for envelope in &events {
        match &envelope.event {
            Event::WorldReset { result, .. } => steps.push(("reset".to_owned(), result.observation.clone())),
            Event::ActionTaken { executed, .. } => action.clone_from(&executed.action),
            Event::Observed { result, .. } => steps.push((action.clone(), result.observation.clone())),
            _ => {}
        }
    }
    (steps, events.iter().any(|envelope| matches!(envelope.event, Event::RunEnded)))
}

/// Kills a run after it has printed this many steps. Returns the processes that its environment had then, or `None` if the run had
/// ended before.
fn kill_after(home: &Path, args: &[&str], steps: usize) -> Option<Vec<Process>> {
    let mut program = program(home, args).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_step =
        |line: &String| serde_json::from_str::<Value>(line).is_ok_and(|line| line["type"] == "step");
    // It reads no further than it must.
    let printed = lines.by_ref().filter(is_step).take(steps).count();
    let processes = in_groups_of(program.id());
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(wait_until_all_gone(&processes), Vec::<String>::new());
    (printed == steps && !processes.is_empty() && !played(home).1).then_some(processes)
}

/// Checks that a run that is killed after some steps leaves no process behind, and that the session is resumed and played to the same
/// end as a run that nobody kills, after which no process is left either.
pub(crate) fn check_killed_run(args: &[&str], steps: usize) {
    let whole = tempfile::tempdir().unwrap();
    assert!(program(whole.path(), args).output().unwrap().status.success());
    let (expected, has_ended) = played(whole.path());
    assert!(has_ended && expected.len() > steps + 1, "{} answers", expected.len());
    let (home, processes) = (0..ATTEMPTS)
        .find_map(|_| {
            let home = tempfile::tempdir().unwrap();
            kill_after(home.path(), args, steps).map(|processes| (home, processes))
        })
        .unwrap_or_else(|| panic!("each of {ATTEMPTS} runs ended before it was killed"));
    let home_name = home.path().to_str().unwrap();
    let none_is_left = || {
        let what = format!("processes are left: {:?}", with_variable("HOME", home_name));
        wait_until(&what, || with_variable("HOME", home_name).is_empty());
    };
    none_is_left();
    let (before, _) = played(home.path());
    assert!(expected.starts_with(&before) && before.len() > steps, "{before:?}");
    let resumed = program(home.path(), &["resume", "--last"]).output().unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stdout));
    assert_eq!(played(home.path()), (expected, true), "after {} processes were killed", processes.len());
    none_is_left();
}
