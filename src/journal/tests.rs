//! Tests of the journal: reading back, truncation and rejected input.

mod branches;

use super::{
    BranchHeader, JournalError, Meta, Session, SessionStatus, Summary, Writer, list_sessions, read_branch,
    read_branch_bytes, session_name, slug, summarize,
};
use crate::domain::{BranchId, Seq};
use crate::engine::{Cause, Envelope, Event, State};
use jiff::Timestamp;
use std::path::Path;
use std::sync::atomic::Ordering;

fn header() -> BranchHeader {
    BranchHeader {
        v: 1,
        kind: "branch".to_owned(),
        id: BranchId::trunk(),
        parent: None,
        at_seq: Seq(0),
        reason: "start".to_owned(),
        created: Timestamp::UNIX_EPOCH,
    }
}

fn remark(seq: u64, batch_continues: bool) -> Envelope {
    Envelope {
        seq: Seq(seq),
        timestamp: Timestamp::UNIX_EPOCH,
        cause: Cause::Person,
        batch_continues,
        event: Event::Remarked { episode: None, step: 0, text: "a line\nand \u{1b}[31m more".to_owned() },
    }
}

fn meta(name: &str) -> Meta {
    Meta {
        v: 1,
        session: name.to_owned(),
        created: Timestamp::UNIX_EPOCH,
        program: "0".to_owned(),
        env: "toy".to_owned(),
        method: "plain".to_owned(),
        actor: "script".to_owned(),
        title: "t".to_owned(),
        bookmark: None,
    }
}

#[test]
fn written_events_are_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trunk.jsonl");
    let mut writer = Writer::create(&path, &header()).unwrap();
    writer.append(&[remark(1, true), remark(2, false)]).unwrap();
    writer.append(&[remark(3, false)]).unwrap();
    let read = read_branch(&path).unwrap();
    assert_eq!(read.events.iter().map(|e| e.seq.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(*read.events[1], remark(2, false));
    assert_eq!(read.torn_tail, None);
    assert_eq!(read.valid_len, std::fs::metadata(&path).unwrap().len());
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (session, _writer) = Session::create(dir.path(), meta("a")).unwrap();
    for file in [session.trunk(), session.dir.join("meta.toml")] {
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn truncation_anywhere_keeps_the_complete_batches() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trunk.jsonl");
    let mut writer = Writer::create(&path, &header()).unwrap();
    let start = std::fs::metadata(&path).unwrap().len() as usize;
    writer.append(&[remark(1, false)]).unwrap();
    let first = std::fs::metadata(&path).unwrap().len() as usize;
    writer.append(&[remark(2, true), remark(3, false)]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for cut in start..=bytes.len() {
        let read = read_branch_bytes(Path::new("x"), &bytes[..cut]).unwrap();
        let expected = if cut == bytes.len() { 3 } else { usize::from(cut >= first) };
        assert_eq!(read.events.len(), expected, "cut at {cut}");
        assert_eq!(read.torn_tail.is_some(), ![start, first, bytes.len()].contains(&cut), "cut at {cut}");
    }
}

#[test]
fn a_failed_write_leaves_complete_lines_and_retries_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trunk.jsonl");
    let mut writer = Writer::create(&path, &header()).unwrap();
    writer.append(&[remark(1, false)]).unwrap();
    let acknowledged = std::fs::read(&path).unwrap();
    writer.failing_writes.store(2, Ordering::Relaxed);
    assert!(writer.append(&[remark(2, false)]).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), acknowledged);
    assert!(writer.retry().is_err());
    writer.retry().unwrap();
    assert_eq!(read_branch(&path).unwrap().events.len(), 2);
}

#[test]
fn one_branch_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("a")).unwrap();
    assert!(matches!(Writer::lock(&session.trunk()), Err(JournalError::Locked { .. })));
    assert_eq!(Summary::load(&session).unwrap().status(&session), SessionStatus::Live);
    drop(writer);
    assert!(Writer::lock(&session.trunk()).is_ok());
    assert_eq!(Summary::load(&session).unwrap().status(&session), SessionStatus::Crashed);
}

/// Regression: listing sessions checks the lock, and a program that resumed a session at that moment failed.
#[test]
fn checking_the_lock_does_not_stop_a_writer() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("a")).unwrap();
    drop(writer);
    let reader = std::fs::File::open(session.trunk()).unwrap();
    reader.lock_shared().unwrap();
    let trunk = session.trunk();
    let locked = std::thread::spawn(move || Writer::lock(&trunk).is_ok());
    std::thread::park_timeout(std::time::Duration::from_millis(30));
    drop(reader);
    assert!(locked.join().unwrap());
}

#[test]
fn reading_creates_no_index_in_a_shipped_session() {
    let dir = tempfile::tempdir().unwrap();
    let (session, _writer) = Session::create(dir.path(), meta("a")).unwrap();
    let index = session.dir.join("index");
    std::fs::remove_dir_all(&index).unwrap();
    let summary = Summary::load(&session).unwrap();
    assert!(!index.exists());
    std::fs::create_dir(&index).unwrap();
    assert_eq!(Summary::load(&session).unwrap(), summary);
    assert!(index.join("summary.json").is_file());
}

/// Regression: only the size was compared.
#[test]
fn a_journal_edited_to_the_same_size_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let (session, mut writer) = Session::create(dir.path(), meta("a")).unwrap();
    writer.append(&[remark(1, false)]).unwrap();
    let summary = Summary::load(&session).unwrap();
    let text = std::fs::read_to_string(session.trunk()).unwrap();
    let edited = text.replace("\"seq\":1", "\"seq\":7");
    assert!(edited.len() == text.len() && edited != text, "{text}");
    std::fs::write(session.trunk(), edited).unwrap();
    assert!(Summary::load(&session).is_err());
    std::fs::write(session.trunk(), text).unwrap();
    assert_eq!(Summary::load(&session).unwrap(), summary);
}

#[test]
fn errors_name_file_line_and_reason() {
    let head = serde_json::to_string(&header()).unwrap();
    let event = |e: &Envelope| serde_json::to_string(e).unwrap();
    let one = event(&remark(1, false));
    let cases = [
        (String::new(), 1, "header"),
        (head.clone(), 1, "header"),
        ("{}\n".to_owned(), 1, "not a branch header"),
        (head.replace("\"v\":1", "\"v\":99") + "\n", 1, "newer than this program"),
        (head.replace("\"branch\"", "\"twig\"") + "\n", 1, "twig"),
        (format!("{head}\nnonsense\n{one}\n"), 2, "not an event"),
        (format!("{head}\n{}\n", event(&remark(5, false))), 2, "found event 5 where event 1 was expected"),
        (format!("{head}\n{}\n", one.replace("remarked", "sang")), 2, "unknown event \"sang\""),
        (format!("{head}\n{}\n{one}\n", one.replace("\"text\"", "\"words\"")), 2, "missing field `text`"),
    ];
    for (text, line, reason) in cases {
        match read_branch_bytes(Path::new("b.jsonl"), text.as_bytes()) {
            Err(error @ JournalError::Malformed { .. }) => {
                let message = error.to_string();
                assert!(
                    message.contains(reason) && message.starts_with(&format!("b.jsonl:{line}:")),
                    "{message}"
                );
            }
            other => panic!("{text:?} gave {other:?}"),
        }
    }
}

#[test]
fn sessions_are_listed_newest_first_and_broken_ones_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["20260101T000000Z-a-aaaaaa", "20260102T000000Z-b-bbbbbb"] {
        drop(Session::create(dir.path(), meta(name)).unwrap());
    }
    let broken = dir.path().join("20260103T000000Z-c-cccccc");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("meta.toml"), "v = ").unwrap();
    let listed = list_sessions(dir.path());
    let names: Vec<_> = listed.iter().map(|(d, _)| d.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        names,
        ["20260103T000000Z-c-cccccc", "20260102T000000Z-b-bbbbbb", "20260101T000000Z-a-aaaaaa"]
    );
    assert!(listed[0].1.as_ref().unwrap_err().to_string().contains("meta.toml:1:"));
    assert!(listed[1].1.is_ok());
    assert!(matches!(Session::open(&dir.path().join("none")), Err(JournalError::NoSession { .. })));
}

#[test]
fn session_names_have_a_timestamp_a_slug_and_a_salt() {
    let at: Timestamp = "2026-11-20T10:41:00Z".parse().unwrap();
    let name = session_name(at, "Put a hot Apple in the fridge!", 1);
    assert!(name.starts_with("20261120T104100Z-put-a-hot-apple-in-the-fridge-"), "{name}");
    assert_ne!(name, session_name(at, "Put a hot Apple in the fridge!", 2));
    assert_eq!(slug("../../etc"), "etc");
    assert_eq!(slug("\u{1b}[31m"), "31m");
    assert_eq!(slug("…"), "session");
}

#[test]
fn old_events_can_be_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trunk.jsonl");
    let mut writer = Writer::create(&path, &header()).unwrap();
    for seq in (1..=400).step_by(2) {
        writer.append(&[remark(seq, true), remark(seq + 1, false)]).unwrap();
    }
    let written = writer.event_file().clone();
    let read = read_branch(&path).unwrap().event_file;
    for events in [&written, &read] {
        for (after, to) in [(0, 1), (0, 400), (63, 64), (64, 65), (127, 300), (399, 400), (400, 401)] {
            let found: Vec<u64> =
                events.read_events(Seq(after), Seq(to)).unwrap().iter().map(|e| e.seq.0).collect();
            assert_eq!(found, (after + 1..=to.min(400)).collect::<Vec<_>>(), "after {after} up to {to}");
        }
    }
}

/// After a torn batch is dropped, the next event must not get the offset of a dropped one.
#[test]
fn offsets_of_a_torn_batch_are_discarded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trunk.jsonl");
    let mut writer = Writer::create(&path, &header()).unwrap();
    for seq in 1..=63 {
        writer.append(&[remark(seq, false)]).unwrap();
    }
    writer.append(&[remark(64, true), remark(65, true), remark(66, true)]).unwrap();
    drop(writer);
    let branch = read_branch(&path).unwrap();
    assert_eq!(branch.events.len(), 63);
    let mut writer = Writer::lock(&path).unwrap().truncate_to(branch.valid_len, branch.event_file).unwrap();
    let mut long = remark(64, false);
    long.event =
        Event::Remarked { episode: None, step: 0, text: "longer than what stood here before".repeat(9) };
    writer.append(&[long]).unwrap();
    writer.append(&[remark(65, false)]).unwrap();
    let found = writer.event_file().read_events(Seq(64), Seq(65)).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(*found[0], remark(65, false));
}

#[test]
fn extreme_numbers_are_rejected_or_folded() {
    let file = Path::new("trunk.jsonl");
    let header = |at: u64| serde_json::to_string(&BranchHeader { at_seq: Seq(at), ..header() }).unwrap();
    let error =
        read_branch_bytes(file, format!("{}\n", header(u64::MAX)).as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "trunk.jsonl:1: a branch cannot begin after event 18446744073709551615");
    let started = format!(
        r#"{{"seq":1,"at":"2026-11-20T10:40:00Z","cause":"policy","type":"episode_started","episode":1,"task":{{"env":"e","id":"x"}},"trial":1,"role":"test","call":{m}}}
{{"seq":2,"at":"2026-11-20T10:40:00Z","cause":"model","type":"reply_received","call":1,"text":"","usage":{{"prompt_tokens":{m},"reply_tokens":{m}}}}}
"#,
        m = u64::MAX
    );
    let read = read_branch_bytes(file, format!("{}\n{started}", header(0)).as_bytes()).unwrap();
    let timeline = super::fold_events(read.events);
    assert_eq!(timeline.head().next_call, u64::MAX);
    assert_eq!(timeline.head().episode.as_ref().unwrap().tokens, u64::MAX);
}

#[test]
fn every_progress_rate_survives_a_round_trip() {
    for (n, total) in (1_u32..=60).flat_map(|total| (0..=total).map(move |n| (n, total))) {
        let rate = f64::from(n) / f64::from(total);
        let scaled = rate * 2.960_341_429_522_986_2e153;
        for number in [rate, scaled] {
            let written = serde_json::to_string(&number).unwrap();
            let read: f64 = serde_json::from_str(&written).unwrap();
            assert_eq!(read.to_bits(), number.to_bits(), "{written}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_summary_that_is_a_pipe_or_too_long_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("piped")).unwrap();
    drop(writer);
    let summary = session.dir.join("index/summary.json");
    let status = std::process::Command::new("mkfifo").arg(&summary).status().unwrap();
    assert!(status.success());
    assert_eq!(Summary::load(&session).unwrap().head, Seq(0), "the program doesn't wait for the pipe");
    std::fs::File::create(&summary).unwrap().set_len(2 << 30).unwrap();
    assert_eq!(Summary::load(&session).unwrap().head, Seq(0));
    std::fs::File::create(session.dir.join("meta.toml")).unwrap().set_len(2 << 30).unwrap();
    let error = Session::open(&session.dir).unwrap_err();
    assert!(error.to_string().contains("meta.toml"), "{error}");
}

/// Regression: a session whose only win was assisted was listed as "1 of 1 won".
#[test]
fn an_assisted_win_is_not_the_agents() {
    let of = |episodes, won, assisted, assisted_won| {
        let none = summarize(&State::default(), &BranchId::trunk(), 0);
        Summary { episodes, won, assisted, assisted_won, ..none }.describe_wins()
    };
    assert_eq!(of(1, 1, 1, 1), "1 won with help");
    assert_eq!(of(5, 3, 2, 1), "2 of 5 won, 1 won with help, 1 assisted");
    assert_eq!(of(3, 2, 1, 0), "2 of 3 won, 1 assisted");
    assert_eq!(of(3, 2, 0, 0), "2 of 3 won");
    let failed =
        Summary { episodes: 2, not_counted: 1, ..summarize(&State::default(), &BranchId::trunk(), 0) };
    assert_eq!(failed.describe_wins(), "0 of 1 won, 1 not counted");
}
