//! Going back in an episode of 10,000 steps of each native world (DESIGN 7): within 20 ms wherever it goes, and within 200 ms the
//! first time after opening, all of it together: the state there, a branch of its own on the disk, and the world brought
//! back. A fork at step 9,999 writes at most 8 KB. `STEPS=1000` makes the episode shorter.
//!
//! Worlds are played by hand through driver and journal. Times are of the wall: the program waits for the disk as well, which
//! is told apart by the processor's time beside it.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that reports figures")]

#[path = "measure/process.rs"]
mod process;
#[path = "../tests/rig/rewind.rs"]
mod rewind;
#[path = "../tests/rig/run.rs"]
mod run;

use process::{ending, load, median, processor_seconds, verdict};
use retrospect::journal::branch_path;
use rewind::{Played, worlds_here};
use std::path::Path;
use std::time::Instant;

fn main() -> std::process::ExitCode {
    let steps: u32 = std::env::var("STEPS").ok().and_then(|v| v.parse().ok()).unwrap_or(10_000);
    for (env, id) in worlds_here() {
        measure(env, &id, steps);
    }
    ending()
}

fn measure(env: &str, id: &str, steps: u32) {
    let dir = tempfile::tempdir().unwrap();
    let mut played = Played::begin(dir.path(), env, id);
    let began = Instant::now();
    played.play(steps);
    println!("{env}: {steps} steps played in {:.1} s; {}", began.elapsed().as_secs_f64(), load());
    let places =
        [steps - 1, 1, steps / 3, steps * 7 / 9, steps / 5, steps * 9 / 10, 17, steps / 2 + 1, steps - 64];
    let (middle, worst, cpu) = go_back(&mut played, &places, steps);
    println!(
        "{env}: back to any step: {middle:.1} ms, at worst {worst:.1} ms (20: {}); {cpu:.0} ms of the processor with the way back to the trunk; {}",
        verdict(middle <= 20.0),
        load()
    );
    // After opening no state is in memory but the last: each place is brought from the disk once.
    let mut played = played.resume();
    let (middle, worst, _) = go_back(&mut played, &places, steps);
    println!(
        "{env}: the first time there after opening: {middle:.1} ms, at worst {worst:.1} ms (200: {})",
        verdict(worst <= 200.0)
    );
    // What a fork writes.
    played.handle.send_switch(retrospect::domain::BranchId::trunk());
    run::until(&played.handle, |s| s.last_step().is_some_and(|l| l.number + 1 >= steps));
    settle(&played);
    let before = size(&played.session.dir);
    let closing = size(&branch_path(&played.session.dir, &retrospect::domain::BranchId::trunk()));
    let action = played.actions[3].clone();
    played.back_to(steps - 1, Some(&action));
    let trunk = size(&branch_path(&played.session.dir, &retrospect::domain::BranchId::trunk())) - closing;
    let written = size(&played.session.dir) - before;
    println!("{env}: of them {trunk} bytes close the trunk");
    println!(
        "{env}: a fork at step {} with another action writes {written} bytes (8192: {})",
        steps - 1,
        verdict(written <= 8192)
    );
    played.end();
}

/// Goes back from the end of the trunk to each place: the middle and the worst of the wall's milliseconds, and the
/// processor's for one place with the way back to the trunk.
fn go_back(played: &mut Played, places: &[u32], steps: u32) -> (f64, f64, f64) {
    let cpu = processor_seconds();
    let mut walls = Vec::new();
    for place in places {
        played.handle.send_switch(retrospect::domain::BranchId::trunk());
        run::until(&played.handle, |s| s.last_step().is_some_and(|l| l.number + 1 >= steps));
        // The trunk's own world is brought back before the clock starts.
        settle(played);
        let began = Instant::now();
        played.back_to(*place, None);
        walls.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = cpu.zip(processor_seconds()).map_or(f64::NAN, |(before, now)| now - before) * 1e3;
    let worst = walls.iter().copied().fold(0.0, f64::max);
    (median(walls), worst, cpu / f64::from(places.len() as u32))
}

/// Waits until the world stands.
fn settle(played: &Played) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(played.handle.hint());
}

/// Bytes of a file, or of all in a folder.
fn size(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::metadata(path) else { return 0 };
    if metadata.is_file() {
        return metadata.len();
    }
    std::fs::read_dir(path).map_or(0, |entries| entries.flatten().map(|e| size(&e.path())).sum())
}
