//! What is killed in the middle of an episode.

use crate::killed_run::check_killed_run;
use crate::processes::{children_with, is_gone, signal, wait_until};
use crate::rewind::PlayedSession;
use crate::unix::{jar, options};
use retrospect::domain::{Observation, Task};
use retrospect::driver::worlds;
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command as Process, Stdio};

const ACTIONS: [&str; 8] = [
    "open door to kitchen",
    "go to kitchen",
    "look around",
    "open cupboard",
    "pick up metal pot",
    "move metal pot to sink",
    "activate sink",
    "look in sink",
];

fn task() -> Task {
    worlds::find("scienceworld", "boil/21", &options(false)).unwrap()
}

/// Returns the simulators that a process has started and that run.
fn simulators_of(parent: u32) -> Vec<i32> {
    children_with(parent, "py4j.GatewayServer")
}

fn own_simulators() -> Vec<i32> {
    simulators_of(std::process::id())
}

/// Plays the actions as a person. Stops the simulator before one of them (by its number), and kills it while that action is
/// awaited. Returns the answers, and the messages of failures.
fn play(killed_at: Option<usize>) -> (Vec<Observation>, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let mut played = PlayedSession::begin_in(root.path(), task(), &options(false));
    let mut failures = Vec::new();
    for (index, action) in ACTIONS.into_iter().enumerate() {
        let stopped = if killed_at == Some(index) { own_simulators() } else { Vec::new() };
        for pid in &stopped {
            signal(*pid, Signal::STOP);
        }
        assert_eq!(stopped.len(), usize::from(killed_at == Some(index)), "one simulator plays");
        let kill = || stopped.iter().for_each(|pid| signal(*pid, Signal::KILL));
        let interrupt: Option<&dyn Fn()> = (!stopped.is_empty()).then_some(&kill);
        failures.extend(played.act_and_retry(action, interrupt));
        assert_eq!(played.handle.store.head().divergence, None);
    }
    let answers = played.answers();
    played.end();
    (answers, failures)
}

/// Kills the program, not the simulator, in the middle of an episode.
pub(crate) fn a_killed_run_is_resumed() {
    let args = "run --env scienceworld --task grow-plant/2 --actor rules --mentor none --method react --max-steps 12";
    check_killed_run(&args.split_whitespace().collect::<Vec<_>>(), 4);
}

pub(crate) fn a_killed_simulator_is_replaced() {
    // Others may have left some.
    worlds::end_idle_programs();
    let (expected, failures) = play(None);
    assert_eq!((expected.len(), failures.len()), (ACTIONS.len() + 1, 0));
    assert!(expected.last().unwrap().raw.contains("metal pot"), "{expected:?}");
    for killed_at in [0, ACTIONS.len() - 1] {
        let (answers, failures) = play(Some(killed_at));
        assert_eq!(answers, expected, "killed at action {killed_at}");
        assert!(
            failures.len() == 1 && failures[0].contains("its process ended (signal: 9"),
            "killed at action {killed_at}: {failures:?}"
        );
    }
}

/// A program that is killed with `kill -9` takes its simulator along.
pub(crate) fn a_killed_program_leaves_no_simulator() {
    let mut program = Process::new(env!("CARGO_BIN_EXE_retrospect"))
        .args(["play", "--env", "scienceworld", "--task", "boil/21", "--json"])
        .env("SCIENCEWORLD_JAR", jar())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("This room is called the bathroom"), "{line}");
    let simulators = simulators_of(program.id());
    assert_eq!(simulators.len(), 1, "{simulators:?}");
    let mut stdin = program.stdin.take().unwrap();
    stdin.write_all(b"wait\nwait\nwait\n").unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until("the simulator is still running", || simulators.iter().all(|pid| is_gone(*pid)));
}

/// The run takes over the simulator that was started for a look at the task, also while it is being started.
pub(crate) fn a_preview_leaves_its_simulator_to_the_run() {
    worlds::end_idle_programs();
    std::thread::scope(|scope| {
        let preview = scope.spawn(|| worlds::first_result(&task(), &options(false)).unwrap());
        wait_until("no simulator is started", || own_simulators().len() == 1);
        let mut world = worlds::open(&task(), &options(false)).unwrap();
        assert_eq!(own_simulators().len(), 1, "the run has started another one");
        let shown = preview.join().unwrap();
        assert_eq!(world.reset().unwrap().observation, shown.observation);
        assert!(
            shown.shown["goal"].as_str().is_some_and(|goal| goal.starts_with("Your task is to ")),
            "{shown:?}"
        );
    });
    worlds::end_idle_programs();
}

pub(crate) fn simulators_end_with_the_program() {
    let mut world = worlds::open(&task(), &options(false)).unwrap();
    world.reset().unwrap();
    let running = own_simulators();
    drop(world);
    assert_eq!(own_simulators(), running, "it is kept for the next episode");
    worlds::end_idle_programs();
    assert_eq!(own_simulators(), Vec::<i32>::new());
    assert!(running.into_iter().all(is_gone));
}
