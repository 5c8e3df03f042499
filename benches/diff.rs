//! What it costs to compare two branches of 10,000 steps (DESIGN 7): 300 ms CPU, from branches that are open to the rows, the
//! first difference and what preceded it. Alike but for their end, different in every other step, and unlike throughout.
//! Opening both beside it is told, not bounded.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a program that reports figures")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{ending, load, median, processor_seconds, verdict};
use retrospect::journal::{OpenMode, open_branch};
use retrospect::prompt::render;
use retrospect::timeline::Timeline;
use retrospect::timeline::compare::{Comparison, Side};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const STEPS: u32 = 10_000;
const ROUNDS: usize = 7;

fn main() -> std::process::ExitCode {
    let folder = tempfile::tempdir().expect("a folder for the journals");
    let plain = |step: u32| step % 20;
    let base = generate(folder.path(), "base", plain);
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
    ending()
}

fn measure(name: &str, a: &Path, b: &Path) {
    let (mut cpu, mut wall, mut opening) = (Vec::new(), Vec::new(), Vec::new());
    let mut told = String::new();
    for _ in 0..ROUNDS {
        let began = processor_seconds().unwrap_or(f64::NAN);
        let (left, right) = (open(a), open(b));
        let (open_cpu, start) = (processor_seconds().unwrap_or(f64::NAN), Instant::now());
        let side = |name: &str, timeline: &Arc<Timeline>| {
            let states = timeline.clone();
            let states = Arc::new(move |seq| states.state_at(seq));
            Side::load(name, &timeline.head().clone(), None, states).expect("an episode")
        };
        let found = Comparison::new(side("a", &left), side("b", &right), render).expect("sound branches");
        wall.push(start.elapsed().as_secs_f64() * 1e3);
        cpu.push((processor_seconds().unwrap_or(f64::NAN) - open_cpu) * 1e3);
        opening.push((open_cpu - began) * 1e3);
        assert_eq!(found.left.episode.steps.len() as u32, STEPS);
        told = format!("first difference {:?}, rows {:?}", found.first_difference, found.counts());
    }
    let (cpu, wall, opening) = (median(cpu), median(wall), median(opening));
    println!(
        "{name}: {cpu:.0} ms CPU (budget 300 ms: {}), {wall:.0} ms wall; opening both {opening:.0} ms CPU; {told}; {}",
        verdict(cpu <= 300.0),
        load()
    );
}

fn open(path: &Path) -> Arc<Timeline> {
    Arc::new(open_branch(path, OpenMode::Read).expect("a sound branch").timeline)
}

/// One episode of that many steps.
fn generate(root: &Path, name: &str, way: fn(u32) -> u32) -> PathBuf {
    let branches = root.join(name).join("branches");
    std::fs::create_dir_all(&branches).expect("a folder");
    let path = branches.join("trunk.jsonl");
    drop(Rig::new(&path, STEPS + 1).along(way).steps(STEPS));
    path
}
