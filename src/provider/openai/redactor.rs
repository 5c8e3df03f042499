//! Takes secrets out of what a server says, also where it comes in pieces, in an encoding or only in part.
//!
//! A stretch of a text is hidden where it is a whole secret, an encoding of one (`secrets::encodings`), or at least
//! [`FRAGMENT`] bytes of either in a row. The text is looked at twice: as it is, and as a reader would decode it (percent signs,
//! JSON escapes, without invisible characters and the marks around reasoning).

use super::key::{HIDDEN, Key};
use super::secrets::{self, is_word};
use crate::text;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// So many bytes of a secret in a row are as good as the secret.
pub(super) const FRAGMENT: usize = 8;
/// A secret shorter than this is hidden only where it stands as a word of its own.
const ANYWHERE: usize = 6;
/// How much of what a [`Veil`] has let go is looked at again with what follows.
const CONTEXT: usize = 256;

/// Takes secrets out of what a server says.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    known: Arc<Known>,
}

#[derive(Default)]
struct Known {
    /// Whole secrets and their encodings, as bytes.
    patterns: Vec<String>,
    /// The secrets as they are: what a stream holds back in case one follows.
    awaited: Vec<String>,
    /// Every [`FRAGMENT`] bytes of the patterns that are no part of an ordinary word.
    fragments: HashSet<[u8; FRAGMENT]>,
    /// Marks that are taken out of a text later: what stands around them comes together.
    marks: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Redactor {
    /// One that knows these values by their headers' or parameters' names, and every secret part of them; `marks` are taken
    /// out of a text later.
    pub(super) fn new<'a>(
        values: impl IntoIterator<Item = (&'a str, &'a Key)>,
        marks: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let plain: BTreeSet<String> =
            values.into_iter().flat_map(|(name, value)| secrets::of(name, value)).collect();
        let encoded = plain.iter().flat_map(|secret| secrets::encodings(secret));
        let patterns: BTreeSet<String> = encoded.chain(plain.iter().cloned()).collect();
        let fragments = patterns.iter().flat_map(|pattern| fragments(pattern)).collect();
        let marks = marks.into_iter().filter(|m| !m.is_empty()).map(str::to_owned).collect();
        // A short one is known as a word only when something follows it.
        let awaited = |secret: String| if secret.len() < ANYWHERE { secret + "\0" } else { secret };
        let known = Known {
            patterns: patterns.into_iter().collect(),
            awaited: plain.into_iter().map(awaited).collect(),
            fragments,
            marks,
        };
        Self { known: Arc::new(known) }
    }

    /// The text without any of them.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut shown = 0;
        for secret in self.secrets_in(text) {
            clean.push_str(&text[shown..secret.start]);
            clean.push_str(HIDDEN);
            shown = secret.end;
        }
        clean.push_str(&text[shown..]);
        clean
    }

    /// The stretches to hide, in order and apart.
    fn secrets_in(&self, text: &str) -> Vec<Range<usize>> {
        if self.known.patterns.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let identity = |at: usize| at;
        self.matches(text.as_bytes(), identity, &mut found);
        if let Some(decoded) = Decoded::of(text, &self.known.marks) {
            self.matches(&decoded.bytes, |n| decoded.at[n], &mut found);
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
    fn matches(&self, bytes: &[u8], place: impl Fn(usize) -> usize, found: &mut Vec<Range<usize>>) {
        for pattern in &self.known.patterns {
            let pattern = pattern.as_bytes();
            let alone = |at: usize, end: usize| {
                let part = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
                let before = at.checked_sub(1).and_then(|n| bytes.get(n));
                !(part(before) && part(pattern.first()) || part(bytes.get(end)) && part(pattern.last()))
            };
            let mut from = 0;
            while let Some(at) = find(&bytes[from..], pattern).map(|n| from + n) {
                let end = at + pattern.len();
                if pattern.len() >= ANYWHERE || alone(at, end) {
                    found.push(place(at)..place(end));
                }
                from = at + 1;
            }
        }
        let hit = |at: usize| {
            let window = bytes.get(at..at + FRAGMENT).and_then(|w| <[u8; FRAGMENT]>::try_from(w).ok());
            window.is_some_and(|w| self.known.fragments.contains(&w))
        };
        for at in (0..bytes.len().saturating_sub(FRAGMENT - 1)).filter(|at| hit(*at)) {
            found.push(place(at)..place(at + FRAGMENT));
        }
    }

    /// How much of the end of a text could be the beginning of a secret.
    fn open_end(&self, text: &str) -> usize {
        if self.known.awaited.is_empty() {
            return 0;
        }
        let plain = beginning_of(text, self.known.awaited.iter().map(String::as_str));
        let decoded = Decoded::of(text, &self.known.marks)
            .map_or(0, |d| d.begun + self.known.awaited.iter().map(|s| d.open_end(s)).max().unwrap_or(0));
        plain.max(decoded)
    }
}

/// The windows of a secret that give it away. Where it is made of ordinary words, each of them may stand in any text.
fn fragments(secret: &str) -> Vec<[u8; FRAGMENT]> {
    // Of a text with blanks the parts are secrets of their own.
    if secret.contains(char::is_whitespace) {
        return Vec::new();
    }
    // A byte of a part that is no word gives itself away; one of a word does only beside such a part.
    let mut telling = Vec::with_capacity(secret.len());
    for part in secret.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        telling.extend(part.bytes().enumerate().map(|(n, _)| n < word.len() && !is_word(word)));
    }
    let windows = secret.as_bytes().windows(FRAGMENT).zip(telling.windows(FRAGMENT));
    windows
        .filter(|(bytes, telling)| telling.iter().all(|t| *t) || !is_word(&String::from_utf8_lossy(bytes)))
        .filter_map(|(bytes, _)| bytes.try_into().ok())
        .collect()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|b| *b == first).map(|n| from + n) {
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// A text as its reader takes it: percent signs and JSON escapes resolved, invisible characters and marks left out.
struct Decoded {
    bytes: Vec<u8>,
    /// Where each of them begins in the text, and then the text's end.
    at: Vec<usize>,
    /// Bytes at the end of the text that may be the beginning of an escape.
    begun: usize,
}

impl Decoded {
    /// None where it is the text itself.
    fn of(text: &str, marks: &[String]) -> Option<Self> {
        let plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'%' | b'\\');
        if text.bytes().all(plain) && !marks.iter().any(|m| text.contains(m.as_str())) {
            return None;
        }
        let (mut bytes, mut at, mut here) = (Vec::with_capacity(text.len()), Vec::new(), 0);
        while let Some(next) = text[here..].chars().next() {
            let rest = &text[here..];
            let skipped = marks.iter().find(|m| rest.starts_with(m.as_str())).map_or(0, String::len);
            let skipped = if skipped > 0 { skipped } else { text::unseen(rest) };
            if skipped > 0 {
                here += skipped;
                continue;
            }
            let (length, coded) = match escaped(rest) {
                Escape::None => (next.len_utf8(), None),
                Escape::Begun => break,
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
        Some(Self { bytes, at, begun: text.len() - here })
    }

    /// How many bytes of the text before an escape that has begun could be the beginning of a word.
    fn open_end(&self, word: &str) -> usize {
        let most = self.bytes.len().min(word.len().saturating_sub(1));
        let found = (1..=most).rev().find(|n| self.bytes.ends_with(&word.as_bytes()[..*n]));
        found.map_or(0, |n| self.at[self.bytes.len()] - self.at[self.bytes.len() - n])
    }
}

/// What a text begins with.
enum Escape {
    None,
    /// It may become one when more of it has come.
    Begun,
    /// A byte, and the length of its escape.
    Byte(u8, usize),
    /// A character, and the length of its escape.
    Char(char, usize),
}

/// `%2F`, `\u002f`, `\/` and the like.
fn escaped(text: &str) -> Escape {
    let raw = text.as_bytes();
    let (digits, most) = match raw {
        [b'%', rest @ ..] => (rest, 2),
        [b'\\', b'u', rest @ ..] => (rest, 4),
        [b'\\', c @ (b'/' | b'"' | b'\\'), ..] => return Escape::Byte(*c, 2),
        [b'\\'] => return Escape::Begun,
        _ => return Escape::None,
    };
    let digits: String =
        digits.iter().take(most).map(|b| char::from(*b)).take_while(char::is_ascii_hexdigit).collect();
    let head = if most == 2 { 1 } else { 2 };
    if digits.len() < most {
        return if head + digits.len() == raw.len() { Escape::Begun } else { Escape::None };
    }
    match u32::from_str_radix(&digits, 16) {
        Ok(code) if most == 2 => Escape::Byte(code as u8, 3),
        Ok(code) => char::from_u32(code).map_or(Escape::None, |c| Escape::Char(c, 6)),
        Err(_) => Escape::None,
    }
}

/// A redactor of text that comes in pieces: what could become a secret is held back until it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Veil {
    redactor: Redactor,
    /// The end of what was let go or hidden, and then what is held back.
    text: String,
    /// Where in `text` that begins which is held back.
    held: usize,
    /// The last thing that was let go is [`HIDDEN`].
    hiding: bool,
}

impl Veil {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, ..Self::default() }
    }

    /// Takes a piece; gives what can be shown.
    pub(super) fn push(&mut self, piece: &super::received::Piece) -> String {
        self.text.push_str(piece.unredacted());
        // A secret that is whole may still become a longer one.
        let open = self.redactor.open_end(&self.text);
        let most = (self.text.len() - open).max(self.held);
        self.release(most)
    }

    /// What was held back, at the end.
    pub(super) fn end(&mut self) -> String {
        self.release(self.text.len())
    }

    /// Lets go of all before this place, and of nothing of a secret that goes beyond it.
    fn release(&mut self, most: usize) -> String {
        let (mut clean, mut shown, mut end) = (String::new(), self.held, most);
        for secret in self.redactor.secrets_in(&self.text) {
            if secret.end <= self.held {
                continue;
            }
            if secret.end > most {
                end = most.min(secret.start.max(self.held));
                break;
            }
            // What of it was let go before it could be known as one is less than a fragment.
            let from = secret.start.max(self.held);
            if from > shown {
                clean.push_str(&self.text[shown..from]);
                self.hiding = false;
            }
            if !(self.hiding && secret.start < self.held) {
                clean.push_str(HIDDEN);
            }
            self.hiding = true;
            shown = secret.end;
        }
        if end > shown {
            clean.push_str(&self.text[shown..end]);
            self.hiding = false;
        }
        self.held = end.max(shown);
        let mut cut = self.held.saturating_sub(CONTEXT);
        while !self.text.is_char_boundary(cut) {
            cut -= 1;
        }
        self.text.drain(..cut);
        self.held -= cut;
        clean
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
    use super::super::received::Piece;
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "sk-R3al0neQ7vXw9TzB4mK8pL2cD6fH1jN5sG0yAuE";

    fn redactor(keys: &[&str]) -> Redactor {
        let keys: Vec<Key> = keys.iter().map(|key| Key::new(key)).collect();
        Redactor::new(keys.iter().map(|key| ("key", key)), ["<think>", "</think>"])
    }

    /// The text of a stream that came in pieces of so many characters.
    fn in_pieces(redactor: &Redactor, text: &str, size: usize) -> String {
        let mut veil = Veil::new(redactor.clone());
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(size).map(|p| veil.push(&Piece::new(&p.iter().collect::<String>())));
        let seen = pieces.collect::<String>();
        seen + &veil.end()
    }

    /// Texts that hold the key, or enough of it, in some form; without what is thrown away when it is shown.
    fn forms() -> Vec<String> {
        let escaped = |form: fn(u8) -> String| KEY.bytes().map(form).collect::<String>();
        let mut forms = vec![
            KEY.to_owned(),
            KEY[..28].to_owned(),
            KEY[9..40].to_owned(),
            format!("Bearer {KEY}"),
            escaped(|b| format!("%{b:02x}")),
            escaped(|b| format!("\\u{b:04x}")),
            escaped(|b| format!("{b:02x}")),
            escaped(|b| format!("{b:02X}")),
            KEY.split("").collect::<Vec<_>>().join("\u{200b}"),
            KEY.split("").collect::<Vec<_>>().join("\u{1b}[31m"),
            KEY.as_bytes().chunks(6).map(String::from_utf8_lossy).collect::<Vec<_>>().join("</think>"),
        ];
        for before in ["", "u", "me", "user:", "user2:", "user33:"] {
            for after in ["", "\n", ":x", "any"] {
                for last in [*b"+/", *b"-_"] {
                    let whole = secrets::base64(0, format!("{before}{KEY}{after}").as_bytes(), last);
                    forms.push(format!("{whole}{}", &"===="[..(4 - whole.len() % 4) % 4]));
                    forms.push(whole);
                }
            }
        }
        forms
    }

    /// As a person sees it.
    fn seen(text: &str) -> String {
        crate::text::clean(&text.replace("<think>", "").replace("</think>", "")).into_owned()
    }

    /// Eight characters in a row of the key or of a form of it that stand in a text.
    fn given_away(text: &str) -> Option<String> {
        let text = seen(text);
        let forms = [KEY.to_owned()].into_iter().chain(secrets::encodings(KEY));
        let windows = forms.flat_map(|f| f.as_bytes().windows(8).map(<[u8]>::to_vec).collect::<Vec<_>>());
        windows.map(|w| String::from_utf8(w).unwrap()).find(|w| text.contains(w.as_str()))
    }

    /// Base 64 and hexadecimal digits were shown, and so was all that a cut had left of a key.
    #[test]
    fn no_form_and_no_part_of_a_key_is_shown() {
        let redactor = redactor(&[KEY]);
        for form in forms() {
            let text = format!("your key {form} is wrong");
            assert_eq!(given_away(&redactor.clean(&text)), None, "{text}: {}", redactor.clean(&text));
            assert!(redactor.clean(&text).starts_with("your key "), "{}", redactor.clean(&text));
            assert!(redactor.clean(&text).ends_with(" is wrong"), "{}", redactor.clean(&text));
            for size in [1, 5, 8, 40] {
                let shown = in_pieces(&redactor, &text, size);
                assert_eq!(given_away(&shown), None, "{text} in pieces of {size}: {shown}");
            }
        }
    }

    #[test]
    fn ordinary_words_of_a_key_are_no_part_of_it() {
        let redactor = redactor(&["household-kitchen-test-1", "https://proxy.example/u7", "ollama", "none"]);
        for text in [
            "a household with a kitchen-test",
            "https://example.org/ and https://proxy.example/",
            "ollama run qwen3:4b; none of it is EMPTY",
        ] {
            assert_eq!(redactor.clean(text), text);
            assert_eq!(in_pieces(&redactor, text, 3), text);
        }
        assert_eq!(redactor.clean("is household-kitchen-test-1 it?"), "is [hidden] it?");
    }

    /// A key of four letters was shown; its letters inside of a word are no key.
    #[test]
    fn a_short_key_is_hidden_where_it_stands_alone() {
        let redactor = redactor(&["abcd", "k3y9!"]);
        for (text, hidden) in [
            ("wrong key abcd.", "wrong key [hidden]."),
            ("abcd", "[hidden]"),
            ("abcde xabcd abcd1", "abcde xabcd abcd1"),
            ("k3y9!k3y9!x", "[hidden][hidden]x"),
        ] {
            assert_eq!(redactor.clean(text), hidden);
            for size in 1..5 {
                assert_eq!(in_pieces(&redactor, text, size), hidden, "{text} in pieces of {size}");
            }
        }
        assert_eq!(redactor.clean("hex 61626364, coded YWJjZA=="), "hex [hidden], coded [hidden]");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Wherever a text is cut in two, and whatever stands around it.
        #[test]
        fn no_cut_gives_a_key_away(
            before in "[ -~]{0,12}", after in "[ -~]{0,12}", form in 0..60_usize, cut in 0..400_usize, end in 0..400_usize,
        ) {
            let redactor = redactor(&[KEY]);
            let forms = forms();
            let text = format!("{before}{}{after}", forms[form % forms.len()]);
            let place = |n: usize| (0..=n.min(text.len())).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
            prop_assert_eq!(given_away(&redactor.clean(&text[..place(end)])), None);
            prop_assert_eq!(given_away(&redactor.clean(&text[place(end)..])), None);
            let mut veil = Veil::new(redactor);
            let mut shown = veil.push(&Piece::new(&text[..place(cut)]));
            shown += &veil.push(&Piece::new(&text[place(cut)..]));
            shown += &veil.end();
            prop_assert_eq!(given_away(&shown), None, "{}", shown);
        }
    }

    #[test]
    fn a_secret_is_never_shown_however_it_is_cut() {
        let secret = "sk-local-testé";
        let text = format!("s sk {secret}{secret} sk-local");
        let hidden = "s sk [hidden][hidden] sk-local";
        let keys = [secret, "none", "sk-local-testé-longer"].map(Key::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)), []);
        assert_eq!(redactor.clean(&text), hidden);
        assert_eq!(redactor.clean("sk-local-testé-longer"), "[hidden]");
        for size in 1..text.len() {
            let mut veil = Veil::new(redactor.clone());
            let (mut seen, mut piece) = (String::new(), String::new());
            for (n, c) in text.chars().enumerate() {
                piece.push(c);
                if n % size == size - 1 {
                    seen.push_str(&veil.push(&Piece::new(&std::mem::take(&mut piece))));
                    assert!(!seen.contains(secret));
                }
            }
            seen.push_str(&veil.push(&Piece::new(&piece)));
            seen.push_str(&veil.end());
            assert_eq!(seen, hidden, "pieces of {size}");
        }
        assert_eq!(format!("{:?} {redactor:?}", Key::new(secret)).matches(secret).count(), 0);
    }

    /// The shorter of two was hidden as soon as it had come, and the rest of the longer one shown.
    #[test]
    fn a_secret_that_begins_or_overlaps_another_is_hidden_to_its_end() {
        let keys = ["abcdef", "abcdefghij", "ijklmnop"].map(Key::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)), []);
        for (text, hidden) in
            [("1 abcdefghij 2", "1 [hidden] 2"), ("abcdefghijklmnop", "[hidden]"), ("abcdefgh", "[hidden]gh")]
        {
            let mut veil = Veil::new(redactor.clone());
            let pieces: String = text.split_inclusive(|_| true).map(|p| veil.push(&Piece::new(p))).collect();
            assert_eq!((redactor.clean(text), pieces + &veil.end()), (hidden.to_owned(), hidden.to_owned()));
        }
    }

    /// A server that said the key back as it stands in an address was believed.
    #[test]
    fn a_secret_is_hidden_however_its_letters_are_escaped() {
        let keys = ["sk/a+b=é9", "c29tZW9uZTpodW50ZXIyMg=="].map(Key::new);
        let redactor = Redactor::new(keys.iter().map(|key| ("key", key)), []);
        for (text, hidden) in [
            ("?key=sk%2Fa%2Bb%3D%C3%A99&x=1", "?key=[hidden]&x=1"),
            ("?key=sk%2fa%2bb%3d%c3%A99", "?key=[hidden]"),
            ("sk/a%2Bb=é9 100% of it", "[hidden] 100% of it"),
            ("%73%6b%2F%61%2B%62%3D%C3%A9%39", "[hidden]"),
            ("Basic c29tZW9uZTpodW50ZXIyMg%3D%3D.", "Basic [hidden]."),
            ("50%, 5%4 and %zz sk%2F", "50%, 5%4 and %zz sk%2F"),
            ("%", "%"),
            ("sk%2Fa%2", "sk%2Fa%2"),
            // What stands before its `=` is a secret of its own, and eight bytes of the whole are enough.
            ("sk%2Fa%2Bb%3D%C3%A", "[hidden]%A"),
        ] {
            assert_eq!(redactor.clean(text), hidden, "{text}");
            for size in 1..=text.len() {
                let mut veil = Veil::new(redactor.clone());
                let letters: Vec<char> = text.chars().collect();
                let pieces =
                    letters.chunks(size).map(|p| veil.push(&Piece::new(&p.iter().collect::<String>())));
                let seen = pieces.collect::<String>();
                assert_eq!(seen + &veil.end(), hidden, "{text} in pieces of {size}");
            }
        }
    }
}
