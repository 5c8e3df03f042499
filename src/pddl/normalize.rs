//! Converts formulas into clauses: pushes negations inwards, pulls disjunctions outwards, turns `exists` into variables
//! of the clause and `forall` into a negated disjunction.

use super::condition::{Argument, Clause, NegatedDisjunction, Pattern, Scope, Slot};
use super::error::PddlError;
use super::hash::FastMap;
use super::ids::ObjectId;
use super::limits;
use super::model::{Formula, Model, Term, Variable};
use super::names::Name;
use super::types::Types;

/// Converts the formulas of one action or goal into clauses.
pub(super) struct Normalizer<'m> {
    model: &'m Model,
    objects: &'m FastMap<Name, ObjectId>,
    types: &'m mut Types,
    place: String,
    visible_variables: Vec<(Name, Slot)>,
    literal_count: usize,
    pub(super) scope: Scope,
}

impl<'m> Normalizer<'m> {
    pub(super) fn new(
        model: &'m Model,
        objects: &'m FastMap<Name, ObjectId>,
        types: &'m mut Types,
        place: String,
    ) -> Self {
        Self {
            model,
            objects,
            types,
            place,
            visible_variables: Vec::new(),
            literal_count: 0,
            scope: Scope::default(),
        }
    }

    /// Brings variables into scope until [`Self::leave_scope`] and returns their slots.
    pub(super) fn enter_scope(&mut self, variables: &[Variable]) -> Result<Vec<Slot>, PddlError> {
        let mut slots = Vec::with_capacity(variables.len());
        for variable in variables {
            if self.scope.variable_types.len() >= limits::VARIABLES {
                return Err(self.too_large("variables", limits::VARIABLES));
            }
            if self.types.len() >= 4 * limits::TYPES {
                return Err(self.too_large("types", limits::TYPES));
            }
            let slot = self.scope.variable_types.len() as Slot;
            let words: Vec<&str> = variable.types.iter().map(|&kind| self.model.names.text(kind)).collect();
            let kind = self.types.type_of_variable(&words, self.objects.len());
            self.scope.variable_types.push(kind);
            self.visible_variables.push((variable.name, slot));
            slots.push(slot);
        }
        Ok(slots)
    }

    pub(super) fn leave_scope(&mut self, variables: &[Variable]) {
        self.visible_variables.truncate(self.visible_variables.len() - variables.len());
    }

    /// Returns the clauses of a disjunction that is equivalent to the formula or, with a negative polarity, to its
    /// negation.
    pub(super) fn normalize(
        &mut self,
        formula: &Formula,
        polarity: Polarity,
    ) -> Result<Vec<Clause>, PddlError> {
        match (formula, polarity) {
            (Formula::Not(inner), _) => self.normalize(inner, polarity.flipped()),
            (Formula::And(parts), Polarity::Positive) | (Formula::Or(parts), Polarity::Negative) => {
                let mut product = vec![Clause::default()];
                for part in parts {
                    let alternatives = self.normalize(part, polarity)?;
                    product = self.combine(product, &alternatives)?;
                }
                Ok(product)
            }
            (Formula::Or(parts), Polarity::Positive) | (Formula::And(parts), Polarity::Negative) => {
                let mut disjuncts = Vec::new();
                for part in parts {
                    disjuncts.extend(self.normalize(part, polarity)?);
                    self.check_limits(&disjuncts)?;
                }
                Ok(disjuncts)
            }
            (Formula::Imply(left, right), Polarity::Positive) => {
                let mut disjuncts = self.normalize(left, Polarity::Negative)?;
                disjuncts.extend(self.normalize(right, Polarity::Positive)?);
                self.check_limits(&disjuncts)?;
                Ok(disjuncts)
            }
            (Formula::Imply(left, right), Polarity::Negative) => {
                let left = self.normalize(left, Polarity::Positive)?;
                let right = self.normalize(right, Polarity::Negative)?;
                self.combine(left, &right)
            }
            (Formula::Exists(variables, body), Polarity::Positive)
            | (Formula::Forall(variables, body), Polarity::Negative) => {
                let slots = self.enter_scope(variables)?;
                let mut clauses = self.normalize(body, polarity)?;
                self.leave_scope(variables);
                for clause in &mut clauses {
                    clause.bound_variables.extend_from_slice(&slots);
                }
                Ok(clauses)
            }
            (Formula::Forall(variables, body), Polarity::Positive)
            | (Formula::Exists(variables, body), Polarity::Negative) => {
                let slots = self.enter_scope(variables)?;
                let mut clauses = self.normalize(body, polarity.flipped())?;
                self.leave_scope(variables);
                for clause in &mut clauses {
                    clause.bound_variables.extend_from_slice(&slots);
                }
                let free = self.visible_variables.iter().map(|&(_, slot)| slot).collect();
                let free = self.used_slots(&clauses, free);
                self.scope.disjunctions.push(NegatedDisjunction { clauses, free_variables: free });
                Ok(vec![Clause {
                    negated_disjunctions: vec![self.scope.disjunctions.len() - 1],
                    ..Clause::default()
                }])
            }
            (Formula::Atom(predicate, terms), _) => {
                let pattern = self.normalize_literal(*predicate, terms)?;
                Ok(vec![match polarity {
                    Polarity::Positive => Clause { positive: vec![pattern], ..Clause::default() },
                    Polarity::Negative => Clause { negative: vec![pattern], ..Clause::default() },
                }])
            }
            (Formula::Equal(left, right), _) => {
                let pair = (self.to_argument(*left), self.to_argument(*right));
                Ok(vec![match polarity {
                    Polarity::Positive => Clause { equal: vec![pair], ..Clause::default() },
                    Polarity::Negative => Clause { unequal: vec![pair], ..Clause::default() },
                }])
            }
        }
    }

    pub(super) fn normalize_literal(
        &mut self,
        predicate: usize,
        terms: &[Term],
    ) -> Result<Pattern, PddlError> {
        self.literal_count += 1;
        if self.literal_count > limits::LITERALS {
            return Err(self.too_large("literals in one action or goal", limits::LITERALS));
        }
        let arguments = terms.iter().map(|&term| self.to_argument(term)).collect();
        Ok(Pattern { predicate: predicate as u16, arguments })
    }

    fn to_argument(&self, term: Term) -> Argument {
        match term {
            // The parser has checked that the variable is in scope; the innermost binding of a name wins.
            Term::Variable(name) => {
                let slot = self
                    .visible_variables
                    .iter()
                    .rev()
                    .find(|(visible, _)| *visible == name)
                    .map(|&(_, slot)| slot);
                Argument::Slot(slot.unwrap_or_default())
            }
            Term::Constant(name) => Argument::Object(self.objects.get(&name).copied().unwrap_or_default()),
        }
    }

    /// Returns the clauses of the conjunction of two disjunctions.
    pub(super) fn combine(&self, mut left: Vec<Clause>, right: &[Clause]) -> Result<Vec<Clause>, PddlError> {
        if let [other] = right {
            for clause in &mut left {
                clause.merge(other);
            }
            self.check_limits(&left)?;
            return Ok(left);
        }
        if left.len() * right.len() > limits::CLAUSES {
            return Err(self.too_large("alternatives in one condition", limits::CLAUSES));
        }
        let mut product = Vec::with_capacity(left.len() * right.len());
        for clause in &left {
            for other in right {
                let mut merged = clause.clone();
                merged.merge(other);
                product.push(merged);
            }
        }
        self.check_limits(&product)?;
        Ok(product)
    }

    fn check_limits(&self, clauses: &[Clause]) -> Result<(), PddlError> {
        if clauses.len() > limits::CLAUSES {
            return Err(self.too_large("alternatives in one condition", limits::CLAUSES));
        }
        if clauses.iter().map(Clause::size).sum::<usize>() > limits::LITERALS {
            return Err(self.too_large("literals in one condition", limits::LITERALS));
        }
        Ok(())
    }

    /// Returns those of `slots` that the clauses mention.
    fn used_slots(&self, clauses: &[Clause], slots: Vec<Slot>) -> Vec<Slot> {
        let mut seen = vec![false; self.scope.variable_types.len()];
        let mut mark = |argument: &Argument| {
            if let Argument::Slot(slot) = argument {
                seen[usize::from(*slot)] = true;
            }
        };
        for clause in clauses {
            clause
                .positive
                .iter()
                .chain(&clause.negative)
                .flat_map(|pattern| &pattern.arguments)
                .for_each(&mut mark);
            for (left, right) in clause.equal.iter().chain(&clause.unequal) {
                mark(left);
                mark(right);
            }
            for &nested in &clause.negated_disjunctions {
                for &slot in &self.scope.disjunctions[nested].free_variables {
                    mark(&Argument::Slot(slot));
                }
            }
        }
        slots.into_iter().filter(|&slot| seen[usize::from(slot)]).collect()
    }

    fn too_large(&self, what: &'static str, limit: usize) -> PddlError {
        PddlError::TooLarge { place: self.place.clone(), what, limit: limit as u64 }
    }
}

/// Whether a formula or its negation is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    Positive,
    Negative,
}

impl Polarity {
    fn flipped(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
        }
    }
}
