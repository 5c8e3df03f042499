//! Programs that misbehave: what is reported, and that nothing is left of them.

use super::processes::{wait_until, wait_until_gone};
use super::{long_limits, open, options, pids, win};
use retrospect::driver::worlds;
use retrospect::env::{EnvError, Environment, ProgramLimits, StopHandle};
use serde_json::json;
use std::fs;
use std::thread;
use std::time::Duration;

/// The limit of what hangs.
const SHORT: Duration = Duration::from_millis(400);

/// How an episode with a fault must end.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// As if there were no fault.
    Nothing,
    Refused(&'static str),
    TimedOut,
    Died(&'static str),
    Protocol(&'static str),
}
use Expected::{Died, Nothing, Protocol, Refused, TimedOut};

const CASES: &[(&str, Expected)] = &[
    ("exit@hello", Died("exit status: 3); last output: Traceback: out of cells")),
    ("exit@reset", Died("exit status: 3); last output: Traceback: out of cells")),
    ("exit@step", Died("exit status: 3); last output: Traceback: out of cells")),
    ("exit@valid_actions", Died("exit status: 3")),
    ("exit@close", Nothing),
    ("exit0@hello", Died("exit status: 0")),
    ("exit0@reset", Died("exit status: 0")),
    ("exit0@step", Died("exit status: 0")),
    ("exit0@close", Nothing),
    ("kill@hello", Died("signal: 9")),
    ("kill@reset", Died("signal: 9")),
    ("kill@step", Died("signal: 9")),
    ("kill@close", Nothing),
    ("hang@hello", TimedOut),
    ("hang@reset", TimedOut),
    ("hang@step", TimedOut),
    ("hang@valid_actions", TimedOut),
    ("hang@close", Nothing),
    ("ignores_term", Nothing),
    ("grandchild@step", Died("exit status: 5")),
    ("closes_output@step", Died("closed its standard output")),
    ("noise@hello", Nothing),
    ("noise@step", Nothing),
    ("noise_after@reset", Nothing),
    ("noise_after@step", Nothing),
    ("half_line@step", TimedOut),
    ("half_line_exit@step", Died("exit status: 4")),
    ("two_replies@reset", Protocol("replied without a request")),
    ("two_replies@hello", Protocol("replied without a request")),
    ("two_replies@step", Protocol("replied without a request")),
    ("wrong_id@step", Protocol("the id 4711, but the reply to request 4 is due")),
    ("missing_id@step", Protocol("a reply has no `id`")),
    ("string_id@step", Protocol("a reply has the id \"4\", but")),
    ("repeated_id@step", Protocol("a reply has the id 3, but")),
    ("invalid_json@step", Protocol("a reply is not JSON (key must be a string")),
    ("no_object@step", Protocol("a reply is not JSON (trailing characters")),
    ("invalid_utf8@step", Protocol("not UTF-8")),
    ("deep@step", Protocol("a reply is not JSON (recursion limit exceeded")),
    ("long_line@step", Protocol("longer than 16 MiB")),
    ("endless_line@step", Protocol("longer than 16 MiB")),
    ("nul@step", Protocol("a reply is not JSON (control character")),
    ("nan@step", Protocol("a reply is not JSON (expected value")),
    ("nan_text@step", Protocol("`reward` of a reply is \"NaN\", not a number")),
    ("huge_reward@step", Protocol("a reply is not JSON (number out of range")),
    ("no_observation@step", Protocol("a reply has no `observation`")),
    (
        "no_observation@reset",
        Protocol("reset: a reply has no `observation`; expected a string; the reply is {\""),
    ),
    // Regression: only a reply without an id or with a wrong one was quoted, not one that lacks another field.
    ("no_name@hello", Protocol("hello: a reply has no `name`; expected a string; the reply is {\"")),
    ("floods@step", Nothing),
    ("version@hello", Protocol("the program speaks version 2 of the protocol, and this one version 1")),
    ("unknown_fields@hello", Nothing),
    ("unknown_fields@step", Nothing),
    ("env_error@step", Died("the floor is gone")),
    ("env_error@reset", Died("the floor is gone")),
    ("refuses@step", Refused("not now")),
    ("slow@step", TimedOut),
];

/// Plays as `win` does, after a list of the actions, and returns the first error.
fn play(fault: &str, limits: ProgramLimits, marks: &std::path::Path) -> Result<(), EnvError> {
    let mut world = open(&options(fault, Some(marks), limits))?;
    let world = world.as_mut();
    world.reset()?;
    for action in ["east", "west", "east", "east"] {
        world.step(action)?;
    }
    world.admissible()?;
    Ok(())
}

fn check(fault: &str, expected: Expected) {
    // On a busy machine the program may not even begin within a short limit; then the limit was too short for the fault.
    let limits = [SHORT, 10 * SHORT, 100 * SHORT];
    assert!(limits.into_iter().any(|limit| check_within(fault, expected, limit)), "{fault} never happened");
}

/// Returns false if the program was ended before the fault.
fn check_within(fault: &str, expected: Expected, limit: Duration) -> bool {
    let marks = tempfile::tempdir().unwrap();
    let (kind, operation) = fault.split_once('@').unwrap_or((fault, ""));
    let mut limits = long_limits();
    limits.close = limit;
    if let Expected::TimedOut = expected {
        let name = if operation == "valid_actions" { "list" } else { operation };
        *limits.limit_mut(name).unwrap() = limit;
    }
    let result = play(fault, limits, marks.path());
    if matches!(result, Err(EnvError::TimedOut { .. })) && !marks.path().join(kind).exists() {
        return false;
    }
    let (text, part) = match (&result, expected) {
        (Ok(()), Nothing) => ("", ""),
        (Err(error @ EnvError::TimedOut { millis, .. }), TimedOut) => {
            assert_eq!(u128::from(*millis), limit.as_millis());
            // Regression: it didn't say what was asked, nor that the reply may be in the program's buffer.
            let part = format!(" ms (request `{operation}`; a program must flush its standard output");
            assert!(error.to_string().contains(&part), "{fault}: {error}");
            ("", "")
        }
        (Err(EnvError::Refused { what }), Refused(part))
        | (Err(EnvError::Died { what }), Died(part))
        | (Err(EnvError::Protocol { what }), Protocol(part)) => (what.as_str(), part),
        _ => panic!("{fault}: expected {expected:?}, got {result:?}"),
    };
    assert!(text.contains(part), "{fault}: {text}");
    assert!(!text.contains(char::is_control) && text.len() < 3_000, "{fault}: {text:?}");
    let processes = pids(marks.path());
    assert_eq!(processes.len(), 1, "{fault}");
    // What is idle is ended as at the end of the program; whatever failed has ended already.
    if result.is_ok() || matches!(expected, Refused(_)) {
        retrospect::driver::worlds::end_idle_programs();
    }
    processes.into_iter().for_each(wait_until_gone);
    // One without an operation goes on for as long as the program runs.
    if matches!(expected, Nothing) && fault.contains('@') && !marks.path().join(kind).exists() {
        return false;
    }
    if fault.starts_with("grandchild") {
        let pid = fs::read_to_string(marks.path().join("grandchild_pid")).unwrap();
        wait_until_gone(pid.parse().unwrap());
    }
    // If the fault was to happen once, another process plays on without it.
    if !matches!(fault, "version@hello" | "ignores_term") {
        let mut again = open(&options(fault, Some(marks.path()), long_limits())).unwrap();
        assert!(win(again.as_mut()).last().unwrap().won, "{fault}");
    }
    true
}

/// Several at a time: most of the time they wait.
#[test]
fn every_fault_is_reported_and_leaves_no_process() {
    let mut cases = CASES.iter();
    let next = std::sync::Mutex::new(&mut cases);
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                loop {
                    let case = next.lock().unwrap().next();
                    let Some((fault, expected)) = case else { break };
                    check(fault, *expected);
                }
            });
        }
    });
}

/// What a person looks at beside the steps: the program hangs there, is ended, and whatever comes next says so.
#[test]
fn a_program_that_hangs_at_a_look_is_ended() {
    type Look = fn(&mut dyn Environment);
    let cases: [(&str, &str, Look); 3] = [
        ("peek", "peek", |world| assert_eq!(world.world_summary(), json!({}))),
        ("snapshot", "snapshot", |world| assert!(world.snapshot().is_none())),
        ("hint", "list", |world| {
            let hint = world.hint().unwrap_err().to_string();
            assert!(hint.contains("did not answer"), "{hint}");
        }),
    ];
    for (operation, limit, look) in cases {
        let marks = tempfile::tempdir().unwrap();
        let mut limits = long_limits();
        *limits.limit_mut(limit).unwrap() = SHORT;
        let mut world = open(&options(&format!("hang@{operation}"), Some(marks.path()), limits)).unwrap();
        world.reset().unwrap();
        look(world.as_mut());
        let error = world.step("east").unwrap_err();
        assert!(matches!(error, EnvError::TimedOut { .. }), "{operation}: {error:?}");
        drop(world);
        pids(marks.path()).into_iter().for_each(wait_until_gone);
    }
}

/// Regression: a program whose snapshots failed could not be played: each restart failed in the same way.
#[test]
fn a_program_whose_snapshots_fail_is_used_without_them() {
    let marks = tempfile::tempdir().unwrap();
    let mut limits = long_limits();
    *limits.limit_mut("snapshot").unwrap() = SHORT;
    let start = || open(&options("hang@snapshot", Some(marks.path()), limits)).unwrap();
    let mut world = start();
    world.reset().unwrap();
    assert!(world.info().snapshots && world.snapshot().is_none());
    world.step("east").unwrap_err();
    drop(world);
    let mut world = start();
    world.reset().unwrap();
    assert!(!world.info().snapshots && world.snapshot().is_none());
    world.step("east").unwrap();
}

#[test]
fn a_program_that_hangs_at_the_list_after_a_reset_is_played_without_it() {
    let marks = tempfile::tempdir().unwrap();
    let mut limits = long_limits();
    *limits.limit_mut("list").unwrap() = SHORT;
    // Without a folder for marks the fault happens in each process.
    let mut hanging = options("hang@valid_actions", None, limits);
    let program = hanging.programs.values_mut().next().unwrap();
    program.variables.push(("ONLY".to_owned(), marks.path().display().to_string()));
    let mut world = open(&hanging).unwrap();
    assert!(matches!(world.reset(), Err(EnvError::TimedOut { .. })));
    drop(world);
    let mut world = open(&hanging).unwrap();
    assert_eq!(world.reset().unwrap().shown.get("verbs"), None);
    world.step("east").unwrap();
}

#[test]
fn a_program_that_hangs_while_it_lists_tasks_is_ended() {
    let marks = tempfile::tempdir().unwrap();
    let mut limits = long_limits();
    limits.tasks = SHORT;
    let options = options("hang@tasks", Some(marks.path()), limits);
    let error = worlds::list_tasks("stdio", &worlds::Selection::default(), &options).unwrap_err();
    assert!(error.to_string().contains("did not answer"), "{error}");
    pids(marks.path()).into_iter().for_each(wait_until_gone);
}

/// Ids, goals and hints are shown in lists and messages, without what a terminal would obey.
#[test]
fn control_sequences_in_tasks_and_hints_reach_no_terminal() {
    let options = options("control_sequences", None, long_limits());
    let tasks = worlds::list_tasks("stdio", &worlds::Selection::default(), &options).unwrap();
    assert!(tasks[0].id.contains('\u{1b}'), "the program is asked for its own id: {:?}", tasks[0].id);
    let shown = retrospect::text::one_line(&tasks[0].goal).into_owned();
    assert!(!shown.contains(char::is_control) && shown.contains("reach cell 2"), "{shown:?}");
    let mut world = open(&options).unwrap();
    world.reset().unwrap();
    let hint = world.hint().unwrap().unwrap();
    assert!(!hint.contains('\u{1b}') && hint.contains("Go east"), "{hint:?}");
}

#[test]
fn control_sequences_of_a_program_reach_no_message() {
    let options = options("control_sequences", None, long_limits());
    let mut world = open(&options).unwrap();
    world.reset().unwrap();
    // The journal keeps the text as it is; whatever shows it cleans it.
    assert!(world.step("east").unwrap().observation.starts_with("\u{1b}[31mYou"));
    let handle = StopHandle::default();
    handle.install();
    assert_eq!(handle.printed_text(), None);
    let marks = tempfile::tempdir().unwrap();
    let options = super::options("noise@step", Some(marks.path()), long_limits());
    let mut world = open(&options).unwrap();
    world.reset().unwrap();
    world.step("east").unwrap();
    let printed = || handle.printed_text().unwrap();
    wait_until("the noise has not been read", || printed().contains("from an event"));
    let text = printed();
    drop(world);
    assert_eq!(printed(), text, "it is still there when the program has ended");
    let printed = text;
    assert!(printed.contains("loading [####] 10%") && !printed.contains('\u{1b}'), "{printed:?}");
}

/// A restored snapshot is compared with what the program showed when it was taken.
#[test]
fn a_snapshot_that_lies_is_noticed() {
    let mut world = open(&options("lies", None, long_limits())).unwrap();
    world.reset().unwrap();
    let start = world.snapshot().unwrap();
    world.restore(&start).unwrap();
    world.step("east").unwrap();
    let error = world.restore(&start).unwrap_err();
    let EnvError::Protocol { what } = &error else { panic!("{error:?}") };
    assert!(what.contains("restore") && what.contains("\"cell\":1") && what.contains("\"cell\":0"), "{what}");
    assert_eq!(world.step("east").unwrap_err(), error);
}

#[test]
fn a_list_that_changes_the_environment_is_known_afterwards() {
    let mut world = open(&options("impure", None, long_limits())).unwrap();
    assert_eq!(world.info().listing_cost, retrospect::domain::ListingCost::Free);
    world.reset().unwrap();
    assert_eq!(world.info().listing_cost, retrospect::domain::ListingCost::ChangesWorld);
}
