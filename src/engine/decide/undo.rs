//! Other words for a thought or an observation, and taking changes back.

use crate::domain::{LessonOp, LessonStatus, ManualEdit, Seq, Step, ThoughtDisposition};
use crate::engine::{CommandError, Engine, Event, UndoAction, UndoEntry};
use std::fmt::Write as _;

impl Engine {
    /// Other words for the thought of the open proposal, or of the last answered step.
    pub(super) fn edit_thought(&self, number: u32, text: &str) -> Result<Vec<Event>, CommandError> {
        let step = self.editable(number, true)?;
        let text = Some(text.trim()).filter(|t| !t.is_empty()).map(str::to_owned);
        if text.is_none() && step.only_thinks() {
            return Err(CommandError::new("this step is nothing but its thought", "write other words"));
        }
        if step.executed.as_ref().is_some_and(|e| e.fate == ThoughtDisposition::Dropped) {
            return Err(CommandError::new(
                "this thought left the prompts with the override of its action",
                "go back to its proposal and override it again with the thought rewritten",
            ));
        }
        if text == step.thought {
            return Ok(Vec::new());
        }
        Ok(vec![Event::ThoughtEdited { step: number, was: step.thought.clone(), text }])
    }

    /// Other words for what the world answered, as the agent sees them. The world stays as it is.
    pub(super) fn edit_observation(&self, number: u32, text: &str) -> Result<Vec<Event>, CommandError> {
        let step = self.editable(number, false)?;
        if text.trim().is_empty() {
            return Err(CommandError::new(
                "an empty observation says nothing",
                "write what the agent is to see",
            ));
        }
        if step.observation() == Some(text) {
            return Ok(Vec::new());
        }
        let was = step.answer.as_ref().and_then(|a| a.seen.clone());
        Ok(vec![Event::ObservationEdited { step: number, was, text: text.to_owned() }])
    }

    /// A step whose words no prompt has used yet.
    fn editable(&self, number: u32, proposal: bool) -> Result<&Step, CommandError> {
        let state = &self.state;
        let step = state.open_episode().and_then(|e| e.step(number)).ok_or_else(|| {
            CommandError::new(
                format!("the open episode has no step {number}"),
                "go back to a moment in which its episode is open, and go on from there",
            )
        })?;
        if proposal && state.awaiting().is_some_and(|s| s.number == number) {
            return match step.call {
                Some(_) => Ok(step),
                None => Err(CommandError::new(
                    "you play: nobody thought here",
                    "type `think: ...` as your action",
                )),
            };
        }
        if step.answer.is_none() {
            return Err(CommandError::new(
                format!("step {number} is not answered yet"),
                "wait for its observation, then change it before the next prompt (s goes on by one stage)",
            ));
        }
        if state.pool_used > step.answered_seq {
            let mut refusal = CommandError::new(
                format!("a prompt has already shown step {number} as it is"),
                "go on from before that prompt: the change is made there, on a branch of its own",
            );
            refusal.about = Some(Seq(step.answered_seq.0 + 1));
            return Err(refusal);
        }
        Ok(step)
    }

    pub(super) fn undo(&self) -> Result<Vec<Event>, CommandError> {
        let Some(entry) = self.newest() else {
            return Err(CommandError::new(
                "there is nothing to undo",
                "only what you changed yourself can be undone",
            ));
        };
        self.back(entry).map_err(|mut refusal| {
            let of = self.state.undoable();
            if let Some(older) = self.state.undo.iter().find(|entry| Some(entry.of) == of) {
                let words = self.state.deed_words(&older.what);
                let _ = write!(refusal.next, "; or take back what came before it (`undo older`): {words}");
                refusal.older = Some((older.of, words));
            }
            refusal
        })
    }

    /// Takes back one change and no other: the newest, or the one that the refusal of an undo offers.
    pub(super) fn take_back(&self, of: Seq) -> Result<Vec<Event>, CommandError> {
        let older = match self.undo() {
            Ok(events) if self.newest().is_some_and(|entry| entry.of == of) => return Ok(events),
            Err(refusal) if refusal.older.as_ref().is_some_and(|older| older.0 == of) => {
                self.state.undo.iter().find(|entry| entry.of == of)
            }
            _ => None,
        };
        older.map_or_else(
            || {
                Err(CommandError::new(
                    "that change cannot be taken back any more",
                    "`undo` takes back the last one, or says what can be",
                ))
            },
            |entry| self.back(entry),
        )
    }

    fn newest(&self) -> Option<&UndoEntry> {
        self.state.undo.iter().rev().find(|entry| !self.state.moot(entry))
    }

    fn back(&self, entry: &UndoEntry) -> Result<Vec<Event>, CommandError> {
        match &entry.what {
            UndoAction::Executed => Err(used(
                entry.of,
                "what you did last has run, so it cannot be undone",
                "go back to before it and go on from there",
            )),
            UndoAction::Irreversible(what) => Err(used(
                entry.of,
                &format!("what you did last cannot be undone: {what}"),
                "go back to before it and go on from there",
            )),
            UndoAction::Run(before) => {
                self.unused_since(entry.of, "change the run once more: that counts from the next prompt")?;
                self.change_run(before)
            }
            UndoAction::Lesson(op) => {
                self.unused_since(
                    entry.of,
                    "edit the lesson or switch it off: that counts from the next prompt",
                )?;
                Ok(vec![Event::Undone { of: entry.of, op: Box::new(op.inverse()) }])
            }
            UndoAction::ManualEdit(change) => {
                if let ManualEdit::Prompt { prompt, .. } = change
                    && self.state.pool_used <= entry.of
                    && self.state.waits_for(prompt.call).is_none()
                {
                    return Err(used(
                        entry.of,
                        "that prompt does not wait any more",
                        "change the one that waits",
                    ));
                }
                if change.touches_episode() {
                    self.unused_since(entry.of, "change it once more: that counts from the next prompt")?;
                }
                Ok(vec![Event::TakenBack { of: entry.of, change: Box::new(change.inverse()) }])
            }
        }
    }

    pub(super) fn redo(&self) -> Result<Vec<Event>, CommandError> {
        let Some(entry) = self.state.redo.last() else {
            return Err(CommandError::new("there is nothing to redo", "undo something first"));
        };
        Ok(match &entry.what {
            UndoAction::Lesson(LessonOp::Add { id, .. }) => {
                let op =
                    LessonOp::Status { id: id.clone(), was: LessonStatus::Retired, status: LessonStatus::On };
                vec![Event::Redone { of: entry.of, op: Box::new(op) }]
            }
            UndoAction::Lesson(op) => vec![Event::Redone { of: entry.of, op: Box::new(op.clone()) }],
            UndoAction::ManualEdit(ManualEdit::Thought { step, .. }) => {
                self.editable(*step, true)?;
                again(entry)
            }
            UndoAction::ManualEdit(ManualEdit::Observation { step, .. }) => {
                self.editable(*step, false)?;
                again(entry)
            }
            UndoAction::ManualEdit(ManualEdit::Prompt { was, .. })
                if self.state.waits_for(was.call) != Some(was) =>
            {
                return Err(CommandError::new(
                    "that prompt does not wait any more",
                    "change the one that waits",
                ));
            }
            UndoAction::ManualEdit(_)
            | UndoAction::Run(_)
            | UndoAction::Executed
            | UndoAction::Irreversible(_) => again(entry),
        })
    }

    fn unused_since(&self, of: Seq, next: &str) -> Result<(), CommandError> {
        if self.state.pool_used > of {
            return Err(used(
                of,
                "a prompt or an action has already used this change, so it cannot be undone",
                next,
            ));
        }
        Ok(())
    }
}

fn again(entry: &UndoEntry) -> Vec<Event> {
    match &entry.what {
        UndoAction::ManualEdit(change) => {
            vec![Event::MadeAgain { of: entry.of, change: Box::new(change.clone()) }]
        }
        _ => Vec::new(),
    }
}

fn used(of: Seq, why: &str, next: &str) -> CommandError {
    CommandError { about: Some(of), ..CommandError::new(why, next) }
}
