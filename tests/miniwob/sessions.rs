//! Sessions whose browser is killed, and what is left of a killed program.

use crate::episodes::{Test, options, task};
use crate::processes::{kill_browsers, of_drivers, wait_until_gone};
use crate::rewind::PlayedSession;
use crate::run;
use retrospect::catalog;
use retrospect::domain::{Autonomy, Interface, Limits, Observation, RunSpec};
use retrospect::driver::{Driver, Handle, RunConfig, worlds};
use retrospect::engine::Command;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const TESTS: &[Test] = &[
    ("a browser that is killed in a step is replaced", a_killed_browser_is_replaced),
    ("nothing is left of a killed program", nothing_is_left_of_a_killed_program),
    ("going back thirty steps", going_back_thirty_steps),
];

/// The solution of a task whose sections open slowly, so that a step can be interrupted.
const TASK: &str = "click-collapsible-2/3";
const ACTIONS: [&str; 3] = ["click_element 4", "click_element 5", "click_element 13"];

/// Plays the task. Kills the browser in this step, if there is one. Returns the answers and the messages of failures.
fn play(killed_step: Option<usize>) -> (Vec<Observation>, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let spec = RunSpec {
        autonomy: Autonomy::Human,
        interface: Interface::Raw,
        mentor: "none".to_owned(),
        limits: Limits { steps: 100, moves: None, wall_seconds: None },
        ..run::spec("react", vec![task(TASK)])
    };
    let (opened, limited) = (options(&[]), options(&[]));
    let open = Arc::new(move |task: &_| worlds::open(task, &opened));
    let config =
        RunConfig::from_spec(&spec, Arc::new(catalog::builtin_templates()), open, Duration::ZERO).unwrap();
    let answer_deadlines = Arc::new(move |task: &_| worlds::answer_deadlines(task, &limited));
    let config = RunConfig { answer_deadlines, ..config };
    let (handle, thread, _) =
        Driver::start(root.path(), run::meta("miniwob", &spec), spec, Vec::new(), config).unwrap();
    handle.send(Command::Step);
    run::until(&handle, |s| {
        assert!(s.failed_call.is_none(), "{:?}", s.failed_call);
        s.open_episode().is_some_and(|e| e.first_observation.is_some())
    });
    let mut failures = Vec::new();
    for (index, action) in ACTIONS.iter().enumerate() {
        run::until(&handle, |s| s.is_waiting() && s.calls.is_empty());
        handle.send(Command::Act((*action).to_owned()));
        if killed_step == Some(index) {
            run::until(&handle, |s| !s.calls.is_empty());
            assert!(kill_browsers(&of_drivers(std::process::id())) > 0);
        }
        wait_for_answer(&handle, index as u32 + 1, &mut failures);
    }
    let head = handle.store.head();
    let episode = head.episode.as_ref().unwrap();
    let steps = episode.steps.iter().filter_map(|step| step.answer.clone());
    let answers = episode.first_observation.clone().into_iter().chain(steps).collect();
    handle.quit();
    thread.join().unwrap();
    (answers, failures)
}

/// Waits for the answer of a step, and retries what fails.
fn wait_for_answer(handle: &Handle, step: u32, failures: &mut Vec<String>) {
    loop {
        run::until(handle, |s| {
            assert!(s.divergence.is_none(), "the replayed actions have other answers: {:?}", s.divergence);
            s.failed_call.is_some() || s.episode.as_ref().is_some_and(|e| e.answered_steps() >= step)
        });
        let head = handle.store.head();
        let Some((_, failure)) = &head.failed_call else { return };
        failures.push(failure.message.clone());
        handle.send(Command::Retry);
        run::until(handle, |s| s.failed_call.is_none());
    }
}

fn a_killed_browser_is_replaced() {
    let (expected, none) = play(None);
    assert!(none.is_empty() && expected.len() == 4 && expected[3].won, "{none:?} {expected:?}");
    let (answers, failures) = play(Some(1));
    assert_eq!(answers, expected);
    let says_so = |message: &String| message.contains("the browser is gone") || message.contains("crashed");
    assert!(failures.len() == 1 && failures.iter().all(says_so), "{failures:?}");
}

fn nothing_is_left_of_a_killed_program() {
    let home = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(["play", "--env", "miniwob", "--task", TASK, "--json"]).env("TMPDIR", temporary.path());
    command.env("RETROSPECT_CONFIG_DIR", home.path()).env("RETROSPECT_SESSIONS", home.path());
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"step\":0"));
    let processes = of_drivers(program.id());
    assert!(processes.len() > 3, "there are {} processes", processes.len());
    writeln!(program.stdin.as_ref().unwrap(), "{}", ACTIONS[0]).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(wait_until_gone(&processes), Vec::<String>::new());
    let left: Vec<_> =
        std::fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Goes thirty steps back and continues with another action. Boxes can be ticked and unticked for ever.
fn going_back_thirty_steps() {
    const STEPS_BACK: usize = 30;
    let (task, options) = (task("click-checkboxes-soft/2"), options(&[("miniwob.pause", "1")]));
    let root = tempfile::tempdir().unwrap();
    let mut played = PlayedSession::begin_in(root.path(), task.clone(), &options);
    let page = played.answers()[0].raw.clone();
    let number = |line: &str| line.split_once(']').unwrap().0.trim_start_matches('[').to_owned();
    let boxes: Vec<String> =
        page.lines().filter(|line| line.contains("<input_checkbox")).map(number).collect();
    assert!(boxes.len() > 2, "{page}");
    for number in boxes.iter().cycle().take(STEPS_BACK + 4) {
        played.act(&format!("click_element {number}"));
    }
    let mut reference = worlds::open(&task, &options).unwrap();
    played.check_fork(4, "click_coords 1 1", reference.as_mut());
    played.end();
}
