//! Changes of a person that can be taken back: those of the pool, and those of what the agent sees and is asked.

use crate::domain::{
    Author, CallId, Executed, LessonOp, ManualEdit, Seq, Setting, SettingOrigin, Stop, ThoughtDisposition,
};
use crate::engine::{Cause, Event, State, UndoAction, UndoEntry};
use serde_json::Value;
use std::sync::Arc;

/// Changes that are kept to be taken back.
const KEPT: usize = 256;

impl State {
    pub(super) fn change_lesson(&mut self, seq: Seq, op: &LessonOp, by: Author) {
        let at = self.moment();
        // What a mentor learns meanwhile does not take a person's words.
        self.draft.take_if(|draft| by == Author::Person || !draft.edited);
        self.pool.apply(op, seq, at, by);
        if by == Author::Mentor && self.prompted_by_person() {
            self.pool.by_person(op.id());
        }
        if by == Author::Person && !matches!(op, LessonOp::Recur { .. }) {
            self.done(seq, UndoAction::Lesson(op.clone()));
        }
    }

    pub(super) fn undo_lesson(&mut self, seq: Seq, of: Seq, op: &LessonOp) {
        let at = self.moment();
        self.draft = None;
        self.pool.apply(op, seq, at, Author::Person);
        self.undone(of);
    }

    pub(super) fn redo_lesson(&mut self, seq: Seq, of: Seq, op: &LessonOp) {
        let at = self.moment();
        self.draft = None;
        self.pool.apply(op, seq, at, Author::Person);
        self.redone(seq, of, UndoAction::Lesson(op.clone()));
    }

    /// Notes what a person is about to change, with what it was. The state is the one before the event.
    pub(super) fn note_deed(&mut self, seq: Seq, cause: Cause, event: &Event) {
        if cause != Cause::Person {
            return self.forget_stop(event);
        }
        if let Some(what) = self.stays(event) {
            return self.done(seq, UndoAction::Irreversible(what.to_owned()));
        }
        let deed = match event {
            Event::RunChanged { spec } => {
                let Some(was) = self.run.clone() else { return };
                // The run before it, chosen again, takes the change back.
                let unused = |of: Seq| self.pool_used <= of;
                let back = |last: &UndoEntry| {
                    unused(last.of) && matches!(&last.what, UndoAction::Run(before) if **before == **spec)
                };
                if self.undo.last().is_some_and(back) {
                    self.undo.pop();
                    return;
                }
                UndoAction::Run(was)
            }
            // What has run, or was refused to the agent's face, is taken back by going back alone.
            Event::ActionOverridden { .. } | Event::ProposalRejected { .. } => UndoAction::Executed,
            Event::BreakpointSet { breakpoint, stop } => {
                self.stop_deed(*breakpoint, Some(stop.clone()), true)
            }
            Event::BreakpointSwitched { breakpoint, on } => {
                let stop = self.stops.get(*breakpoint).map(|b| b.stop.clone());
                self.stop_deed(*breakpoint, stop, *on)
            }
            Event::BreakpointRemoved { breakpoint } => self.stop_deed(*breakpoint, None, false),
            Event::SettingChanged { name, value } => {
                let setting = Some(Setting { value: value.clone(), origin: SettingOrigin::Person });
                UndoAction::ManualEdit(ManualEdit::Setting {
                    name: name.clone(),
                    was: self.setting(name),
                    setting,
                })
            }
            Event::AutonomySet { autonomy } => {
                UndoAction::ManualEdit(ManualEdit::Autonomy { was: self.autonomy, autonomy: *autonomy })
            }
            Event::Remarked { step, text } => {
                let episode = self.episode.as_ref().map_or(0, |e| e.number);
                let (step, text) = (*step, text.clone());
                UndoAction::ManualEdit(ManualEdit::Remark { episode, step, text, gone: false })
            }
            Event::PromptDrafted { prompt } if prompt.edited => {
                let waits = self.waits_for(prompt.call).cloned();
                let Some(was) = waits.or_else(|| self.broken_off_as(prompt)) else { return };
                UndoAction::ManualEdit(ManualEdit::Prompt { was, prompt: prompt.clone() })
            }
            Event::ThoughtEdited { step, was, text } => {
                let was_edited = self.step(*step).is_some_and(|s| s.thought_edited);
                let (was, text) = (was.clone(), text.clone());
                UndoAction::ManualEdit(ManualEdit::Thought {
                    step: *step,
                    was,
                    was_edited,
                    text,
                    edited: true,
                })
            }
            Event::ObservationEdited { step, was, text } => {
                let answer = self.step(*step).and_then(|s| s.answer.as_ref());
                let was_edited = answer.is_some_and(|a| a.edited);
                let (was, text) = (was.clone(), Some(text.clone()));
                UndoAction::ManualEdit(ManualEdit::Observation {
                    step: *step,
                    was,
                    was_edited,
                    text,
                    edited: true,
                })
            }
            _ => return,
        };
        self.done(seq, deed);
    }

    /// A change of a breakpoint, with what it was.
    fn stop_deed(&self, number: u32, stop: Option<Stop>, on: bool) -> UndoAction {
        let was = self.stops.get(number);
        let (was, was_on) = (was.map(|b| b.stop.clone()), was.is_some_and(|b| b.on));
        UndoAction::ManualEdit(ManualEdit::Breakpoint { number, was, was_on, stop, on })
    }

    /// A branch brought its own breakpoints: what a person once did to one of these is not taken back from under it.
    fn forget_stop(&mut self, event: &Event) {
        let (Event::BreakpointSet { breakpoint: of, .. }
        | Event::BreakpointSwitched { breakpoint: of, .. }
        | Event::BreakpointRemoved { breakpoint: of }) = event
        else {
            return;
        };
        let stays = |entry: &UndoEntry| !matches!(&entry.what, UndoAction::ManualEdit(ManualEdit::Breakpoint { number, .. }) if number == of);
        self.undo.retain(stays);
        self.redo.retain(stays);
    }

    /// Makes a change.
    pub(super) fn make(&mut self, change: &ManualEdit) {
        if change.touches_episode() && !matches!(change, ManualEdit::Prompt { .. }) {
            self.draft = None;
        }
        match change {
            ManualEdit::Thought { step, text, edited, .. } => {
                self.set_thought(*step, text.as_deref(), *edited);
            }
            ManualEdit::Observation { step, text, edited, .. } => self.edit_episode(|e| {
                e.edit_numbered(*step, |s| {
                    if let Some(answer) = &mut s.answer {
                        answer.seen.clone_from(text);
                        answer.edited = *edited;
                    }
                });
            }),
            ManualEdit::Setting { name, setting, .. } => {
                self.set(name, setting.as_ref().map_or(&Value::Null, |s| &s.value));
                let own = !matches!(name.as_str(), "max_steps");
                if let Some(run) = self.run.as_mut().map(Arc::make_mut).filter(|_| own) {
                    match setting {
                        Some(setting) => run.settings.0.insert(name.clone(), setting.clone()),
                        None => run.settings.0.remove(name),
                    };
                }
            }
            ManualEdit::Autonomy { autonomy, .. } => self.autonomy = *autonomy,
            ManualEdit::Remark { episode, step, text, gone } => {
                self.remark(*episode, *step, text, *gone);
            }
            ManualEdit::Prompt { prompt, .. } => {
                if !self.change_asked(prompt) {
                    self.draft = Some(prompt.clone());
                }
            }
            ManualEdit::Breakpoint { number, stop: Some(stop), on, .. } => {
                self.stops.set(*number, stop);
                self.stops.switch(*number, *on);
            }
            ManualEdit::Breakpoint { number, stop: None, .. } => self.stops.remove(*number),
        }
    }

    /// Takes a change back, or makes it again.
    pub(super) fn make_again(&mut self, seq: Seq, of: Seq, change: &ManualEdit, back: bool) {
        self.make(change);
        if back {
            self.undone(of);
        } else {
            self.redone(seq, of, UndoAction::ManualEdit(change.clone()));
        }
    }

    fn set_thought(&mut self, step: u32, text: Option<&str>, edited: bool) {
        self.edit_episode(|e| {
            e.edit_numbered(step, |s| {
                s.thought = text.map(str::to_owned);
                s.thought_edited = edited;
                match (&mut s.executed, text) {
                    // The step was that thought; the world was told the words as they were, and is told them again.
                    (Some(Executed { action, sent, .. }), Some(text))
                        if action.trim_start().starts_with("think:") =>
                    {
                        let told = std::mem::replace(action, format!("think: {text}"));
                        sent.get_or_insert(told);
                    }
                    (Some(Executed { fate: ThoughtDisposition::Rewritten(words), .. }), Some(text)) => {
                        text.clone_into(words);
                    }
                    _ => {}
                }
            });
        });
    }

    fn remark(&mut self, episode: u32, step: u32, text: &str, gone: bool) {
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
                self.edit_episode(|e| e.edit_numbered(step, |s| s.remarks.push(text.to_owned())));
            }
            (step, true) => self.edit_episode(|e| {
                e.edit_numbered(step, |s| {
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
            return Some(Setting { value: run.limits.steps.into(), origin: SettingOrigin::Ours });
        }
        let value = match name {
            "max_moves" => run.limits.moves.map(Value::from),
            "wall_seconds" => run.limits.wall_seconds.map(Value::from),
            "loop_detector" => Some(run.loop_detector.into()),
            _ => None,
        };
        let origin = SettingOrigin::Ours;
        run.settings.0.get(name).cloned().or(value.map(|value| Setting { value, origin }))
    }

    fn step(&self, number: u32) -> Option<&crate::domain::Step> {
        self.episode.as_deref()?.step(number)
    }

    fn done(&mut self, of: Seq, what: UndoAction) {
        let stays = |deed: &UndoAction| matches!(deed, UndoAction::Executed | UndoAction::Irreversible(_));
        // Of several deeds in a row that nothing takes back only the last is ever told.
        if stays(&what) && self.undo.last().is_some_and(|last| stays(&last.what)) {
            self.undo.pop();
        }
        self.undo.push(UndoEntry { of, what });
        if self.undo.len() > KEPT {
            self.undo.remove(0);
        }
        self.redo.clear();
    }

    /// What failed is asked again, of whom the run names by now: a change of that has been used.
    pub(super) fn run_used(&mut self) {
        for entry in &mut self.undo {
            if matches!(entry.what, UndoAction::Run(_)) {
                entry.what = UndoAction::Irreversible("the run was changed".to_owned());
            }
        }
    }

    fn undone(&mut self, of: Seq) {
        if let Some(place) = self.undo.iter().rposition(|u| u.of == of) {
            let entry = self.undo.remove(place);
            self.redo.push(entry);
        }
    }

    fn redone(&mut self, seq: Seq, of: Seq, what: UndoAction) {
        if let Some(place) = self.redo.iter().rposition(|u| u.of == of) {
            self.redo.remove(place);
            self.undo.push(UndoEntry { of: seq, what });
        }
    }

    /// Episode and turn as the screen counts them, for the source of a lesson: an open step is a turn.
    fn moment(&self) -> (u32, u32) {
        self.episode.as_ref().map_or((0, 0), |e| (e.number, e.steps.len() as u32))
    }
}

impl State {
    /// What a person did that only going back takes back, in words; none where it is something else, or a mere going on.
    /// The state is the one before the event.
    fn stays(&self, event: &Event) -> Option<&'static str> {
        let failed = |call: CallId| self.troubles().any(|(effect, _)| effect.call() == call);
        Some(match event {
            // Its memory went with the method.
            Event::RunChanged { spec } if self.run.as_ref().is_none_or(|run| run.method != spec.method) => {
                "the run was changed"
            }
            Event::PoolSettled { .. } => "a proposed change of the lessons was settled",
            Event::CallCancelled { .. } => "a call to a model was broken off",
            Event::GivenUp { call } if failed(*call) => "a failed call was given up",
            Event::GivenUp { .. } => "a call that was broken off was given up",
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
            Event::Retried { from: Some(_), .. } => "a recorded reply was taken in the model's place",
            Event::Retried { call: None, .. } => "the world was taken as it is now",
            _ => return None,
        })
    }
}
