//! Moving in time. The moment of a step is the one before the next step began, so that all that came of it is in it.

use crate::domain::Seq;
use crate::engine::{Episode, State};
use crate::ui::context::Context;
use crate::ui::model::{Cursor, Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;

/// Moves all panes to a moment.
pub(super) fn move_to(model: &mut Model, look: &Context<'_>, cursor: Cursor) {
    model.scroll = ScrollOffsets { world: model.scroll.world, ..ScrollOffsets::default() };
    model.cursor = match cursor {
        Cursor::At(seq) if seq >= look.frame.head.head => Cursor::Live,
        Cursor::At(seq) => Cursor::At(Seq(seq.0.max(1))),
        Cursor::Live => Cursor::Live,
    };
}

/// The moment after a step of the listed episode; of its last step, the present or the episode's end.
pub(crate) fn cursor_after_step(look: &Context<'_>, number: u32) -> Option<Cursor> {
    cursor_after(look, look.episode()?.number, number)
}

/// The same of any episode. One that is neither listed nor the present one is brought back for it.
pub(crate) fn cursor_after(look: &Context<'_>, episode: u32, number: u32) -> Option<Cursor> {
    let head: &State = &look.frame.head;
    let is = |e: &&Episode| e.number == episode;
    let now = head.episode.as_deref().filter(is);
    let past = head.ended_episodes.iter().rev().find(|p| p.number == episode);
    let before_next = |e: &Episode| {
        let next = e.step(number + 1)?;
        Some(Cursor::At(Seq(next.first_seq.0.saturating_sub(1))))
    };
    let next = match (look.episode().filter(is).or(now), past) {
        (Some(known), _) => before_next(known),
        (None, Some(past)) => {
            look.frame.timeline.state_at(Seq(past.seq_range.1)).episode.as_deref().and_then(before_next)
        }
        (None, None) => return None,
    };
    let end = if now.is_some() { Some(Cursor::Live) } else { past.map(|p| Cursor::At(Seq(p.seq_range.1))) };
    next.or(end)
}

/// One step back or forward, across episodes.
pub(super) fn move_steps(model: &mut Model, look: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = look.episode() else { return Vec::new() };
    let chosen = i64::from(look.frame.selected_step());
    let to = chosen + by;
    let last = i64::from(episode.steps.len() as u32);
    if to < 0 {
        if episode.number > 1 {
            move_to(model, look, Cursor::At(Seq(episode.first_seq.0.saturating_sub(1))));
        } else {
            model.show_notice("this is the beginning", Severity::Info, look.now);
        }
    } else if to > last {
        let head = look.frame.head.episode.as_ref().map_or(0, |e| e.number);
        let next = look.frame.head.ended_episodes.iter().find(|p| p.number == episode.number + 1);
        match next {
            _ if episode.number >= head => move_to(model, look, Cursor::Live),
            // The next episode's beginning: its world stands, nothing is done yet.
            Some(next) => move_to(model, look, Cursor::At(Seq(next.seq_range.0 + 1))),
            None => go_to_latest_episode_start(model, look),
        }
    } else if let Some(cursor) = cursor_after_step(look, to as u32) {
        move_to(model, look, cursor);
    }
    Vec::new()
}

fn go_to_latest_episode_start(model: &mut Model, look: &Context<'_>) {
    let Some(episode) = &look.frame.head.episode else { return };
    move_to(model, look, Cursor::At(Seq(episode.first_seq.0 + 1)));
}

/// To the beginning of the listed episode.
pub(super) fn go_to_episode_start(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    if let Some(cursor) = cursor_after_step(look, 0) {
        move_to(model, look, cursor);
    }
    Vec::new()
}

/// To the last step of the listed episode that made progress.
pub(super) fn go_to_last_progress(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let to = look.episode().map(|e| e.progress_step).filter(|n| *n > 0);
    match to.and_then(|n| cursor_after_step(look, n)) {
        Some(cursor) => move_to(model, look, cursor),
        None => model.show_notice("no turn of this episode made progress", Severity::Info, look.now),
    }
    Vec::new()
}

/// To the previous or next step with a mark.
pub(super) fn go_to_mark(model: &mut Model, look: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = look.episode() else { return Vec::new() };
    let last = i64::from(episode.steps.len() as u32);
    let mut number = i64::from(look.frame.selected_step()) + by;
    while number >= 1 && number <= last {
        if look.step(number as u32).is_some_and(|s| model.mark_filter.is_match(s)) {
            if let Some(cursor) = cursor_after_step(look, number as u32) {
                move_to(model, look, cursor);
            }
            return Vec::new();
        }
        number += by;
    }
    if by > 0 && model.is_in_past() {
        move_to(model, look, Cursor::Live);
    } else {
        let which =
            model.mark_filter.kind_names().map_or_else(String::new, |kinds| format!(" of these: {kinds}"));
        let way = if by < 0 { "back" } else { "on" };
        model.show_notice(format!("no mark further {way}{which}"), Severity::Info, look.now);
    }
    Vec::new()
}

/// To the beginning of the episode before or after the listed one; after the last, to the present.
pub(super) fn move_episodes(model: &mut Model, look: &Context<'_>, by: i64) -> Vec<Request> {
    let head = look.frame.head.episode.as_ref().map_or(0, |e| e.number);
    let listed = look.episode().map_or(0, |e| e.number);
    let to = i64::from(listed) + by;
    if to < 1 {
        model.show_notice("this is the first episode", Severity::Info, look.now);
    } else if to > i64::from(head) {
        move_to(model, look, Cursor::Live);
        model.show_notice("this is the last episode so far", Severity::Info, look.now);
    } else if let Some(cursor) = cursor_after(look, to as u32, 0) {
        move_to(model, look, cursor);
    }
    Vec::new()
}

/// The moment after a step of an episode (none: of the listed one).
///
/// # Errors
/// In words, where there is no such episode or step.
pub(crate) fn resolve_position(
    look: &Context<'_>,
    episode: Option<u32>,
    step: u32,
) -> Result<Cursor, String> {
    let listed = look.episode();
    let head: &State = &look.frame.head;
    let number = episode.or_else(|| Some(listed?.number)).ok_or("there is no episode yet")?;
    let known =
        listed.filter(|e| e.number == number).or(head.episode.as_deref().filter(|e| e.number == number));
    let steps = if let Some(known) = known {
        known.steps.len()
    } else {
        let past = head.ended_episodes.iter().rev().find(|p| p.number == number);
        let all = head.episode.as_ref().map_or(0, |e| e.number);
        let past = past.ok_or_else(|| format!("there is no episode {number}; there are {all}"))?;
        look.frame.timeline.state_at(Seq(past.seq_range.1)).episode.as_ref().map_or(0, |e| e.steps.len())
    };
    let of = if episode.is_some() { format!("episode {number}") } else { "this episode".to_owned() };
    if step as usize > steps {
        return Err(format!("there is no turn {step}; {of} has {steps}"));
    }
    cursor_after(look, number, step).ok_or_else(|| format!("there is no turn {step} in {of}"))
}
