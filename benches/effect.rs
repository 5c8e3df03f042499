//! Measuring a lesson: 2 arms x 200 pairs of household episodes from step 10 on, in memory, with the summaries logged and
//! the differing pairs journaled. DESIGN 7: at most 6 seconds of processor time.
//!
//! The result is the median processor time of five runs, over all threads.
#![expect(clippy::print_stdout, reason = "this program prints its results")]
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

#[path = "../tests/effect/household.rs"]
mod household;
#[path = "measure/process.rs"]
mod process;

use household::{ANSWER, Place, two_arms_here};
use process::{exit_code, load, median, processor_seconds, verdict};
use retrospect::driver::measure::{Keep, LogFile, MeasureOptions, Wanted, measure};
use std::time::{Duration, Instant};
use tokio::sync::watch;

const PAIRS: u32 = 200;
const RUNS: usize = 5;

fn main() -> std::process::ExitCode {
    let measurement = two_arms_here(ANSWER, Place::Step(10), PAIRS);
    let (mut times, mut walls) = (Vec::new(), Vec::new());
    let (mut episodes, mut steps, mut kept) = (0, 0, 0);
    for _ in 0..RUNS {
        let dir = tempfile::tempdir().unwrap();
        let (mut file, records) = LogFile::open(&dir.path().join("log.jsonl")).unwrap();
        let options = MeasureOptions {
            jobs: 1,
            keep: Keep::Differing,
            retry_delay: Duration::ZERO,
            turn: None,
            begun: None,
        };
        let (_sender, wanted) = watch::channel(Wanted::Running);
        let (before, start) = (processor_seconds().unwrap(), Instant::now());
        let log = measure(&measurement, (Some(&mut file), records), options, wanted, &mut |_, _| {}).unwrap();
        times.push(processor_seconds().unwrap() - before);
        walls.push(start.elapsed().as_secs_f64());
        (episodes, steps) = (log.totals().episodes, log.totals().steps);
        assert_eq!(episodes, u64::from(2 * PAIRS), "all pairs are played");
        kept = log.pairs().values().filter(|pair| pair.is_kept()).count();
    }
    let runs: Vec<String> = times.iter().map(|t| format!("{t:.2}")).collect();
    let time = median(times);
    println!(
        "2 arms x {PAIRS} household pairs from step 10 on: {time:.2} s of processor time, median of {} s (budget 6 s: {}); wall {:.2} s; \
         {episodes} episodes, {steps} steps, {kept} pairs kept; {}",
        runs.join(" "),
        verdict(time <= 6.0),
        median(walls),
        load()
    );
    exit_code()
}
