//! Breakpoints and watches in the state, and the streaks and baselines that their conditions read, so that no condition
//! has to look further back than the last step.

use super::{Episode, Event};
use crate::domain::{BreakpointConfig, Note, Seq, Step};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of breakpoints and watches in a session; each is evaluated at every event.
pub const MAX_BREAKPOINTS: usize = 99;

/// All breakpoint state. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breakpoints {
    /// Breakpoints and watches by number, including disabled ones.
    pub all: Arc<Vec<Breakpoint>>,
    /// The highest number assigned so far.
    pub last_number: u32,
    /// The hit at which the session is paused; cleared when it continues.
    pub current_hit: Option<Arc<BreakpointHit>>,
    /// The last hit of any breakpoint or watch.
    pub last_hit: Option<Arc<BreakpointHit>>,
    pub streaks: Streaks,
    /// Time, cost and tokens used before the open episode.
    pub baseline: EpisodeBaseline,
}

/// A breakpoint or watch, with its hits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// Its number in the session, from 1; never reused.
    pub number: u32,
    /// Its condition and kind.
    #[serde(flatten)]
    pub config: BreakpointConfig,
    pub enabled: bool,
    /// How many times it was hit.
    pub hits: u32,
    /// The last hit.
    pub last: Option<Arc<BreakpointHit>>,
}

/// One hit of a breakpoint or watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakpointHit {
    /// Number of the breakpoint or watch.
    pub breakpoint: u32,
    /// Its condition and kind at that time.
    pub config: BreakpointConfig,
    /// The episode; 0 before the first.
    pub episode: u32,
    /// The step; 0 is the reset.
    pub step: u32,
    /// Why the condition is true: a sentence without its full stop.
    pub reason: String,
    /// The event that recorded the hit.
    pub seq: Seq,
}

/// A run of consecutive steps with the same property. Thought-only steps are skipped, except in streaks of thoughts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    /// Length so far; 0 if the last step doesn't have the property.
    pub count: u32,
    /// The first step.
    pub first: u32,
    /// The last step.
    pub last: u32,
}

/// The streaks of the open episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streaks {
    /// Steps in which nothing happened, according to the detectors.
    pub nothing: Streak,
    /// Steps whose action the environment rejected.
    pub invalid: Streak,
    /// Steps with the same action.
    pub action: Streak,
    /// Steps with the same observation.
    pub observation: Streak,
    /// Steps with the same thought.
    pub thought: Streak,
}

/// What the run had already used when the open episode began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeBaseline {
    /// Active time of the episodes before the open or last one.
    #[serde(rename = "earlier_time")]
    pub time_before_episode: Duration,
    /// Cost when the open episode began, in billionths of the currency unit.
    pub cost_at_start: u64,
    pub tokens_at_start: u64,
}

impl Breakpoints {
    /// Returns the breakpoint or watch with this number.
    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.all.iter().find(|b| b.number == number)
    }

    /// Returns whether any breakpoint or watch is enabled.
    pub fn has_enabled(&self) -> bool {
        self.all.iter().any(|b| b.enabled)
    }

    /// Returns the events that turn `old` into these breakpoints. A new branch begins with the breakpoints of the point
    /// that it is forked from (`old`); these events give it the current ones. A breakpoint whose condition is unchanged
    /// keeps the hits it has in `old`.
    pub fn events_to_replace(&self, old: &Self) -> Vec<Event> {
        let removed = old.all.iter().filter(|b| self.get(b.number).is_none());
        let mut events: Vec<Event> =
            removed.map(|b| Event::BreakpointRemoved { breakpoint: b.number }).collect();
        for new in self.all.iter() {
            let breakpoint = new.number;
            let mut enabled = old.get(breakpoint).map(|b| b.enabled);
            if old.get(breakpoint).is_none_or(|b| b.config != new.config) {
                events.push(Event::BreakpointSet { breakpoint, config: new.config.clone() });
                enabled = Some(true);
            }
            if enabled != Some(new.enabled) {
                events.push(Event::BreakpointSwitched { breakpoint, enabled: new.enabled });
            }
        }
        events
    }

    /// Adds a breakpoint or watch, or replaces the condition of an existing one.
    pub(super) fn set(&mut self, number: u32, config: &BreakpointConfig) {
        self.last_number = self.last_number.max(number);
        let all = Arc::make_mut(&mut self.all);
        match all.iter_mut().find(|b| b.number == number) {
            // The condition is unchanged, so the breakpoint keeps its hits.
            Some(old) if old.config.condition == config.condition => {
                (old.config, old.enabled) = (config.clone(), true);
            }
            Some(old) => *old = Breakpoint::new(number, config),
            None => all.push(Breakpoint::new(number, config)),
        }
    }

    pub(super) fn set_enabled(&mut self, number: u32, enabled: bool) {
        if let Some(b) = Arc::make_mut(&mut self.all).iter_mut().find(|b| b.number == number) {
            b.enabled = enabled;
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        Arc::make_mut(&mut self.all).retain(|b| b.number != number);
    }

    /// Records a hit, and counts it if the breakpoint still exists. A hit of a breakpoint that doesn't exist is
    /// recorded too, because the journal says that it happened.
    pub(super) fn record_hit(&mut self, mut hit: BreakpointHit) {
        let breakpoint = Arc::make_mut(&mut self.all).iter_mut().find(|b| b.number == hit.breakpoint);
        if let Some(b) = breakpoint {
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
        if !hit.config.is_watch {
            self.current_hit = Some(hit.clone());
        }
        self.last_hit = Some(hit);
    }
}

impl Breakpoint {
    fn new(number: u32, config: &BreakpointConfig) -> Self {
        Self { number, config: config.clone(), enabled: true, hits: 0, last: None }
    }
}

impl BreakpointHit {
    /// Returns the message for a person: which breakpoint it was, and why it was hit.
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
    /// Updates the streak with a step. `holds` says whether the step has the property, `continues` whether it has the
    /// same value of it (for example the same action) as the last step of the streak.
    fn update(&mut self, step: u32, holds: bool, continues: bool) {
        *self = match (holds, continues && self.count > 0) {
            (false, _) => Self::default(),
            (true, true) => Self { count: self.count.saturating_add(1), last: step, ..*self },
            (true, false) => Self { count: 1, first: step, last: step },
        };
    }
}

impl Streaks {
    /// Updates the streaks with the last step, which the environment has just answered.
    pub(super) fn on_answer(&mut self, episode: &Episode) {
        let Some(step) = episode.last_step() else { return };
        let number = step.number;
        let last_step_of = |streak: Streak| episode.step(streak.last);
        if let Some(thought) = step.thought_text() {
            let same = last_step_of(self.thought).and_then(Step::thought_text) == Some(thought);
            self.thought.update(number, true, same);
        }
        if step.is_thought_only() {
            return;
        }
        let same =
            last_step_of(self.action).and_then(Step::action).map(str::trim) == step.action().map(str::trim);
        self.action.update(number, step.action().is_some(), same);
        let same = last_step_of(self.observation).and_then(Step::observation) == step.observation();
        self.observation.update(number, true, same);
        let rejected = step.answer.as_ref().is_some_and(|a| !a.valid);
        self.invalid.update(number, rejected, true);
    }

    /// Updates the streaks with the detectors' findings on the last step.
    pub(super) fn on_findings(&mut self, episode: &Episode) {
        let Some(step) = episode.last_step().filter(|s| !s.is_thought_only()) else { return };
        let noted = step.notes.iter().any(|n| n.detector == Note::NOTHING_HAPPENED);
        // An environment without such a detector still rejects actions.
        let nothing = noted || step.answer.as_ref().is_some_and(|answer| !answer.valid);
        self.nothing.update(step.number, nothing, true);
    }
}
