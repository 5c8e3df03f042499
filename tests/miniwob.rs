//! MiniWoB++ in a real Chromium: all golden episodes, browsers that are killed, and that nothing is left of them.
//!
//! Runs only where `RETROSPECT_REAL` is set, with the pages where `MINIWOB_HTML` says. The last line is
//! `N passed, N failed, N skipped`, with the number of steps compared. `RETROSPECT_REAL=required` turns what is skipped into a
//! failure, as `RETROSPECT_GOLDEN=required` does for the golden episodes.

#![cfg_attr(unix, allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic"))]
#![expect(clippy::print_stdout, reason = "this test has its own `main` and prints its results")]

#[cfg(unix)]
#[path = "miniwob/episodes.rs"]
mod episodes;
#[cfg(unix)]
#[path = "miniwob/goldens.rs"]
mod goldens;
#[cfg(unix)]
#[path = "rig/killed_run.rs"]
mod killed_run;
#[cfg(all(unix, feature = "tui"))]
#[path = "rig/pictures.rs"]
mod pictures;
#[cfg(unix)]
#[path = "rig/processes.rs"]
mod processes;
#[cfg(unix)]
#[path = "rig/rewind.rs"]
mod rewind;
#[cfg(unix)]
#[path = "rig/run.rs"]
mod run;
#[cfg(all(unix, feature = "tui"))]
#[path = "miniwob/screen.rs"]
mod screen;
#[cfg(unix)]
#[path = "miniwob/sessions.rs"]
mod sessions;
#[cfg(all(unix, feature = "tui"))]
#[path = "rig/terminal.rs"]
mod terminal;

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("skipped: browsers are started on Unix only\n0 passed, 0 failed, 1 skipped");
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    let is_required = |name: &str| std::env::var(name).is_ok_and(|value| value == "required");
    let skip = |why: &str, is_failure: bool| {
        println!("skipped: {why}");
        println!(
            "0 passed, {}, 1 skipped; 0 steps compared",
            if is_failure { "1 failed" } else { "0 failed" }
        );
        if is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    };
    if std::env::var_os("RETROSPECT_REAL").is_none() {
        return skip("set RETROSPECT_REAL=1 to play in a real Chromium (docs/MINIWOB.md)", false);
    }
    if let Err(why) = episodes::check() {
        return skip(&why, is_required("RETROSPECT_REAL"));
    }
    let mut results = Results::default();
    let filter = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    let is_chosen = |name: &str| filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    if let Some(files) = goldens::files() {
        let chosen: Vec<&String> = files.iter().filter(|file| is_chosen(&format!("golden {file}"))).collect();
        let mut episodes = 0;
        for file in &chosen {
            let outcome = goldens::compare(file);
            episodes += outcome.as_ref().map_or(0, |counts| counts.episodes);
            results.add(file, outcome.map(|counts| counts.steps));
        }
        if chosen.len() == files.len() {
            results.add("all golden episodes were compared", goldens::check_count(episodes, results.steps));
        }
    } else {
        println!("skipped: there is no ../shared/golden/miniwob");
        results.skipped += 1;
        results.failed += u32::from(is_required("RETROSPECT_GOLDEN"));
    }
    #[cfg(feature = "tui")]
    let on_screen = screen::TESTS;
    #[cfg(not(feature = "tui"))]
    let on_screen: &[episodes::Test] = &[];
    let tests = episodes::TESTS.iter().chain(sessions::TESTS).chain(on_screen);
    for (name, test) in tests.filter(|(name, _)| is_chosen(name)) {
        let outcome = std::panic::catch_unwind(test).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
        });
        results.add(name, outcome.map(|()| 0));
    }
    retrospect::driver::worlds::end_idle_programs();
    let left = processes::wait_until_all_gone(&processes::in_groups_of(std::process::id()));
    results.add("no process is left", if left.is_empty() { Ok(0) } else { Err(left.join(", ")) });
    let Results { passed, failed, skipped, steps } = results;
    println!("{passed} passed, {failed} failed, {skipped} skipped; {steps} steps compared");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(unix)]
#[derive(Default)]
struct Results {
    passed: u32,
    failed: u32,
    skipped: u32,
    steps: usize,
}

#[cfg(unix)]
impl Results {
    /// Adds the result of a test: how many steps were compared, or what is wrong.
    fn add(&mut self, name: &str, outcome: Result<usize, String>) {
        match outcome {
            Ok(steps) => {
                println!("ok      {name}");
                (self.passed, self.steps) = (self.passed + 1, self.steps + steps);
            }
            Err(what) => {
                println!("FAILED  {name}: {what}");
                self.failed += 1;
            }
        }
    }
}
