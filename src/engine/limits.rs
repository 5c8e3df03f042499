//! The limits of an episode, checked in one place.

use super::{Episode, State};
use crate::domain::EndReason;

impl State {
    /// Returns whether the open episode must end after its last answered step: the environment is done, the loop
    /// detector found a repetition, a limit is reached, or reflections in it repeated each other.
    pub fn is_episode_ending(&self) -> bool {
        end_reason(self).is_some()
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
    if run.loop_detector && is_repeating(episode) {
        return Some(EndReason::Loop);
    }
    // `moves` counts only actions other than thoughts.
    let counted = if run.settings.typed().thoughts_count { episode.answered_steps() } else { episode.moves };
    // Even if thoughts don't count against the step limit, an episode has at most four times as many steps, which
    // allows three thoughts per action on average, as in AgentBoard.
    let too_many_thoughts = episode.answered_steps() >= run.limits.steps.saturating_mul(4);
    if counted >= run.limits.steps || too_many_thoughts {
        return Some(EndReason::StepLimit);
    }
    if run.limits.moves.is_some_and(|limit| episode.moves >= limit) {
        return Some(EndReason::MoveLimit);
    }
    // A person may play the task again after it has ended early.
    if state.early_stop(&episode.task).is_some_and(|reflection| reflection.episode == episode.number) {
        return Some(EndReason::RepeatedAdvice);
    }
    None
}

/// Returns whether the last two executed actions are equal; a thought counts as an action. As in Reflexion's public
/// code, `A, B, B` is a repetition and `A, B, A, B` isn't.
fn is_repeating(episode: &Episode) -> bool {
    let n = episode.answered_steps();
    match (episode.step(n), n.checked_sub(1).and_then(|m| episode.step(m))) {
        (Some(a), Some(b)) => match (&a.executed, &b.executed) {
            (Some(a), Some(b)) => a.action == b.action,
            _ => false,
        },
        _ => false,
    }
}
