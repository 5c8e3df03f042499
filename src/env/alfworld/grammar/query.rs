//! Queries: `predicate(x:type, y) & ...`.

use crate::env::alfworld::limits;
use crate::env::alfworld::located_error::excerpt;

/// One atom of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::env::alfworld) struct FactPattern {
    /// The predicate; `not_p` matches an explicit negative literal of `p`.
    pub(in crate::env::alfworld) predicate: String,
    pub(in crate::env::alfworld) placeholders: Vec<Placeholder>,
}

/// An argument of a query's atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::env::alfworld) struct Placeholder {
    pub(in crate::env::alfworld) name: String,
    /// The type; defaults to the placeholder's own name.
    pub(in crate::env::alfworld) kind: String,
}

/// Parses a query. The error describes what is malformed.
pub(super) fn parse(text: &str) -> Result<Vec<FactPattern>, String> {
    let facts: Vec<&str> = text.split('&').collect();
    if facts.len() > limits::QUERY_FACTS {
        return Err(format!("a query has more than {} facts", limits::QUERY_FACTS));
    }
    facts.into_iter().map(|fact| parse_fact(fact.trim())).collect()
}

fn parse_fact(text: &str) -> Result<FactPattern, String> {
    let malformed = || format!("{} is not a fact of a query (predicate(name:type, ...))", excerpt(text));
    let (predicate, rest) = text.split_once('(').ok_or_else(malformed)?;
    let inside = rest.strip_suffix(')').ok_or_else(malformed)?;
    let predicate = predicate.trim();
    if !is_word(predicate.strip_prefix('!').unwrap_or(predicate), "_/") {
        return Err(malformed());
    }
    let mut placeholders = Vec::new();
    if !inside.trim().is_empty() {
        for part in inside.split(',') {
            let (name, kind) = part.split_once(':').unwrap_or((part, part));
            let (name, kind) = (name.trim(), kind.trim());
            if !is_word(name, "_") || !is_word(kind, "_-/") || placeholders.len() >= limits::QUERY_FACTS {
                return Err(malformed());
            }
            placeholders.push(Placeholder { name: name.to_owned(), kind: kind.to_owned() });
        }
    }
    Ok(FactPattern { predicate: predicate.to_owned(), placeholders })
}

fn is_word(text: &str, also: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || also.contains(c))
}
