//! Texts: literals, `#symbols#`, `{expressions}`, `[{lists}]`.

use super::expression::{self, Value};
use super::query::{self, FactPattern};

/// One part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::env::alfworld) enum Piece {
    Literal(String),
    /// The expansion of a symbol.
    Symbol(String),
    /// `{what | query}` or `[{what | query}]`.
    ForEach(ForEach),
}

/// A part that is expanded once for each answer of its query.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::env::alfworld) struct ForEach {
    pub(in crate::env::alfworld) body: ForEachBody,
    /// `None` expands the part once. The error is the reason why the query cannot be evaluated.
    pub(in crate::env::alfworld) query: Option<Result<Vec<FactPattern>, String>>,
    /// Whether the answers are joined with the grammar's list symbols.
    pub(in crate::env::alfworld) is_list: bool,
}

/// What is expanded for each answer.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::env::alfworld) enum ForEachBody {
    Symbol(String),
    /// The value of an expression. The error is the reason why it is outside the language.
    Value(Result<Value, String>),
}

/// Parses a text. Never fails: the first character that cannot be used ends it.
pub(super) fn parse(text: &str) -> Vec<Piece> {
    let mut reader = Reader { rest: skip_start(text) };
    let mut pieces = Vec::new();
    while let Some(piece) = reader.next_piece() {
        pieces.push(piece);
    }
    if pieces.is_empty() {
        pieces.push(Piece::Literal(String::new()));
    }
    pieces
}

/// Skips white space at the start of the text, and comments that begin a line there.
fn skip_start(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        let before = &text[..text.len() - rest.len()];
        if !rest.starts_with("//") || !(before.is_empty() || before.ends_with('\n')) {
            return rest;
        }
        rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
    }
}

/// Returns whether Python treats the character as white space: Unicode's definition, and four separators.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Characters that literals cannot contain.
const MARKS: [char; 10] = [';', '|', '"', '<', '>', '[', ']', '#', '{', '}'];

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// Reads the next piece. Returns `None` at the end and before a character that cannot be used.
    fn next_piece(&mut self) -> Option<Piece> {
        // Tabs before a token are dropped; spaces are part of the text.
        self.rest = self.rest.trim_start_matches('\t');
        match self.rest.chars().next()? {
            '#' => self.read_symbol().map(Piece::Symbol),
            '{' => self.read_for_each().map(Piece::ForEach),
            '[' => {
                self.rest = self.rest[1..].trim_start_matches('\t');
                let mut each = self.read_for_each()?;
                self.take_mark(']')?;
                each.is_list = true;
                Some(Piece::ForEach(each))
            }
            '"' => {
                let (literal, rest) = self.rest[1..].split_once('"')?;
                if literal.contains(MARKS) {
                    return None;
                }
                self.rest = rest;
                Some(Piece::Literal(literal.to_owned()))
            }
            ';' | '|' | '<' | '>' | ']' | '}' => None,
            _ => {
                let end = self.rest.find(MARKS);
                let (literal, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                Some(Piece::Literal(literal.to_owned()))
            }
        }
    }

    /// Reads `#name#`.
    fn read_symbol(&mut self) -> Option<String> {
        let inside = self.rest.strip_prefix('#')?;
        let name = &inside[..inside.find('#')?];
        let usable = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_()/!<>-,.".contains(c);
        if name.is_empty() || !name.chars().all(usable) {
            return None;
        }
        self.rest = &inside[name.len() + 1..];
        Some(name.to_owned())
    }

    /// Reads `{what}` or `{what | query}`.
    fn read_for_each(&mut self) -> Option<ForEach> {
        self.rest = self.rest.strip_prefix('{')?.trim_start_matches('\t');
        let body = if self.rest.starts_with('#') {
            ForEachBody::Symbol(self.read_symbol()?)
        } else {
            ForEachBody::Value(expression::parse(
                self.read_until(&['|', '[', ']', '{', '}', '<', '>', '\n'])?,
            ))
        };
        let query = if let Some(rest) = self.rest.trim_start_matches(is_space).strip_prefix('|') {
            self.rest = rest.trim_start_matches(is_space);
            Some(query::parse(self.read_until(&['|', ';', '#', '[', ']', '{', '}', '\n'])?))
        } else {
            None
        };
        self.take_mark('}')?;
        Some(ForEach { body, query, is_list: false })
    }

    /// Reads at least one character, up to one of the marks.
    fn read_until(&mut self, marks: &[char]) -> Option<&'t str> {
        let (run, rest) = self.rest.split_at(self.rest.find(marks).unwrap_or(self.rest.len()));
        self.rest = rest;
        (!run.is_empty()).then_some(run)
    }

    /// Consumes a closing mark, which may be preceded by tabs.
    fn take_mark(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.trim_start_matches('\t').strip_prefix(mark)?;
        Some(())
    }
}
