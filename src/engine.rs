//! The episode engine: four pure functions around one state.
//!
//! [`Engine::decide`] turns a command or a reply into events, [`Engine::advance`] returns the events that follow
//! without input, [`State::apply`] folds an event into the state, and [`effect_of`] returns the work that the driver
//! has to do for an event. Nothing here waits, reads a clock or draws random numbers. The driver adds a timestamp to
//! every event and writes the event to the journal before the event is applied.

mod advance;
mod advice;
mod apply;
mod breakpoints;
mod carried_reward;
mod clock;
mod command;
mod corrected_tokens;
mod decide;
mod effect;
mod envelope;
mod episode;
mod event;
mod last_advice;
mod limits;
mod method_guard;
mod no_action_warning;
mod policy;
mod pool;
mod prefetch;
mod replay_start;
mod reply_tally;
mod samples;
mod seed;
mod state;
mod token_ratio;
mod undo_action;
mod waiting_prompts;

pub use advance::episode_end;
pub use breakpoints::{
    Breakpoint, BreakpointHit, Breakpoints, EpisodeBaseline, MAX_BREAKPOINTS, Streak, Streaks,
};
pub use carried_reward::CarriedReward;
pub use clock::Clock;
pub use command::{Command, CommandError, Input, LessonCommand};
pub use effect::{Effect, effect_of};
pub use envelope::{Cause, Envelope};
pub use episode::{Episode, NoteTally};
pub use event::{Event, Failure, PauseReason};
pub use last_advice::LastAdvice;
pub use policy::{
    BreakpointMatch, BreakpointRules, Computed, DetectFn, DraftPromptFn, FindHitsFn, HasKnownFormFn, Intent,
    MentorReply, Method, OutgoingAction, ParseConditionFn, ParseMentorReplyFn, ParsedActorReply,
    ParsedMentorReply, Policy, PromptDraft, PromptRequest, add_all_lessons,
};
pub use pool::Pool;
pub use prefetch::{Prefetch, PrefetchStats, PrefetchStatus};
pub use replay_start::{Attempt, ReplayStart};
pub use reply_tally::ReplyTally;
pub use samples::OpenSamples;
pub use seed::{request_seed, seeded_episode};
pub use state::{Grant, Remark, RunStatus, State, UsageTotals};
pub use token_ratio::TokenRatio;
pub use undo_action::{UndoAction, UndoEntry};

mod reply;
pub use reply::Reply;

use crate::domain::BranchId;

/// The state of a session and the pure functions that decide on its next events.
pub struct Engine {
    /// The state after all events so far.
    pub state: State,
    pub policy: Policy,
    /// The branch the events are written to; part of the id of every lesson added on it.
    pub branch: BranchId,
}

impl Engine {
    /// Creates an engine for a new session, which has no events yet and begins on the trunk.
    pub fn new(policy: Policy) -> Self {
        Self::resume(State::default(), policy, BranchId::trunk())
    }

    /// Creates an engine that continues `branch` from `state`, the state after all its events so far.
    pub fn resume(state: State, policy: Policy, branch: BranchId) -> Self {
        Self { state, policy, branch }
    }
}

#[cfg(test)]
mod tests;
