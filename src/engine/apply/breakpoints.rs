//! Breakpoints and watches: their events in the fold, and the hits that a batch of events comes to before it is written.

use crate::domain::{BreakpointConfig, BreakpointMark, Seq};
use crate::engine::breakpoints::BreakpointHit;
use crate::engine::{Cause, Engine, Envelope, Event, PauseReason, State};

impl Engine {
    /// The events that belong behind this batch in the same write: the conditions that it made true, and the pause for the
    /// first that stops. So no crash comes between a step and its stop, and going on never meets the same event again.
    /// Without breakpoints that are on this costs nothing.
    pub fn breakpoint_events(&self, batch: &[Envelope]) -> Vec<(Cause, Event)> {
        if !self.state.breakpoints.has_enabled() {
            return Vec::new();
        }
        let mut events: Vec<(Cause, Event)> = Vec::new();
        let mut told: Vec<u32> = Vec::new();
        let mut stops = false;
        let mut now = self.state.clone();
        for envelope in batch {
            let before = now.clone();
            now.apply(envelope);
            for found in (self.policy.breakpoints.find_hits)(&before, envelope, &now) {
                // A batch is one moment: what comes true twice in it is one hit.
                if told.contains(&found.breakpoint) {
                    continue;
                }
                told.push(found.breakpoint);
                stops |= now.breakpoints.get(found.breakpoint).is_some_and(|b| !b.config.warn);
                events.push((
                    Cause::Policy,
                    Event::BreakpointHit {
                        breakpoint: found.breakpoint,
                        episode: now.episode.as_ref().map_or(0, |e| e.number),
                        step: found.step,
                        reason: found.reason,
                    },
                ));
            }
        }
        if stops {
            let pause = if now.calls.is_empty() {
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
    pub(super) fn record_hit(&mut self, seq: Seq, breakpoint: u32, (episode, step): (u32, u32), why: &str) {
        let warn = self.breakpoints.get(breakpoint).is_some_and(|b| b.config.warn);
        let hit = BreakpointHit {
            breakpoint,
            config: BreakpointConfig::default(),
            episode,
            step,
            reason: why.to_owned(),
            seq,
        };
        self.breakpoints.record_hit(hit);
        self.edit_episode(|e| {
            if e.number == episode {
                e.edit_step(step, |s| {
                    s.breakpoint_marks.push(BreakpointMark { breakpoint, warn, reason: why.to_owned() });
                });
            }
        });
    }

    /// The last step was answered.
    pub(super) fn update_streaks(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.breakpoints.streaks.on_answer(episode);
        }
    }

    /// The detectors have looked at the last step.
    pub(super) fn update_findings_streak(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.breakpoints.streaks.on_findings(episode);
        }
    }

    /// An episode begins: rows begin anew, and its own costs are counted from here.
    pub(super) fn reset_streaks(&mut self) {
        self.breakpoints.streaks = crate::engine::breakpoints::Streaks::default();
        self.breakpoints.baseline.cost_at_start = self.usage.cost_nano();
        self.breakpoints.baseline.tokens_at_start = self.usage.tokens();
    }
}
