//! The aligned rows of a comparison. A row is one line, or up to two lines if there is room for only one column. Only
//! visible lines are rendered.

use crate::domain::pluralize;
use crate::text::{truncate, width};
use crate::timeline::compare::{
    Comparison, Difference, Outcome, Row, RowKind, Side, StepPart, action_or_thought, pending_label,
};
use crate::ui::canvas::Canvas;
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, Scroll};
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

/// The sides of a row that a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownSides {
    Both,
    Left,
    Right,
}

/// Whether the lines are laid out in two columns, and the row and the sides that each line shows.
type CachedLines = (bool, Vec<(u32, ShownSides)>);

/// The list of aligned rows.
#[derive(Default)]
pub(super) struct AlignedRows {
    differences_only: bool,
    cached_lines: RefCell<Option<CachedLines>>,
    /// Whether the selected row was centred since [`Self::centre_on_next_draw`].
    is_centred: Cell<bool>,
}

impl AlignedRows {
    /// Returns whether only differences are listed.
    pub(super) fn shows_differences_only(&self) -> bool {
        self.differences_only
    }

    /// Switches between all rows and differences only. Returns the new selection, which is another row if the selected
    /// one is no longer listed.
    pub(super) fn toggle_differences_only(&mut self, comparison: &Comparison, selected: usize) -> usize {
        if comparison.first_difference.is_none() {
            return selected;
        }
        self.differences_only = !self.differences_only;
        *self.cached_lines.borrow_mut() = None;
        if !self.differences_only || comparison.rows[selected].kind() != RowKind::Same {
            return selected;
        }
        comparison
            .next_difference(selected, false)
            .or_else(|| comparison.next_difference(selected, true))
            .unwrap_or(selected)
    }

    /// Centres the selected row at the next draw.
    pub(super) fn centre_on_next_draw(&self) {
        self.is_centred.set(false);
    }

    /// Returns the row `by` listed rows away from the selected one (negative: above it), stopping at the ends.
    pub(super) fn offset_row(&self, comparison: &Comparison, selected: usize, by: isize) -> usize {
        let listed = |at: &usize| !self.differences_only || comparison.rows[*at].kind() != RowKind::Same;
        let count = by.unsigned_abs();
        let or_selected = |to: Option<usize>| to.unwrap_or(selected);
        if by >= 0 {
            let mut ahead = (selected + 1..comparison.rows.len()).filter(listed);
            let mut last = None;
            for _ in 0..count {
                let Some(next) = ahead.next() else { break };
                last = Some(next);
            }
            or_selected(last)
        } else {
            let mut behind = (0..selected).rev().filter(listed);
            let mut last = None;
            for _ in 0..count {
                let Some(next) = behind.next() else { break };
                last = Some(next);
            }
            or_selected(last)
        }
    }

    /// Returns the row that a line showed when last drawn.
    pub(super) fn row_at_line(&self, line: usize) -> Option<usize> {
        self.cached_lines.borrow().as_ref()?.1.get(line).map(|l| l.0 as usize)
    }

    fn build_lines(&self, comparison: &Comparison, two: bool) {
        let mut cache = self.cached_lines.borrow_mut();
        if cache.as_ref().is_some_and(|m| m.0 == two) {
            return;
        }
        let mut lines = Vec::with_capacity(comparison.rows.len());
        for (row_index, row) in comparison.rows.iter().enumerate() {
            let row_index = row_index as u32;
            match row.kind() {
                RowKind::Same if self.differences_only => {}
                RowKind::Changed if !two => {
                    lines.extend([(row_index, ShownSides::Left), (row_index, ShownSides::Right)]);
                }
                RowKind::OnlyLeft if !two => lines.push((row_index, ShownSides::Left)),
                RowKind::OnlyRight if !two => lines.push((row_index, ShownSides::Right)),
                _ => lines.push((row_index, ShownSides::Both)),
            }
        }
        *cache = Some((two, lines));
    }

    pub(super) fn draw(
        &self,
        comparison: &Comparison,
        chosen: usize,
        layout: SideLayout,
        (glyphs, scroll): (&Glyphs, &Scroll),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        self.build_lines(comparison, layout.two_columns);
        let cache = self.cached_lines.borrow();
        let Some((_, lines)) = cache.as_ref() else { return };
        let first_line = lines.partition_point(|l| (l.0 as usize) < chosen);
        if !self.is_centred.replace(true) {
            scroll.scroll_to(first_line.saturating_sub(usize::from(area.height) / 2));
        }
        // Reveal the second line of the selected row as well.
        let last_line = lines.partition_point(|l| l.0 as usize <= chosen).saturating_sub(1).max(first_line);
        scroll.reveal(last_line, lines.len(), usize::from(area.height));
        scroll.draw_list(first_line, lines.len(), area, canvas, |place| {
            let Some((row, half)) = lines.get(place).copied() else { return Line::new() };
            let row = row as usize;
            row_line(comparison, row, half, row == chosen, layout, glyphs)
        });
    }
}

/// Returns the height of the preview below the list, including its separator line.
pub(super) fn preview_rows(height: u16) -> u16 {
    match height {
        0..=7 => 0,
        8..=13 => 4,
        14..=24 => height / 3,
        _ => height * 2 / 5,
    }
}

/// Returns the header: both sides with their outcomes, and the settings that differ.
pub(super) fn header_lines(comparison: &Comparison, layout: SideLayout, glyphs: &Glyphs) -> Vec<Line> {
    let title = |side: &Side, outcome: &Outcome| {
        format!(
            "{}: {}, {}, {:.2}",
            side.name,
            outcome.verdict(),
            pluralize(outcome.steps.into(), "step"),
            outcome.progress
        )
    };
    let a = title(&comparison.left, &comparison.outcomes.0);
    let b = title(&comparison.right, &comparison.outcomes.1);
    let mut lines = if layout.two_columns {
        vec![vec![
            (Role::Removed, padded(&a, layout.side_columns, glyphs)),
            (Role::FrameOverlay, " | ".replace('|', glyphs.box_drawing[1 | 4])),
            (Role::Added, truncate(&b, layout.side_columns, glyphs.ellipsis)),
        ]]
    } else {
        let signed_line = |mark: &str, role, text: &str| {
            vec![(role, mark.to_owned()), (role, truncate(text, layout.side_columns, glyphs.ellipsis))]
        };
        vec![signed_line("- ", Role::Removed, &a), signed_line("+ ", Role::Added, &b)]
    };
    lines.extend(run_difference_lines(comparison, layout, glyphs));
    lines
}

/// Returns one line for the differences before the first step and one for later ones, cut to the window's width. The
/// details page has the full text.
fn run_difference_lines(comparison: &Comparison, layout: SideLayout, glyphs: &Glyphs) -> Vec<Line> {
    let columns = if layout.two_columns { layout.side_columns * 2 + 3 } else { layout.side_columns + 2 };
    let line = |label: &str, list: &[Difference]| {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let each = list.iter().map(|d| format!("{} {} | {}", d.name, side(&d.left), side(&d.right)));
        let text = format!("{label}: {}", each.collect::<Vec<_>>().join("; "));
        vec![(Role::Warning, truncate(&text, columns, glyphs.ellipsis))]
    };
    let both = [
        ("before the first step", &comparison.initial_differences),
        ("changed later", &comparison.later_differences),
    ];
    both.into_iter().filter(|(_, list)| !list.is_empty()).map(|(label, list)| line(label, list)).collect()
}

/// Truncates or pads a text to exactly `columns` columns.
pub(super) fn padded(text: &str, columns: usize, glyphs: &Glyphs) -> String {
    let text = truncate(text, columns, glyphs.ellipsis);
    let rest = columns.saturating_sub(width(&text));
    text + &" ".repeat(rest)
}

fn row_line(
    comparison: &Comparison,
    row_index: usize,
    half: ShownSides,
    is_selected: bool,
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Line {
    let Some(row) = comparison.rows.get(row_index) else { return Line::new() };
    let is_first_difference = comparison.first_difference == Some(row_index);
    let kind = row.kind();
    let role = |side: Role| match kind {
        _ if is_selected => Role::Selection,
        RowKind::Same => Role::Muted,
        RowKind::Changed => Role::Text,
        _ => side,
    };
    let cell =
        |side: &Side, number: Option<u32>| number.map_or_else(String::new, |n| step_text(side, n, row));
    let (a, b) = (cell(&comparison.left, row.left), cell(&comparison.right, row.right));
    if !layout.two_columns {
        let mark = if is_first_difference { glyphs.proposal } else { " " };
        let (sign, role, text) = match half {
            ShownSides::Both => (mark, role(Role::Muted), a),
            ShownSides::Left => ("-", role(Role::Removed), a),
            ShownSides::Right => ("+", role(Role::Added), b),
        };
        let marked = if is_first_difference && (half == ShownSides::Left || kind == RowKind::OnlyRight) {
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
        _ if is_first_difference => glyphs.proposal,
        RowKind::Same => " ",
        RowKind::Changed => "~",
        RowKind::OnlyLeft => "<",
        RowKind::OnlyRight => ">",
    };
    let mark = match () {
        () if is_selected => Role::Selection,
        () if is_first_difference => Role::Warning,
        () => Role::Mark,
    };
    vec![
        (role(Role::Removed), padded(&a, layout.side_columns, glyphs)),
        (mark, format!(" {sign} ")),
        (role(Role::Added), padded(&b, layout.side_columns, glyphs)),
    ]
}

/// Returns one line for a step: its action or thought, then the names of other parts that differ.
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
    let other_parts: Vec<&str> =
        row.parts.iter().filter(|p| *p != StepPart::Action).map(StepPart::name).collect();
    if other_parts.is_empty() || row.parts.contains(StepPart::Action) {
        return text;
    }
    format!("{text}  ({})", other_parts.join(", "))
}
