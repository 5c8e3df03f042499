//! Finds the point of a session before a step's prompt.

use super::starting_point::Moment;
use crate::domain::{Lesson, Seq};
use crate::engine::State;
use crate::timeline::Timeline;

/// Why an episode can't be played on from a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentError {
    /// The open or last episode of the branch has no such step.
    NoStep,
    /// The events before the step can't be read.
    Unreadable,
}

/// Returns the point before the prompt of a step of the branch's open or last episode, with the lessons to measure in force
/// there.
///
/// # Errors
/// Returns [`MomentError`] if there is no such step, or if its past can't be read.
pub fn moment_before_step(
    timeline: &Timeline,
    step: u32,
    lessons: Vec<Lesson>,
) -> Result<Moment, MomentError> {
    moment_as_of(timeline, timeline.head(), step, lessons)
}

/// The same as [`moment_before_step`] when `asked` was the end of the branch.
pub(super) fn moment_as_of(
    timeline: &Timeline,
    asked: &State,
    step: u32,
    lessons: Vec<Lesson>,
) -> Result<Moment, MomentError> {
    let episode = asked.episode.clone().ok_or(MomentError::NoStep)?;
    let next = episode.answered_steps() + 1;
    let first = match episode.step(step) {
        Some(step) => step.first_seq,
        // The prompt of the next step isn't drafted yet.
        None if step == next && episode.outcome.is_none() => Seq(asked.head.0 + 1),
        None => return Err(MomentError::NoStep),
    };
    let mut at = Seq(first.0.saturating_sub(1));
    // A prompt's batch begins with the texts that it defines.
    while let Some(event) = timeline.event(at).filter(|event| event.batch_continues) {
        at = Seq(event.seq.0.saturating_sub(1));
    }
    let state = timeline.state_at(at);
    let open = state.open_episode().filter(|open| open.number == episode.number);
    let is_settled =
        open.is_some_and(|open| open.first_observation.is_some() && open.answered_steps() + 1 == step);
    if !is_settled || !state.calls.is_empty() {
        return Err(MomentError::Unreadable);
    }
    Ok(Moment { state, past: timeline.clone(), lessons })
}
