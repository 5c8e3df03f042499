//! Actions and goal in disjunctive normal form, ready for joining.

use super::condition::{Clause, Pattern, Scope, Slot};
use super::error::PddlError;
use super::hash::FastMap;
use super::ids::ObjectId;
use super::limits;
use super::model::{Action, Formula, Model};
use super::names::Name;
use super::normalize::{Normalizer, Polarity};
use super::types::Types;

/// An action in disjunctive normal form. As in the reference implementation, an `exists` in a precondition adds a
/// variable to the instance, and each disjunct produces instances of its own; those with the same arguments count as
/// one action.
pub(super) struct Schema {
    pub(super) scope: Scope,
    pub(super) parameters: Vec<Slot>,
    pub(super) clauses: Vec<Clause>,
    pub(super) effects: Vec<SchemaEffect>,
}

/// One effect literal. It fires if one of its clauses holds.
pub(super) struct SchemaEffect {
    pub(super) is_add: bool,
    pub(super) pattern: Pattern,
    pub(super) conditions: Vec<Clause>,
}

impl SchemaEffect {
    /// Returns whether it always fires and binds no further variables.
    pub(super) fn is_unconditional(&self) -> bool {
        matches!(self.conditions.as_slice(), [only] if only.bound_variables.is_empty() && only.size() == 1)
    }
}

impl Schema {
    pub(super) fn from_action(
        model: &Model,
        action: &Action,
        objects: &FastMap<Name, ObjectId>,
        types: &mut Types,
    ) -> Result<Self, PddlError> {
        let place = format!("PDDL domain, action {:?}", model.names.text(action.name));
        let mut normalizer = Normalizer::new(model, objects, types, place.clone());
        let parameters = normalizer.enter_scope(&action.parameters)?;
        let clauses = normalizer.normalize(&action.precondition, Polarity::Positive)?;
        let mut effects = Vec::with_capacity(action.effects.len());
        let mut size = 0;
        for effect in &action.effects {
            let quantified = normalizer.enter_scope(&effect.variables)?;
            let mut conditions = vec![Clause::default()];
            for condition in &effect.conditions {
                let part = normalizer.normalize(condition, Polarity::Positive)?;
                conditions = normalizer.combine(conditions, &part)?;
            }
            for clause in &mut conditions {
                clause.bound_variables.extend_from_slice(&quantified);
            }
            size += conditions.iter().map(Clause::size).sum::<usize>();
            if size > limits::LITERALS {
                let what = "literals in the effects of one action";
                return Err(PddlError::TooLarge { place, what, limit: limits::LITERALS as u64 });
            }
            let pattern = normalizer.normalize_literal(effect.predicate, &effect.terms)?;
            normalizer.leave_scope(&effect.variables);
            effects.push(SchemaEffect { is_add: effect.is_add, pattern, conditions });
        }
        Ok(Self { scope: normalizer.scope, parameters, clauses, effects })
    }

    /// Builds the goal as a schema without parameters and effects.
    pub(super) fn from_goal(
        model: &Model,
        goal: &Formula,
        objects: &FastMap<Name, ObjectId>,
        types: &mut Types,
    ) -> Result<Self, PddlError> {
        let mut normalizer = Normalizer::new(model, objects, types, "PDDL problem, goal".to_owned());
        let clauses = normalizer.normalize(goal, Polarity::Positive)?;
        Ok(Self { scope: normalizer.scope, parameters: Vec::new(), clauses, effects: Vec::new() })
    }
}
