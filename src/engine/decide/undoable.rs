//! Which edits can be undone: those that nothing has used yet and that are still in effect, even if irreversible
//! actions are above them on the stack.

use crate::domain::{LessonOp, LessonStatus, ManualEdit, Seq, Setting};
use crate::engine::{Event, State, UndoAction, UndoEntry};

impl State {
    /// Returns the newest edit that can still be undone, whatever was done since.
    pub fn newest_undoable(&self) -> Option<Seq> {
        self.undo_stack.iter().rev().find(|entry| self.can_undo(entry)).map(|entry| entry.seq)
    }

    /// Returns whether this is an edit of a prompt that no longer waits as edited, so that there is nothing to undo.
    pub(super) fn is_obsolete(&self, entry: &UndoEntry) -> bool {
        match &entry.action {
            UndoAction::ManualEdit(ManualEdit::Prompt { prompt, .. }) => {
                self.last_pool_use <= entry.seq && self.waiting_prompt(prompt.call) != Some(prompt)
            }
            _ => false,
        }
    }

    /// Returns whether an edit can be undone alone: no prompt and no action has used it, and nobody has changed the
    /// same thing since.
    fn can_undo(&self, entry: &UndoEntry) -> bool {
        let unused = self.last_pool_use <= entry.seq;
        match &entry.action {
            // Later edits were made for the current run.
            UndoAction::Executed | UndoAction::Irreversible(_) | UndoAction::Run(_) => false,
            UndoAction::Lesson(op) => unused && self.is_lesson_unchanged(op),
            UndoAction::ManualEdit(change) => {
                (unused || !change.is_intervention())
                    && !self.is_obsolete(entry)
                    && self.is_edit_unchanged(change)
            }
        }
    }

    fn is_lesson_unchanged(&self, op: &LessonOp) -> bool {
        self.pool.get(op.id()).is_some_and(|lesson| match op {
            LessonOp::Add { text, .. } => lesson.status != LessonStatus::Retired && lesson.text() == text,
            LessonOp::Edit { text, .. } => lesson.text() == text,
            LessonOp::Status { status, .. } => lesson.status == *status,
            LessonOp::Rescope { scope, .. } => lesson.scope == *scope,
            LessonOp::Move { id, to, .. } => self.pool.position(id) == Some(*to),
            LessonOp::Recur { .. } => false,
        })
    }

    fn is_edit_unchanged(&self, change: &ManualEdit) -> bool {
        let step = |number: &u32| self.open_episode().and_then(|e| e.step(*number));
        match change {
            ManualEdit::Thought { step: number, text, edited, .. } => {
                step(number).is_some_and(|s| s.thought == *text && s.thought_edited == *edited)
            }
            ManualEdit::Observation { step: number, text, edited, .. } => step(number)
                .and_then(|s| s.answer.as_ref())
                .is_some_and(|a| a.agent_view == *text && a.edited == *edited),
            ManualEdit::Setting { name, setting, .. } => {
                // A limit of the run doesn't record who set it.
                let value = |s: Option<Setting>| s.map(|s| s.value).filter(|v| !v.is_null());
                value(self.setting(name)) == value(setting.clone())
            }
            ManualEdit::Autonomy { autonomy, .. } => self.autonomy == *autonomy,
            ManualEdit::Breakpoint { number, config, enabled, .. } => {
                let current = self.breakpoints.get(*number);
                current.map(|b| &b.config) == config.as_ref() && current.is_none_or(|b| b.enabled == *enabled)
            }
            // Remarks are independent of each other, and a prompt that waits is the one that was edited.
            ManualEdit::Remark { .. } | ManualEdit::Prompt { .. } => true,
        }
    }

    /// Describes what the given undo or redo event undid or redid. Returns `None` for other events.
    pub fn describe_undo(&self, event: &Event) -> Option<String> {
        let describe = |entry: &UndoEntry| self.describe_undo_action(&entry.action);
        match event {
            Event::LessonUndone { target_seq, .. } | Event::EditUndone { target_seq, .. } => {
                let entry = self.redo_stack.iter().rfind(|entry| entry.seq == *target_seq)?;
                Some(format!("undone: {}", describe(entry)))
            }
            Event::LessonRedone { .. } | Event::EditRedone { .. } => {
                Some(format!("redone: {}", describe(self.undo_stack.last()?)))
            }
            _ => None,
        }
    }

    /// Describes an undo action in a few words.
    pub(super) fn describe_undo_action(&self, action: &UndoAction) -> String {
        let number = |op: &LessonOp| self.pool.get(op.id()).map_or(0, |l| l.number);
        match action {
            UndoAction::Executed => "your action".to_owned(),
            UndoAction::Irreversible(description) => description.clone(),
            UndoAction::Run(_) => "run changed".to_owned(),
            UndoAction::ManualEdit(ManualEdit::Prompt { .. }) => "prompt edited".to_owned(),
            UndoAction::ManualEdit(change) => change.describe(),
            UndoAction::Lesson(op) => match op {
                LessonOp::Add { .. } => format!("lesson {} added", number(op)),
                LessonOp::Recur { .. } => format!("lesson {} recurred", number(op)),
                LessonOp::Edit { .. } => format!("lesson {} edited", number(op)),
                LessonOp::Status { previous: LessonStatus::Retired, .. } => {
                    format!("lesson {} restored", number(op))
                }
                LessonOp::Status { status, .. } => match status {
                    LessonStatus::On => format!("lesson {} switched on", number(op)),
                    LessonStatus::Off => format!("lesson {} switched off", number(op)),
                    LessonStatus::Pinned => format!("lesson {} pinned", number(op)),
                    LessonStatus::Retired => format!("lesson {} deleted", number(op)),
                },
                LessonOp::Rescope { .. } => format!("scope of lesson {} changed", number(op)),
                LessonOp::Move { .. } => format!("lesson {} moved", number(op)),
            },
        }
    }
}
