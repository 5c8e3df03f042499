//! What it costs to open a long session (DESIGN 7): 1 GB against 1 MB (at most twice as long; interleaved, one thread, CPU
//! time), the first and the next jumps to old states (200 ms, then 5 ms), memory, and, once, the opening without a checkpoint.
//!
//! The sessions are generated into a temporary folder, which is removed. `EVENTS=100000` makes the long one shorter;
//! `KEEP=DIR` generates both into a folder that stays, for other programs to open (`DIR/short`, `DIR/long`).
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a program that reports figures")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{ending, load, median, processor_seconds, resident, verdict};
use retrospect::domain::Seq;
use retrospect::driver::{Store, open_read_only};
use retrospect::journal::{Meta, Session};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Openings of a size in one pair, so that the clock of the processor, which counts hundredths, sees them.
const AT_ONCE: u32 = 40;
const PAIRS: usize = 9;

fn main() -> std::process::ExitCode {
    budgets();
    ending()
}

fn budgets() {
    let most: u64 = std::env::var("EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(1_000_000);
    let temporary = tempfile::tempdir().expect("a folder for the journals");
    let kept = std::env::var_os("KEEP").map(PathBuf::from);
    let root = kept.as_deref().unwrap_or(temporary.path());
    let (short, long) = (generate(root, "short", 1_000), generate(root, "long", most));
    if kept.is_some() {
        println!("{} and {} are there", short.display(), long.display());
        return;
    }
    let before = resident().unwrap_or(0);
    let (cpu, wall) = measured(|| open(&long));
    println!(
        "opened without a checkpoint: {:.0} ms CPU, {:.0} ms wall for {} MB; {} MB of memory more; {}",
        cpu * 1e3,
        wall * 1e3,
        size(&long.join("branches/trunk.jsonl")) >> 20,
        resident().unwrap_or(0).saturating_sub(before) >> 20,
        load()
    );
    open(&short);
    let index: u64 = std::fs::read_dir(long.join("index/trunk"))
        .map_or(0, |files| files.flatten().map(|f| size(&f.path())).sum());
    println!("its checkpoints: {} KB", index >> 10);
    ratio(&short, &long);
    jumps(&long);
}

/// Both sizes by turns.
fn ratio(short: &Path, long: &Path) {
    let (mut cpu, mut wall) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for _ in 0..PAIRS {
        let several = |path: &Path| {
            let (cpu, wall) = measured(|| (0..AT_ONCE).for_each(|_| open(path)));
            (cpu * 1e3 / f64::from(AT_ONCE), wall * 1e3 / f64::from(AT_ONCE))
        };
        let (a, b) = (several(short), several(long));
        cpu.0.push(a.0);
        cpu.1.push(b.0);
        wall.0.push(a.1);
        wall.1.push(b.1);
    }
    let (cpu, wall) = ((median(cpu.0), median(cpu.1)), (median(wall.0), median(wall.1)));
    println!(
        "opening, CPU: {:.2} ms for the short one, {:.2} ms for the long one, ratio {:.2} (budget 2: {}); wall {:.2} and {:.2} ms; {}",
        cpu.0,
        cpu.1,
        cpu.1 / cpu.0,
        verdict(cpu.1 / cpu.0 <= 2.0),
        wall.0,
        wall.1,
        load()
    );
}

/// To old states of a session that has just been opened, each as the first and then once more nearby.
fn jumps(long: &Path) {
    let (mut first, mut next) = (Vec::new(), Vec::new());
    for n in 0..30_u64 {
        let store = Store::default();
        store.set_timeline(
            open_read_only(long).expect("a sound session").1,
            retrospect::domain::BranchId::trunk(),
        );
        let head = store.head().head.0;
        let at = Seq(1 + (n * 7_919_993 + 12_345) % head);
        first.push(measured(|| assert_eq!(store.state_at(at).head, at)));
        for back in [1, 40, 400] {
            let near = Seq(at.0.saturating_sub(back).max(1));
            next.push(measured(|| assert_eq!(store.state_at(near).head, near)).1 * 1e3);
        }
        assert_eq!(store.timeline().take_fetch_error(), None);
    }
    let wall: Vec<f64> = first.iter().map(|f| f.1 * 1e3).collect();
    let worst = wall.iter().copied().fold(0.0, f64::max);
    let worst_next = next.iter().copied().fold(0.0, f64::max);
    println!(
        "first jump after opening: {:.0} ms, slowest {worst:.0} ms of {} (budget 200 ms: {}); near it again: {:.2} ms, slowest {worst_next:.2} ms of {}; {}",
        median(wall.clone()),
        wall.len(),
        verdict(worst <= 200.0),
        median(next.clone()),
        next.len(),
        load()
    );
}

fn open(session: &Path) {
    let (_, timeline, _) = open_read_only(session).expect("a sound session");
    assert!(!timeline.is_empty());
}

/// Seconds of the processor and of the wall.
fn measured(mut what: impl FnMut()) -> (f64, f64) {
    let (cpu, began) = (processor_seconds().unwrap_or(f64::NAN), Instant::now());
    what();
    (processor_seconds().unwrap_or(f64::NAN) - cpu, began.elapsed().as_secs_f64())
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}

/// A session of so many events, without an index.
fn generate(root: &Path, name: &str, events: u64) -> PathBuf {
    let meta = Meta {
        v: 1,
        session: name.to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
        program: "0".to_owned(),
        env: "household".to_owned(),
        method: "react".to_owned(),
        actor: "script".to_owned(),
        title: "from cabinet to cabinet".to_owned(),
        bookmark: None,
    };
    let (session, writer) = Session::create(root, meta).expect("a new folder");
    drop(writer);
    std::fs::remove_file(session.trunk()).expect("its empty trunk");
    drop(Rig::new(&session.trunk(), 50).fill(events));
    session.dir
}
