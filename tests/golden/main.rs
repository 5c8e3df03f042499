//! Compares the native environments and the statistics with recordings of the real systems: every step of their traces, and
//! numbers of published software.
//!
//! `cargo test --test golden -- NAME` compares one part. Each ends with what was compared and `N passed, N failed, N skipped`.
//! Most recordings are in `../shared`; without that folder they are skipped, which `RETROSPECT_GOLDEN=required` turns into a failure.
//! `--write DIR [ID]...` writes household games for the recorder instead (`tests/golden/household/README.md`), and `--from DIR`
//! compares other recordings of BabyAI in the same format.

#![expect(clippy::print_stdout, reason = "this test has its own `main` and prints its results")]

mod alfworld;
mod babyai;
mod bayesopt;
mod effect;
mod household;
mod pddl;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a part came to.
#[derive(Default)]
struct Outcome {
    /// What was compared, in words: "4432 steps".
    compared: String,
    passed: usize,
    failures: Vec<String>,
    /// What is not there to be compared with.
    skipped: Vec<String>,
}

type CompareAll = fn() -> Outcome;

const PARTS: [(&str, CompareAll); 6] = [
    ("alfworld", alfworld::compare_all),
    ("babyai", || babyai::compare_all(&recordings("babyai"))),
    ("bayesopt", bayesopt::compare_all),
    ("effect", effect::compare_all),
    ("household", household::compare_all),
    ("pddl", pddl::compare_all),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["--write", dir, ref ids @ ..] => {
            household::write_games(Path::new(dir), ids);
            ExitCode::SUCCESS
        }
        ["--from", dir] => exit_code(report("babyai", &babyai::compare_all(Path::new(dir)))),
        // Filters and flags are meant for other targets.
        ref words => {
            let is_any_named = PARTS.iter().any(|(name, _)| words.contains(name));
            let asked = PARTS.iter().filter(|(name, _)| !is_any_named || words.contains(name));
            exit_code(asked.fold(true, |is_fine, (name, compare)| report(name, &compare()) && is_fine))
        }
    }
}

/// Prints an outcome. Returns whether it is as it must be.
fn report(name: &str, outcome: &Outcome) -> bool {
    for reason in &outcome.skipped {
        println!("{name}: skipped: {reason}");
    }
    for failure in outcome.failures.iter().take(20) {
        println!("{name}: {failure}");
    }
    let (failed, skipped) = (outcome.failures.len(), outcome.skipped.len());
    println!(
        "{name}: {} compared; {} passed, {failed} failed, {skipped} skipped",
        outcome.compared, outcome.passed
    );
    let is_required = std::env::var("RETROSPECT_GOLDEN").is_ok_and(|value| value == "required");
    failed == 0 && (skipped > 0 || outcome.passed > 0) && !(is_required && skipped > 0)
}

fn exit_code(is_fine: bool) -> ExitCode {
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the folder of these recordings.
fn recordings(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden").join(name)
}
