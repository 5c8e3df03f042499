//! Breakpoints across forks: a fork inherits the breakpoints that are set when it starts.

use super::{start, test_config, wait_until};
use crate::domain::{BranchId, BreakpointConfig, Note, NoteKind};
use crate::driver::{Driver, Fork, Handle, RunConfig, Signal};
use crate::engine::{BreakpointMatch, BreakpointRules, Cause, Command, Event};
use crate::journal::{OpenMode, open_branch, read_branch};
use std::sync::Arc;

/// Returns a configuration that parses breakpoints of the form `step N` or `once step N`.
fn config_with_breakpoints() -> RunConfig {
    let mut run_config = test_config(30, false);
    run_config.policy.breakpoints = BreakpointRules {
        parse: Arc::new(|text: &str| {
            let (once, condition) = text.strip_prefix("once ").map_or((false, text), |rest| (true, rest));
            Ok(BreakpointConfig { condition: condition.to_owned(), once, ..BreakpointConfig::default() })
        }),
        find_hits: Arc::new(|before, envelope, _| {
            let Event::Observed { step, .. } = &envelope.event else { return Vec::new() };
            let (step, condition) = (*step, format!("step {step}"));
            let hits = before.breakpoints.all.iter().filter(|b| b.enabled && b.config.condition == condition);
            hits.map(|b| BreakpointMatch { breakpoint: b.number, step, reason: condition.clone() }).collect()
        }),
    };
    run_config
}

fn send_and_settle(handle: &Handle, command: Command) {
    let before = handle.store.head().head;
    handle.send(command);
    wait_until(handle, |h| h.store.head().head > before);
}

fn set_breakpoint(handle: &Handle, text: &str) {
    send_and_settle(handle, Command::SetBreakpoint { text: text.to_owned(), replaces: None });
}

fn step_to(handle: &Handle, number: u32) {
    handle.send(Command::Step);
    wait_until(handle, |h| {
        h.store.head().is_waiting()
            && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == number)
    });
}

/// Returns the number, text, enabled flag and hit count of each breakpoint.
fn list_breakpoints(handle: &Handle) -> Vec<(u32, String, bool, u32)> {
    let all = handle.store.head().breakpoints.all.clone();
    all.iter().map(|b| (b.number, b.config.to_string(), b.enabled, b.hits)).collect()
}

fn run_to_breakpoint(handle: &Handle) -> u32 {
    handle.send(Command::Run);
    wait_until(handle, |h| h.store.head().is_waiting() && h.store.head().breakpoints.current_hit.is_some());
    handle.store.head().breakpoints.current_hit.as_ref().map_or(0, |hit| hit.step)
}

#[test]
fn a_fork_inherits_the_current_breakpoints() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, config_with_breakpoints());
    step_to(&handle, 1);
    set_breakpoint(&handle, "step 3");
    step_to(&handle, 2);
    let fork_seq = handle.store.head().head;
    set_breakpoint(&handle, "step 6");
    set_breakpoint(&handle, "once step 7");
    set_breakpoint(&handle, "step 8");
    send_and_settle(&handle, Command::SwitchBreakpoint { breakpoint: 4, enabled: false });
    assert_eq!(run_to_breakpoint(&handle), 3);
    send_and_settle(&handle, Command::RemoveBreakpoint(1));
    let trunk_breakpoints = list_breakpoints(&handle);
    // Forks from a point at which only the first breakpoint was set and not yet deleted.
    handle.send_fork(Fork { at_seq: fork_seq, ..Fork::default() });
    wait_until(&handle, |h| h.store.epoch() == 1 && h.store.head().step_awaiting_decision().is_some());
    assert_eq!(
        list_breakpoints(&handle),
        trunk_breakpoints,
        "the deleted breakpoint stays deleted, the others are set"
    );
    assert_eq!(trunk_breakpoints.len(), 3);
    assert_eq!(run_to_breakpoint(&handle), 6, "an inherited breakpoint is hit");
    // Inheriting breakpoints is no action of the person, so there is nothing to undo.
    let undo = handle.store.head().undo_stack.clone();
    assert!(!undo.iter().any(|u| format!("{:?}", u.action).contains("Breakpoint")), "{undo:?}");
    let b1 = session.branch_file(&BranchId("b1".to_owned()));
    let events = read_branch(&b1).unwrap().events;
    let own_events: Vec<_> = events.iter().filter(|e| e.seq > fork_seq).collect();
    let batch_end = own_events.iter().position(|e| !e.batch_continues).unwrap();
    assert_eq!(own_events[0].event, Event::Reopened);
    assert_eq!(batch_end, 5, "one batch: reopened, one breakpoint removed, three set, one disabled");
    assert!(own_events[..=batch_end].iter().all(|e| e.cause == Cause::Policy));
    // A fork from here doesn't write the breakpoints again, and changes to them don't affect other branches.
    send_and_settle(&handle, Command::RemoveBreakpoint(2));
    let branch_breakpoints = list_breakpoints(&handle);
    let head = handle.store.head().head;
    handle.send_fork(Fork { at_seq: head, ..Fork::default() });
    wait_until(&handle, |h| h.store.epoch() == 2);
    assert_eq!(list_breakpoints(&handle), branch_breakpoints);
    let b2 = read_branch(&session.branch_file(&BranchId("b2".to_owned()))).unwrap().events;
    assert!(!b2.iter().any(|e| e.seq > head && matches!(e.event, Event::BreakpointSet { .. })));
    handle.send_switch(BranchId::trunk());
    wait_until(&handle, |h| h.store.branch() == BranchId::trunk());
    assert_eq!(list_breakpoints(&handle), trunk_breakpoints, "the branches don't affect the trunk");
    handle.quit();
    thread.join().unwrap();
    // The resumed branch folds to the same state.
    let resumed =
        Driver::resume_at(&session.dir, &BranchId("b1".to_owned()), |_| Ok(config_with_breakpoints()))
            .unwrap();
    assert_eq!(list_breakpoints(&resumed.handle), branch_breakpoints);
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}

#[test]
fn a_kill_in_the_first_batch_of_a_fork_leaves_no_partial_breakpoints() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, config_with_breakpoints());
    step_to(&handle, 1);
    let fork_seq = handle.store.head().head;
    set_breakpoint(&handle, "step 6");
    set_breakpoint(&handle, "step 8");
    handle.send_fork(Fork { at_seq: fork_seq, ..Fork::default() });
    wait_until(&handle, |h| h.store.epoch() == 1 && h.store.head().step_awaiting_decision().is_some());
    handle.quit();
    thread.join().unwrap();
    let file = session.branch_file(&BranchId("b1".to_owned()));
    let text = std::fs::read_to_string(&file).unwrap();
    // Keeps the header, `Reopened`, and one of the two breakpoints.
    let truncated: String = text.split_inclusive('\n').take(3).collect();
    std::fs::write(&file, truncated).unwrap();
    let breakpoints = open_branch(&file, OpenMode::Verify).unwrap().timeline.head().breakpoints.all.clone();
    assert!(breakpoints.is_empty(), "the batch is incomplete: {breakpoints:?}");
    std::fs::write(&file, text).unwrap();
    assert_eq!(open_branch(&file, OpenMode::Verify).unwrap().timeline.head().breakpoints.all.len(), 2);
}

/// Regression: a detector that the entry of its environment doesn't list ended the program in a debug build.
#[test]
fn a_person_is_told_once_of_a_detector_that_is_not_declared() {
    let dir = tempfile::tempdir().unwrap();
    let mut run_config = test_config(9, false);
    run_config.policy.detect = Arc::new(|_| {
        let note = |name: &str| Note {
            detector: name.to_owned(),
            kind: NoteKind::Progress,
            evidence: String::new(),
            parts: std::collections::BTreeMap::new(),
        };
        vec![note("only_thoughts"), note("nearer")]
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    for number in 1..=3 {
        step_to(&handle, number);
    }
    let signals = handle.store.live().signals;
    let notices: Vec<_> = signals.iter().filter(|(_, s)| matches!(s, Signal::Notice(_))).collect();
    assert!(
        matches!(&notices[..], [(_, Signal::Notice(text))] if text.contains("its detector \"nearer\"")),
        "{notices:?}"
    );
    handle.quit();
    thread.join().unwrap();
}
