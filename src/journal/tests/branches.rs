//! Tests of branches: invalid files, labels, and descriptions of the first change on each branch.

use super::{meta, remark};
use crate::domain::{BranchId, Seq};
use crate::engine::{Cause, Envelope, Event};
use crate::journal::{
    BranchHeader, JournalError, LabelChange, OpenMode, Session, Summary, last_written_from_files, open_branch,
};
use jiff::Timestamp;
use std::path::Path;

/// Creates a session with a fork `b1`.
fn session_with_fork(root: &Path) -> Session {
    let (session, mut trunk) = Session::create(root, meta("s")).unwrap();
    trunk.append(&[remark(1, false), remark(2, false)]).unwrap();
    let at = Timestamp::from_second(5).unwrap();
    let (header, mut b1) = session.fork(&BranchId::trunk(), Seq(1), "a try", at).unwrap();
    assert_eq!(header.id.0, "b1");
    b1.append(&[Envelope { timestamp: at, ..remark(2, false) }]).unwrap();
    session
}

#[test]
fn an_unreadable_file_does_not_hide_the_other_branches() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_with_fork(dir.path());
    let b1 = BranchId("b1".to_owned());
    let file = |id: &str| session.branch_file(&BranchId(id.to_owned()));
    let good = std::fs::read_to_string(file("b1")).unwrap();
    std::fs::copy(file("b1"), file("b1-copy")).unwrap();
    std::fs::write(file("garbled"), "no header\n").unwrap();
    std::fs::write(file("later"), good.replace("\"v\":1", "\"v\":9").replace("\"b1\"", "\"later\"")).unwrap();
    // Not listed, because its header was never completed.
    std::fs::write(file("unfinished"), "{\"v\":1,").unwrap();
    let headers: Vec<String> = session.headers().unwrap().into_iter().map(|h| h.id.0).collect();
    assert_eq!(headers, ["trunk", "b1"]);
    assert_eq!(session.last_written(), b1);
    let all = session.branches().unwrap();
    let listed: Vec<_> = all.iter().map(|b| (b.header.id.0.as_str(), b.read_error.is_some())).collect();
    assert_eq!(
        listed,
        [("trunk", false), ("b1", false), ("b1-copy", true), ("garbled", true), ("later", true)]
    );
    for (index, reason) in
        [(2, "the header is that of branch \"b1\""), (3, "not a branch header"), (4, "is newer")]
    {
        assert!(all[index].read_error.as_deref().unwrap().contains(reason), "{:?}", all[index].read_error);
    }
    assert_eq!(session.branch_count() as usize, all.len(), "the count matches the list");
    assert!(session.existing_branch_file(&b1).is_ok());
    assert!(session.existing_branch_file(&BranchId("b1-copy".to_owned())).is_err(), "it cannot be continued");
    assert_eq!(session.unreadable_branches().unwrap().len(), 3);
    // The files embedded in a report give the same result.
    let texts: Vec<_> = ["trunk", "b1", "b1-copy", "garbled", "later"]
        .map(|id| (BranchId(id.to_owned()), std::fs::read(file(id)).unwrap()))
        .into();
    assert_eq!(last_written_from_files(texts.iter().map(|(id, bytes)| (id.clone(), bytes.as_slice()))), b1);
}

#[test]
fn labels_can_be_changed_any_number_of_times() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_with_fork(dir.path());
    let b1 = BranchId("b1".to_owned());
    let set_name = |text: String| session.set_label(&b1, LabelChange::Name(Some(text)));
    set_name("x".repeat(80)).unwrap();
    let error = set_name("x".repeat(81)).unwrap_err().to_string();
    assert!(error.contains("81 characters; the maximum is 80"), "{error}");
    session.set_label(&b1, LabelChange::Note(Some("\u{e4}".repeat(2_000)))).unwrap();
    assert!(session.set_label(&b1, LabelChange::Note(Some("y".repeat(2_001)))).is_err());
    // The file is too large to be read at once, and has one overlong and one incomplete line.
    let path = session.dir.join("branches/labels.jsonl");
    let mut lines = std::fs::read_to_string(&path).unwrap();
    lines.push_str(&"{\"branch\":\"b1\",\"archived\":true}\n".repeat(60_000));
    lines += &[r#"{"branch":"b1","name":""#, &"z".repeat(3 << 20), "\"}\n"].concat();
    lines.push_str("{\"branch\":\"b1\",\"na");
    std::fs::write(&path, lines).unwrap();
    set_name("last".to_owned()).unwrap();
    let labels = session.labels().unwrap();
    assert_eq!((labels[&b1].name.as_deref(), labels[&b1].archived), (Some("last"), true));
    assert_eq!(labels[&b1].note.as_ref().unwrap().chars().count(), 2_000);
}

#[test]
fn a_change_after_an_observation_is_not_the_first_change() {
    let dir = tempfile::tempdir().unwrap();
    let (session, mut trunk) = Session::create(dir.path(), meta("s")).unwrap();
    trunk.append(&[remark(1, false)]).unwrap();
    let set = Event::SettingChanged { name: "seed".to_owned(), value: 7.into() };
    let observed: Event = serde_json::from_value(serde_json::json!({
        "type": "observed", "step": 1,
        "turn": { "observation": "", "reward": 0.0, "progress": 0.0, "done": false, "won": false, "valid": true },
    }))
    .unwrap();
    for (events, expected) in
        [([set.clone(), observed.clone()], "setting seed = 7"), ([observed, set], "continue")]
    {
        let created = Timestamp::UNIX_EPOCH;
        let (header, mut writer) = session.fork(&BranchId::trunk(), Seq(1), "continue", created).unwrap();
        let [first, second] = events;
        writer
            .append(&[
                Envelope { event: first, ..remark(2, false) },
                Envelope { event: second, ..remark(3, false) },
            ])
            .unwrap();
        let branches = session.branches().unwrap();
        assert_eq!(branches.iter().find(|b| b.header.id == header.id).unwrap().first_change, expected);
    }
}

#[test]
fn ambiguous_and_unusable_branch_names_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let (session, mut trunk) = Session::create(dir.path(), meta("s")).unwrap();
    trunk.append(&[remark(1, false)]).unwrap();
    trunk.sync().unwrap();
    let fork = || session.fork(&BranchId::trunk(), Seq(1), "why", Timestamp::UNIX_EPOCH).unwrap().0.id;
    let (b1, b2) = (fork(), fork());
    let set_name =
        |branch: &BranchId, text: &str| session.set_label(branch, LabelChange::Name(Some(text.to_owned())));
    set_name(&b2, "patient").unwrap();
    let cases = [
        ("trunk", "another branch has this id"),
        ("b2", "another branch has this id"),
        ("b3", "reserved for new branches"),
        ("patient", "branch b2 has this name"),
        ("try #2", "`#` is reserved for addresses"),
        ("me@home", "`@` is reserved for addresses"),
        ("a/b", "`/` is reserved for addresses"),
    ];
    for (text, reason) in cases {
        let error = set_name(&b1, text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    assert!(!session.labels().unwrap().contains_key(&b1), "nothing was written");
    for allowed in ["b1", "b", "b2x", "patient 2", "patient"] {
        let branch = if allowed == "patient" { &b2 } else { &b1 };
        set_name(branch, allowed).unwrap();
    }
    // A name written by an older program is still read.
    let path = session.dir.join("branches/labels.jsonl");
    let mut lines = std::fs::read_to_string(&path).unwrap();
    lines.push_str("{\"branch\":\"b1\",\"name\":\"me@home\"}\n");
    std::fs::write(&path, lines).unwrap();
    assert_eq!(session.labels().unwrap()[&b1].name.as_deref(), Some("me@home"));
}

/// Writes a branch file with a parent and one event of its own.
fn write_branch(dir: &std::path::Path, id: u64, parent: &str, at: u64) {
    let header = BranchHeader {
        id: BranchId(format!("b{id}")),
        parent: Some(BranchId(parent.to_owned())),
        at_seq: Seq(at),
        ..BranchHeader::trunk(jiff::Timestamp::UNIX_EPOCH)
    };
    let envelope = Envelope {
        seq: Seq(at + 1),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: Cause::Policy,
        batch_continues: false,
        event: Event::MemorySet { value: id.into() },
    };
    let lines = format!(
        "{}\n{}\n",
        serde_json::to_string(&header).unwrap(),
        serde_json::to_string(&envelope).unwrap()
    );
    std::fs::write(dir.join(format!("branches/b{id}.jsonl")), lines).unwrap();
}

/// Regression: after 1,001 forks, each of the previous one, the session was reported as damaged.
#[test]
fn a_fork_too_deep_to_be_read_back_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("deep")).unwrap();
    drop(writer);
    for id in 1..=1000 {
        let parent = if id == 1 { "trunk".to_owned() } else { format!("b{}", id - 1) };
        write_branch(&session.dir, id, &parent, id - 1);
    }
    let at = jiff::Timestamp::UNIX_EPOCH;
    let deepest = BranchId("b1000".to_owned());
    let opened = open_branch(&session.branch_file(&deepest), OpenMode::Read).unwrap();
    assert_eq!(opened.timeline.head().memory, 1000);
    assert_eq!(opened.timeline.events_after(Seq(0)).len(), 1000, "every branch file contributes one event");
    assert_eq!(opened.timeline.state_at(Seq(1)).memory, 1);
    let error = session.fork(&deepest, Seq(1000), "", at).unwrap_err();
    assert!(matches!(error, JournalError::TooDeep { max: 1000, .. }), "{error}");
    assert!(error.to_string().contains("already has 1000 ancestors"), "{error}");
    assert_eq!(session.branch_count(), 1001, "nothing was created");
    // A fork from an event of an earlier branch is possible and can be read.
    let (header, writer) = session.fork(&deepest, Seq(999), "", at).unwrap();
    drop(writer);
    assert_eq!(header.parent, Some(BranchId("b999".to_owned())));
    open_branch(&session.branch_file(&header.id), OpenMode::Read).unwrap();
    // A file with more ancestors is reported as such, not as damaged.
    write_branch(&session.dir, 1002, "b1000", 1000);
    let error =
        open_branch(&session.branch_file(&BranchId("b1002".to_owned())), OpenMode::Read).err().unwrap();
    assert!(error.to_string().contains("more than 1000 ancestors"), "{error}");
}

#[test]
fn a_branch_with_five_thousand_forks_can_be_listed_and_forked() {
    let dir = tempfile::tempdir().unwrap();
    let (session, writer) = Session::create(dir.path(), meta("wide")).unwrap();
    drop(writer);
    for id in 1..=5000 {
        write_branch(&session.dir, id, "trunk", 0);
    }
    assert_eq!(session.branch_count(), 5001);
    assert_eq!(session.headers().unwrap().len(), 5001);
    assert_eq!(session.last_written(), BranchId("b5000".to_owned()));
    let (header, _writer) =
        session.fork(&BranchId::trunk(), Seq(0), "", jiff::Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(header.id.0, "b5001");
}

/// Regression: the steps of a branch were those of one episode, its tokens those of all episodes.
#[test]
fn steps_and_tokens_of_a_branch_are_of_the_same_episode() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples/measured-lesson");
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("branches")).unwrap();
    for file in ["meta.toml", "branches/trunk.jsonl"] {
        std::fs::copy(shipped.join(file), dir.path().join(file)).unwrap();
    }
    let session = Session::open(dir.path()).unwrap();
    // A fork in the first episode that plays the same two episodes.
    let at = Seq(5);
    let now = Timestamp::from_second(5).unwrap();
    let (header, writer) = session.fork(&BranchId::trunk(), at, "the same again", now).unwrap();
    drop(writer);
    let trunk = std::fs::read_to_string(session.branch_file(&BranchId::trunk())).unwrap();
    let fork = session.branch_file(&header.id);
    // The first line is the header, and line N + 1 is event N.
    let rest: String = trunk.split_inclusive('\n').skip(1 + at.0 as usize).collect();
    let head = std::fs::read_to_string(&fork).unwrap();
    std::fs::write(&fork, head + &rest).unwrap();
    let summary = Summary::load(&session).unwrap();
    let listed: Vec<_> =
        session.branches().unwrap().into_iter().map(|b| (b.outcome, b.steps, b.tokens)).collect();
    assert_eq!(
        listed,
        [("won".to_owned(), 20, 18_941), ("ep. 1/2 lost (step limit)".to_owned(), 50, 65_135)]
    );
    assert!(summary.tokens >= 18_941 + 65_135, "{}", summary.tokens);
}

/// Regression: a summary that an earlier version has stored lacks what was added since. It couldn't be read, and so it no longer
/// said that saved events are missing.
#[test]
fn an_older_summary_is_rebuilt_and_still_says_what_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_with_fork(dir.path());
    let trunk = BranchId::trunk();
    let summary = Summary::load_branch(&session, &trunk).unwrap();
    Summary { goal: "stored".to_owned(), ..summary.clone() }.save(&session.dir).unwrap();
    assert_eq!(Summary::load_branch(&session, &trunk).unwrap().goal, "stored");

    let file = session.dir.join("index/summary.json");
    let mut older: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let last = summary.head.0 + 3;
    older["acknowledged"] = last.into();
    for added in ["version", "assisted", "assisted_won", "not_counted", "episode_tokens"] {
        assert!(older.as_object_mut().unwrap().remove(added).is_some(), "{added}");
    }
    std::fs::write(&file, older.to_string()).unwrap();
    let loaded = Summary::load_branch(&session, &trunk).unwrap();
    assert_eq!((&loaded.goal, loaded.acknowledged), (&summary.goal, Seq(last)));
    assert!(loaded.missing().is_some());
}
