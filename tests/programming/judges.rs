//! The processes that judge programs.

use crate::episodes::{RIGHT, Test, play};
use crate::processes::{Process, running, wait_until, wait_until_all_gone};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write as _;
use std::process::{Command, Stdio};

pub(crate) const TESTS: &[Test] = &[
    ("nothing is left after kill -9 of this program", nothing_survives_kill),
    ("other processes of the same user are no obstacle", other_processes_do_not_count),
];

/// A part of the judge's text, which is an argument of its process.
const MARK: &str = "retrospect-ready";

/// Returns the judges that run, in a sandbox or not.
fn judges() -> Vec<Process> {
    let is_judge = |process: &Process| process.words.iter().any(|word| word.contains(MARK));
    running().into_iter().filter(is_judge).collect()
}

/// Waits until those that run have ended. Returns how many haven't.
pub(crate) fn wait_until_none() -> usize {
    wait_until_all_gone(&judges()).len()
}

fn nothing_survives_kill() {
    assert_eq!(wait_until_none(), 0);
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_retrospect"))
        .args(["play", "--env", "programming", "--task", "count-steps", "--json"])
        .current_dir(home.path())
        .env("RETROSPECT_CONFIG_DIR", home.path().join("config"))
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "\"code\\nimport os\\nos.fork()\\nwhile True: pass\"").unwrap();
    wait_until("no program was started", || !judges().is_empty());
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(wait_until_none(), 0);
}

/// Regression: the limit of 32 processes was set outside of the sandbox, where all processes of the user count, so that nothing could
/// be run on a usual desktop.
fn other_processes_do_not_count() {
    let is_root = rustix::process::geteuid().is_root();
    let words: &[&str] = if is_root {
        &["setpriv", "--reuid=65534", "--clear-groups", "sleep", "100"]
    } else {
        &["sleep", "100"]
    };
    let mut others: Vec<_> = (0..40)
        .map(|_| Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).spawn().unwrap())
        .collect();
    let result = std::panic::catch_unwind(|| play("count-steps", &[], &[RIGHT]));
    for other in &mut others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    assert!(result.unwrap().won);
}
