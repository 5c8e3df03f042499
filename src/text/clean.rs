//! Sanitizes text from models, environments and files, none of which is trusted.

use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// Replacement for a tab.
const TAB_SPACES: &str = "    ";
/// Maximum number of zero-width (combining) marks on one character. Terminals draw all of them in one cell.
const MAX_MARKS: u32 = 8;
/// Maximum number of zero-width joiners in one displayed character.
const MAX_JOINED: u32 = 8;

/// Sanitizes text: removes terminal control sequences (CSI, OSC, DCS, APC, PM, SOS, ESC with its final byte), C0 and C1
/// controls, carriage returns, bidirectional controls and invisible characters; replaces tabs with spaces and line
/// separators with newlines; keeps newlines.
///
/// If a string sequence (OSC and similar) is unterminated, only its introducer is removed, so that it cannot hide the
/// text after it. Takes linear time. Returns the text itself if there is nothing to change.
pub fn clean(text: &str) -> Cow<'_, str> {
    // Most texts are plain, and every row of every frame passes through here.
    if text.bytes().all(|b| is_plain(b.into())) {
        return Cow::Borrowed(text);
    }
    match text
        .chars()
        .scan(JoinContext::default(), |context, c| Some((context.advance(c), c)))
        .position(needs_rewrite)
    {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(rewrite(text)),
    }
}

/// Sanitizes text like [`clean`] and replaces newlines with spaces, for text shown in a single row.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match clean(text) {
        Cow::Borrowed(t) if !t.contains('\n') => Cow::Borrowed(t),
        t => Cow::Owned(t.replace('\n', " ")),
    }
}

/// Returns the number of bytes at the start of a text that are invisible: a control sequence, or a character that
/// [`clean`] drops.
pub fn invisible_prefix_len(text: &str) -> usize {
    let sequence_len = control_sequence_len(text);
    let is_hidden = |c: &char| {
        matches!(c, '\u{200c}' | '\u{200d}')
            || (*c != '\n' && *c != '\t' && c.is_control())
            || is_misleading(*c)
    };
    if sequence_len > 0 {
        sequence_len
    } else {
        text.chars().next().filter(is_hidden).map_or(0, char::len_utf8)
    }
}

/// How one character outside control sequences is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharAction {
    Keep,
    Drop,
    Newline,
    Spaces,
}

/// What must be known about the preceding characters to decide whether a joiner or mark is kept.
#[derive(Clone, Copy, Default)]
struct JoinContext {
    /// The last character that was kept.
    previous: Option<char>,
    /// Zero-width marks kept since the last wider character.
    marks: u32,
    /// Joiners kept in the current displayed character.
    joined: u32,
}

impl JoinContext {
    fn advance(&mut self, c: char) -> CharAction {
        let action = self.classify(c);
        if action == CharAction::Keep {
            if is_zero_width(c) {
                self.marks += 1;
            } else {
                self.marks = 0;
                if self.previous != Some('\u{200d}') {
                    self.joined = 0;
                }
            }
            if c == '\u{200d}' {
                self.joined += 1;
            }
            self.previous = Some(c);
        } else if action != CharAction::Drop {
            *self = Self::default();
        }
        action
    }

    fn classify(&self, c: char) -> CharAction {
        match c {
            _ if is_plain(c) => CharAction::Keep,
            '\t' => CharAction::Spaces,
            '\u{2028}' | '\u{2029}' => CharAction::Newline,
            _ if c.is_control() || is_misleading(c) => CharAction::Drop,
            // Emoji and several scripts need joiners; elsewhere they can only make different texts look the same.
            '\u{200c}' | '\u{200d}' => {
                let joins_text =
                    self.previous.is_some_and(|b| !b.is_ascii() && !matches!(b, '\u{200c}' | '\u{200d}'));
                if joins_text && self.joined < MAX_JOINED && self.marks < MAX_MARKS {
                    CharAction::Keep
                } else {
                    CharAction::Drop
                }
            }
            _ if is_zero_width(c) && (self.marks >= MAX_MARKS || self.previous.is_none_or(|b| b == '\n')) => {
                CharAction::Drop
            }
            _ => CharAction::Keep,
        }
    }
}

/// Returns whether a character is kept wherever it stands.
fn is_plain(c: char) -> bool {
    matches!(c, '\n' | ' '..='~')
}

fn needs_rewrite((action, _): (CharAction, char)) -> bool {
    action != CharAction::Keep
}

fn is_zero_width(c: char) -> bool {
    c > '\u{2ff}' && c.width() == Some(0)
}

/// Returns whether a character changes the display order or is invisible.
pub(super) fn is_misleading(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn rewrite(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut context = JoinContext::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let sequence_len = control_sequence_len(rest);
        if sequence_len > 0 {
            rest = &rest[sequence_len..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match context.advance(c) {
            CharAction::Keep => cleaned.push(c),
            CharAction::Drop => {}
            CharAction::Newline => cleaned.push('\n'),
            CharAction::Spaces => cleaned.push_str(TAB_SPACES),
        }
    }
    cleaned
}

/// Returns the length in bytes of the control sequence at the start of a text, or 0 if there is none.
fn control_sequence_len(text: &str) -> usize {
    let mut chars = text.chars();
    let (introducer_len, body) = match chars.next() {
        Some('\u{1b}') => match chars.as_str().bytes().next() {
            Some(b'[') => return 2 + csi_len(&text[2..]),
            Some(b']' | b'P' | b'_' | b'^' | b'X') => (2, &text[2..]),
            _ => return 1 + escape_len(&text[1..]),
        },
        Some('\u{9b}') => return 2 + csi_len(&text[2..]),
        Some('\u{9d}' | '\u{90}' | '\u{9f}' | '\u{9e}' | '\u{98}') => (2, &text[2..]),
        _ => return 0,
    };
    introducer_len + string_sequence_len(body)
}

/// Returns the length of parameters, intermediates and final byte after `ESC [`.
fn csi_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let body = bytes.iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
    body + usize::from(bytes.get(body).is_some_and(|b| (0x40..=0x7e).contains(b)))
}

/// Returns the length of intermediates and final byte after a lone `ESC`.
fn escape_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let body = bytes.iter().take_while(|b| (0x20..=0x2f).contains(*b)).count();
    body + usize::from(bytes.get(body).is_some_and(|b| (0x30..=0x7e).contains(b)))
}

/// Returns the length of the body and terminator of a string sequence, or 0 if another control character comes first.
/// Reads only up to the next control character, so that a text full of introducers still takes linear time in total.
fn string_sequence_len(text: &str) -> usize {
    let Some((end, control)) = text.char_indices().find(|(_, c)| c.is_control()) else { return 0 };
    match control {
        '\u{7}' => end + 1,
        '\u{9c}' => end + 2,
        '\u{1b}' if text[end + 1..].starts_with('\\') => end + 2,
        _ => 0,
    }
}
