//! Parses lists and dictionaries as models write them: Python, JSON and anything in between. Parsing always returns a
//! value; a missing bracket or quote causes a complaint, and parsing continues as if it were present.

use super::quoted::{self, QuoteContext, is_quote};
use super::{ParseLog, collapse_whitespace};

/// Nesting limit: brackets deeper than this are treated as part of the enclosing one.
const MAX_DEPTH: usize = 32;

/// A value with the part of the reply it was parsed from.
pub(super) enum Value<'a> {
    Text(Text<'a>),
    List(Vec<Value<'a>>, &'a str),
    Dict(Vec<Entry<'a>>, &'a str),
}

/// A text, quoted or not.
pub(super) struct Text<'a> {
    /// The text with escapes resolved and whitespace collapsed.
    pub(super) text: String,
    /// The part of the reply it was parsed from, including quotes.
    pub(super) source: &'a str,
    /// Whether it has no quotes.
    pub(super) unquoted: bool,
    /// Whether the reply ends inside it.
    pub(super) truncated: bool,
}

/// An entry of a dictionary; the key is empty if it has none.
pub(super) struct Entry<'a> {
    pub(super) key: String,
    pub(super) key_source: &'a str,
    pub(super) value: Value<'a>,
}

impl<'a> Value<'a> {
    /// Returns the part of the reply it was parsed from.
    pub(super) fn source(&self) -> &'a str {
        match self {
            Self::Text(text) => text.source,
            Self::List(_, source) | Self::Dict(_, source) => source,
        }
    }
}

/// Parses the value at the beginning of `text`, either an opening bracket or quoted texts separated by commas, and
/// returns it with the rest of the text.
pub(super) fn read_value<'a>(text: &'a str, log: &mut ParseLog<'a>) -> (Value<'a>, &'a str) {
    let mut parser = Parser { text, pos: 0, open_brackets: Vec::new(), log, depth_reported: false };
    let value = if text.starts_with(['[', '{', '(']) {
        parser.parse_value(false)
    } else {
        parser.parse_unbracketed()
    };
    let pos = parser.pos;
    (value, &text[pos..])
}

struct Parser<'a, 'r> {
    text: &'a str,
    pos: usize,
    /// The expected closing brackets, innermost last.
    open_brackets: Vec<char>,
    log: &'r mut ParseLog<'a>,
    depth_reported: bool,
}

impl<'a> Parser<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn parse_value(&mut self, in_dict: bool) -> Value<'a> {
        match self.peek() {
            Some('[') if self.open_brackets.len() < MAX_DEPTH => self.parse_list(']'),
            Some('(') if self.open_brackets.len() < MAX_DEPTH => self.parse_list(')'),
            Some('{') if self.open_brackets.len() < MAX_DEPTH => self.parse_dict(),
            _ => self.parse_text(in_dict),
        }
    }

    /// Parses quoted texts that no bracket encloses.
    fn parse_unbracketed(&mut self) -> Value<'a> {
        let mut values = vec![self.parse_text(false)];
        loop {
            let end = self.pos;
            self.skip_whitespace();
            if let Some(after) = self.rest().strip_prefix([',', '，']) {
                self.pos = self.text.len() - after.trim_start().len();
                if quoted::opening_quote(self.rest()).is_some() {
                    values.push(self.parse_text(false));
                    continue;
                }
            }
            self.pos = end;
            return Value::List(values, &self.text[..end]);
        }
    }

    fn parse_text(&mut self, in_dict: bool) -> Value<'a> {
        let prefix = self.rest().len() - self.rest().trim_start_matches(['r', 'f', 'b', 'u']).len();
        if prefix < 3 && quoted::opening_quote(&self.rest()[prefix..]).is_some() {
            let letters = &self.rest()[..prefix];
            self.log.mark_as_markup(letters);
            self.pos += prefix;
            return Value::Text(self.parse_quoted(if self.open_brackets.last() == Some(&')') {
                QuoteContext::Tuple
            } else {
                QuoteContext::Entry
            }));
        }
        Value::Text(self.parse_unquoted(in_dict))
    }

    fn parse_quoted(&mut self, context: QuoteContext) -> Text<'a> {
        let rest = self.rest();
        let Some(found) = quoted::read_quoted(rest, context) else { return self.parse_unquoted(false) };
        let source = &rest[..found.len];
        self.pos += found.len;
        if found.unclosed {
            self.log.complain("a closing quote is missing after", source);
        }
        let inner = if found.unclosed { found.inner.trim_end_matches(',') } else { found.inner };
        Text {
            text: collapse_whitespace(&quoted::unescape(inner)),
            source,
            unquoted: false,
            truncated: found.truncated,
        }
    }

    /// Parses text without quotes: up to a comma that ends an entry, a line end that ends a sentence, or a bracket.
    fn parse_unquoted(&mut self, in_dict: bool) -> Text<'a> {
        let rest = self.rest();
        let (mut depth, mut last, mut end) = (0_u32, ' ', rest.len());
        for (offset, c) in rest.char_indices() {
            match c {
                '[' | '{' | '(' if offset > 0 => depth += 1,
                ']' | '}' | ')' if depth > 0 => depth -= 1,
                ')' if self.open_brackets.last() != Some(&')') => {}
                ']' | '}' | ')' => {
                    end = offset;
                    break;
                }
                ',' if depth == 0
                    && (is_entry_end_at_comma(&rest[offset + 1..], in_dict)
                        || offset < 24 && is_literal(rest[..offset].trim())) =>
                {
                    end = offset;
                    break;
                }
                '\n' if last != ' ' && is_entry_end_at_newline(last, &rest[offset + 1..]) => {
                    end = offset;
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
        let source = &rest[..end];
        self.pos += end;
        // Text at the very end of the reply is complete only if it ends a sentence.
        let truncated = end == rest.len()
            && !self.open_brackets.is_empty()
            && !source.trim_end().ends_with(['.', '!', '?']);
        Text {
            text: collapse_whitespace(source.trim().trim_matches(is_quote)),
            source,
            unquoted: true,
            truncated,
        }
    }

    fn parse_list(&mut self, close: char) -> Value<'a> {
        let start = self.pos;
        self.open_brackets.push(close);
        self.pos += 1;
        let mut values = Vec::new();
        while self.skip_to_next_entry(start) {
            values.push(self.parse_value(false));
        }
        self.open_brackets.pop();
        Value::List(values, &self.text[start..self.pos])
    }

    fn parse_dict(&mut self) -> Value<'a> {
        let start = self.pos;
        self.open_brackets.push('}');
        self.pos += 1;
        let mut entries = Vec::new();
        while self.skip_to_next_entry(start) {
            entries.push(self.parse_entry());
        }
        self.open_brackets.pop();
        Value::Dict(entries, &self.text[start..self.pos])
    }

    fn parse_entry(&mut self) -> Entry<'a> {
        let rest = self.rest();
        let no_key = &rest[..0];
        if self.peek().is_some_and(|c| "[{(".contains(c)) {
            return Entry { key: String::new(), key_source: no_key, value: self.parse_value(true) };
        }
        let key = if quoted::opening_quote(rest).is_some() {
            self.parse_quoted(QuoteContext::Key)
        } else if quoted::is_key_start(rest) {
            let end = rest.find(':').unwrap_or(rest.len());
            self.pos += end;
            let text = collapse_whitespace(rest[..end].trim().trim_matches(is_quote));
            Text { text, source: &rest[..end], unquoted: true, truncated: false }
        } else {
            self.parse_unquoted(true)
        };
        self.skip_whitespace();
        if self.peek() != Some(':') {
            return Entry { key: String::new(), key_source: no_key, value: Value::Text(key) };
        }
        self.pos += 1;
        self.skip_whitespace();
        let value = match self.peek() {
            None | Some(',' | ']' | '}') => Value::Text(Text {
                text: String::new(),
                source: &self.rest()[..0],
                unquoted: true,
                truncated: self.peek().is_none(),
            }),
            _ => self.parse_value(true),
        };
        Entry { key: key.text, key_source: key.source, value }
    }

    fn skip_whitespace(&mut self) {
        self.pos = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips commas, ellipses and comments before the next entry. Returns `false` at the end of this bracket.
    fn skip_to_next_entry(&mut self, start: usize) -> bool {
        loop {
            self.skip_whitespace();
            let rest = self.rest();
            let Some(c) = self.peek() else {
                // Only the outermost open bracket causes a complaint; those inside it are necessarily open too.
                if self.open_brackets.len() == 1 {
                    let opened = &self.text[start..=start];
                    self.log.complain(super::OPEN_BRACKET_COMPLAINT, opened);
                }
                return false;
            };
            match c {
                ',' | '，' | ';' | '…' => self.pos += c.len_utf8(),
                '.' if rest.starts_with("...") => self.pos += 3,
                '#' => self.skip_comment(),
                '/' if rest.starts_with("//") => self.skip_comment(),
                '`' if rest.starts_with("```") => self.pos += 3,
                ']' | '}' | ')' => {
                    if self.open_brackets.last() == Some(&c) {
                        self.pos += 1;
                        return false;
                    }
                    if self.open_brackets.contains(&c) {
                        let opened = &self.text[start..=start];
                        self.log.complain("this bracket is not closed", opened);
                        return false;
                    }
                    self.pos += 1;
                }
                '[' | '{' | '(' if self.open_brackets.len() >= MAX_DEPTH => {
                    if !self.depth_reported {
                        self.log
                            .complain("brackets are nested too deep; they were read as one from", &rest[..1]);
                        self.depth_reported = true;
                    }
                    self.pos += 1;
                }
                _ => return true,
            }
        }
    }

    fn skip_comment(&mut self) {
        let line = self.rest().lines().next().unwrap_or_default();
        self.log.complain("a comment in the list was not used", line);
        self.pos += line.len().max(1);
    }
}

/// Returns whether a word is a literal of Python or JSON rather than text.
pub(super) fn is_literal(words: &str) -> bool {
    ["None", "null", "True", "False", "true", "false"].contains(&words) || words.parse::<f64>().is_ok()
}

/// Returns whether a comma in text without quotes ends an entry: a new line, a new sentence or a new key follows.
fn is_entry_end_at_comma(after: &str, in_dict: bool) -> bool {
    let next = after.trim_start_matches([' ', '\t', '\r']);
    let Some(first) = next.chars().next() else { return true };
    first == '\n'
        || "]})".contains(first)
        || quoted::is_key_start(next) && in_dict
        || !in_dict && (first.is_uppercase() || is_quote(first) || "[{".contains(first))
}

/// Returns whether a line end in text without quotes ends an entry.
fn is_entry_end_at_newline(last: char, after: &str) -> bool {
    let next = after.trim_start_matches([' ', '\t', '\r']).chars().next();
    ".;!?,".contains(last) || next.is_some_and(|c| is_quote(c) || "[{-*•".contains(c))
}
