//! A plan of actions in rows: one for each line of it, numbered where it is an action, with a mark at the one that is taken.

use super::LaneRow;
use crate::domain::Lesson;
use crate::method;
use crate::text::{one_line, prefix, truncate, width};
use crate::ui::context::Context;
use crate::ui::theme::Role;

/// So many rows of the plan, with the action that is taken among them. The first row has the lesson's mark and its lead (the
/// number) and its source.
pub(super) fn plan_rows(
    lesson: &Lesson,
    words: &str,
    look: &Context<'_>,
    mark: (Role, &'static str),
    (lead, source): (&str, &str),
    columns: u16,
    most: usize,
) -> Vec<LaneRow> {
    let state = look.displayed_state();
    let lines = method::numbered_plan_lines(bounded_prefix(words));
    let digits = lines.len().max(1).ilog10() as usize + 1;
    let taken = method::current_plan_line(state).filter(|(id, _)| *id == &lesson.id).map(|(_, line)| line);
    let place = taken.and_then(|line| lines.iter().position(|l| l.0 == Some(line)));
    // The action before the one that is taken is still to be seen, and what comes then.
    let shown = most.clamp(1, lines.len().max(1));
    let first = place.map_or(0, |at| at.saturating_sub(usize::from(shown > 2)));
    let first = first.min(lines.len().saturating_sub(shown));
    let indent = width(lead);
    let mut rows = Vec::new();
    for (row, (number, words)) in lines.iter().skip(first).take(shown).enumerate() {
        let head = row == 0;
        let cut = (head && first > 0) || (row + 1 == shown && first + shown < lines.len());
        let now = number.is_some() && *number == taken;
        let done = number.zip(taken).is_some_and(|(n, taken)| n < taken);
        let at = if now { look.glyphs.proposal } else { " " };
        let number = number.map_or_else(String::new, |n| n.to_string());
        let lead = if head { lead.to_owned() } else { " ".repeat(indent) };
        let lead = format!("{lead}{at} {number:>digits$}  ");
        let rest = if cut { look.glyphs.ellipsis } else { "" };
        let room = usize::from(columns)
            .saturating_sub(width(&lead) + 3 + if head { width(source) + 2 } else { 0 })
            .saturating_sub(width(rest) + 1)
            .max(4);
        let words = truncate(&one_line(words), room, look.glyphs.ellipsis);
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
            text: (role, format!("{words}{gap}{rest}")),
            source: head.then(|| source.to_owned()),
        });
    }
    rows
}

/// No plan that anybody could follow is longer than this.
fn bounded_prefix(text: &str) -> &str {
    prefix(text, 16 << 10)
}
