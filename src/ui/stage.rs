//! What stage mode adds for an audience: the keys that were just pressed. And what it takes away: hosts, addresses and
//! paths, wherever they appear.

use crate::report::recorded_private_texts;
use crate::text::private_parts;
use crate::ui::frame_data::FrameData;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most columns of the text: longer lines are hard to read from afar.
const MAX_COLUMNS: u16 = 110;
/// The fewest rows of a screen with an empty row around each of its parts, and of one with two.
const MIN_SPACED_ROWS: [u16; 2] = [20, 45];
/// How long the pressed keys are shown after the last one.
const KEYS_TIME: Duration = Duration::from_secs(8);
/// The number of pressed keys that are shown.
const SHOWN_KEYS: usize = 3;

/// Returns the columns of a screen for an audience, between the margins.
pub fn content_area(screen: Rect) -> Rect {
    let margin = (screen.width.saturating_sub(MAX_COLUMNS) / 2).max(screen.width / 20);
    Rect { x: screen.x + margin, width: screen.width - 2 * margin, ..screen }
}

/// Returns how many empty rows stand between the parts of a screen for an audience.
pub fn gap_rows(screen: Rect) -> u16 {
    MIN_SPACED_ROWS.iter().filter(|least| screen.height >= **least).count() as u16
}

/// The last keys that did something, oldest first, each with what it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PressedKeys {
    keys: VecDeque<PressedKey>,
    expires_at: Option<Instant>,
}

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
    pub fn add(&mut self, key: String, effect: String, now: Instant) {
        self.expires_at = Some(now + KEYS_TIME);
        if let Some(last) = self.keys.back_mut().filter(|last| last.key == key && last.effect == effect) {
            last.count += 1;
            return;
        }
        self.keys.push_back(PressedKey { key, effect, count: 1 });
        if self.keys.len() > SHOWN_KEYS {
            self.keys.pop_front();
        }
    }

    /// Returns when the keys are shown no longer; `None` if none is shown.
    pub fn expires_at(&self) -> Option<Instant> {
        self.expires_at
    }

    /// Removes the keys when their time is over.
    pub fn expire(&mut self, now: Instant) {
        if self.expires_at.is_some_and(|at| at <= now) {
            *self = Self::default();
        }
    }

    /// Returns the keys and what they did, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &PressedKey> {
        self.keys.iter().rev()
    }
}

/// Returns what is hidden wherever it appears: what was known at the start, and the servers of the run, which a person may
/// have changed since.
pub fn known_private_texts(at_start: &[String], frame: &FrameData) -> Vec<String> {
    let recorded =
        [&frame.head, &frame.displayed].into_iter().flat_map(|state| recorded_private_texts("", state));
    let mut known: Vec<String> = at_start.iter().cloned().chain(recorded).collect();
    known.sort_unstable();
    known.dedup();
    known
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
        let (mut keys, now) = (PressedKeys::default(), Instant::now());
        for key in ["a", "b", "c", "d", "d"] {
            keys.add(key.to_owned(), String::new(), now);
        }
        let shown: Vec<(&str, u32)> = keys.newest_first().map(|key| (key.key.as_str(), key.count)).collect();
        assert_eq!(shown, [("d", 2), ("c", 1), ("b", 1)], "the same key again pushes out no other");
    }

    /// Regression: `Space play` stood there two minutes after it was pressed.
    #[test]
    fn pressed_keys_are_shown_for_a_while() {
        let (mut keys, now) = (PressedKeys::default(), Instant::now());
        keys.add("Space".to_owned(), "play".to_owned(), now);
        keys.expire(now + KEYS_TIME / 2);
        assert_eq!(keys.newest_first().count(), 1);
        keys.expire(now + KEYS_TIME);
        assert_eq!((keys.newest_first().count(), keys.expires_at()), (0, None));
    }
}
