//! Text from outside is hostile until it was here.

use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// Blanks that stand for a tab.
const TAB_SPACES: &str = "    ";
/// Marks without a width that one character may carry; more of them would pile up into one endless cell.
const MAX_MARKS: u32 = 8;
/// Characters that may be joined into one by zero-width joiners.
const MAX_JOINED: u32 = 8;

/// Makes text harmless: terminal control sequences (CSI, OSC, DCS, APC, PM, SOS, ESC and its letter), C0 and C1
/// controls, carriage returns, bidirectional controls and invisible characters go; tabs become blanks; line
/// separators become newlines; newlines stay.
///
/// A string sequence (OSC and the like) that never ends loses its introduction only, so that it cannot hide the text
/// after it. Takes time linear in the text, and borrows where there is nothing to do.
pub fn clean(text: &str) -> Cow<'_, str> {
    match text.chars().scan(Context::default(), |seen, c| Some((seen.advance(c), c))).position(needs_rewrite)
    {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(rewrite(text)),
    }
}

/// As [`clean`], and newlines become blanks: for text that is given a single row.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match clean(text) {
        Cow::Borrowed(t) if !t.contains('\n') => Cow::Borrowed(t),
        t => Cow::Owned(t.replace('\n', " ")),
    }
}

/// Bytes at the beginning of a text that show nothing: a control sequence, or an invisible character that [`clean`] drops.
pub fn invisible_prefix_len(text: &str) -> usize {
    let sequence = control_sequence_len(text);
    let hidden = |c: &char| {
        matches!(c, '\u{200c}' | '\u{200d}')
            || (*c != '\n' && *c != '\t' && c.is_control())
            || is_misleading(*c)
    };
    if sequence > 0 { sequence } else { text.chars().next().filter(hidden).map_or(0, char::len_utf8) }
}

/// What becomes of one character, apart from control sequences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharAction {
    Keep,
    Drop,
    Newline,
    Spaces,
}

/// What stood before, as far as it matters: joiners and marks are judged by what they hang on.
#[derive(Clone, Copy, Default)]
struct Context {
    previous: Option<char>,
    marks: u32,
    joined: u32,
}

impl Context {
    fn advance(&mut self, c: char) -> CharAction {
        let verdict = self.classify(c);
        if verdict == CharAction::Keep {
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
        } else if verdict != CharAction::Drop {
            *self = Self::default();
        }
        verdict
    }

    fn classify(&self, c: char) -> CharAction {
        match c {
            '\n' | ' '..='~' => CharAction::Keep,
            '\t' => CharAction::Spaces,
            '\u{2028}' | '\u{2029}' => CharAction::Newline,
            _ if c.is_control() || is_misleading(c) => CharAction::Drop,
            // Joiners are part of emoji and of several scripts, and nothing but a disguise elsewhere.
            '\u{200c}' | '\u{200d}' => {
                let fits =
                    self.previous.is_some_and(|b| !b.is_ascii() && !matches!(b, '\u{200c}' | '\u{200d}'));
                if fits && self.joined < MAX_JOINED && self.marks < MAX_MARKS {
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

fn needs_rewrite((verdict, _): (CharAction, char)) -> bool {
    verdict != CharAction::Keep
}

fn is_zero_width(c: char) -> bool {
    c > '\u{2ff}' && c.width() == Some(0)
}

/// Characters that change the order of what is shown, or that cannot be seen.
pub(super) fn is_misleading(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn rewrite(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut context = Context::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let sequence = control_sequence_len(rest);
        if sequence > 0 {
            rest = &rest[sequence..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match context.advance(c) {
            CharAction::Keep => kept.push(c),
            CharAction::Drop => {}
            CharAction::Newline => kept.push('\n'),
            CharAction::Spaces => kept.push_str(TAB_SPACES),
        }
    }
    kept
}

/// Bytes of the control sequence at the beginning of a text; 0 where there is none.
fn control_sequence_len(text: &str) -> usize {
    let mut chars = text.chars();
    let (head, after) = match chars.next() {
        Some('\u{1b}') => match chars.as_str().bytes().next() {
            Some(b'[') => return 2 + csi_len(&text[2..]),
            Some(b']' | b'P' | b'_' | b'^' | b'X') => (2, &text[2..]),
            _ => return 1 + escape_len(&text[1..]),
        },
        Some('\u{9b}') => return 2 + csi_len(&text[2..]),
        Some('\u{9d}' | '\u{90}' | '\u{9f}' | '\u{9e}' | '\u{98}') => (2, &text[2..]),
        _ => return 0,
    };
    head + string_sequence_len(after)
}

/// Parameters, intermediates and the final letter after `ESC [`.
fn csi_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let body = bytes.iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
    body + usize::from(bytes.get(body).is_some_and(|b| (0x40..=0x7e).contains(b)))
}

/// Intermediates and the final letter after a lone `ESC`.
fn escape_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let body = bytes.iter().take_while(|b| (0x20..=0x2f).contains(*b)).count();
    body + usize::from(bytes.get(body).is_some_and(|b| (0x30..=0x7e).contains(b)))
}

/// The body and the end of a string sequence; 0 where another control comes before its end. Every look ends at the next
/// control character, so that a text full of beginnings is still read in linear time.
fn string_sequence_len(text: &str) -> usize {
    let Some((at, control)) = text.char_indices().find(|(_, c)| c.is_control()) else { return 0 };
    match control {
        '\u{7}' => at + 1,
        '\u{9c}' => at + 2,
        '\u{1b}' if text[at + 1..].starts_with('\\') => at + 2,
        _ => 0,
    }
}
