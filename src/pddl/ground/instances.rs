//! Grounds the preconditions and effects of action instances. Instances that could never change anything are omitted,
//! as in Fast Downward.
//!
//! The tuple `in_schema` is the number of the schema being grounded and its scope.

use super::conditions::Grounder;
use crate::pddl::condition::{Argument, Slot};
use crate::pddl::error::{PddlError, too_large};
use crate::pddl::gates::{Input, InputRows};
use crate::pddl::ids::{FactId, ObjectId};
use crate::pddl::join::{JoinPlan, UNBOUND, resolve_all};
use crate::pddl::limits;
use crate::pddl::reachability::InstanceRows;
use crate::pddl::schema::{Schema, SchemaEffect};
use crate::pddl::task::OpEffect;
use crate::pddl::types::TypeId;

/// All action instances. Facts are numbered in the order of discovery; the final indexes are assigned later.
pub(super) struct GroundedOps {
    pub(super) actions: Vec<u16>,
    pub(super) argument_starts: Vec<u32>,
    pub(super) arguments: Vec<ObjectId>,
    pub(super) inputs: InputRows,
    pub(super) effect_starts: Vec<u32>,
    pub(super) effects: Vec<OpEffect>,
    pub(super) conditions: Vec<Input>,
    pub(super) parameter_types: Vec<Vec<TypeId>>,
}

pub(super) fn ground_instances(
    schemas: &[Schema],
    found: &[InstanceRows],
    grounder: &mut Grounder<'_>,
) -> Result<GroundedOps, PddlError> {
    let mut ops = GroundedOps {
        actions: Vec::new(),
        argument_starts: vec![0],
        arguments: Vec::new(),
        inputs: InputRows::default(),
        effect_starts: vec![0],
        effects: Vec::new(),
        conditions: Vec::new(),
        parameter_types: schemas
            .iter()
            .map(|schema| {
                schema.parameters.iter().map(|&slot| schema.scope.variable_types[usize::from(slot)]).collect()
            })
            .collect(),
    };
    let mut inputs = Vec::new();
    let mut binding = Vec::new();
    for instances in found {
        let schema = &schemas[instances.action];
        let in_schema = (instances.action, &schema.scope);
        let clause = &schema.clauses[instances.clause];
        let mut bound = schema.parameters.clone();
        bound.extend_from_slice(&clause.bound_variables);
        let effects: Vec<EffectPlans<'_>> =
            schema.effects.iter().map(|effect| EffectPlans::new(effect, schema, &bound, grounder)).collect();
        for row in instances.rows.chunks_exact(instances.width) {
            binding.clear();
            binding.extend_from_slice(row);
            if !grounder.ground_clause(in_schema, clause, &mut binding, &mut inputs)? {
                continue;
            }
            let before = ops.effects.len();
            ops.add_effects(in_schema, &effects, &inputs, &mut binding, grounder)?;
            if ops.effects.len() == before {
                continue;
            }
            ops.inputs.push(&inputs)?;
            ops.effect_starts.push(ops.effects.len() as u32);
            ops.actions.push(instances.action as u16);
            ops.arguments.extend(schema.parameters.iter().map(|&slot| row[usize::from(slot)]));
            ops.argument_starts.push(ops.arguments.len() as u32);
        }
    }
    Ok(ops)
}

/// An effect of a schema with the join plans of its conditions.
struct EffectPlans<'s> {
    effect: &'s SchemaEffect,
    plans: Vec<JoinPlan>,
}

impl<'s> EffectPlans<'s> {
    fn new(effect: &'s SchemaEffect, schema: &Schema, bound: &[Slot], grounder: &Grounder<'_>) -> Self {
        let slots = schema.scope.variable_types.len();
        let plan = |clause| {
            let needed_slots: Vec<Slot> = Slot::try_from(slots).map_or(Vec::new(), |slots| {
                (0..slots).filter(|&slot| effect.pattern.arguments.contains(&Argument::Slot(slot))).collect()
            });
            JoinPlan::new(clause, slots, bound, &needed_slots, None, grounder.static_predicates())
        };
        let plans =
            if effect.is_unconditional() { Vec::new() } else { effect.conditions.iter().map(plan).collect() };
        Self { effect, plans }
    }
}

impl GroundedOps {
    /// Appends the effects of one instance, add effects first. Omits add effects whose fact is a precondition anyway.
    fn add_effects(
        &mut self,
        in_schema: (usize, &crate::pddl::condition::Scope),
        effects: &[EffectPlans<'_>],
        required: &[Input],
        binding: &mut [ObjectId],
        grounder: &mut Grounder<'_>,
    ) -> Result<(), PddlError> {
        let first = self.effects.len();
        // Omitted add effects are remembered, because they cancel delete effects of the same fact.
        let mut omitted_adds: Vec<(u32, (u32, u32))> = Vec::new();
        for is_add in [true, false] {
            for effect in effects.iter().filter(|effect| effect.effect.is_add == is_add) {
                self.add_effect(in_schema, effect, required, binding, grounder, first, &mut omitted_adds)?;
            }
        }
        if self.effects.len() > limits::INPUTS {
            return Err(too_large("effects of all instances", limits::INPUTS));
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the body of a nested loop")]
    fn add_effect(
        &mut self,
        in_schema: (usize, &crate::pddl::condition::Scope),
        effect: &EffectPlans<'_>,
        required: &[Input],
        binding: &mut [ObjectId],
        grounder: &mut Grounder<'_>,
        first: usize,
        omitted_adds: &mut Vec<(u32, (u32, u32))>,
    ) -> Result<(), PddlError> {
        let mut arguments = Vec::new();
        if effect.effect.is_unconditional() {
            resolve_all(&effect.effect.pattern.arguments, binding, &mut arguments);
            let no_condition = (self.conditions.len() as u32, self.conditions.len() as u32);
            if let Some(atom) = grounder.atoms.keys.find(effect.effect.pattern.predicate, &arguments) {
                let is_add = effect.effect.is_add;
                self.push_unless_redundant(atom, is_add, no_condition, required, first, omitted_adds);
            }
            return Ok(());
        }
        let (mut found, mut inputs) = (Vec::new(), Vec::new());
        for (clause, plan) in effect.effect.conditions.iter().zip(&effect.plans) {
            found.clear();
            let mut inner = binding.to_vec();
            for &slot in &clause.bound_variables {
                inner[usize::from(slot)] = UNBOUND;
            }
            grounder.find_bindings(in_schema.1, plan, &mut inner, &mut found)?;
            for row in found.chunks_exact_mut(in_schema.1.binding_len()) {
                if !grounder.ground_clause(in_schema, clause, row, &mut inputs)? {
                    continue;
                }
                if inputs.iter().any(|input| required.binary_search(&input.negated()).is_ok()) {
                    continue;
                }
                if self.effects.len() - first > limits::EFFECTS {
                    return Err(too_large("effects of one action instance", limits::EFFECTS));
                }
                // Inputs that the precondition already requires are redundant.
                inputs.retain(|input| required.binary_search(input).is_err());
                resolve_all(&effect.effect.pattern.arguments, row, &mut arguments);
                let start = self.conditions.len() as u32;
                if let Some(atom) = grounder.atoms.keys.find(effect.effect.pattern.predicate, &arguments) {
                    self.conditions.extend_from_slice(&inputs);
                    if self.conditions.len() > limits::INPUTS {
                        return Err(too_large("conditions of effects", limits::INPUTS));
                    }
                    let condition_range = (start, self.conditions.len() as u32);
                    let is_add = effect.effect.is_add;
                    self.push_unless_redundant(atom, is_add, condition_range, required, first, omitted_adds);
                }
            }
        }
        Ok(())
    }

    fn push_unless_redundant(
        &mut self,
        atom: u32,
        is_add: bool,
        condition_range: (u32, u32),
        required: &[Input],
        first: usize,
        omitted_adds: &mut Vec<(u32, (u32, u32))>,
    ) {
        let condition = |(from, to): (u32, u32)| &self.conditions[from as usize..to as usize];
        // A delete effect is redundant if an add effect of the same fact fires whenever it does: adds override deletes.
        let always_fires_too = |&(fact, other_range): &(u32, (u32, u32))| {
            fact == atom
                && condition(other_range).iter().all(|input| condition(condition_range).contains(input))
        };
        let cancels = |other: &OpEffect| other.is_add && always_fires_too(&(other.fact.0, other.conditions));
        let mut earlier = self.effects[first..].iter();
        if !is_add && (earlier.any(cancels) || omitted_adds.iter().any(always_fires_too)) {
            return;
        }
        let literal = if is_add { Input::fact(atom) } else { Input::fact(atom).negated() };
        if required.binary_search(&literal).is_ok() {
            if is_add {
                omitted_adds.push((atom, condition_range));
            }
            return;
        }
        self.effects.push(OpEffect { fact: FactId(atom), is_add, conditions: condition_range });
    }
}
