//! The bounds of an episode, checked at one point.

use super::State;
use crate::domain::EndReason;

/// Why the open episode must end now, if it must. Asked only when its last step is answered.
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
    let counted =
        if run.settings.flag("thoughts_count", true) { episode.answered_steps() } else { episode.moves };
    // Thoughts that do not count still come to an end: three before each action, as AgentBoard has it.
    let endless = episode.answered_steps() >= run.limits.steps.saturating_mul(4);
    if counted >= run.limits.steps || endless {
        return Some(EndReason::StepLimit);
    }
    if run.limits.moves.is_some_and(|cap| episode.moves >= cap) {
        return Some(EndReason::MoveLimit);
    }
    None
}

/// Two equal action strings follow each other, thoughts included (Reflexion's public code; `A, B, B` fires, `A, B, A, B` never).
fn is_repeating(episode: &super::Episode) -> bool {
    let n = episode.answered_steps();
    match (episode.step(n), n.checked_sub(1).and_then(|m| episode.step(m))) {
        (Some(a), Some(b)) => match (&a.executed, &b.executed) {
            (Some(a), Some(b)) => a.action == b.action,
            _ => false,
        },
        _ => false,
    }
}
