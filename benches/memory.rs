//! A long session while it runs (DESIGN 7): from 1,000 to 1,000,000 events of 1 KB it takes at most 250 MB more memory,
//! and the state at any step of an episode of 10,000 steps at most 5 ms. `open` measures the opening of a session.
//!
//! Plays episodes of 50 steps through engine, journal file and store. `EVENTS=100000` makes the session shorter.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "this program prints its results")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{exit_code, load, median, resident, verdict};
use retrospect::domain::Seq;
use std::time::Instant;

fn main() -> std::process::ExitCode {
    check_budgets();
    exit_code()
}

fn check_budgets() {
    let max_events: u64 = std::env::var("EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().expect("a folder for the journal");
    let large = dir.path().join("large.jsonl");
    let rig = Rig::new(&large, 50).fill(1_000);
    let before = resident().expect("memory is read from /proc");
    let start = Instant::now();
    let rig = rig.fill(max_events);
    let took = start.elapsed();
    let after = resident().expect("memory is read from /proc");
    let bytes = std::fs::metadata(&large).map_or(0, |m| m.len());
    let growth_mb = after.saturating_sub(before) >> 20;
    println!(
        "memory: {growth_mb} MB more at {} events ({} bytes each, {} episodes) than at 1,000 (budget 250 MB: {}); {:.1} us per event to create, write and fold; {}",
        rig.engine.state.head,
        bytes / rig.engine.state.head.0,
        rig.engine.state.ended_episodes.len(),
        verdict(growth_mb <= 250),
        took.as_secs_f64() * 1e6 / max_events as f64,
        load()
    );
    drop(rig);
    let rig = Rig::new(&dir.path().join("deep.jsonl"), 20_000).steps(10_000);
    let last_seq = rig.engine.state.head.0;
    let mut slowest: f64 = 0.0;
    let mut times = Vec::new();
    for n in 0..500 {
        let seq = Seq(1 + (n * 7_919_993) % last_seq);
        let start = Instant::now();
        assert_eq!(rig.store.state_at(seq).head, seq);
        let took = start.elapsed().as_secs_f64() * 1e3;
        slowest = slowest.max(took);
        times.push(took);
    }
    println!(
        "state at any of 10,000 steps: {:.2} ms, slowest {slowest:.2} ms of 500 (budget 5 ms: {})",
        median(times),
        verdict(slowest <= 5.0)
    );
}
