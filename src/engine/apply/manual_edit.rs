//! Changes of a person that can be taken back: those of the pool, and those of what the agent sees and is asked.

use crate::domain::{
    Author, BreakpointConfig, CallId, ExecutedAction, LessonOp, ManualEdit, Seq, Setting, SettingOrigin,
    ThoughtDisposition,
};
use crate::engine::{Cause, Event, State, UndoAction, UndoEntry};
use serde_json::Value;
use std::sync::Arc;

/// Changes that are kept to be taken back.
const MAX_UNDO_ENTRIES: usize = 256;

impl State {
    pub(super) fn change_lesson(&mut self, seq: Seq, op: &LessonOp, by: Author) {
        let at = self.current_position();
        // What a mentor learns meanwhile does not take a person's words.
        self.draft.take_if(|draft| by == Author::Person || !draft.edited);
        self.pool.apply(op, seq, at, by);
        if by == Author::Mentor && self.is_last_question_edited() {
            self.pool.mark_edited_by_person(op.id());
        }
        if by == Author::Person && !matches!(op, LessonOp::Recur { .. }) {
            self.push_undo(seq, UndoAction::Lesson(op.clone()));
        }
    }

    pub(super) fn undo_lesson(&mut self, seq: Seq, of: Seq, op: &LessonOp) {
        let at = self.current_position();
        self.draft = None;
        self.pool.apply(op, seq, at, Author::Person);
        self.move_to_redo(of);
    }

    pub(super) fn redo_lesson(&mut self, seq: Seq, of: Seq, op: &LessonOp) {
        let at = self.current_position();
        self.draft = None;
        self.pool.apply(op, seq, at, Author::Person);
        self.move_to_undo(seq, of, UndoAction::Lesson(op.clone()));
    }

    /// Notes what a person is about to change, with what it was. The state is the one before the event.
    pub(super) fn record_undo(&mut self, seq: Seq, cause: Cause, event: &Event) {
        if cause != Cause::Person {
            return self.forget_breakpoint_edits(event);
        }
        if let Some(what) = self.irreversible_action(event) {
            return self.push_undo(seq, UndoAction::Irreversible(what.to_owned()));
        }
        let deed = match event {
            Event::RunChanged { spec } => {
                let Some(was) = self.run.clone() else { return };
                // The run before it, chosen again, takes the change back.
                let unused = |of: Seq| self.last_pool_use <= of;
                let back = |last: &UndoEntry| {
                    unused(last.seq) && matches!(&last.action, UndoAction::Run(before) if **before == **spec)
                };
                if self.undo_stack.last().is_some_and(back) {
                    self.undo_stack.pop();
                    return;
                }
                UndoAction::Run(was)
            }
            // What has run, or was refused to the agent's face, is taken back by going back alone.
            Event::ActionOverridden { .. } | Event::ProposalRejected { .. } => UndoAction::Executed,
            Event::BreakpointSet { breakpoint, config: stop } => {
                self.breakpoint_edit(*breakpoint, Some(stop.clone()), true)
            }
            Event::BreakpointSwitched { breakpoint, enabled: on } => {
                let stop = self.breakpoints.get(*breakpoint).map(|b| b.config.clone());
                self.breakpoint_edit(*breakpoint, stop, *on)
            }
            Event::BreakpointRemoved { breakpoint } => self.breakpoint_edit(*breakpoint, None, false),
            Event::SettingChanged { name, value } => {
                let setting = Some(Setting { value: value.clone(), origin: SettingOrigin::Person });
                UndoAction::ManualEdit(ManualEdit::Setting {
                    name: name.clone(),
                    previous: self.setting(name),
                    setting,
                })
            }
            Event::AutonomySet { autonomy } => {
                UndoAction::ManualEdit(ManualEdit::Autonomy { previous: self.autonomy, autonomy: *autonomy })
            }
            Event::Remarked { step, text } => {
                let episode = self.episode.as_ref().map_or(0, |e| e.number);
                let (step, text) = (*step, text.clone());
                UndoAction::ManualEdit(ManualEdit::Remark { episode, step, text, removed: false })
            }
            Event::PromptDrafted { prompt } if prompt.edited => {
                let waits = self.waiting_prompt(prompt.call).cloned();
                let Some(was) = waits.or_else(|| self.cancelled_prompt_as(prompt)) else { return };
                UndoAction::ManualEdit(ManualEdit::Prompt { previous: was, prompt: prompt.clone() })
            }
            Event::ThoughtEdited { step, previous: was, text } => {
                let was_edited = self.step(*step).is_some_and(|s| s.thought_edited);
                let (was, text) = (was.clone(), text.clone());
                UndoAction::ManualEdit(ManualEdit::Thought {
                    step: *step,
                    previous: was,
                    previous_edited: was_edited,
                    text,
                    edited: true,
                })
            }
            Event::ObservationEdited { step, previous: was, text } => {
                let answer = self.step(*step).and_then(|s| s.answer.as_ref());
                let was_edited = answer.is_some_and(|a| a.edited);
                let (was, text) = (was.clone(), Some(text.clone()));
                UndoAction::ManualEdit(ManualEdit::Observation {
                    step: *step,
                    previous: was,
                    previous_edited: was_edited,
                    text,
                    edited: true,
                })
            }
            _ => return,
        };
        self.push_undo(seq, deed);
    }

    /// A change of a breakpoint, with what it was.
    fn breakpoint_edit(&self, number: u32, stop: Option<BreakpointConfig>, on: bool) -> UndoAction {
        let was = self.breakpoints.get(number);
        let (was, was_on) = (was.map(|b| b.config.clone()), was.is_some_and(|b| b.enabled));
        UndoAction::ManualEdit(ManualEdit::Breakpoint {
            number,
            previous: was,
            previous_enabled: was_on,
            config: stop,
            enabled: on,
        })
    }

    /// A branch brought its own breakpoints: what a person once did to one of these is not taken back from under it.
    fn forget_breakpoint_edits(&mut self, event: &Event) {
        let (Event::BreakpointSet { breakpoint: of, .. }
        | Event::BreakpointSwitched { breakpoint: of, .. }
        | Event::BreakpointRemoved { breakpoint: of }) = event
        else {
            return;
        };
        let stays = |entry: &UndoEntry| !matches!(&entry.action, UndoAction::ManualEdit(ManualEdit::Breakpoint { number, .. }) if number == of);
        self.undo_stack.retain(stays);
        self.redo_stack.retain(stays);
    }

    /// Makes a change.
    pub(super) fn apply_edit(&mut self, change: &ManualEdit) {
        if change.is_intervention() && !matches!(change, ManualEdit::Prompt { .. }) {
            self.draft = None;
        }
        match change {
            ManualEdit::Thought { step, text, edited, .. } => {
                self.set_thought(*step, text.as_deref(), *edited);
            }
            ManualEdit::Observation { step, text, edited, .. } => self.edit_episode(|e| {
                e.edit_step(*step, |s| {
                    if let Some(answer) = &mut s.answer {
                        answer.agent_view.clone_from(text);
                        answer.edited = *edited;
                    }
                });
            }),
            ManualEdit::Setting { name, setting, .. } => {
                self.set_setting(name, setting.as_ref().map_or(&Value::Null, |s| &s.value));
                let own = !matches!(name.as_str(), "max_steps");
                if let Some(run) = self.run.as_mut().map(Arc::make_mut).filter(|_| own) {
                    match setting {
                        Some(setting) => run.settings.0.insert(name.clone(), setting.clone()),
                        None => run.settings.0.remove(name),
                    };
                }
            }
            ManualEdit::Autonomy { autonomy, .. } => self.autonomy = *autonomy,
            ManualEdit::Remark { episode, step, text, removed: gone } => {
                self.edit_remark(*episode, *step, text, *gone);
            }
            ManualEdit::Prompt { prompt, .. } => {
                if !self.edit_waiting_prompt(prompt) {
                    self.draft = Some(prompt.clone());
                }
            }
            ManualEdit::Breakpoint { number, config: Some(stop), enabled: on, .. } => {
                self.breakpoints.set(*number, stop);
                self.breakpoints.set_enabled(*number, *on);
            }
            ManualEdit::Breakpoint { number, config: None, .. } => self.breakpoints.remove(*number),
        }
    }

    /// Takes a change back, or makes it again.
    pub(super) fn apply_undo_or_redo(&mut self, seq: Seq, of: Seq, change: &ManualEdit, back: bool) {
        self.apply_edit(change);
        if back {
            self.move_to_redo(of);
        } else {
            self.move_to_undo(seq, of, UndoAction::ManualEdit(change.clone()));
        }
    }

    fn set_thought(&mut self, step: u32, text: Option<&str>, edited: bool) {
        self.edit_episode(|e| {
            e.edit_step(step, |s| {
                s.thought = text.map(str::to_owned);
                s.thought_edited = edited;
                match (&mut s.executed, text) {
                    // The step was that thought; the world was told the words as they were, and is told them again.
                    (Some(ExecutedAction { action, sent, .. }), Some(text))
                        if action.trim_start().starts_with("think:") =>
                    {
                        let told = std::mem::replace(action, format!("think: {text}"));
                        sent.get_or_insert(told);
                    }
                    (
                        Some(ExecutedAction {
                            thought_disposition: ThoughtDisposition::Rewritten(words),
                            ..
                        }),
                        Some(text),
                    ) => {
                        text.clone_into(words);
                    }
                    _ => {}
                }
            });
        });
    }

    fn edit_remark(&mut self, episode: u32, step: u32, text: &str, gone: bool) {
        let here = self.episode.as_ref().map_or(0, |e| e.number) == episode;
        match (step, gone) {
            (0, false) => self.remarks.push((episode, text.to_owned())),
            (0, true) => {
                if let Some(place) = self.remarks.iter().rposition(|(e, t)| *e == episode && t == text) {
                    self.remarks.remove(place);
                }
            }
            // A step of an episode that is not held any more has no remarks to change.
            _ if !here => {}
            (step, false) => {
                self.edit_episode(|e| e.edit_step(step, |s| s.remarks.push(text.to_owned())));
            }
            (step, true) => self.edit_episode(|e| {
                e.edit_step(step, |s| {
                    if let Some(place) = s.remarks.iter().rposition(|t| t == text) {
                        s.remarks.remove(place);
                    }
                });
            }),
        }
    }

    /// A setting as it is, those that are bounds of the run too.
    pub(in crate::engine) fn setting(&self, name: &str) -> Option<Setting> {
        let run = self.run.as_deref()?;
        if name == "max_steps" {
            return Some(Setting { value: run.limits.steps.into(), origin: SettingOrigin::BuiltIn });
        }
        let value = match name {
            "max_moves" => run.limits.moves.map(Value::from),
            "wall_seconds" => run.limits.wall_seconds.map(Value::from),
            "loop_detector" => Some(run.loop_detector.into()),
            _ => None,
        };
        let origin = SettingOrigin::BuiltIn;
        run.settings.0.get(name).cloned().or(value.map(|value| Setting { value, origin }))
    }

    fn step(&self, number: u32) -> Option<&crate::domain::Step> {
        self.episode.as_deref()?.step(number)
    }

    fn push_undo(&mut self, of: Seq, what: UndoAction) {
        let stays = |deed: &UndoAction| matches!(deed, UndoAction::Executed | UndoAction::Irreversible(_));
        // Of several deeds in a row that nothing takes back only the last is ever told.
        if stays(&what) && self.undo_stack.last().is_some_and(|last| stays(&last.action)) {
            self.undo_stack.pop();
        }
        self.undo_stack.push(UndoEntry { seq: of, action: what });
        if self.undo_stack.len() > MAX_UNDO_ENTRIES {
            self.undo_stack.remove(0);
        }
        self.redo_stack.clear();
    }

    /// What failed is asked again, of whom the run names by now: a change of that has been used.
    pub(super) fn mark_run_change_used(&mut self) {
        for entry in &mut self.undo_stack {
            if matches!(entry.action, UndoAction::Run(_)) {
                entry.action = UndoAction::Irreversible("the run was changed".to_owned());
            }
        }
    }

    fn move_to_redo(&mut self, of: Seq) {
        if let Some(place) = self.undo_stack.iter().rposition(|u| u.seq == of) {
            let entry = self.undo_stack.remove(place);
            self.redo_stack.push(entry);
        }
    }

    fn move_to_undo(&mut self, seq: Seq, of: Seq, what: UndoAction) {
        if let Some(place) = self.redo_stack.iter().rposition(|u| u.seq == of) {
            self.redo_stack.remove(place);
            self.undo_stack.push(UndoEntry { seq, action: what });
        }
    }

    /// Episode and turn as the screen counts them, for the source of a lesson: an open step is a turn.
    fn current_position(&self) -> (u32, u32) {
        self.episode.as_ref().map_or((0, 0), |e| (e.number, e.steps.len() as u32))
    }
}

impl State {
    /// What a person did that only going back takes back, in words; none where it is something else, or a mere going on.
    /// The state is the one before the event.
    fn irreversible_action(&self, event: &Event) -> Option<&'static str> {
        let failed = |call: CallId| self.failed_calls().any(|(effect, _)| effect.call() == call);
        Some(match event {
            // Its memory went with the method.
            Event::RunChanged { spec } if self.run.as_ref().is_none_or(|run| run.method != spec.method) => {
                "the run was changed"
            }
            Event::PoolSettled { .. } => "a proposed change of the lessons was settled",
            Event::CallCancelled { .. } => "a call to a model was broken off",
            Event::CallGivenUp { call } if failed(*call) => "a failed call was given up",
            Event::CallGivenUp { .. } => "a call that was broken off was given up",
            Event::EpisodeStarted { .. } => "an episode was begun",
            Event::EpisodeEnded { .. } => "the episode was ended",
            Event::RunEnded => "the run was ended",
            Event::AskedAgain { .. } => "the agent was asked again",
            Event::PromptSent { prompt } if prompt.edited => "a changed prompt was sent",
            Event::PromptSent { prompt } if failed(prompt.call) => {
                "a failed call was made again with other sampling"
            }
            Event::PromptSent { prompt } if prompt.question.is_none() => "the agent was asked",
            Event::PromptSent { .. } => "the mentor was asked",
            // What a mentor wrote comes of a question, or of one that was given up.
            Event::Reflected { reflection } if reflection.call.is_none() => "a reflection was asked for",
            // The templates are files: the words that the state knows of them put none of those back.
            Event::SettingChanged { name, .. } if name == "templates" => "other prompt templates were taken",
            Event::Retried { reply_source: Some(_), .. } => "a recorded reply was taken in the model's place",
            Event::Retried { call: None, .. } => "the world was taken as it is now",
            _ => return None,
        })
    }
}
