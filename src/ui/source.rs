//! Parses named TOML texts; every problem names the file, the line, and what to do.

use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A problem in a configuration file; the rest of the file still applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as shown to the person.
    pub file: String,
    /// 1-based line number.
    pub line: usize,
    /// What is wrong and what is allowed instead.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

/// A named text, and the problems found so far.
pub(crate) struct ConfigSource<'a> {
    file: &'a str,
    text: &'a str,
    /// In the order in which they were found.
    pub(crate) problems: Vec<Problem>,
    broken_line: Option<usize>,
}

impl<'a> ConfigSource<'a> {
    /// Parses as much of the text as possible.
    pub(crate) fn parse(file: &'a str, text: &'a str) -> (Self, DeTable<'a>) {
        let mut source = Self { file, text, problems: Vec::new(), broken_line: None };
        // The first syntax error determines how the rest is parsed, so only that one is reported.
        let (table, errors) = DeTable::parse_recoverable(text);
        if let Some(error) = errors.first() {
            let span = error.span().unwrap_or(0..0);
            source.report(span.clone(), format!("not TOML: {}", error.message().trim()));
            source.broken_line = Some(source.line_number(span.start));
        }
        (source, table.into_inner())
    }

    /// Returns the 1-based line number of a byte offset.
    pub(crate) fn line_number(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
    }

    /// Records a problem.
    pub(crate) fn report(&mut self, span: Range<usize>, reason: impl Into<String>) {
        let line = self.line_number(span.start);
        // A line with a syntax error is not worth a second problem.
        if self.broken_line == Some(line) {
            return;
        }
        self.problems.push(Problem { file: self.file.to_owned(), line, reason: reason.into() });
    }

    /// Returns the value as a string, or records a problem.
    pub(crate) fn expect_string<'v>(
        &mut self,
        what: &str,
        value: &'v Spanned<DeValue<'_>>,
    ) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.report(
                value.span(),
                format!("{what} is {}; it must be text in quotes", value.get_ref().type_str()),
            );
        }
        text
    }

    /// Returns the value as a table, or records a problem.
    pub(crate) fn expect_table<'v, 'i>(
        &mut self,
        what: &str,
        value: &'v Spanned<DeValue<'i>>,
    ) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.report(
                value.span(),
                format!("{what} is {}; it must be a table", value.get_ref().type_str()),
            );
        }
        table
    }
}
