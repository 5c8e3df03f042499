//! A grounded task: its facts, action instances and gates. A gate is a conjunction that is true while all of its inputs
//! are true ([`super::gates`]); each action instance has one for its precondition.

use super::atoms::AtomKeys;
use super::bits::Bits;
use super::gates::{Condition, Input, Watchers};
use super::ids::{ActionId, FactId, ObjectId, OpId, PredicateId};
use super::types::{TypeId, Types};
use std::ops::Range;
use std::sync::Arc;

/// One effect of an action instance.
#[derive(Clone, Copy, Debug)]
pub struct OpEffect {
    pub fact: FactId,
    pub is_add: bool,
    /// Start and end in `Task::conditions` of the inputs that must all hold; an empty range if it is unconditional.
    pub(super) conditions: (u32, u32),
}

/// A grounded task. Immutable; [`Task::initial`] creates states of it.
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) objects: Vec<Arc<str>>,
    pub(super) types: Types,
    /// Names and arities.
    pub(super) predicates: Vec<(Arc<str>, usize)>,
    pub(super) is_changing: Vec<bool>,
    /// Names and numbers of parameters.
    pub(super) actions: Vec<(Arc<str>, usize)>,
    pub(super) parameters: Vec<Vec<(Arc<str>, TypeId)>>,
    pub(super) fact_predicates: Vec<u16>,
    pub(super) fact_starts: Vec<u32>,
    pub(super) fact_arguments: Vec<ObjectId>,
    pub(super) first_fact_of: Vec<u32>,
    pub(super) keys: AtomKeys,
    pub(super) op_actions: Vec<u16>,
    pub(super) op_starts: Vec<u32>,
    pub(super) op_arguments: Vec<ObjectId>,
    pub(super) effect_starts: Vec<u32>,
    pub(super) effects: Vec<OpEffect>,
    pub(super) conditions: Vec<Input>,
    /// For each fact, the gates that have it as an input.
    pub(super) fact_watchers: Watchers,
    /// For each gate inside a condition, the gates that have it as an input.
    pub(super) gate_watchers: Watchers,
    pub(super) goal: Condition,
    pub(super) goal_parts: Vec<Condition>,
    pub(super) initial_facts: Bits,
    /// For each gate, the number of its inputs that do not hold initially.
    pub(super) initial_unmet: Vec<u16>,
}

impl Task {
    /// Returns the number of gates: those of the instances, followed by those inside conditions.
    pub(super) fn gate_count(&self) -> usize {
        self.initial_unmet.len()
    }

    /// Returns the number of objects, including constants.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// Iterates over all objects in ascending order of their names.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.objects.len()).map(|at| ObjectId(at as u16))
    }

    /// Returns an object's name, in lower case.
    pub fn object_name(&self, object: ObjectId) -> &str {
        &self.objects[object.index()]
    }

    /// Returns the type hierarchy.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// Iterates over all predicates in the order of declaration.
    pub fn predicates(&self) -> impl Iterator<Item = PredicateId> + use<> {
        (0..self.predicates.len()).map(|at| PredicateId(at as u16))
    }

    /// Returns the predicate with this lower-case name.
    pub fn predicate(&self, name: &str) -> Option<PredicateId> {
        self.predicates.iter().position(|(word, _)| word.as_ref() == name).map(|at| PredicateId(at as u16))
    }

    /// Returns a predicate's name.
    pub fn predicate_name(&self, predicate: PredicateId) -> &str {
        &self.predicates[predicate.index()].0
    }

    /// Returns a predicate's number of arguments.
    pub fn arity(&self, predicate: PredicateId) -> usize {
        self.predicates[predicate.index()].1
    }

    /// Returns whether any action can change facts of this predicate.
    pub fn is_changing(&self, predicate: PredicateId) -> bool {
        self.is_changing[predicate.index()]
    }

    /// Iterates over all action schemas.
    pub fn actions(&self) -> impl Iterator<Item = ActionId> + use<> {
        (0..self.actions.len()).map(|at| ActionId(at as u16))
    }

    /// Returns an action's name, in lower case.
    pub fn action_name(&self, action: ActionId) -> &str {
        &self.actions[action.index()].0
    }

    /// Returns an action's parameters as pairs of name and type.
    pub fn parameters(&self, action: ActionId) -> &[(Arc<str>, TypeId)] {
        &self.parameters[action.index()]
    }

    /// Returns the number of facts: the initial ones and those that can become true.
    pub fn fact_count(&self) -> usize {
        self.fact_predicates.len()
    }

    /// Iterates over the facts of a predicate in ascending order of their arguments.
    pub fn facts_of(&self, predicate: PredicateId) -> impl Iterator<Item = FactId> + use<> {
        let range: Range<u32> =
            self.first_fact_of[predicate.index()]..self.first_fact_of[predicate.index() + 1];
        range.map(FactId)
    }

    /// Returns the fact with this predicate and these arguments, or `None` if it can never be true.
    #[inline]
    pub fn fact(&self, predicate: PredicateId, arguments: &[ObjectId]) -> Option<FactId> {
        self.keys.find(predicate.0, arguments).map(FactId)
    }

    /// Returns a fact's predicate.
    #[inline]
    pub fn predicate_of(&self, fact: FactId) -> PredicateId {
        PredicateId(self.fact_predicates[fact.index()])
    }

    /// Returns a fact's arguments.
    #[inline]
    pub fn arguments(&self, fact: FactId) -> &[ObjectId] {
        &self.fact_arguments
            [self.fact_starts[fact.index()] as usize..self.fact_starts[fact.index() + 1] as usize]
    }

    /// Returns the arguments of the fact with this index, as found in [`Bits`] of facts.
    pub fn arguments_at(&self, index: usize) -> &[ObjectId] {
        self.arguments(FactId(index as u32))
    }

    /// Returns the number of action instances.
    pub fn op_count(&self) -> usize {
        self.op_actions.len()
    }

    /// Iterates over all action instances.
    pub fn ops(&self) -> impl Iterator<Item = OpId> + use<> {
        (0..self.op_actions.len() as u32).map(OpId)
    }

    /// Returns an instance's schema.
    #[inline]
    pub fn action_of(&self, op: OpId) -> ActionId {
        ActionId(self.op_actions[op.index()])
    }

    /// Returns the objects that an instance's parameters are bound to.
    #[inline]
    pub fn bound_objects(&self, op: OpId) -> &[ObjectId] {
        &self.op_arguments[self.op_starts[op.index()] as usize..self.op_starts[op.index() + 1] as usize]
    }

    /// Returns an instance's effects: adds first, then deletes, each in the order written.
    #[inline]
    pub fn effects(&self, op: OpId) -> &[OpEffect] {
        &self.effects[self.effect_starts[op.index()] as usize..self.effect_starts[op.index() + 1] as usize]
    }
}
