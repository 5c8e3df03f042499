//! What stage mode adds for an audience: the keys that were just pressed. And what it takes away: hosts, addresses and
//! paths, wherever they appear.

use crate::text::private_parts;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::VecDeque;

/// The most columns of the text: longer lines are hard to read from afar.
const MAX_COLUMNS: u16 = 110;
/// The fewest rows of a screen with empty rows around its parts.
const MIN_SPACED_ROWS: u16 = 20;
/// The number of pressed keys that are shown.
const SHOWN_KEYS: usize = 3;

/// Returns the columns of a screen for an audience, between the margins.
pub fn content_area(screen: Rect) -> Rect {
    let margin = (screen.width.saturating_sub(MAX_COLUMNS) / 2).max(screen.width / 20);
    Rect { x: screen.x + margin, width: screen.width - 2 * margin, ..screen }
}

/// Returns how many empty rows stand between the parts of a screen for an audience.
pub fn gap_rows(screen: Rect) -> u16 {
    u16::from(screen.height >= MIN_SPACED_ROWS)
}

/// The last keys that did something, oldest first, each with what it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PressedKeys(VecDeque<PressedKey>);

/// A key that was pressed once or several times in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PressedKey {
    pub key: String,
    /// What it did.
    pub effect: String,
    pub count: u32,
}

impl PressedKeys {
    /// Adds a key, and forgets the oldest one if there are too many. The same key again is counted.
    pub fn add(&mut self, key: String, effect: String) {
        if let Some(last) = self.0.back_mut().filter(|last| last.key == key && last.effect == effect) {
            last.count += 1;
            return;
        }
        self.0.push_back(PressedKey { key, effect, count: 1 });
        if self.0.len() > SHOWN_KEYS {
            self.0.pop_front();
        }
    }

    /// Returns the keys and what they did, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &PressedKey> {
        self.0.iter().rev()
    }
}

/// Covers every private part of what is drawn.
pub fn hide_private_cells(buffer: &mut Buffer, known: &[String], cover: &str) {
    let area = buffer.area;
    for y in area.top()..area.bottom() {
        // Where in the row's text each cell begins.
        let (mut text, mut starts) = (String::new(), Vec::new());
        for x in area.left()..area.right() {
            starts.push(text.len());
            text.push_str(buffer[(x, y)].symbol());
        }
        for range in private_parts(&text, known) {
            for (x, start) in (area.left()..).zip(&starts) {
                if range.contains(start) {
                    buffer[(x, y)].set_symbol(cover);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_keys_are_kept() {
        let mut keys = PressedKeys::default();
        for key in ["a", "b", "c", "d", "d"] {
            keys.add(key.to_owned(), String::new());
        }
        let shown: Vec<(&str, u32)> = keys.newest_first().map(|key| (key.key.as_str(), key.count)).collect();
        assert_eq!(shown, [("d", 2), ("c", 1), ("b", 1)], "the same key again pushes out no other");
    }
}
