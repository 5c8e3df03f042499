//! The aligned rows: one line each, or two if there is only room for one column. Only visible lines are built.

use super::super::window::{Line, Scroll};
use crate::text::{truncate, width};
use crate::timeline::compare::{
    Comparison, Difference, Outcome, Row, RowKind, Side, StepPart, action_or_thought, pending_label,
};
use crate::ui::canvas::Canvas;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};

/// Minimum width for two columns.
const MIN_TWO_COLUMN_WIDTH: u16 = 72;

/// The layout of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SideLayout {
    /// Two columns, or one with `-` and `+` marks.
    pub(super) two_columns: bool,
    /// The width of a side in columns.
    pub(super) side_columns: usize,
}

impl SideLayout {
    pub(super) fn for_width(columns: u16) -> Self {
        let two = columns >= MIN_TWO_COLUMN_WIDTH;
        let columns = usize::from(columns);
        Self {
            two_columns: two,
            side_columns: if two { (columns - 3) / 2 } else { columns.saturating_sub(2) },
        }
    }
}

/// The part of a row that a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownSides {
    Both,
    Left,
    Right,
}

/// Whether the lines are for two columns, and for each line its row and the part it shows.
type CachedLines = (bool, Vec<(u32, ShownSides)>);

/// The list of aligned rows.
#[derive(Default)]
pub(super) struct AlignedRows {
    differences_only: bool,
    cached_lines: RefCell<Option<CachedLines>>,
    /// Whether the selected row has been centred.
    is_centred: Cell<bool>,
}

impl AlignedRows {
    /// Returns whether only differences are listed.
    pub(super) fn shows_differences_only(&self) -> bool {
        self.differences_only
    }

    /// Toggles between differences only and all rows. Returns the new selection: `chosen`, or the next listed row.
    pub(super) fn toggle_differences_only(&mut self, found: &Comparison, chosen: usize) -> usize {
        if found.first_difference.is_none() {
            return chosen;
        }
        self.differences_only = !self.differences_only;
        *self.cached_lines.borrow_mut() = None;
        if !self.differences_only || found.rows[chosen].kind() != RowKind::Same {
            return chosen;
        }
        found.next_difference(chosen, false).or_else(|| found.next_difference(chosen, true)).unwrap_or(chosen)
    }

    /// Centres the selected row at the next draw.
    pub(super) fn centre_on_next_draw(&self) {
        self.is_centred.set(false);
    }

    /// Returns the row `by` listed rows away from `chosen`, stopping at the ends.
    pub(super) fn offset_row(&self, found: &Comparison, chosen: usize, by: isize) -> usize {
        let listed = |at: &usize| !self.differences_only || found.rows[*at].kind() != RowKind::Same;
        let far = by.unsigned_abs();
        let step = |to: Option<usize>| to.unwrap_or(chosen);
        if by >= 0 {
            let mut ahead = (chosen + 1..found.rows.len()).filter(listed);
            let mut last = None;
            for _ in 0..far {
                let Some(next) = ahead.next() else { break };
                last = Some(next);
            }
            step(last)
        } else {
            let mut behind = (0..chosen).rev().filter(listed);
            let mut last = None;
            for _ in 0..far {
                let Some(next) = behind.next() else { break };
                last = Some(next);
            }
            step(last)
        }
    }

    /// Returns the row that a line showed in the last draw.
    pub(super) fn row_at_line(&self, line: usize) -> Option<usize> {
        self.cached_lines.borrow().as_ref()?.1.get(line).map(|l| l.0 as usize)
    }

    fn build_lines(&self, found: &Comparison, two: bool) {
        let mut made = self.cached_lines.borrow_mut();
        if made.as_ref().is_some_and(|m| m.0 == two) {
            return;
        }
        let mut lines = Vec::with_capacity(found.rows.len());
        for (at, row) in found.rows.iter().enumerate() {
            let at = at as u32;
            match row.kind() {
                RowKind::Same if self.differences_only => {}
                RowKind::Changed if !two => lines.extend([(at, ShownSides::Left), (at, ShownSides::Right)]),
                RowKind::OnlyLeft if !two => lines.push((at, ShownSides::Left)),
                RowKind::OnlyRight if !two => lines.push((at, ShownSides::Right)),
                _ => lines.push((at, ShownSides::Both)),
            }
        }
        *made = Some((two, lines));
    }

    pub(super) fn draw(
        &self,
        found: &Comparison,
        chosen: usize,
        layout: SideLayout,
        (glyphs, scroll): (&Glyphs, &Scroll),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        self.build_lines(found, layout.two_columns);
        let made = self.cached_lines.borrow();
        let Some((_, lines)) = made.as_ref() else { return };
        let at = lines.partition_point(|l| (l.0 as usize) < chosen);
        if !self.is_centred.replace(true) {
            scroll.scroll_to(at.saturating_sub(usize::from(area.height) / 2));
        }
        // Reveal the second line of the selected row as well.
        let last = lines.partition_point(|l| l.0 as usize <= chosen).saturating_sub(1).max(at);
        scroll.reveal(last, lines.len(), usize::from(area.height));
        scroll.draw_list(at, lines.len(), area, canvas, |place| {
            let Some((row, half)) = lines.get(place).copied() else { return Line::new() };
            let row = row as usize;
            row_line(found, row, half, row == chosen, layout, glyphs)
        });
    }
}

/// Returns the number of rows of the preview below the list, including its rule.
pub(super) fn preview_rows(height: u16) -> u16 {
    match height {
        0..=7 => 0,
        8..=13 => 4,
        14..=24 => height / 3,
        _ => height * 2 / 5,
    }
}

/// Returns the header: both sides with their outcomes, and how the runs differ.
pub(super) fn header_lines(found: &Comparison, layout: SideLayout, glyphs: &Glyphs) -> Vec<Line> {
    let title = |side: &Side, o: &Outcome| {
        format!("{}: {}, {} steps, {:.2}", side.name, o.verdict(), o.steps, o.progress)
    };
    let a = title(&found.left, &found.outcomes.0);
    let b = title(&found.right, &found.outcomes.1);
    let mut lines = if layout.two_columns {
        vec![vec![
            (Role::Removed, padded(&a, layout.side_columns, glyphs)),
            (Role::FrameOverlay, " | ".replace('|', glyphs.box_drawing[1 | 4])),
            (Role::Added, truncate(&b, layout.side_columns, glyphs.ellipsis)),
        ]]
    } else {
        let one = |mark: &str, role, words: &str| {
            vec![(role, mark.to_owned()), (role, truncate(words, layout.side_columns, glyphs.ellipsis))]
        };
        vec![one("- ", Role::Removed, &a), one("+ ", Role::Added, &b)]
    };
    lines.extend(run_difference_lines(found, layout, glyphs));
    lines
}

/// Returns one line for differences before the first step and one for later ones; the details page has the full text.
fn run_difference_lines(found: &Comparison, layout: SideLayout, glyphs: &Glyphs) -> Vec<Line> {
    let columns = if layout.two_columns { layout.side_columns * 2 + 3 } else { layout.side_columns + 2 };
    let line = |head: &str, list: &[Difference]| {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let each = list.iter().map(|d| format!("{} {} | {}", d.name, side(&d.left), side(&d.right)));
        let words = format!("{head}: {}", each.collect::<Vec<_>>().join("; "));
        vec![(Role::Warning, truncate(&words, columns, glyphs.ellipsis))]
    };
    let both =
        [("before the first step", &found.initial_differences), ("changed later", &found.later_differences)];
    both.into_iter().filter(|(_, list)| !list.is_empty()).map(|(head, list)| line(head, list)).collect()
}

/// Cuts or fills a text to exactly `columns` columns.
pub(super) fn padded(text: &str, columns: usize, glyphs: &Glyphs) -> String {
    let text = truncate(text, columns, glyphs.ellipsis);
    let rest = columns.saturating_sub(width(&text));
    text + &" ".repeat(rest)
}

fn row_line(
    found: &Comparison,
    at: usize,
    half: ShownSides,
    chosen: bool,
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Line {
    let Some(row) = found.rows.get(at) else { return Line::new() };
    let first = found.first_difference == Some(at);
    let kind = row.kind();
    let role = |side: Role| match kind {
        _ if chosen => Role::Selection,
        RowKind::Same => Role::Muted,
        RowKind::Changed => Role::Text,
        _ => side,
    };
    let cell =
        |side: &Side, number: Option<u32>| number.map_or_else(String::new, |n| step_text(side, n, row));
    let (a, b) = (cell(&found.left, row.left), cell(&found.right, row.right));
    if !layout.two_columns {
        let mark = if first { glyphs.proposal } else { " " };
        let (sign, role, text) = match half {
            ShownSides::Both => (mark, role(Role::Muted), a),
            ShownSides::Left => ("-", role(Role::Removed), a),
            ShownSides::Right => ("+", role(Role::Added), b),
        };
        let marked = if first && (half == ShownSides::Left || kind == RowKind::OnlyRight) {
            Role::Warning
        } else {
            role
        };
        return vec![
            (marked, format!("{sign} ")),
            (role, truncate(&text, layout.side_columns, glyphs.ellipsis)),
        ];
    }
    let sign = match kind {
        _ if first => glyphs.proposal,
        RowKind::Same => " ",
        RowKind::Changed => "~",
        RowKind::OnlyLeft => "<",
        RowKind::OnlyRight => ">",
    };
    let mark = match () {
        () if chosen => Role::Selection,
        () if first => Role::Warning,
        () => Role::Mark,
    };
    vec![
        (role(Role::Removed), padded(&a, layout.side_columns, glyphs)),
        (mark, format!(" {sign} ")),
        (role(Role::Added), padded(&b, layout.side_columns, glyphs)),
    ]
}

/// Returns a step in one line: its action or thought, and the names of its other parts that differ.
fn step_text(side: &Side, number: u32, row: &Row) -> String {
    let Some(step) = side.episode.step(number) else { return "  0   the first observation".to_owned() };
    let action = action_or_thought(step);
    let text = match action.strip_prefix("think:") {
        Some(thought) => format!("{number:>3} think {}", thought.trim()),
        None if action.is_empty() => format!("{number:>3} >"),
        None => format!("{number:>3} > {action}"),
    };
    if let Some(pending) = pending_label(step) {
        return format!("{text} ({pending})");
    }
    let hidden: Vec<&str> = row.parts.iter().filter(|p| *p != StepPart::Action).map(StepPart::name).collect();
    if hidden.is_empty() || row.parts.contains(StepPart::Action) {
        return text;
    }
    format!("{text}  ({})", hidden.join(", "))
}
