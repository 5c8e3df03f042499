//! What the mentor is writing for a lane just now.

use super::LaneRow;
use crate::domain::Question;
use crate::driver::LiveCall;
use crate::provider::Phase;
use crate::text::one_line;
use crate::ui::context::Context;
use crate::ui::lane::Lane;
use crate::ui::theme::Role;
use crate::ui::view::live::last_lines;
use ratatui::layout::Rect;

/// The question that a call under way asks the mentor.
fn call_question(look: &Context<'_>, call: &LiveCall) -> Option<Question> {
    look.frame.head.calls.get(&call.call)?.question()
}

/// The end of what was written so far, for each question whose answer will stand here: a row, or a few where the lane is high.
pub(super) fn stream_rows(look: &Context<'_>, lane: &Lane, area: Rect, still: bool) -> Vec<LaneRow> {
    if look.frame.is_in_past() {
        return Vec::new();
    }
    let calls = look.frame.live.calls.iter();
    let here: Vec<&LiveCall> = calls
        .filter(|call| call_question(look, call).is_some_and(|q| lane.kinds.contains(&q.kind)))
        .collect();
    let each = (usize::from(area.height) / 2 / here.len().max(1)).clamp(1, 6);
    let room = usize::from(area.width).saturating_sub(9).max(4);
    here.into_iter().flat_map(|call| call_rows(look, call, each, room, still)).collect()
}

fn call_rows(look: &Context<'_>, call: &LiveCall, most: usize, room: usize, still: bool) -> Vec<LaneRow> {
    // The line that still grows would move under the eye.
    let whole = if still { call.text.rfind('\n').map_or("", |end| &call.text[..end]) } else { &call.text };
    // A row alone tells the last line of it; the start of what is cut off on the left is no word's start.
    let whole = if most == 1 { whole.trim_end().lines().next_back().unwrap_or_default() } else { whole };
    let (mut role, mut lines) = (Role::Reasoning, last_lines(whole, room, most));
    let quiet = call.silent_seconds(look.now).map(|seconds| format!("silent for {seconds} s"));
    if lines.is_empty() || (quiet.is_some() && most == 1) {
        let words = match (call.phase, call.pieces) {
            (Phase::Reasoning, n) => format!("the mentor reasons {} {n} tokens", look.glyphs.separator),
            (Phase::Answering, n) => format!("the mentor writes {} {n} tokens", look.glyphs.separator),
            _ => "the mentor is asked".to_owned(),
        };
        lines = vec![quiet.as_ref().map_or_else(|| words.clone(), |quiet| format!("{words}, {quiet}"))];
        role = Role::Muted;
    } else if let Some(quiet) = quiet {
        lines.truncate(most - 1);
        lines.push(quiet);
    }
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(place, line)| LaneRow {
            lesson: 0,
            mark: (Role::ModeThinking, if place == 0 { look.glyphs.ellipsis } else { " " }),
            lead: "     ".to_owned(),
            text: (role, one_line(&line).into_owned()),
            source: None,
        })
        .collect()
}
