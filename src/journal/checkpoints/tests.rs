//! Tests of checkpoints: a checkpoint and the events after it equal the fold of all events, and any invalid one is
//! ignored.

use super::{Checkpoints, Spacing};
use crate::domain::Seq;
use crate::engine::{Envelope, Event, State};
use crate::journal::open::{OpenBranch, OpenMode, open_with_checkpoints};
use crate::journal::stored_checkpoints;
use crate::journal::{Follower, JournalError, read_branch};
use crate::timeline::{CheckpointIndex, no_progress};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

mod forks;

/// Distances between checkpoints that are small enough for short sessions.
const SPACING: Spacing =
    Spacing { at_episode_start: (24, 1 << 30), anywhere: (48, 1 << 30), min_tail: (16, 1 << 30) };

/// Returns the events of the shipped sessions, one list per file.
fn recorded_events() -> &'static [Vec<Arc<Envelope>>] {
    static RECORDED: OnceLock<Vec<Vec<Arc<Envelope>>>> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
        ["hot-mug-taught", "hot-mug-untaught", "lamp"]
            .map(|name| read_branch(&root.join(name).join("branches/trunk.jsonl")).unwrap().events)
            .into()
    })
}

/// A session in its own folder, and the state after each of its events.
struct TestSession {
    dir: tempfile::TempDir,
    lines: Vec<String>,
    /// The state before the first event, and after each one.
    states: Vec<State>,
}

impl TestSession {
    /// Concatenates pieces of recorded sessions, given as file, first event and length; the fold accepts any order of
    /// events.
    fn from_pieces(pieces: &[(usize, usize, usize)]) -> Self {
        let mut events: Vec<Envelope> = Vec::new();
        for (file, from, len) in pieces {
            let all = &recorded_events()[file % recorded_events().len()];
            events.extend(all.iter().cycle().skip(from % all.len()).take(*len).map(|e| Envelope::clone(e)));
        }
        let (mut state, mut states, mut lines) = (State::default(), vec![State::default()], Vec::new());
        let last = events.len();
        for (n, mut envelope) in events.into_iter().enumerate() {
            envelope.seq = Seq(n as u64 + 1);
            envelope.batch_continues &= n + 1 < last;
            state.apply(&envelope);
            states.push(state.clone());
            lines.push(serde_json::to_string(&envelope).unwrap() + "\n");
        }
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("branches")).unwrap();
        let session = Self { dir, lines, states };
        let header = r#"{"v":1,"type":"branch","id":"trunk","parent":null,"at_seq":0,"reason":"start","created":"2026-11-20T10:40:00Z"}"#;
        fs::write(session.trunk(), format!("{header}\n")).unwrap();
        session
    }

    fn long() -> Self {
        Self::from_pieces(&[(0, 0, 240), (1, 0, 200), (2, 0, 200)])
    }

    fn trunk(&self) -> PathBuf {
        self.dir.path().join("branches/trunk.jsonl")
    }

    fn index_folder(&self) -> PathBuf {
        self.dir.path().join("index/trunk")
    }

    fn append(&self, bytes: &[u8]) {
        fs::OpenOptions::new().append(true).open(self.trunk()).unwrap().write_all(bytes).unwrap();
    }

    fn append_events(&self, from: usize, to: usize) {
        self.append(self.lines[from..to].concat().as_bytes());
    }

    fn open(&self, mode: OpenMode) -> OpenBranch {
        let spacing = SPACING;
        open_with_checkpoints(
            &self.trunk(),
            mode,
            Checkpoints { spacing, ..Checkpoints::for_branch(&self.trunk()) },
            &no_progress,
        )
        .unwrap()
    }

    /// Opens the trunk until the report with this number, counted from 0, says to stop. Returns `None` if there are fewer
    /// reports.
    fn open_stopped(&self, at_report: usize) -> Option<JournalError> {
        let count = Cell::new(0);
        let report =
            |_, _| if count.replace(count.get() + 1) < at_report { Ok(()) } else { Err("stop".to_owned()) };
        let checkpoints = Checkpoints { spacing: SPACING, ..Checkpoints::for_branch(&self.trunk()) };
        open_with_checkpoints(&self.trunk(), OpenMode::Resume, checkpoints, &report).err()
    }

    /// Returns the names and contents of the files in the index.
    fn index_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = fs::read_dir(self.index_folder()).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    /// Asserts that the opened timeline's states equal those of a fold of all events, after many events.
    fn assert_states(&self, opened: &OpenBranch, events: usize) {
        assert_eq!(opened.timeline.len() as usize, events);
        // Not `assert_eq`, because the debug text of a state fills several screens.
        assert!(**opened.timeline.head() == self.states[events], "the state at the end");
        let CheckpointIndex { seqs: stored, load: load_checkpoint } = stored_checkpoints(&self.trunk());
        let near = stored.iter().flat_map(|s| [s.0 - 1, s.0]);
        for seq in (0..=events as u64).step_by(61).chain(near).filter(|s| *s <= events as u64) {
            assert!(
                *opened.timeline.state_at(Seq(seq)) == self.states[seq as usize],
                "the state after {seq}"
            );
        }
        assert_eq!(opened.timeline.events_after(Seq(0)).len(), events);
        assert_eq!(opened.timeline.take_fetch_error(), None);
        for seq in &stored {
            let state = load_checkpoint(*seq);
            assert!(state.is_none_or(|s| s == self.states[s.head.0 as usize]), "the checkpoint of {seq}");
        }
    }

    /// Asserts that every stored state is available, and that a freshly opened timeline starts from them.
    fn assert_checkpoints_used(&self, opened: &OpenBranch) {
        let stored = opened.checkpoints.index(opened.timeline.head());
        for seq in &stored.seqs {
            assert_eq!((stored.load)(*seq).map(|s| s.head), Some(*seq));
        }
        let fresh = self.open(OpenMode::Read);
        for seq in stored.seqs.iter().filter(|s| s.0 + 1 < fresh.checkpoint_seq.0) {
            assert_eq!(fresh.timeline.fold_plan_to(Seq(seq.0 + 1)).start_seq(), *seq);
        }
    }

    /// Returns how many of the first `events` events are in complete batches.
    fn complete_batches(&self, events: usize) -> usize {
        (0..events).rev().find(|n| !self.lines[*n].contains(r#""more":true"#)).map_or(0, |n| n + 1)
    }
}

fn pieces() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    proptest::collection::vec((0_usize..3, 0_usize..400, 1_usize..200), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_checkpoint_and_the_rest_equal_the_fold_of_all_events(
        pieces in pieces(), cuts in proptest::collection::vec(0.0..1.0_f64, 3), torn in 0_usize..60,
    ) {
        let session = TestSession::from_pieces(&pieces);
        let mut cuts: Vec<usize> = cuts.iter().map(|c| (c * session.lines.len() as f64) as usize).collect();
        cuts.sort_unstable();
        cuts.push(session.lines.len());
        let (mut written, mut last_checkpoint) = (0, 0);
        for cut in cuts {
            session.append_events(written, cut);
            written = cut;
            let complete_events = session.complete_batches(cut);
            let opened = session.open(OpenMode::Read);
            session.assert_states(&opened, complete_events);
            session.assert_checkpoints_used(&opened);
            prop_assert!(
                opened.checkpoint_seq.0 >= last_checkpoint,
                "a checkpoint of the last opening was not used"
            );
            // The opening stored a checkpoint, so the next one skips these events.
            if complete_events as u64 >= last_checkpoint + 16 {
                let again = session.open(OpenMode::Read);
                prop_assert_eq!(again.checkpoint_seq.0, complete_events as u64);
                session.assert_states(&again, complete_events);
                session.assert_checkpoints_used(&again);
            }
            last_checkpoint = stored_checkpoints(&session.trunk()).seqs.last().map_or(0, |s| s.0);
        }
        // A torn end is not included, with or without a checkpoint.
        let torn_line = &session.lines[0].as_bytes()[..torn.min(session.lines[0].len() - 2)];
        session.append(torn_line);
        let opened = session.open(OpenMode::Read);
        session.assert_states(&opened, session.lines.len());
        prop_assert_eq!(opened.torn_tail.map_or(0, |t| t.bytes), torn_line.len() as u64);
    }

    #[test]
    fn damaged_checkpoints_change_nothing(
        file_index in 0_usize..64, damage in 0_usize..5, position in 0.0..1.0_f64, bit in 0_u32..8,
    ) {
        let (session, other) = (TestSession::long(), TestSession::from_pieces(&[(2, 50, 300), (0, 0, 300)]));
        for session in [&session, &other] {
            session.append_events(0, session.lines.len());
            session.open(OpenMode::Read);
        }
        let mut files: Vec<_> = fs::read_dir(session.index_folder()).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        prop_assert!(files.len() > 5, "{files:?}");
        let file = &files[file_index % files.len()];
        let mut bytes = fs::read(file).unwrap();
        let offset = (position * bytes.len() as f64) as usize;
        match damage {
            0 => bytes[offset] ^= 1 << bit,
            1 => bytes.truncate(offset),
            2 => bytes = fs::read(&files[(file_index + 1) % files.len()]).unwrap(),
            3 => {
                let mut other_files: Vec<_> =
                    fs::read_dir(other.index_folder()).unwrap().map(|e| e.unwrap().path()).collect();
                other_files.sort();
                bytes = fs::read(&other_files[file_index % other_files.len()]).unwrap();
            }
            _ => bytes.splice(offset..offset, [b'\n'; 9]).for_each(drop),
        }
        fs::write(file, bytes).unwrap();
        session.assert_states(&session.open(OpenMode::Read), session.lines.len());
        fs::remove_file(file).unwrap();
        session.assert_states(&session.open(OpenMode::Read), session.lines.len());
    }

    #[test]
    fn appended_events_are_read_once_in_complete_batches(
        begin in 0_usize..120, splits in proptest::collection::vec(0.0..1.0_f64, 1..8),
    ) {
        let session = TestSession::from_pieces(&[(0, 0, 120)]);
        session.append_events(0, begin);
        let opened = session.open(OpenMode::Read);
        let last = opened.timeline.head().head;
        let mut follower = Follower::new(&session.trunk(), opened.valid_len, last);
        let rest = session.lines[begin..].concat();
        let mut splits: Vec<usize> = splits.iter().map(|s| (s * rest.len() as f64) as usize).collect();
        splits.extend([0, rest.len()]);
        splits.sort_unstable();
        let mut seen = Vec::new();
        for pair in splits.windows(2) {
            session.append(&rest.as_bytes()[pair[0]..pair[1]]);
            seen.extend(follower.read_new_events().unwrap().iter().map(|e| e.seq.0));
        }
        prop_assert_eq!(seen, (last.0 + 1..=120).collect::<Vec<_>>());
        prop_assert!(follower.read_new_events().unwrap().is_empty());
    }
}

/// Waits until a file that is written now has a later time than the journal: two changes within one tick of the file system's
/// clock have the same time.
fn wait_for_a_later_file_time(session: &TestSession) {
    let time = |file: &Path| fs::metadata(file).unwrap().modified().unwrap();
    let probe = session.trunk().with_extension("probe");
    fs::write(&probe, "").unwrap();
    while time(&probe) <= time(&session.trunk()) {
        std::thread::sleep(std::time::Duration::from_millis(1));
        fs::write(&probe, "").unwrap();
    }
    fs::remove_file(&probe).unwrap();
}

/// Changes the journal without updating its checkpoints. The states must be those of the changed file.
#[test]
fn a_changed_journal_takes_precedence() {
    let edit = |text: &str| text.replacen("\"seed\":71", "\"seed\":17", 1);
    type Change = fn(&Path, String);
    let changes: [(&str, Change); 4] = [
        ("edited in place to the same length", |trunk, text| fs::write(trunk, text).unwrap()),
        ("edited to another length", |trunk, text| {
            fs::write(trunk, text.replacen("\"seed\":17", "\"seed\":1700", 1)).unwrap();
        }),
        ("replaced, with the old modification time", |trunk, text| {
            let modified = fs::metadata(trunk).unwrap().modified().unwrap();
            fs::write(trunk.with_extension("b"), text).unwrap();
            fs::rename(trunk.with_extension("b"), trunk).unwrap();
            fs::File::options().write(true).open(trunk).unwrap().set_modified(modified).unwrap();
        }),
        ("cut", |trunk, text| {
            let end = text[..text.len() / 2].rfind('\n').unwrap() + 1;
            fs::write(trunk, &text[..end]).unwrap();
        }),
    ];
    for (description, change) in changes {
        let session = TestSession::long();
        session.append_events(0, session.lines.len());
        session.open(OpenMode::Read);
        assert_eq!(
            session.open(OpenMode::Read).checkpoint_seq.0,
            640,
            "{description}: the checkpoint is used before the change"
        );
        wait_for_a_later_file_time(&session);
        let text = fs::read_to_string(session.trunk()).unwrap();
        let edited = edit(&text);
        assert!(edited.len() == text.len() && edited != text);
        change(&session.trunk(), edited);
        let opened = session.open(OpenMode::Read);
        assert_eq!(opened.checkpoint_seq, Seq(0), "{description}");
        let events = read_branch(&session.trunk()).unwrap().events;
        let mut state = State::default();
        for envelope in &events {
            state.apply(envelope);
            assert!(*opened.timeline.state_at(envelope.seq) == state, "{description}, {}", envelope.seq);
        }
        let again = session.open(OpenMode::Read);
        if description == "cut" {
            // The old checkpoint is the last trace of the missing events.
            assert_eq!((again.checkpoint_seq, again.missing.map(|m| m.last)), (Seq(0), Some(Seq(640))));
        } else {
            assert_eq!(again.checkpoint_seq, state.head, "{description}: a new checkpoint was written");
        }
    }
}

/// A program version that folds events differently may compute different states.
#[test]
fn checkpoints_of_another_program_version_are_rebuilt() {
    let session = TestSession::long();
    session.append_events(0, 600);
    session.open(OpenMode::Read);
    let head = session.index_folder().join("head.jsonl");
    let text = fs::read_to_string(&head).unwrap();
    let (_, body) = text.split_once('\n').unwrap();
    let body = body.replacen(&super::fingerprint::fold_fingerprint(), "0.0.9 0123456789abcdef", 1);
    let hash = <sha2::Sha256 as sha2::Digest>::digest(body.as_bytes());
    fs::write(&head, format!("{}\n{body}", crate::domain::hex(&hash[..16]))).unwrap();
    let opened = session.open(OpenMode::Read);
    assert_eq!(opened.checkpoint_seq, Seq(0));
    session.assert_states(&opened, session.complete_batches(600));
    assert_ne!(session.open(OpenMode::Read).checkpoint_seq, Seq(0));
}

/// Many short episodes get more checkpoints than a single long one.
#[test]
fn a_very_long_episode_has_few_checkpoints() {
    let checkpoint_count = |steps_per_episode: usize| {
        let (mut checkpoints, mut state) = (Checkpoints::default(), State::default());
        let started =
            recorded_events()[0].iter().find(|e| matches!(e.event, Event::EpisodeStarted { .. })).unwrap();
        let mut written = Vec::new();
        for n in 1..200_000_u64 {
            state.head = Seq(n);
            if n % 2 == 1 {
                let event = if (n as usize / 2).is_multiple_of(steps_per_episode) {
                    started.event.clone()
                } else {
                    Event::StepOpened { step: n as u32 / 2 }
                };
                state.apply(&Envelope { seq: Seq(n), event, ..Envelope::clone(started) });
            }
            if checkpoints.is_due(&state, 0) {
                checkpoints.mark_written(&state, 0);
                written.push(n);
            }
        }
        written.len()
    };
    assert!((12..=16).contains(&checkpoint_count(50)), "{}", checkpoint_count(50));
    assert!(checkpoint_count(1_000_000) < 6, "{}", checkpoint_count(1_000_000));
}

#[test]
fn a_short_session_gets_no_index() {
    let session = TestSession::from_pieces(&[(0, 0, 100)]);
    session.append_events(0, 100);
    crate::journal::open_branch(&session.trunk(), OpenMode::Read).unwrap();
    session.open(OpenMode::Verify);
    assert!(!session.dir.path().join("index").exists());
    session.open(OpenMode::Read);
    let mode = |path: PathBuf| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    for file in fs::read_dir(session.index_folder()).unwrap() {
        assert_eq!(mode(file.unwrap().path()), 0o600);
    }
    assert_eq!(mode(session.index_folder()), 0o700);
}

/// Regression: a comparison that was cancelled read the other session to its end.
#[test]
fn a_stopped_opening_leaves_the_checkpoints_as_they_are() {
    let session = TestSession::long();
    let stop_everywhere = || {
        let before = session.index_files();
        let count = (0..).take_while(|at_report| {
            let error = session.open_stopped(*at_report);
            let is_stopped = matches!(&error, Some(JournalError::Stopped(why)) if why == "stop");
            assert!(error.is_none() || is_stopped, "report {at_report}: {error:?}");
            if is_stopped {
                assert!(session.index_files() == before, "report {at_report}");
            }
            is_stopped
        });
        count.count()
    };
    session.append_events(0, 600);
    assert_eq!(stop_everywhere(), 5, "at the beginning, three times among the events, and at the end");
    assert!(session.index_files().len() > 2, "the opening that went on to the end has written checkpoints");
    // From a checkpoint, only the events after it are read.
    session.append_events(600, session.lines.len());
    assert_eq!(stop_everywhere(), 3);
    assert_eq!(session.open(OpenMode::Read).checkpoint_seq, Seq(session.lines.len() as u64));
    // Checkpoints that don't match the journal are replaced by the opening that reads everything.
    let text = fs::read_to_string(session.trunk()).unwrap();
    fs::write(session.trunk(), text.replacen("2026-11-20T10:40:00Z", "2026-11-21T10:40:00Z", 1)).unwrap();
    let before = session.index_files();
    assert_eq!(stop_everywhere(), 5);
    assert!(session.index_files() != before);
    session.assert_states(&session.open(OpenMode::Read), session.lines.len());
}

#[test]
fn a_session_opens_without_a_writable_index() {
    let session = TestSession::long();
    session.append_events(0, session.lines.len());
    fs::write(session.dir.path().join("index"), "no folder").unwrap();
    for _ in 0..2 {
        session.assert_states(&session.open(OpenMode::Read), session.lines.len());
    }
}

/// Regression: reading a trunk that was not a regular file could block or continue forever.
#[cfg(unix)]
#[test]
fn anything_but_a_regular_file_is_rejected() {
    let session = TestSession::from_pieces(&[(0, 0, 1)]);
    let trunk = session.trunk();
    let assert_rejected = |reason: &str| {
        for error in [
            crate::journal::open_branch(&trunk, OpenMode::Read).err().unwrap(),
            read_branch(&trunk).err().unwrap(),
            crate::journal::Writer::lock(&trunk).err().unwrap(),
            Follower::new(&trunk, 0, Seq(0)).read_new_events().err().unwrap(),
        ] {
            assert!(matches!(error, JournalError::Io { .. }), "{error}");
            assert!(error.to_string().contains(reason), "{error}");
        }
    };
    fs::remove_file(&trunk).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &trunk).unwrap();
    assert_rejected("a device");
    fs::remove_file(&trunk).unwrap();
    let made_pipe = std::process::Command::new("mkfifo").arg(&trunk).status().unwrap();
    assert!(made_pipe.success());
    assert_rejected("a pipe");
    fs::remove_file(&trunk).unwrap();
    fs::create_dir(&trunk).unwrap();
    assert_rejected("a folder");
}

/// If old events can't be read again, this is reported, and the returned state's head shows how many were read.
#[test]
fn unreadable_old_events_are_reported() {
    let session = TestSession::long();
    session.append_events(0, session.lines.len());
    session.open(OpenMode::Read);
    let opened = session.open(OpenMode::Read);
    fs::remove_dir_all(session.index_folder()).unwrap();
    let text = fs::read_to_string(session.trunk()).unwrap();
    fs::write(session.trunk(), &text[..text.len() / 2]).unwrap();
    let store = crate::driver::Store::default();
    store.set_timeline(opened.timeline, crate::domain::BranchId::trunk());
    assert!(store.state_at(Seq(600)).head < Seq(600));
    let signals = format!("{:?}", store.live().signals);
    assert!(signals.contains("could not be read again") && signals.contains("trunk.jsonl"), "{signals}");
}
