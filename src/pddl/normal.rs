//! From formulas to clauses: negations inwards, alternatives outwards, `exists` into the clause's own variables,
//! `forall` into "none of these alternatives holds".

use super::condition::{Argument, Clause, Nested, Pattern, Scope, Slot};
use super::error::PddlError;
use super::hash::FastMap;
use super::ids::ObjectId;
use super::limits;
use super::model::{Formula, Model, Term, Variable};
use super::names::Name;
use super::types::Types;

/// Brings the formulas of one action or goal into clauses.
pub(super) struct Normalizer<'m> {
    model: &'m Model,
    objects: &'m FastMap<Name, ObjectId>,
    types: &'m mut Types,
    place: String,
    visible: Vec<(Name, Slot)>,
    literals: usize,
    pub(super) scope: Scope,
}

impl<'m> Normalizer<'m> {
    pub(super) fn new(
        model: &'m Model,
        objects: &'m FastMap<Name, ObjectId>,
        types: &'m mut Types,
        place: String,
    ) -> Self {
        Self { model, objects, types, place, visible: Vec::new(), literals: 0, scope: Scope::default() }
    }

    /// Makes variables visible until [`Self::leave`], and gives their slots.
    pub(super) fn enter(&mut self, variables: &[Variable]) -> Result<Vec<Slot>, PddlError> {
        let mut slots = Vec::with_capacity(variables.len());
        for variable in variables {
            if self.scope.kinds.len() >= limits::VARIABLES {
                return Err(self.too_large("variables", limits::VARIABLES));
            }
            if self.types.len() >= 4 * limits::TYPES {
                return Err(self.too_large("types", limits::TYPES));
            }
            let slot = self.scope.kinds.len() as Slot;
            let words: Vec<&str> = variable.kinds.iter().map(|&kind| self.model.names.word(kind)).collect();
            let kind = self.types.of_variable(&words, self.objects.len());
            self.scope.kinds.push(kind);
            self.visible.push((variable.name, slot));
            slots.push(slot);
        }
        Ok(slots)
    }

    pub(super) fn leave(&mut self, variables: &[Variable]) {
        self.visible.truncate(self.visible.len() - variables.len());
    }

    /// The clauses one of which holds exactly when the formula (or, with `wanted` false, its negation) holds.
    pub(super) fn clauses(&mut self, formula: &Formula, wanted: Wanted) -> Result<Vec<Clause>, PddlError> {
        match (formula, wanted) {
            (Formula::Not(inner), _) => self.clauses(inner, wanted.flipped()),
            (Formula::And(parts), Wanted::True) | (Formula::Or(parts), Wanted::False) => {
                let mut product = vec![Clause::default()];
                for part in parts {
                    let alternatives = self.clauses(part, wanted)?;
                    product = self.product(product, &alternatives)?;
                }
                Ok(product)
            }
            (Formula::Or(parts), Wanted::True) | (Formula::And(parts), Wanted::False) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.clauses(part, wanted)?);
                    self.check(&all)?;
                }
                Ok(all)
            }
            (Formula::Imply(left, right), Wanted::True) => {
                let mut all = self.clauses(left, Wanted::False)?;
                all.extend(self.clauses(right, Wanted::True)?);
                self.check(&all)?;
                Ok(all)
            }
            (Formula::Imply(left, right), Wanted::False) => {
                let left = self.clauses(left, Wanted::True)?;
                let right = self.clauses(right, Wanted::False)?;
                self.product(left, &right)
            }
            (Formula::Exists(variables, body), Wanted::True)
            | (Formula::Forall(variables, body), Wanted::False) => {
                let slots = self.enter(variables)?;
                let mut clauses = self.clauses(body, wanted)?;
                self.leave(variables);
                for clause in &mut clauses {
                    clause.own.extend_from_slice(&slots);
                }
                Ok(clauses)
            }
            (Formula::Forall(variables, body), Wanted::True)
            | (Formula::Exists(variables, body), Wanted::False) => {
                let slots = self.enter(variables)?;
                let mut clauses = self.clauses(body, wanted.flipped())?;
                self.leave(variables);
                for clause in &mut clauses {
                    clause.own.extend_from_slice(&slots);
                }
                let free = self.visible.iter().map(|&(_, slot)| slot).collect();
                let free = self.used(&clauses, free);
                self.scope.nested.push(Nested { clauses, free });
                Ok(vec![Clause { none_of: vec![self.scope.nested.len() - 1], ..Clause::default() }])
            }
            (Formula::Atom(predicate, terms), _) => {
                let pattern = self.pattern(*predicate, terms)?;
                Ok(vec![match wanted {
                    Wanted::True => Clause { holds: vec![pattern], ..Clause::default() },
                    Wanted::False => Clause { fails: vec![pattern], ..Clause::default() },
                }])
            }
            (Formula::Equal(left, right), _) => {
                let pair = (self.argument(*left), self.argument(*right));
                Ok(vec![match wanted {
                    Wanted::True => Clause { same: vec![pair], ..Clause::default() },
                    Wanted::False => Clause { differ: vec![pair], ..Clause::default() },
                }])
            }
        }
    }

    pub(super) fn pattern(&mut self, predicate: usize, terms: &[Term]) -> Result<Pattern, PddlError> {
        self.literals += 1;
        if self.literals > limits::LITERALS {
            return Err(self.too_large("literals in one action or goal", limits::LITERALS));
        }
        let arguments = terms.iter().map(|&term| self.argument(term)).collect();
        Ok(Pattern { predicate: predicate as u16, arguments })
    }

    fn argument(&self, term: Term) -> Argument {
        match term {
            // The parser let only visible variables through; the innermost of a name counts.
            Term::Variable(name) => {
                let slot =
                    self.visible.iter().rev().find(|(visible, _)| *visible == name).map(|&(_, slot)| slot);
                Argument::Slot(slot.unwrap_or_default())
            }
            Term::Constant(name) => Argument::Object(self.objects.get(&name).copied().unwrap_or_default()),
        }
    }

    pub(super) fn product(&self, mut left: Vec<Clause>, right: &[Clause]) -> Result<Vec<Clause>, PddlError> {
        if let [other] = right {
            for clause in &mut left {
                clause.absorb(other);
            }
            self.check(&left)?;
            return Ok(left);
        }
        if left.len() * right.len() > limits::CLAUSES {
            return Err(self.too_large("alternatives in one condition", limits::CLAUSES));
        }
        let mut all = Vec::with_capacity(left.len() * right.len());
        for one in &left {
            for other in right {
                let mut both = one.clone();
                both.absorb(other);
                all.push(both);
            }
        }
        self.check(&all)?;
        Ok(all)
    }

    fn check(&self, clauses: &[Clause]) -> Result<(), PddlError> {
        if clauses.len() > limits::CLAUSES {
            return Err(self.too_large("alternatives in one condition", limits::CLAUSES));
        }
        if clauses.iter().map(Clause::size).sum::<usize>() > limits::LITERALS {
            return Err(self.too_large("literals in one condition", limits::LITERALS));
        }
        Ok(())
    }

    /// Those of `slots` that the clauses speak of.
    fn used(&self, clauses: &[Clause], slots: Vec<Slot>) -> Vec<Slot> {
        let mut seen = vec![false; self.scope.kinds.len()];
        let mut mark = |argument: &Argument| {
            if let Argument::Slot(slot) = argument {
                seen[usize::from(*slot)] = true;
            }
        };
        for clause in clauses {
            clause
                .holds
                .iter()
                .chain(&clause.fails)
                .flat_map(|pattern| &pattern.arguments)
                .for_each(&mut mark);
            for (left, right) in clause.same.iter().chain(&clause.differ) {
                mark(left);
                mark(right);
            }
            for &nested in &clause.none_of {
                for &slot in &self.scope.nested[nested].free {
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

/// Whether a formula or its negation is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    True,
    False,
}

impl Wanted {
    fn flipped(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
        }
    }
}
