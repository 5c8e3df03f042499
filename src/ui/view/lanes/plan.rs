//! A plan as rows: one per line, numbered where the line is an action, with a mark at the current action.

use super::LaneRow;
use crate::catalog;
use crate::domain::Lesson;
use crate::method;
use crate::text::{one_line, prefix, truncate, width};
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;

/// Returns at most `most` rows of the plan, including the current action. The first row has the lesson's mark, its
/// lead (the number) and its source.
pub(super) fn plan_rows(
    lesson: &Lesson,
    text: &str,
    context: &Context<'_>,
    mark: (Role, &'static str),
    (lead, source): (&str, &str),
    columns: u16,
    most: usize,
) -> Vec<LaneRow> {
    let state = context.displayed_state();
    let lines = method::numbered_plan_lines(bounded_prefix(text));
    let digits = lines.len().max(1).ilog10() as usize + 1;
    let current = catalog::current_action(state).filter(|(id, _)| *id == &lesson.id).map(|(_, line)| line);
    let place = current.and_then(|line| lines.iter().position(|l| l.0 == Some(line)));
    // Keep the previous action visible, and what follows.
    let shown = most.clamp(1, lines.len().max(1));
    let first = place.map_or(0, |at| at.saturating_sub(usize::from(shown > 2)));
    let first = first.min(lines.len().saturating_sub(shown));
    let indent = width(lead);
    let mut rows = Vec::new();
    for (row, (number, text)) in lines.iter().skip(first).take(shown).enumerate() {
        let head = row == 0;
        let cut = (head && first > 0) || (row + 1 == shown && first + shown < lines.len());
        let now = number.is_some() && *number == current;
        let done = number.zip(current).is_some_and(|(n, current)| n < current);
        let at = if now { context.glyphs.proposal } else { " " };
        let number = number.map_or_else(String::new, |n| n.to_string());
        let lead = if head { lead.to_owned() } else { " ".repeat(indent) };
        let lead = format!("{lead}{at} {number:>digits$}  ");
        let rest = if cut { context.glyphs.ellipsis } else { "" };
        let room = usize::from(columns)
            .saturating_sub(width(&lead) + 3 + if head { width(source) + 2 } else { 0 })
            .saturating_sub(width(rest) + 1)
            .max(4);
        let text = truncate(&one_line(text), room, context.glyphs.ellipsis);
        let role = match (now, done) {
            (true, _) => Role::Action,
            (_, true) => Role::Muted,
            _ if number.is_empty() => Role::Muted,
            _ => Role::Lesson,
        };
        let gap = if cut { " " } else { "" };
        rows.push(LaneRow {
            lesson: lesson.number,
            mark: if head { mark } else { (Role::Muted, " ") },
            lead,
            text: (role, format!("{text}{gap}{rest}")),
            source: head.then(|| (Role::Muted, source.to_owned())),
        });
    }
    rows
}

/// Bounds the text that is laid out: no real plan is longer.
fn bounded_prefix(text: &str) -> &str {
    prefix(text, 16 << 10)
}
