//! Moves the cursor through the session's events.
//!
//! A step's position is the last event before the next step begins, so that all effects of the step are visible.

use crate::domain::Seq;
use crate::engine::{Episode, State};
use crate::ui::context::Context;
use crate::ui::model::{Cursor, Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;

/// Moves all panes to a position. A position at or after the last event is the present.
pub(super) fn move_to(model: &mut Model, context: &Context<'_>, cursor: Cursor) {
    model.scroll = ScrollOffsets { world: model.scroll.world, ..ScrollOffsets::default() };
    model.cursor = match cursor {
        Cursor::At(seq) if seq >= context.frame.head.head => Cursor::Live,
        Cursor::At(seq) => Cursor::At(Seq(seq.0.max(1))),
        Cursor::Live => Cursor::Live,
    };
}

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

/// Moves by a number of steps (negative: back), across episodes.
pub(super) fn move_steps(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = context.episode() else { return Vec::new() };
    let selected = i64::from(context.frame.selected_step());
    let target = selected + by;
    let last = i64::from(episode.steps.len() as u32);
    if target < 0 {
        if episode.number > 1 {
            move_to(model, context, Cursor::At(Seq(episode.first_seq.0.saturating_sub(1))));
        } else {
            model.show_notice("this is the start of the session", Severity::Info, context.now);
        }
    } else if target > last {
        let head = context.frame.head.episode.as_ref().map_or(0, |e| e.number);
        let next = context.frame.head.ended_episodes.iter().find(|p| p.number == episode.number + 1);
        match next {
            _ if episode.number >= head => move_to(model, context, Cursor::Live),
            // The start of the next episode: the environment is reset and no step has run.
            Some(next) => move_to(model, context, Cursor::At(Seq(next.seq_range.0 + 1))),
            None => go_to_latest_episode_start(model, context),
        }
    } else if let Some(cursor) = cursor_after_step(context, target as u32) {
        move_to(model, context, cursor);
    }
    Vec::new()
}

/// Moves to the start of the latest episode.
fn go_to_latest_episode_start(model: &mut Model, context: &Context<'_>) {
    let Some(episode) = &context.frame.head.episode else { return };
    move_to(model, context, Cursor::At(Seq(episode.first_seq.0 + 1)));
}

/// Moves to the start of the episode on screen.
pub(super) fn go_to_episode_start(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    if let Some(cursor) = cursor_after_step(context, 0) {
        move_to(model, context, cursor);
    }
    Vec::new()
}

/// Moves to the last step of the episode on screen that made progress.
pub(super) fn go_to_last_progress(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let to = context.episode().map(|e| e.progress_step).filter(|n| *n > 0);
    match to.and_then(|n| cursor_after_step(context, n)) {
        Some(cursor) => move_to(model, context, cursor),
        None => model.show_notice("no step of this episode made progress", Severity::Info, context.now),
    }
    Vec::new()
}

/// Moves to the previous (`by` = -1) or next (1) step whose mark passes the filter.
pub(super) fn go_to_mark(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = context.episode() else { return Vec::new() };
    let last = i64::from(episode.steps.len() as u32);
    let mut number = i64::from(context.frame.selected_step()) + by;
    while number >= 1 && number <= last {
        if context.step(number as u32).is_some_and(|s| model.mark_filter.is_match(s)) {
            if let Some(cursor) = cursor_after_step(context, number as u32) {
                move_to(model, context, cursor);
            }
            return Vec::new();
        }
        number += by;
    }
    if by > 0 && model.is_in_past() {
        move_to(model, context, Cursor::Live);
    } else {
        let kinds = model.mark_filter.kind_names().map_or_else(String::new, |kinds| format!(" ({kinds})"));
        let direction = if by < 0 { "earlier" } else { "later" };
        model.show_notice(format!("no {direction} mark{kinds}"), Severity::Info, context.now);
    }
    Vec::new()
}

/// Moves to the start of an earlier (`by` < 0) or later episode; past the last one, to the present.
pub(super) fn move_episodes(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let head = context.frame.head.episode.as_ref().map_or(0, |e| e.number);
    let current = context.episode().map_or(0, |e| e.number);
    let target = i64::from(current) + by;
    if target < 1 {
        model.show_notice("this is the first episode", Severity::Info, context.now);
    } else if target > i64::from(head) {
        move_to(model, context, Cursor::Live);
        model.show_notice("this is the latest episode", Severity::Info, context.now);
    } else if let Some(cursor) = cursor_after(context, target as u32, 0) {
        move_to(model, context, cursor);
    }
    Vec::new()
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
