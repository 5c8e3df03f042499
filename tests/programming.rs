//! Programs in the sandbox: honest ones, hostile ones, and that nothing is left of them.
//!
//! Runs only where `RETROSPECT_REAL` is set and bubblewrap works. The last line is `N passed, N failed, N skipped`.
//! `RETROSPECT_REAL=required` turns what is skipped into a failure, unless `RETROSPECT_NO_SANDBOX` is set: a container may
//! forbid what the sandbox is made of.

#![cfg_attr(unix, allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic"))]
#![expect(clippy::print_stdout, reason = "this test has its own `main` and prints its results")]

#[cfg(unix)]
#[path = "programming/episodes.rs"]
mod episodes;
#[cfg(unix)]
#[path = "programming/hostile.rs"]
mod hostile;
#[cfg(unix)]
#[path = "programming/judges.rs"]
mod judges;
#[cfg(all(unix, feature = "tui"))]
#[path = "rig/pictures.rs"]
mod pictures;
#[cfg(unix)]
#[path = "rig/processes.rs"]
mod processes;
#[cfg(unix)]
#[path = "serving/server.rs"]
mod server;
#[cfg(unix)]
#[path = "programming/sessions.rs"]
mod sessions;

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("skipped: programs are run on Unix only\n0 passed, 0 failed, 1 skipped");
    ExitCode::SUCCESS
}

/// A test, which panics if it fails.
#[cfg(unix)]
type TestFn = Box<dyn Fn() + std::panic::UnwindSafe>;

#[cfg(unix)]
fn main() -> ExitCode {
    let skip = |why: &str, is_failure: bool| {
        println!("skipped: {why}");
        println!("0 passed, {} failed, 1 skipped", u8::from(is_failure));
        if is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    };
    let Some(mode) = std::env::var_os("RETROSPECT_REAL") else {
        return skip("set RETROSPECT_REAL=1 to run programs under bubblewrap (docs/PROGRAMMING.md)", false);
    };
    if let Err(why) = episodes::check() {
        let is_missing = std::env::var_os("RETROSPECT_NO_SANDBOX").is_some();
        return skip(&why, mode == "required" && !is_missing);
    }
    let filter = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let tests = episodes::TESTS.iter().chain(sessions::TESTS).chain(judges::TESTS);
    let mut cases: Vec<(&str, TestFn)> =
        tests.map(|(name, test)| (*name, Box::new(*test) as TestFn)).collect();
    cases.extend(
        hostile::CASES.iter().map(|case| (case.name, Box::new(move || hostile::check(case)) as TestFn)),
    );
    cases.retain(|(name, _)| filter.as_ref().is_none_or(|filter| name.contains(filter.as_str())));
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in cases {
        if let Err(panic) = std::panic::catch_unwind(test) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
            println!("FAILED  {name}: {text}");
            failed += 1;
        } else {
            println!("ok      {name}");
            passed += 1;
        }
    }
    let left = judges::wait_until_none();
    if left == 0 {
        passed += 1;
    } else {
        println!("FAILED  no process is left: there are {left}");
        failed += 1;
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
