//! The simulators that a process has started.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::{Duration, Instant};

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(120);

/// Returns the simulators that run with this process as their parent, in no particular order.
pub(crate) fn simulators_of(parent: u32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let (state, of) = (fields.next()?, fields.next()?.parse::<u32>().ok()?);
        let command = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (of == parent && state != "Z" && command.contains("py4j.GatewayServer")).then_some(pid)
    });
    processes.collect()
}

pub(crate) fn own_simulators() -> Vec<i32> {
    simulators_of(std::process::id())
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Returns whether a process has ended. One that nobody has reaped has ended as well.
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
