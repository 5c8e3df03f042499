//! The limits of an episode, checked in one place.

use super::{Episode, State};
use crate::domain::{EndReason, RunSpec};

impl State {
    /// Returns whether the open episode must end after its last answered step: the environment is done, the loop
    /// detector found a repetition, a limit is reached, or reflections in it repeated each other.
    pub fn is_episode_ending(&self) -> bool {
        end_reason(self).is_some()
    }

    /// Returns whether a limit ends the open episode after the answer to its open step, whatever the environment answers.
    pub fn is_last_step_allowed(&self) -> bool {
        let (Some(run), Some(episode)) = (&self.run, self.open_episode()) else { return false };
        // `moves` counts an action when it is sent.
        reached_limit(run, episode, episode.steps.len() as u32).is_some()
    }
}

/// Returns why the open episode must end now, or `None` if it may continue. Call this only if every step has been
/// answered.
pub(super) fn end_reason(state: &State) -> Option<EndReason> {
    let run = state.run.as_ref()?;
    let episode = state.open_episode()?;
    let (won, done) =
        match episode.last_step().and_then(|s| s.answer.as_ref()).or(episode.first_observation.as_ref()) {
            Some(answer) => (answer.won, answer.done),
            None => return None,
        };
    if done {
        return Some(if won { EndReason::Won } else { EndReason::Done });
    }
    if let Some(reason) = reached_limit(run, episode, episode.answered_steps()) {
        return Some(reason);
    }
    // A person may play the task again after it has ended early.
    if state.early_stop(&episode.task).is_some_and(|reflection| reflection.episode == episode.number) {
        return Some(EndReason::RepeatedAdvice);
    }
    None
}

/// Returns the limit that an episode with this number of answered steps has reached.
fn reached_limit(run: &RunSpec, episode: &Episode, answered: u32) -> Option<EndReason> {
    if run.loop_detector && is_repeating(episode, answered) {
        return Some(EndReason::Loop);
    }
    // `moves` counts only actions other than thoughts.
    let counted = if run.settings.typed().thoughts_count { answered } else { episode.moves };
    // Even if thoughts don't count against the step limit, an episode has at most four times as many steps, which
    // allows three thoughts per action on average, as in AgentBoard.
    let too_many_thoughts = answered >= run.limits.steps.saturating_mul(4);
    if counted >= run.limits.steps || too_many_thoughts {
        return Some(EndReason::StepLimit);
    }
    run.limits.moves.is_some_and(|limit| episode.moves >= limit).then_some(EndReason::MoveLimit)
}

/// Returns whether the actions of step `n` and the one before it are equal; a thought counts as an action. As in Reflexion's public
/// code, `A, B, B` is a repetition and `A, B, A, B` isn't.
fn is_repeating(episode: &Episode, n: u32) -> bool {
    match (episode.step(n), n.checked_sub(1).and_then(|m| episode.step(m))) {
        (Some(a), Some(b)) => match (&a.executed, &b.executed) {
            (Some(a), Some(b)) => a.action == b.action,
            _ => false,
        },
        _ => false,
    }
}
