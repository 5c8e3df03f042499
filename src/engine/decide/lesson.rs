//! Commands about the lesson pool.

use crate::domain::{Author, LessonId, LessonOp, LessonOrigin, LessonStatus};
use crate::engine::{CommandError, Engine, LessonCommand};
use sha2::{Digest, Sha256};

impl Engine {
    /// Returns the operation that executes a lesson command. `earlier_events` is the number of earlier events in the
    /// same batch.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the text is empty, if the lesson to change doesn't exist, if the lesson to load
    /// already exists, or if the lesson to move is retired (the screen calls this "deleted").
    pub(in crate::engine) fn lesson_op(
        &self,
        command: &LessonCommand,
        author: Author,
        earlier_events: usize,
    ) -> Result<LessonOp, CommandError> {
        let pool = &self.state.pool;
        let find = |id: &LessonId| {
            pool.get(id).ok_or_else(|| {
                CommandError::new(format!("no lesson {id}"), "choose one of the lessons listed")
            })
        };
        Ok(match command {
            // `transition` is the observation, action and reward that the lesson is about.
            LessonCommand::Add { kind, scope, text, rule, evidence, parents, transition, pinned } => {
                if text.text.trim().is_empty() {
                    return Err(CommandError::new("the lesson is empty", "write a sentence"));
                }
                let origin = author.origin();
                LessonOp::Add {
                    id: self.lesson_id(earlier_events),
                    kind: *kind,
                    scope: *scope,
                    origin,
                    text: text.clone(),
                    evidence: evidence.clone(),
                    rule: rule.clone(),
                    parents: parents.clone(),
                    transition: transition.clone(),
                    task_key: None,
                    task_type: None,
                    pinned: *pinned,
                    taken_from: None,
                    sources: None,
                }
            }
            LessonCommand::Accept { kind, scope, text, edited, evidence, pinned } => {
                if text.text.trim().is_empty() {
                    return Err(CommandError::new("the lesson is empty", "write a sentence"));
                }
                LessonOp::Add {
                    id: self.lesson_id(earlier_events),
                    kind: *kind,
                    scope: *scope,
                    origin: if *edited { LessonOrigin::Person } else { LessonOrigin::Mentor },
                    text: text.clone(),
                    evidence: evidence.clone(),
                    rule: None,
                    parents: Vec::new(),
                    transition: None,
                    task_key: None,
                    task_type: None,
                    pinned: *pinned,
                    taken_from: None,
                    sources: None,
                }
            }
            LessonCommand::Load(lesson) => {
                if pool.get(&lesson.id).is_some() {
                    return Err(CommandError::new(
                        format!("lesson {} already exists", lesson.id),
                        "edit the existing one",
                    ));
                }
                let mut op = lesson.add_op();
                if let LessonOp::Add { pinned, .. } = &mut op {
                    // A file's lesson gets its status by an event of its own.
                    *pinned &= author == Author::Person;
                }
                op
            }
            LessonCommand::Edit { id, text } => {
                if text.text.trim().is_empty() {
                    return Err(CommandError::new("the lesson is empty", "delete the lesson instead"));
                }
                LessonOp::Edit { id: id.clone(), previous: find(id)?.text().clone(), text: text.clone() }
            }
            LessonCommand::Status { id, status } => {
                let previous = find(id)?.status;
                LessonOp::Status { id: id.clone(), previous, status: *status, merged_into: None }
            }
            LessonCommand::Merge { id, into } => LessonOp::Status {
                id: id.clone(),
                previous: find(id)?.status,
                status: LessonStatus::Retired,
                merged_into: Some(find(into)?.number),
            },
            LessonCommand::Rescope { id, scope } => {
                LessonOp::Rescope { id: id.clone(), previous: find(id)?.scope, scope: *scope }
            }
            LessonCommand::Move { id, to } => {
                let lesson = find(id)?;
                if lesson.status == LessonStatus::Retired {
                    return Err(CommandError::new(
                        "a deleted lesson can't be moved",
                        "undo the deletion first",
                    ));
                }
                LessonOp::Move { id: id.clone(), previous: pool.position(id).unwrap_or(0), to: *to }
            }
            // Only counts that the same lesson was learnt again.
            LessonCommand::Recur { id } => LessonOp::Recur { id: find(id)?.id.clone() },
            LessonCommand::Measured { id, measured } => {
                LessonOp::Measured { id: find(id)?.id.clone(), measured: measured.clone() }
            }
        })
    }

    /// Returns the id of a new lesson: the beginning of a hash of (session, branch, sequence number of the event that
    /// adds the lesson).
    fn lesson_id(&self, earlier_events: usize) -> LessonId {
        let seq = self.state.head.0 + 1 + earlier_events as u64;
        let mut hash = Sha256::new();
        hash.update(self.state.session.as_bytes());
        hash.update(b"\0");
        hash.update(self.branch.0.as_bytes());
        hash.update(b"\0");
        hash.update(seq.to_le_bytes());
        let digest = hash.finalize();
        LessonId(crate::domain::hex(&digest[..6]).into())
    }
}
