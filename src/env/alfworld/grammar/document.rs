//! Parser for a grammar file: `grammar :: """json""";` and `action NAME { template :: "..."; feedback :: "..."; ... }`.

use crate::env::alfworld::limits;
use crate::env::alfworld::located_error::{LocatedError, excerpt};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One way to expand a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(in crate::env::alfworld) struct Production {
    pub(in crate::env::alfworld) rhs: String,
    /// A query that must have an answer for the production to apply.
    #[serde(default)]
    pub(in crate::env::alfworld) condition: Option<String>,
}

/// The texts of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::env::alfworld) struct ActionText {
    /// The command.
    pub(in crate::env::alfworld) template: String,
    /// The text printed after the command.
    pub(in crate::env::alfworld) feedback: String,
}

/// A parsed grammar file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::env::alfworld) struct Document {
    /// Keyed by name in lower case; a later definition replaces an earlier one.
    pub(in crate::env::alfworld) actions: BTreeMap<String, ActionText>,
    /// Keyed by symbol; a later definition replaces an earlier one.
    pub(in crate::env::alfworld) productions: BTreeMap<String, Vec<Production>>,
}

impl Document {
    pub(in crate::env::alfworld) fn parse(text: &str) -> Result<Self, LocatedError> {
        let mut reader = Reader { text, offset: 0 };
        let mut document = Self::default();
        loop {
            reader.skip_blanks();
            if reader.rest().is_empty() {
                return Ok(document);
            }
            let start = reader.offset;
            match reader.read_name() {
                "grammar" => {
                    reader.expect("::")?;
                    let (at, json) = reader.read_block()?;
                    reader.expect(";")?;
                    document.merge_productions(&reader, at, json)?;
                }
                "action" => reader.read_action(&mut document)?,
                _ => return Err(reader.error_at(start, "expected \"grammar ::\" or \"action NAME {\"")),
            }
        }
    }

    fn merge_productions(&mut self, reader: &Reader<'_>, at: usize, json: &str) -> Result<(), LocatedError> {
        let parsed: BTreeMap<String, Vec<Production>> = serde_json::from_str(json).map_err(|error| {
            let line = reader.line_number(at) + error.line().max(1) - 1;
            LocatedError::new(format!("grammar, line {line}"), format!("invalid productions: {error}"))
        })?;
        self.productions.extend(parsed);
        if self.productions.len() > limits::SYMBOLS {
            return Err(reader.error_at(at, format!("more than {} symbols", limits::SYMBOLS)));
        }
        if self.productions.values().map(Vec::len).sum::<usize>() > limits::PRODUCTIONS {
            return Err(reader.error_at(at, format!("more than {} productions", limits::PRODUCTIONS)));
        }
        Ok(())
    }
}

struct Reader<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            self.offset = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.offset += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Reads letters, digits, `_`, `/` and `-`; may return an empty name.
    fn read_name(&mut self) -> &'t str {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_/-".contains(c))).unwrap_or(rest.len());
        self.offset += end;
        &rest[..end]
    }

    fn expect(&mut self, mark: &str) -> Result<(), LocatedError> {
        self.skip_blanks();
        if !self.rest().starts_with(mark) {
            return Err(
                self.error_at(self.offset, format!("expected {mark:?}, found {}", self.describe_next()))
            );
        }
        self.offset += mark.len();
        Ok(())
    }

    fn describe_next(&self) -> String {
        let rest = self.rest();
        if rest.is_empty() {
            return "the end of the text".to_owned();
        }
        excerpt(rest.lines().next().unwrap_or_default())
    }

    /// Reads `"..."`, without escapes.
    fn read_string(&mut self) -> Result<&'t str, LocatedError> {
        self.expect("\"")?;
        let rest = self.rest();
        let end = rest.find('"').ok_or_else(|| self.error_at(self.offset, "the string does not end"))?;
        self.offset += end + 1;
        Ok(&rest[..end])
    }

    /// Reads `"""..."""` and returns its content and the offset at which it starts.
    fn read_block(&mut self) -> Result<(usize, &'t str), LocatedError> {
        const FENCE: &str = "\"\"\"";
        self.expect(FENCE)?;
        let (start, rest) = (self.offset, self.rest());
        let end = rest.find(FENCE).ok_or_else(|| self.error_at(start, "the block does not end"))?;
        self.offset += end + FENCE.len();
        Ok((start, &rest[..end]))
    }

    fn read_action(&mut self, document: &mut Document) -> Result<(), LocatedError> {
        let start = self.offset;
        let name = self.read_name();
        if name.is_empty() {
            return Err(self.error_at(self.offset, "an action needs a name"));
        }
        self.expect("{")?;
        let (mut template, mut feedback) = (None, None);
        loop {
            self.skip_blanks();
            if self.rest().starts_with('}') {
                self.offset += 1;
                break;
            }
            let key_at = self.offset;
            let key = self.read_name();
            self.expect("::")?;
            match key {
                "template" => template = Some(self.read_string()?.to_owned()),
                "feedback" => feedback = Some(self.read_string()?.to_owned()),
                "pddl" => {
                    self.read_block()?;
                }
                "grammar" => {
                    let (at, json) = self.read_block()?;
                    // Keeps line breaks, so that errors report the right line.
                    let lines: Vec<&str> = json
                        .split('\n')
                        .map(|line| if line.trim_start().starts_with('#') { "" } else { line })
                        .collect();
                    document.merge_productions(self, at, &lines.join("\n"))?;
                }
                other => {
                    return Err(self.error_at(key_at, format!("unknown key {} in an action", excerpt(other))));
                }
            }
            self.expect(";")?;
        }
        let missing = |what: &str| self.error_at(start, format!("the action {name:?} has no {what}"));
        let text = ActionText {
            template: template.ok_or_else(|| missing("template"))?,
            feedback: feedback.ok_or_else(|| missing("feedback"))?,
        };
        document.actions.insert(name.to_lowercase(), text);
        Ok(())
    }

    fn line_number(&self, at: usize) -> usize {
        self.text[..at].split('\n').count()
    }

    fn error_at(&self, at: usize, reason: impl Into<String>) -> LocatedError {
        let column = self.text[..at].chars().rev().take_while(|&c| c != '\n').count() + 1;
        LocatedError::new(format!("grammar, line {}, column {column}", self.line_number(at)), reason)
    }
}
