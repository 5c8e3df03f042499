//! Going back in an episode of 10,000 steps of each native environment (DESIGN 7): at most 20 ms to any step, and at
//! most 200 ms the first time after opening. This includes the state of the step, a new branch on disk, and the
//! restored environment. A fork at step 9,999 writes at most 8 KB. `STEPS=1000` makes the episode shorter.
//!
//! This program plays the episodes through driver and journal. The times are wall times, which include the disk; the
//! processor time is printed beside them.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "this program prints its results")]

#[path = "measure/process.rs"]
mod process;
#[path = "../tests/rig/rewind.rs"]
mod rewind;
#[path = "../tests/rig/run.rs"]
mod run;

use process::{exit_code, load, median, processor_seconds, verdict};
use retrospect::journal::branch_path;
use rewind::{PlayedSession, available_tasks};
use std::path::Path;
use std::time::Instant;

fn main() -> std::process::ExitCode {
    let steps: u32 = std::env::var("STEPS").ok().and_then(|v| v.parse().ok()).unwrap_or(10_000);
    for (env, id) in available_tasks() {
        measure(env, &id, steps);
    }
    exit_code()
}

fn measure(env: &str, id: &str, steps: u32) {
    let dir = tempfile::tempdir().unwrap();
    let mut played = PlayedSession::begin(dir.path(), env, id);
    let start = Instant::now();
    played.play(steps);
    println!("{env}: {steps} steps played in {:.1} s; {}", start.elapsed().as_secs_f64(), load());
    let targets =
        [steps - 1, 1, steps / 3, steps * 7 / 9, steps / 5, steps * 9 / 10, 17, steps / 2 + 1, steps - 64];
    let (median_ms, worst, cpu) = go_back(&mut played, &targets, steps);
    println!(
        "{env}: going back to any step: {median_ms:.1} ms, at worst {worst:.1} ms (budget 20 ms: {}); {cpu:.0} ms of CPU time including the switch to the trunk; {}",
        verdict(median_ms <= 20.0),
        load()
    );
    // After opening, only the last state is in memory: each step is read from disk once.
    let mut played = played.resume();
    let (median_ms, worst, _) = go_back(&mut played, &targets, steps);
    println!(
        "{env}: the same for the first time after opening: {median_ms:.1} ms, at worst {worst:.1} ms (budget 200 ms: {})",
        verdict(worst <= 200.0)
    );
    // The bytes that a fork writes.
    played.handle.send_switch(retrospect::domain::BranchId::trunk());
    run::until(&played.handle, |s| s.last_step().is_some_and(|l| l.number + 1 >= steps));
    wait_until_restored(&played);
    let before = size(&played.session.dir);
    let trunk_before = size(&branch_path(&played.session.dir, &retrospect::domain::BranchId::trunk()));
    let action = played.actions[3].clone();
    played.go_back_to(steps - 1, Some(&action));
    let trunk =
        size(&branch_path(&played.session.dir, &retrospect::domain::BranchId::trunk())) - trunk_before;
    let written = size(&played.session.dir) - before;
    println!("{env}: closing the trunk takes {trunk} bytes");
    println!(
        "{env}: a fork at step {} with another action writes {written} bytes (budget 8192: {})",
        steps - 1,
        verdict(written <= 8192)
    );
    played.end();
}

/// Goes back from the end of the trunk to each of these steps. Returns the median and the maximum wall time, and the
/// processor time per step including the switch to the trunk, in milliseconds.
fn go_back(played: &mut PlayedSession, targets: &[u32], steps: u32) -> (f64, f64, f64) {
    let cpu = processor_seconds();
    let mut walls = Vec::new();
    for target in targets {
        played.handle.send_switch(retrospect::domain::BranchId::trunk());
        run::until(&played.handle, |s| s.last_step().is_some_and(|l| l.number + 1 >= steps));
        // Restore the trunk's environment before the clock starts.
        wait_until_restored(played);
        let start = Instant::now();
        played.go_back_to(*target, None);
        walls.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = cpu.zip(processor_seconds()).map_or(f64::NAN, |(before, now)| now - before) * 1e3;
    let worst = walls.iter().copied().fold(0.0, f64::max);
    (median(walls), worst, cpu / f64::from(targets.len() as u32))
}

/// Waits until the environment is restored.
fn wait_until_restored(played: &PlayedSession) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _ = runtime.block_on(played.handle.hint());
}

/// Returns the bytes of a file, or of all files in a folder.
fn size(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::metadata(path) else { return 0 };
    if metadata.is_file() {
        return metadata.len();
    }
    std::fs::read_dir(path).map_or(0, |entries| entries.flatten().map(|e| size(&e.path())).sum())
}
