//! A run of two trials, written as the public code does, and what hostile or damaged files lead to.

use super::*;
use crate::engine::{Envelope, State};
use crate::journal::import::imported_format;
use crate::journal::{ReadBranch, read_branch_bytes};

const RESULTS: [&str; 2] = [
    r#"[{"name": "env_0", "memory": ["Look on the shelf."], "is_success": false, "skip": false},
        {"name": "env_1", "memory": [], "is_success": true, "skip": false}]"#,
    r#"[{"name": "env_0", "memory": ["Look on the shelf."], "is_success": true, "skip": false},
        {"name": "env_1", "memory": [], "is_success": true, "skip": false}]"#,
];
const LOGS: [&str; 2] = [
    "\n#####\n\nEnvironment #0:\nTwo examples.\nYour task is to: put a cup on the shelf.\n> go to drawer 1\nIt is closed.\n\n\
     Here is the task:\nA room.\n\nYour task is to: put a kettle on the stove.\n> think: In the drawer?\nOK.\n> open drawer 1\n\
     It is empty.\n> open drawer 1\nNothing happens.\n\nSTATUS: FAIL\n\n#####\n\
     \n#####\n\nEnvironment #1:\nHere is the task:\nA room.\nYour task is to: put a bowl in the drawer.\n> take bowl 1\n\
     You pick it up.\n> put bowl 1\nYou put it in the drawer.\n\nSTATUS: OK\n\n#####\n\n-----\nSUCCESS: 1\n-----",
    "\n#####\n\nEnvironment #0:\nYour memory for the task below:\nTrial 0:\nLook on the shelf.\nHere is the task:\nA room.\n\n\
     Your task is to: put a kettle on the stove.\n[human edit]: go to shelf 1\nThere is\na kettle.\n> put kettle 1\nDone.\n\n\
     STATUS: OK\n\n#####\n\n#####\n\nEnvironment #1: Success\n\n#####\n\n-----\nSUCCESS: 2\n-----",
];

/// Writes files into a folder and imports it.
fn import(files: &[(&str, &[u8])]) -> Result<ImportedSession, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    std::fs::create_dir(&dir).unwrap();
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
    Source::open(&dir)?.import()
}

fn run() -> Vec<(&'static str, &'static [u8])> {
    vec![
        ("env_results_trial_0.json", RESULTS[0].as_bytes()),
        ("env_results_trial_1.json", RESULTS[1].as_bytes()),
        ("trial_0.log", LOGS[0].as_bytes()),
        ("trial_1.log", LOGS[1].as_bytes()),
        ("world.log", b"not needed"),
    ]
}

fn fold(session: &ImportedSession) -> (ReadBranch, State) {
    let path = Path::new("branches/trunk.jsonl");
    let read = read_branch_bytes(path, session.files["branches/trunk.jsonl"].as_bytes()).unwrap();
    let mut state = State::default();
    read.events.iter().for_each(|envelope: &std::sync::Arc<Envelope>| state.apply(envelope));
    (read, state)
}

#[test]
fn a_run_directory_becomes_a_session() {
    let session = import(&run()).unwrap();
    let (read, state) = fold(&session);
    let ended: Vec<_> = state.ended_episodes.iter().collect();
    let facts: Vec<_> =
        ended.iter().map(|e| (e.task.id.as_str(), e.trial, e.steps, e.moves, e.won, e.reason)).collect();
    let expected = [
        ("env_0", 1, 3, 2, false, EndReason::Loop),
        ("env_1", 1, 2, 2, true, EndReason::Won),
        ("env_0", 2, 2, 2, true, EndReason::Won),
    ];
    assert_eq!(facts, expected);
    let task = &ended[0].task;
    assert_eq!((task.env.as_str(), task.goal.as_str()), ("unknown", "put a kettle on the stove"));
    let spec = state.run.as_deref().unwrap();
    assert_eq!((spec.method.as_str(), imported_format(spec)), ("reflexion", Some("reflexion")));
    assert_eq!(ended.iter().map(|e| e.assisted).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(ended[0].stats.invalid_moves, 1);
    let last = state.episode.as_ref().unwrap();
    assert_eq!(
        last.first_observation.as_ref().unwrap().raw,
        "A room.\n\nYour task is to: put a kettle on the stove."
    );
    assert_eq!(last.steps[0].observation(), Some("There is\na kettle."));
    let plans: Vec<_> = state.pool.all().map(|l| (l.text().text.as_str(), l.learnt_at, l.scope)).collect();
    assert_eq!(plans, [("Look on the shelf.", (1, 3), Scope::Task)]);
    assert!(state.run_over && state.closed && read.torn_tail.is_none());
    assert_eq!(import(&run()).unwrap().files.len(), session.files.len());
}

#[test]
fn results_without_logs_give_episodes_without_steps() {
    let (_, state) = fold(&import(&run()[..1]).unwrap());
    assert_eq!(
        state.ended_episodes.iter().map(|e| (e.steps, e.won)).collect::<Vec<_>>(),
        [(0, false), (0, true)]
    );
    assert_eq!(state.pool.all().count(), 1);
    // Who wrote the plans of trials that are missing, and when, isn't known.
    let (read, state) = fold(&import(&[("env_results_trial_7.json", RESULTS[0].as_bytes())]).unwrap());
    let plan = state.pool.all().next().unwrap();
    assert_eq!((plan.origin, plan.task_key.as_deref()), (LessonOrigin::File, Some("unknown\nenv_0\n0")));
    assert_eq!(state.ended_episodes[0].trial, 8);
    let warnings = read.events.iter().filter(|e| matches!(e.event, Event::Warned { .. })).count();
    assert_eq!(warnings, 1);
}

/// Regression: fifteen million steps took 6 GB of memory and then ended the program.
#[test]
fn a_log_of_endless_steps_is_refused() {
    let log = format!("\n#####\n\nEnvironment #0:\nHere is the task:\n{}", "> a\n".repeat(MAX_STEPS + 1));
    let files = [("env_results_trial_0.json", RESULTS[0].as_bytes()), ("trial_0.log", log.as_bytes())];
    let error = import(&files).unwrap_err();
    assert!(error.path.ends_with("trial_0.log") && error.problem.contains("steps"), "{error:?}");
}

/// Regression: `_01.json` counted as the results of trial 1, whose file was then missing or was read twice.
#[test]
fn only_one_name_is_that_of_a_trial() {
    for name in ["env_results_trial_01.json", "env_results_trial_+1.json", "env_results_trial_.json"] {
        assert_eq!(results_trial(name), None, "{name}");
    }
    assert_eq!(results_trial("env_results_trial_10.json"), Some(10));
}

#[test]
fn errors_name_the_file_and_the_place() {
    let cases: [(&str, &[u8], &str); 5] = [
        ("env_results_trial_0.json", b"[{\n", "env_results_trial_0.json:2: EOF"),
        ("env_results_trial_0.json", b"[3]", "env_results_trial_0.json, entry 0: not an object"),
        ("env_results_trial_0.json", b"[{\"memory\": 3}]", "entry 0: memory is not an array"),
        ("env_results_trial_0.json", b"\xff", "env_results_trial_0.json:1: "),
        ("trial_0.log", b"ok\xff", "trial_0.log: not UTF-8 from byte 2 on"),
    ];
    for (name, bytes, expected) in cases {
        let results: &[u8] = if name == "trial_0.log" { b"[]" } else { bytes };
        let error = import(&[("env_results_trial_0.json", results), (name, bytes)]).unwrap_err();
        assert!(error.to_string().contains(expected) && !error.hint.is_empty(), "{error}");
    }
    let unknown = import(&[("x.json", b"[]")]).unwrap_err();
    assert!(unknown.problem.contains("run directories of Reflexion's code"), "{unknown}");
}

/// Files cut anywhere, numbers beyond every limit, and bytes of any kind are errors or incomplete sessions.
#[test]
fn damaged_files_never_panic() {
    for end in (0..LOGS[0].len()).step_by(7) {
        let (_, state) = fold(
            &import(&[
                ("env_results_trial_0.json", RESULTS[0].as_bytes()),
                ("trial_0.log", &LOGS[0].as_bytes()[..end]),
            ])
            .unwrap(),
        );
        assert_eq!(state.ended_episodes.len(), 2);
    }
    for end in 0..RESULTS[0].len() {
        assert!(import(&[("env_results_trial_0.json", &RESULTS[0].as_bytes()[..end])]).is_err());
    }
    let huge = format!(
        r#"[{{"name": "env_{}", "memory": ["{}"], "is_success": true}}]"#,
        usize::MAX,
        "x".repeat(1 << 20)
    );
    let name = format!("env_results_trial_{}.json", u32::MAX);
    let (_, state) = fold(&import(&[(&name, huge.as_bytes())]).unwrap());
    assert_eq!(state.ended_episodes[0].trial, u32::MAX);
    let nested = "[".repeat(1 << 16);
    assert!(import(&[("env_results_trial_0.json", nested.as_bytes())]).is_err());
    let log = format!("{}\u{1b}[2J\u{0}", "#####\n\nEnvironment #0:\nHere is the task:\n> \n".repeat(1000));
    fold(
        &import(&[("env_results_trial_0.json", RESULTS[0].as_bytes()), ("trial_0.log", log.as_bytes())])
            .unwrap(),
    );
}
