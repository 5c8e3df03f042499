//! What a process has cost so far, as Linux counts it.

#![allow(dead_code, reason = "every bench takes what it needs")]

use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Processor seconds of this process, all threads, to a hundredth; none where there is no `/proc`.
pub(crate) fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold blanks; it ends at the last parenthesis.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |n: usize| fields.get(n)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kb| kb << 10)
}

/// The most resident memory of this process so far, in bytes.
pub(crate) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kb| kb << 10)
}

/// Voluntary context switches of all threads of a process.
pub(crate) fn voluntary_switches(pid: u32) -> Option<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"))?;
        sum += line.trim().parse::<u64>().ok()?;
    }
    Some(sum)
}

/// How busy the machine is, as it says.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("load {} on {cores} cores", load.split(' ').next().unwrap_or("?"))
}

/// The middle of some numbers.
pub(crate) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

/// `met`; a budget that is missed ends the program with 1 when all is measured, unless `RETROSPECT_BUDGETS=told` asks for figures only.
pub(crate) fn verdict(met: bool) -> &'static str {
    if met {
        return "met";
    }
    MISSED.store(true, Ordering::Relaxed);
    "MISSED"
}

static MISSED: AtomicBool = AtomicBool::new(false);

/// How the program ends: a benchmark's `main` says it last.
pub(crate) fn ending() -> ExitCode {
    let told = std::env::var_os("RETROSPECT_BUDGETS").is_some_and(|v| v == "told");
    if MISSED.load(Ordering::Relaxed) && !told { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
