//! Moves a selection in a list.

use crate::ui::keymap::Action;

/// Returns the number of rows an action moves the selection by in a list with `page` rows a page. `isize::MIN` and
/// `isize::MAX` stand for the list's ends. Returns `None` if the action doesn't move the selection.
pub(crate) fn row_delta(action: Action, page: isize) -> Option<isize> {
    match action {
        Action::Down | Action::NextField => Some(1),
        Action::Up | Action::PreviousField => Some(-1),
        Action::PageDown => Some(page),
        Action::PageUp => Some(-page),
        Action::EpisodeStart => Some(isize::MIN),
        Action::Live => Some(isize::MAX),
        _ => None,
    }
}

/// Returns `at` moved by `by`, clamped to a list of `all` rows.
pub(crate) fn clamped_index(at: usize, by: isize, all: usize) -> usize {
    at.saturating_add_signed(by).min(all.saturating_sub(1))
}

/// Returns `at` moved by `by` among `all` items, wrapping around at the ends.
pub(crate) fn wrapped_index(at: usize, by: isize, all: usize) -> usize {
    let all = all.max(1);
    let far = by.unsigned_abs() % all;
    if by < 0 { (at + all - far) % all } else { (at + far) % all }
}
