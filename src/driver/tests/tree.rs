//! Any session, any rewinds, forks and changes by hand: the files fold to what was shown, and nothing of them ever changes.

use super::{start, until};
use crate::domain::{
    Autonomy, BranchId, LessonText, ReflectionKind, Scope, Seq, ShownAs, ThoughtDisposition,
};
use crate::driver::{Driver, Fork, Handle, RunConfig};
use crate::engine::{Command, Event, LessonCommand, State};
use crate::journal::{LabelChange, Session, Use, open_branch};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// With the breakpoints that sessions have.
fn launch(goal: u32, lies: bool) -> RunConfig {
    let mut launch = super::launch(goal, lies);
    launch.policy.breakpoints = crate::breakpoint::breakpoint_rules(crate::breakpoint::parse);
    launch
}

#[derive(Clone, Debug)]
enum Move {
    Wish(Command),
    /// From this part of the branch at work (in 1000ths of its events), with these wishes first.
    Fork(u64, Vec<Command>),
    Switch(usize),
    /// From this part of that branch.
    ForkOf(usize, u64),
    /// That branch is called otherwise, or put away.
    Label(usize, LabelChange),
    /// The program is killed, the last of its writing (in 1000ths) is lost, and another one takes the branch up.
    Crash(u64),
}

fn instead(action: &str) -> Command {
    Command::Override {
        action: action.to_owned(),
        shown_as: ShownAs::Own,
        thought_disposition: ThoughtDisposition::Kept,
    }
}

fn lesson() -> Command {
    let text = LessonText::plain("count on");
    Command::Lesson(LessonCommand::add(ReflectionKind::Error, Scope::Environment, text, String::new()))
}

fn wishes() -> impl Strategy<Value = Command> {
    prop_oneof![
        6 => Just(Command::Step),
        1 => Just(Command::StepStage),
        2 => Just(instead("wait")),
        1 => Just(Command::Reject("no".to_owned())),
        1 => Just(Command::Remark { step: 1, text: "odd".to_owned() }),
        1 => Just(Command::ChangeSetting { name: "max_steps".to_owned(), value: 9.into() }),
        1 => Just(lesson()),
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

fn labels() -> impl Strategy<Value = LabelChange> {
    prop_oneof![
        Just(LabelChange::Name(Some("patient\nb1".to_owned()))),
        Just(LabelChange::Name(None)),
        Just(LabelChange::Note(Some("trunk".to_owned()))),
        any::<bool>().prop_map(LabelChange::Archived),
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        6 => wishes().prop_map(Move::Wish),
        2 => (0u64..1000, prop::collection::vec(wishes(), 0..2)).prop_map(|(at, then)| Move::Fork(at, then)),
        1 => (0usize..5).prop_map(Move::Switch),
        1 => (0usize..5, 0u64..1000).prop_map(|(of, at)| Move::ForkOf(of, at)),
        1 => (0usize..5, labels()).prop_map(|(of, change)| Move::Label(of, change)),
        1 => (0u64..1000).prop_map(Move::Crash),
    ]
}

/// Carries a move out and waits until nothing more comes of it.
fn play(handle: &Handle, session: &Session, step: Move) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let branch = |n: usize| {
        let ids: Vec<BranchId> = session.headers().unwrap().into_iter().map(|h| h.id).collect();
        ids[n % ids.len()].clone()
    };
    // What is refused changes nothing; that it is, is looked at in the end.
    runtime.block_on(async {
        match step {
            Move::Wish(command) => drop(handle.ask(command).await),
            Move::Fork(part, then) => {
                let at = Seq(handle.store.head().head.0 * part / 1000);
                drop(handle.fork(Fork { at, then, ..Fork::default() }).await);
            }
            Move::Switch(n) => drop(handle.switch(branch(n)).await),
            Move::ForkOf(n, part) => {
                let at = Seq(handle.store.head().head.0 * part / 1000);
                drop(handle.fork(Fork { from: Some(branch(n)), at, ..Fork::default() }).await);
            }
            Move::Label(n, change) => drop(session.label(&branch(n), change)),
            Move::Crash(_) => {}
        }
        // The list is answered after what was brought back, and the pause after what came of that.
        handle.admissible().await;
        drop(handle.ask(Command::Pause).await);
    });
    until(handle, |h| h.store.head().is_waiting() || h.store.head().run_over);
}

fn files(session: &Session) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(session.dir.join("branches")).unwrap().flatten();
    entries
        .map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).unwrap()))
        .collect()
}

fn folded(session: &Session, branch: &BranchId, how: Use) -> Arc<State> {
    open_branch(&session.branch_file(branch), how).unwrap().timeline.head().clone()
}

/// Takes the end of a branch file away, as much as a kill can take: what another branch stands on had been synced before,
/// and what the program said it had begun, too.
fn lose(session: &Session, branch: &BranchId, part: u64) {
    // A program that is killed says nothing of where it ended.
    let _ = std::fs::remove_dir_all(session.dir.join("index"));
    let path = session.branch_file(branch);
    let bytes = std::fs::read(&path).unwrap();
    let forks = session.headers().unwrap().into_iter().filter(|h| h.parent.as_ref() == Some(branch));
    let needed = forks.map(|h| h.at_seq).max().unwrap_or_default();
    let mut sound = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let event: serde_json::Value = serde_json::from_slice(line).unwrap();
        let begun = folded(session, branch, Use::Check).run.is_none() || event["type"] != "run_started";
        if sound > 0 && begun && event["seq"].as_u64().is_some_and(|seq| seq > needed.0 && seq > 2) {
            break;
        }
        sound += line.len();
    }
    let kept = sound + ((bytes.len() - sound) as u64 * part / 1000) as usize;
    std::fs::write(&path, &bytes[..kept]).unwrap();
}

proptest! {
    // A tenth of what other properties get: PROPTEST_CASES=20000 makes 2,000.
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 10,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_files_fold_to_what_was_shown_and_no_byte_of_them_changes(
        steps in prop::collection::vec(moves(), 4..24), cut in 0u64..1000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut handle, mut thread, session) = start(dir.path(), 2, launch(6, false));
        let mut before = files(&session);
        let mut shown: BTreeMap<BranchId, Arc<State>> = BTreeMap::new();
        for step in steps {
            if let Move::Crash(part) = step {
                let branch = handle.store.branch();
                handle.quit();
                thread.join().unwrap();
                lose(&session, &branch, part);
                // A batch of which not all is there was never said to be done.
                let again = Driver::resume_at(&session.dir, &branch, |_| Ok(launch(6, false))).unwrap();
                (handle, thread) = (again.handle, again.thread);
                before = files(&session);
            }
            let here = handle.store.branch();
            play(&handle, &session, step);
            let after = files(&session);
            for (name, bytes) in &before {
                prop_assert!(after[name].starts_with(bytes), "{name} changed");
            }
            before = after;
            prop_assert_eq!(&handle.store.head().divergence, &None, "the world was brought back");
            prop_assert!(handle.store.branch() == here || handle.store.epoch() > 0);
            shown.insert(handle.store.branch(), handle.store.head());
            // Any state of the line at work, by the timeline that went through the forks.
            let opened = open_branch(&session.branch_file(&handle.store.branch()), Use::Check).unwrap();
            for part in [0, 3, 7, 9, 10] {
                let seq = Seq(opened.timeline.len() * part / 10);
                prop_assert_eq!(opened.timeline.state_at(seq), handle.store.state_at(seq), "event {}", seq);
            }
        }
        let last = handle.store.branch();
        handle.quit();
        thread.join().unwrap();
        for (branch, live) in &shown {
            let now = folded(&session, branch, Use::Check);
            prop_assert_eq!(&now, &folded(&session, branch, Use::Look));
            // It was put down since, and nothing else.
            let opened = open_branch(&session.branch_file(branch), Use::Check).unwrap();
            prop_assert_eq!(&opened.timeline.state_at(live.head), live);
        }
        prop_assert_eq!(session.last_written(), last.clone());
        // Whatever the program leaves of the last branch when it is killed can be gone on with.
        let file = session.branch_file(&last);
        let bytes = std::fs::read(&file).unwrap();
        let header = bytes.iter().position(|b| *b == b'\n').unwrap() as u64 + 1;
        let kept = (header + (bytes.len() as u64 - header) * cut / 1000) as usize;
        std::fs::write(&file, &bytes[..kept]).unwrap();
        let _ = std::fs::remove_dir_all(session.dir.join("index"));
        let begun = folded(&session, &last, Use::Check).run.is_some();
        let resumed = Driver::resume_at(&session.dir, &last, |_| Ok(launch(6, false)));
        prop_assert_eq!(resumed.is_ok(), begun);
        if let Ok(resumed) = resumed {
            play(&resumed.handle, &session, Move::Wish(Command::Step));
            prop_assert_eq!(&resumed.handle.store.head().divergence, &None);
            prop_assert_eq!(&folded(&session, &last, Use::Check), &resumed.handle.store.head());
            resumed.handle.quit();
            resumed.thread.join().unwrap();
        }
    }
}

#[test]
fn an_action_agreed_to_and_not_yet_taken_waits_for_the_world() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, launch(6, false));
    for _ in 0..4 {
        play(&handle, &session, Move::Wish(Command::Step));
    }
    let events = handle.store.timeline().events_after(Seq(0));
    let agreed = events.iter().find(|e| matches!(e.event, Event::Approved { step: 2 })).unwrap().seq;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(handle.fork(Fork { at: agreed, ..Fork::default() })).unwrap();
    let second = |h: &Handle| h.store.head().episode.as_ref()?.step(2)?.answer.clone();
    until(&handle, |h| second(h).is_some());
    let said = second(&handle).unwrap().raw;
    assert_eq!(said, "It is 2.", "it was not taken in the world of the old line");
    handle.quit();
    thread.join().unwrap();
}

/// Found by review: a program that was killed while the world was brought back had forgotten what was wished.
#[test]
fn what_is_wished_with_a_fork_is_on_the_disk_when_the_fork_is_granted() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, launch(6, false));
    for _ in 0..4 {
        play(&handle, &session, Move::Wish(Command::Step));
    }
    let at = handle.store.proposal_of(2).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let fork = Fork { at, then: vec![instead("wait")], ..Fork::default() };
    let branch = runtime.block_on(handle.fork(fork)).unwrap();
    let there = folded(&session, &branch, Use::Check);
    let done = there.episode.as_ref().unwrap().step(2).unwrap().executed.as_ref().map(|e| e.action.as_str());
    assert_eq!(done, Some("wait"), "whatever happens to the program from now on");
    handle.quit();
    thread.join().unwrap();
}
