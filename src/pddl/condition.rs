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
    pub(super) own_variables: Vec<Slot>,
    pub(super) positive: Vec<Pattern>,
    pub(super) negative: Vec<Pattern>,
    pub(super) equal: Vec<(Argument, Argument)>,
    pub(super) unequal: Vec<(Argument, Argument)>,
    /// Alternatives none of which may hold; an index into [`Scope::nested`].
    pub(super) negated_alternatives: Vec<usize>,
}

impl Clause {
    /// Everything the clause speaks of, as a measure of its size.
    pub(super) fn size(&self) -> usize {
        1 + self.positive.len()
            + self.negative.len()
            + self.equal.len()
            + self.unequal.len()
            + self.negated_alternatives.len()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.own_variables.extend_from_slice(&other.own_variables);
        self.positive.extend_from_slice(&other.positive);
        self.negative.extend_from_slice(&other.negative);
        self.equal.extend_from_slice(&other.equal);
        self.unequal.extend_from_slice(&other.unequal);
        self.negated_alternatives.extend_from_slice(&other.negated_alternatives);
    }
}

/// Alternatives inside a negation, with the variables that its surroundings must have bound.
#[derive(Clone, Debug)]
pub(super) struct Nested {
    pub(super) clauses: Vec<Clause>,
    pub(super) free_variables: Vec<Slot>,
}

/// The variables of one action or goal, and its negated alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The type of each variable.
    pub(super) variable_types: Vec<TypeId>,
    pub(super) nested: Vec<Nested>,
}

impl Scope {
    /// Cells of one binding; never 0, so that a binding without variables still shows in a table of bindings.
    pub(super) fn width(&self) -> usize {
        self.variable_types.len().max(1)
    }
}
