//! The file level: `grammar :: """json""";` and `action NAME { template :: "..."; feedback :: "..."; ... }`.

use crate::env::alfworld::broken::{Broken, excerpt};
use crate::env::alfworld::limits;
use serde::Deserialize;
use std::collections::BTreeMap;

/// One way to expand a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(in crate::env::alfworld) struct Production {
    /// The text.
    pub(in crate::env::alfworld) rhs: String,
    /// The query that must have an answer.
    #[serde(default)]
    pub(in crate::env::alfworld) condition: Option<String>,
}

/// The texts of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::env::alfworld) struct ActionText {
    /// Its command.
    pub(in crate::env::alfworld) template: String,
    /// Its answer.
    pub(in crate::env::alfworld) feedback: String,
}

/// A parsed grammar file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::env::alfworld) struct Document {
    /// By name in lower case; a later definition replaces an earlier one.
    pub(in crate::env::alfworld) actions: BTreeMap<String, ActionText>,
    /// By symbol; a later definition replaces an earlier one.
    pub(in crate::env::alfworld) productions: BTreeMap<String, Vec<Production>>,
}

impl Document {
    pub(in crate::env::alfworld) fn parse(text: &str) -> Result<Self, Broken> {
        let mut reader = Reader { text, at: 0 };
        let mut document = Self::default();
        loop {
            reader.skip();
            if reader.rest().is_empty() {
                return Ok(document);
            }
            let start = reader.at;
            match reader.name() {
                "grammar" => {
                    reader.expect("::")?;
                    let (at, json) = reader.block()?;
                    reader.expect(";")?;
                    document.merge(&reader, at, json)?;
                }
                "action" => reader.action(&mut document)?,
                _ => return Err(reader.broken_at(start, "expected \"grammar ::\" or \"action NAME {\"")),
            }
        }
    }

    fn merge(&mut self, reader: &Reader<'_>, at: usize, json: &str) -> Result<(), Broken> {
        let parsed: BTreeMap<String, Vec<Production>> = serde_json::from_str(json).map_err(|error| {
            let line = reader.line(at) + error.line().max(1) - 1;
            Broken::new(
                format!("grammar, line {line}"),
                format!("the productions are not as expected: {error}"),
            )
        })?;
        self.productions.extend(parsed);
        if self.productions.len() > limits::SYMBOLS {
            return Err(reader.broken_at(at, format!("more than {} symbols", limits::SYMBOLS)));
        }
        if self.productions.values().map(Vec::len).sum::<usize>() > limits::PRODUCTIONS {
            return Err(reader.broken_at(at, format!("more than {} productions", limits::PRODUCTIONS)));
        }
        Ok(())
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// White space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Letters, digits, `_`, `/` and `-`; may be empty.
    fn name(&mut self) -> &'t str {
        self.skip();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_/-".contains(c))).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn expect(&mut self, mark: &str) -> Result<(), Broken> {
        self.skip();
        if !self.rest().starts_with(mark) {
            return Err(self.broken_at(self.at, format!("expected {mark:?}, found {}", self.here())));
        }
        self.at += mark.len();
        Ok(())
    }

    fn here(&self) -> String {
        let rest = self.rest();
        if rest.is_empty() {
            return "the end of the text".to_owned();
        }
        excerpt(rest.lines().next().unwrap_or_default())
    }

    /// `"..."`, without escapes.
    fn string(&mut self) -> Result<&'t str, Broken> {
        self.expect("\"")?;
        let rest = self.rest();
        let end = rest.find('"').ok_or_else(|| self.broken_at(self.at, "the string does not end"))?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    /// `"""..."""` and where its inside starts.
    fn block(&mut self) -> Result<(usize, &'t str), Broken> {
        const FENCE: &str = "\"\"\"";
        self.expect(FENCE)?;
        let (start, rest) = (self.at, self.rest());
        let end = rest.find(FENCE).ok_or_else(|| self.broken_at(start, "the block does not end"))?;
        self.at += end + FENCE.len();
        Ok((start, &rest[..end]))
    }

    fn action(&mut self, document: &mut Document) -> Result<(), Broken> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Err(self.broken_at(self.at, "an action needs a name"));
        }
        self.expect("{")?;
        let (mut template, mut feedback) = (None, None);
        loop {
            self.skip();
            if self.rest().starts_with('}') {
                self.at += 1;
                break;
            }
            let key_at = self.at;
            let key = self.name();
            self.expect("::")?;
            match key {
                "template" => template = Some(self.string()?.to_owned()),
                "feedback" => feedback = Some(self.string()?.to_owned()),
                "pddl" => {
                    self.block()?;
                }
                "grammar" => {
                    let (at, json) = self.block()?;
                    // Line breaks stay, so that errors name the right line.
                    let kept: Vec<&str> = json
                        .split('\n')
                        .map(|line| if line.trim_start().starts_with('#') { "" } else { line })
                        .collect();
                    document.merge(self, at, &kept.join("\n"))?;
                }
                other => return Err(self.broken_at(key_at, format!("an action has no {}", excerpt(other)))),
            }
            self.expect(";")?;
        }
        let missing = |what: &str| self.broken_at(start, format!("the action {name:?} has no {what}"));
        let text = ActionText {
            template: template.ok_or_else(|| missing("template"))?,
            feedback: feedback.ok_or_else(|| missing("feedback"))?,
        };
        document.actions.insert(name.to_lowercase(), text);
        Ok(())
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].split('\n').count()
    }

    fn broken_at(&self, at: usize, reason: impl Into<String>) -> Broken {
        let column = self.text[..at].chars().rev().take_while(|&c| c != '\n').count() + 1;
        Broken::new(format!("grammar, line {}, column {column}", self.line(at)), reason)
    }
}
