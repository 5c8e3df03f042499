//! The events of the terminal: keys, mouse, pastes, and its reply about its background.

use super::theme::Background;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::io;
use std::sync::OnceLock;

/// The background that the terminal has reported. It stays the same for all screens of the program.
static REPORTED_BACKGROUND: OnceLock<Background> = OnceLock::new();

/// How a reply begins after `ESC ]`. Nobody types this.
const REPLY_START: &str = "11;rgb";

/// The length of the longest reply, `11;rgba:ffff/ffff/ffff/ffff`, in characters.
const MAX_REPLY: usize = 27;

/// Returns the background if the terminal has reported it.
pub fn reported_background() -> Option<Background> {
    REPORTED_BACKGROUND.get().copied()
}

/// An event of the terminal.
pub(super) enum TerminalEvent {
    /// What a person did.
    Input(Event),
    /// The terminal's reply to [`BACKGROUND_QUERY`](super::theme::BACKGROUND_QUERY).
    Background(Background),
}

/// Reads the terminal on a thread of its own, until it is dropped.
pub(super) struct TerminalEvents {
    stream: EventStream,
    filter: ReplyFilter,
}

impl TerminalEvents {
    pub(super) fn new() -> Self {
        Self { stream: EventStream::new(), filter: ReplyFilter::default() }
    }

    /// Returns the next event; `None` if the terminal is gone. No event is lost if the call is cancelled.
    pub(super) async fn next(&mut self) -> Option<io::Result<TerminalEvent>> {
        loop {
            if let Some(event) = self.filter.passed.pop_front() {
                return Some(Ok(TerminalEvent::Input(event)));
            }
            match self.stream.next().await? {
                Ok(event) => {
                    if let Some(background) = self.filter.push(event) {
                        let background = *REPORTED_BACKGROUND.get_or_init(|| background);
                        return Some(Ok(TerminalEvent::Background(background)));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Takes the terminal's reply out of the keys. crossterm reads `ESC ] 11;rgb:... ESC \` as Alt-`]`, one key for each character,
/// and Alt-`\`; some terminals end it with a bell, which is Ctrl-G. A reply may come late, so this never stops.
#[derive(Default)]
struct ReplyFilter {
    /// The keys of what may be a reply.
    held: Vec<KeyEvent>,
    /// The events that aren't part of one.
    passed: VecDeque<Event>,
}

impl ReplyFilter {
    /// Takes an event. Returns the background if the event completes a reply.
    fn push(&mut self, event: Event) -> Option<Background> {
        let Event::Key(key) = event else {
            self.passed.push_back(event);
            return None;
        };
        if ends_reply(key) && self.is_reply() {
            let background = Background::from_reply(&self.reply());
            self.held.clear();
            return background;
        }
        if !self.is_continued_by(key) {
            // A reply that was cut off isn't what a person typed.
            if self.is_reply() {
                self.held.clear();
            }
            self.passed.extend(self.held.drain(..).map(Event::Key));
        }
        if self.held.is_empty() && !begins_reply(key) {
            self.passed.push_back(Event::Key(key));
        } else {
            self.held.push(key);
        }
        None
    }

    /// Returns the characters after Alt-`]`.
    fn reply(&self) -> String {
        self.held.iter().skip(1).filter_map(|key| key.code.as_char()).collect()
    }

    /// Returns whether the held keys can only be a reply, or its beginning.
    fn is_reply(&self) -> bool {
        self.reply().starts_with(REPLY_START)
    }

    /// Returns whether the held keys and this one may be the beginning of a reply.
    fn is_continued_by(&self, key: KeyEvent) -> bool {
        let is_plain = key.kind == KeyEventKind::Press && (key.modifiers - KeyModifiers::SHIFT).is_empty();
        let Some(c) = key.code.as_char().filter(|_| is_plain && !self.held.is_empty()) else { return false };
        let mut reply = self.reply();
        reply.push(c);
        match reply.strip_prefix(REPLY_START) {
            Some(rest) => {
                reply.len() <= MAX_REPLY && rest.chars().all(|c| c.is_ascii_hexdigit() || ":/".contains(c))
            }
            None => REPLY_START.starts_with(&reply),
        }
    }
}

/// Returns whether a reply begins with this key.
fn begins_reply(key: KeyEvent) -> bool {
    (key.code, key.modifiers) == (KeyCode::Char(']'), KeyModifiers::ALT)
}

/// Returns whether a reply ends with this key.
fn ends_reply(key: KeyEvent) -> bool {
    matches!(
        (key.code, key.modifiers),
        (KeyCode::Char('\\'), KeyModifiers::ALT) | (KeyCode::Char('g'), KeyModifiers::CONTROL)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that crossterm makes of these characters; ESC before one is Alt.
    fn keys(text: &str) -> Vec<KeyEvent> {
        let (mut keys, mut alt) = (Vec::new(), KeyModifiers::NONE);
        for c in text.chars() {
            match c {
                '\x1b' => alt = KeyModifiers::ALT,
                '\x07' => keys.push(KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL)),
                c => keys
                    .push(KeyEvent::new(KeyCode::Char(c), std::mem::replace(&mut alt, KeyModifiers::NONE))),
            }
        }
        keys
    }

    /// Pushes what was typed; returns the reported backgrounds, the keys that pass, and the number of held ones.
    fn push(text: &str) -> (Vec<Background>, Vec<KeyEvent>, usize) {
        let mut filter = ReplyFilter::default();
        let found = keys(text).into_iter().filter_map(|key| filter.push(Event::Key(key))).collect();
        let passed = filter.passed.iter().map(|event| event.as_key_event().unwrap());
        (found, passed.collect(), filter.held.len())
    }

    #[test]
    fn a_reply_among_keys_is_taken_out() {
        for end in ["\x1b\\", "\x07"] {
            let typed = format!("n\x1b]11;rgb:1c1c/1C1C/1c1c{end}q");
            assert_eq!(push(&typed), (vec![Background::Dark], keys("nq"), 0), "{end:?}");
        }
        let light = "\x1b]11;rgba:ffff/ffff/ffff/ffff\x1b\\";
        assert_eq!(push(light), (vec![Background::Light], vec![], 0));
    }

    #[test]
    fn keys_that_only_begin_like_a_reply_all_pass() {
        for typed in ["\x1b]n", "\x1b]\x1b]x", "\x1b]12", "11;rgb:0/0/0\x07", "\x1b\\"] {
            assert_eq!(push(typed), (vec![], keys(typed), 0), "{typed:?}");
        }
        // A reply that is still arriving.
        assert_eq!(push("a\x1b]11;rg"), (vec![], keys("a"), 6));
    }

    /// Regression: a terminal's queue of input was full, a reply lost its end, and the screen took `b` for the box of breakpoints
    /// and the rest for a condition.
    #[test]
    fn a_reply_that_was_cut_off_types_nothing() {
        let whole = "\x1b]11;rgb:0000/0000/0000\x1b\\";
        for cut in ["\x1b]11;rgb", "\x1b]11;rgb:0000/0000/0", "\x1b]11;rgb:0000/0000/0000"] {
            assert_eq!(push(&format!("{cut}{whole}n")), (vec![Background::Dark], keys("n"), 0), "{cut:?}");
        }
        for (typed, passed) in [
            ("\x1b]11;rgb:zz", "zz"),
            ("\x1b]11;rgb:0/0\x07q", "q"),
            ("\x1b]11;rgb:00000000000000000000000", "000"),
        ] {
            assert_eq!(push(typed), (vec![], keys(passed), 0), "{typed:?}");
        }
    }

    /// Regression: what isn't a key must not wait for the end of a reply.
    #[test]
    fn a_new_size_passes_a_reply_that_is_arriving() {
        let mut filter = ReplyFilter::default();
        filter.push(Event::Key(keys("\x1b]")[0]));
        filter.push(Event::Resize(80, 24));
        assert_eq!(filter.passed, [Event::Resize(80, 24)]);
    }
}
