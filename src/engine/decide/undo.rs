//! Edits of thoughts and observations, and their undo and redo together with that of all other edits.

use crate::domain::{LessonOp, LessonStatus, ManualEdit, Seq, Step, ThoughtDisposition};
use crate::engine::{CommandError, Engine, Event, UndoAction, UndoEntry};
use std::fmt::Write as _;

impl Engine {
    /// Edits the thought of the waiting proposal or of the last answered step; blank text removes the thought.
    pub(super) fn edit_thought(&self, number: u32, text: &str) -> Result<Vec<Event>, CommandError> {
        let step = self.editable_step(number, true)?;
        let text = Some(text.trim()).filter(|t| !t.is_empty()).map(str::to_owned);
        if text.is_none() && step.is_thought_only() {
            return Err(CommandError::new(
                "this step is only a thought, so it can't be empty",
                "write a different thought",
            ));
        }
        if step.executed.as_ref().is_some_and(|e| e.thought_disposition == ThoughtDisposition::Dropped) {
            return Err(CommandError::new(
                "the override already removed this thought from later prompts",
                "go back to its proposal and override it again with the thought rewritten",
            ));
        }
        if text == step.thought {
            return Ok(Vec::new());
        }
        Ok(vec![Event::ThoughtEdited { step: number, previous: step.thought.clone(), text }])
    }

    /// Edits the agent's view of an observation. The environment isn't changed.
    pub(super) fn edit_observation(&self, number: u32, text: &str) -> Result<Vec<Event>, CommandError> {
        let step = self.editable_step(number, false)?;
        if text.trim().is_empty() {
            return Err(CommandError::new("the observation is empty", "write what the agent should see"));
        }
        if step.observation() == Some(text) {
            return Ok(Vec::new());
        }
        let previous = step.answer.as_ref().and_then(|a| a.agent_view.clone());
        Ok(vec![Event::ObservationEdited { step: number, previous, text: text.to_owned() }])
    }

    /// Returns the step if its text can be edited: it is answered and no prompt has used it yet or, if `allow_proposal`
    /// is set, its proposal waits for a decision.
    fn editable_step(&self, number: u32, allow_proposal: bool) -> Result<&Step, CommandError> {
        let state = &self.state;
        let step = state.open_episode().and_then(|e| e.step(number)).ok_or_else(|| {
            CommandError::new(
                format!("the current episode has no step {number}"),
                "go back to a point where its episode is in progress and continue from there",
            )
        })?;
        if allow_proposal && state.step_awaiting_decision().is_some_and(|s| s.number == number) {
            return match step.call {
                Some(_) => Ok(step),
                None => Err(CommandError::new(
                    "you are playing: this step has no thought",
                    "type `think: ...` as your action",
                )),
            };
        }
        if step.answer.is_none() {
            return Err(CommandError::new(
                format!("step {number} has no observation yet"),
                "wait for it, then edit it before the next prompt (s runs one stage)",
            ));
        }
        if state.last_pool_use > step.answered_seq {
            let mut error = CommandError::new(
                format!("step {number} has already been sent in a prompt"),
                "continue from before that prompt: the edit then goes to a new branch",
            );
            error.seq = Some(Seq(step.answered_seq.0 + 1));
            return Err(error);
        }
        Ok(step)
    }

    /// Undoes the newest edit. If that can no longer be undone, the error offers the newest older edit that can.
    pub(super) fn undo(&self) -> Result<Vec<Event>, CommandError> {
        let Some(entry) = self.newest_undo() else {
            return Err(CommandError::new("nothing to undo", "only your own changes can be undone"));
        };
        self.undo_entry(entry).map_err(|mut error| {
            let undoable = self.state.newest_undoable();
            if let Some(older) = self.state.undo_stack.iter().find(|entry| Some(entry.seq) == undoable) {
                let description = self.state.describe_undo_action(&older.action);
                let _ = write!(error.hint, "; or undo the change before it (`undo older`): {description}");
                error.older_change = Some((older.seq, description));
            }
            error
        })
    }

    /// Undoes the edit of this event, provided that it is the one that [`Self::undo`] would undo, or the older one that
    /// the error of a rejected undo offers.
    pub(super) fn undo_change(&self, seq: Seq) -> Result<Vec<Event>, CommandError> {
        let older = match self.undo() {
            Ok(events) if self.newest_undo().is_some_and(|entry| entry.seq == seq) => return Ok(events),
            Err(error) if error.older_change.as_ref().is_some_and(|older| older.0 == seq) => {
                self.state.undo_stack.iter().find(|entry| entry.seq == seq)
            }
            _ => None,
        };
        older.map_or_else(
            || {
                Err(CommandError::new(
                    "that change can no longer be undone",
                    "`undo` undoes your latest change, or says which change can be undone",
                ))
            },
            |entry| self.undo_entry(entry),
        )
    }

    /// Returns the newest entry of the undo stack, skipping edits of prompts that no longer wait.
    fn newest_undo(&self) -> Option<&UndoEntry> {
        self.state.undo_stack.iter().rev().find(|entry| !self.state.is_obsolete(entry))
    }

    fn undo_entry(&self, entry: &UndoEntry) -> Result<Vec<Event>, CommandError> {
        match &entry.action {
            UndoAction::Executed => Err(already_used_error(
                entry.seq,
                "your last action has already run, so it can't be undone",
                "go back to before it and continue from there",
            )),
            UndoAction::Irreversible(description) => Err(already_used_error(
                entry.seq,
                &format!("your last action can't be undone: {description}"),
                "go back to before it and continue from there",
            )),
            UndoAction::Run(previous) => {
                self.check_unused_since(
                    entry.seq,
                    "change the run again: it takes effect with the next prompt",
                )?;
                self.change_run(previous)
            }
            UndoAction::Lesson(op) => {
                self.check_unused_since(
                    entry.seq,
                    "edit the lesson or switch it off: it takes effect with the next prompt",
                )?;
                Ok(vec![Event::LessonUndone { target_seq: entry.seq, op: Box::new(op.inverse()) }])
            }
            UndoAction::ManualEdit(change) => {
                if let ManualEdit::Prompt { prompt, .. } = change
                    && self.state.last_pool_use <= entry.seq
                    && self.state.waiting_prompt(prompt.call).is_none()
                {
                    return Err(already_used_error(
                        entry.seq,
                        "that prompt is no longer waiting to be sent",
                        "edit the prompt that is waiting now",
                    ));
                }
                if change.is_intervention() {
                    self.check_unused_since(
                        entry.seq,
                        "change it again: it takes effect with the next prompt",
                    )?;
                }
                Ok(vec![Event::EditUndone { target_seq: entry.seq, change: Box::new(change.inverse()) }])
            }
        }
    }

    pub(super) fn redo(&self) -> Result<Vec<Event>, CommandError> {
        let Some(entry) = self.state.redo_stack.last() else {
            return Err(CommandError::new("nothing to redo", "undo something first"));
        };
        Ok(match &entry.action {
            // Undoing the addition retired the lesson, so redoing it restores the lesson.
            UndoAction::Lesson(LessonOp::Add { id, pinned, .. }) => {
                let op = LessonOp::Status {
                    id: id.clone(),
                    previous: LessonStatus::Retired,
                    status: if *pinned { LessonStatus::Pinned } else { LessonStatus::On },
                    merged_into: None,
                };
                vec![Event::LessonRedone { target_seq: entry.seq, op: Box::new(op) }]
            }
            UndoAction::Lesson(op) => {
                vec![Event::LessonRedone { target_seq: entry.seq, op: Box::new(op.clone()) }]
            }
            UndoAction::ManualEdit(ManualEdit::Thought { step, .. }) => {
                self.editable_step(*step, true)?;
                redo_events(entry)
            }
            UndoAction::ManualEdit(ManualEdit::Observation { step, .. }) => {
                self.editable_step(*step, false)?;
                redo_events(entry)
            }
            UndoAction::ManualEdit(ManualEdit::Prompt { previous, .. })
                if self.state.waiting_prompt(previous.call) != Some(previous) =>
            {
                return Err(CommandError::new(
                    "that prompt is no longer waiting to be sent",
                    "edit the prompt that is waiting now",
                ));
            }
            UndoAction::ManualEdit(_)
            | UndoAction::Run(_)
            | UndoAction::Executed
            | UndoAction::Irreversible(_) => redo_events(entry),
        })
    }

    /// Fails if a prompt was sent or an action was executed after the event `since`, and so may have used the edit.
    fn check_unused_since(&self, since: Seq, hint: &str) -> Result<(), CommandError> {
        if self.state.last_pool_use > since {
            return Err(already_used_error(
                since,
                "a prompt or an action has already used this change, so it can't be undone",
                hint,
            ));
        }
        Ok(())
    }
}

fn redo_events(entry: &UndoEntry) -> Vec<Event> {
    match &entry.action {
        UndoAction::ManualEdit(change) => {
            vec![Event::EditRedone { target_seq: entry.seq, change: Box::new(change.clone()) }]
        }
        _ => Vec::new(),
    }
}

fn already_used_error(seq: Seq, message: &str, hint: &str) -> CommandError {
    CommandError { seq: Some(seq), ..CommandError::new(message, hint) }
}
