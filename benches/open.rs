//! Opening a long session (DESIGN 7): a session of 1 GB takes at most twice the CPU time of one of 1 MB; the first jump
//! to an old state takes at most 200 ms, later ones nearby at most 5 ms. Also measures memory, and once the opening
//! without checkpoints.
//!
//! The sessions are generated in a temporary folder. `EVENTS=100000` makes the long one shorter. `KEEP=DIR` only
//! generates `DIR/short` and `DIR/long`, for other programs to open.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "this program prints its results")]

#[path = "measure/long.rs"]
mod long;
#[path = "measure/process.rs"]
mod process;

use long::Rig;
use process::{exit_code, load, median, processor_seconds, resident, verdict};
use retrospect::domain::Seq;
use retrospect::driver::{Store, open_read_only};
use retrospect::journal::{Meta, Session};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number of times each session is opened per pair: the processor clock counts only hundredths of a second.
const OPENINGS: u32 = 40;
const PAIRS: usize = 9;

fn main() -> std::process::ExitCode {
    check_budgets();
    exit_code()
}

fn check_budgets() {
    let max_events: u64 = std::env::var("EVENTS").ok().and_then(|v| v.parse().ok()).unwrap_or(1_000_000);
    let temporary = tempfile::tempdir().expect("a folder for the journals");
    let kept_folder = std::env::var_os("KEEP").map(PathBuf::from);
    let root = kept_folder.as_deref().unwrap_or(temporary.path());
    let (short, long) = (generate(root, "short", 1_000), generate(root, "long", max_events));
    if kept_folder.is_some() {
        println!("generated {} and {}", short.display(), long.display());
        return;
    }
    let before = resident().unwrap_or(0);
    let (cpu, wall) = time(|| open(&long));
    println!(
        "opened without a checkpoint: {:.0} ms CPU, {:.0} ms wall for {} MB; {} MB of memory more; {}",
        cpu * 1e3,
        wall * 1e3,
        size(&long.join("branches/trunk.jsonl")) >> 20,
        resident().unwrap_or(0).saturating_sub(before) >> 20,
        load()
    );
    open(&short);
    let checkpoint_bytes: u64 = std::fs::read_dir(long.join("index/trunk"))
        .map_or(0, |files| files.flatten().map(|f| size(&f.path())).sum());
    println!("its checkpoints: {} KB", checkpoint_bytes >> 10);
    compare_openings(&short, &long);
    measure_jumps(&long);
}

/// Opens both sessions alternately and compares the times.
fn compare_openings(short: &Path, long: &Path) {
    let (mut cpu, mut wall) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for _ in 0..PAIRS {
        let open_repeatedly = |path: &Path| {
            let (cpu, wall) = time(|| (0..OPENINGS).for_each(|_| open(path)));
            (cpu * 1e3 / f64::from(OPENINGS), wall * 1e3 / f64::from(OPENINGS))
        };
        let (a, b) = (open_repeatedly(short), open_repeatedly(long));
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

/// Jumps to old states: the first one after opening, then three nearby.
fn measure_jumps(long: &Path) {
    let (mut first, mut next) = (Vec::new(), Vec::new());
    for n in 0..30_u64 {
        let store = Store::default();
        store.set_timeline(
            open_read_only(long).expect("a sound session").1,
            retrospect::domain::BranchId::trunk(),
        );
        let last_seq = store.head().head.0;
        let seq = Seq(1 + (n * 7_919_993 + 12_345) % last_seq);
        first.push(time(|| assert_eq!(store.state_at(seq).head, seq)));
        for back in [1, 40, 400] {
            let near = Seq(seq.0.saturating_sub(back).max(1));
            next.push(time(|| assert_eq!(store.state_at(near).head, near)).1 * 1e3);
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

/// Returns the processor seconds and the wall seconds of a call.
fn time(mut call: impl FnMut()) -> (f64, f64) {
    let (cpu, start) = (processor_seconds().unwrap_or(f64::NAN), Instant::now());
    call();
    (processor_seconds().unwrap_or(f64::NAN) - cpu, start.elapsed().as_secs_f64())
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}

/// Generates a session without checkpoints.
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
