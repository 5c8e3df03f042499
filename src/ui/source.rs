//! A configuration text in TOML with a name, whose every complaint says the file, the line and what to do.

use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that is wrong with a configuration file; the rest of the file still counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the person knows it.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what is possible instead.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

/// A text with its name, and the problems found so far.
pub(crate) struct ConfigSource<'a> {
    file: &'a str,
    text: &'a str,
    /// The problems, in the order in which they were found.
    pub(crate) problems: Vec<Problem>,
    broken_line: Option<usize>,
}

impl<'a> ConfigSource<'a> {
    /// Reads as much of a text as can be read.
    pub(crate) fn parse(file: &'a str, text: &'a str) -> (Self, DeTable<'a>) {
        let mut source = Self { file, text, problems: Vec::new(), broken_line: None };
        // The place of a mistake decides what of the rest is understood, so the first is the one to be told.
        let (table, errors) = DeTable::parse_recoverable(text);
        if let Some(error) = errors.first() {
            let span = error.span().unwrap_or(0..0);
            source.report(span.clone(), format!("not TOML: {}", error.message().trim()));
            source.broken_line = Some(source.line_number(span.start));
        }
        (source, table.into_inner())
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn line_number(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
    }

    /// Notes a problem.
    pub(crate) fn report(&mut self, span: Range<usize>, reason: impl Into<String>) {
        let line = self.line_number(span.start);
        // What a broken line was taken for is not worth a second complaint.
        if self.broken_line == Some(line) {
            return;
        }
        self.problems.push(Problem { file: self.file.to_owned(), line, reason: reason.into() });
    }

    /// A string, or a problem.
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

    /// A table, or a problem.
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

/// The known word nearest to a mistyped one, if one is near enough to be meant.
pub(crate) fn nearest_word<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.map(|k| (edit_distance(word, k), k)).min_by_key(|d| d.0)?;
    (near.0 <= (word.chars().count() / 3).max(2)).then_some(near.1)
}

/// Changed, left out or added characters between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
