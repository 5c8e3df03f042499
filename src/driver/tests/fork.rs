//! Forks and switches with a toy environment: what is rejected, written, restored and ignored.

use super::{Counter, meta, spec, start, test_config, wait_until};
use crate::domain::{BranchId, Seq, ShownAs, Stage, StepResult, ThoughtDisposition};
use crate::driver::{Driver, Fork, Handle, Health, RunConfig};
use crate::engine::{Command, CommandError, Event};
use crate::env::{EnvError, Environment};
use crate::journal::{LabelChange, OpenMode, Session, SessionStatus, open_branch, read_branch};
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn branch_id(n: u32) -> BranchId {
    BranchId(format!("b{n}"))
}

fn step_to(handle: &Handle, number: u32) {
    while handle.store.head().step_awaiting_decision().is_none_or(|s| s.number < number) {
        let before = handle.store.head().step_awaiting_decision().map_or(0, |s| s.number);
        handle.send(Command::Step);
        wait_until(handle, |h| {
            h.store.head().step_awaiting_decision().is_some_and(|s| s.number > before)
                && h.store.head().is_waiting()
        });
    }
}

/// Returns the event that proposed a step on the active branch.
fn proposal_seq(handle: &Handle, number: u32) -> Seq {
    let events = handle.store.timeline().events_after(Seq(0));
    let proposed = |e: &Event| matches!(e, Event::Proposed { step, .. } if *step == number);
    events.iter().find(|e| proposed(&e.event)).unwrap().seq
}

fn override_with(action: &str) -> Vec<Command> {
    vec![Command::Override {
        action: action.to_owned(),
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Kept,
    }]
}

fn fork_at(seq: Seq, commands: Vec<Command>) -> Fork {
    Fork { at_seq: seq, commands, ..Fork::default() }
}

fn observation(handle: &Handle, step: u32) -> String {
    let head = handle.store.head();
    head.episode.as_ref().unwrap().step(step).unwrap().answer.as_ref().unwrap().raw.clone()
}

/// Asserts that the files fold to the shown states. The driver may go on meanwhile, so the states are compared
/// up to the last event that was on the disk.
fn assert_matches_disk(session: &Session, handle: &Handle) {
    let file = session.branch_file(&handle.store.branch());
    let opened = open_branch(&file, OpenMode::Verify).unwrap();
    let last = opened.timeline.len();
    wait_until(handle, |h| h.store.timeline().len() >= last);
    assert_eq!(*opened.timeline.head(), handle.store.state_at(Seq(last)));
    for seq in (0..=last).step_by(3) {
        assert_eq!(opened.timeline.state_at(Seq(seq)), handle.store.state_at(Seq(seq)), "event {seq}");
    }
}

#[test]
fn a_fork_with_another_action_leaves_the_old_branch_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 5);
    let before = std::fs::read(session.trunk()).unwrap();
    let third = proposal_seq(&handle, 3);
    let epoch_before = handle.store.epoch();
    assert_eq!(block_on(handle.fork(fork_at(third, override_with("wait")))), Ok(branch_id(1)));
    assert_eq!((handle.store.branch(), handle.store.epoch()), (branch_id(1), epoch_before + 1));
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4));
    assert_eq!(observation(&handle, 2), "It is 2.");
    assert_eq!(observation(&handle, 3), "It is 2.", "the environment was restored, and did not count");
    assert_eq!(handle.store.head().divergence, None);
    assert_matches_disk(&session, &handle);
    let after = std::fs::read(session.trunk()).unwrap();
    assert!(after.starts_with(&before), "no event was changed or removed");
    assert!(read_branch(&session.trunk()).unwrap().events.last().unwrap().event == Event::Closed);
    // Switching back to the trunk restores its state, and so does switching to the fork again.
    block_on(handle.switch(BranchId::trunk())).unwrap();
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 5));
    step_to(&handle, 6);
    assert_eq!(observation(&handle, 5), "It is 5.");
    assert_matches_disk(&session, &handle);
    block_on(handle.switch(branch_id(1))).unwrap();
    step_to(&handle, 6);
    assert_eq!(observation(&handle, 5), "It is 4.");
    // A fork of the fork, from a step they share, has the trunk as its parent.
    let second = proposal_seq(&handle, 2);
    assert_eq!(block_on(handle.fork(fork_at(second, override_with("wait")))), Ok(branch_id(2)));
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 3));
    assert_matches_disk(&session, &handle);
    let third = proposal_seq(&handle, 3);
    assert_eq!(
        block_on(handle.fork(fork_at(third, Vec::new()))),
        Ok(branch_id(3)),
        "nothing is pending there"
    );
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    step_to(&handle, 4);
    assert_matches_disk(&session, &handle);
    session.set_label(&branch_id(2), LabelChange::Name(Some(" patient ".to_owned()))).unwrap();
    session.set_label(&branch_id(2), LabelChange::Archived(true)).unwrap();
    let branches = session.branches().unwrap();
    let listed: Vec<_> = branches
        .iter()
        .map(|b| {
            (b.header.id.0.as_str(), b.header.parent.as_ref().map(|p| p.0.as_str()), b.first_change.as_str())
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("trunk", None, "start"),
            ("b1", Some("trunk"), "override: wait"),
            ("b2", Some("trunk"), "override: wait"),
            ("b3", Some("b2"), "from step 3 of episode 1"),
        ]
    );
    assert_eq!((branches[2].label.name.as_deref(), branches[2].label.archived), (Some("patient"), true));
    assert_eq!(branches[3].status, SessionStatus::Live);
    assert_eq!((branches[1].status, branches[1].steps), (SessionStatus::Closed, 5));
    handle.quit();
    thread.join().unwrap();
    // The branch written last is the one that is resumed.
    let resumed = Driver::resume(&session.dir, |_| Ok(test_config(9, false))).unwrap();
    assert_eq!(resumed.handle.store.branch(), branch_id(3));
    step_to(&resumed.handle, 5);
    assert_matches_disk(&session, &resumed.handle);
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}

#[test]
fn a_rejected_fork_creates_no_file_and_keeps_the_active_branch() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 3);
    let second = proposal_seq(&handle, 2);
    let before = handle.store.head();
    let refused = |fork: Fork| -> CommandError { block_on(handle.fork(fork)).unwrap_err() };
    assert!(refused(fork_at(Seq(0), Vec::new())).message.contains("no run has started"));
    assert!(refused(fork_at(second, vec![Command::Redo])).message.contains("nothing to redo"));
    let twice = [override_with("wait"), override_with("wait")].concat();
    assert!(
        refused(fork_at(second, twice)).message.contains("no proposal"),
        "the second command would come too early"
    );
    let nowhere = Fork { source_branch: Some(branch_id(7)), at_seq: second, ..Fork::default() };
    assert!(refused(nowhere).message.contains("no branch b7"));
    assert!(block_on(handle.switch(BranchId("../x".to_owned()))).unwrap_err().message.contains("no branch"));
    assert!(block_on(handle.switch(BranchId::trunk())).is_err());
    assert_eq!(handle.store.head(), before);
    assert_eq!((session.branch_count(), handle.store.epoch()), (1, 0));
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn a_fork_inside_a_batch_starts_after_the_previous_batch() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 2);
    let proposed = proposal_seq(&handle, 2);
    let inside = Seq(proposed.0 - 1);
    assert!(
        handle.store.timeline().event(inside).unwrap().batch_continues,
        "reply and proposal are one batch"
    );
    block_on(handle.fork(fork_at(inside, Vec::new()))).unwrap();
    let header = read_branch(&session.branch_file(&branch_id(1))).unwrap().header;
    assert_eq!(header.at_seq, Seq(inside.0 - 1));
    // The call that was in flight there is made again.
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 2));
    assert_matches_disk(&session, &handle);
    handle.quit();
    thread.join().unwrap();
}

/// Replies `count` the given number of times, then never again. Counts its calls.
struct Stuck(u32, Arc<AtomicU32>);

impl Provider for Stuck {
    fn name(&self) -> String {
        "stuck".to_owned()
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        if self.1.fetch_add(1, Ordering::Relaxed) < self.0 {
            stream::iter([Ok(Delta::Text("count".to_owned()))]).boxed()
        } else {
            stream::pending().boxed()
        }
    }
}

/// Waits for a number of calls, which the store doesn't notify.
fn wait_for_count(calls: &AtomicU32, times: u32) {
    for _ in 0..4000 {
        if calls.load(Ordering::Relaxed) == times {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    panic!("{} calls", calls.load(Ordering::Relaxed));
}

#[test]
fn a_reply_of_the_old_epoch_is_ignored_though_its_call_is_in_flight_again() {
    let dir = tempfile::tempdir().unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let run_config = RunConfig { actor: Arc::new(Stuck(2, calls.clone())), ..test_config(9, false) };
    let (handle, thread, session) = start(dir.path(), 1, run_config);
    step_to(&handle, 2);
    handle.send(Command::Step);
    wait_for_count(&calls, 3);
    let head = handle.store.head();
    let call = *head.calls.keys().next().unwrap();
    block_on(handle.fork(fork_at(head.head, Vec::new()))).unwrap();
    wait_for_count(&calls, 4);
    assert_eq!(handle.store.head().calls.keys().next(), Some(&call), "it is made again on the new branch");
    let stale = crate::engine::Reply::Model {
        tool_calls: Vec::new(),
        truncated: None,
        call,
        text: "stale".to_owned(),
        reasoning: String::new(),
        usage: crate::domain::Usage::default(),
    };
    let before = handle.store.head();
    handle.inbox().send(crate::driver::Message::Reply(0, stale)).unwrap();
    block_on(handle.send_and_wait(Command::Remark { episode: None, step: 1, text: "behind it".to_owned() }))
        .unwrap();
    assert_eq!(handle.store.head().head.0, before.head.0 + 1, "nothing but the remark");
    assert_matches_disk(&session, &handle);
    handle.quit();
    thread.join().unwrap();
}

/// Counts like [`Counter`], but from the second environment on, its third answer differs.
struct Fickle(Counter, u32);

impl Environment for Fickle {
    fn info(&self) -> crate::domain::EnvInfo {
        crate::domain::EnvInfo { deterministic: false, ..self.0.info() }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.0.reset()
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let mut result = self.0.step(action)?;
        if self.0.count == 3 && self.1 > 0 {
            result.observation.push_str(" Or so.");
        }
        Ok(result)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.0.admissible()
    }
}

#[test]
fn a_diverging_environment_is_detected_and_a_person_decides() {
    let dir = tempfile::tempdir().unwrap();
    let opened = AtomicU32::new(0);
    let mut run_config = test_config(9, false);
    run_config.open_world = Arc::new(move |_| {
        let n = opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Fickle(Counter { count: 0, goal: 9, is_diverging: false }, n)))
    });
    let (handle, thread, session) = start(dir.path(), 1, run_config);
    step_to(&handle, 6);
    let fifth = proposal_seq(&handle, 5);
    block_on(handle.fork(fork_at(fifth, override_with("wait")))).unwrap();
    wait_until(&handle, |h| h.store.head().divergence.is_some());
    let head = handle.store.head();
    assert_eq!(head.divergence, Some((1, 3, "It is 3.".to_owned(), "It is 3. Or so.".to_owned())));
    let fifth = head.last_step().unwrap();
    assert_eq!(
        (fifth.number, fifth.executed.as_ref().unwrap().action.as_str()),
        (5, "wait"),
        "it is journaled"
    );
    assert!(fifth.answer.is_none(), "the environment is not stepped before a person decides");
    assert_matches_disk(&session, &handle);
    block_on(handle.send_and_wait(Command::Retry)).unwrap();
    wait_until(&handle, |h| h.store.head().last_step().is_some_and(|s| s.answer.is_some()));
    assert_eq!(observation(&handle, 5), "It is 4.", "then the commands of the fork run");
    assert_matches_disk(&session, &handle);
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn a_branch_that_cannot_be_closed_is_abandoned_as_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("s")).unwrap();
    let failing = writer.failing_writes.clone();
    let (handle, thread) =
        Driver::start_in(session.clone(), writer, spec(1), Vec::new(), test_config(9, false)).unwrap();
    step_to(&handle, 3);
    failing.store(1, Ordering::Relaxed);
    let second = proposal_seq(&handle, 2);
    block_on(handle.fork(fork_at(second, override_with("wait")))).unwrap();
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 3));
    assert_eq!(handle.store.live().health, Health::Running);
    let trunk = read_branch(&session.trunk()).unwrap();
    assert_eq!(trunk.torn_tail, None, "nothing of the failed write is left in the file");
    assert!(trunk.events.last().unwrap().event != Event::Closed);
    block_on(handle.switch(BranchId::trunk())).unwrap();
    wait_until(&handle, |h| {
        h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 3 && s.stage == Stage::Decision)
    });
    assert_matches_disk(&session, &handle);
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn commands_sent_during_a_rebuild_run_after_those_of_the_fork() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 5);
    let third = proposal_seq(&handle, 3);
    handle.send_fork(fork_at(third, override_with("wait")));
    handle.send(Command::Remark { episode: None, step: 3, text: "after it".to_owned() });
    wait_until(&handle, |h| {
        h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4) && h.store.epoch() == 1
    });
    wait_until(&handle, |h| {
        h.store.timeline().events_after(third).iter().any(|e| matches!(e.event, Event::Remarked { .. }))
    });
    let events = handle.store.timeline().events_after(third);
    let position_of = |test: fn(&Event) -> bool| events.iter().position(|e| test(&e.event)).unwrap();
    assert!(
        position_of(|e| matches!(e, Event::ActionOverridden { .. }))
            < position_of(|e| matches!(e, Event::Remarked { .. }))
    );
    handle.quit();
    thread.join().unwrap();
}

/// The error names the broken file and the problem.
#[test]
fn a_branch_with_a_broken_ancestor_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 4);
    block_on(handle.fork(fork_at(proposal_seq(&handle, 3), override_with("wait")))).unwrap();
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 4));
    handle.quit();
    thread.join().unwrap();
    let open_error = |session: &Session| {
        std::fs::remove_dir_all(session.dir.join("index")).ok();
        open_branch(&session.branch_file(&branch_id(1)), OpenMode::Read).map(|_| ()).unwrap_err().to_string()
    };
    let trunk = std::fs::read_to_string(session.trunk()).unwrap();
    let fork = std::fs::read_to_string(session.branch_file(&branch_id(1))).unwrap();
    let open_with = |trunk: Option<&str>, fork: &str| {
        std::fs::remove_file(session.trunk()).ok();
        if let Some(trunk) = trunk {
            std::fs::write(session.trunk(), trunk).unwrap();
        }
        std::fs::write(session.branch_file(&branch_id(1)), fork).unwrap();
        open_error(&session)
    };
    let cut: String = trunk.split_inclusive('\n').take(9).collect();
    let error = open_with(Some(&cut), &fork);
    assert!(error.contains("trunk.jsonl:9") && error.contains("branch b1 continues from event"), "{error}");
    let error = open_with(None, &fork);
    assert!(error.contains("b1.jsonl:1") && error.contains("trunk.jsonl is missing"), "{error}");
    let error = open_with(Some(&trunk), &fork.replacen("\"parent\":\"trunk\"", "\"parent\":\"b1\"", 1));
    assert!(error.contains("form a cycle"), "{error}");
    let error = open_with(Some(&trunk), &fork.replacen("\"parent\":\"trunk\"", "\"parent\":\"../trunk\"", 1));
    assert!(error.contains("not a valid branch name"), "{error}");
    let error = open_with(Some(&trunk), &fork.replacen("\"parent\":\"trunk\"", "\"parent\":null", 1));
    assert!(error.contains("names no parent"), "{error}");
    let error = open_with(Some(&trunk), &fork.replacen("\"id\":\"b1\"", "\"id\":\"b4\"", 1));
    assert!(error.contains("header is that of branch \"b4\""), "{error}");
    // A branch file left without a header by a power failure isn't a branch, but its name isn't reused.
    std::fs::write(session.trunk(), &trunk).unwrap();
    std::fs::write(session.branch_file(&branch_id(1)), "").unwrap();
    assert_eq!(session.branches().unwrap().len(), 1);
    assert_eq!(session.last_written(), BranchId::trunk());
    let (header, _) = session.fork(&BranchId::trunk(), Seq(1), "x", jiff::Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(header.id, branch_id(2));
}

/// Two programs that fork at the same time create two branches.
#[test]
fn concurrent_forks_have_distinct_names() {
    let dir = tempfile::tempdir().unwrap();
    let (session, _writer) = Session::create(dir.path(), meta("s")).unwrap();
    let ids: Vec<BranchId> = std::thread::scope(|scope| {
        let fork =
            || session.fork(&BranchId::trunk(), Seq(0), "x", jiff::Timestamp::UNIX_EPOCH).unwrap().0.id;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(fork)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let mut names = ids.clone();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 8, "{ids:?}");
    assert!(Path::new(&session.dir).join("branches/b8.jsonl").is_file());
}
