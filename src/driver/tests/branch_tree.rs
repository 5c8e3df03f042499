//! Property test: after any sequence of forks, switches, commands and crashes, the branch files fold to the state that
//! was shown, and what was written never changes.

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

/// Returns a configuration with breakpoints. The toy environment counts to `goal`.
fn config_with_breakpoints(goal: u32, is_diverging: bool) -> RunConfig {
    let mut run_config = super::test_config(goal, is_diverging);
    run_config.policy.breakpoints = crate::breakpoint::breakpoint_rules(crate::breakpoint::parse);
    run_config
}

#[derive(Clone, Debug)]
enum TestMove {
    Command(Command),
    /// Fork the active branch at a point (in 1000ths of its events), and send these commands with the fork.
    Fork(u64, Vec<Command>),
    Switch(usize),
    /// Fork another branch at a point (in 1000ths).
    ForkOther(usize, u64),
    /// Rename, annotate or archive a branch.
    Label(usize, LabelChange),
    /// Kill the program, keep only part of what it wrote last (in 1000ths), and resume the branch.
    Crash(u64),
}

fn override_with(action: &str) -> Command {
    Command::Override {
        action: action.to_owned(),
        shown_as: ShownAs::AgentAction,
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
        1 => Just(Command::Remark { episode: None, step: 1, text: "odd".to_owned() }),
        1 => Just(Command::ChangeSetting { name: "max_steps".to_owned(), value: 9.into() }),
        1 => Just(add_lesson_command()),
        1 => Just(Command::SetBreakpoint { text: "action = count".to_owned(), replaces: None }),
        1 => (1u32..3, any::<bool>()).prop_map(|(breakpoint, enabled)| Command::SwitchBreakpoint { breakpoint, enabled }),
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
        2 => (0u64..1000, prop::collection::vec(any_command(), 0..2)).prop_map(|(at, commands)| TestMove::Fork(at, commands)),
        1 => (0usize..5).prop_map(TestMove::Switch),
        1 => (0usize..5, 0u64..1000).prop_map(|(branch, at)| TestMove::ForkOther(branch, at)),
        1 => (0usize..5, any_label()).prop_map(|(branch, change)| TestMove::Label(branch, change)),
        1 => (0u64..1000).prop_map(TestMove::Crash),
    ]
}

/// Executes a move and waits until the driver is idle.
fn apply_move(handle: &Handle, session: &Session, test_move: TestMove) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let branch = |n: usize| {
        let ids: Vec<BranchId> = session.headers().unwrap().into_iter().map(|h| h.id).collect();
        ids[n % ids.len()].clone()
    };
    // A rejected move changes nothing, which is checked at the end.
    runtime.block_on(async {
        match test_move {
            TestMove::Command(command) => drop(handle.send_and_wait(command).await),
            TestMove::Fork(part, commands) => {
                let at = Seq(handle.store.head().head.0 * part / 1000);
                drop(handle.fork(Fork { at_seq: at, commands, ..Fork::default() }).await);
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
        // The driver replies to these two only after the rebuild and after the events that follow from it.
        handle.wait_for_environment().await;
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

fn folded_state(session: &Session, branch: &BranchId, mode: OpenMode) -> Arc<State> {
    open_branch(&session.branch_file(branch), mode).unwrap().timeline.head().clone()
}

/// Truncates a branch file as a kill may. Events that another branch depends on and those of the start are always
/// kept, because they were synced. `part` is how much of the rest is kept, in 1000ths.
fn truncate_as_killed(session: &Session, branch: &BranchId, part: u64) {
    // A killed program leaves no record of the length of the file.
    let _ = std::fs::remove_dir_all(session.dir.join("index"));
    let path = session.branch_file(branch);
    let bytes = std::fs::read(&path).unwrap();
    let forks = session.headers().unwrap().into_iter().filter(|h| h.parent.as_ref() == Some(branch));
    let needed = forks.map(|h| h.at_seq).max().unwrap_or_default();
    let mut synced_len = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let event: serde_json::Value = serde_json::from_slice(line).unwrap();
        let has_begun =
            folded_state(session, branch, OpenMode::Verify).run.is_none() || event["type"] != "run_started";
        if synced_len > 0 && has_begun && event["seq"].as_u64().is_some_and(|seq| seq > needed.0 && seq > 2) {
            break;
        }
        synced_len += line.len();
    }
    let kept_len = synced_len + ((bytes.len() - synced_len) as u64 * part / 1000) as usize;
    std::fs::write(&path, &bytes[..kept_len]).unwrap();
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
        moves in prop::collection::vec(any_move(), 4..24), kept_part in 0u64..1000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut handle, mut thread, session) = start(dir.path(), 2, config_with_breakpoints(6, false));
        let mut before = read_branch_files(&session);
        let mut shown: BTreeMap<BranchId, Arc<State>> = BTreeMap::new();
        for test_move in moves {
            if let TestMove::Crash(part) = test_move {
                let branch = handle.store.branch();
                handle.quit();
                thread.join().unwrap();
                truncate_as_killed(&session, &branch, part);
                // An incomplete batch at the end is discarded, as its command was never acknowledged.
                let resumed = Driver::resume_at(&session.dir, &branch, |_| Ok(config_with_breakpoints(6, false))).unwrap();
                (handle, thread) = (resumed.handle, resumed.thread);
                before = read_branch_files(&session);
            }
            let branch_before = handle.store.branch();
            apply_move(&handle, &session, test_move);
            let after = read_branch_files(&session);
            for (name, bytes) in &before {
                prop_assert!(after[name].starts_with(bytes), "{name} changed");
            }
            before = after;
            prop_assert_eq!(&handle.store.head().divergence, &None, "the environment was restored");
            prop_assert!(handle.store.branch() == branch_before || handle.store.epoch() > 0);
            shown.insert(handle.store.branch(), handle.store.head());
            // Earlier states are the same in a timeline read from the files as in the one that went through the forks.
            let opened = open_branch(&session.branch_file(&handle.store.branch()), OpenMode::Verify).unwrap();
            // The driver may still write its own events, such as the end of a pause; the file has each before the store.
            let head = shown[&handle.store.branch()].head;
            for part in [0, 3, 7, 9, 10] {
                let seq = Seq(head.0 * part / 10);
                prop_assert_eq!(opened.timeline.state_at(seq), handle.store.state_at(seq), "event {}", seq);
            }
        }
        let last = handle.store.branch();
        handle.quit();
        thread.join().unwrap();
        for (branch, shown_state) in &shown {
            let folded = folded_state(&session, branch, OpenMode::Verify);
            prop_assert_eq!(&folded, &folded_state(&session, branch, OpenMode::Read));
            // Only `Closed` may follow the shown state.
            let opened = open_branch(&session.branch_file(branch), OpenMode::Verify).unwrap();
            prop_assert_eq!(&opened.timeline.state_at(shown_state.head), shown_state);
        }
        prop_assert_eq!(session.last_written(), last.clone());
        // The last branch can be resumed wherever a kill truncates its file, if its run has started.
        let file = session.branch_file(&last);
        let bytes = std::fs::read(&file).unwrap();
        let header_len = bytes.iter().position(|b| *b == b'\n').unwrap() as u64 + 1;
        let kept_len = (header_len + (bytes.len() as u64 - header_len) * kept_part / 1000) as usize;
        std::fs::write(&file, &bytes[..kept_len]).unwrap();
        let _ = std::fs::remove_dir_all(session.dir.join("index"));
        let has_begun = folded_state(&session, &last, OpenMode::Verify).run.is_some();
        let resumed = Driver::resume_at(&session.dir, &last, |_| Ok(config_with_breakpoints(6, false)));
        prop_assert_eq!(resumed.is_ok(), has_begun);
        if let Ok(resumed) = resumed {
            apply_move(&resumed.handle, &session, TestMove::Command(Command::Step));
            prop_assert_eq!(&resumed.handle.store.head().divergence, &None);
            let head = resumed.handle.store.head();
            let opened = open_branch(&session.branch_file(&last), OpenMode::Verify).unwrap();
            prop_assert_eq!(&opened.timeline.state_at(head.head), &head);
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
    let approved_seq = events.iter().find(|e| matches!(e.event, Event::Approved { step: 2 })).unwrap().seq;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(handle.fork(Fork { at_seq: approved_seq, ..Fork::default() })).unwrap();
    let second_answer = |h: &Handle| h.store.head().episode.as_ref()?.step(2)?.answer.clone();
    wait_until(&handle, |h| second_answer(h).is_some());
    let raw = second_answer(&handle).unwrap().raw;
    assert_eq!(raw, "It is 2.", "the action was executed in the rebuilt environment");
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
    let state = folded_state(&session, &branch, OpenMode::Verify);
    let executed =
        state.episode.as_ref().unwrap().step(2).unwrap().executed.as_ref().map(|e| e.action.as_str());
    assert_eq!(executed, Some("wait"), "the override survives a crash");
    handle.quit();
    thread.join().unwrap();
}
