//! What a long session costs while it runs: memory from 1,000 to 1,000,000 events of 1 KB (DESIGN 7: at most 250 MB more), the
//! state at any step of a 10,000-step episode (at most 5 ms). What it costs to open is in `open`.
//!
//! Episodes of 50 steps are played through engine, journal file and store, answered by hand; `EVENTS=100000` makes it shorter.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a program that reports figures")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{ending, load, median, resident, verdict};
use retrospect::domain::Seq;
use std::time::Instant;

fn main() -> std::process::ExitCode {
    budgets();
    ending()
}

fn budgets() {
    let most: u64 = std::env::var("EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().expect("a folder for the journal");
    let large = dir.path().join("large.jsonl");
    let rig = Rig::new(&large, 50).fill(1_000);
    let before = resident().expect("memory is read from /proc");
    let began = Instant::now();
    let rig = rig.fill(most);
    let took = began.elapsed();
    let after = resident().expect("memory is read from /proc");
    let bytes = std::fs::metadata(&large).map_or(0, |m| m.len());
    let grew = after.saturating_sub(before) >> 20;
    println!(
        "memory: {grew} MB more at {} events ({} bytes each, {} episodes) than at 1,000 (budget 250 MB: {}); {:.1} us an event to make, write and fold; {}",
        rig.engine.state.head,
        bytes / rig.engine.state.head.0,
        rig.engine.state.ended_episodes.len(),
        verdict(grew <= 250),
        took.as_secs_f64() * 1e6 / most as f64,
        load()
    );
    drop(rig);
    let rig = Rig::new(&dir.path().join("deep.jsonl"), 20_000).steps(10_000);
    let head = rig.engine.state.head.0;
    let mut slowest: f64 = 0.0;
    let mut times = Vec::new();
    for n in 0..500 {
        let at = Seq(1 + (n * 7_919_993) % head);
        let began = Instant::now();
        assert_eq!(rig.store.state_at(at).head, at);
        let took = began.elapsed().as_secs_f64() * 1e3;
        slowest = slowest.max(took);
        times.push(took);
    }
    println!(
        "state at any of 10,000 steps: {:.2} ms, slowest {slowest:.2} ms of 500 (budget 5 ms: {})",
        median(times),
        verdict(slowest <= 5.0)
    );
}
