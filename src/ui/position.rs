//! Positions in time: where a step or an episode of the session ends.

use crate::domain::Seq;
use crate::engine::{Episode, State};
use crate::ui::frame_data::Context;
use crate::ui::types::Cursor;

/// Returns the position after a step of the episode on screen. See [`cursor_after`].
pub(crate) fn cursor_after_step(context: &Context<'_>, number: u32) -> Option<Cursor> {
    cursor_after(context, context.episode()?.number, number)
}

/// Returns the position after a step of an episode. After its last step that is the episode's end, or the present if
/// the episode is the latest one. Returns `None` if the session has no such episode.
///
/// The state of an episode that is neither on screen nor the latest is restored, which can be slow.
pub(crate) fn cursor_after(context: &Context<'_>, episode: u32, number: u32) -> Option<Cursor> {
    let head: &State = &context.frame.head;
    let has_number = |e: &&Episode| e.number == episode;
    let latest = head.episode.as_deref().filter(has_number);
    let ended = head.ended_episodes.iter().rev().find(|p| p.number == episode);
    let before_next = |e: &Episode| {
        let next = e.step(number + 1)?;
        Some(Cursor::At(Seq(next.first_seq.0.saturating_sub(1))))
    };
    let next = match (context.episode().filter(has_number).or(latest), ended) {
        (Some(known), _) => before_next(known),
        (None, Some(ended)) => {
            context.frame.timeline.state_at(Seq(ended.seq_range.1)).episode.as_deref().and_then(before_next)
        }
        (None, None) => return None,
    };
    let end =
        if latest.is_some() { Some(Cursor::Live) } else { ended.map(|p| Cursor::At(Seq(p.seq_range.1))) };
    next.or(end)
}

/// Returns the position after a step of an episode (`None`: the episode on screen).
///
/// # Errors
/// Returns a message for the user if there is no such episode or step.
pub(crate) fn resolve_position(
    context: &Context<'_>,
    episode: Option<u32>,
    step: u32,
) -> Result<Cursor, String> {
    let current = context.episode();
    let head: &State = &context.frame.head;
    let number = episode.or_else(|| Some(current?.number)).ok_or("no episode yet")?;
    let known =
        current.filter(|e| e.number == number).or(head.episode.as_deref().filter(|e| e.number == number));
    let steps = if let Some(known) = known {
        known.steps.len()
    } else {
        let ended = head.ended_episodes.iter().rev().find(|p| p.number == number);
        let episode_count = head.episode.as_ref().map_or(0, |e| e.number);
        let ended = ended.ok_or_else(|| format!("no episode {number}; the session has {episode_count}"))?;
        context.frame.timeline.state_at(Seq(ended.seq_range.1)).episode.as_ref().map_or(0, |e| e.steps.len())
    };
    let name = if episode.is_some() { format!("episode {number}") } else { "this episode".to_owned() };
    if step as usize > steps {
        return Err(format!("no step {step}; {name} has {steps}"));
    }
    cursor_after(context, number, step).ok_or_else(|| format!("no step {step} in {name}"))
}
