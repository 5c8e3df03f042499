//! Processes that a test has started, and those that these have started.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::{Duration, Instant};

/// Longer than anything takes to start or to end.
const LONG: Duration = Duration::from_secs(120);

/// A process that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    parent: i32,
    group: i32,
    pub(crate) words: Vec<String>,
}

/// Returns all processes that have not ended. One that nobody has reaped has ended.
pub(crate) fn running() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may contain anything.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        (state != "Z").then(|| Process { pid, parent, group, words: words.collect() })
    })
    .collect()
}

/// Returns the processes of the groups that the children of a process lead: those of the environments that it has started.
pub(crate) fn in_groups_of(parent: u32) -> Vec<Process> {
    let all = running();
    let leads = |process: &&Process| process.parent == parent.cast_signed() && process.group == process.pid;
    let groups: Vec<i32> = all.iter().filter(leads).map(|process| process.group).collect();
    all.into_iter().filter(|process| groups.contains(&process.group)).collect()
}

/// Returns the children of a process of whose command a part is this text.
pub(crate) fn children_with(parent: u32, text: &str) -> Vec<i32> {
    let is_one = |process: &Process| {
        process.parent == parent.cast_signed() && process.words.iter().any(|word| word.contains(text))
    };
    running().into_iter().filter(is_one).map(|process| process.pid).collect()
}

/// Returns the processes that were started with this value of a variable and still have it.
pub(crate) fn with_variable(name: &str, value: &str) -> Vec<Process> {
    let expected = format!("{name}={value}");
    let has_it = |process: &Process| {
        let variables = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == expected.as_bytes())
    };
    running().into_iter().filter(has_it).collect()
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Returns whether a process has ended.
pub(crate) fn is_gone(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process has ended.
pub(crate) fn wait_until_gone(pid: i32) {
    wait_until(&format!("process {pid} is still running"), || is_gone(pid));
}

/// Waits until all of these have ended. Another process may have got the number of one. Returns the commands of those that are
/// left.
pub(crate) fn wait_until_all_gone(processes: &[Process]) -> Vec<String> {
    let start = Instant::now();
    loop {
        let now = running();
        let is_left = |process: &&Process| {
            now.iter().any(|other| other.pid == process.pid && other.words == process.words)
        };
        let left: Vec<String> =
            processes.iter().filter(is_left).map(|process| process.words.join(" ")).collect();
        if left.is_empty() || start.elapsed() > LONG {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
