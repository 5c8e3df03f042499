//! Tests of forks' checkpoints: before the fork event the parent's are used, after it the branch's own, and only if the
//! parent is unchanged.

use super::{SPACING, TestSession};
use crate::domain::Seq;
use crate::journal::open::{OpenBranch, OpenMode, open_with_checkpoints};
use crate::journal::{Checkpoints, open_branch};
use crate::timeline::no_progress;
use std::fs;
use std::path::PathBuf;

impl TestSession {
    fn branch(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("branches/{name}.jsonl"))
    }

    /// Creates a fork with the same events as its parent, so that they fold to the same states.
    fn fork(&self, name: &str, parent: &str, at: usize, to: usize) {
        let header = format!(
            r#"{{"v":1,"type":"branch","id":"{name}","parent":"{parent}","at_seq":{at},"reason":"","created":"2026-11-20T10:40:00Z"}}"#
        );
        fs::write(self.branch(name), format!("{header}\n{}", self.lines[at..to].concat())).unwrap();
    }

    fn open_fork(&self, name: &str) -> OpenBranch {
        let path = self.branch(name);
        open_with_checkpoints(
            &path,
            OpenMode::Resume,
            Checkpoints { spacing: SPACING, ..Checkpoints::for_branch(&path) },
            &no_progress,
        )
        .unwrap()
    }

    /// Returns the next event that ends a batch.
    fn end_of_batch(&self, at: usize) -> usize {
        (at..=self.lines.len()).find(|n| !self.lines[*n - 1].contains("\"more\":true")).unwrap()
    }

    fn assert_fork_states(&self, opened: &OpenBranch, to: usize) {
        assert!(**opened.timeline.head() == self.states[to]);
        for seq in (0..=to).step_by(41) {
            assert!(*opened.timeline.state_at(Seq(seq as u64)) == self.states[seq], "event {seq}");
        }
    }
}

#[test]
fn a_fork_has_the_same_states_with_and_without_checkpoints() {
    let session = TestSession::long();
    let all = session.lines.len();
    session.append_events(0, all);
    for with_checkpoints in [false, true] {
        if with_checkpoints {
            session.open(OpenMode::Resume);
        }
        for near in [1, 300, all - 60] {
            let at = session.end_of_batch(near);
            let second = session.end_of_batch(at + 30);
            let to = session.end_of_batch((second + 25).min(all));
            session.fork("b1", "trunk", at, second);
            session.fork("b2", "b1", second, to);
            session.assert_fork_states(&session.open_fork("b1"), second);
            session.assert_fork_states(&session.open_fork("b2"), to);
            // The second time it starts from its own checkpoint.
            let again = session.open_fork("b2");
            assert!(again.checkpoint_seq > Seq(second as u64), "{near}: {}", again.checkpoint_seq);
            session.assert_fork_states(&again, to);
            // A fork that has just begun uses its parent's checkpoints.
            session.fork("b3", "b2", to, to);
            let opened = session.open_fork("b3");
            session.assert_fork_states(&opened, to);
            assert!(!session.dir.path().join("index/b3").exists());
            for name in ["b1", "b2", "b3"] {
                fs::remove_dir_all(session.dir.path().join("index").join(name)).ok();
            }
        }
    }
}

/// A checkpoint must not be used if events that it was computed from have changed.
#[test]
fn a_parent_changed_before_the_fork_invalidates_its_checkpoints() {
    let session = TestSession::long();
    session.append_events(0, session.lines.len());
    let at = session.end_of_batch(200);
    let to = session.end_of_batch(400);
    session.fork("b1", "trunk", at, to);
    session.open_fork("b1");
    assert!(session.open_fork("b1").checkpoint_seq > Seq(0));
    let text = fs::read_to_string(session.trunk()).unwrap();
    // At the start of the file, where every byte is hashed.
    let changed = text.replacen("\"session\":\"", "\"session\":\"x", 1);
    assert!(text != changed);
    fs::write(session.trunk(), changed).unwrap();
    let opened = session.open_fork("b1");
    assert_eq!(opened.checkpoint_seq, Seq(0));
    let checked = open_branch(&session.branch("b1"), OpenMode::Verify).unwrap();
    assert!(opened.timeline.head() == checked.timeline.head());
    assert!(*opened.timeline.state_at(Seq(1)) != session.states[1]);
}
