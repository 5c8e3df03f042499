//! Another program removes, replaces or truncates the journal while a run writes it.
#![cfg(unix)]

use super::{meta, spec, start, test_config, wait_until};
use crate::domain::{BranchId, Seq};
use crate::driver::{Driver, Fork, Halt, Handle, Health, RescueOutcome, Signal};
use crate::engine::Command;
use crate::journal::{OpenMode, Session, Summary, open_branch, read_branch};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A change by another program, given the session's folder and its journal.
type Interference = fn(&Path, &Path);

const INTERFERENCES: [(&str, Interference); 8] = [
    ("was removed", |_, journal| fs::remove_file(journal).unwrap()),
    // Like `git reset --hard`: a new file with the first half of the events.
    ("was replaced", |_, journal| {
        let bytes = fs::read(journal).unwrap();
        let half = bytes[..bytes.len() / 2].iter().rposition(|b| *b == b'\n').unwrap() + 1;
        fs::remove_file(journal).unwrap();
        fs::write(journal, &bytes[..half]).unwrap();
    }),
    // The same bytes in another file; what is written to the old one is lost nevertheless.
    ("was replaced", |_, journal| {
        let bytes = fs::read(journal).unwrap();
        fs::remove_file(journal).unwrap();
        fs::write(journal, bytes).unwrap();
    }),
    ("was truncated from", |_, journal| {
        fs::File::options().write(true).open(journal).unwrap().set_len(100).unwrap();
    }),
    ("was truncated from", |_, journal| fs::write(journal, b"").unwrap()),
    ("was changed from", |_, journal| {
        use std::io::Write as _;
        fs::File::options().append(true).open(journal).unwrap().write_all(b"not ours\n").unwrap();
    }),
    ("was moved or renamed", |session, _| fs::rename(session, session.with_extension("old")).unwrap()),
    // The driver may write a checkpoint into the folder meanwhile; then its removal begins again.
    (
        "was removed",
        |session, _| while fs::remove_dir_all(session).is_err_and(|e| e.kind() != ErrorKind::NotFound) {},
    ),
];

fn halt_of(handle: &Handle) -> Option<Halt> {
    match handle.store.live().health {
        Health::Halted(halt) => Some(halt),
        _ => None,
    }
}

/// Asserts that the copy has every event and leads to the shown state.
fn assert_rescued(halt: &Halt, handle: &Handle, root: &Path) {
    let Some(RescueOutcome { dir: Some(dir), is_complete: true, .. }) = &halt.rescue else {
        panic!("{halt:?}")
    };
    assert_eq!(dir.parent().unwrap(), root);
    let session = Session::open(dir).unwrap();
    let copy = open_branch(&session.trunk(), OpenMode::Verify).unwrap();
    let shown = handle.store.head();
    assert!(copy.timeline.head().head >= shown.head);
    assert!(*copy.timeline.state_at(shown.head) == *shown);
    assert_eq!(copy.torn_tail, None);
}

#[test]
fn no_acknowledged_event_is_lost_when_the_journal_is_changed() {
    for (reason, interfere) in INTERFERENCES {
        let root = tempfile::tempdir().unwrap();
        let (handle, thread, session) = start(root.path(), 1, test_config(40, false));
        for number in 1..=5 {
            handle.send(Command::Step);
            wait_until(&handle, |h| {
                h.store.head().is_waiting()
                    && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == number)
            });
        }
        interfere(&session.dir, &session.trunk());
        let before = handle.store.head();
        handle.send(Command::Step);
        wait_until(&handle, |h| halt_of(h).is_some());
        assert_eq!(handle.store.head(), before, "unwritten events are not shown");
        let halt = halt_of(&handle).unwrap();
        assert!(halt.reason.contains(reason), "{reason}: {halt:?}");
        assert_rescued(&halt, &handle, root.path());
        // What was removed is not partially recreated.
        handle.quit();
        thread.join().unwrap();
        assert_eq!(halt_of(&handle), Some(halt.clone()), "{reason}");
        // The saved session can be continued.
        let dir = halt.rescue.unwrap().dir.unwrap();
        let resumed = Driver::resume(&dir, |_| Ok(test_config(40, false))).unwrap();
        resumed.handle.send(Command::Step);
        wait_until(&resumed.handle, |h| {
            h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 6)
        });
        resumed.handle.quit();
        resumed.thread.join().unwrap();
        // The summary of the old one shows that events are missing.
        if let Ok(old) = Session::open(&session.dir)
            && let Ok(read) = read_branch(&old.trunk())
            && let Some(last) = read.events.last()
            && last.seq < before.head
        {
            let known = || open_branch(&old.trunk(), OpenMode::Verify).unwrap().missing.map(|m| m.last);
            assert!(known() >= Some(before.head), "{reason}: {:?}", known());
            // Even after it was listed.
            let listed = Summary::load(&old).unwrap().missing().map(|m| m.last);
            assert!(listed >= Some(before.head) && known() == listed, "{reason}: {listed:?}");
        }
    }
}

fn step_to(handle: &Handle, number: u32) {
    handle.send(Command::Step);
    wait_until(handle, |h| {
        h.store.head().is_waiting()
            && h.store.head().step_awaiting_decision().is_some_and(|s| s.number == number)
    });
}

/// Regression: a fork needs its parents' files, but the run continued and its session became unreadable.
#[test]
fn a_fork_whose_parent_is_changed_halts_and_loses_nothing() {
    let fork = BranchId("b1".to_owned());
    for ((reason, interfere), resumed) in INTERFERENCES.into_iter().flat_map(|a| [(a, false), (a, true)]) {
        // The program that writes the fork doesn't know who else may write the trunk.
        if reason == "was changed from" {
            continue;
        }
        let root = tempfile::tempdir().unwrap();
        let (mut handle, mut thread, session) = start(root.path(), 1, test_config(40, false));
        (1..=5).for_each(|number| step_to(&handle, number));
        handle.send_fork(Fork { at_seq: handle.store.head().head, ..Fork::default() });
        wait_until(&handle, |h| h.store.branch() == fork && h.store.head().is_waiting());
        if resumed {
            handle.quit();
            thread.join().unwrap();
            let again = Driver::resume_at(&session.dir, &fork, |_| Ok(test_config(40, false))).unwrap();
            (handle, thread) = (again.handle, again.thread);
            wait_until(&handle, |h| h.store.head().is_waiting());
        }
        interfere(&session.dir, &session.trunk());
        handle.send(Command::Step);
        wait_until(&handle, |h| halt_of(h).is_some());
        let halt = halt_of(&handle).unwrap();
        assert!(halt.reason.contains(reason), "{reason}, resumed {resumed}: {halt:?}");
        // If the file itself was truncated, only the program that wrote the trunk has its events in memory.
        if reason == "was truncated from" && resumed {
            assert!(halt.rescue.unwrap().message.contains("are lost"));
        } else {
            assert_rescued(&halt, &handle, root.path());
        }
        handle.quit();
        thread.join().unwrap();
    }
}

/// Regression: without `meta.toml` the session was not found, after exit code 0.
#[test]
fn a_removed_meta_file_is_restored() {
    let root = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(root.path(), 1, test_config(40, false));
    let meta = session.dir.join("meta.toml");
    fs::remove_file(&meta).unwrap();
    step_to(&handle, 1);
    wait_until(&handle, |_| meta.is_file());
    let is_reported = |h: &Handle| {
        h.store
            .live()
            .signals
            .into_iter()
            .any(|(_, s)| matches!(s, Signal::Notice(w) if w.contains("meta.toml")))
    };
    wait_until(&handle, is_reported);
    // Also if it is unreadable when the session is closed.
    fs::write(&meta, "v = ").unwrap();
    handle.quit();
    thread.join().unwrap();
    assert_eq!(Session::open(&session.dir).unwrap(), session);
    assert_eq!(halt_of(&handle), None);
}

/// Regression: a journal truncated while no program wrote it was resumed silently, and then passed `verify`.
#[test]
fn a_truncated_journal_continues_as_a_fork_and_stays_truncated() {
    for in_a_batch in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let (handle, thread, session) = start(root.path(), 1, test_config(9, false));
        handle.send(Command::Run);
        wait_until(&handle, |h| h.store.head().run_over);
        handle.quit();
        thread.join().unwrap();
        let last = handle.store.head().head;
        let text = fs::read_to_string(session.trunk()).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let is_cut_point = |n: &usize| lines[n - 1].contains(r#""more":true"#) == in_a_batch;
        let kept_lines = (2..=lines.len() / 2).rev().find(is_cut_point).unwrap();
        let truncated = lines[..kept_lines].concat();
        fs::write(session.trunk(), &truncated).unwrap();
        let opened = open_branch(&session.trunk(), OpenMode::Read).unwrap();
        let (missing, head) = (opened.missing.unwrap(), opened.timeline.head().head);
        assert_eq!((missing.first, missing.last), (Seq(head.0 + 1), last));
        assert_eq!(opened.torn_tail.is_some(), in_a_batch);
        assert!(opened.torn_tail.is_none_or(|torn| !torn.description.contains("are ignored")));
        let resumed = Driver::resume(&session.dir, |_| Ok(test_config(9, false))).unwrap();
        let message = resumed.cut_off_tail.unwrap();
        assert!(
            message.contains(&missing.to_string()) && message.contains("continues as branch b1"),
            "{message}"
        );
        resumed.handle.send(Command::Run);
        wait_until(&resumed.handle, |h| h.store.head().run_over);
        resumed.handle.quit();
        resumed.thread.join().unwrap();
        assert_eq!(fs::read_to_string(session.trunk()).unwrap(), truncated, "the evidence stays");
        let open = |branch: &str| {
            open_branch(&session.branch_file(&BranchId(branch.to_owned())), OpenMode::Verify).unwrap()
        };
        assert_eq!((open("trunk").missing, open("b1").missing), (Some(missing.clone()), None));
        let reason = open("b1").header.reason;
        assert!(reason.contains("are missing"), "{reason}");
        // From now on the fork is resumed, and switching doesn't make the truncated branch active.
        let again = Driver::resume(&session.dir, |_| Ok(test_config(9, false))).unwrap();
        assert_eq!((again.cut_off_tail, again.handle.store.branch().0.as_str()), (None, "b1"));
        again.handle.send_switch(BranchId::trunk());
        let refused = |h: &Handle| {
            h.store
                .live()
                .signals
                .into_iter()
                .any(|(_, s)| matches!(s, Signal::CommandFailed(r) if r.message.contains("are missing")))
        };
        wait_until(&again.handle, refused);
        again.handle.quit();
        again.thread.join().unwrap();
    }
}

/// Even if nothing is written between the change and the end of the session.
#[test]
fn a_journal_changed_before_the_session_is_closed_is_noticed() {
    for (reason, interfere) in INTERFERENCES {
        let root = tempfile::tempdir().unwrap();
        let (handle, thread, session) = start(root.path(), 1, test_config(3, false));
        handle.send(Command::Run);
        wait_until(&handle, |h| h.store.head().run_over);
        interfere(&session.dir, &session.trunk());
        handle.quit();
        thread.join().unwrap();
        let halt = halt_of(&handle).unwrap();
        assert!(halt.reason.contains(reason), "{reason}: {halt:?}");
        assert_rescued(&halt, &handle, root.path());
        assert!(
            !session.dir.exists() || session.dir.join("meta.toml").exists(),
            "no partial folder is created"
        );
    }
}

/// The folder is renamed and renamed back: the session continues with the same bytes.
#[test]
fn a_session_continues_when_its_folder_is_put_back() {
    let root = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(root.path(), 1, test_config(40, false));
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    let away = root.path().join("away");
    fs::rename(&session.dir, &away).unwrap();
    handle.send(Command::Step);
    handle.send(Command::Remark { episode: None, step: 1, text: "kept for later".to_owned() });
    wait_until(&handle, |h| halt_of(h).is_some());
    handle.retry_write();
    fs::rename(&away, &session.dir).unwrap();
    handle.retry_write();
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some_and(|s| s.number == 2));
    wait_until(&handle, |h| !h.store.head().episode.as_ref().unwrap().step(1).unwrap().remarks.is_empty());
    handle.quit();
    thread.join().unwrap();
    assert_eq!(halt_of(&handle), None);
    assert_eq!(read_branch(&session.trunk()).unwrap().torn_tail, None);
}

/// If events are lost for good, the rest is saved and reported as incomplete.
#[test]
fn unrecoverable_events_are_reported() {
    let root = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(root.path(), meta("s")).unwrap();
    let mut run_config = test_config(100_000, false);
    run_config.policy.is_attended = true;
    let mut spec = spec(1);
    spec.limits.steps = 100_000;
    let (handle, thread) = Driver::start_in(session.clone(), writer, spec, Vec::new(), run_config).unwrap();
    handle.send(Command::Run);
    // More events than are held in memory.
    wait_until(&handle, |h| h.store.head().head.0 > 12_000);
    fs::write(session.trunk(), b"").unwrap();
    wait_until(&handle, |h| halt_of(h).is_some());
    let halt = halt_of(&handle).unwrap();
    let saved = halt.rescue.clone().unwrap();
    assert!(!saved.is_complete && saved.message.contains("are lost"), "{halt:?}");
    let rest = fs::read_to_string(saved.dir.unwrap().join("rest.jsonl")).unwrap();
    assert!(rest.lines().count() >= 4096, "{}", rest.lines().count());
    handle.quit();
    thread.join().unwrap();
}
