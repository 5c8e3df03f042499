//! The aligned rows of a comparison. A row is one line, or up to two lines if there is room for only one column. Only
//! visible lines are rendered. Rows in which nothing differs are folded to one line, and many that only one side has.

use super::settings_line;
use crate::domain::pluralize;
use crate::text::{truncate, width};
use crate::timeline::compare::{
    Comparison, ComparisonEntry, Outcome, Row, RowKind, Side, StepPart, action_or_thought, pending_label,
};
use crate::ui::canvas::Canvas;
use crate::ui::glyphs::Glyphs;
use crate::ui::labels::episode_progress_text;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, Scroll};
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};

/// Minimum width for two columns.
const MIN_TWO_COLUMN_WIDTH: u16 = 72;

/// The layout of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SideLayout {
    /// Two columns, or one with the letters of the sides.
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

    /// Returns the width of a line in columns.
    pub(super) fn total_columns(self) -> usize {
        if self.two_columns { self.side_columns * 2 + 3 } else { self.side_columns + 2 }
    }
}

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinePart {
    /// Both sides of a row.
    Both,
    /// One side of a row.
    Left,
    Right,
    /// This many folded rows.
    Fold(u32),
}

/// Whether the lines are laid out in two columns, and for each line the row and what the line shows of it.
type CachedLines = (bool, Vec<(u32, LinePart)>);

/// The fewest rows in which nothing differs that are folded.
const MIN_FOLDED_ROWS: usize = 2;
/// The fewest rows of one side that are folded.
const MIN_FOLDED_SIDE_ROWS: usize = 5;

/// What is listed: a row, or several folded ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    first: u32,
    rows: u32,
}

/// The list of aligned rows.
#[derive(Default)]
pub(super) struct AlignedRows {
    /// In the order of the rows, each of which belongs to one item.
    items: Vec<Item>,
    shows_all: bool,
    cached_lines: RefCell<Option<CachedLines>>,
    /// Whether the selected row was centred since [`Self::centre_on_next_draw`].
    is_centred: Cell<bool>,
}

impl AlignedRows {
    pub(super) fn new(comparison: &Comparison) -> Self {
        let mut rows = Self::default();
        rows.list_items(comparison, false);
        rows
    }

    /// Creates the list of the rows up to one, in which those before it are folded.
    pub(super) fn until(row: usize) -> Self {
        let mut rows = Self::default();
        let before = row as u32;
        if row >= MIN_FOLDED_ROWS {
            rows.items.push(Item { first: 0, rows: before });
        } else {
            rows.items.extend((0..before).map(|first| Item { first, rows: 1 }));
        }
        rows.items.push(Item { first: before, rows: 1 });
        rows
    }

    /// Returns the last row that is listed.
    pub(super) fn last_row(&self) -> usize {
        self.items.last().map_or(0, |item| (item.first + item.rows).saturating_sub(1) as usize)
    }

    /// Lists the rows up to one as well, if they aren't listed yet.
    pub(super) fn show_until(&mut self, row: usize) {
        let next = self.items.last().map_or(0, |item| item.first + item.rows);
        self.items.extend((next..=row as u32).map(|first| Item { first, rows: 1 }));
        *self.cached_lines.borrow_mut() = None;
    }

    fn list_items(&mut self, comparison: &Comparison, shows_all: bool) {
        // The row to look at first is never folded.
        let shown = comparison.row_of_interest().and_then(|row| comparison.rows.get(row));
        let folds_with = |a: &Row, b: &Row| {
            let can_fold = |row: &Row| !row.pending && row.kind() != RowKind::Changed && Some(row) != shown;
            a.kind() == b.kind() && can_fold(a) && can_fold(b)
        };
        let mut items = Vec::new();
        let mut first = 0;
        for group in comparison.rows.chunk_by(folds_with) {
            let rows = group.len() as u32;
            let is_same = group.first().is_some_and(|row| row.kind() == RowKind::Same);
            let fewest = if is_same { MIN_FOLDED_ROWS } else { MIN_FOLDED_SIDE_ROWS };
            if !shows_all && group.len() >= fewest {
                items.push(Item { first, rows });
            } else {
                items.extend((first..first + rows).map(|first| Item { first, rows: 1 }));
            }
            first += rows;
        }
        (self.items, self.shows_all) = (items, shows_all);
        *self.cached_lines.borrow_mut() = None;
    }

    /// Returns the index of the item that holds a row.
    fn item_at(&self, row: usize) -> usize {
        self.items.partition_point(|item| item.first as usize <= row).saturating_sub(1)
    }

    /// Returns how many rows are folded at a row; 0 if it isn't folded.
    pub(super) fn folded_at(&self, row: usize) -> u32 {
        self.items.get(self.item_at(row)).map_or(0, |item| if item.rows > 1 { item.rows } else { 0 })
    }

    /// Unfolds the rows at a row.
    pub(super) fn unfold(&mut self, row: usize) {
        let at = self.item_at(row);
        let Some(Item { first, rows }) = self.items.get(at).copied() else { return };
        self.items.splice(at..=at, (first..first + rows).map(|first| Item { first, rows: 1 }));
        *self.cached_lines.borrow_mut() = None;
    }

    /// Unfolds all rows, or folds them again. Returns the new selection.
    pub(super) fn toggle_folds(&mut self, comparison: &Comparison, selected: usize) -> usize {
        self.list_items(comparison, !self.shows_all);
        self.items.get(self.item_at(selected)).map_or(selected, |item| item.first as usize)
    }

    /// Centres the selected row at the next draw.
    pub(super) fn centre_on_next_draw(&self) {
        self.is_centred.set(false);
    }

    /// Returns the row `by` listed items away from the selected one (negative: above it), stopping at the ends.
    pub(super) fn offset_row(&self, selected: usize, by: isize) -> usize {
        let to = self.item_at(selected).saturating_add_signed(by).min(self.items.len().saturating_sub(1));
        self.items.get(to).map_or(selected, |item| item.first as usize)
    }

    /// Returns the row that a line showed when last drawn.
    pub(super) fn row_at_line(&self, line: usize) -> Option<usize> {
        self.cached_lines.borrow().as_ref()?.1.get(line).map(|l| l.0 as usize)
    }

    /// Returns the number of lines in a layout.
    pub(super) fn line_count(&self, comparison: &Comparison, layout: SideLayout) -> usize {
        self.build_lines(comparison, layout.two_columns);
        self.cached_lines.borrow().as_ref().map_or(0, |(_, lines)| lines.len())
    }

    fn build_lines(&self, comparison: &Comparison, two: bool) {
        let mut cache = self.cached_lines.borrow_mut();
        if cache.as_ref().is_some_and(|m| m.0 == two) {
            return;
        }
        let mut lines = Vec::with_capacity(self.items.len());
        for Item { first, rows } in self.items.iter().copied() {
            match comparison.rows.get(first as usize).map(Row::kind) {
                _ if rows > 1 => lines.push((first, LinePart::Fold(rows))),
                Some(RowKind::Changed) if !two => {
                    lines.extend([(first, LinePart::Left), (first, LinePart::Right)]);
                }
                Some(RowKind::OnlyLeft) if !two => lines.push((first, LinePart::Left)),
                Some(RowKind::OnlyRight) if !two => lines.push((first, LinePart::Right)),
                _ => lines.push((first, LinePart::Both)),
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
            let Some((row, part)) = lines.get(place).copied() else { return Line::new() };
            let row = row as usize;
            let is_selected = row == chosen;
            match part {
                LinePart::Fold(rows) => fold_line(comparison, row, rows, is_selected, layout, glyphs),
                _ => row_line(comparison, row, part, is_selected, layout, glyphs),
            }
        });
    }
}

/// The rows of the list that a high preview leaves.
const MIN_LIST_ROWS: u16 = 5;

/// Returns the height of the preview below the list, including its separator line, if its text wants so many rows.
pub(super) fn preview_rows(height: u16, wanted: u16) -> u16 {
    let usual = match height {
        0..=7 => return 0,
        8..=13 => 4,
        14..=24 => height / 3,
        _ => (height * 2 / 5).min(15),
    };
    usual.max(wanted.saturating_add(1).min(height.saturating_sub(MIN_LIST_ROWS)))
}

/// The fewest rows of a window that has room for a rule below the header.
const MIN_RULED_HEIGHT: u16 = 28;
/// The fewest rows of a window whose header is a table.
const MIN_TABLE_HEIGHT: u16 = 20;

/// Returns the header: both sides with their outcomes, and the settings that differ.
pub(super) fn header_lines(
    comparison: &Comparison,
    layout: SideLayout,
    glyphs: &Glyphs,
    height: u16,
) -> Vec<Line> {
    let mut lines = Vec::new();
    if layout.two_columns && height >= MIN_TABLE_HEIGHT {
        let name = |letter: &str, side: &Side| format!("{letter}  {}", side.name);
        let names = (name("A", &comparison.left), name("B", &comparison.right));
        lines.push(vec![
            (Role::SideA, padded(&names.0, layout.side_columns, glyphs)),
            (Role::FrameOverlay, " | ".replace('|', glyphs.box_drawing[1 | 4])),
            (Role::SideB, truncate(&names.1, layout.side_columns, glyphs.ellipsis)),
        ]);
        for entry in comparison.outcome_entries() {
            let role = |side: Role, outcome: &Outcome| match outcome.reason {
                _ if entry.name != "outcome" => side,
                _ if outcome.won => Role::Good,
                None => side,
                Some(_) => Role::Bad,
            };
            // In the words of the other views.
            let text = |text: &Option<String>, side: &Side, outcome: &Outcome| match entry.name.as_str() {
                "progress" => episode_progress_text(outcome.progress, &side.episode),
                _ => text.clone().unwrap_or_default(),
            };
            let left = text(&entry.left, &comparison.left, &comparison.outcomes.0);
            let right = text(&entry.right, &comparison.right, &comparison.outcomes.1);
            let a = (role(Role::Text, &comparison.outcomes.0), left.as_str());
            let b = (role(Role::Text, &comparison.outcomes.1), right.as_str());
            lines.push(two_columns(&entry.name, a, b, layout, glyphs));
        }
    } else {
        // The outcome comes first, and what tells the sides apart stays whole: tokens and progress give way to the name, on both sides
        // alike.
        let all = [
            ("A ", Role::SideA, &comparison.left, &comparison.outcomes.0),
            ("B ", Role::SideB, &comparison.right, &comparison.outcomes.1),
        ];
        let room = layout.total_columns().saturating_sub(2);
        let text = |side: &Side, outcome: &Outcome, count: usize| {
            let facts = [
                outcome.ending(),
                pluralize(outcome.steps.into(), "step"),
                episode_progress_text(outcome.progress, &side.episode),
                format!("{} tokens", outcome.tokens),
            ];
            format!("{}: {}", facts[..count].join(", "), side.name)
        };
        let fits =
            |count: &usize| all.iter().all(|(.., side, outcome)| width(&text(side, outcome, *count)) <= room);
        let count = (1..=4).rev().find(fits).unwrap_or(1);
        lines.extend(all.map(|(letter, role, side, outcome)| {
            let text = truncate(&text(side, outcome, count), room, glyphs.ellipsis);
            vec![(role, letter.to_owned()), (role, text)]
        }));
    }
    lines.extend(run_difference_lines(comparison, layout, glyphs));
    if height >= MIN_RULED_HEIGHT {
        lines.push(vec![(Role::FrameOverlay, glyphs.box_drawing[2 | 8].repeat(layout.total_columns()))]);
    }
    lines
}

/// Columns for the name of an entry.
pub(super) const NAME_COLUMNS: usize = 14;

/// Lays out a name and the texts of both sides, one line each.
fn two_columns(
    name: &str,
    (left, a): (Role, &str),
    (right, b): (Role, &str),
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Line {
    let room = layout.side_columns.saturating_sub(NAME_COLUMNS);
    vec![
        (Role::Muted, padded(name, NAME_COLUMNS - 1, glyphs) + " "),
        (left, padded(a, room, glyphs)),
        (Role::FrameOverlay, " | ".replace('|', glyphs.box_drawing[1 | 4])),
        (right, truncate(b, layout.side_columns, glyphs.ellipsis)),
    ]
}

/// Returns one line for the settings that differ before the first step and one for later changes. The details page has the full
/// text.
fn run_difference_lines(comparison: &Comparison, layout: SideLayout, glyphs: &Glyphs) -> Vec<Line> {
    let columns = layout.total_columns();
    let entries = comparison.run_entries();
    let (before, later) = entries.split_at(comparison.initial_differences.len().min(entries.len()));
    let both = [("settings", before), ("changed later", later)];
    let lines = both.into_iter().filter(|(_, list)| list.iter().any(ComparisonEntry::differs));
    let fits = |(a, b): &(String, String)| {
        layout.two_columns
            && width(a) <= layout.side_columns.saturating_sub(NAME_COLUMNS)
            && width(b) <= layout.side_columns
    };
    let line = |(label, list): (&str, &[ComparisonEntry])| {
        let Some((a, b)) = settings_line::in_columns(list).filter(fits) else {
            return settings_line::line(label, list, columns, glyphs);
        };
        let mut line = two_columns(label, (Role::SideA, &a), (Role::SideB, &b), layout, glyphs);
        line[0].0 = Role::Warning;
        line
    };
    lines.map(line).collect()
}

/// Truncates or pads a text to exactly `columns` columns.
pub(super) fn padded(text: &str, columns: usize, glyphs: &Glyphs) -> String {
    let text = truncate(text, columns, glyphs.ellipsis);
    let rest = columns.saturating_sub(width(&text));
    text + &" ".repeat(rest)
}

/// Returns the line of folded rows.
fn fold_line(
    comparison: &Comparison,
    first: usize,
    rows: u32,
    is_selected: bool,
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Line {
    let kind = comparison.rows.get(first).map(Row::kind);
    let role = match kind {
        _ if is_selected => Role::Selection,
        Some(RowKind::OnlyLeft) => Role::SideA,
        Some(RowKind::OnlyRight) => Role::SideB,
        _ => Role::Muted,
    };
    let text = format!("{} {}", glyphs.ellipsis, fold_text(comparison, first, rows));
    if !layout.two_columns {
        return vec![(role, padded(&text, layout.total_columns(), glyphs))];
    }
    let text = format!("  {text}");
    // The steps of one side stand in its column.
    let (a, sign, b) = match kind {
        Some(RowKind::OnlyLeft) => (text.as_str(), "<", ""),
        Some(RowKind::OnlyRight) => ("", ">", text.as_str()),
        _ => return vec![(role, padded(&text, layout.total_columns(), glyphs))],
    };
    vec![
        (role, padded(a, layout.side_columns, glyphs)),
        (if is_selected { Role::Selection } else { Role::Mark }, format!(" {sign} ")),
        (role, padded(b, layout.side_columns, glyphs)),
    ]
}

/// Describes folded rows.
pub(super) fn fold_text(comparison: &Comparison, first: usize, rows: u32) -> String {
    let side = comparison.rows.get(first).and_then(|row| match row.kind() {
        RowKind::OnlyLeft => Some(("A", row.left?)),
        RowKind::OnlyRight => Some(("B", row.right?)),
        RowKind::Same | RowKind::Changed => None,
    });
    if let Some((side, from)) = side {
        return format!("{} ({from} to {}) only in {side}", pluralize(rows.into(), "step"), from + rows - 1);
    }
    // The first row is that of the first observations, which is no step.
    let has_start = comparison.rows.get(first).is_some_and(|row| row.left == Some(0));
    let steps = pluralize(u64::from(rows) - u64::from(has_start), "step");
    let start = if has_start { "the start and " } else { "" };
    format!("{start}{steps} the same")
}

fn row_line(
    comparison: &Comparison,
    row_index: usize,
    part: LinePart,
    is_selected: bool,
    layout: SideLayout,
    glyphs: &Glyphs,
) -> Line {
    let Some(row) = comparison.rows.get(row_index) else { return Line::new() };
    let is_first_difference = comparison.row_of_interest() == Some(row_index);
    let kind = row.kind();
    let role = |side: Role| match kind {
        _ if is_selected => Role::Selection,
        RowKind::Same => Role::Muted,
        RowKind::Changed => Role::Text,
        _ => side,
    };
    let cell = |side: &Side, number: Option<u32>| number.map(|n| step_text(side, n, row)).unwrap_or_default();
    let ((lead_a, a), (lead_b, b)) = (cell(&comparison.left, row.left), cell(&comparison.right, row.right));
    let room = layout.side_columns.saturating_sub(width(&lead_a).max(width(&lead_b)));
    let is_hidden = kind == RowKind::Changed && !shows_difference(&a, &b, room);
    let (a, b) = from_difference(&a, &b, glyphs).filter(|_| is_hidden).unwrap_or((a, b));
    let (a, b) = (lead_a + &a, lead_b + &b);
    if !layout.two_columns {
        let (sign, sign_role, text_role, text) = match part {
            LinePart::Left => ("A", Role::SideA, role(Role::SideA), a),
            LinePart::Right => ("B", Role::SideB, role(Role::SideB), b),
            LinePart::Both | LinePart::Fold(_) => (" ", Role::Muted, role(Role::Muted), a),
        };
        // The mark is beside the letter, which keeps the colour of its side.
        let is_marked = is_first_difference && (part != LinePart::Right || kind == RowKind::OnlyRight);
        let mark = if is_marked { glyphs.proposal } else { " " };
        return vec![
            (sign_role, sign.to_owned()),
            (Role::Warning, mark.to_owned()),
            (text_role, truncate(&text, layout.side_columns, glyphs.ellipsis)),
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
        (role(Role::SideA), padded(&a, layout.side_columns, glyphs)),
        (mark, format!(" {sign} ")),
        (role(Role::SideB), padded(&b, layout.side_columns, glyphs)),
    ]
}

/// Returns one line for a step: its number and what it is; its action or thought, then the names of other parts that differ.
fn step_text(side: &Side, number: u32, row: &Row) -> (String, String) {
    let Some(step) = side.episode.step(number) else {
        return ("  0   ".to_owned(), "the first observation".to_owned());
    };
    let action = action_or_thought(step);
    let (mark, text) = match action.strip_prefix("think:") {
        Some(thought) => ("think ", thought.trim().to_owned()),
        None => ("> ", action.into_owned()),
    };
    let lead = format!("{number:>3} {mark}");
    if let Some(pending) = pending_label(step) {
        return (lead, format!("{text} ({pending})"));
    }
    let other_parts: Vec<&str> =
        row.parts.iter().filter(|p| *p != StepPart::Action).map(StepPart::name).collect();
    if other_parts.is_empty() || row.parts.contains(StepPart::Action) {
        return (lead, text);
    }
    (lead, format!("{text}  ({})", other_parts.join(", ")))
}

/// The words before the first difference that are kept, for the context.
const KEPT_WORDS: usize = 2;

/// Returns how many words two texts begin with.
fn common_words(a: &str, b: &str) -> usize {
    a.split(' ').zip(b.split(' ')).take_while(|(a, b)| a == b).count()
}

/// Returns whether the first `columns` columns of two texts show the first word that differs, with the ellipsis of what is cut.
fn shows_difference(a: &str, b: &str, columns: usize) -> bool {
    let common = common_words(a, b);
    let until = |text: &str| text.split(' ').take(common + 1).map(|word| width(word) + 1).sum::<usize>();
    width(a).max(width(b)) <= columns || until(a).max(until(b)) <= columns
}

/// Returns two texts with an ellipsis in place of what both begin with, except its last words; `None` if that is no more than
/// these.
pub(super) fn from_difference(a: &str, b: &str, glyphs: &Glyphs) -> Option<(String, String)> {
    let skipped = common_words(a, b).checked_sub(KEPT_WORDS).filter(|count| *count > 0)?;
    let rest = |text: &str| {
        let words: Vec<&str> = text.split(' ').skip(skipped).collect();
        format!("{} {}", glyphs.ellipsis, words.join(" "))
    };
    Some((rest(a), rest(b)))
}

#[cfg(test)]
mod tests {
    use super::{from_difference, shows_difference};
    use crate::ui::glyphs::UNICODE;

    /// Regression: the row of the first difference was cut just before the difference, so that both sides read alike.
    #[test]
    fn a_row_begins_shortly_before_a_difference_that_it_would_hide() {
        let text = |place: &str| format!("I'll find a mug, heat it, and check {place} first.");
        let (a, b) = (text("cabinet 2"), text("shelf 3"));
        assert!(!shows_difference(&a, &b, 29) && shows_difference(&a, &b, 60));
        let short = from_difference(&a, &b, &UNICODE).unwrap();
        assert_eq!(
            short,
            ("… and check cabinet 2 first.".to_owned(), "… and check shelf 3 first.".to_owned())
        );
        assert_eq!(from_difference("go to a", "go to b", &UNICODE), None);
        // One text is the beginning of the other.
        let (a, b) = ("go to the left", "go to the left now");
        assert_eq!(from_difference(a, b, &UNICODE).unwrap().1, "… the left now");
    }
}
