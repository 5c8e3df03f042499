//! A list with a selected item and, above it, an optional line whose text filters the items. Several items can be marked,
//! and a preview of the selected one can be drawn below the list.

use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::widget::list_index::{clamped_index, row_delta};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, MouseTarget, Scroll};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use std::collections::BTreeSet;

/// Returns the indices of the items that match a query, in the order of the rows.
type Search<T> = fn(&[T], &str) -> Vec<usize>;

/// Number of list rows that a preview leaves visible, if the list is that long.
const MIN_LIST_ROWS: usize = 5;

/// Minimum number of rows of a preview.
pub(crate) const MIN_PREVIEW_ROWS: u16 = 3;

/// What was clicked in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Click {
    /// An item, which is now selected.
    Item,
    /// The item that was already selected.
    SelectedItem,
}

/// A list of items, its filter line, and the selected item.
pub(crate) struct Picker<T> {
    field: TextField,
    items: Vec<T>,
    /// The indices of the marked items.
    marks: BTreeSet<usize>,
    search: Search<T>,
    /// The items in the list, by index; a place in it is a row.
    matches: Vec<usize>,
    /// The selected row.
    selected: Option<usize>,
    /// Whether the row was selected on purpose, so that it stays selected when items are replaced.
    is_chosen: bool,
    /// Whether no item is selected at first, so that the typed text counts.
    prefers_text: bool,
    is_heading: fn(&T) -> bool,
    scroll: Scroll,
}

impl<T> Picker<T> {
    /// Creates a list with an empty line and the first match selected.
    pub(crate) fn new(items: Vec<T>, search: Search<T>) -> Self {
        let mut picker = Self {
            field: TextField::single_line(""),
            items,
            marks: BTreeSet::new(),
            search,
            matches: Vec::new(),
            selected: None,
            is_chosen: false,
            prefers_text: false,
            is_heading: |_| false,
            scroll: Scroll::default(),
        };
        picker.filter("");
        picker
    }

    /// Creates a list that always contains all items.
    pub(crate) fn unfiltered(items: Vec<T>) -> Self {
        Self::new(items, |all, _| (0..all.len()).collect())
    }

    /// Creates an empty list that selects nothing until the selection is moved: the typed text counts. Moving up from
    /// the first row selects nothing again. `field` holds the first text, which doesn't filter until it is edited.
    pub(crate) fn preferring_text(field: TextField, search: Search<T>) -> Self {
        Self { field, prefers_text: true, ..Self::new(Vec::new(), search) }
    }

    /// Makes the items for which `is_heading` holds unselectable.
    pub(crate) fn with_headings(mut self, is_heading: fn(&T) -> bool) -> Self {
        self.is_heading = is_heading;
        self.select_first();
        self
    }

    /// Returns the typed text, trimmed.
    pub(crate) fn text(&self) -> String {
        self.field.text()
    }

    /// Replaces the line and filters by its text.
    pub(crate) fn set_field(&mut self, field: TextField) {
        self.field = field;
        self.filter(&self.field.text());
    }

    /// Replaces the typed text and filters by it.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.set_field(TextField::single_line(text));
    }

    /// Lists the items that match a query, which may differ from the typed text, and selects the first one.
    pub(crate) fn filter(&mut self, query: &str) {
        self.matches = (self.search)(&self.items, query);
        self.select_first();
    }

    fn select_first(&mut self) {
        self.selected = if self.prefers_text { None } else { self.selectable_rows().next() };
        self.is_chosen = false;
        if self.selected.is_none() {
            self.scroll.scroll_to(0);
        }
    }

    /// Selects the first match although the typed text is preferred. The cursor stays in the line.
    pub(crate) fn preselect_first(&mut self) {
        let first = self.selectable_rows().next();
        self.selected = first;
        self.is_chosen = false;
    }

    /// Replaces the items, removes all marks, and selects the first match.
    pub(crate) fn set_items(&mut self, items: Vec<T>) {
        self.items = items;
        self.marks.clear();
        self.filter(&self.field.text());
    }

    /// Replaces the items. Those that are still there stay marked, and selected if they were selected on purpose;
    /// otherwise the first match is. `is_same` holds for an item and its replacement.
    pub(crate) fn update_items(&mut self, items: Vec<T>, is_same: impl Fn(&T, &T) -> bool) {
        let chosen = self.selected.filter(|_| self.is_chosen).map(|row| self.matches[row]);
        let marks = std::mem::take(&mut self.marks);
        let old = std::mem::take(&mut self.items);
        self.set_items(items);
        self.marks =
            marks.iter().filter_map(|at| self.items.iter().position(|new| is_same(&old[*at], new))).collect();
        if let Some(at) = chosen {
            self.select(|new| is_same(&old[at], new));
        }
    }

    /// Marks the selected item, or removes its mark.
    pub(crate) fn toggle_mark(&mut self) {
        if let Some(row) = self.selected
            && !self.marks.remove(&self.matches[row])
        {
            self.marks.insert(self.matches[row]);
        }
    }

    /// Removes all marks.
    pub(crate) fn clear_marks(&mut self) {
        self.marks.clear();
    }

    /// Returns the marked items, whether they match or not.
    pub(crate) fn marked(&self) -> impl ExactSizeIterator<Item = &T> {
        self.marks.iter().map(|at| &self.items[*at])
    }

    /// Returns all items, whether they match or not.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the items in the list, from top to bottom.
    pub(crate) fn matches(&self) -> impl ExactSizeIterator<Item = &T> {
        self.matches.iter().map(|index| &self.items[*index])
    }

    /// Returns the selected item.
    pub(crate) fn selected(&self) -> Option<&T> {
        self.item(self.selected?)
    }

    /// Returns the row of the selected item, else the first row.
    pub(crate) fn selected_row(&self) -> usize {
        self.selected.unwrap_or(0)
    }

    /// Returns the selected item, else the first one in the list.
    pub(crate) fn selected_or_first(&self) -> Option<&T> {
        self.item(self.selected_row())
    }

    fn item(&self, row: usize) -> Option<&T> {
        self.items.get(*self.matches.get(row)?)
    }

    /// Selects the first listed item for which `is_wanted` holds. Returns whether there is one.
    pub(crate) fn select(&mut self, is_wanted: impl Fn(&T) -> bool) -> bool {
        let found = self.selectable_rows().find(|row| is_wanted(&self.items[self.matches[*row]]));
        self.selected = found.or(self.selected);
        self.is_chosen |= found.is_some();
        found.is_some()
    }

    fn selectable_rows(&self) -> impl Iterator<Item = usize> {
        let rows = self.matches().enumerate();
        rows.filter(|(_, item)| !(self.is_heading)(item)).map(|(row, _)| row)
    }

    /// Moves the selection by `by` selectable rows, stopping at the ends.
    pub(crate) fn move_selection(&mut self, by: isize) {
        self.is_chosen = true;
        let rows: Vec<usize> = self.selectable_rows().collect();
        let at = self.selected.and_then(|selected| rows.iter().position(|row| *row == selected));
        self.selected = match at {
            None if self.prefers_text && by <= 0 => None,
            None if self.prefers_text => rows.first().copied(),
            Some(0) if self.prefers_text && by < 0 => None,
            at => rows.get(clamped_index(at.unwrap_or(0), by, rows.len())).copied(),
        };
    }

    /// Scrolls so that the selected row is visible in a list of `height` rows. Returns the first visible row.
    pub(crate) fn first_visible_row(&self, height: usize) -> usize {
        let all = self.matches.len();
        self.scroll.reveal(self.selected_row(), all, height);
        self.scroll.clamp_top(all, height)
    }

    /// Returns the number of rows of a page in the last draw.
    pub(crate) fn page_rows(&self) -> isize {
        self.scroll.page_rows()
    }

    /// Handles the actions that move the selection, by `page` rows a page; ignores all others.
    pub(crate) fn on_action(&mut self, action: Action, page: isize) {
        if let Some(by) = row_delta(action, page) {
            self.move_selection(by);
        }
    }

    /// Handles a key typed into the line. Returns whether the text changed.
    pub(crate) fn on_key(&mut self, key: KeyEvent) -> bool {
        let changed = self.field.on_key(key);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    /// Handles text pasted into the line. Returns whether the text changed.
    pub(crate) fn on_paste(&mut self, text: &str) -> bool {
        let changed = self.field.on_paste(text);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    /// Selects the clicked item, or moves the selection with the wheel.
    pub(crate) fn on_mouse(&mut self, event: MouseEvent) -> Option<Click> {
        match self.scroll.mouse_target(event)? {
            MouseTarget::Row(row) => {
                self.selectable_rows().find(|selectable| *selectable == row)?;
                let before = self.selected.replace(row);
                self.is_chosen = true;
                Some(if before == Some(row) { Click::SelectedItem } else { Click::Item })
            }
            MouseTarget::Wheel(by) => {
                self.move_selection(by);
                None
            }
        }
    }

    /// Draws the line, after a prompt of one column if there is one. The cursor is only shown if the line has the focus
    /// and no row was selected on purpose in its place.
    pub(crate) fn draw_field(
        &self,
        prompt: (Role, &str),
        focused: bool,
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        canvas.put(area.x, area.y, 2, prompt.1, canvas.style(prompt.0));
        let used = if prompt.1.is_empty() { 0 } else { 2 };
        let (width, height) = (area.width.saturating_sub(used), area.height.min(1));
        let is_current = !self.prefers_text || self.selected.is_none() || !self.is_chosen;
        self.field.draw(focused && is_current, Rect { x: area.x + used, width, height, ..area }, canvas);
    }

    /// Draws the list. `row` returns the row of an item; its second argument is whether the item is selected.
    pub(crate) fn draw_list(&self, area: Rect, canvas: &mut Canvas<'_>, row: impl Fn(&T, bool) -> Line) {
        self.draw_markable_list(area, canvas, |item, is_selected, _| row(item, is_selected));
    }

    fn draw_markable_list(&self, area: Rect, canvas: &mut Canvas<'_>, row: impl Fn(&T, bool, bool) -> Line) {
        self.scroll.draw_list(self.selected_row(), self.matches.len(), area, canvas, |place| {
            let Some(at) = self.matches.get(place) else { return Line::new() };
            row(&self.items[*at], self.selected == Some(place), self.marks.contains(at))
        });
    }

    /// Draws the list and, below it and a blank row, the preview of the selected item, which needs `preview_rows` rows.
    /// Both keep a few rows if there isn't room for all. The last argument of `row` is whether the item is marked.
    pub(crate) fn draw_with_preview(
        &self,
        preview_rows: u16,
        area: Rect,
        canvas: &mut Canvas<'_>,
        row: impl Fn(&T, bool, bool) -> Line,
        preview: impl FnOnce(Option<&T>, Rect, &mut Canvas<'_>),
    ) {
        let list = self.matches.len().clamp(1, MIN_LIST_ROWS) as u16;
        let below = preview_rows.min(area.height.saturating_sub(1 + list).max(MIN_PREVIEW_ROWS));
        let below = below.min(area.height.saturating_sub(2));
        let height = area.height.saturating_sub(1 + below).max(1).min(area.height);
        self.draw_markable_list(Rect { height, ..area }, canvas, row);
        preview(self.selected(), Rect { y: area.bottom() - below, height: below, ..area }, canvas);
    }
}

/// Returns a row: after a margin a mark if the row is selected, a text, and what is known about it.
pub(crate) fn marked_row<const N: usize>(
    context: &Context<'_>,
    margin: &str,
    is_selected: bool,
    text: String,
    about: [String; N],
) -> Line {
    let (mark, role) =
        if is_selected { (context.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
    let mut row = vec![(Role::Proposal, format!("{margin}{mark} ")), (role, text)];
    row.extend(about.map(|text| (Role::Muted, text)));
    row
}

/// How a text matches a query, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchKind {
    /// The text is the query.
    Whole,
    /// The text begins with the query.
    Prefix,
    /// Each word of the query begins a word of the text.
    WordStarts,
    /// The text contains each word of the query.
    Words,
    /// The query consists of beginnings of the parts of the text's first word that follow each other: `la` of `lesson-add`. In
    /// a description, letters would lead anywhere.
    Initials,
}

impl MatchKind {
    /// Returns how a text matches a query, which has these words, or `None` if it doesn't. Both are in lower case.
    fn of(text: &str, query: &str, words: &[&str]) -> Option<Self> {
        let begins_word = |word: &str| {
            text.match_indices(word)
                .any(|(at, _)| !text[..at].chars().next_back().is_some_and(char::is_alphanumeric))
        };
        let has_initials = || {
            let name = text.split_whitespace().next().unwrap_or_default();
            let parts: Vec<&str> =
                name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
            (0..parts.len()).any(|at| is_initials(query, &parts[at..]))
        };
        match words {
            _ if text == query => Some(Self::Whole),
            _ if text.starts_with(query) => Some(Self::Prefix),
            all if all.iter().all(|word| begins_word(word)) => Some(Self::WordStarts),
            all if all.iter().all(|word| text.contains(word)) => Some(Self::Words),
            _ if has_initials() => Some(Self::Initials),
            _ => None,
        }
    }
}

/// Returns whether a text consists of beginnings of the first of these words, of one or more letters each.
fn is_initials(text: &str, words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first().filter(|_| !text.is_empty()) else {
        return text.is_empty();
    };
    let shared = text.chars().zip(first.chars()).take_while(|(a, b)| a == b);
    let mut taken = 0;
    shared.map(|(letter, _)| letter.len_utf8()).any(|letter| {
        taken += letter;
        is_initials(&text[taken..], rest)
    })
}

/// Returns the indices of the items that match a query, in the order of [`MatchKind`]. Letters that are merely somewhere in an item
/// don't match: Enter would run what nobody meant. Among equal matches, one in an earlier text of an item ranks above all in a
/// later one. Ties keep their order, and an empty query matches all items in order.
pub(crate) fn rank<'a, T, Text: AsRef<str>, const N: usize>(
    items: &'a [T],
    query: &str,
    texts: impl Fn(&'a T) -> [Text; N],
) -> Vec<usize> {
    let query = query.trim().to_lowercase();
    if query.is_empty() {
        return (0..items.len()).collect();
    }
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut found: Vec<(MatchKind, usize, usize)> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let texts = texts(item).into_iter().enumerate();
        let matches = texts.filter_map(|(nth, text)| {
            let kind = MatchKind::of(&text.as_ref().to_lowercase(), &query, &words)?;
            Some((kind, nth, index))
        });
        found.extend(matches.min());
    }
    found.sort_unstable();
    found.into_iter().map(|(.., index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::glyphs::ASCII;
    use crate::ui::theme::Theme;
    use crossterm::event::{KeyModifiers, MouseButton, MouseEventKind};
    use ratatui::buffer::Buffer;

    fn search(all: &[&'static str], query: &str) -> Vec<usize> {
        rank(all, query, |item| [*item])
    }

    /// Draws the list in `rows` rows, the selected item with a `>`.
    fn drawn(picker: &Picker<&'static str>, rows: u16) -> Vec<String> {
        drawn_in(rows, |list, canvas| {
            picker.draw_list(list, canvas, |item, here| {
                vec![(Role::Text, format!("{}{item}", if here { ">" } else { " " }))]
            });
        })
    }

    fn drawn_in(rows: u16, draw: impl FnOnce(Rect, &mut Canvas<'_>)) -> Vec<String> {
        let area = Rect::new(0, 0, 12, rows);
        let mut buffer = Buffer::empty(area);
        let mut canvas = Canvas { buffer: &mut buffer, theme: &Theme::default(), glyphs: &ASCII };
        let list = Rect { width: 10, ..area };
        draw(list, &mut canvas);
        let row = |y| (0..list.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..rows).map(|y| row(y).trim_end().to_owned()).collect()
    }

    fn click(row: u16) -> MouseEvent {
        let kind = MouseEventKind::Down(MouseButton::Left);
        MouseEvent { kind, column: 1, row, modifiers: KeyModifiers::NONE }
    }

    #[test]
    fn matches_in_an_earlier_text_rank_above_those_in_a_later_one() {
        let all = [("undo", "takes back a change"), ("change", ""), ("redo", "changes again"), ("x", "y")];
        let cases =
            [("  ", vec![0, 1, 2, 3]), ("change", vec![1, 2, 0]), ("do", vec![0, 2]), ("none", vec![])];
        for (query, expected) in cases {
            assert_eq!(rank(&all, query, |(name, about)| [*name, *about]), expected, "{query}");
        }
    }

    /// Regression: letters that were somewhere in a text matched, so that `both` selected `quit`.
    #[test]
    fn words_rank_above_beginnings_of_words_and_scattered_letters_match_nothing() {
        let all = [
            ("show-this-model", "lists models"),
            ("export", "writes an HTML page"),
            ("subhtml", "a part"),
            ("heat-mail", ""),
            ("h3t3m3l", ""),
        ];
        let cases = [
            ("html", vec![1, 2]),
            ("HTML page", vec![1]),
            ("page html", vec![1]),
            ("mod", vec![0]),
            ("this-m", vec![0]),
            // Beginnings of words that follow each other.
            ("hemail", vec![3]),
            ("hm", vec![3]),
            ("shm", vec![]),
            ("stm", vec![0]),
            ("hetma", vec![]),
            ("none", vec![]),
        ];
        for (query, expected) in cases {
            assert_eq!(rank(&all, query, |(name, about)| [*name, *about]), expected, "{query}");
        }
    }

    #[test]
    fn the_selection_moves_between_the_ends_and_skips_headings() {
        let items = vec!["# one", "a", "b", "# two", "c"];
        let mut picker = Picker::unfiltered(items).with_headings(|item| item.starts_with('#'));
        let moves = [(0, "a"), (1, "b"), (1, "c"), (isize::MAX, "c"), (-2, "a"), (isize::MIN, "a")];
        for (by, expected) in moves {
            picker.move_selection(by);
            assert_eq!(picker.selected(), Some(&expected), "{by}");
        }
        assert_eq!(drawn(&picker, 5), [" # one", ">a", " b", " # two", " c"]);
        let clicks = [(3, None, "a"), (4, Some(Click::Item), "c"), (4, Some(Click::SelectedItem), "c")];
        for (row, expected, selected) in clicks {
            assert_eq!(
                (picker.on_mouse(click(row)), picker.selected()),
                (expected, Some(&selected)),
                "{row}"
            );
        }
    }

    /// Regression: better items that arrived later pushed down the row that nobody had chosen.
    #[test]
    fn the_first_item_stays_selected_until_another_one_is_chosen() {
        let mut picker = Picker::new(vec!["pear"], search);
        picker.update_items(vec!["apple", "pear"], PartialEq::eq);
        assert_eq!(picker.selected(), Some(&"apple"));
        picker.move_selection(0);
        picker.update_items(vec!["ananas", "apple"], PartialEq::eq);
        assert_eq!(picker.selected(), Some(&"apple"));
    }

    #[test]
    fn new_items_keep_the_selected_item_and_typing_selects_the_best_match() {
        let mut picker = Picker::new(vec!["apple", "pear"], search);
        picker.move_selection(1);
        picker.update_items(vec!["apple", "fig", "grape", "pear"], PartialEq::eq);
        assert_eq!(picker.selected(), Some(&"pear"));
        assert!(picker.on_paste("ap"));
        assert_eq!(drawn(&picker, 3), [">apple", " grape", ""]);
        picker.move_selection(1);
        picker.update_items(vec!["grape", "pear"], PartialEq::eq);
        assert_eq!((picker.selected(), picker.matches().len()), (Some(&"grape"), 1));
        picker.update_items(vec!["fig"], PartialEq::eq);
        assert_eq!((picker.selected(), picker.items()), (None, ["fig"].as_slice()));
        picker.move_selection(1);
        assert_eq!(picker.selected(), None);
        picker.set_text("");
        assert_eq!(picker.selected(), Some(&"fig"));
    }

    #[test]
    fn marks_stay_with_their_items() {
        let mut picker = Picker::new(vec!["apple", "fig", "pear"], search);
        let marked = |picker: &Picker<&'static str>| picker.marked().copied().collect::<Vec<_>>();
        picker.toggle_mark();
        picker.move_selection(2);
        picker.toggle_mark();
        picker.set_text("fig");
        assert_eq!(marked(&picker), ["apple", "pear"]);
        picker.toggle_mark();
        assert_eq!(marked(&picker), ["apple", "fig", "pear"]);
        picker.toggle_mark();
        picker.update_items(vec!["Pear", "fig", "kiwi"], |old, new| old.eq_ignore_ascii_case(new));
        assert_eq!((marked(&picker), picker.selected()), (vec!["Pear"], Some(&"fig")));
        picker.clear_marks();
        assert_eq!(marked(&picker), [""; 0]);
        picker.set_text("none");
        picker.toggle_mark();
        assert_eq!(marked(&picker), [""; 0], "no item is selected");
    }

    #[test]
    fn the_preview_of_the_selected_item_is_below_the_list() {
        let mut picker = Picker::unfiltered(vec!["a", "b", "c"]);
        picker.toggle_mark();
        picker.move_selection(1);
        let cases = [
            (7, 2, vec!["* a", ">b", "  c", "", "", "b 0", "b 1"]),
            (7, 9, vec!["* a", ">b", "  c", "", "b 0", "b 1", "b 2"]),
            (5, 9, vec![">b", "", "b 0", "b 1", "b 2"]),
            (3, 9, vec![">b", "", "b 0"]),
            (1, 9, vec![">b"]),
            (0, 9, vec![]),
        ];
        for (rows, preview_rows, expected) in cases {
            let shown = drawn_in(rows, |area, canvas| {
                let row = |item: &&str, here, is_marked| {
                    let mark = if is_marked { "* " } else { "  " };
                    vec![(Role::Text, format!("{}{item}", if here { ">" } else { mark }))]
                };
                picker.draw_with_preview(preview_rows, area, canvas, row, |item, area, canvas| {
                    for nth in 0..area.height {
                        let text = format!("{} {nth}", item.unwrap());
                        canvas.put(0, area.y + nth, 9, &text, canvas.style(Role::Text));
                    }
                });
            });
            assert_eq!(shown, expected, "{rows} rows");
        }
    }

    #[test]
    fn the_typed_text_counts_until_the_selection_moves_into_the_list() {
        let mut picker = Picker::preferring_text(TextField::preselected("go on"), search);
        picker.set_items(vec!["go east", "go west", "take"]);
        picker.filter("");
        assert_eq!((picker.selected(), picker.matches().len()), (None, 3));
        assert_eq!(picker.selected_or_first(), Some(&"go east"));
        let moves = [
            (-1, None),
            (isize::MAX, Some(&"go east")),
            (1, Some(&"go west")),
            (-8, Some(&"go east")),
            (-1, None),
        ];
        for (by, expected) in moves {
            picker.move_selection(by);
            assert_eq!(picker.selected(), expected, "{by}");
        }
        // Typing replaces the preselected text.
        assert!(picker.on_paste("west"));
        assert_eq!((picker.text().as_str(), picker.selected()), ("west", None));
        assert_eq!(drawn(&picker, 2), [" go west", ""]);
        assert_eq!(picker.on_mouse(click(0)), Some(Click::Item));
        assert_eq!(picker.selected(), Some(&"go west"));
    }
}
