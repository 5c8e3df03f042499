//! Breakpoints and watches as the fold knows them, and the tallies that their conditions read, so that no condition has to
//! look further back than the last step.

use super::{Episode, Event};
use crate::domain::{BreakpointConfig, Seq, Step};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// How many a session holds at most: each is asked at every event.
pub const MAX_BREAKPOINTS: usize = 99;

/// All that concerns stops. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breakpoints {
    /// Breakpoints and watches by number, those that are switched off among them.
    pub all: Arc<Vec<Breakpoint>>,
    /// The highest number that was given.
    pub last_number: u32,
    /// The hit for which the session stands still, until it goes on.
    pub current_hit: Option<Arc<BreakpointHit>>,
    /// The last hit of any breakpoint or watch.
    pub last_hit: Option<Arc<BreakpointHit>>,
    /// What goes on in a row.
    pub streaks: Streaks,
    /// What was spent before the open episode.
    pub baseline: EpisodeBaseline,
}

/// A breakpoint, or a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// Its number in the session, from 1; never given twice.
    pub number: u32,
    /// Its condition, and what it does.
    #[serde(flatten)]
    pub config: BreakpointConfig,
    /// Whether it is looked at.
    pub enabled: bool,
    /// How often it came true.
    pub hits: u32,
    /// Where it did so last.
    pub last: Option<Arc<BreakpointHit>>,
}

/// A condition that came true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakpointHit {
    /// The breakpoint's number.
    pub breakpoint: u32,
    /// Its condition then, and what it does.
    pub config: BreakpointConfig,
    /// The episode; 0 before the first.
    pub episode: u32,
    /// The step; 0 is the reset.
    pub step: u32,
    /// Why, as a sentence without its dot.
    pub reason: String,
    /// The event that says so.
    pub seq: Seq,
}

/// The same thing step after step. Steps that only think are passed over, but for rows of thoughts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    /// How often by now; 0: the last step was none of them.
    pub count: u32,
    /// The step it began with.
    pub first: u32,
    /// The last step of it.
    pub last: u32,
}

/// What goes on in a row in the open episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streaks {
    /// Steps in which nothing happened, by the detectors.
    pub nothing: Streak,
    /// Steps that the world did not accept.
    pub invalid: Streak,
    /// Steps with the same action.
    pub action: Streak,
    /// Steps with the same observation.
    pub observation: Streak,
    /// Steps with the same thought.
    pub thought: Streak,
}

/// What the run had spent when the open episode began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeBaseline {
    /// The moving time of the episodes before the open or last one.
    pub earlier_time: Duration,
    /// Costs when the open episode began, in billionths of the prices' unit.
    pub cost_at_start: u64,
    /// Tokens when the open episode began.
    pub tokens_at_start: u64,
}

impl Breakpoints {
    /// One of them by its number.
    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.all.iter().find(|b| b.number == number)
    }

    /// Something has to be looked at.
    pub fn has_enabled(&self) -> bool {
        self.all.iter().any(|b| b.enabled)
    }

    /// The events that make the breakpoints and watches of another line those of this one, as they are now: what a branch
    /// takes along when it goes on from a past that knows others. Those that are the same keep their hits there.
    pub fn events_to_replace(&self, there: &Self) -> Vec<Event> {
        let gone = there.all.iter().filter(|b| self.get(b.number).is_none());
        let mut events: Vec<Event> =
            gone.map(|b| Event::BreakpointRemoved { breakpoint: b.number }).collect();
        for here in self.all.iter() {
            let breakpoint = here.number;
            let mut on = there.get(breakpoint).map(|b| b.enabled);
            if there.get(breakpoint).is_none_or(|b| b.config != here.config) {
                events.push(Event::BreakpointSet { breakpoint, config: here.config.clone() });
                on = Some(true);
            }
            if on != Some(here.enabled) {
                events.push(Event::BreakpointSwitched { breakpoint, enabled: here.enabled });
            }
        }
        events
    }

    /// Sets a new one, or puts another condition in the place of one.
    pub(super) fn set(&mut self, number: u32, stop: &BreakpointConfig) {
        self.last_number = self.last_number.max(number);
        let all = Arc::make_mut(&mut self.all);
        match all.iter_mut().find(|b| b.number == number) {
            // Its hits are those of its condition.
            Some(old) if old.config.condition == stop.condition => {
                (old.config, old.enabled) = (stop.clone(), true);
            }
            Some(old) => *old = Breakpoint::new(number, stop),
            None => all.push(Breakpoint::new(number, stop)),
        }
    }

    pub(super) fn set_enabled(&mut self, number: u32, on: bool) {
        if let Some(b) = Arc::make_mut(&mut self.all).iter_mut().find(|b| b.number == number) {
            b.enabled = on;
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        Arc::make_mut(&mut self.all).retain(|b| b.number != number);
    }

    /// Counts a hit. Of one that is not there it is kept all the same: the event says that it was.
    pub(super) fn record_hit(&mut self, mut hit: BreakpointHit) {
        let of = Arc::make_mut(&mut self.all).iter_mut().find(|b| b.number == hit.breakpoint);
        if let Some(b) = of {
            hit.config = b.config.clone();
            b.hits = b.hits.saturating_add(1);
            b.enabled &= !b.config.once;
            let hit = Arc::new(hit);
            b.last = Some(hit.clone());
            self.store_hit(hit);
        } else {
            self.store_hit(Arc::new(hit));
        }
    }

    fn store_hit(&mut self, hit: Arc<BreakpointHit>) {
        if !hit.config.warn {
            self.current_hit = Some(hit.clone());
        }
        self.last_hit = Some(hit);
    }
}

impl Breakpoint {
    fn new(number: u32, stop: &BreakpointConfig) -> Self {
        Self { number, config: stop.clone(), enabled: true, hits: 0, last: None }
    }
}

impl BreakpointHit {
    /// What a person is told: which one it was, and why.
    pub fn describe(&self) -> String {
        format!(
            "{} {} `{}`: {}",
            self.config.kind_name(),
            self.breakpoint,
            self.config.condition,
            self.reason
        )
    }
}

impl Streak {
    fn update(&mut self, step: u32, holds: bool, goes_on: bool) {
        *self = match (holds, goes_on && self.count > 0) {
            (false, _) => Self::default(),
            (true, true) => Self { count: self.count.saturating_add(1), last: step, ..*self },
            (true, false) => Self { count: 1, first: step, last: step },
        };
    }
}

impl Streaks {
    /// Takes in the last step, which the world has just answered.
    pub(super) fn on_answer(&mut self, episode: &Episode) {
        let Some(step) = episode.last_step() else { return };
        let number = step.number;
        let before = |row: Streak| episode.step(row.last);
        if let Some(thought) = step.thought_text() {
            let same = before(self.thought).and_then(Step::thought_text) == Some(thought);
            self.thought.update(number, true, same);
        }
        if step.is_thought_only() {
            return;
        }
        let same = before(self.action).and_then(Step::action).map(str::trim) == step.action().map(str::trim);
        self.action.update(number, step.action().is_some(), same);
        let same = before(self.observation).and_then(Step::observation) == step.observation();
        self.observation.update(number, true, same);
        let refused = step.answer.as_ref().is_some_and(|a| !a.valid);
        self.invalid.update(number, refused, true);
    }

    /// Takes in what the detectors say of the last step.
    pub(super) fn on_findings(&mut self, episode: &Episode) {
        let Some(step) = episode.last_step().filter(|s| !s.is_thought_only()) else { return };
        let nothing = step.notes.iter().any(|n| n.detector == "nothing_happened");
        self.nothing.update(step.number, nothing, true);
    }
}
