//! The events of the terminal: keys, mouse, pastes, and its replies, which are no keys.

use super::theme::Background;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The background that the terminal has reported. It stays the same for all screens of the program.
static REPORTED_BACKGROUND: OnceLock<Background> = OnceLock::new();

/// The character after the escape character of a reply, how the reply goes on, which nobody types, and which characters may follow.
type ReplyForm = (char, &'static str, fn(char) -> bool);

/// The replies that crossterm takes for keys: control strings. It knows the replies that are control sequences: of those, the
/// cursor's position, device attributes and keyboard flags are no events, and what it doesn't know is dropped. Two are beyond
/// repair here: it waits after `ESC [ ?` until a `c` or a `u` comes, and of `ESC [ > 0 ; 276 ; 0 c` it drops only the first three
/// characters, and the rest could have been typed.
const REPLY_FORMS: [ReplyForm; 13] = [
    // A palette's colour, and the colours of text, background and cursor.
    (']', "4;", is_colour),
    (']', "10;rgb", is_colour),
    (']', BACKGROUND_START, is_colour),
    (']', "12;rgb", is_colour),
    // The clipboard.
    (']', "52;", is_base64),
    // The terminal's name and version, and its number.
    ('P', ">|", is_printable),
    ('P', "!|", is_hex),
    // Settings of the terminal, and of its description.
    ('P', "0$r", is_printable),
    ('P', "1$r", is_printable),
    ('P', "0+r", is_hex),
    ('P', "1+r", is_hex),
    // Graphics.
    ('_', "Gi=", is_printable),
    ('_', "GI=", is_printable),
];

/// How the reply to [`BACKGROUND_QUERY`](super::theme::BACKGROUND_QUERY) goes on after `ESC ]`.
const BACKGROUND_START: &str = "11;rgb";

/// The most characters of a reply that are waited for.
const MAX_REPLY: usize = 256;

/// The characters of a reply follow each other faster than this; a person's keys don't.
const REPLY_GAP: Duration = Duration::from_millis(300);

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
    /// When the keys that are held back are no longer the beginning of a reply.
    held_until: Option<Instant>,
}

impl TerminalEvents {
    pub(super) fn new() -> Self {
        Self { stream: EventStream::new(), filter: ReplyFilter::default(), held_until: None }
    }

    /// Returns the next event; `None` if the terminal is gone. No event is lost if the call is cancelled.
    pub(super) async fn next(&mut self) -> Option<io::Result<TerminalEvent>> {
        loop {
            if let Some(event) = self.filter.passed.pop_front() {
                return Some(Ok(TerminalEvent::Input(event)));
            }
            let next = match self.held_until {
                Some(until) => timeout_at(until, self.stream.next()).await,
                None => Ok(self.stream.next().await),
            };
            let Ok(next) = next else {
                self.held_until = None;
                self.filter.release();
                continue;
            };
            match next? {
                Ok(event) => {
                    let background = self.filter.push(event);
                    self.held_until = (!self.filter.held.is_empty()).then(|| Instant::now() + REPLY_GAP);
                    if let Some(background) = background {
                        let background = *REPORTED_BACKGROUND.get_or_init(|| background);
                        return Some(Ok(TerminalEvent::Background(background)));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Takes the terminal's replies out of the keys. crossterm reads `ESC ] 11;rgb:... ESC \` as Alt-`]`, one key for each character,
/// and Alt-`\`; some terminals end it with a bell, which is Ctrl-G. A reply may come late, also one that another program has asked
/// for, so this never stops.
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
            let reply = self.reply();
            let is_background = self.introducer() == Some(']') && reply.starts_with(BACKGROUND_START);
            self.held.clear();
            return if is_background { Background::from_reply(&reply) } else { None };
        }
        if !self.is_continued_by(key) {
            self.release();
        }
        if self.held.is_empty() && !begins_reply(key) {
            self.passed.push_back(Event::Key(key));
        } else {
            self.held.push(key);
        }
        None
    }

    /// Ends the wait for the rest of a reply. One that was cut off isn't what a person typed.
    fn release(&mut self) {
        if self.is_reply() {
            self.held.clear();
        }
        self.passed.extend(self.held.drain(..).map(Event::Key));
    }

    /// Returns the character with Alt that the held keys begin with.
    fn introducer(&self) -> Option<char> {
        self.held.first()?.code.as_char()
    }

    /// Returns the characters after the introducer.
    fn reply(&self) -> String {
        self.held.iter().skip(1).filter_map(|key| key.code.as_char()).collect()
    }

    /// Returns the forms of reply that begin like the held keys.
    fn forms(&self) -> impl Iterator<Item = &'static ReplyForm> {
        let introducer = self.introducer();
        REPLY_FORMS.iter().filter(move |(first, ..)| Some(*first) == introducer)
    }

    /// Returns whether the held keys can only be a reply, or its beginning.
    fn is_reply(&self) -> bool {
        let reply = self.reply();
        self.forms().any(|(_, start, _)| reply.starts_with(start))
    }

    /// Returns whether the held keys and this one may be the beginning of a reply.
    fn is_continued_by(&self, key: KeyEvent) -> bool {
        let is_plain = key.kind == KeyEventKind::Press && (key.modifiers - KeyModifiers::SHIFT).is_empty();
        let Some(c) = key.code.as_char().filter(|_| is_plain && !self.held.is_empty()) else { return false };
        let mut reply = self.reply();
        reply.push(c);
        let fits = self.forms().any(|(_, start, may_follow)| match reply.strip_prefix(start) {
            Some(rest) => rest.chars().all(may_follow),
            None => start.starts_with(&reply),
        });
        fits && reply.len() <= MAX_REPLY
    }
}

/// Returns whether a reply begins with this key.
fn begins_reply(key: KeyEvent) -> bool {
    let has_alt = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::ALT;
    has_alt && REPLY_FORMS.iter().any(|(introducer, ..)| key.code == KeyCode::Char(*introducer))
}

fn is_colour(c: char) -> bool {
    c.is_ascii_hexdigit() || ":/;rg".contains(c)
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/=;".contains(c)
}

fn is_hex(c: char) -> bool {
    c.is_ascii_hexdigit() || "=;".contains(c)
}

fn is_printable(c: char) -> bool {
    c.is_ascii_graphic() || c == ' '
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
                c => {
                    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
                    let modifiers = std::mem::replace(&mut alt, KeyModifiers::NONE) | shift;
                    keys.push(KeyEvent::new(KeyCode::Char(c), modifiers));
                }
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
        for typed in ["\x1b]n", "\x1b]\x1b]x", "\x1b]13", "11;rgb:0/0/0\x07", "\x1b\\"] {
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
        for (typed, passed) in
            [("\x1b]11;rgb:zz", "zz"), ("\x1b]11;rgb:0/0\x07q", "q"), ("\x1bP!|7E56q", "q")]
        {
            assert_eq!(push(typed), (vec![], keys(passed), 0), "{typed:?}");
        }
    }

    /// Regression: a reply to a question that another program had asked was played as keys. Those of control sequences are
    /// crossterm's; `tests/pty.rs` has them.
    #[test]
    fn replies_that_nobody_can_type_are_taken_out() {
        for reply in [
            "]4;1;rgb:cdcd/0000/0000",
            "]10;rgb:ffff/ffff/ffff",
            "]12;rgba:ffff/ffff/ffff/ffff",
            "]52;c;aGVsbG8=",
            "P>|XTerm(388)",
            "P>|tmux 3.4",
            "P!|7E565445",
            "P1$r0;1;38:5:4m",
            "P0$r",
            "P1+r544e=787465726d",
            "P0+r",
            "_Gi=31;ENOENT:no such image",
        ] {
            for end in ["\x1b\\", "\x07"] {
                let typed = format!("n\x1b{reply}{end}q");
                assert_eq!(push(&typed), (vec![], keys("nq"), 0), "{typed:?}");
            }
        }
        for typed in ["\x1bPn", "\x1bP>n", "\x1b_Gx", "\x1b_\x1b_x", "P>|x", "\x1bp>|x"] {
            assert_eq!(push(typed), (vec![], keys(typed), 0), "{typed:?}");
        }
        let endless = format!("\x1bP>|{}", "x".repeat(MAX_REPLY));
        assert_eq!(push(&endless).1, keys("xx"), "what comes after the longest reply was typed");
    }

    #[test]
    fn after_the_gap_the_beginning_of_a_reply_passes_and_a_cut_reply_is_dropped() {
        for (typed, expected) in
            [("\x1bP", "\x1bP"), ("\x1b]11", "\x1b]11"), ("\x1b]11;rgb:00", ""), ("", "")]
        {
            let mut filter = ReplyFilter::default();
            for key in keys(typed) {
                filter.push(Event::Key(key));
            }
            assert!(filter.passed.is_empty(), "{typed:?}");
            filter.release();
            let expected: Vec<Event> = keys(expected).into_iter().map(Event::Key).collect();
            assert_eq!((filter.passed, filter.held.len()), (expected.into(), 0), "{typed:?}");
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
