//! Moves the cursor through the session's events.
//!
//! A step's position is the last event before the next step begins, so that all effects of the step are visible.

use crate::domain::Seq;
use crate::ui::chapters::shown_position;
use crate::ui::facts::first_mistake;
use crate::ui::frame_data::Context;
use crate::ui::mark::{MarkKind, has_early_intervention};
use crate::ui::model::{Model, ScrollOffsets, Severity};
use crate::ui::msg::Request;
use crate::ui::position::{cursor_after_step, forked_steps};
use crate::ui::types::Cursor;

/// Moves all panes to a position. A position at or after the last event is the present.
pub(super) fn move_to(model: &mut Model, context: &Context<'_>, cursor: Cursor) {
    model.scroll = ScrollOffsets { world: model.scroll.world, ..ScrollOffsets::default() };
    model.cursor = match cursor {
        Cursor::At(seq) if seq >= context.frame.head.head => Cursor::Live,
        Cursor::At(seq) => Cursor::At(shown_position(&model.chapters, Seq(seq.0.max(1)))),
        Cursor::Live => Cursor::Live,
    };
    if let Some(due) = &mut model.playback.due {
        *due = context.now + model.playback.stay;
    }
    if !model.is_in_past() {
        model.playback.stop();
    }
}

/// Returns the request to move to a position, if there is one.
fn to(cursor: Option<Cursor>) -> Vec<Request> {
    cursor.map(Request::MoveCursor).into_iter().collect()
}

/// Moves by a number of steps (negative: back), across episodes.
pub(super) fn move_steps(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = context.episode() else { return Vec::new() };
    let target = i64::from(context.frame.selected_step()) + by;
    if target < 0 {
        if episode.number > 1 {
            return to(Some(Cursor::At(Seq(episode.first_seq.0.saturating_sub(1)))));
        }
        model.show_notice("this is the start of the session", Severity::Info, context.now);
        return Vec::new();
    }
    if target <= i64::from(episode.steps.len() as u32) {
        return to(cursor_after_step(context, target as u32));
    }
    let head = &context.frame.head;
    let latest = head.episode.as_ref().map_or(0, |e| e.number);
    if episode.number >= latest {
        return to(Some(Cursor::Live));
    }
    // The start of the next episode: the environment is reset and no step has run.
    let next = head.ended_episodes.iter().find(|p| p.number == episode.number + 1).map(|p| p.seq_range.0);
    let start = next.or_else(|| Some(head.episode.as_ref()?.first_seq.0));
    to(start.map(|seq| Cursor::At(Seq(seq + 1))))
}

/// Moves to the start of the episode on screen.
pub(super) fn go_to_episode_start(context: &Context<'_>) -> Vec<Request> {
    to(cursor_after_step(context, 0))
}

/// Moves to the last step of the episode on screen that made progress.
pub(super) fn go_to_last_progress(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let step = context.episode().map(|e| e.progress_step).filter(|n| *n > 0);
    let cursor = step.and_then(|n| cursor_after_step(context, n));
    if cursor.is_none() {
        model.show_notice("no step of this episode made progress", Severity::Info, context.now);
    }
    to(cursor)
}

/// Moves to the first step of the episode on screen that has a mistake.
pub(super) fn go_to_first_mistake(model: &mut Model, context: &Context<'_>) -> Vec<Request> {
    let step = context.episode().and_then(first_mistake).map(|(step, _)| step.number);
    if step.is_none() {
        model.show_notice("no mistake was found in this episode", Severity::Info, context.now);
    }
    to(step.and_then(|number| cursor_after_step(context, number)))
}

/// Moves to the previous (`by` = -1) or next (1) step whose mark passes the filter.
pub(super) fn go_to_mark(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let Some(episode) = context.episode() else { return Vec::new() };
    let last = i64::from(episode.steps.len() as u32);
    let forked = forked_steps(&model.branches, context);
    let mut number = i64::from(context.frame.selected_step()) + by;
    while number >= 1 && number <= last {
        if context.step(number as u32).is_some_and(|s| model.mark_filter.is_match(s, &forked)) {
            return to(cursor_after_step(context, number as u32));
        }
        number += by;
    }
    let stops_at_start = model.mark_filter.has_kind(MarkKind::Override) && has_early_intervention(episode);
    if by < 0 && stops_at_start && context.frame.selected_step() > 0 {
        return to(cursor_after_step(context, 0));
    }
    if by > 0 && model.is_in_past() {
        return to(Some(Cursor::Live));
    }
    let kinds = model.mark_filter.kind_names().map_or_else(String::new, |kinds| format!(" ({kinds})"));
    let direction = if by < 0 { "earlier" } else { "later" };
    model.show_notice(format!("no {direction} mark{kinds}"), Severity::Info, context.now);
    Vec::new()
}

/// Moves to the start of an earlier (`by` < 0) or later episode; past the last one, to the present.
pub(super) fn move_episodes(model: &mut Model, context: &Context<'_>, by: i64) -> Vec<Request> {
    let latest = context.frame.head.episode.as_ref().map_or(0, |e| e.number);
    let target = i64::from(context.episode().map_or(0, |e| e.number)) + by;
    if target < 1 {
        model.show_notice("this is the first episode", Severity::Info, context.now);
        return Vec::new();
    }
    if target > i64::from(latest) {
        model.show_notice("this is the latest episode", Severity::Info, context.now);
        return to(Some(Cursor::Live));
    }
    vec![Request::GoToStep { episode: Some(target as u32), step: 0 }]
}
