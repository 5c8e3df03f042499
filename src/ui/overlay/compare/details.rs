//! The details of one row: as a preview in the lower part of the window, as a page, and as text to copy.

use super::super::prompt_view::changed_lines;
use super::rows::{NAME_COLUMNS, SideLayout, from_difference, padded};
use crate::text::{one_line, truncate, wrap_at_most, wrap_or_mark};
use crate::timeline::compare::{Comparison, ComparisonEntry, PriorDifferences, Reason, Row, RowKind};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use crate::ui::types::PtrEqArc;
use crate::ui::widget::window::{Line, paragraph};
use std::fmt::Write as _;

/// Maximum number of lines for one text.
const MAX_LINES: usize = 200;
/// Columns of a name where the texts stand one below the other.
const NARROW_NAME_COLUMNS: usize = 11;
/// Number of lines that a text always gets, even if there is little room.
const MIN_LINES: usize = 3;

/// Returns the preview, with as many lines for each text as fit into `rows`; cut texts end in an ellipsis. The result
/// may still have more than `rows` rows.
pub(super) fn preview_lines(
    found: &Comparison,
    row: usize,
    layout: SideLayout,
    glyphs: &Glyphs,
    rows: usize,
) -> Vec<Line> {
    let whole = short_lines(found, row, layout, glyphs, MAX_LINES);
    if whole.len() <= rows {
        return whole;
    }
    let (mut fits, mut most) = (MIN_LINES, rows.max(MIN_LINES));
    while fits < most {
        let lines = (fits + most).div_ceil(2);
        if short_lines(found, row, layout, glyphs, lines).len() <= rows {
            fits = lines;
        } else {
            most = lines - 1;
        }
    }
    short_lines(found, row, layout, glyphs, fits)
}

/// Returns the selected row, and at the first difference what preceded it, each text in at most `most` lines.
fn short_lines(
    found: &Comparison,
    row: usize,
    layout: SideLayout,
    glyphs: &Glyphs,
    most: usize,
) -> Vec<Line> {
    let mut lines = Vec::new();
    if found.row_of_interest() == Some(row) {
        lines.extend(reason_lines(found, row, layout));
        let prior_entries = found.prior.as_ref().map(PriorDifferences::entries).unwrap_or_default();
        let (did, rest): (Vec<_>, Vec<_>) =
            found.decision_entries(row).into_iter().partition(|s| s.name == "did");
        // The action first, then its possible causes: with little room these matter most. What is equal on both sides
        // explains nothing.
        for entry in did.iter().chain(&prior_entries).chain(rest.iter().filter(|e| e.differs())) {
            lines.extend(side_by_side(entry, layout, most, glyphs));
        }
        return lines;
    }
    for entry in row_entries(found, row).into_iter().filter(|entry| entry.name != "step") {
        lines.extend(side_by_side(&entry, layout, most, glyphs));
    }
    lines
}

/// Returns the details page of a row. Shows `loading` until the differences before it are known. Entries that are equal
/// on both sides are listed if `equal` is `Ok`, else counted beside the key that lists them.
pub(super) fn page_lines(
    found: &Comparison,
    row: usize,
    (before, loading): (Option<&Result<PtrEqArc<PriorDifferences>, String>>, &str),
    equal: &Result<(), String>,
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let columns = total_columns(layout);
    let heading = |words: &str| vec![(Role::Title, words.to_owned())];
    let mut lines = Vec::new();
    let mut about = "";
    for entry in &found.run_entries() {
        if std::mem::replace(&mut about, entry.topic) != entry.topic {
            lines.push(heading(entry.topic));
        }
        lines.extend(side_by_side(entry, layout, MAX_LINES, glyphs));
    }
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    if found.row_of_interest() == Some(row) {
        lines.extend(reason_lines(found, row, layout));
    }
    // A row in which nothing differs is shown in full.
    let is_same = found.rows.get(row).is_some_and(|row| row.kind() == RowKind::Same);
    let equal_of_row = if is_same { &Ok(()) } else { equal };
    lines.extend(entry_lines(&row_entries(found, row), equal_of_row, layout, glyphs));
    lines.push(Line::new());
    match before {
        None => lines.push(vec![(Role::Muted, loading.to_owned())]),
        Some(Err(why)) => lines.extend(paragraph((Role::Bad, ""), Role::Bad, why, columns)),
        Some(Ok(before)) => {
            let before = &*before.0;
            let prior_entries = before.entries();
            lines.push(heading(if prior_entries.is_empty() {
                "No earlier differences"
            } else {
                "Earlier differences"
            }));
            let mut about = "";
            for entry in &prior_entries {
                if std::mem::replace(&mut about, entry.topic) != entry.topic {
                    lines.push(vec![(Role::Muted, entry.topic.to_owned())]);
                }
                lines.extend(side_by_side(entry, layout, MAX_LINES, glyphs));
            }
            if let Some((a, b)) = before.prompts.as_ref().filter(|_| !before.segments.is_empty()) {
                lines.push(Line::new());
                lines.push(heading("Prompts, from A to B"));
                let (x, y) = &before.states;
                lines.extend(changed_lines((x, a), (y, b), columns));
            }
        }
    }
    lines.push(Line::new());
    lines.push(heading("Outcome"));
    let mut outcome = found.outcome_entries();
    outcome.extend(found.detailed_outcome_entries());
    lines.extend(entry_lines(&outcome, equal, layout, glyphs));
    lines
}

/// Returns the lines of entries. Those that are equal on both sides are listed if `equal` is `Ok`, else counted beside
/// the key that lists them.
fn entry_lines(
    entries: &[ComparisonEntry],
    equal: &Result<(), String>,
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut folded: Vec<&str> = Vec::new();
    for entry in entries {
        if equal.is_err() && !entry.differs() {
            folded.push(&entry.name);
        } else {
            lines.extend(side_by_side(entry, layout, MAX_LINES, glyphs));
        }
    }
    if let Err(key) = equal
        && !folded.is_empty()
    {
        let text =
            format!("{} {} the same: {} ({key} shows)", glyphs.ellipsis, folded.len(), folded.join(", "));
        lines.push(vec![(Role::Muted, truncate(&text, layout.total_columns(), glyphs.ellipsis))]);
    }
    lines
}

/// Returns the row as text for the clipboard.
pub(super) fn copy_text(found: &Comparison, row: usize) -> String {
    let side = |text: Option<&String>| text.cloned().unwrap_or_default();
    let each = row_entries(found, row).into_iter();
    let lines: Vec<String> = each
        .map(|s| format!("{}\nA: {}\nB: {}\n", s.name, side(s.left.as_ref()), side(s.right.as_ref())))
        .collect();
    format!("A: {}\nB: {}\n{}", found.left.name, found.right.name, lines.concat())
}

fn total_columns(layout: SideLayout) -> u16 {
    u16::try_from(layout.total_columns()).unwrap_or(u16::MAX)
}

fn reason_lines(found: &Comparison, row: usize, layout: SideLayout) -> Vec<Line> {
    let reasons: Vec<&str> = found.reasons().into_iter().map(Reason::description).collect();
    let mut words = if found.first_prompt_difference.is_some() {
        "the same action in spite of another prompt".to_owned()
    } else {
        format!("first difference: {}", reasons.join("; "))
    };
    // In the list a step may stand alone; what is shown beside it is what the other side decided in its place.
    let alone = match found.rows.get(row).map(Row::kind) {
        Some(RowKind::OnlyLeft) => Some(("B", found.next_steps(row).1)),
        Some(RowKind::OnlyRight) => Some(("A", found.next_steps(row).0)),
        _ => None,
    };
    if let Some((side, Some(next))) = alone {
        let _ = write!(words, " (beside it: {side}'s step {next})");
    }
    paragraph((Role::Warning, ""), Role::Warning, &words, total_columns(layout))
}

/// Returns what both sides did and saw. A side without a step in this row has no text, as in the list; only at the first
/// difference, what it decided in place of the step is beside it.
fn row_entries(found: &Comparison, row: usize) -> Vec<ComparisonEntry> {
    let Some(at) = found.rows.get(row) else { return Vec::new() };
    let mut all = found.decision_entries(row);
    if found.row_of_interest() == Some(row) {
        return all;
    }
    for entry in &mut all {
        match at.kind() {
            RowKind::OnlyLeft => entry.right = None,
            RowKind::OnlyRight => entry.left = None,
            RowKind::Same | RowKind::Changed => {}
        }
    }
    all.retain(|s| s.left.is_some() || s.right.is_some());
    all
}

/// Lays out both texts of an entry beside each other, or one below the other.
fn side_by_side(entry: &ComparisonEntry, layout: SideLayout, most: usize, glyphs: &Glyphs) -> Vec<Line> {
    let same = entry.left == entry.right;
    let (left, right) = if same { (Role::Text, Role::Text) } else { (Role::SideA, Role::SideB) };
    // With too little room, the texts begin shortly before their difference.
    let short = match (&entry.left, &entry.right) {
        (Some(a), Some(b)) if !same => {
            let rooms = if layout.two_columns {
                [layout.side_columns.saturating_sub(NAME_COLUMNS), layout.side_columns]
            } else {
                [layout.side_columns.saturating_sub(NARROW_NAME_COLUMNS); 2]
            };
            let is_cut = |(text, room): (&String, usize)| wrap_at_most(&one_line(text), room.max(1), most).1;
            [a, b].into_iter().zip(rooms).any(is_cut).then(|| from_difference(a, b, glyphs)).flatten()
        }
        _ => None,
    };
    let (left_text, right_text) = match short {
        Some((a, b)) => (Some(a), Some(b)),
        None => (entry.left.clone(), entry.right.clone()),
    };
    let (left_text, right_text) = (&left_text, &right_text);
    let wrapped = |text: &Option<String>, room: usize| match text {
        None => vec![String::new()],
        Some(text) => wrap_or_mark(&one_line(text), room.max(1), most, glyphs.ellipsis),
    };
    if !layout.two_columns {
        let mut lines = Vec::new();
        let sides = [("A ", left, left_text), ("B ", right, right_text)];
        let sides = if same { &sides[..1] } else { &sides[..] };
        for (mark, role, text) in sides.iter().filter(|s| s.2.is_some()) {
            let mark = if same { "  " } else { mark };
            let rows = wrapped(text, layout.side_columns.saturating_sub(NARROW_NAME_COLUMNS));
            let (names, _) = wrap_at_most(&entry.name, NARROW_NAME_COLUMNS - 1, most);
            for place in 0..names.len().max(rows.len()) {
                let at = |side: &[String]| side.get(place).cloned().unwrap_or_default();
                let name = padded(&at(&names), NARROW_NAME_COLUMNS, glyphs);
                lines.push(vec![(*role, mark.to_owned()), (Role::Muted, name), (*role, at(&rows))]);
            }
        }
        return lines;
    }
    let room = layout.side_columns.saturating_sub(NAME_COLUMNS);
    let (a, b) = (wrapped(left_text, room), wrapped(right_text, layout.side_columns));
    let joint = " | ".replace('|', glyphs.box_drawing[1 | 4]);
    let (names, _) = wrap_at_most(&entry.name, NAME_COLUMNS - 1, most);
    (0..names.len().max(a.len()).max(b.len()))
        .map(|place| {
            let at = |side: &[String]| side.get(place).cloned().unwrap_or_default();
            vec![
                (Role::Muted, padded(&at(&names), NAME_COLUMNS - 1, glyphs) + " "),
                (left, padded(&at(&a), room, glyphs)),
                (Role::FrameOverlay, joint.clone()),
                (right, at(&b)),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::glyphs::UNICODE;

    /// Regression: with few rows the text of the narrower side was cut just before what differs.
    #[test]
    fn texts_without_room_begin_shortly_before_their_difference() {
        let text = |place: &str| {
            format!(
                "think: I'll find a mug, heat it, and put it in/on the coffeemachine. I'll check {place} first."
            )
        };
        let entry = ComparisonEntry {
            topic: "decision",
            name: "did".to_owned(),
            left: Some(text("cabinet 2")),
            right: Some(text("shelf 3")),
        };
        let shown = |columns, most| {
            let lines = side_by_side(&entry, SideLayout::for_width(columns), most, &UNICODE);
            lines.iter().flatten().map(|(_, text)| text.trim()).collect::<Vec<_>>().join(" ")
        };
        for (columns, most) in [(76, 3), (56, 2)] {
            let all = shown(columns, most);
            assert!(all.contains("… I'll check cabinet 2") && all.contains("… I'll check shelf 3"), "{all}");
        }
        assert!(shown(76, MAX_LINES).contains("think: I'll find a"));
    }

    /// Regression: rows such as `seen, cabinet 1: items` and `seen, cabinet 2: open` had the same name, `seen, cabinet…`.
    #[test]
    fn long_names_are_shown_whole() {
        let entry = ComparisonEntry {
            topic: "world",
            name: "seen, cabinet 1: items".to_owned(),
            left: Some("nothing".to_owned()),
            right: Some("mug 1".to_owned()),
        };
        for (columns, name, other_rows) in [(120, 0, 0), (40, 1, 1)] {
            let lines = side_by_side(&entry, SideLayout::for_width(columns), MAX_LINES, &UNICODE);
            let names: Vec<&str> = lines.iter().map(|line| line[name].1.trim()).collect();
            let rows = lines.len() / (1 + other_rows);
            assert_eq!(names[..rows].join(" "), entry.name, "{lines:?}");
            assert!(rows > 1, "{lines:?}");
        }
    }
}
