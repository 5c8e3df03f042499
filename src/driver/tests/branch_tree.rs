//! Property test: after any rewinds, forks and manual edits the files fold to the shown state and are never changed.

use super::{start, wait_until};
use crate::domain::{
    Autonomy, BranchId, LessonText, ReflectionKind, Scope, Seq, ShownAs, ThoughtDisposition,
};
use crate::driver::{Driver, Fork, Handle, RunConfig};
use crate::engine::{Command, Event, LessonCommand, State};
use crate::journal::{LabelChange, OpenMode, Session, open_branch};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a configuration with breakpoints.
fn config_with_breakpoints(goal: u32, lies: bool) -> RunConfig {
    let mut run_config = super::test_config(goal, lies);
    run_config.policy.breakpoints = crate::breakpoint::breakpoint_rules(crate::breakpoint::parse);
    run_config
}

#[derive(Clone, Debug)]
enum TestMove {
    Command(Command),
    /// Fork from a point of the active branch (in 1000ths of its events), with these commands first.
    Fork(u64, Vec<Command>),
    Switch(usize),
    /// Fork from a point of that branch.
    ForkOther(usize, u64),
    /// Rename or archive that branch.
    Label(usize, LabelChange),
    /// Kill the program, lose the last of what it wrote (in 1000ths), and resume the branch.
    Crash(u64),
}

fn override_with(action: &str) -> Command {
    Command::Override {
        action: action.to_owned(),
        shown_as: ShownAs::Own,
        thought_disposition: ThoughtDisposition::Kept,
    }
}

fn add_lesson_command() -> Command {
    let text = LessonText::plain("count on");
    Command::Lesson(LessonCommand::add(ReflectionKind::Error, Scope::Environment, text, String::new()))
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        6 => Just(Command::Step),
        1 => Just(Command::StepStage),
        2 => Just(override_with("wait")),
        1 => Just(Command::Reject("no".to_owned())),
        1 => Just(Command::Remark { step: 1, text: "odd".to_owned() }),
        1 => Just(Command::ChangeSetting { name: "max_steps".to_owned(), value: 9.into() }),
        1 => Just(add_lesson_command()),
        1 => Just(Command::SetBreakpoint { text: "action = count".to_owned(), replaces: None }),
        1 => (1u32..3, any::<bool>()).prop_map(|(breakpoint, on)| Command::SwitchBreakpoint { breakpoint, enabled: on }),
        1 => (1u32..3).prop_map(Command::RemoveBreakpoint),
        1 => Just(Command::Undo),
        1 => Just(Command::Redo),
        1 => (1u32..5).prop_map(|step| Command::EditObservation { step, text: "It is so.".to_owned() }),
        1 => (1u32..5).prop_map(|step| Command::EditThought { step, text: "so".to_owned() }),
        1 => Just(Command::SetAutonomy(Autonomy::Confirm)),
        1 => Just(Command::EndEpisode(crate::domain::EndReason::Person)),
        1 => Just(Command::AskAgain),
    ]
}

fn any_label() -> impl Strategy<Value = LabelChange> {
    prop_oneof![
        Just(LabelChange::Name(Some("patient\nb1".to_owned()))),
        Just(LabelChange::Name(None)),
        Just(LabelChange::Note(Some("trunk".to_owned()))),
        any::<bool>().prop_map(LabelChange::Archived),
    ]
}

fn any_move() -> impl Strategy<Value = TestMove> {
    prop_oneof![
        6 => any_command().prop_map(TestMove::Command),
        2 => (0u64..1000, prop::collection::vec(any_command(), 0..2)).prop_map(|(at, then)| TestMove::Fork(at, then)),
        1 => (0usize..5).prop_map(TestMove::Switch),
        1 => (0usize..5, 0u64..1000).prop_map(|(of, at)| TestMove::ForkOther(of, at)),
        1 => (0usize..5, any_label()).prop_map(|(of, change)| TestMove::Label(of, change)),
        1 => (0u64..1000).prop_map(TestMove::Crash),
    ]
}

/// Executes a move and waits until the driver is idle.
fn apply_move(handle: &Handle, session: &Session, step: TestMove) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let branch = |n: usize| {
        let ids: Vec<BranchId> = session.headers().unwrap().into_iter().map(|h| h.id).collect();
        ids[n % ids.len()].clone()
    };
    // A rejected move changes nothing, which is checked at the end.
    runtime.block_on(async {
        match step {
            TestMove::Command(command) => drop(handle.send_and_wait(command).await),
            TestMove::Fork(part, then) => {
                let at = Seq(handle.store.head().head.0 * part / 1000);
                drop(handle.fork(Fork { at_seq: at, commands: then, ..Fork::default() }).await);
            }
            TestMove::Switch(n) => drop(handle.switch(branch(n)).await),
            TestMove::ForkOther(n, part) => {
                let at = Seq(handle.store.head().head.0 * part / 1000);
                drop(
                    handle.fork(Fork { source_branch: Some(branch(n)), at_seq: at, ..Fork::default() }).await,
                );
            }
            TestMove::Label(n, change) => drop(session.set_label(&branch(n), change)),
            TestMove::Crash(_) => {}
        }
        // The list is answered after the rebuild, and the pause after its consequences.
        handle.admissible().await;
        drop(handle.send_and_wait(Command::Pause).await);
    });
    wait_until(handle, |h| h.store.head().is_waiting() || h.store.head().run_over);
}

fn read_branch_files(session: &Session) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(session.dir.join("branches")).unwrap().flatten();
    entries
        .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).unwrap()))
        .collect()
}

fn folded_state(session: &Session, branch: &BranchId, how: OpenMode) -> Arc<State> {
    open_branch(&session.branch_file(branch), how).unwrap().timeline.head().clone()
}

/// Truncates a branch file, as far as a kill can: what another branch depends on was synced, and so was everything
/// acknowledged at the start.
fn truncate_as_killed(session: &Session, branch: &BranchId, part: u64) {
    // A killed program doesn't record where it ended.
    let _ = std::fs::remove_dir_all(session.dir.join("index"));
    let path = session.branch_file(branch);
    let bytes = std::fs::read(&path).unwrap();
    let forks = session.headers().unwrap().into_iter().filter(|h| h.parent.as_ref() == Some(branch));
    let needed = forks.map(|h| h.at_seq).max().unwrap_or_default();
    let mut sound = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let event: serde_json::Value = serde_json::from_slice(line).unwrap();
        let begun =
            folded_state(session, branch, OpenMode::Verify).run.is_none() || event["type"] != "run_started";
        if sound > 0 && begun && event["seq"].as_u64().is_some_and(|seq| seq > needed.0 && seq > 2) {
            break;
        }
        sound += line.len();
    }
    let kept = sound + ((bytes.len() - sound) as u64 * part / 1000) as usize;
    std::fs::write(&path, &bytes[..kept]).unwrap();
}

proptest! {
    // A tenth of the cases of other properties: PROPTEST_CASES=20000 makes 2,000.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 10,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_files_fold_to_the_shown_state_and_never_change(
        steps in prop::collection::vec(any_move(), 4..24), cut in 0u64..1000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut handle, mut thread, session) = start(dir.path(), 2, config_with_breakpoints(6, false));
        let mut before = read_branch_files(&session);
        let mut shown: BTreeMap<BranchId, Arc<State>> = BTreeMap::new();
        for step in steps {
            if let TestMove::Crash(part) = step {
                let branch = handle.store.branch();
                handle.quit();
                thread.join().unwrap();
                truncate_as_killed(&session, &branch, part);
                // An incomplete batch was never acknowledged.
                let again = Driver::resume_at(&session.dir, &branch, |_| Ok(config_with_breakpoints(6, false))).unwrap();
                (handle, thread) = (again.handle, again.thread);
                before = read_branch_files(&session);
            }
            let here = handle.store.branch();
            apply_move(&handle, &session, step);
            let after = read_branch_files(&session);
            for (name, bytes) in &before {
                prop_assert!(after[name].starts_with(bytes), "{name} changed");
            }
            before = after;
            prop_assert_eq!(&handle.store.head().divergence, &None, "the environment was restored");
            prop_assert!(handle.store.branch() == here || handle.store.epoch() > 0);
            shown.insert(handle.store.branch(), handle.store.head());
            // Any state of the active branch, read through the timeline that went through the forks.
            let opened = open_branch(&session.branch_file(&handle.store.branch()), OpenMode::Verify).unwrap();
            for part in [0, 3, 7, 9, 10] {
                let seq = Seq(opened.timeline.len() * part / 10);
                prop_assert_eq!(opened.timeline.state_at(seq), handle.store.state_at(seq), "event {}", seq);
            }
        }
        let last = handle.store.branch();
        handle.quit();
        thread.join().unwrap();
        for (branch, live) in &shown {
            let now = folded_state(&session, branch, OpenMode::Verify);
            prop_assert_eq!(&now, &folded_state(&session, branch, OpenMode::Read));
            // It was closed since, and nothing else.
            let opened = open_branch(&session.branch_file(branch), OpenMode::Verify).unwrap();
            prop_assert_eq!(&opened.timeline.state_at(live.head), live);
        }
        prop_assert_eq!(session.last_written(), last.clone());
        // Whatever a kill leaves of the last branch can be resumed.
        let file = session.branch_file(&last);
        let bytes = std::fs::read(&file).unwrap();
        let header = bytes.iter().position(|b| *b == b'\n').unwrap() as u64 + 1;
        let kept = (header + (bytes.len() as u64 - header) * cut / 1000) as usize;
        std::fs::write(&file, &bytes[..kept]).unwrap();
        let _ = std::fs::remove_dir_all(session.dir.join("index"));
        let begun = folded_state(&session, &last, OpenMode::Verify).run.is_some();
        let resumed = Driver::resume_at(&session.dir, &last, |_| Ok(config_with_breakpoints(6, false)));
        prop_assert_eq!(resumed.is_ok(), begun);
        if let Ok(resumed) = resumed {
            apply_move(&resumed.handle, &session, TestMove::Command(Command::Step));
            prop_assert_eq!(&resumed.handle.store.head().divergence, &None);
            prop_assert_eq!(&folded_state(&session, &last, OpenMode::Verify), &resumed.handle.store.head());
            resumed.handle.quit();
            resumed.thread.join().unwrap();
        }
    }
}

#[test]
fn an_approved_action_waits_for_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, config_with_breakpoints(6, false));
    for _ in 0..4 {
        apply_move(&handle, &session, TestMove::Command(Command::Step));
    }
    let events = handle.store.timeline().events_after(Seq(0));
    let agreed = events.iter().find(|e| matches!(e.event, Event::Approved { step: 2 })).unwrap().seq;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(handle.fork(Fork { at_seq: agreed, ..Fork::default() })).unwrap();
    let second = |h: &Handle| h.store.head().episode.as_ref()?.step(2)?.answer.clone();
    wait_until(&handle, |h| second(h).is_some());
    let said = second(&handle).unwrap().raw;
    assert_eq!(said, "It is 2.", "it was not executed in the old environment");
    handle.quit();
    thread.join().unwrap();
}

/// Regression: a program killed during a rebuild lost the commands of the fork.
#[test]
fn the_commands_of_a_fork_are_on_disk_when_the_fork_returns() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, config_with_breakpoints(6, false));
    for _ in 0..4 {
        apply_move(&handle, &session, TestMove::Command(Command::Step));
    }
    let at = crate::driver::decision_seq(&handle.store.timeline(), 2).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let fork = Fork { at_seq: at, commands: vec![override_with("wait")], ..Fork::default() };
    let branch = runtime.block_on(handle.fork(fork)).unwrap();
    let there = folded_state(&session, &branch, OpenMode::Verify);
    let done = there.episode.as_ref().unwrap().step(2).unwrap().executed.as_ref().map(|e| e.action.as_str());
    assert_eq!(done, Some("wait"), "it survives a crash");
    handle.quit();
    thread.join().unwrap();
}
