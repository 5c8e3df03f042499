//! The small changes that folding an event is made of.

use crate::domain::{EndReason, Seen, Seq, Stage, Step, Turn, merge_patch};
use crate::engine::{Episode, Event, State};
use std::sync::Arc;

impl State {
    pub(super) fn edit_episode(&mut self, edit: impl FnOnce(&mut Episode)) {
        if let Some(episode) = &mut self.episode {
            edit(Arc::make_mut(episode));
        }
    }

    pub(super) fn edit_step(&mut self, seq: Seq, edit: impl FnOnce(&mut Step)) {
        self.edit_episode(|e| {
            let last = e.steps.len() as u32;
            e.edit_numbered(last, |s| {
                edit(s);
                s.last_seq = seq;
            });
        });
    }
}

impl Episode {
    pub(super) fn edit_numbered(&mut self, number: u32, edit: impl FnOnce(&mut Step)) {
        let Some(place) = (number as usize).checked_sub(1) else { return };
        let Some(step) = self.steps.get_mut(place) else { return };
        edit(Arc::make_mut(step));
    }

    pub(super) fn absorb(&mut self, turn: &Turn) {
        if !turn.shown.is_null() {
            merge_patch(Arc::make_mut(&mut self.shown), &turn.shown);
        }
        if !turn.truth.is_null() {
            merge_patch(Arc::make_mut(&mut self.truth), &turn.truth);
        }
        if turn.progress > self.progress {
            self.progress_step = self.steps.len() as u32;
        }
        self.progress = turn.progress;
        if !turn.valid && !self.steps.last().is_none_or(|s| s.only_thinks()) {
            self.invalid += 1;
        }
    }
}

impl Step {
    pub(super) fn clear_proposal(&mut self) {
        self.thought = None;
        self.proposed = None;
        self.complaints.clear();
        self.approved = false;
        self.executed = None;
        self.stage = Stage::Prompt;
        self.retry += 1;
    }
}

pub(super) fn seen_of(turn: &Turn, seen: Option<&String>) -> Seen {
    Seen {
        raw: turn.observation.clone(),
        seen: seen.cloned(),
        reward: turn.reward,
        progress: turn.progress,
        done: turn.done,
        won: turn.won,
        valid: turn.valid,
    }
}

/// Events of a person that make an episode assisted (DESIGN 1: override, lesson change, reject, edited text).
pub(super) fn touches_episode(event: &Event) -> bool {
    match event {
        Event::EpisodeEnded { summary } => summary.reason == EndReason::Person,
        _ => matches!(
            event,
            Event::ActionOverridden { .. }
                | Event::ProposalRejected { .. }
                | Event::AskedAgain { .. }
                | Event::CallCancelled { .. }
                | Event::SettingChanged { .. }
                | Event::LessonChanged { .. }
                | Event::Undone { .. }
                | Event::Redone { .. }
                | Event::Reflected { .. }
        ),
    }
}
