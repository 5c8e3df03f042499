//! Folds a person's acts into the step at which they happened, so that the story and every export show them there.

use crate::domain::{Author, Intervention, LessonOp, PersonAct, Seq};
use crate::engine::{Cause, Event, State};

impl State {
    /// Returns what an event that has been folded did, if it is of a kind that a person causes and that changes no text
    /// of a step.
    pub fn person_act(&self, event: &Event) -> Option<PersonAct> {
        Some(match event {
            Event::LessonChanged { op, author: Author::Person }
                if !matches!(**op, LessonOp::Recur { .. } | LessonOp::Measured { .. }) =>
            {
                let number = self.pool.get(op.id()).map_or(0, |lesson| lesson.number);
                PersonAct::Lesson { number, change: op.clone() }
            }
            Event::AskedAgain { unusable_reason: None, draft: None, .. } => PersonAct::AskedAgain,
            Event::SettingChanged { name, value } => {
                PersonAct::Setting { name: name.clone(), value: value.clone() }
            }
            Event::RunChanged { spec } => PersonAct::Run {
                method: spec.method.clone(),
                actor: spec.actor.clone(),
                mentor: spec.mentor.clone(),
            },
            Event::SummaryApplied { refused } => PersonAct::Summary { refused: refused.clone() },
            _ => return None,
        })
    }

    /// Records a person's act in the last step or, before the first step, in the episode. Before the first episode
    /// there is nothing to record it in. Must be called after the event is folded, when a new lesson has its number.
    pub(super) fn record_intervention(&mut self, seq: Seq, cause: Cause, event: &Event) {
        match event {
            Event::LessonUndone { target_seq, .. } | Event::EditUndone { target_seq, .. } => {
                self.edit_interventions(|act| act.undone |= act.seq == *target_seq);
            }
            Event::LessonRedone { target_seq, .. } | Event::EditRedone { target_seq, .. } => {
                self.edit_interventions(|act| {
                    if act.seq == *target_seq {
                        (act.seq, act.undone) = (seq, false);
                    }
                });
            }
            _ if cause != Cause::Person => {}
            _ => {
                let Some(act) = self.person_act(event) else { return };
                let intervention = Intervention { seq, act, undone: false };
                self.edit_episode(|e| match e.steps.len() as u32 {
                    0 => e.interventions.push(intervention),
                    last => e.edit_step(last, |s| s.interventions.push(intervention)),
                });
            }
        }
    }

    /// Edits the interventions that can still be undone: those before the first step and at the last two. The last step
    /// may have been opened without a prompt, which would have used earlier ones.
    fn edit_interventions(&mut self, mut edit: impl FnMut(&mut Intervention)) {
        self.edit_episode(|e| {
            let last = e.steps.len() as u32;
            for number in last.saturating_sub(1)..=last {
                e.edit_step(number, |s| s.interventions.iter_mut().for_each(&mut edit));
            }
            e.interventions.iter_mut().for_each(edit);
        });
    }
}
