//! A grounded task: its facts, its action instances, its gates.

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
    /// The fact it sets.
    pub fact: FactId,
    /// Whether the fact becomes true.
    pub is_add: bool,
    /// Its condition, a range of the task's conditions; empty where it always fires.
    pub(super) conditions: (u32, u32),
}

/// A grounded task. Immutable; states of it are made by [`Task::initial`].
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) objects: Vec<Arc<str>>,
    pub(super) types: Types,
    pub(super) predicates: Vec<(Arc<str>, usize)>,
    pub(super) is_changing: Vec<bool>,
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
    pub(super) fact_watchers: Watchers,
    pub(super) gate_watchers: Watchers,
    pub(super) goal: Condition,
    pub(super) goal_parts: Vec<Condition>,
    pub(super) initial_facts: Bits,
    pub(super) initial_unmet: Vec<u16>,
}

impl Task {
    /// How many parts of the goal have conditions of their own; none where the task was made by [`Task::ground`].
    pub fn goal_part_count(&self) -> usize {
        self.goal_parts.len()
    }

    /// How many gates there are: those of the instances, then those inside conditions.
    pub(super) fn gate_count(&self) -> usize {
        self.initial_unmet.len()
    }

    /// How many objects there are, constants included.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// All objects, ascending by name.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.objects.len()).map(|at| ObjectId(at as u16))
    }

    /// An object's name, lower case.
    pub fn object_name(&self, object: ObjectId) -> &str {
        &self.objects[object.index()]
    }

    /// The object of this lower-case name.
    pub fn object(&self, name: &str) -> Option<ObjectId> {
        self.objects.binary_search_by(|object| object.as_ref().cmp(name)).ok().map(|at| ObjectId(at as u16))
    }

    /// The type hierarchy.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// All predicates, in order of declaration.
    pub fn predicates(&self) -> impl Iterator<Item = PredicateId> + use<> {
        (0..self.predicates.len()).map(|at| PredicateId(at as u16))
    }

    /// The predicate of this lower-case name.
    pub fn predicate(&self, name: &str) -> Option<PredicateId> {
        self.predicates.iter().position(|(word, _)| word.as_ref() == name).map(|at| PredicateId(at as u16))
    }

    /// A predicate's name.
    pub fn predicate_name(&self, predicate: PredicateId) -> &str {
        &self.predicates[predicate.index()].0
    }

    /// A predicate's number of arguments.
    pub fn arity(&self, predicate: PredicateId) -> usize {
        self.predicates[predicate.index()].1
    }

    /// Whether any action can set facts of this predicate.
    pub fn is_changing(&self, predicate: PredicateId) -> bool {
        self.is_changing[predicate.index()]
    }

    /// All action schemas.
    pub fn actions(&self) -> impl Iterator<Item = ActionId> + use<> {
        (0..self.actions.len()).map(|at| ActionId(at as u16))
    }

    /// An action's name, lower case.
    pub fn action_name(&self, action: ActionId) -> &str {
        &self.actions[action.index()].0
    }

    /// An action's parameters: name and type.
    pub fn parameters(&self, action: ActionId) -> &[(Arc<str>, TypeId)] {
        &self.parameters[action.index()]
    }

    /// How many facts there are: initial ones and those that can become true.
    pub fn fact_count(&self) -> usize {
        self.fact_predicates.len()
    }

    /// The facts of a predicate, ascending by arguments.
    pub fn facts_of(&self, predicate: PredicateId) -> impl Iterator<Item = FactId> + use<> {
        let range: Range<u32> =
            self.first_fact_of[predicate.index()]..self.first_fact_of[predicate.index() + 1];
        range.map(FactId)
    }

    /// The fact of this predicate and these arguments, where it can ever be true.
    #[inline]
    pub fn fact(&self, predicate: PredicateId, arguments: &[ObjectId]) -> Option<FactId> {
        self.keys.find(predicate.0, arguments).map(FactId)
    }

    /// A fact's predicate.
    #[inline]
    pub fn predicate_of(&self, fact: FactId) -> PredicateId {
        PredicateId(self.fact_predicates[fact.index()])
    }

    /// A fact's arguments.
    #[inline]
    pub fn arguments(&self, fact: FactId) -> &[ObjectId] {
        &self.fact_arguments
            [self.fact_starts[fact.index()] as usize..self.fact_starts[fact.index() + 1] as usize]
    }

    /// The arguments of the fact with this index (as [`Bits`] of facts give it).
    pub fn arguments_at(&self, index: usize) -> &[ObjectId] {
        self.arguments(FactId(index as u32))
    }

    /// How many action instances there are.
    pub fn op_count(&self) -> usize {
        self.op_actions.len()
    }

    /// All action instances.
    pub fn ops(&self) -> impl Iterator<Item = OpId> + use<> {
        (0..self.op_actions.len() as u32).map(OpId)
    }

    /// An instance's schema.
    #[inline]
    pub fn action_of(&self, op: OpId) -> ActionId {
        ActionId(self.op_actions[op.index()])
    }

    /// What an instance's parameters are bound to.
    #[inline]
    pub fn bound_objects(&self, op: OpId) -> &[ObjectId] {
        &self.op_arguments[self.op_starts[op.index()] as usize..self.op_starts[op.index() + 1] as usize]
    }

    /// An instance's effects: first what it adds, then what it deletes, each in the order written.
    #[inline]
    pub fn effects(&self, op: OpId) -> &[OpEffect] {
        &self.effects[self.effect_starts[op.index()] as usize..self.effect_starts[op.index() + 1] as usize]
    }
}
