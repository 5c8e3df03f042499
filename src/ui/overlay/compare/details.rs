//! What is told of one row: in the lower part of the window, on a page of its own, and to be copied.

use super::super::prompt::words;
use super::super::window::{Line, paragraph};
use super::rows::{Shape, fitted};
use crate::text::{one_line, truncate, wrap_at_most};
use crate::timeline::compare::{Comparison, ComparisonEntry, PriorDifferences, Reason, RowKind};
use crate::ui::compare::Shared;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// Columns of what a line is about.
const NAME: usize = 14;
/// Lines of one text where all is told, and at least where little room is.
const ALL: usize = 200;
const FEW: usize = 3;

/// The lower part of the window, in as many rows as there are: each text has as many lines as
/// fit, and what is cut says so. There may be more rows all the same.
pub(super) fn lower(found: &Comparison, row: usize, shape: Shape, glyphs: &Glyphs, rows: usize) -> Vec<Line> {
    let whole = brief(found, row, shape, glyphs, ALL);
    if whole.len() <= rows {
        return whole;
    }
    let (mut fits, mut most) = (FEW, rows.max(FEW));
    while fits < most {
        let lines = (fits + most).div_ceil(2);
        if brief(found, row, shape, glyphs, lines).len() <= rows {
            fits = lines;
        } else {
            most = lines - 1;
        }
    }
    brief(found, row, shape, glyphs, fits)
}

/// The chosen row, and at the first difference what preceded it; each text in at most so many lines.
fn brief(found: &Comparison, row: usize, shape: Shape, glyphs: &Glyphs, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if found.first_difference == Some(row) {
        lines.extend(reasons(found, shape));
        let sayings = found.prior.as_ref().map(PriorDifferences::entries).unwrap_or_default();
        let (did, rest): (Vec<_>, Vec<_>) =
            found.decision_entries(row).into_iter().partition(|s| s.name == "did");
        // What was done, then what may have brought it about: where there is little room, that is what counts.
        for said in did.iter().chain(&sayings).chain(&rest) {
            lines.extend(side_by_side(said, shape, most, glyphs));
        }
        return lines;
    }
    for said in sides(found, row) {
        lines.extend(side_by_side(&said, shape, most, glyphs));
    }
    lines
}

/// The whole page.
pub(super) fn all(
    found: &Comparison,
    row: usize,
    before: Option<&Result<Shared<PriorDifferences>, String>>,
    shape: Shape,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let columns = columns(shape);
    let heading = |words: &str| vec![(Role::Title, words.to_owned())];
    let mut lines = Vec::new();
    let mut about = "";
    for said in &found.run_entries() {
        if std::mem::replace(&mut about, said.topic) != said.topic {
            lines.push(heading(said.topic));
        }
        lines.extend(side_by_side(said, shape, ALL, glyphs));
    }
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    if found.first_difference == Some(row) {
        lines.extend(reasons(found, shape));
    }
    for said in found.decision_entries(row) {
        lines.extend(side_by_side(&said, shape, ALL, glyphs));
    }
    lines.push(Line::new());
    match before {
        None => lines.push(vec![(Role::Dim, "what preceded it is being looked up ...".to_owned())]),
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
                    lines.push(vec![(Role::Dim, said.topic.to_owned())]);
                }
                lines.extend(side_by_side(said, shape, ALL, glyphs));
            }
            if let Some((a, b)) = before.prompts.as_ref().filter(|_| !before.segments.is_empty()) {
                lines.push(Line::new());
                lines.push(heading("The prompts, from left to right"));
                let (x, y) = &before.states;
                lines.extend(words((x, a), (y, b), columns));
            }
        }
    }
    lines.push(Line::new());
    lines.push(heading("What they came to"));
    for said in found.outcome_entries() {
        lines.extend(side_by_side(&said, shape, ALL, glyphs));
    }
    lines
}

/// The row as text, to be copied.
pub(super) fn text(found: &Comparison, row: usize) -> String {
    let side = |text: Option<&String>| text.cloned().unwrap_or_default();
    let each = found.decision_entries(row).into_iter();
    let lines: Vec<String> = each
        .map(|s| format!("{}\n- {}\n+ {}\n", s.name, side(s.left.as_ref()), side(s.right.as_ref())))
        .collect();
    format!("{} | {}\n{}", found.left.name, found.right.name, lines.concat())
}

fn columns(shape: Shape) -> u16 {
    let all = if shape.two { shape.side * 2 + 3 } else { shape.side + 2 };
    u16::try_from(all).unwrap_or(u16::MAX)
}

fn reasons(found: &Comparison, shape: Shape) -> Vec<Line> {
    let words: Vec<&str> = found.reasons().into_iter().map(Reason::description).collect();
    let words = format!("first difference: {}", words.join("; "));
    paragraph((Role::Warn, ""), Role::Warn, &words, columns(shape))
}

/// What the sides of a row did and saw. A side without a step in it has nothing here.
fn sides(found: &Comparison, row: usize) -> Vec<ComparisonEntry> {
    let Some(at) = found.rows.get(row) else { return Vec::new() };
    let mut all = found.decision_entries(row);
    all.retain(|s| s.name != "turn");
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
fn side_by_side(said: &ComparisonEntry, shape: Shape, most: usize, glyphs: &Glyphs) -> Vec<Line> {
    let same = said.left == said.right;
    let (left, right) = if same { (Role::Text, Role::Text) } else { (Role::Removed, Role::Added) };
    let wrapped = |text: &Option<String>, room: usize| match text {
        None => vec![String::new()],
        Some(text) => {
            let (mut lines, cut) = wrap_at_most(&one_line(text), room.max(1), most);
            if let Some(last) = lines.last_mut().filter(|_| cut) {
                *last = truncate(&format!("{last} {}", glyphs.more), room.max(1), glyphs.more);
            }
            lines
        }
    };
    if !shape.two {
        let mut lines = Vec::new();
        let sides = [("- ", left, &said.left), ("+ ", right, &said.right)];
        let sides = if same { &sides[..1] } else { &sides[..] };
        for (mark, role, text) in sides.iter().filter(|s| s.2.is_some()) {
            let mark = if same { "  " } else { mark };
            let name = fitted(&said.name, 11, glyphs);
            for (place, row) in wrapped(text, shape.side.saturating_sub(11)).into_iter().enumerate() {
                let name = if place == 0 { name.clone() } else { " ".repeat(11) };
                lines.push(vec![(*role, mark.to_owned()), (Role::Dim, name), (*role, row)]);
            }
        }
        return lines;
    }
    let room = shape.side.saturating_sub(NAME);
    let (a, b) = (wrapped(&said.left, room), wrapped(&said.right, shape.side));
    let joint = " | ".replace('|', glyphs.joints[1 | 4]);
    (0..a.len().max(b.len()))
        .map(|place| {
            let at = |side: &[String]| side.get(place).cloned().unwrap_or_default();
            let name = if place == 0 { said.name.as_str() } else { "" };
            vec![
                (Role::Dim, fitted(name, NAME - 1, glyphs) + " "),
                (left, fitted(&at(&a), room, glyphs)),
                (Role::FrameOverlay, joint.clone()),
                (right, at(&b)),
            ]
        })
        .collect()
}
