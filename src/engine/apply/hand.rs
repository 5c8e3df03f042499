//! Changes that can be taken back: those of the pool.

use crate::domain::{Author, LessonOp, Seq};
use crate::engine::{State, UndoEntry};

impl State {
    pub(super) fn change_lesson(&mut self, seq: Seq, op: &LessonOp, by: Author) {
        let at = self.moment();
        self.draft = None;
        self.pool.apply(op, seq, at, by);
        if by == Author::Mentor && self.prompted_by_person() {
            self.pool.by_person(op.id());
        }
        if by == Author::Person && !matches!(op, LessonOp::Recur { .. }) {
            self.undo.push(UndoEntry { of: seq, op: op.clone() });
            self.redo.clear();
        }
    }

    pub(super) fn undo_lesson(&mut self, seq: Seq, of: Seq, op: &LessonOp) {
        let at = self.moment();
        self.draft = None;
        self.pool.apply(op, seq, at, Author::Person);
        if let Some(place) = self.undo.iter().rposition(|u| u.of == of) {
            let entry = self.undo.remove(place);
            self.redo.push(entry);
        }
    }

    pub(super) fn redo_lesson(&mut self, seq: Seq, of: Seq, op: &LessonOp) {
        let at = self.moment();
        self.draft = None;
        self.pool.apply(op, seq, at, Author::Person);
        if let Some(place) = self.redo.iter().rposition(|u| u.of == of) {
            self.redo.remove(place);
            self.undo.push(UndoEntry { of: seq, op: op.clone() });
        }
    }

    /// Episode and turn as the screen counts them, for the source of a lesson: an open step is a turn.
    fn moment(&self) -> (u32, u32) {
        self.episode.as_ref().map_or((0, 0), |e| (e.number, e.steps.len() as u32))
    }
}
