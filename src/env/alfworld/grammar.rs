//! The `.twl2` language: a document of actions and productions, texts with symbols and expressions, and queries over
//! facts.
//!
//! This module only parses. As in TextWorld, parsing a text never fails: an unusable character silently ends the
//! text, and what would raise an exception in TextWorld (an expression outside the language, a malformed query) is
//! stored and reported if it is needed.

mod document;
mod expression;
mod query;
mod text;

#[cfg(test)]
mod tests;

pub(super) use document::Document;
pub(super) use expression::{Attribute, Value};
pub(super) use query::FactPattern;
pub(super) use text::{ForEach, ForEachBody, Piece};

use crate::env::EnvError;

/// Checks that a grammar parses, without a game. [`super::Game::load`] does this first.
///
/// # Errors
/// [`EnvError::Broken`] with the line of the first syntax error.
pub fn check(label: &str, grammar: &str) -> Result<(), EnvError> {
    let document = Document::parse(grammar).map_err(|broken| broken.in_file(label))?;
    for production in document.productions.values().flatten() {
        let _ = text::parse(&production.rhs);
        let _ = production.condition.as_deref().map(query::parse);
    }
    Ok(())
}

/// Parses one text of a grammar.
pub(super) fn parse_text(text: &str) -> Vec<Piece> {
    text::parse(text)
}

/// Parses a query. The error describes why it is malformed.
pub(super) fn parse_query(text: &str) -> Result<Vec<FactPattern>, String> {
    query::parse(text)
}
