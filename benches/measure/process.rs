//! Time and memory of a process, read from `/proc`, and the verdicts on budgets.

#![allow(dead_code, reason = "each benchmark uses only part of it")]

use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The program's allocator (`src/main.rs`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Returns the processor seconds of all threads of this process, in hundredths; `None` without `/proc`.
pub(crate) fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program name may contain spaces; it ends at the last parenthesis.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |n: usize| fields.get(n)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Returns the resident memory of this process in bytes.
pub(crate) fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kb| kb << 10)
}

/// Returns the peak resident memory of this process in bytes.
pub(crate) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kb| kb << 10)
}

/// Returns the number of voluntary context switches of all threads of a process.
pub(crate) fn voluntary_switches(pid: u32) -> Option<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"))?;
        sum += line.trim().parse::<u64>().ok()?;
    }
    Some(sum)
}

/// Returns the load of the machine, as text.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("load {} on {cores} cores", load.split(' ').next().unwrap_or("?"))
}

/// Returns the median; NaN without values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the word for a budget that is met or missed. If one is missed, [`exit_code`] is a failure.
pub(crate) fn verdict(met: bool) -> &'static str {
    if met {
        return "met";
    }
    MISSED.store(true, Ordering::Relaxed);
    "MISSED"
}

static MISSED: AtomicBool = AtomicBool::new(false);

/// Returns the exit code of a benchmark: a failure if a budget was missed, unless `RETROSPECT_BUDGETS=report`.
pub(crate) fn exit_code() -> ExitCode {
    let only_prints = std::env::var_os("RETROSPECT_BUDGETS").is_some_and(|v| v == "report");
    if MISSED.load(Ordering::Relaxed) && !only_prints { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
