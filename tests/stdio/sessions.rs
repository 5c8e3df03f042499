//! Sessions that are played in a program: what fails is retried, and the actions are replayed and compared.

use super::processes::{is_gone, wait_until_gone};
use super::rewind::{PlayedSession, run_config};
use super::{long_limits, options, pids, task};
use retrospect::driver::{OpenWorld, worlds};
use retrospect::engine::Command;
use retrospect::env::TaskOptions;
use retrospect::provider::ScriptedProvider;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn begin(root: &Path, id: &str, options: &TaskOptions) -> PlayedSession {
    PlayedSession::begin_in(root, task(id), options)
}

/// Goes east, and retries what fails. Returns the messages. Stops if the replayed actions have other answers.
fn walk(played: &mut PlayedSession, steps: u32) -> Vec<String> {
    let mut failures = Vec::new();
    for _ in 0..steps {
        failures.extend(played.act_and_retry("east", None));
        if played.handle.store.head().divergence.is_some() {
            break;
        }
    }
    failures
}

#[test]
fn an_episode_goes_on_after_every_failure() {
    let mut expected = None;
    let cases = [
        ("none", "", 1),
        ("exit@step", "its process ended (exit status: 3); last output: Traceback: out of cells", 2),
        ("hang@step", "did not answer within 1500 ms", 2),
        ("long_line@step", "a reply is longer than 16 MiB", 2),
        ("missing_id@step", "violated its protocol: step: a reply has no `id`", 2),
        ("env_error@step", "the floor is gone", 2),
        ("refuses@step", "not now", 1),
    ];
    for (fault, message, processes) in cases {
        let (root, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut limits = long_limits();
        if fault.starts_with("hang") {
            limits.step = Duration::from_millis(1_500);
        }
        let mut played = begin(root.path(), "east-4", &options(fault, Some(marks.path()), limits));
        let failures = walk(&mut played, 4);
        assert!(failures.iter().all(|failure| failure.contains(message)), "{fault}: {failures:?}");
        // On a busy machine, what doesn't hang may exceed a short limit as well.
        assert!(failures.is_empty() == message.is_empty(), "{fault}: {failures:?}");
        let answers = played.answers();
        assert!(answers.len() == 5 && answers[4].won, "{fault}: {answers:?}");
        assert_eq!(answers, *expected.get_or_insert_with(|| answers.clone()), "{fault}");
        let pids = pids(marks.path());
        assert!(pids.len() >= processes, "{fault}: {pids:?}");
        let (_, ended) = pids.split_last().unwrap();
        for pid in ended {
            wait_until_gone(*pid);
        }
        played.end();
    }
}

#[test]
fn a_program_that_answers_differently_after_its_restart_is_left_to_a_person() {
    let (root, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut played = begin(root.path(), "east-4", &options("differs", Some(marks.path()), long_limits()));
    let failures = walk(&mut played, 4);
    assert!(failures.len() == 1 && failures[0].contains("exit status: 3"), "{failures:?}");
    let divergence = format!("{:?}", played.handle.store.head().divergence);
    for part in ["You are in cell 1.", "You are in the cell number 1."] {
        assert!(divergence.contains(part), "{divergence}");
    }
    assert_eq!(played.answers().len(), 2, "nothing was executed");
    played.end();
}

/// The run's program is not asked, because its list would change the episode: a copy is.
#[test]
fn a_list_that_changes_the_environment_comes_from_a_copy() {
    let (root, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut played =
        begin(root.path(), "east-4", &options("listing_moves", Some(marks.path()), long_limits()));
    assert_eq!(walk(&mut played, 1), [""; 0]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(played.handle.admissible()), ["east", "west", "wait"]);
    assert_eq!(walk(&mut played, 1), [""; 0]);
    assert_eq!(played.answers()[2].raw, "You are in cell 2.");
    assert_eq!(pids(marks.path()).len(), 2);
    let printed = runtime.block_on(played.handle.printed_text()).unwrap();
    assert!(printed.contains("a corridor of 5 cells"), "{printed}");
    played.end();
}

/// Regression: the list went east, and the next answer was that of another episode.
#[test]
fn a_list_that_turns_out_to_change_the_environment_is_undone() {
    let (root, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut played =
        begin(root.path(), "east-4", &options("listing_moves_unsaid", Some(marks.path()), long_limits()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for cell in 1..=3 {
        assert_eq!(walk(&mut played, 1), [""; 0]);
        assert_eq!(played.answers()[cell].raw, format!("You are in cell {cell}."));
        assert_eq!(runtime.block_on(played.handle.admissible()), ["east", "west", "wait"]);
    }
    assert_eq!(walk(&mut played, 1), [""; 0]);
    assert!(played.answers()[4].won);
    played.end();
}

/// Regression: the run's program was asked, so that a hint that hangs ended it, and the actions were replayed in another one.
#[test]
fn a_hint_that_hangs_or_fails_leaves_the_episode_alone() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (fault, message) in [
        ("hang@hint", "did not answer within"),
        ("exit@hint", "exit status: 3"),
        ("env_error@hint", "the floor is gone"),
    ] {
        let (root, marks) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut limits = long_limits();
        if fault.starts_with("hang") {
            *limits.limit_mut("list").unwrap() = Duration::from_millis(1_500);
        }
        let mut played = begin(root.path(), "east-4", &options(fault, Some(marks.path()), limits));
        assert_eq!(walk(&mut played, 1), [""; 0], "{fault}");
        let why = runtime.block_on(played.handle.hint()).unwrap_err();
        assert!(why.contains(message), "{fault}: {why}");
        assert_eq!(walk(&mut played, 1), [""; 0], "{fault}");
        // The fault happens once.
        let hint = runtime.block_on(played.handle.hint());
        assert_eq!(hint.unwrap().as_deref(), Some("Go east once more."), "{fault}");
        assert_eq!(played.answers()[2].raw, "You are in cell 2.");
        let pids = pids(marks.path());
        assert!(pids.len() >= 2, "{fault}: {pids:?}");
        assert!(!is_gone(pids[0]), "{fault}: the run's own program has ended");
        played.end();
    }
}

#[test]
fn a_task_that_the_program_does_not_have_is_a_sentence() {
    let root = tempfile::tempdir().unwrap();
    let played = begin(root.path(), "east-9", &options("", None, long_limits()));
    let head = played.handle.store.head();
    let (_, failure) = head.failed_call.as_ref().unwrap();
    assert!(failure.message.contains("there are cells 0 to 4"), "{}", failure.message);
    played.end();
}

/// The program says that it has restored a snapshot, hasn't, and shows nothing by which that could be seen. So a snapshot is only
/// used where a recorded answer comes after it, and its answers are compared.
#[test]
fn going_back_with_a_program_whose_snapshots_lie_is_right() {
    for step in [1, 2] {
        let root = tempfile::tempdir().unwrap();
        let mut played = begin(root.path(), "east-4", &options("lies_unseen", None, long_limits()));
        assert_eq!(walk(&mut played, 3), [""; 0]);
        let mut honest =
            retrospect::driver::worlds::open(&task("east-4"), &options("", None, long_limits())).unwrap();
        played.check_fork(step, "wait", honest.as_mut());
        played.end();
    }
}

/// Whatever field of a reply has control sequences: no cell of the screen has one.
#[cfg(feature = "tui")]
#[test]
fn control_sequences_in_any_field_reach_no_cell_of_the_screen() {
    let root = tempfile::tempdir().unwrap();
    let mut played = begin(root.path(), "east-4", &options("marks_all_texts", None, long_limits()));
    for action in ["east", "sing", "east"] {
        played.act(action);
    }
    for (width, height, screen) in super::pictures::screens(&played.session.trunk()) {
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!screen.contains(is_control), "{width}x{height}: {screen:?}");
        assert!(screen.contains("You are in cell 2."), "{width}x{height}:\n{screen}");
    }
    let journal = std::fs::read_to_string(played.session.trunk()).unwrap();
    assert!(journal.contains("title"), "the texts aren't marked");
    played.end();
}

#[cfg(feature = "tui")]
#[test]
fn the_screen_shows_an_episode() {
    let root = tempfile::tempdir().unwrap();
    let mut played = begin(root.path(), "east-4", &options("", None, long_limits()));
    for action in ["east", "sing", "east"] {
        played.act(action);
    }
    super::pictures::check_pictures("stdio", &played.session.trunk());
    played.end();
}

/// Regression: only the verbs of the built-in environments were known, so that the line before the action was executed. Nothing but the
/// list of possible actions says that `east` is one.
#[test]
fn the_list_of_actions_tells_an_action_from_the_sentence_before_it() {
    let root = tempfile::tempdir().unwrap();
    let options = options("none", None, long_limits());
    let mut spec = super::run::spec("react", vec![task("east-2")]);
    spec.limits.steps = 3;
    let played = PlayedSession::begin_run(root.path(), spec, |spec| {
        let opened = options.clone();
        let open: OpenWorld = Arc::new(move |task| worlds::open(task, &opened));
        let mut config = run_config(spec, open);
        config.actor = Arc::new(ScriptedProvider::new(|_| Ok("Start with the sign.\neast".to_owned())));
        config
    });
    played.handle.send(Command::Run);
    super::run::until(&played.handle, |state| state.run_over || state.failed_call.is_some());
    assert_eq!(played.handle.store.head().failed_call, None);
    let answers: Vec<String> = played.answers().into_iter().map(|answer| answer.raw).collect();
    assert_eq!(answers[1..], ["You are in cell 1.", "You are in cell 2. You win."]);
    played.end();
}
