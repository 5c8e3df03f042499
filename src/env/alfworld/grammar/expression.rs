//! Expressions: the subset of Python that grammars use. `v.name`, `v.id`, `v.indefinite`, `v.definite`, `v`, strings,
//! `+`, `or`.

use crate::env::alfworld::located_error::excerpt;

/// An attribute of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::env::alfworld) enum Attribute {
    /// The displayed name.
    Name,
    /// The PDDL id.
    Id,
    /// The indefinite article, always "a".
    Indefinite,
    Definite,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::env::alfworld) enum Value {
    Text(String),
    Attribute(String, Attribute),
    /// Concatenation.
    Concat(Vec<Value>),
    /// The first operand that is not empty, else the last.
    Or(Vec<Value>),
}

/// Parses an expression. The error describes what is outside the language.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, rest: text.trim() };
    let value = reader.parse_or()?;
    if reader.rest.is_empty() { Ok(value) } else { Err(reader.unsupported()) }
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn parse_or(&mut self) -> Result<Value, String> {
        let mut operands = vec![self.parse_concat()?];
        while self.take_keyword("or") {
            operands.push(self.parse_concat()?);
        }
        Ok(unwrap_single(operands, Value::Or))
    }

    fn parse_concat(&mut self) -> Result<Value, String> {
        let mut operands = vec![self.parse_primary()?];
        while let Some(rest) = self.rest.strip_prefix('+') {
            self.rest = rest.trim_start();
            operands.push(self.parse_primary()?);
        }
        Ok(unwrap_single(operands, Value::Concat))
    }

    fn parse_primary(&mut self) -> Result<Value, String> {
        let mut text: Option<String> = None;
        // Adjacent strings are concatenated.
        while let Some(quote) = self.rest.chars().next().filter(|&c| c == '\'' || c == '"') {
            let inside = &self.rest[1..];
            let (part, rest) = inside.split_once(quote).ok_or_else(|| self.unsupported())?;
            if part.contains('\\') {
                return Err(self.unsupported());
            }
            text.get_or_insert_default().push_str(part);
            self.rest = rest.trim_start();
        }
        if let Some(text) = text {
            return Ok(Value::Text(text));
        }
        let variable = self.read_word();
        if variable.is_empty() || variable.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.unsupported());
        }
        self.rest = self.rest.trim_start();
        let Some(rest) = self.rest.strip_prefix('.') else {
            return Ok(Value::Attribute(variable.to_owned(), Attribute::Name));
        };
        self.rest = rest.trim_start();
        let attribute = match self.read_word() {
            "name" => Attribute::Name,
            "id" => Attribute::Id,
            "indefinite" => Attribute::Indefinite,
            "definite" => Attribute::Definite,
            _ => return Err(self.unsupported()),
        };
        self.rest = self.rest.trim_start();
        Ok(Value::Attribute(variable.to_owned(), attribute))
    }

    fn read_word(&mut self) -> &'t str {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(word) else { return false };
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return false;
        }
        self.rest = rest.trim_start();
        true
    }

    fn unsupported(&self) -> String {
        format!(
            "unsupported expression {} (supported: v.name, v.id, v.indefinite, v.definite, v, strings, + and or)",
            excerpt(self.text)
        )
    }
}

fn unwrap_single(mut operands: Vec<Value>, several: impl FnOnce(Vec<Value>) -> Value) -> Value {
    if operands.len() == 1 { operands.remove(0) } else { several(operands) }
}
