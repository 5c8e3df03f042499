//! Parses lists and dictionaries as models write them: Python, JSON and anything in between. Every text has a value; a
//! missing bracket or quote causes a complaint, and parsing goes on as if it were present.

use super::quoted::{self, Place, is_quote};
use super::{Remarks, squeeze};

/// Nesting limit: brackets deeper than this are treated as part of the enclosing one.
const DEEP: usize = 32;

/// A value with the part of the reply it was parsed from.
pub(super) enum Value<'a> {
    Text(Text<'a>),
    List(Vec<Value<'a>>, &'a str),
    Dict(Vec<Entry<'a>>, &'a str),
}

/// A text, quoted or not.
pub(super) struct Text<'a> {
    /// The text with escapes resolved and whitespace collapsed.
    pub(super) words: String,
    /// The part of the reply it was parsed from, including quotes.
    pub(super) at: &'a str,
    /// It has no quotes.
    pub(super) bare: bool,
    /// The reply ends inside it.
    pub(super) cut: bool,
}

/// An entry of a dictionary; the key is empty if it has none.
pub(super) struct Entry<'a> {
    pub(super) key: String,
    pub(super) key_at: &'a str,
    pub(super) value: Value<'a>,
}

impl<'a> Value<'a> {
    /// Returns the part of the reply it was parsed from.
    pub(super) fn at(&self) -> &'a str {
        match self {
            Self::Text(text) => text.at,
            Self::List(_, at) | Self::Dict(_, at) => at,
        }
    }
}

/// Parses the value at the beginning of `text`, either an opening bracket or quoted texts separated by commas, and
/// returns it with the rest of the text.
pub(super) fn read<'a>(text: &'a str, remarks: &mut Remarks<'a>) -> (Value<'a>, &'a str) {
    let mut parser = Parser { text, pos: 0, open: Vec::new(), remarks, deep: false };
    let value = if text.starts_with(['[', '{', '(']) { parser.value(false) } else { parser.run() };
    let pos = parser.pos;
    (value, &text[pos..])
}

struct Parser<'a, 'r> {
    text: &'a str,
    pos: usize,
    /// The expected closing brackets, innermost last.
    open: Vec<char>,
    remarks: &'r mut Remarks<'a>,
    deep: bool,
}

impl<'a> Parser<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn value(&mut self, in_dict: bool) -> Value<'a> {
        match self.peek() {
            Some('[') if self.open.len() < DEEP => self.list(']'),
            Some('(') if self.open.len() < DEEP => self.list(')'),
            Some('{') if self.open.len() < DEEP => self.dict(),
            _ => self.text_or_bare(in_dict),
        }
    }

    /// Parses quoted texts that no bracket encloses.
    fn run(&mut self) -> Value<'a> {
        let mut values = vec![self.text_or_bare(false)];
        loop {
            let end = self.pos;
            self.blanks();
            if let Some(after) = self.rest().strip_prefix([',', '，']) {
                self.pos = self.text.len() - after.trim_start().len();
                if quoted::opening(self.rest()).is_some() {
                    values.push(self.text_or_bare(false));
                    continue;
                }
            }
            self.pos = end;
            return Value::List(values, &self.text[..end]);
        }
    }

    fn text_or_bare(&mut self, in_dict: bool) -> Value<'a> {
        let prefix = self.rest().len() - self.rest().trim_start_matches(['r', 'f', 'b', 'u']).len();
        if prefix < 3 && quoted::opening(&self.rest()[prefix..]).is_some() {
            let letters = &self.rest()[..prefix];
            self.remarks.skip(letters);
            self.pos += prefix;
            return Value::Text(self.quoted(if self.open.last() == Some(&')') {
                Place::Tuple
            } else {
                Place::Entry
            }));
        }
        Value::Text(self.bare(in_dict))
    }

    fn quoted(&mut self, place: Place) -> Text<'a> {
        let rest = self.rest();
        let Some(found) = quoted::read(rest, place) else { return self.bare(false) };
        let at = &rest[..found.len];
        self.pos += found.len;
        if found.unclosed {
            self.remarks.complain("a closing quote is missing after", at);
        }
        let inner = if found.unclosed { found.inner.trim_end_matches(',') } else { found.inner };
        Text { words: squeeze(&quoted::unescape(inner)), at, bare: false, cut: found.cut }
    }

    /// Parses text without quotes: up to a comma that ends an entry, a line end that ends a sentence, or a bracket.
    fn bare(&mut self, in_dict: bool) -> Text<'a> {
        let rest = self.rest();
        let (mut inside, mut last, mut end) = (0_u32, ' ', rest.len());
        for (at, c) in rest.char_indices() {
            match c {
                '[' | '{' | '(' if at > 0 => inside += 1,
                ']' | '}' | ')' if inside > 0 => inside -= 1,
                ')' if self.open.last() != Some(&')') => {}
                ']' | '}' | ')' => {
                    end = at;
                    break;
                }
                ',' if inside == 0
                    && (comma_ends(&rest[at + 1..], in_dict) || at < 24 && is_literal(rest[..at].trim())) =>
                {
                    end = at;
                    break;
                }
                '\n' if last != ' ' && line_ends(last, &rest[at + 1..]) => {
                    end = at;
                    break;
                }
                _ => {}
            }
            last = if c == '\n' {
                ' '
            } else if c.is_whitespace() {
                last
            } else {
                c
            };
        }
        // Always advances by at least one character, so that parsing terminates.
        let end = end.max(rest.chars().next().map_or(0, char::len_utf8));
        let at = &rest[..end];
        self.pos += end;
        // Text at the very end of the reply is complete only if it ends a sentence.
        let cut = end == rest.len() && !self.open.is_empty() && !at.trim_end().ends_with(['.', '!', '?']);
        Text { words: squeeze(at.trim().trim_matches(is_quote)), at, bare: true, cut }
    }

    fn list(&mut self, close: char) -> Value<'a> {
        let start = self.pos;
        self.open.push(close);
        self.pos += 1;
        let mut values = Vec::new();
        while self.goes_on(start) {
            values.push(self.value(false));
        }
        self.open.pop();
        Value::List(values, &self.text[start..self.pos])
    }

    fn dict(&mut self) -> Value<'a> {
        let start = self.pos;
        self.open.push('}');
        self.pos += 1;
        let mut entries = Vec::new();
        while self.goes_on(start) {
            entries.push(self.entry());
        }
        self.open.pop();
        Value::Dict(entries, &self.text[start..self.pos])
    }

    fn entry(&mut self) -> Entry<'a> {
        let at = self.rest();
        let nothing = &at[..0];
        if self.peek().is_some_and(|c| "[{(".contains(c)) {
            return Entry { key: String::new(), key_at: nothing, value: self.value(true) };
        }
        let key = if quoted::opening(at).is_some() {
            self.quoted(Place::Key)
        } else if quoted::begins_key(at) {
            let end = at.find(':').unwrap_or(at.len());
            self.pos += end;
            let words = squeeze(at[..end].trim().trim_matches(is_quote));
            Text { words, at: &at[..end], bare: true, cut: false }
        } else {
            self.bare(true)
        };
        self.blanks();
        if self.peek() != Some(':') {
            return Entry { key: String::new(), key_at: nothing, value: Value::Text(key) };
        }
        self.pos += 1;
        self.blanks();
        let value = match self.peek() {
            None | Some(',' | ']' | '}') => {
                let cut = self.peek().is_none();
                Value::Text(Text { words: String::new(), at: &self.rest()[..0], bare: true, cut })
            }
            _ => self.value(true),
        };
        Entry { key: key.words, key_at: key.at, value }
    }

    fn blanks(&mut self) {
        self.pos = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips commas, ellipses and comments before the next entry. Returns `false` at the end of this bracket.
    fn goes_on(&mut self, start: usize) -> bool {
        loop {
            self.blanks();
            let rest = self.rest();
            let Some(c) = self.peek() else {
                // Only the outermost open bracket causes a complaint; those inside it are necessarily open too.
                if self.open.len() == 1 {
                    let opened = &self.text[start..=start];
                    self.remarks.complain(super::OPEN_BRACKET, opened);
                }
                return false;
            };
            match c {
                ',' | '，' | ';' | '…' => self.pos += c.len_utf8(),
                '.' if rest.starts_with("...") => self.pos += 3,
                '#' => self.comment(),
                '/' if rest.starts_with("//") => self.comment(),
                '`' if rest.starts_with("```") => self.pos += 3,
                ']' | '}' | ')' => {
                    if self.open.last() == Some(&c) {
                        self.pos += 1;
                        return false;
                    }
                    if self.open.contains(&c) {
                        let opened = &self.text[start..=start];
                        self.remarks.complain("this bracket is not closed", opened);
                        return false;
                    }
                    self.pos += 1;
                }
                '[' | '{' | '(' if self.open.len() >= DEEP => {
                    if !self.deep {
                        self.remarks
                            .complain("brackets are nested too deep; they were read as one from", &rest[..1]);
                        self.deep = true;
                    }
                    self.pos += 1;
                }
                _ => return true,
            }
        }
    }

    fn comment(&mut self) {
        let line = self.rest().lines().next().unwrap_or_default();
        self.remarks.complain("a comment in the list was not used", line);
        self.pos += line.len().max(1);
    }
}

/// Returns whether a word is a literal of Python or JSON rather than text.
pub(super) fn is_literal(words: &str) -> bool {
    ["None", "null", "True", "False", "true", "false"].contains(&words) || words.parse::<f64>().is_ok()
}

/// Returns whether a comma in text without quotes ends an entry: a new line, a new sentence or a new key follows.
fn comma_ends(after: &str, in_dict: bool) -> bool {
    let next = after.trim_start_matches([' ', '\t', '\r']);
    let Some(first) = next.chars().next() else { return true };
    first == '\n'
        || "]})".contains(first)
        || quoted::begins_key(next) && in_dict
        || !in_dict && (first.is_uppercase() || is_quote(first) || "[{".contains(first))
}

/// Returns whether a line end in text without quotes ends an entry.
fn line_ends(last: char, after: &str) -> bool {
    let next = after.trim_start_matches([' ', '\t', '\r']).chars().next();
    ".;!?,".contains(last) || next.is_some_and(|c| is_quote(c) || "[{-*•".contains(c))
}
