//! The processes that programs run in.

use crate::episodes::{RIGHT, Test, play};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const TESTS: &[Test] = &[
    ("nothing is left after kill -9 of this program", nothing_survives_kill),
    ("other processes of the same user are no obstacle", other_processes_do_not_count),
];

/// Longer than anything takes to end.
const LONG: Duration = Duration::from_secs(30);
/// A part of the judge's text, which is an argument of its process.
const MARK: &str = "retrospect-ready";

/// Returns the number of judges that run, in a sandbox or not.
fn running() -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let words = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    words.filter(|words| String::from_utf8_lossy(words).contains(MARK)).count()
}

fn wait_until(condition: impl Fn(usize) -> bool) -> usize {
    let start = Instant::now();
    loop {
        let count = running();
        if condition(count) || start.elapsed() > LONG {
            return count;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until none is left. Returns how many are.
pub(crate) fn wait_until_none() -> usize {
    wait_until(|count| count == 0)
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
    assert!(wait_until(|count| count > 0) > 0, "no program was started");
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
