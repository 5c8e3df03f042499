//! Comparing two branches of 10,000 steps (DESIGN 7): at most 300 ms of CPU time, from the opened branches to the rows
//! and the first difference. The branches differ at their end, in every other step, throughout, or in their order. The
//! time to open both is printed but has no budget.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "this program prints its results")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{exit_code, load, median, processor_seconds, verdict};
use retrospect::journal::{OpenMode, open_branch};
use retrospect::prompt::render;
use retrospect::timeline::compare::{Comparison, Side};
use retrospect::timeline::{ReportProgress, Timeline, no_progress};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const STEPS: u32 = 10_000;
const ROUNDS: usize = 7;

fn main() -> std::process::ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the journals");
    let base = generate(folder.path(), "base", |s| s % 20);
    let others = [
        (
            "alike up to step 9,000",
            generate(folder.path(), "late", |s| if s < 9_000 { s % 20 } else { s % 17 + 3 }),
        ),
        (
            "every other step",
            generate(folder.path(), "other", |s| if s % 2 == 0 { s % 20 } else { s % 13 + 40 }),
        ),
        ("unlike throughout", generate(folder.path(), "unlike", |s| s * s % 101 + 100)),
        ("in another order", generate(folder.path(), "order", |s| s * s % 19)),
    ];
    for (name, path) in &others {
        measure(name, &base, path);
    }
    exit_code()
}

fn measure(name: &str, a: &Path, b: &Path) {
    let (mut cpu, mut wall, mut opening) = (Vec::new(), Vec::new(), Vec::new());
    let mut summary = String::new();
    for _ in 0..ROUNDS {
        let cpu_start = processor_seconds().unwrap_or(f64::NAN);
        let (left, right) = (open(a), open(b));
        let (open_cpu, start) = (processor_seconds().unwrap_or(f64::NAN), Instant::now());
        let side = |name: &str, timeline: &Arc<Timeline>| {
            let history = timeline.clone();
            let history = Arc::new(move |seq, _: &ReportProgress<'_>| Ok(history.state_at(seq)));
            Side::load(name, &timeline.head().clone(), None, history, &no_progress).expect("an episode")
        };
        let comparison = Comparison::new(side("a", &left), side("b", &right), render, &no_progress)
            .expect("sound branches");
        wall.push(start.elapsed().as_secs_f64() * 1e3);
        cpu.push((processor_seconds().unwrap_or(f64::NAN) - open_cpu) * 1e3);
        opening.push((open_cpu - cpu_start) * 1e3);
        assert_eq!(comparison.left.episode.steps.len() as u32, STEPS);
        summary =
            format!("first difference {:?}, rows {:?}", comparison.first_difference, comparison.counts());
    }
    let (cpu, wall, opening) = (median(cpu), median(wall), median(opening));
    println!(
        "{name}: {cpu:.0} ms CPU (budget 300 ms: {}), {wall:.0} ms wall; opening both {opening:.0} ms CPU; {summary}; {}",
        verdict(cpu <= 300.0),
        load()
    );
}

fn open(path: &Path) -> Arc<Timeline> {
    Arc::new(open_branch(path, OpenMode::Read).expect("a sound branch").timeline)
}

/// Writes a branch of one episode with [`STEPS`] steps; `cabinet_of` chooses the cabinet of each step.
fn generate(root: &Path, name: &str, cabinet_of: fn(u32) -> u32) -> PathBuf {
    let branches = root.join(name).join("branches");
    std::fs::create_dir_all(&branches).expect("a folder");
    let path = branches.join("trunk.jsonl");
    drop(Rig::new(&path, STEPS + 1).with_cabinets(cabinet_of).steps(STEPS));
    path
}
