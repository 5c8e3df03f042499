//! What is told of one row: in the lower part of the window, on a page of its own, and to be copied.

use super::super::prompt_view::changed_lines;
use super::super::window::{Line, paragraph};
use super::rows::{SideLayout, padded};
use crate::text::{one_line, truncate, wrap_at_most};
use crate::timeline::compare::{Comparison, ComparisonEntry, PriorDifferences, Reason, RowKind};
use crate::ui::compare::PtrEqArc;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// Columns of what a line is about.
const NAME_COLUMNS: usize = 14;
/// Lines of one text where all is told, and at least where little room is.
const MAX_LINES: usize = 200;
const MIN_LINES: usize = 3;

/// The lower part of the window, in as many rows as there are: each text has as many lines as
/// fit, and what is cut says so. There may be more rows all the same.
pub(super) fn preview_lines(
    found: &Comparison,
    row: usize,
    shape: SideLayout,
    glyphs: &Glyphs,
    rows: usize,
) -> Vec<Line> {
    let whole = short_lines(found, row, shape, glyphs, MAX_LINES);
    if whole.len() <= rows {
        return whole;
    }
    let (mut fits, mut most) = (MIN_LINES, rows.max(MIN_LINES));
    while fits < most {
        let lines = (fits + most).div_ceil(2);
        if short_lines(found, row, shape, glyphs, lines).len() <= rows {
            fits = lines;
        } else {
            most = lines - 1;
        }
    }
    short_lines(found, row, shape, glyphs, fits)
}

/// The chosen row, and at the first difference what preceded it; each text in at most so many lines.
fn short_lines(found: &Comparison, row: usize, shape: SideLayout, glyphs: &Glyphs, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if found.first_difference == Some(row) {
        lines.extend(reason_lines(found, shape));
        let sayings = found.prior.as_ref().map(PriorDifferences::entries).unwrap_or_default();
        let (did, rest): (Vec<_>, Vec<_>) =
            found.decision_entries(row).into_iter().partition(|s| s.name == "did");
        // What was done, then what may have brought it about: where there is little room, that is what counts.
        for said in did.iter().chain(&sayings).chain(&rest) {
            lines.extend(side_by_side(said, shape, most, glyphs));
        }
        return lines;
    }
    for said in row_texts(found, row) {
        lines.extend(side_by_side(&said, shape, most, glyphs));
    }
    lines
}

/// The whole page.
pub(super) fn page_lines(
    found: &Comparison,
    row: usize,
    before: Option<&Result<PtrEqArc<PriorDifferences>, String>>,
    shape: SideLayout,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let columns = total_columns(shape);
    let heading = |words: &str| vec![(Role::Title, words.to_owned())];
    let mut lines = Vec::new();
    let mut about = "";
    for said in &found.run_entries() {
        if std::mem::replace(&mut about, said.topic) != said.topic {
            lines.push(heading(said.topic));
        }
        lines.extend(side_by_side(said, shape, MAX_LINES, glyphs));
    }
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    if found.first_difference == Some(row) {
        lines.extend(reason_lines(found, shape));
    }
    for said in found.decision_entries(row) {
        lines.extend(side_by_side(&said, shape, MAX_LINES, glyphs));
    }
    lines.push(Line::new());
    match before {
        None => lines.push(vec![(Role::Muted, "what preceded it is being looked up ...".to_owned())]),
        Some(Err(why)) => lines.extend(paragraph((Role::Bad, ""), Role::Bad, why, columns)),
        Some(Ok(before)) => {
            let before = &*before.0;
            let sayings = before.entries();
            lines.push(heading(if sayings.is_empty() {
                "Nothing that preceded it differs"
            } else {
                "What preceded it"
            }));
            let mut about = "";
            for said in &sayings {
                if std::mem::replace(&mut about, said.topic) != said.topic {
                    lines.push(vec![(Role::Muted, said.topic.to_owned())]);
                }
                lines.extend(side_by_side(said, shape, MAX_LINES, glyphs));
            }
            if let Some((a, b)) = before.prompts.as_ref().filter(|_| !before.segments.is_empty()) {
                lines.push(Line::new());
                lines.push(heading("The prompts, from left to right"));
                let (x, y) = &before.states;
                lines.extend(changed_lines((x, a), (y, b), columns));
            }
        }
    }
    lines.push(Line::new());
    lines.push(heading("What they came to"));
    for said in found.outcome_entries() {
        lines.extend(side_by_side(&said, shape, MAX_LINES, glyphs));
    }
    lines
}

/// The row as text, to be copied.
pub(super) fn copy_text(found: &Comparison, row: usize) -> String {
    let side = |text: Option<&String>| text.cloned().unwrap_or_default();
    let each = found.decision_entries(row).into_iter();
    let lines: Vec<String> = each
        .map(|s| format!("{}\n- {}\n+ {}\n", s.name, side(s.left.as_ref()), side(s.right.as_ref())))
        .collect();
    format!("{} | {}\n{}", found.left.name, found.right.name, lines.concat())
}

fn total_columns(shape: SideLayout) -> u16 {
    let all = if shape.two_columns { shape.side_columns * 2 + 3 } else { shape.side_columns + 2 };
    u16::try_from(all).unwrap_or(u16::MAX)
}

fn reason_lines(found: &Comparison, shape: SideLayout) -> Vec<Line> {
    let words: Vec<&str> = found.reasons().into_iter().map(Reason::description).collect();
    let words = format!("first difference: {}", words.join("; "));
    paragraph((Role::Warning, ""), Role::Warning, &words, total_columns(shape))
}

/// What the sides of a row did and saw. A side without a step in it has nothing here.
fn row_texts(found: &Comparison, row: usize) -> Vec<ComparisonEntry> {
    let Some(at) = found.rows.get(row) else { return Vec::new() };
    let mut all = found.decision_entries(row);
    all.retain(|s| s.name != "step");
    for said in &mut all {
        match at.kind() {
            RowKind::OnlyLeft => said.right = None,
            RowKind::OnlyRight => said.left = None,
            RowKind::Same | RowKind::Changed => {}
        }
    }
    all.retain(|s| s.left.is_some() || s.right.is_some());
    all
}

/// Two texts beside each other under their name, or one below the other.
fn side_by_side(said: &ComparisonEntry, shape: SideLayout, most: usize, glyphs: &Glyphs) -> Vec<Line> {
    let same = said.left == said.right;
    let (left, right) = if same { (Role::Text, Role::Text) } else { (Role::Removed, Role::Added) };
    let wrapped = |text: &Option<String>, room: usize| match text {
        None => vec![String::new()],
        Some(text) => {
            let (mut lines, cut) = wrap_at_most(&one_line(text), room.max(1), most);
            if let Some(last) = lines.last_mut().filter(|_| cut) {
                *last = truncate(&format!("{last} {}", glyphs.ellipsis), room.max(1), glyphs.ellipsis);
            }
            lines
        }
    };
    if !shape.two_columns {
        let mut lines = Vec::new();
        let sides = [("- ", left, &said.left), ("+ ", right, &said.right)];
        let sides = if same { &sides[..1] } else { &sides[..] };
        for (mark, role, text) in sides.iter().filter(|s| s.2.is_some()) {
            let mark = if same { "  " } else { mark };
            let name = padded(&said.name, 11, glyphs);
            for (place, row) in wrapped(text, shape.side_columns.saturating_sub(11)).into_iter().enumerate() {
                let name = if place == 0 { name.clone() } else { " ".repeat(11) };
                lines.push(vec![(*role, mark.to_owned()), (Role::Muted, name), (*role, row)]);
            }
        }
        return lines;
    }
    let room = shape.side_columns.saturating_sub(NAME_COLUMNS);
    let (a, b) = (wrapped(&said.left, room), wrapped(&said.right, shape.side_columns));
    let joint = " | ".replace('|', glyphs.box_drawing[1 | 4]);
    (0..a.len().max(b.len()))
        .map(|place| {
            let at = |side: &[String]| side.get(place).cloned().unwrap_or_default();
            let name = if place == 0 { said.name.as_str() } else { "" };
            vec![
                (Role::Muted, padded(name, NAME_COLUMNS - 1, glyphs) + " "),
                (left, padded(&at(&a), room, glyphs)),
                (Role::FrameOverlay, joint.clone()),
                (right, at(&b)),
            ]
        })
        .collect()
}
