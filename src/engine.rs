//! The episode engine: four pure functions around one state.
//!
//! [`Engine::decide`] turns a command or a reply into events, [`Engine::advance`] says what comes next of itself,
//! [`State::apply`] folds an event into the state, and [`effect_of`] says what an event asks of the outside.
//! Nothing here waits, reads a clock or draws chance; the driver stamps and journals every event before it is applied.

mod advance;
mod ahead;
mod apply;
mod clock;
mod command;
mod decide;
mod effect;
mod envelope;
mod event;
mod limits;
mod measure;
mod policy;
mod pool;
mod replay_seed;
mod reply_tally;
mod seed;
mod state;
mod stops;
mod switch;
mod undo_action;
mod waiting;

pub use advance::end as episode_end;
pub use ahead::{AheadNow, AskedAhead, PrefetchStats};
pub use clock::Clock;
pub use command::{Command, CommandError, Input, LessonCommand};
pub use effect::{Effect, effect_of};
pub use envelope::{Cause, Envelope};
pub use event::{Event, Failure, PauseReason};
pub use measure::Measure;
pub use policy::{
    Ask, Detect, Draft, Drafter, Found, Intent, MentorReading, MentorReply, Method, Outgoing, Policy,
    Reading, StopLook, StopRead, StopRules, keep,
};
pub use pool::Pool;
pub use replay_seed::{Attempt, FROM_NUMBER, FROM_TRIAL, ReplaySeed, only_trial};
pub use reply_tally::ReplyTally;
pub use seed::{FROM_EPISODE, FROM_SESSION, FROM_TASKS, request_seed, seeded_episode};
pub use state::{Episode, Grant, NoteTally, Pace, Spent, State};
pub use stops::{Breakpoint, Hit, MOST_BREAKPOINTS, Meter, Row, Rows, Stops};
pub use switch::with_model;
pub use undo_action::{UndoAction, UndoEntry};

mod reply;
pub use reply::Reply;

use crate::domain::BranchId;

/// The state, and the pure policy it is run by.
pub struct Engine {
    /// The fold of all events so far.
    pub state: State,
    /// What decides on the next move.
    pub policy: Policy,
    /// The branch its events are written to: part of the id of every lesson that begins there.
    pub branch: BranchId,
}

impl Engine {
    /// An engine before its first event, on the trunk.
    pub fn new(policy: Policy) -> Self {
        Self::resume(State::default(), policy, BranchId::trunk())
    }

    /// An engine that goes on from a folded state, on a branch.
    pub fn resume(state: State, policy: Policy, branch: BranchId) -> Self {
        Self { state, policy, branch }
    }
}

#[cfg(test)]
mod tests;
