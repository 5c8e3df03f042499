//! The mentor replies that are streaming into a lane.

use super::LaneRow;
use crate::catalog::Lane;
use crate::domain::{CallPhase, Question, pluralize};
use crate::driver::LiveCall;
use crate::text::one_line;
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::view::live::{tail_bytes, wrapped_end};
use ratatui::layout::Rect;

/// Returns the question that a call in flight asks the mentor.
fn call_question(context: &Context<'_>, call: &LiveCall) -> Option<Question> {
    context.frame.head.calls.get(&call.call)?.question()
}

/// Returns the calls in flight whose question belongs to a lane.
pub(super) fn lane_calls<'a>(context: &'a Context<'_>, lane: &'a Lane) -> impl Iterator<Item = &'a LiveCall> {
    let calls = context.frame.live.calls.iter().filter(|_| !context.frame.is_in_past());
    calls.filter(|call| call_question(context, call).is_some_and(|q| lane.kinds.contains(&q.kind)))
}

/// Returns the last lines of each streaming reply whose question belongs to this lane. The height of the lane decides
/// how many rows a reply gets, at least one.
pub(super) fn streaming_reply_rows(
    context: &Context<'_>,
    lane: &Lane,
    area: Rect,
    reduced_motion: bool,
) -> Vec<LaneRow> {
    let rows_per_call = (usize::from(area.height) / 2 / lane_calls(context, lane).count().max(1)).clamp(1, 6);
    let columns = usize::from(area.width).saturating_sub(9).max(4);
    lane_calls(context, lane)
        .flat_map(|call| call_rows(context, call, rows_per_call, columns, reduced_motion))
        .collect()
}

fn call_rows(
    context: &Context<'_>,
    call: &LiveCall,
    max_rows: usize,
    columns: usize,
    reduced_motion: bool,
) -> Vec<LaneRow> {
    // Hide the unfinished line: text that grows counts as motion.
    let text = call.text.tail(2 * tail_bytes(columns, max_rows));
    let text = if reduced_motion { text.rfind('\n').map_or("", |end| &text[..end]) } else { &text };
    // A single row shows the end of the last line, starting at a word.
    let text = if max_rows == 1 { text.trim_end().lines().next_back().unwrap_or_default() } else { text };
    let (mut role, mut lines) = (Role::Reasoning, wrapped_end(text, columns, max_rows));
    let silence = call.silent_seconds(context.now).map(|seconds| format!("silent for {seconds} s"));
    if lines.is_empty() || (silence.is_some() && max_rows == 1) {
        let status = match (call.phase, call.delta_count) {
            (CallPhase::Reasoning, n) => {
                format!("mentor reasoning {} {}", context.glyphs.separator, pluralize(n, "token"))
            }
            (CallPhase::Answering, n) => {
                format!("mentor writing {} {}", context.glyphs.separator, pluralize(n, "token"))
            }
            _ => "calling the mentor".to_owned(),
        };
        lines =
            vec![silence.as_ref().map_or_else(|| status.clone(), |silence| format!("{status}, {silence}"))];
        role = Role::Muted;
    } else if let Some(silence) = silence {
        lines.truncate(max_rows - 1);
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
