//! Sessions whose browser is killed, and what is left of a killed program.

use crate::episodes::{Test, open_with, options, task};
use crate::killed_run::check_killed_run;
use crate::processes::{Process, in_groups_of, wait_until_all_gone};
use crate::rewind::PlayedSession;
use retrospect::domain::Observation;
use retrospect::driver::worlds;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

pub(crate) const TESTS: &[Test] = &[
    ("a browser that is killed in a step is replaced", a_killed_browser_is_replaced),
    ("a driver that has ended is reported as such", an_ended_driver_is_reported),
    ("nothing is left of a killed program", nothing_is_left_of_a_killed_program),
    ("a killed run is resumed and nothing is left of it", a_killed_run_is_resumed),
    ("going back thirty steps", going_back_thirty_steps),
    ("an episode that a limit ends has a picture", an_episode_that_a_limit_ends_has_a_picture),
];

/// The solution of a task whose sections open slowly, so that a step can be interrupted.
const TASK: &str = "click-collapsible-2/3";
const ACTIONS: [&str; 3] = ["click_element 4", "click_element 5", "click_element 13"];

/// Plays the task. Kills the browser in this step, if there is one. Returns the answers and the messages of failures.
fn play(killed_step: Option<usize>) -> (Vec<Observation>, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let mut played = PlayedSession::begin_in(root.path(), task(TASK), &options(&[]));
    let kill = || assert!(kill_browsers(&in_groups_of(std::process::id())) > 0);
    let mut failures = Vec::new();
    for (index, action) in ACTIONS.iter().enumerate() {
        let interrupt: Option<&dyn Fn()> = (killed_step == Some(index)).then_some(&kill);
        failures.extend(played.act_and_retry(action, interrupt));
        let divergence = played.handle.store.head().divergence.clone();
        assert!(divergence.is_none(), "the replayed actions have other answers: {divergence:?}");
    }
    let answers = played.answers();
    played.end();
    (answers, failures)
}

/// Kills the browsers among some processes. Returns how many there were.
fn kill_browsers(processes: &[Process]) -> usize {
    let has = |process: &Process, start: &str| process.words.iter().any(|word| word.starts_with(start));
    let browsers = processes.iter().filter(|p| has(p, "--user-data-dir=") && !has(p, "--type="));
    let kill = |browser: &Process| kill_process(Pid::from_raw(browser.pid).unwrap(), Signal::KILL).is_ok();
    browsers.filter(|browser| kill(browser)).count()
}

fn a_killed_browser_is_replaced() {
    let (expected, none) = play(None);
    assert!(none.is_empty() && expected.len() == 4 && expected[3].won, "{none:?} {expected:?}");
    let (answers, failures) = play(Some(1));
    assert_eq!(answers, expected);
    let says_so = |message: &String| message.contains("the browser is gone") || message.contains("crashed");
    assert!(failures.len() == 1 && failures.iter().all(says_so), "{failures:?}");
}

/// Regression: the message was about a request to an address.
fn an_ended_driver_is_reported() {
    let mut world = open_with(TASK, &[]).unwrap();
    world.reset().unwrap();
    let processes = in_groups_of(std::process::id());
    let drivers = processes.iter().filter(|p| p.words.get(1).is_some_and(|word| word == "--port=0"));
    let kill = |driver: &Process| kill_process(Pid::from_raw(driver.pid).unwrap(), Signal::KILL).is_ok();
    assert!(drivers.filter(|driver| kill(driver)).count() > 0);
    let error = world.step(ACTIONS[0]).unwrap_err().to_string();
    let part = "the browser's driver has ended: its process ended (signal: 9";
    assert!(error.contains(part) && !error.contains("127.0.0.1"), "{error}");
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
    let processes = in_groups_of(program.id());
    assert!(processes.len() > 3, "there are {} processes", processes.len());
    writeln!(program.stdin.as_ref().unwrap(), "{}", ACTIONS[0]).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(wait_until_all_gone(&processes), Vec::<String>::new());
    let left: Vec<_> =
        std::fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Kills the program, not the browser, in the middle of an episode.
fn a_killed_run_is_resumed() {
    let args = "run --env miniwob --task click-collapsible-2/3 --task use-autocomplete/1 --actor rules --mentor none \
                --method react --max-steps 8";
    check_killed_run(&args.split_whitespace().collect::<Vec<_>>(), 2);
}

/// Regression: only an episode that its page ended had one. A difference of pictures is none of the environment.
fn an_episode_that_a_limit_ends_has_a_picture() {
    let home = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retrospect"));
        command.args(line.split_whitespace()).env("RETROSPECT_CONFIG_DIR", home.path());
        let output = command.env("RETROSPECT_SESSIONS", home.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{line}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let steps = "run --env miniwob --task click-collapsible-2/3 --actor rules --mentor none --method react --headless --max-steps";
    let picture = "alt=\"screenshot at the end of episode 1\" src=\"data:image/png;base64,iVBOR";
    run(&format!("{steps} 1"));
    let page = run("export --last --format html");
    assert!(page.contains("lost (step limit)") && page.contains(picture), "{page}");
    run("verify --last");
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
