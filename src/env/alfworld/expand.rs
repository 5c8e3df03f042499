//! Texts compiled against a task, and their expansion over the text fact store.

mod compile;
mod expander;

pub(super) use compile::CompiledGrammar;
pub(super) use expander::{Expander, Scratch};

use super::grammar::Attribute;
use super::query::{NameSlot, Query};

/// A compiled text.
pub(super) type Text = Vec<Part>;

/// A symbol by index, or the name of a nonexistent one (an error only if it is expanded).
#[derive(Clone, Debug)]
pub(super) enum SymbolRef {
    Known(u32),
    Unknown(Box<str>),
}

/// One part of a compiled text.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Literal(Box<str>),
    Symbol(SymbolRef),
    Each { body: CompiledBody, query: Option<Result<Query, Box<str>>>, is_list: bool },
}

/// What is expanded for each answer of a query.
#[derive(Clone, Debug)]
pub(super) enum CompiledBody {
    Symbol(SymbolRef),
    Value(Value),
    Broken(Box<str>),
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(Box<str>),
    Attribute(NameSlot, Attribute),
    Concat(Vec<Value>),
    Or(Vec<Value>),
}

/// A compiled production.
#[derive(Clone, Debug)]
pub(super) struct CompiledProduction {
    condition: Option<Result<Query, Box<str>>>,
    text: Text,
}

/// A symbol and its productions.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    name: Box<str>,
    productions: Vec<CompiledProduction>,
}
