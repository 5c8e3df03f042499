//! Searching a session of 1 GB (DESIGN 7): at most 2 s of CPU time. The searched words are nowhere, once in every fifth
//! episode, or everywhere. Also prints the time to the first hit.
//!
//! `EVENTS=100000` makes the session shorter and reduces the budget in proportion.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "this program prints its results")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{exit_code, load, median, processor_seconds, resident, verdict};
use retrospect::driver::Store;
use retrospect::journal::{OpenMode, open_branch};
use retrospect::ui::find::{SearchHit, search_other_episodes};
use retrospect::ui::types::WorkProgress;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() -> std::process::ExitCode {
    let max_events: u64 = std::env::var("EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().expect("a folder for the journal");
    let branches = folder.path().join("branches");
    std::fs::create_dir_all(&branches).expect("a folder");
    let path = branches.join("trunk.jsonl");
    // Episodes of 50 steps; every 250th step goes to cabinet 777.
    drop(Rig::new(&path, 50).with_cabinets(|s| if s % 250 == 7 { 777 } else { s % 20 }).fill(max_events));
    let store = Store::default();
    store.set_timeline(
        open_branch(&path, OpenMode::Read).expect("a sound branch").timeline,
        retrospect::domain::BranchId::trunk(),
    );
    let budget = 2e3 * max_events as f64 / 1e6;
    for words in ["unicorn", "cabinet 777", "bowl 2, a cup", "you arrive"] {
        measure(&store, words, budget, &path);
    }
    exit_code()
}

fn measure(store: &Store, words: &str, budget: f64, path: &Path) {
    let (mut cpu, mut wall, mut first) = (Vec::new(), Vec::new(), Vec::new());
    let (mut hits, before) = (0, resident().unwrap_or(0));
    for _ in 0..ROUNDS {
        let (cpu_start, start) = (processor_seconds().unwrap_or(f64::NAN), Instant::now());
        hits = 0;
        let mut count = |found: &[SearchHit]| {
            if hits == 0 && !found.is_empty() {
                first.push(start.elapsed().as_secs_f64() * 1e3);
            }
            hits += found.len();
        };
        let progress = WorkProgress::default();
        let (last, _) = search_other_episodes(store, 0, words, &progress, |found| count(&found));
        count(&last);
        wall.push(start.elapsed().as_secs_f64() * 1e3);
        cpu.push((processor_seconds().unwrap_or(f64::NAN) - cpu_start) * 1e3);
    }
    let first = if first.is_empty() { "none".to_owned() } else { format!("{:.0} ms", median(first)) };
    println!(
        "{words:?} in {} MB: {:.0} ms CPU (budget {budget:.0} ms: {}), {:.0} ms wall, {hits} hits, the first after {first}; {} MB of memory more; {}",
        std::fs::metadata(path).map_or(0, |m| m.len()) >> 20,
        median(cpu.clone()),
        verdict(median(cpu) <= budget),
        median(wall),
        resident().unwrap_or(0).saturating_sub(before) >> 20,
        load()
    );
}
