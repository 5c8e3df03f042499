//! The mentor replies that are being written for a lane.

use super::LaneRow;
use crate::domain::Question;
use crate::driver::LiveCall;
use crate::provider::Phase;
use crate::text::one_line;
use crate::ui::context::Context;
use crate::ui::lane::Lane;
use crate::ui::theme::Role;
use crate::ui::view::live::wrapped_tail;
use ratatui::layout::Rect;

/// Returns what a call in flight asks the mentor.
fn call_question(context: &Context<'_>, call: &LiveCall) -> Option<Question> {
    context.frame.head.calls.get(&call.call)?.question()
}

/// Returns the end of each reply in progress that belongs to this lane: one row each, or a few if the lane is tall.
pub(super) fn streaming_reply_rows(
    context: &Context<'_>,
    lane: &Lane,
    area: Rect,
    reduced_motion: bool,
) -> Vec<LaneRow> {
    if context.frame.is_in_past() {
        return Vec::new();
    }
    let calls = context.frame.live.calls.iter();
    let here: Vec<&LiveCall> = calls
        .filter(|call| call_question(context, call).is_some_and(|q| lane.kinds.contains(&q.kind)))
        .collect();
    let each = (usize::from(area.height) / 2 / here.len().max(1)).clamp(1, 6);
    let room = usize::from(area.width).saturating_sub(9).max(4);
    here.into_iter().flat_map(|call| call_rows(context, call, each, room, reduced_motion)).collect()
}

fn call_rows(
    context: &Context<'_>,
    call: &LiveCall,
    most: usize,
    room: usize,
    reduced_motion: bool,
) -> Vec<LaneRow> {
    // The line still growing would distract.
    let text =
        if reduced_motion { call.text.rfind('\n').map_or("", |end| &call.text[..end]) } else { &call.text };
    // A single row shows the last line; when it is cut on the left, it doesn't begin mid-word.
    let text = if most == 1 { text.trim_end().lines().next_back().unwrap_or_default() } else { text };
    let (mut role, mut lines) = (Role::Reasoning, wrapped_tail(text, room, most));
    let silence = call.silent_seconds(context.now).map(|seconds| format!("silent for {seconds} s"));
    if lines.is_empty() || (silence.is_some() && most == 1) {
        let status = match (call.phase, call.delta_count) {
            (Phase::Reasoning, n) => format!("mentor reasoning {} {n} tokens", context.glyphs.separator),
            (Phase::Answering, n) => format!("mentor writing {} {n} tokens", context.glyphs.separator),
            _ => "calling the mentor".to_owned(),
        };
        lines =
            vec![silence.as_ref().map_or_else(|| status.clone(), |silence| format!("{status}, {silence}"))];
        role = Role::Muted;
    } else if let Some(silence) = silence {
        lines.truncate(most - 1);
        lines.push(silence);
    }
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(place, line)| LaneRow {
            lesson: 0,
            mark: (Role::ModeThinking, if place == 0 { context.glyphs.ellipsis } else { " " }),
            lead: "     ".to_owned(),
            text: (role, one_line(&line).into_owned()),
            source: None,
        })
        .collect()
}
