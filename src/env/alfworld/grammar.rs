//! The `.twl2` language: a document of actions and productions, texts with symbols and expressions, queries over facts.
//!
//! Parsing only. Texts are parsed totally, as in the reference: what cannot be used ends the text silently, and what would
//! raise an exception there (an expression outside the language, a malformed query) is kept and reported when it is needed.

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

/// Parses a grammar text alone, without a game: what [`super::Game::load`] does first with it.
///
/// # Errors
/// [`EnvError::Panicked`] with the line of the first thing that is not in the language.
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

/// Parses a query; an error says why it cannot be one.
pub(super) fn parse_query(text: &str) -> Result<Vec<FactPattern>, String> {
    query::parse(text)
}
