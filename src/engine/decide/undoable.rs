//! Finds the edits that can still be undone: those that no prompt or action has used yet and that are still in effect.
//! Irreversible actions above them on the undo stack don't prevent that.

use crate::domain::{LessonOp, LessonStatus, ManualEdit, Seq, Setting};
use crate::engine::{Event, State, UndoAction, UndoEntry};

impl State {
    /// Returns the event of the newest edit that can still be undone, even if a later action can't be undone.
    pub fn newest_undoable(&self) -> Option<Seq> {
        self.undo_stack.iter().rev().find(|entry| self.can_undo(entry)).map(|entry| entry.seq)
    }

    /// Returns whether an edit can be undone without undoing later ones. This requires that nobody has changed the same
    /// thing since, and that no prompt or action has used the edit. Edits that prompts and actions don't depend on,
    /// such as remarks, are never used.
    fn can_undo(&self, entry: &UndoEntry) -> bool {
        let unused = self.last_pool_use <= entry.seq;
        match &entry.action {
            // A change of the run can't be undone alone, because later edits were made for the changed run.
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
            LessonOp::Recur { .. } | LessonOp::Measured { .. } => false,
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
                // Only the values are compared, because the run's limits don't record who set them.
                let value = |s: Option<Setting>| s.map(|s| s.value).filter(|v| !v.is_null());
                value(self.run.as_deref().and_then(|run| run.current_setting(name))) == value(setting.clone())
            }
            ManualEdit::Autonomy { autonomy, .. } => self.autonomy == *autonomy,
            ManualEdit::Breakpoint { number, config, enabled, .. } => {
                let current = self.breakpoints.get(*number);
                current.map(|b| &b.config) == config.as_ref() && current.is_none_or(|b| b.enabled == *enabled)
            }
            // A later remark doesn't replace this one. For a prompt, `is_obsolete` has made the comparison.
            ManualEdit::Remark { .. } | ManualEdit::Prompt { .. } => true,
        }
    }

    /// Describes what an undo or redo event has undone or redone, once the event has been applied. Returns `None` for
    /// other events.
    pub fn describe_undo(&self, event: &Event) -> Option<String> {
        let describe = |entry: &UndoEntry| self.describe_undo_action(&entry.action);
        match event {
            Event::LessonUndone { target_seq, .. } | Event::EditUndone { target_seq, .. } => {
                let entry = self.redo_stack.iter().rfind(|entry| entry.seq == *target_seq)?;
                Some(format!("undone: {}", self.describe_undone_action(&entry.action)))
            }
            Event::LessonRedone { .. } | Event::EditRedone { .. } => {
                Some(format!("redone: {}", describe(self.undo_stack.last()?)))
            }
            _ => None,
        }
    }

    /// Describes what is so again after an action was undone: `lesson 7 is on again`.
    fn describe_undone_action(&self, action: &UndoAction) -> String {
        let UndoAction::Lesson(op) = action else { return self.describe_undo_action(action) };
        let what = match op {
            LessonOp::Add { .. } => "is gone",
            LessonOp::Recur { .. } => "is as before it recurred",
            LessonOp::Measured { .. } => "is as before the measurement",
            LessonOp::Edit { .. } => "has its previous text again",
            LessonOp::Status { previous, status, .. } => match (previous, status) {
                (LessonStatus::On, LessonStatus::Pinned) => "is no longer pinned",
                (LessonStatus::On, LessonStatus::Retired) => "is back",
                (LessonStatus::On, _) => "is on again",
                (LessonStatus::Off, LessonStatus::Retired) => "is back, off",
                (LessonStatus::Off, _) => "is off again",
                (LessonStatus::Pinned, LessonStatus::Retired) => "is back, pinned",
                (LessonStatus::Pinned, _) => "is pinned again",
                (LessonStatus::Retired, _) => "is deleted again",
            },
            LessonOp::Rescope { .. } => "has its previous scope again",
            LessonOp::Move { .. } => "is back in its previous place",
        };
        format!("lesson {} {what}", self.pool.get(op.id()).map_or(0, |lesson| lesson.number))
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
                LessonOp::Measured { .. } => format!("lesson {} measured", number(op)),
                LessonOp::Edit { .. } => format!("lesson {} edited", number(op)),
                LessonOp::Status { previous: LessonStatus::Retired, .. } => {
                    format!("lesson {} restored", number(op))
                }
                LessonOp::Status { merged_into: Some(kept), .. } => {
                    format!("lesson {} merged into lesson {kept}", number(op))
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
