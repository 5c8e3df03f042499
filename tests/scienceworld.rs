//! Real component: ScienceWorld's simulator, a Java program. Plays every recorded episode and compares the results, then kills
//! simulators in the middle of a step.
//!
//! Runs only where `RETROSPECT_REAL` is set, and needs Java and the simulator (`SCIENCEWORLD_JAR`: the JAR or its wheel). The
//! recordings are in `../shared`. What is missing is skipped, and named; with `RETROSPECT_REAL=required` that is a failure,
//! and for the recordings with `RETROSPECT_GOLDEN=required`. The last lines are the number of steps compared and
//! `N passed, N failed, N skipped`.

#![cfg_attr(unix, allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic"))]
#![expect(clippy::print_stdout, reason = "this test has its own `main` and prints its results")]

#[cfg(unix)]
#[path = "scienceworld/goldens.rs"]
mod goldens;
#[cfg(unix)]
#[path = "scienceworld/interruptions.rs"]
mod interruptions;
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
#[path = "scienceworld/questions.rs"]
mod questions;
#[cfg(unix)]
#[path = "rig/rewind.rs"]
mod rewind;
#[cfg(unix)]
#[path = "rig/run.rs"]
mod run;

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("0 passed, 0 failed, 0 skipped: child processes are supported on Unix only");
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    unix::main()
}

#[cfg(unix)]
mod unix {
    use super::{goldens, interruptions, questions};
    use retrospect::driver::worlds;
    use retrospect::env::TaskOptions;
    use retrospect::env::scienceworld::{ENUMERATE_OPTION, JAR_OPTION};
    use std::panic::catch_unwind;
    use std::path::{Path, PathBuf};
    use std::process::{Command, ExitCode, Stdio};

    /// Where the simulator is.
    pub(crate) fn jar() -> PathBuf {
        std::env::var_os("SCIENCEWORLD_JAR").map(PathBuf::from).unwrap_or_default()
    }

    /// Returns options with the simulator, whose episodes list the valid actions after each step if wanted.
    pub(crate) fn options(lists_every_step: bool) -> TaskOptions {
        let word = if lists_every_step { "every-step" } else { "never" };
        TaskOptions {
            paths: [(JAR_OPTION.name, jar())].into(),
            chosen: [(ENUMERATE_OPTION.name, word.to_owned())].into(),
            ..TaskOptions::default()
        }
    }

    pub(crate) fn recordings() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/scienceworld")
    }

    fn is_required(variable: &str) -> bool {
        std::env::var(variable).is_ok_and(|value| value == "required")
    }

    /// Returns why nothing can be tested here.
    fn missing_part() -> Option<String> {
        if std::env::var_os("RETROSPECT_REAL").is_none() {
            return Some("RETROSPECT_REAL is not set".to_owned());
        }
        if !jar().exists() {
            return Some("SCIENCEWORLD_JAR names no file".to_owned());
        }
        let flags = ["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2", "-version"];
        let java = Command::new("java").args(flags).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match java {
            Ok(status) if status.success() => None,
            Ok(_) => Some("this Java doesn't know -XX:hashCode=2".to_owned()),
            Err(error) => Some(format!("there is no Java: {error}")),
        }
    }

    pub(crate) fn main() -> ExitCode {
        // The options of the usual harness: it is also asked for a list.
        let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
        let is_wanted = |name: &str| wanted.as_ref().is_none_or(|part| name.contains(part.as_str()));
        let cases: &[(&str, fn())] = &[
            ("goldens_without_lists", goldens::without_lists),
            ("goldens_with_lists", goldens::with_lists),
            ("a_label_is_played", questions::a_label_is_played),
            ("lists_and_hints_leave_the_episode_alone", questions::lists_and_hints_leave_the_episode_alone),
            (
                "the_forms_of_actions_are_listed_in_every_task",
                questions::the_forms_of_actions_are_listed_in_every_task,
            ),
            ("going_back_thirty_steps", questions::going_back_thirty_steps),
            ("a_preview_leaves_its_simulator", interruptions::a_preview_leaves_its_simulator_to_the_run),
            ("tasks_that_do_not_exist_are_refused", questions::tasks_that_do_not_exist_are_refused),
            ("a_killed_simulator_is_replaced", interruptions::a_killed_simulator_is_replaced),
            ("a_killed_program_leaves_no_simulator", interruptions::a_killed_program_leaves_no_simulator),
            ("a_killed_run_is_resumed", interruptions::a_killed_run_is_resumed),
            ("simulators_end_with_the_program", interruptions::simulators_end_with_the_program),
            #[cfg(feature = "tui")]
            ("the_screen_shows_an_episode", questions::the_screen_shows_an_episode),
        ];
        let cases: Vec<_> = cases.iter().filter(|(name, _)| is_wanted(name)).collect();
        if let Some(why) = missing_part() {
            println!("skipped: {why}");
            println!("0 passed, 0 failed, {} skipped", cases.len());
            return if is_required("RETROSPECT_REAL") { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
        let has_recordings = recordings().is_dir();
        let (mut passed, mut failed, mut skipped) = (0, 0, 0);
        for (name, case) in cases {
            if name.starts_with("goldens") && !has_recordings {
                println!("{name}: skipped: there are no recordings in {}", recordings().display());
                skipped += 1;
                continue;
            }
            let outcome = catch_unwind(case);
            println!("{name}: {}", if outcome.is_ok() { "ok" } else { "FAILED" });
            if outcome.is_ok() { passed += 1 } else { failed += 1 }
        }
        worlds::end_idle_programs();
        println!("{} steps compared", goldens::steps_compared());
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        if failed > 0 || skipped > 0 && is_required("RETROSPECT_GOLDEN") {
            return ExitCode::FAILURE;
        }
        ExitCode::SUCCESS
    }
}
