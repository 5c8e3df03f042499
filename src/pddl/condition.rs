//! Conditions in disjunctive normal form over numbered variables, the input of joins and gates.

use super::ids::ObjectId;
use super::types::TypeId;

/// A variable of one action (or of the goal), numbered across all of its quantifiers.
pub(super) type Slot = u16;

/// An argument of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Slot(Slot),
    Object(ObjectId),
}

/// An atom whose arguments may be variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) predicate: u16,
    pub(super) arguments: Vec<Argument>,
}

/// A conjunction that holds if all of its literals hold for some binding of `bound_variables`.
#[derive(Clone, Debug, Default)]
pub(super) struct Clause {
    /// Variables bound by this clause, in addition to those of the enclosing scope.
    pub(super) bound_variables: Vec<Slot>,
    pub(super) positive: Vec<Pattern>,
    pub(super) negative: Vec<Pattern>,
    pub(super) equal: Vec<(Argument, Argument)>,
    pub(super) unequal: Vec<(Argument, Argument)>,
    /// Disjunctions that must all be false; indexes into [`Scope::disjunctions`].
    pub(super) negated_disjunctions: Vec<usize>,
}

impl Clause {
    /// Returns one more than the number of literals and negated disjunctions.
    pub(super) fn size(&self) -> usize {
        1 + self.positive.len()
            + self.negative.len()
            + self.equal.len()
            + self.unequal.len()
            + self.negated_disjunctions.len()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.bound_variables.extend_from_slice(&other.bound_variables);
        self.positive.extend_from_slice(&other.positive);
        self.negative.extend_from_slice(&other.negative);
        self.equal.extend_from_slice(&other.equal);
        self.unequal.extend_from_slice(&other.unequal);
        self.negated_disjunctions.extend_from_slice(&other.negated_disjunctions);
    }
}

/// A disjunction inside a negation, with the variables that the enclosing scope must have bound.
#[derive(Clone, Debug)]
pub(super) struct NegatedDisjunction {
    pub(super) clauses: Vec<Clause>,
    pub(super) free_variables: Vec<Slot>,
}

/// The variables of one action or goal, and its negated disjunctions.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) variable_types: Vec<TypeId>,
    pub(super) disjunctions: Vec<NegatedDisjunction>,
}

impl Scope {
    /// Returns the number of cells in one binding. Never 0, so that a binding without variables still takes up a row in
    /// a table of bindings.
    pub(super) fn binding_len(&self) -> usize {
        self.variable_types.len().max(1)
    }
}
