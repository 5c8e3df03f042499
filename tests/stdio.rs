//! Environments that are any program, over the protocol of `docs/ENVIRONMENTS.md`. The program of these tests is this target
//! itself (`stdio/corridor.rs`), so that they need no interpreter.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failing test may panic"
)]

#[path = "stdio/corridor.rs"]
mod corridor;
#[path = "stdio/faults.rs"]
mod faults;
#[cfg(feature = "tui")]
#[path = "rig/pictures.rs"]
mod pictures;
#[path = "rig/processes.rs"]
mod processes;
#[path = "stdio/program.rs"]
mod program;
#[path = "stdio/python.rs"]
mod python;
#[path = "rig/rewind.rs"]
mod rewind;
#[path = "rig/run.rs"]
mod run;
#[path = "stdio/sessions.rs"]
mod sessions;
#[cfg(feature = "tui")]
#[path = "rig/terminal.rs"]
mod terminal;
#[path = "stdio/transcript.rs"]
mod transcript;

use processes::wait_until_gone;
use retrospect::domain::{StepResult, Task};
use retrospect::driver::worlds;
use retrospect::env::{EnvError, Environment, ExternalProgram, ProgramLimits, TaskOptions};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Longer than any answer takes.
const LONG: Duration = Duration::from_secs(60);

/// Not a test: the program that the others start.
#[test]
#[ignore = "reads its input"]
fn corridor_program() {
    corridor::main();
}

/// The command of the program, and the variables that make it misbehave.
fn command() -> Vec<String> {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let arguments = ["--exact", "corridor_program", "--ignored", "--nocapture"].map(str::to_owned);
    std::iter::once(program).chain(arguments).collect()
}

/// Returns options in which `--env stdio` is the program with a fault.
fn options(fault: &str, marks: Option<&Path>, limits: ProgramLimits) -> TaskOptions {
    let mut variables = vec![("FAULT".to_owned(), fault.to_owned())];
    variables.extend(marks.map(|folder| ("MARKS".to_owned(), folder.to_str().unwrap().to_owned())));
    let program = ExternalProgram { words: command(), folder: None, variables, limits };
    TaskOptions { programs: [("stdio".to_owned(), program)].into(), ..TaskOptions::default() }
}

fn long_limits() -> ProgramLimits {
    let mut limits = ProgramLimits::default();
    for name in ProgramLimits::NAMES {
        *limits.limit_mut(name).unwrap() = LONG;
    }
    limits
}

fn task(id: &str) -> Task {
    Task {
        env: "stdio".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 7,
    }
}

fn open(options: &TaskOptions) -> Result<Box<dyn Environment>, EnvError> {
    worlds::open(&task("east-2"), options)
}

/// Returns the processes that have been started, in order.
fn pids(marks: &Path) -> Vec<i32> {
    let text = fs::read_to_string(marks.join("pids")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Plays the corridor to its end.
fn win(world: &mut dyn Environment) -> Vec<StepResult> {
    let first = world.reset().unwrap();
    let rest = [world.step("sing"), world.step("east"), world.step("east")];
    std::iter::once(first).chain(rest.map(Result::unwrap)).collect()
}

#[test]
fn a_program_is_played_like_any_environment() {
    let marks = tempfile::tempdir().unwrap();
    let options = options("", Some(marks.path()), long_limits());
    let mut world = open(&options).unwrap();
    let info = world.info();
    assert!(info.snapshots && info.deterministic);
    let turns = win(world.as_mut());
    let texts: Vec<&str> = turns.iter().map(|turn| turn.observation.as_str()).collect();
    assert_eq!(
        texts,
        [
            "You are in cell 0. A sign says: 2.",
            "I do not know how to sing.",
            "You are in cell 1.",
            "You are in cell 2. You win."
        ]
    );
    let facts: Vec<_> = turns.iter().map(|t| (t.reward, t.progress, t.done, t.won, t.valid)).collect();
    assert_eq!(
        facts,
        [
            (0.0, 0.0, false, false, true),
            (0.0, 0.0, false, false, false),
            (1.0, 0.5, false, false, true),
            (1.0, 1.0, true, true, true)
        ]
    );
    assert_eq!(turns[0].shown["goal"], "reach cell 2");
    assert_eq!(turns[2].shown, serde_json::json!({"cell": 1, "score": 1, "max_score": 2, "moves": 1}));
    assert_eq!(world.admissible().unwrap(), ["east", "west", "wait"]);
    assert_eq!(world.hint().unwrap().unwrap(), "Go east once more.");
    assert_eq!(world.world_summary()["cell"], 2);
    assert!(
        matches!(worlds::open(&task("east-9"), &options).unwrap().reset(), Err(EnvError::Refused { what }) if what == "there are cells 0 to 4")
    );
    // Stepping goes on after the end.
    assert_eq!(world.step("west").unwrap().observation, "You are in cell 1.");
}

#[test]
fn snapshots_are_restored_and_dropped() {
    let marks = tempfile::tempdir().unwrap();
    let options = options("few_snapshots", Some(marks.path()), long_limits());
    let mut world = open(&options).unwrap();
    world.reset().unwrap();
    let first = world.snapshot().unwrap();
    world.step("east").unwrap();
    let second = world.snapshot().unwrap();
    world.step("east").unwrap();
    world.restore(&first).unwrap();
    assert_eq!(world.step("east").unwrap().observation, "You are in cell 1.");
    // The program has room for two: the oldest one is dropped.
    let third = world.snapshot().unwrap();
    let dropped = || fs::read_to_string(marks.path().join("dropped")).unwrap_or_default();
    assert_eq!(dropped(), "s1\n");
    assert!(matches!(world.restore(&first), Err(EnvError::Refused { .. })));
    world.restore(&second).unwrap();
    world.restore(&third).unwrap();
    // One that nobody can restore is dropped before that.
    drop(third);
    let _fourth = world.snapshot().unwrap();
    assert_eq!(dropped(), "s1\ns3\n");
    world.restore(&second).unwrap();
    // In another process they mean nothing.
    let mut other = open(&options).unwrap();
    other.reset().unwrap();
    assert!(matches!(other.restore(&second), Err(EnvError::Refused { .. })));
}

#[test]
fn tasks_are_listed_in_pages_and_by_split() {
    let options = options("", None, long_limits());
    let list = |selection: &worlds::Selection| worlds::list_tasks("stdio", selection, &options);
    let all = list(&worlds::Selection::default()).unwrap();
    let rows: Vec<_> = all.iter().map(|t| (t.id.as_str(), t.goal.as_str(), t.task_type.as_deref())).collect();
    assert_eq!(
        rows,
        [
            ("east-2", "reach cell 2", Some("walk")),
            ("east-3", "reach cell 3", Some("walk")),
            ("east-4", "reach cell 4", Some("walk"))
        ]
    );
    assert_eq!(all[0].difficulty.as_deref(), Some("2"), "a number is a difficulty, too");
    let of_split = |name: &str| {
        list(&worlds::Selection { split: Some(name.to_owned()), ..worlds::Selection::default() })
    };
    assert_eq!(of_split("train").unwrap().len(), 3);
    assert!(of_split("nowhere").unwrap_err().to_string().contains("no split \"nowhere\""));
    let first = worlds::select_tasks("stdio", &worlds::Selection::default(), &options).unwrap();
    assert_eq!(first.len(), 1);
    let none =
        worlds::select_tasks("stdio", &worlds::Selection::default(), &TaskOptions::default()).unwrap_err();
    assert!(none.hint().contains("--env stdio -- python3 bridge.py"), "{}", none.hint());
}

/// Regression: pages without a task, each with a later `next`, were asked for without end.
#[test]
fn a_list_of_tasks_without_an_end_is_refused() {
    let options = options("endless_tasks", None, long_limits());
    let error = worlds::list_tasks("stdio", &worlds::Selection::default(), &options).unwrap_err();
    assert!(error.to_string().contains("`next` after an empty page"), "{error}");
}

/// The other tests end idle programs and take their places, so this one has a process of its own.
#[test]
fn a_program_plays_the_next_episode_and_is_closed_at_last() {
    let program = std::env::current_exe().unwrap();
    let alone = ["--exact", "--ignored", "the_next_episode_in_a_process_of_its_own"];
    let output = std::process::Command::new(program).args(alone).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

/// Each thousandth of the environments opened and dropped leaves as little as the first.
#[test]
fn a_thousand_environments_leave_no_process() {
    let program = std::env::current_exe().unwrap();
    let alone = ["--exact", "--ignored", "a_thousand_environments_in_a_process_of_their_own"];
    let output = std::process::Command::new(program).args(alone).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_thousand_environments_in_a_process_of_their_own() {
    let open_files = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let marks = tempfile::tempdir().unwrap();
    let options = options("", Some(marks.path()), long_limits());
    let round = |count: usize| {
        for _ in 0..count / 4 {
            let mut worlds: Vec<_> = (0..4).map(|_| open(&options).unwrap()).collect();
            for world in &mut worlds {
                world.reset().unwrap();
            }
        }
        retrospect::driver::worlds::end_idle_programs();
    };
    round(8);
    processes::wait_until("processes are left", || pids(marks.path()).into_iter().all(processes::is_gone));
    let before = (open_files(), threads());
    round(1_000);
    processes::wait_until("processes are left", || pids(marks.path()).into_iter().all(processes::is_gone));
    processes::wait_until("files or threads are left", || open_files() <= before.0 && threads() <= before.1);
    assert!(pids(marks.path()).len() > 500, "most of them had a process of their own");
}

/// A program is used for the next episode, and is asked to close when nobody needs it.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn the_next_episode_in_a_process_of_its_own() {
    let marks = tempfile::tempdir().unwrap();
    let options = options("", Some(marks.path()), long_limits());
    for _ in 0..3 {
        win(open(&options).unwrap().as_mut());
    }
    assert_eq!(pids(marks.path()).len(), 1);
    let (mut first, mut second) = (open(&options).unwrap(), open(&options).unwrap());
    win(first.as_mut());
    win(second.as_mut());
    let pids = pids(marks.path());
    assert_eq!(pids.len(), 2);
    drop((first, second));
    retrospect::driver::worlds::end_idle_programs();
    assert!(marks.path().join("closed").exists());
    pids.into_iter().for_each(wait_until_gone);
}
