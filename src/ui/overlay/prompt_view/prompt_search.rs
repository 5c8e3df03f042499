//! Search in the rows of a prompt.

use super::lines::SegmentRow;
use crate::text::search;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::list_index::wrapped_index;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, put_line};
use ratatui::layout::Rect;
use std::cell::Cell;
use std::ops::Range;

/// Maximum number of matches, more than a person would look at.
const MAX_MATCHES: usize = 5000;

/// An occurrence of the search text: its rows, each with the byte range in the row's last piece.
pub(super) type Match = Vec<(usize, Range<usize>)>;

/// What the next frame does about the current match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    /// Chooses the first match from the selected segment on, and scrolls to it.
    ChooseNearest,
    Reveal,
}

/// A search in the shown prompt.
pub(super) struct PromptSearch {
    pub(super) field: TextField,
    pub(super) is_typing: bool,
    current: Cell<usize>,
    pending: Cell<Pending>,
}

impl Default for PromptSearch {
    fn default() -> Self {
        Self {
            field: TextField::single_line(""),
            is_typing: true,
            current: Cell::new(0),
            pending: Cell::new(Pending::Nothing),
        }
    }
}

/// Returns a text with each run of white space as one blank.
fn normalize(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl PromptSearch {
    /// Returns the search text; empty if it matches nothing.
    pub(super) fn query(&self) -> String {
        normalize(&self.field.text())
    }

    /// Makes the next frame show the match nearest to the selected segment.
    pub(super) fn choose_nearest(&self) {
        self.pending.set(Pending::ChooseNearest);
    }

    /// Goes to the match `by` matches below, wrapping at the ends. Returns its first row.
    pub(super) fn move_current(&self, matches: &[Match], by: isize) -> Option<usize> {
        if matches.is_empty() {
            return None;
        }
        self.current.set(wrapped_index(self.current.get().min(matches.len() - 1), by, matches.len()));
        self.pending.set(Pending::Reveal);
        self.current_row(matches)
    }

    /// Returns the first row of the current match.
    pub(super) fn current_row(&self, matches: &[Match]) -> Option<usize> {
        matches.get(self.current.get())?.first().map(|(row, _)| *row)
    }

    /// Highlights all matches in the rows. Returns the row to scroll to, if it has changed since the last frame.
    pub(super) fn highlight(
        &self,
        lines: &mut [Line],
        matches: &[Match],
        selected_row: usize,
    ) -> Option<usize> {
        let pending = self.pending.replace(Pending::Nothing);
        if pending == Pending::ChooseNearest {
            let is_below = |found: &Match| found.first().is_some_and(|(row, _)| *row >= selected_row);
            self.current.set(matches.iter().position(is_below).unwrap_or(0));
        }
        for (place, found) in matches.iter().enumerate().rev() {
            let role = if place == self.current.get() { Role::SearchCurrent } else { Role::Search };
            for (row, range) in found.iter().rev() {
                if let Some(line) = lines.get_mut(*row) {
                    highlight_range(line, range, role);
                }
            }
        }
        self.current_row(matches).filter(|_| pending != Pending::Nothing)
    }

    /// Draws the row with the search text, the number of matches and the keys.
    pub(super) fn draw(&self, matches: &[Match], context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
        let count = match matches.len() {
            _ if self.query().is_empty() => String::new(),
            0 => "no match".to_owned(),
            all => format!("{} of {all}", self.current.get().min(all - 1) + 1),
        };
        let key = |mode, action| context.keymap.key_label_in(mode, action).unwrap_or_default();
        let keys = if self.is_typing {
            let (accept, close) =
                (key(Mode::SearchInput, Action::Accept), key(Mode::SearchInput, Action::Close));
            format!("{accept} goes through, {close} ends")
        } else {
            let (next, previous) =
                (key(Mode::Prompt, Action::NextMatch), key(Mode::Prompt, Action::PreviousMatch));
            format!("{next} {previous} next, previous; {} ends", key(Mode::Prompt, Action::Close))
        };
        let right = if count.is_empty() { keys } else { format!("{count}  {keys}") };
        let start =
            canvas.put_right(area.right(), area.y, area.width * 2 / 3, &right, canvas.style(Role::Muted));
        put_line(&[(Role::Key, "/".to_owned())], area, canvas);
        let width = start.saturating_sub(area.x + 3);
        let field = Rect { x: area.x + 2, width, height: 1, ..area };
        self.field.draw(self.is_typing, field, canvas);
    }
}

/// Returns whether a text contains the search text, which may be broken over lines there.
pub(super) fn contains(text: &str, query: &str) -> bool {
    !search(&normalize(text), query).is_empty()
}

/// Returns the matches in rows, from top to bottom. Words that are wrapped into the next row match as well; a match never
/// spans two segments. If there are segments, what precedes the first one isn't searched.
pub(super) fn find_matches(lines: &[Line], segments: &[SegmentRow], query: &str) -> Vec<Match> {
    let mut text = String::new();
    let mut pieces: Vec<(Range<usize>, usize)> = Vec::new();
    let first = segments.first().map_or(0, |segment| segment.row);
    for (row, line) in lines.iter().enumerate().skip(first) {
        let Some((role, piece)) = line.last() else { continue };
        let is_start = segments.binary_search_by_key(&row, |segment| segment.row).is_ok();
        if is_start || *role == Role::Frame {
            text.push('\n');
        }
        if *role == Role::Frame {
            continue;
        }
        pieces.push((text.len()..text.len() + piece.len(), row));
        text.push_str(piece);
        text.push(' ');
    }
    let mut found = Vec::new();
    let mut next = 0;
    for range in search(&text, query).into_iter().take(MAX_MATCHES) {
        while pieces.get(next).is_some_and(|(piece, _)| piece.end <= range.start) {
            next += 1;
        }
        let touched = pieces[next..].iter().take_while(|(piece, _)| piece.start < range.end);
        let parts = touched.map(|(piece, row)| {
            let (start, end) = (range.start.max(piece.start), range.end.min(piece.end));
            (*row, start - piece.start..end - piece.start)
        });
        let parts: Match = parts.filter(|(_, part)| !part.is_empty()).collect();
        if !parts.is_empty() {
            found.push(parts);
        }
    }
    found
}

/// Gives a range of a row's text a role. The row's last piece may have been split at a later range before.
fn highlight_range(line: &mut Line, range: &Range<usize>, role: Role) {
    // Later ranges are highlighted first, so that the text before them is still one piece: the last one that isn't
    // highlighted or behind a highlight.
    let at = line.iter().position(|piece| matches!(piece.0, Role::Search | Role::SearchCurrent));
    let at = at.map_or(line.len().checked_sub(1), |highlighted| highlighted.checked_sub(1));
    let Some(at) = at else { return };
    let (own, text) = line[at].clone();
    let (Some(before), Some(inside), Some(after)) =
        (text.get(..range.start), text.get(range.clone()), text.get(range.end..))
    else {
        return;
    };
    line.splice(at..=at, [(own, before.to_owned()), (role, inside.to_owned()), (own, after.to_owned())]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SegmentLabel;

    fn rows(texts: &[&str]) -> Vec<Line> {
        texts
            .iter()
            .map(|text| vec![(Role::Muted, "lead ".to_owned()), (Role::Text, (*text).to_owned())])
            .collect()
    }

    #[test]
    fn matches_are_found_in_all_segments_and_across_rows() {
        let lines = rows(&["about 9 tokens: apple", "Put the", "apple in the Fridge.", "fridge", "APPLE"]);
        let segment = |row| SegmentRow { index: row, label: SegmentLabel::Task, row, is_folded: false };
        let segments = [segment(1), segment(3), segment(4)];
        let found = |query: &str| find_matches(&lines, &segments, query);
        assert_eq!(found("apple"), [vec![(2, 0..5)], vec![(4, 0..5)]], "not in what precedes the prompt");
        assert_eq!(found("the apple"), [vec![(1, 4..7), (2, 0..5)]], "broken by the wrapping");
        assert_eq!(found("fridge. fridge"), Vec::<Match>::new(), "not across segments");
        assert_eq!(found("fridge"), [vec![(2, 13..19)], vec![(3, 0..6)]]);
        assert_eq!(found("pear"), Vec::<Match>::new());
        assert!(contains("put the\n apple", "The Apple") && !contains("put", "the"));
        // Without segments, as in a list of changes, all rows are searched.
        assert_eq!(find_matches(&lines, &[], "apple").len(), 3);
    }

    #[test]
    fn every_match_of_a_row_is_highlighted() {
        let search = PromptSearch::default();
        let mut lines = rows(&["an apple, an APPLE"]);
        let matches = find_matches(&lines, &[], "an");
        assert_eq!(matches.len(), 2);
        search.choose_nearest();
        assert_eq!(search.highlight(&mut lines, &matches, 0), Some(0));
        let roles: Vec<(Role, &str)> = lines[0].iter().map(|(role, text)| (*role, text.as_str())).collect();
        assert_eq!(
            roles,
            [
                (Role::Muted, "lead "),
                (Role::Text, ""),
                (Role::SearchCurrent, "an"),
                (Role::Text, " apple, "),
                (Role::Search, "an"),
                (Role::Text, " APPLE"),
            ]
        );
        // The next frame doesn't scroll again; moving wraps at the ends.
        assert_eq!(search.highlight(&mut rows(&["an apple, an APPLE"]), &matches, 0), None);
        assert_eq!(search.move_current(&matches, -1), Some(0));
        assert_eq!(search.current.get(), 1);
        assert_eq!(search.move_current(&[], 1), None);
    }
}
