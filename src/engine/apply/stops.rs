//! Breakpoints and watches: their events in the fold, and the hits that a batch of events comes to before it is written.

use crate::domain::{Seq, Stop, StopMark};
use crate::engine::stops::Hit;
use crate::engine::{Cause, Engine, Envelope, Event, PauseReason, State};

impl Engine {
    /// The events that belong behind this batch in the same write: the conditions that it made true, and the pause for the
    /// first that stops. So no crash comes between a step and its stop, and going on never meets the same event again.
    /// Without breakpoints that are on this costs nothing.
    pub fn watched(&self, batch: &[Envelope]) -> Vec<(Cause, Event)> {
        if !self.state.stops.armed() {
            return Vec::new();
        }
        let mut events: Vec<(Cause, Event)> = Vec::new();
        let mut told: Vec<u32> = Vec::new();
        let mut stops = false;
        let mut now = self.state.clone();
        for envelope in batch {
            let before = now.clone();
            now.apply(envelope);
            for found in (self.policy.stops.look)(&before, envelope, &now) {
                // A batch is one moment: what comes true twice in it is one hit.
                if told.contains(&found.breakpoint) {
                    continue;
                }
                told.push(found.breakpoint);
                stops |= now.stops.get(found.breakpoint).is_some_and(|b| !b.stop.warn);
                events.push((
                    Cause::Policy,
                    Event::BreakpointHit {
                        breakpoint: found.breakpoint,
                        episode: now.episode.as_ref().map_or(0, |e| e.number),
                        step: found.step,
                        why: found.why,
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
    pub(super) fn hit(&mut self, seq: Seq, breakpoint: u32, (episode, step): (u32, u32), why: &str) {
        let warn = self.stops.get(breakpoint).is_some_and(|b| b.stop.warn);
        let hit = Hit { breakpoint, stop: Stop::default(), episode, step, why: why.to_owned(), seq };
        self.stops.hit(hit);
        self.edit_episode(|e| {
            if e.number == episode {
                e.edit_numbered(step, |s| s.stops.push(StopMark { breakpoint, warn, why: why.to_owned() }));
            }
        });
    }

    /// The last step was answered.
    pub(super) fn count_rows(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.stops.rows.answered(episode);
        }
    }

    /// The detectors have looked at the last step.
    pub(super) fn count_nothing(&mut self) {
        if let Some(episode) = self.episode.as_deref() {
            self.stops.rows.noted(episode);
        }
    }

    /// An episode begins: rows begin anew, and its own costs are counted from here.
    pub(super) fn begin_rows(&mut self) {
        self.stops.rows = crate::engine::stops::Rows::default();
        self.stops.meter.cost_begun = self.spent.cost_nano();
        self.stops.meter.tokens_begun = self.spent.tokens();
    }
}
