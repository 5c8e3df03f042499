//! The processes of browsers that this test has started.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::{Duration, Instant};

/// Longer than anything takes to end.
const LONG: Duration = Duration::from_secs(30);

/// A process of a driver's group.
pub(crate) struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    words: Vec<String>,
}

/// Returns all processes that have not ended.
fn running() -> Vec<Process> {
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

/// Returns the processes of the drivers that a process has started.
pub(crate) fn of_drivers(parent: u32) -> Vec<Process> {
    let all = running();
    let leads = |process: &&Process| process.parent == parent.cast_signed() && process.group == process.pid;
    let groups: Vec<i32> = all.iter().filter(leads).map(|process| process.group).collect();
    all.into_iter().filter(|process| groups.contains(&process.group)).collect()
}

/// Kills the browsers among some processes. Returns how many there were.
pub(crate) fn kill_browsers(processes: &[Process]) -> usize {
    let has = |process: &Process, start: &str| process.words.iter().any(|word| word.starts_with(start));
    let browsers = processes.iter().filter(|p| has(p, "--user-data-dir=") && !has(p, "--type="));
    let kill = |browser: &Process| kill_process(Pid::from_raw(browser.pid).unwrap(), Signal::KILL).is_ok();
    browsers.filter(|browser| kill(browser)).count()
}

/// Waits until the processes have ended. Returns those that are left.
pub(crate) fn wait_until_gone(processes: &[Process]) -> Vec<String> {
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

/// Waits until no driver of this process is left. Returns those that are.
pub(crate) fn wait_until_none() -> Vec<String> {
    wait_until_gone(&of_drivers(std::process::id()))
}
