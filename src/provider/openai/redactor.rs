//! What a server says, without the words that must never be seen, also where it comes in pieces.

use super::key::{HIDDEN, Key};
use super::secrets::{self, SHORTEST};
use std::fmt;

/// Takes secrets out of what a server says.
#[derive(Clone, Debug, Default)]
pub(super) struct Redactor {
    secrets: Vec<Hidden>,
}

/// A word that is not shown, nor in `Debug`.
#[derive(Clone, PartialEq, Eq)]
struct Hidden(String);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Redactor {
    /// One that knows these values by their headers' or parameters' names, and every secret part of them.
    pub(super) fn new<'a>(values: impl IntoIterator<Item = (&'a str, &'a Key)>) -> Self {
        let words = values.into_iter().flat_map(|(name, value)| secrets::of(name, value));
        let mut secrets: Vec<Hidden> = words.filter(|w| w.len() >= SHORTEST).map(Hidden).collect();
        // The longest first: one may be the beginning of another.
        secrets.sort_by(|a, b| (b.0.len(), &b.0).cmp(&(a.0.len(), &a.0)));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without any of them.
    pub(super) fn clean(&self, text: &str) -> String {
        self.cleaned(text, text.len()).0
    }

    /// The text up to a byte without any of them, and how far that is: a secret that goes beyond it is left for later.
    fn cleaned(&self, text: &str, most: usize) -> (String, usize) {
        let (mut clean, mut shown) = (String::new(), 0);
        let escaped = Unescaped::of(text);
        while let Some((from, to)) = self.next(text, escaped.as_ref(), shown) {
            if to > most {
                // What stands before it is free of secrets, as far as may be looked.
                let free = from.min(most);
                clean.push_str(&text[shown..free]);
                return (clean, free);
            }
            clean.push_str(&text[shown..from]);
            clean.push_str(HIDDEN);
            shown = to;
        }
        clean.push_str(&text[shown..most]);
        (clean, most)
    }

    /// The next stretch of secrets that lie over each other, from here on.
    fn next(&self, text: &str, escaped: Option<&Unescaped>, here: usize) -> Option<(usize, usize)> {
        let found = |from: usize| {
            let plain = |s: &Hidden| Some((from + text[from..].find(&s.0)?, s.0.len()));
            let escaped = |s: &Hidden| escaped.and_then(|e| e.find(&s.0, from));
            let all = self.secrets.iter().flat_map(|s| [plain(s), escaped(s)]).flatten();
            all.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
        };
        let (from, length) = found(here)?;
        let (mut at, mut to) = (from, from + length);
        loop {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            match (at < to).then(|| found(at)).flatten().filter(|(next, _)| *next < to) {
                Some((next, length)) => (at, to) = (next, to.max(next + length)),
                None => return Some((from, to)),
            }
        }
    }

    /// How much of the end of a text could be the beginning of a secret.
    fn open_end(&self, text: &str) -> usize {
        let plain = beginning_of(text, self.secrets.iter().map(|s| s.0.as_str()));
        let escaped = Unescaped::of(text)
            .map_or(0, |e| self.secrets.iter().map(|s| e.open_end(&s.0)).max().unwrap_or(0));
        plain.max(escaped)
    }
}

/// A text as it is with its percent signs resolved, wholly or in part and in either case, as in addresses and forms.
struct Unescaped {
    bytes: Vec<u8>,
    /// Where each of them begins in the text, and then the text's end.
    at: Vec<usize>,
    /// Bytes at the end of the text that may be the beginning of an escape.
    begun: usize,
}

impl Unescaped {
    /// None where there is nothing to resolve.
    fn of(text: &str) -> Option<Self> {
        text.contains('%').then(|| {
            let raw = text.as_bytes();
            let digit = |n: usize| raw.get(n).and_then(|b| char::from(*b).to_digit(16));
            let (mut bytes, mut at, mut here) = (Vec::with_capacity(raw.len()), Vec::new(), 0);
            while here < raw.len() {
                let begun = raw[here] == b'%'
                    && (here + 1 == raw.len() || (here + 2 == raw.len() && digit(here + 1).is_some()));
                if begun {
                    break;
                }
                at.push(here);
                match (raw[here], digit(here + 1), digit(here + 2)) {
                    (b'%', Some(high), Some(low)) => {
                        bytes.push((high * 16 + low) as u8);
                        here += 3;
                    }
                    (byte, ..) => {
                        bytes.push(byte);
                        here += 1;
                    }
                }
            }
            at.push(here);
            Self { bytes, at, begun: raw.len() - here }
        })
    }

    /// The first place of a word from this byte of the text on, and its length there.
    fn find(&self, word: &str, from: usize) -> Option<(usize, usize)> {
        let (word, first) = (word.as_bytes(), self.at.partition_point(|at| *at < from));
        let rest = self.bytes.get(first..)?;
        let place = first + rest.windows(word.len()).position(|w| w == word)?;
        Some((self.at[place], self.at[place + word.len()] - self.at[place]))
    }

    /// How many bytes of the text's end could be the beginning of a word, or of the escape of its first letter.
    fn open_end(&self, word: &str) -> usize {
        let most = self.bytes.len().min(word.len().saturating_sub(1));
        let found = (1..=most).rev().find(|n| self.bytes.ends_with(&word.as_bytes()[..*n]));
        self.begun + found.map_or(0, |n| self.at[self.bytes.len()] - self.at[self.bytes.len() - n])
    }
}

/// A redactor of text that comes in pieces: what could become a secret is held back until it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Veil {
    redactor: Redactor,
    held: String,
}

impl Veil {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: String::new() }
    }

    /// Takes a piece; gives what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        // Before anything is hidden: a secret that is whole may still become a longer one.
        let open = self.redactor.open_end(&self.held);
        let (clean, shown) = self.redactor.cleaned(&self.held, self.held.len() - open);
        self.held.drain(..shown);
        clean
    }

    /// What was held back, at the end.
    pub(super) fn end(&mut self) -> String {
        self.redactor.clean(&std::mem::take(&mut self.held))
    }
}

/// The bytes at the end of a text that begin one of these patterns without being all of it.
pub(super) fn beginning_of<'a>(text: &str, patterns: impl Iterator<Item = &'a str>) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown_however_it_is_cut() {
        let secret = "sk-local-testé";
        let text = format!("s sk {secret}{secret} sk-local");
        let hidden = "s sk [hidden][hidden] sk-local";
        let keys = [secret, "none", "sk-local-testé-longer"].map(Key::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)));
        assert_eq!(redactor.clean(&text), hidden);
        assert_eq!(redactor.clean("sk-local-testé-longer"), "[hidden]");
        for size in 1..text.len() {
            let mut veil = Veil::new(redactor.clone());
            let (mut seen, mut piece) = (String::new(), String::new());
            for (n, c) in text.chars().enumerate() {
                piece.push(c);
                if n % size == size - 1 {
                    seen.push_str(&veil.push(&std::mem::take(&mut piece)));
                    assert!(!seen.contains(secret));
                }
            }
            seen.push_str(&veil.push(&piece));
            seen.push_str(&veil.end());
            assert_eq!(seen, hidden, "pieces of {size}");
        }
        assert_eq!(format!("{:?} {redactor:?}", Key::new(secret)).matches(secret).count(), 0);
    }

    /// The shorter of two was hidden as soon as it had come, and the rest of the longer one shown.
    #[test]
    fn a_secret_that_begins_or_overlaps_another_is_hidden_to_its_end() {
        let keys = ["abcdef", "abcdefghij", "ijklmnop"].map(Key::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)));
        for (text, hidden) in
            [("1 abcdefghij 2", "1 [hidden] 2"), ("abcdefghijklmnop", "[hidden]"), ("abcdefgh", "[hidden]gh")]
        {
            let mut veil = Veil::new(redactor.clone());
            let pieces: String = text.split_inclusive(|_| true).map(|p| veil.push(p)).collect();
            assert_eq!((redactor.clean(text), pieces + &veil.end()), (hidden.to_owned(), hidden.to_owned()));
        }
    }

    /// A server that said the key back as it stands in an address was believed.
    #[test]
    fn a_secret_is_hidden_however_its_letters_are_escaped() {
        let keys = ["sk/a+b=é9", "c29tZW9uZTpodW50ZXIyMg=="].map(Key::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)));
        for (text, hidden) in [
            ("?key=sk%2Fa%2Bb%3D%C3%A99&x=1", "?key=[hidden]&x=1"),
            ("?key=sk%2fa%2bb%3d%c3%A99", "?key=[hidden]"),
            ("sk/a%2Bb=é9 100% of it", "[hidden] 100% of it"),
            ("%73%6b%2F%61%2B%62%3D%C3%A9%39", "[hidden]"),
            ("Basic c29tZW9uZTpodW50ZXIyMg%3D%3D.", "Basic [hidden]."),
            ("50%, 5%4 and %zz sk%2F", "50%, 5%4 and %zz sk%2F"),
            ("%", "%"),
            ("sk%2Fa%2", "sk%2Fa%2"),
            // What stands before its `=` is a secret of its own.
            ("sk%2Fa%2Bb%3D%C3%A", "[hidden]%3D%C3%A"),
        ] {
            assert_eq!(redactor.clean(text), hidden, "{text}");
            for size in 1..=text.len() {
                let mut veil = Veil::new(redactor.clone());
                let letters: Vec<char> = text.chars().collect();
                let pieces = letters.chunks(size).map(|p| veil.push(&p.iter().collect::<String>()));
                let seen = pieces.collect::<String>();
                assert_eq!(seen + &veil.end(), hidden, "{text} in pieces of {size}");
            }
        }
    }
}
