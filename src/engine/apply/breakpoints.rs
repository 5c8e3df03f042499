//! Breakpoints and watches: finds their hits in a batch of events before the batch is written, and folds their events.

use crate::domain::{BreakpointConfig, BreakpointMark, Seq};
use crate::engine::breakpoints::BreakpointHit;
use crate::engine::{Cause, Engine, Envelope, Event, PauseReason, State};

impl Engine {
    /// Returns the events to write together with this batch: a hit for each condition that the batch makes true, and a
    /// pause if any of them belongs to a breakpoint rather than a watch. Because a hit is written together with its
    /// cause, a crash can't lose the hit, and a resumed run doesn't pause at the same event again.
    pub fn breakpoint_events(&self, batch: &[Envelope]) -> Vec<(Cause, Event)> {
        if !self.state.breakpoints.has_enabled() {
            return Vec::new();
        }
        let mut events: Vec<(Cause, Event)> = Vec::new();
        let mut hits: Vec<u32> = Vec::new();
        let mut must_pause = false;
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
                must_pause |= after.breakpoints.get(found.breakpoint).is_some_and(|b| !b.config.is_watch);
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
        if must_pause {
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
    /// Records a hit and marks the step at which it occurred.
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
            // `Breakpoints::record_hit` fills it in.
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

    /// Updates the streaks that depend on the last step's thought, action and observation, once it is answered.
    pub(super) fn update_streaks(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.breakpoints.streaks.on_answer(episode);
        }
    }

    /// Updates the streak that depends on the detectors' findings, once they have examined the last step.
    pub(super) fn update_findings_streak(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.breakpoints.streaks.on_findings(episode);
        }
    }

    /// Resets the streaks at the start of an episode, and records the cost and tokens that the run has spent so far.
    pub(super) fn reset_streaks(&mut self) {
        self.breakpoints.streaks = crate::engine::breakpoints::Streaks::default();
        self.breakpoints.baseline.cost_at_start = self.usage.cost_nano();
        self.breakpoints.baseline.tokens_at_start = self.usage.tokens();
    }
}
