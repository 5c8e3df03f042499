//! Below what cannot be taken back: the newest change that nothing has used yet and that still stands as it was made.

use crate::domain::{LessonOp, LessonStatus, ManualEdit, Seq, Setting};
use crate::engine::{Event, State, UndoAction, UndoEntry};

impl State {
    /// The newest change of a person that can still be taken back, whatever was done since.
    pub fn undoable(&self) -> Option<Seq> {
        self.undo_stack.iter().rev().find(|entry| self.can_undo(entry)).map(|entry| entry.seq)
    }

    /// A changed prompt that was drafted anew since leaves nothing to take back.
    pub(super) fn is_obsolete(&self, entry: &UndoEntry) -> bool {
        match &entry.action {
            UndoAction::ManualEdit(ManualEdit::Prompt { prompt, .. }) => {
                self.last_pool_use <= entry.seq && self.waiting_prompt(prompt.call) != Some(prompt)
            }
            _ => false,
        }
    }

    /// No prompt and no action has used the change, and nobody has changed the same thing since: taking it back then takes
    /// back it alone.
    fn can_undo(&self, entry: &UndoEntry) -> bool {
        let unused = self.last_pool_use <= entry.seq;
        match &entry.action {
            // What was chosen since stands on the run as it is.
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
                // A bound of the run does not say who set it.
                let value = |s: Option<Setting>| s.map(|s| s.value).filter(|v| !v.is_null());
                value(self.setting(name)) == value(setting.clone())
            }
            ManualEdit::Autonomy { autonomy, .. } => self.autonomy == *autonomy,
            ManualEdit::Breakpoint { number, config: stop, enabled: on, .. } => {
                let now = self.breakpoints.get(*number);
                now.map(|b| &b.config) == stop.as_ref() && now.is_none_or(|b| b.enabled == *on)
            }
            // A remark is added to others, and a prompt that waits is the one that was changed.
            ManualEdit::Remark { .. } | ManualEdit::Prompt { .. } => true,
        }
    }

    /// What the last undo took back, or what a redo made again, after the event that did so; none after another event.
    pub fn describe_undo(&self, event: &Event) -> Option<String> {
        let words = |entry: &UndoEntry| self.describe_undo_action(&entry.action);
        match event {
            Event::LessonUndone { target_seq: of, .. } | Event::EditUndone { target_seq: of, .. } => {
                let entry = self.redo_stack.iter().rfind(|entry| entry.seq == *of)?;
                Some(format!("taken back: {}", words(entry)))
            }
            Event::LessonRedone { .. } | Event::EditRedone { .. } => {
                Some(format!("made again: {}", words(self.undo_stack.last()?)))
            }
            _ => None,
        }
    }

    /// A deed in a few words.
    pub(super) fn describe_undo_action(&self, deed: &UndoAction) -> String {
        let number = |op: &LessonOp| self.pool.get(op.id()).map_or(0, |l| l.number);
        match deed {
            UndoAction::Executed => "an action of yours".to_owned(),
            UndoAction::Irreversible(what) => what.clone(),
            UndoAction::Run(_) => "another run".to_owned(),
            UndoAction::ManualEdit(ManualEdit::Prompt { .. }) => "your words in a prompt".to_owned(),
            UndoAction::ManualEdit(change) => change.describe(),
            UndoAction::Lesson(op) => match op {
                LessonOp::Add { .. } => format!("lesson {} added", number(op)),
                LessonOp::Recur { .. } => format!("lesson {} drawn again", number(op)),
                LessonOp::Edit { .. } => format!("other words for lesson {}", number(op)),
                LessonOp::Status { previous: LessonStatus::Retired, .. } => {
                    format!("lesson {} put back", number(op))
                }
                LessonOp::Status { status, .. } => match status {
                    LessonStatus::On => format!("lesson {} switched on", number(op)),
                    LessonStatus::Off => format!("lesson {} switched off", number(op)),
                    LessonStatus::Pinned => format!("lesson {} pinned", number(op)),
                    LessonStatus::Retired => format!("lesson {} deleted", number(op)),
                },
                LessonOp::Rescope { .. } => format!("another reach of lesson {}", number(op)),
                LessonOp::Move { .. } => format!("another place of lesson {}", number(op)),
            },
        }
    }
}
