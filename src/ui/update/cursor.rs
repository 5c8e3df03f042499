//! Moving in time. The moment of a step is the one before the next step began, so that all that came of it is in it.

use crate::domain::Seq;
use crate::engine::{Episode, State};
use crate::ui::context::Context;
use crate::ui::model::{Cursor, Model, Scrolls, Tone};
use crate::ui::msg::Request;

/// Moves all panes to a moment.
pub(super) fn go(model: &mut Model, look: &Context<'_>, cursor: Cursor) {
    model.scrolls = Scrolls { world: model.scrolls.world, ..Scrolls::default() };
    model.cursor = match cursor {
        Cursor::At(seq) if seq >= look.moment.head.head => Cursor::Live,
        Cursor::At(seq) => Cursor::At(Seq(seq.0.max(1))),
        Cursor::Live => Cursor::Live,
    };
}

/// The moment after a step of the listed episode; of its last step, the present or the episode's end.
pub(crate) fn after_step(look: &Context<'_>, number: u32) -> Option<Cursor> {
    after(look, look.episode()?.number, number)
}

/// The same of any episode. One that is neither listed nor the present one is brought back for it.
pub(crate) fn after(look: &Context<'_>, episode: u32, number: u32) -> Option<Cursor> {
    let head: &State = &look.moment.head;
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
            look.store.state_at(Seq(past.seq_range.1)).episode.as_deref().and_then(before_next)
        }
        (None, None) => return None,
    };
    let end = if now.is_some() { Some(Cursor::Live) } else { past.map(|p| Cursor::At(Seq(p.seq_range.1))) };
    next.or(end)
}

/// One step back or forward, across episodes.
pub(super) fn step(model: &mut Model, look: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = look.episode() else { return Vec::new() };
    let chosen = i64::from(look.moment.chosen());
    let to = chosen + by;
    let last = i64::from(episode.steps.len() as u32);
    if to < 0 {
        if episode.number > 1 {
            go(model, look, Cursor::At(Seq(episode.first_seq.0.saturating_sub(1))));
        } else {
            model.say("this is the beginning", Tone::Told, look.now);
        }
    } else if to > last {
        let head = look.moment.head.episode.as_ref().map_or(0, |e| e.number);
        let next = look.moment.head.ended_episodes.iter().find(|p| p.number == episode.number + 1);
        match next {
            _ if episode.number >= head => go(model, look, Cursor::Live),
            // The next episode's beginning: its world stands, nothing is done yet.
            Some(next) => go(model, look, Cursor::At(Seq(next.seq_range.0 + 1))),
            None => go_to_start_of_head(model, look),
        }
    } else if let Some(cursor) = after_step(look, to as u32) {
        go(model, look, cursor);
    }
    Vec::new()
}

fn go_to_start_of_head(model: &mut Model, look: &Context<'_>) {
    let Some(episode) = &look.moment.head.episode else { return };
    go(model, look, Cursor::At(Seq(episode.first_seq.0 + 1)));
}

/// To the beginning of the listed episode.
pub(super) fn first(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    if let Some(cursor) = after_step(look, 0) {
        go(model, look, cursor);
    }
    Vec::new()
}

/// To the last step of the listed episode that made progress.
pub(super) fn last_progress(model: &mut Model, look: &Context<'_>) -> Vec<Request> {
    let to = look.episode().map(|e| e.progress_step).filter(|n| *n > 0);
    match to.and_then(|n| after_step(look, n)) {
        Some(cursor) => go(model, look, cursor),
        None => model.say("no turn of this episode made progress", Tone::Told, look.now),
    }
    Vec::new()
}

/// To the previous or next step with a mark.
pub(super) fn mark(model: &mut Model, look: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = look.episode() else { return Vec::new() };
    let last = i64::from(episode.steps.len() as u32);
    let mut number = i64::from(look.moment.chosen()) + by;
    while number >= 1 && number <= last {
        if look.step(number as u32).is_some_and(|s| model.marks.stop_at(s)) {
            if let Some(cursor) = after_step(look, number as u32) {
                go(model, look, cursor);
            }
            return Vec::new();
        }
        number += by;
    }
    if by > 0 && model.past() {
        go(model, look, Cursor::Live);
    } else {
        let which = model.marks.words().map_or_else(String::new, |kinds| format!(" of these: {kinds}"));
        let way = if by < 0 { "back" } else { "on" };
        model.say(format!("no mark further {way}{which}"), Tone::Told, look.now);
    }
    Vec::new()
}

/// To the beginning of the episode before or after the listed one; after the last, to the present.
pub(super) fn episode(model: &mut Model, look: &Context<'_>, by: i64) -> Vec<Request> {
    let head = look.moment.head.episode.as_ref().map_or(0, |e| e.number);
    let listed = look.episode().map_or(0, |e| e.number);
    let to = i64::from(listed) + by;
    if to < 1 {
        model.say("this is the first episode", Tone::Told, look.now);
    } else if to > i64::from(head) {
        go(model, look, Cursor::Live);
        model.say("this is the last episode so far", Tone::Told, look.now);
    } else if let Some(cursor) = after(look, to as u32, 0) {
        go(model, look, cursor);
    }
    Vec::new()
}

/// The moment after a step of an episode (none: of the listed one).
///
/// # Errors
/// In words, where there is no such episode or step.
pub(crate) fn place(look: &Context<'_>, episode: Option<u32>, step: u32) -> Result<Cursor, String> {
    let listed = look.episode();
    let head: &State = &look.moment.head;
    let number = episode.or_else(|| Some(listed?.number)).ok_or("there is no episode yet")?;
    let known =
        listed.filter(|e| e.number == number).or(head.episode.as_deref().filter(|e| e.number == number));
    let steps = if let Some(known) = known {
        known.steps.len()
    } else {
        let past = head.ended_episodes.iter().rev().find(|p| p.number == number);
        let all = head.episode.as_ref().map_or(0, |e| e.number);
        let past = past.ok_or_else(|| format!("there is no episode {number}; there are {all}"))?;
        look.store.state_at(Seq(past.seq_range.1)).episode.as_ref().map_or(0, |e| e.steps.len())
    };
    let of = if episode.is_some() { format!("episode {number}") } else { "this episode".to_owned() };
    if step as usize > steps {
        return Err(format!("there is no turn {step}; {of} has {steps}"));
    }
    after(look, number, step).ok_or_else(|| format!("there is no turn {step} in {of}"))
}
