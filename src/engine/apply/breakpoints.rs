//! Breakpoints and watches: their hits in a batch of events before it is written, and their events in the fold.

use crate::domain::{BreakpointConfig, BreakpointMark, Seq};
use crate::engine::breakpoints::BreakpointHit;
use crate::engine::{Cause, Engine, Envelope, Event, PauseReason, State};

impl Engine {
    /// Returns the events to write together with this batch: a hit for each condition that the batch makes true, and a
    /// pause if one of them is a breakpoint. Because they are written together, a crash can't lose the hit of a step,
    /// and a resumed run doesn't pause at the same event again.
    pub fn breakpoint_events(&self, batch: &[Envelope]) -> Vec<(Cause, Event)> {
        if !self.state.breakpoints.has_enabled() {
            return Vec::new();
        }
        let mut events: Vec<(Cause, Event)> = Vec::new();
        let mut hits: Vec<u32> = Vec::new();
        let mut pauses = false;
        let mut after = self.state.clone();
        for envelope in batch {
            let before = after.clone();
            after.apply(envelope);
            for found in (self.policy.breakpoints.find_hits)(&before, envelope, &after) {
                // A condition that becomes true twice in a batch is one hit.
                if hits.contains(&found.breakpoint) {
                    continue;
                }
                hits.push(found.breakpoint);
                pauses |= after.breakpoints.get(found.breakpoint).is_some_and(|b| !b.config.is_watch);
                events.push((
                    Cause::Policy,
                    Event::BreakpointHit {
                        breakpoint: found.breakpoint,
                        episode: after.episode.as_ref().map_or(0, |e| e.number),
                        step: found.step,
                        reason: found.reason,
                    },
                ));
            }
        }
        if pauses {
            let pause = if after.calls.is_empty() {
                Event::Paused { reason: PauseReason::Breakpoint }
            } else {
                Event::PauseRequested
            };
            events.push((Cause::Policy, pause));
        }
        events
    }
}

impl State {
    /// Records a hit and marks its step.
    pub(super) fn record_hit(
        &mut self,
        seq: Seq,
        breakpoint: u32,
        (episode, step): (u32, u32),
        reason: &str,
    ) {
        let is_watch = self.breakpoints.get(breakpoint).is_some_and(|b| b.config.is_watch);
        let hit = BreakpointHit {
            breakpoint,
            config: BreakpointConfig::default(),
            episode,
            step,
            reason: reason.to_owned(),
            seq,
        };
        self.breakpoints.record_hit(hit);
        self.edit_episode(|e| {
            if e.number == episode {
                e.edit_step(step, |s| {
                    s.breakpoint_marks.push(BreakpointMark {
                        breakpoint_number: breakpoint,
                        is_watch,
                        reason: reason.to_owned(),
                    });
                });
            }
        });
    }

    /// Updates the streaks after the last step was answered.
    pub(super) fn update_streaks(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.breakpoints.streaks.on_answer(episode);
        }
    }

    /// Updates the streaks after the detectors ran on the last step.
    pub(super) fn update_findings_streak(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.breakpoints.streaks.on_findings(episode);
        }
    }

    /// Resets the streaks and the cost counters at the start of an episode.
    pub(super) fn reset_streaks(&mut self) {
        self.breakpoints.streaks = crate::engine::breakpoints::Streaks::default();
        self.breakpoints.baseline.cost_at_start = self.usage.cost_nano();
        self.breakpoints.baseline.tokens_at_start = self.usage.tokens();
    }
}
