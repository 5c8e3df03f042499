//! Runs a target on many cases, each derived from its own seed, with the same limits for every case.
//!
//! `RETROSPECT_SOAK=full` runs all cases, otherwise a hundredth; `RETROSPECT_SOAK_SEED` selects other cases (default
//! 0); `RETROSPECT_SOAK_CASE=N` runs only case N.
//!
//! Time is the processor time of the thread (`/proc/thread-self/schedstat`; wall time if that is missing), so that a
//! busy machine fails no case: the limit is one second in a release build, ten without optimisation. Memory is the
//! rise of the peak resident set over what was resident before the case (the peak is reset before each case through
//! `/proc/self/clear_refs`); if that is missing, it is not measured and the last line says so. A case that takes a
//! gigabyte, or more than a minute of wall time, ends the process with its number.

#![allow(dead_code, reason = "each target uses only part of it")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum processor time of a case.
const MAX_CASE_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
/// The maximum memory of a case, in bytes.
const MAX_CASE_MEMORY: u64 = 256 << 20;
/// The wall time after which a case counts as hung.
const HANG_MILLIS: u64 = 60_000;
/// The resident memory, in bytes, at which a running case is stopped.
const ABORT_MEMORY: u64 = 1 << 30;
/// The system says the memory of the whole program only, so that one target runs at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
/// Tells the watchdog that no case is running.
const NO_CASE: u64 = u64::MAX;

/// The random numbers of a case; splitmix64.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Self(seed ^ 0x5851_f42d_4c95_7f2d);
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// Returns true on average once in this many calls.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

/// A target and the results of its cases.
pub(crate) struct Soak {
    name: &'static str,
    seed: u64,
    cases: u64,
    only_case: Option<u64>,
    slowest: (Duration, u64),
    largest: (u64, u64),
    measures_memory: bool,
}

impl Soak {
    /// Creates a target; `full` is its number of cases in a full soak.
    pub(crate) fn new(name: &'static str, full: u64) -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok());
        let is_full = std::env::var("RETROSPECT_SOAK").is_ok_and(|v| v == "full");
        Self {
            name,
            seed: number("RETROSPECT_SOAK_SEED").unwrap_or(0),
            cases: if is_full { full } else { full / 100 },
            only_case: number("RETROSPECT_SOAK_CASE"),
            slowest: (Duration::ZERO, 0),
            largest: (0, 0),
            measures_memory: true,
        }
    }

    /// Runs every case and prints the results. `case` gets its random numbers and its number.
    pub(crate) fn run(mut self, mut case: impl FnMut(&mut Rng, u64)) {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = Watch::start(self.name, self.seed);
        let numbers = self.only_case.map_or(0..self.cases, |n| n..n + 1);
        let count = numbers.end - numbers.start;
        for number in numbers {
            let mut rng = Rng::new(self.seed.wrapping_mul(0x0100_0000_01b3).wrapping_add(number));
            let base = reset_peak();
            watch.begin(number);
            let (cpu, wall) = (processor_time(), Instant::now());
            let outcome = catch_unwind(AssertUnwindSafe(|| case(&mut rng, number)));
            let took = match (cpu, processor_time()) {
                (Some(before), Some(after)) => after.saturating_sub(before),
                _ => wall.elapsed(),
            };
            watch.end();
            if let Err(panic) = outcome {
                println!("{}: case {number} of seed {} failed", self.name, self.seed);
                resume_unwind(panic);
            }
            match (base, status_bytes("VmHWM:")) {
                (Some(base), Some(peak)) => {
                    let growth = peak.saturating_sub(base);
                    assert!(
                        growth <= MAX_CASE_MEMORY,
                        "{}: case {number} of seed {} took {} MB",
                        self.name,
                        self.seed,
                        growth >> 20
                    );
                    self.largest = self.largest.max((growth, number));
                }
                _ => self.measures_memory = false,
            }
            assert!(
                took <= MAX_CASE_TIME,
                "{}: case {number} of seed {} took {took:?}",
                self.name,
                self.seed
            );
            self.slowest = self.slowest.max((took, number));
        }
        let memory = if self.measures_memory {
            format!("largest {} MB (case {})", self.largest.0 >> 20, self.largest.1)
        } else {
            "memory not measured here".to_owned()
        };
        println!(
            "{}: {count} cases of seed {} passed; slowest {:.1?} of processor time (case {}, limit {MAX_CASE_TIME:?}), {memory}, limit 256 MB",
            self.name, self.seed, self.slowest.0, self.slowest.1
        );
    }
}

/// Ends the process if a case hangs.
struct Watch {
    start: Instant,
    /// When the running case started, in milliseconds since `start`; [`NO_CASE`] between cases.
    since: Arc<AtomicU64>,
    case: Arc<AtomicU64>,
}

impl Watch {
    fn start(name: &'static str, seed: u64) -> Self {
        let watch =
            Self { start: Instant::now(), since: Arc::new(AtomicU64::new(NO_CASE)), case: Arc::default() };
        let (start, since, case) = (watch.start, Arc::downgrade(&watch.since), watch.case.clone());
        std::thread::spawn(move || {
            while let Some(since) = since.upgrade() {
                let since = since.load(Ordering::Relaxed);
                let now = start.elapsed().as_millis() as u64;
                if since != NO_CASE && now.saturating_sub(since) > HANG_MILLIS {
                    eprintln!("{name}: case {} of seed {seed} hangs", case.load(Ordering::Relaxed));
                    std::process::abort();
                }
                // A case that exhausts memory must not reach its end.
                if since != NO_CASE && status_bytes("VmRSS:").is_some_and(|r| r > ABORT_MEMORY) {
                    eprintln!(
                        "{name}: case {} of seed {seed} takes more than {} MB",
                        case.load(Ordering::Relaxed),
                        ABORT_MEMORY >> 20
                    );
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        watch
    }

    fn begin(&self, case: u64) {
        self.case.store(case, Ordering::Relaxed);
        self.since.store(self.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    fn end(&self) {
        self.since.store(NO_CASE, Ordering::Relaxed);
    }
}

/// Returns the processor time of this thread.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Resets the peak of the resident set. Returns the resident memory in bytes.
fn reset_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status_bytes("VmRSS:")
}

fn status_bytes(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(field))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kb| kb << 10)
}
