//! Removes secrets from text received from a server, even if they arrive in pieces, encoded or in part.
//!
//! A range of a text is hidden if it is a whole secret, an encoding of one (`secret_parts::encodings`), or at least
//! [`FRAGMENT_LEN`] consecutive bytes of either. The text is searched twice: as it is, and as a reader would decode it,
//! with percent-encoding and JSON escapes resolved and without invisible characters and reasoning tags.

use super::secret::{REDACTED, Secret};
use super::secret_parts::{self, is_ordinary_word};
use crate::text;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// This many consecutive bytes of a secret are hidden like the whole secret.
pub(super) const FRAGMENT_LEN: usize = 8;
/// A secret shorter than this, in bytes, is hidden only as a word of its own.
const MIN_LEN_ANYWHERE: usize = 6;

/// Removes secrets from text received from a server.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    secrets: Arc<KnownSecrets>,
}

#[derive(Default)]
struct KnownSecrets {
    /// Whole secrets and their encodings.
    patterns: Vec<String>,
    /// The patterns whose prefixes are held back at the end of a stream's text.
    stream_patterns: Vec<String>,
    /// All [`FRAGMENT_LEN`]-byte windows of the patterns that are not part of ordinary words.
    fragments: HashSet<[u8; FRAGMENT_LEN]>,
    /// The first bytes of patterns and fragments.
    beginnings: Beginnings,
    /// Reasoning tags, which are removed from a text later: a secret may be split by one.
    removed_tags: Vec<String>,
}

/// A set of hashes of the first three bytes of secrets. Positions without a match, which are nearly all, need no
/// further search.
#[derive(Default)]
struct Beginnings(Vec<u64>);

impl Beginnings {
    const BITS: usize = 1 << 16;

    fn from_secrets<'a>(secrets: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut bits = vec![0; Self::BITS / 64];
        for secret in secrets {
            // Secrets are never shorter than three bytes.
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

    fn contains(&self, a: u8, b: u8, c: u8) -> bool {
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
    /// Creates a redactor for the secret parts of these values, given with the names of their headers or parameters.
    /// `tags` are reasoning tags, which are removed from the text later.
    pub(super) fn new<'a>(
        values: impl IntoIterator<Item = (&'a str, &'a Secret)>,
        tags: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let plain: BTreeSet<String> = values
            .into_iter()
            .flat_map(|(name, value)| secret_parts::find_secret_parts(name, value))
            .collect();
        let encoded = plain.iter().flat_map(|secret| secret_parts::encodings(secret));
        let patterns: BTreeSet<String> = encoded.chain(plain.iter().cloned()).collect();
        let fragments: HashSet<[u8; FRAGMENT_LEN]> =
            patterns.iter().flat_map(|p| identifying_fragments(p)).collect();
        let whole = patterns.iter().map(String::as_bytes);
        let beginnings =
            Beginnings::from_secrets(whole.chain(fragments.iter().map(<[u8; FRAGMENT_LEN]>::as_slice)));
        let tags = tags.into_iter().filter(|m| !m.is_empty()).map(str::to_owned).collect();
        // A short secret is hidden only as a whole word, so even a complete one is held back until the next byte shows
        // where the word ends. The `\0` makes it a proper prefix.
        let awaited = |pattern: &String| {
            if pattern.len() < MIN_LEN_ANYWHERE { format!("{pattern}\0") } else { pattern.clone() }
        };
        let known = KnownSecrets {
            stream_patterns: patterns.iter().map(awaited).collect(),
            patterns: patterns.into_iter().collect(),
            fragments,
            beginnings,
            removed_tags: tags,
        };
        Self { secrets: Arc::new(known) }
    }

    /// Returns the text with all secrets replaced.
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

    /// Returns the ranges to hide, sorted and not overlapping.
    pub(super) fn find_secrets(&self, text: &str) -> Vec<Range<usize>> {
        if self.secrets.patterns.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let identity = |at: usize| at;
        self.add_matches(text.as_bytes(), identity, &mut found);
        if let Some(decoded) = Decoded::decode(text, &self.secrets.removed_tags) {
            self.add_matches(&decoded.bytes, |n| decoded.offsets[n], &mut found);
        }
        found.sort_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        for range in &mut merged {
            // A fragment may start or end inside a character.
            while !text.is_char_boundary(range.start) {
                range.start -= 1;
            }
            while !text.is_char_boundary(range.end) {
                range.end += 1;
            }
        }
        merged
    }

    /// Adds the secret ranges of `bytes`; `to_offset` maps an index in `bytes` to its offset in the text.
    fn add_matches(&self, bytes: &[u8], to_offset: impl Fn(usize) -> usize, found: &mut Vec<Range<usize>>) {
        let is_whole_word = |pattern: &[u8], at: usize, end: usize| {
            let is_word_byte = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
            let before = at.checked_sub(1).and_then(|n| bytes.get(n));
            !(is_word_byte(before) && is_word_byte(pattern.first())
                || is_word_byte(bytes.get(end)) && is_word_byte(pattern.last()))
        };
        for at in 0..bytes.len().saturating_sub(2) {
            if !self.secrets.beginnings.contains(bytes[at], bytes[at + 1], bytes[at + 2]) {
                continue;
            }
            for pattern in self.secrets.patterns.iter().map(String::as_bytes) {
                let end = at + pattern.len();
                if bytes[at..].starts_with(pattern)
                    && (pattern.len() >= MIN_LEN_ANYWHERE || is_whole_word(pattern, at, end))
                {
                    found.push(to_offset(at)..to_offset(end));
                }
            }
            let window =
                bytes.get(at..at + FRAGMENT_LEN).and_then(|w| <[u8; FRAGMENT_LEN]>::try_from(w).ok());
            if window.is_some_and(|w| self.secrets.fragments.contains(&w)) {
                found.push(to_offset(at)..to_offset(at + FRAGMENT_LEN));
            }
        }
    }

    /// Returns how many bytes at the end of a text could be the beginning of a secret.
    pub(super) fn pending_len(&self, text: &str) -> usize {
        if self.secrets.stream_patterns.is_empty() {
            return 0;
        }
        let plain = trailing_prefix_len(text, self.secrets.stream_patterns.iter().map(String::as_str));
        let decoded = Decoded::decode(text, &self.secrets.removed_tags).map_or(0, |d| {
            d.incomplete_bytes
                + self.secrets.stream_patterns.iter().map(|s| d.trailing_prefix_len(s)).max().unwrap_or(0)
        });
        plain.max(decoded)
    }
}

/// Returns the windows of a secret that identify it. Ordinary words in it do not, as they may occur in any text.
fn identifying_fragments(secret: &str) -> Vec<[u8; FRAGMENT_LEN]> {
    // A secret with white space was also split into parts, each a secret of its own.
    if secret.contains(char::is_whitespace) {
        return Vec::new();
    }
    // A window identifies the secret if it lies within a word that is not ordinary, or is not an ordinary word itself.
    let mut identifies_secret = Vec::with_capacity(secret.len());
    for part in secret.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        identifies_secret
            .extend(part.bytes().enumerate().map(|(n, _)| n < word.len() && !is_ordinary_word(word)));
    }
    let windows = secret.as_bytes().windows(FRAGMENT_LEN).zip(identifies_secret.windows(FRAGMENT_LEN));
    windows
        .filter(|(bytes, identifies_secret)| {
            identifies_secret.iter().all(|t| *t) || !is_ordinary_word(&String::from_utf8_lossy(bytes))
        })
        .filter_map(|(bytes, _)| bytes.try_into().ok())
        .collect()
}

/// A text as its reader sees it: escapes are decoded, and invisible characters and tags are left out.
struct Decoded {
    bytes: Vec<u8>,
    /// The position of each byte in the text, followed by the end of the decoded part.
    offsets: Vec<usize>,
    /// Number of bytes at the end of the text that may be the beginning of an escape.
    incomplete_bytes: usize,
}

impl Decoded {
    /// Decodes a text. Returns `None` if there is nothing to decode.
    fn decode(text: &str, tags: &[String]) -> Option<Self> {
        let plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'%' | b'\\' | b'&');
        if text.bytes().all(plain) && !tags.iter().any(|m| text.contains(m.as_str())) {
            return None;
        }
        let mut starts_tag = [false; 256];
        tags.iter().filter_map(|m| m.bytes().next()).for_each(|b| starts_tag[usize::from(b)] = true);
        let (mut bytes, mut offsets, mut position) =
            (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1), 0);
        while position < text.len() {
            let byte = text.as_bytes()[position];
            if plain(byte) && !starts_tag[usize::from(byte)] {
                bytes.push(byte);
                offsets.push(position);
                position += 1;
                continue;
            }
            let rest = &text[position..];
            let Some(next) = rest.chars().next() else { break };
            let skipped = tags.iter().find(|m| rest.starts_with(m.as_str())).map_or(0, String::len);
            let skipped = if skipped > 0 || (b' '..=b'~').contains(&byte) {
                skipped
            } else {
                text::invisible_prefix_len(rest)
            };
            if skipped > 0 {
                position += skipped;
                continue;
            }
            let (length, coded) = match parse_escape(rest) {
                Escape::None => (next.len_utf8(), None),
                Escape::Incomplete => break,
                Escape::Byte(byte, length) => (length, Some(vec![byte])),
                Escape::Char(c, length) => (length, Some(c.to_string().into_bytes())),
            };
            if let Some(coded) = coded {
                offsets.extend(coded.iter().map(|_| position));
                bytes.extend(coded);
            } else {
                offsets.extend(position..position + length);
                bytes.extend(&rest.as_bytes()[..length]);
            }
            position += length;
        }
        offsets.push(position);
        Some(Self { bytes, offsets, incomplete_bytes: text.len() - position })
    }

    /// Returns how many bytes of the text, before any incomplete escape, could be the beginning of `pattern`.
    fn trailing_prefix_len(&self, pattern: &str) -> usize {
        let max_len = self.bytes.len().min(pattern.len().saturating_sub(1));
        let found = (1..=max_len).rev().find(|n| self.bytes.ends_with(&pattern.as_bytes()[..*n]));
        found.map_or(0, |n| self.offsets[self.bytes.len()] - self.offsets[self.bytes.len() - n])
    }
}

/// An escape at the beginning of a text.
enum Escape {
    None,
    /// The text may become an escape when more of it arrives.
    Incomplete,
    /// A byte, and the length of its escape.
    Byte(u8, usize),
    /// A character, and the length of its escape.
    Char(char, usize),
}

/// Parses an escape such as `%2F`, `\u002f`, `\x2f`, `\/` or `&#47;`.
fn parse_escape(text: &str) -> Escape {
    let raw = text.as_bytes();
    if raw.first() == Some(&b'&') {
        return parse_char_reference(text);
    }
    let (digits, digit_count) = match raw {
        [b'%', rest @ ..] | [b'\\', b'x', rest @ ..] => (rest, 2),
        [b'\\', b'u', rest @ ..] => (rest, 4),
        [b'\\', c @ (b'/' | b'"' | b'\\'), ..] => return Escape::Byte(*c, 2),
        [b'\\'] => return Escape::Incomplete,
        _ => return Escape::None,
    };
    let length = digits.iter().take(digit_count).take_while(|b| b.is_ascii_hexdigit()).count();
    let digits = str::from_utf8(&digits[..length]).unwrap_or_default();
    let head = if raw.first() == Some(&b'%') { 1 } else { 2 };
    if digits.len() < digit_count {
        return if head + digits.len() == raw.len() { Escape::Incomplete } else { Escape::None };
    }
    match u32::from_str_radix(digits, 16) {
        Ok(code) if digit_count == 2 => Escape::Byte(code as u8, head + 2),
        Ok(code) => char::from_u32(code).map_or(Escape::None, |c| Escape::Char(c, 6)),
        Err(_) => Escape::None,
    }
}

/// Parses a numeric character reference of HTML: `&#47;` or `&#x2f;`.
fn parse_char_reference(text: &str) -> Escape {
    /// Number of digits of the largest code point.
    const MAX_DIGITS: usize = 7;
    let Some(rest) = text.strip_prefix("&#") else {
        return if text == "&" { Escape::Incomplete } else { Escape::None };
    };
    let (digits, radix) = match rest.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (rest, 10),
    };
    let count = digits.chars().take(MAX_DIGITS + 1).take_while(|c| c.is_digit(radix)).count();
    let head = text.len() - digits.len();
    match digits[count..].chars().next() {
        _ if count > MAX_DIGITS => Escape::None,
        None => Escape::Incomplete,
        Some(';') => {
            let code = u32::from_str_radix(&digits[..count], radix).ok();
            code.and_then(char::from_u32).map_or(Escape::None, |c| Escape::Char(c, head + count + 1))
        }
        Some(_) => Escape::None,
    }
}

/// Returns how many bytes at the end of a text are a proper prefix of one of the patterns.
pub(super) fn trailing_prefix_len<'a>(text: &str, patterns: impl Iterator<Item = &'a str>) -> usize {
    let mut longest = 0;
    for pattern in patterns {
        let max_len = text.len().min(pattern.len().saturating_sub(1));
        let found = (longest + 1..=max_len).rev().find(|n| {
            let tail = &text.as_bytes()[text.len() - n..];
            pattern.is_char_boundary(*n) && pattern.as_bytes().starts_with(tail)
        });
        longest = longest.max(found.unwrap_or(0));
    }
    longest
}
