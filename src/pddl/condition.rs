//! Conditions in disjunctive form, over numbered variables: what joins and gates are made of.

use super::ids::ObjectId;
use super::types::TypeId;

/// A variable of one action (or of the goal), numbered over all its quantifiers.
pub(super) type Slot = u16;

/// An argument of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Slot(Slot),
    Object(ObjectId),
}

/// A fact with variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) predicate: u16,
    pub(super) arguments: Vec<Argument>,
}

/// All of these hold for some binding of `own`.
#[derive(Clone, Debug, Default)]
pub(super) struct Clause {
    /// Variables that this clause binds beside those of its surroundings.
    pub(super) own: Vec<Slot>,
    pub(super) holds: Vec<Pattern>,
    pub(super) fails: Vec<Pattern>,
    pub(super) same: Vec<(Argument, Argument)>,
    pub(super) differ: Vec<(Argument, Argument)>,
    /// Alternatives none of which may hold; an index into [`Scope::nested`].
    pub(super) none_of: Vec<usize>,
}

impl Clause {
    /// Everything the clause speaks of, as a measure of its size.
    pub(super) fn size(&self) -> usize {
        1 + self.holds.len() + self.fails.len() + self.same.len() + self.differ.len() + self.none_of.len()
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        self.own.extend_from_slice(&other.own);
        self.holds.extend_from_slice(&other.holds);
        self.fails.extend_from_slice(&other.fails);
        self.same.extend_from_slice(&other.same);
        self.differ.extend_from_slice(&other.differ);
        self.none_of.extend_from_slice(&other.none_of);
    }
}

/// Alternatives inside a negation, with the variables that its surroundings must have bound.
#[derive(Clone, Debug)]
pub(super) struct Nested {
    pub(super) clauses: Vec<Clause>,
    pub(super) free: Vec<Slot>,
}

/// The variables of one action or goal, and its negated alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The type of each variable.
    pub(super) kinds: Vec<TypeId>,
    pub(super) nested: Vec<Nested>,
}

impl Scope {
    /// Cells of one binding; never 0, so that a binding without variables still shows in a table of bindings.
    pub(super) fn width(&self) -> usize {
        self.kinds.len().max(1)
    }
}
