//! Takes secrets out of what a server says, also where it comes in pieces, in an encoding or only in part.
//!
//! A stretch of a text is hidden where it is a whole secret, an encoding of one (`secrets::encodings`), or at least
//! [`FRAGMENT`] bytes of either in a row. The text is looked at twice: as it is, and as a reader would decode it (percent signs,
//! JSON escapes, without invisible characters and the marks around reasoning).

use super::secret::{REDACTED, Secret};
use super::secret_parts::{self, is_ordinary_word};
use crate::text;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// So many bytes of a secret in a row are as good as the secret.
pub(super) const FRAGMENT_LEN: usize = 8;
/// A secret shorter than this is hidden only where it stands as a word of its own.
const MIN_LEN_ANYWHERE: usize = 6;

/// Takes secrets out of what a server says.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    secrets: Arc<KnownSecrets>,
}

#[derive(Default)]
struct KnownSecrets {
    /// Whole secrets and their encodings, as bytes.
    patterns: Vec<String>,
    /// The patterns that a stream waits for: text that may be the beginning of one is held back.
    awaited_in_stream: Vec<String>,
    /// Every [`FRAGMENT`] bytes of the patterns that are no part of an ordinary word.
    fragments: HashSet<[u8; FRAGMENT_LEN]>,
    /// What patterns and fragments begin with.
    beginnings: Beginnings,
    /// Marks that are taken out of a text later: what stands around them comes together.
    removed_marks: Vec<String>,
}

/// The three bytes that secrets begin with, as a set of hashes: where none of them stands nothing more is looked at, which is
/// nearly everywhere.
#[derive(Default)]
struct Beginnings(Vec<u64>);

impl Beginnings {
    const BITS: usize = 1 << 16;

    fn decode<'a>(secrets: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut bits = vec![0; Self::BITS / 64];
        for secret in secrets {
            // A shorter one would be in no text; none is that short.
            if let [a, b, c, ..] = *secret {
                let hash = Self::hash(a, b, c);
                bits[hash / 64] |= 1 << (hash % 64);
            }
        }
        Self(bits)
    }

    fn hash(a: u8, b: u8, c: u8) -> usize {
        ((usize::from(a) << 10) ^ (usize::from(b) << 5) ^ usize::from(c)) % Self::BITS
    }

    fn have(&self, a: u8, b: u8, c: u8) -> bool {
        let hash = Self::hash(a, b, c);
        self.0[hash / 64] >> (hash % 64) & 1 == 1
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Redactor {
    /// One that knows these values by their headers' or parameters' names, and every secret part of them; `marks` are taken
    /// out of a text later.
    pub(super) fn new<'a>(
        values: impl IntoIterator<Item = (&'a str, &'a Secret)>,
        marks: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let plain: BTreeSet<String> = values
            .into_iter()
            .flat_map(|(name, value)| secret_parts::find_secret_parts(name, value))
            .collect();
        let encoded = plain.iter().flat_map(|secret| secret_parts::encodings(secret));
        let patterns: BTreeSet<String> = encoded.chain(plain.iter().cloned()).collect();
        let fragments: HashSet<[u8; FRAGMENT_LEN]> =
            patterns.iter().flat_map(|p| telling_fragments(p)).collect();
        let whole = patterns.iter().map(String::as_bytes);
        let beginnings =
            Beginnings::decode(whole.chain(fragments.iter().map(<[u8; FRAGMENT_LEN]>::as_slice)));
        let marks = marks.into_iter().filter(|m| !m.is_empty()).map(str::to_owned).collect();
        // A short one is known as a word only when something follows it.
        let awaited = |pattern: &String| {
            if pattern.len() < MIN_LEN_ANYWHERE { format!("{pattern}\0") } else { pattern.clone() }
        };
        let known = KnownSecrets {
            awaited_in_stream: patterns.iter().map(awaited).collect(),
            patterns: patterns.into_iter().collect(),
            fragments,
            beginnings,
            removed_marks: marks,
        };
        Self { secrets: Arc::new(known) }
    }

    /// The text without any of them.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut shown = 0;
        for secret in self.find_secrets(text) {
            clean.push_str(&text[shown..secret.start]);
            clean.push_str(REDACTED);
            shown = secret.end;
        }
        clean.push_str(&text[shown..]);
        clean
    }

    /// The stretches to hide, in order and apart.
    pub(super) fn find_secrets(&self, text: &str) -> Vec<Range<usize>> {
        if self.secrets.patterns.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let identity = |at: usize| at;
        self.add_matches(text.as_bytes(), identity, &mut found);
        if let Some(decoded) = Decoded::of(text, &self.secrets.removed_marks) {
            self.add_matches(&decoded.bytes, |n| decoded.offsets[n], &mut found);
        }
        found.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in found {
            match apart.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        for range in &mut apart {
            // A fragment may begin or end within a character.
            while !text.is_char_boundary(range.start) {
                range.start -= 1;
            }
            while !text.is_char_boundary(range.end) {
                range.end += 1;
            }
        }
        apart
    }

    /// Adds the stretches of some bytes that are secret; `place` is where a byte stands in the text.
    fn add_matches(&self, bytes: &[u8], place: impl Fn(usize) -> usize, found: &mut Vec<Range<usize>>) {
        let alone = |pattern: &[u8], at: usize, end: usize| {
            let part = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
            let before = at.checked_sub(1).and_then(|n| bytes.get(n));
            !(part(before) && part(pattern.first()) || part(bytes.get(end)) && part(pattern.last()))
        };
        for at in 0..bytes.len().saturating_sub(2) {
            if !self.secrets.beginnings.have(bytes[at], bytes[at + 1], bytes[at + 2]) {
                continue;
            }
            for pattern in self.secrets.patterns.iter().map(String::as_bytes) {
                let end = at + pattern.len();
                if bytes[at..].starts_with(pattern)
                    && (pattern.len() >= MIN_LEN_ANYWHERE || alone(pattern, at, end))
                {
                    found.push(place(at)..place(end));
                }
            }
            let window =
                bytes.get(at..at + FRAGMENT_LEN).and_then(|w| <[u8; FRAGMENT_LEN]>::try_from(w).ok());
            if window.is_some_and(|w| self.secrets.fragments.contains(&w)) {
                found.push(place(at)..place(at + FRAGMENT_LEN));
            }
        }
    }

    /// How much of the end of a text could be the beginning of a secret.
    pub(super) fn pending_len(&self, text: &str) -> usize {
        if self.secrets.awaited_in_stream.is_empty() {
            return 0;
        }
        let plain = trailing_prefix_len(text, self.secrets.awaited_in_stream.iter().map(String::as_str));
        let decoded = Decoded::of(text, &self.secrets.removed_marks).map_or(0, |d| {
            d.incomplete_bytes
                + self.secrets.awaited_in_stream.iter().map(|s| d.trailing_prefix_len(s)).max().unwrap_or(0)
        });
        plain.max(decoded)
    }
}

/// The windows of a secret that give it away. Where it is made of ordinary words, each of them may stand in any text.
fn telling_fragments(secret: &str) -> Vec<[u8; FRAGMENT_LEN]> {
    // Of a text with blanks the parts are secrets of their own.
    if secret.contains(char::is_whitespace) {
        return Vec::new();
    }
    // A byte of a part that is no word gives itself away; one of a word does only beside such a part.
    let mut telling = Vec::with_capacity(secret.len());
    for part in secret.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        telling.extend(part.bytes().enumerate().map(|(n, _)| n < word.len() && !is_ordinary_word(word)));
    }
    let windows = secret.as_bytes().windows(FRAGMENT_LEN).zip(telling.windows(FRAGMENT_LEN));
    windows
        .filter(|(bytes, telling)| {
            telling.iter().all(|t| *t) || !is_ordinary_word(&String::from_utf8_lossy(bytes))
        })
        .filter_map(|(bytes, _)| bytes.try_into().ok())
        .collect()
}

/// A text as its reader takes it: percent signs and JSON escapes resolved, invisible characters and marks left out.
struct Decoded {
    bytes: Vec<u8>,
    /// Where each of them begins in the text, and then the text's end.
    offsets: Vec<usize>,
    /// Bytes at the end of the text that may be the beginning of an escape.
    incomplete_bytes: usize,
}

impl Decoded {
    /// None where it is the text itself.
    fn of(text: &str, marks: &[String]) -> Option<Self> {
        let plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'%' | b'\\' | b'&');
        if text.bytes().all(plain) && !marks.iter().any(|m| text.contains(m.as_str())) {
            return None;
        }
        let mut begins = [false; 256];
        marks.iter().filter_map(|m| m.bytes().next()).for_each(|b| begins[usize::from(b)] = true);
        let (mut bytes, mut at, mut here) =
            (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1), 0);
        while here < text.len() {
            let byte = text.as_bytes()[here];
            if plain(byte) && !begins[usize::from(byte)] {
                bytes.push(byte);
                at.push(here);
                here += 1;
                continue;
            }
            let rest = &text[here..];
            let Some(next) = rest.chars().next() else { break };
            let skipped = marks.iter().find(|m| rest.starts_with(m.as_str())).map_or(0, String::len);
            let skipped = if skipped > 0 || (b' '..=b'~').contains(&byte) {
                skipped
            } else {
                text::invisible_prefix_len(rest)
            };
            if skipped > 0 {
                here += skipped;
                continue;
            }
            let (length, coded) = match parse_escape(rest) {
                Escape::None => (next.len_utf8(), None),
                Escape::Incomplete => break,
                Escape::Byte(byte, length) => (length, Some(vec![byte])),
                Escape::Char(c, length) => (length, Some(c.to_string().into_bytes())),
            };
            if let Some(coded) = coded {
                at.extend(coded.iter().map(|_| here));
                bytes.extend(coded);
            } else {
                at.extend(here..here + length);
                bytes.extend(&rest.as_bytes()[..length]);
            }
            here += length;
        }
        at.push(here);
        Some(Self { bytes, offsets: at, incomplete_bytes: text.len() - here })
    }

    /// How many bytes of the text before an escape that has begun could be the beginning of a word.
    fn trailing_prefix_len(&self, word: &str) -> usize {
        let most = self.bytes.len().min(word.len().saturating_sub(1));
        let found = (1..=most).rev().find(|n| self.bytes.ends_with(&word.as_bytes()[..*n]));
        found.map_or(0, |n| self.offsets[self.bytes.len()] - self.offsets[self.bytes.len() - n])
    }
}

/// What a text begins with.
enum Escape {
    None,
    /// It may become one when more of it has come.
    Incomplete,
    /// A byte, and the length of its escape.
    Byte(u8, usize),
    /// A character, and the length of its escape.
    Char(char, usize),
}

/// `%2F`, `\u002f`, `\x2f`, `\/`, `&#47;` and the like.
fn parse_escape(text: &str) -> Escape {
    let raw = text.as_bytes();
    if raw.first() == Some(&b'&') {
        return reference(text);
    }
    let (digits, most) = match raw {
        [b'%', rest @ ..] | [b'\\', b'x', rest @ ..] => (rest, 2),
        [b'\\', b'u', rest @ ..] => (rest, 4),
        [b'\\', c @ (b'/' | b'"' | b'\\'), ..] => return Escape::Byte(*c, 2),
        [b'\\'] => return Escape::Incomplete,
        _ => return Escape::None,
    };
    let length = digits.iter().take(most).take_while(|b| b.is_ascii_hexdigit()).count();
    let digits = str::from_utf8(&digits[..length]).unwrap_or_default();
    let head = if raw.first() == Some(&b'%') { 1 } else { 2 };
    if digits.len() < most {
        return if head + digits.len() == raw.len() { Escape::Incomplete } else { Escape::None };
    }
    match u32::from_str_radix(digits, 16) {
        Ok(code) if most == 2 => Escape::Byte(code as u8, head + 2),
        Ok(code) => char::from_u32(code).map_or(Escape::None, |c| Escape::Char(c, 6)),
        Err(_) => Escape::None,
    }
}

/// A character of HTML by its number: `&#47;` or `&#x2f;`.
fn reference(text: &str) -> Escape {
    /// Digits of the largest number.
    const MOST: usize = 7;
    let Some(rest) = text.strip_prefix("&#") else {
        return if text == "&" { Escape::Incomplete } else { Escape::None };
    };
    let (digits, radix) = match rest.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (rest, 10),
    };
    let count = digits.chars().take(MOST + 1).take_while(|c| c.is_digit(radix)).count();
    let head = text.len() - digits.len();
    match digits[count..].chars().next() {
        _ if count > MOST => Escape::None,
        None => Escape::Incomplete,
        Some(';') => {
            let code = u32::from_str_radix(&digits[..count], radix).ok();
            code.and_then(char::from_u32).map_or(Escape::None, |c| Escape::Char(c, head + count + 1))
        }
        Some(_) => Escape::None,
    }
}

/// The bytes at the end of a text that begin one of these patterns without being all of it.
pub(super) fn trailing_prefix_len<'a>(text: &str, patterns: impl Iterator<Item = &'a str>) -> usize {
    let mut longest = 0;
    for pattern in patterns {
        let most = text.len().min(pattern.len().saturating_sub(1));
        let found = (longest + 1..=most).rev().find(|n| {
            let tail = &text.as_bytes()[text.len() - n..];
            pattern.is_char_boundary(*n) && pattern.as_bytes().starts_with(tail)
        });
        longest = longest.max(found.unwrap_or(0));
    }
    longest
}
