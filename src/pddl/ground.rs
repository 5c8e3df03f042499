//! Grounding: from a model to a task.

mod conditions;
mod instances;

use super::atoms::{AtomKeys, Atoms};
use super::bits::Bits;
use super::error::{PddlError, too_large};
use super::gates::{Condition, InputRows, Source, Watchers};
use super::hash::FastMap;
use super::ids::ObjectId;
use super::limits;
use super::model::{Formula, Model, Term};
use super::names::Name;
use super::reachability;
use super::schema::Schema;
use super::state::State;
use super::task::Task;
use super::types::Types;
use conditions::Grounder;
use std::sync::Arc;

impl Task {
    /// Grounds a model: finds the reachable facts and the action instances (without those that could never change
    /// anything), and builds the gates.
    ///
    /// # Errors
    /// [`PddlError::TooLarge`] if a limit is exceeded.
    pub fn ground(model: &Model) -> Result<Self, PddlError> {
        ground_model(model, &[])
    }

    /// Grounds a model and adds a condition for each of [`Model::goal_conjuncts`], so that a state can report which of
    /// them hold ([`State::holds_part`]).
    ///
    /// # Errors
    /// The same as [`Task::ground`].
    pub fn ground_with_parts(model: &Model) -> Result<Self, PddlError> {
        ground_model(model, &model.goal_conjuncts())
    }
}

/// Grounds a model. `parts` are the parts of the goal that get conditions of their own.
fn ground_model(model: &Model, parts: &[&Formula]) -> Result<Task, PddlError> {
    let (objects, numbers) = number_objects(model)?;
    let mut types = Types::from_model(model, &numbers)?;
    let mut schemas = Vec::with_capacity(model.actions.len());
    for action in &model.actions {
        schemas.push(Schema::from_action(model, action, &numbers, &mut types)?);
    }
    let goal = Schema::from_goal(model, &model.goal, &numbers, &mut types)?;
    let parts: Vec<Schema> = parts
        .iter()
        .map(|part| Schema::from_goal(model, part, &numbers, &mut types))
        .collect::<Result<_, _>>()?;
    let mut is_static = vec![true; model.predicates.len()];
    for effect in model.actions.iter().flat_map(|action| &action.effects) {
        is_static[effect.predicate] = false;
    }
    let init: Vec<(u16, Vec<ObjectId>)> = model
        .init
        .iter()
        .map(|fact| (fact.predicate as u16, fact.objects.iter().map(|name| numbers[name]).collect()))
        .collect();
    let arities: Vec<usize> = model.predicates.iter().map(|predicate| predicate.arity).collect();
    let mut atoms = Atoms::new(&arities, objects.len());
    let mut work = 0;
    let found = reachability::find_instances(&schemas, &types, &is_static, &mut atoms, &init, &mut work)?;

    let mut grounder = Grounder::new(&atoms, &types, &is_static, &mut work);
    let ops = instances::ground_instances(&schemas, &found, &mut grounder)?;
    let goal = grounder.ground_goal(schemas.len(), &goal)?;
    let mut goal_parts = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        goal_parts.push(grounder.ground_goal(schemas.len() + 1 + at, part)?);
    }
    let sub_gates = grounder.into_gates();
    drop(found);
    let goals = Goals { goal, parts: goal_parts };
    Ok(assemble(model, objects, types, &is_static, atoms, &init, ops, sub_gates, goals))
}

/// The goal, and the parts of it that can be queried individually.
struct Goals {
    goal: Condition,
    parts: Vec<Condition>,
}

/// Object names by index, and indexes by name.
type NumberedObjects = (Vec<Arc<str>>, FastMap<Name, ObjectId>);

/// Numbers objects and constants in the order of their names.
fn number_objects(model: &Model) -> Result<NumberedObjects, PddlError> {
    let mut names: Vec<Name> = model.objects.iter().map(|object| object.name).collect();
    let mut constant = |term: &Term| {
        if let Term::Constant(name) = term {
            names.push(*name);
        }
    };
    for action in &model.actions {
        visit_terms(&action.precondition, &mut constant);
        for effect in &action.effects {
            effect.terms.iter().for_each(&mut constant);
            effect.conditions.iter().for_each(|when| visit_terms(when, &mut constant));
        }
    }
    visit_terms(&model.goal, &mut constant);
    names.sort_unstable_by(|left, right| model.names.text(*left).cmp(model.names.text(*right)));
    names.dedup();
    if names.len() > limits::OBJECTS {
        return Err(too_large("objects", limits::OBJECTS));
    }
    let numbers = names.iter().enumerate().map(|(at, &name)| (name, ObjectId(at as u16))).collect();
    Ok((names.iter().map(|&name| model.names.shared_word(name)).collect(), numbers))
}

fn visit_terms(formula: &Formula, each: &mut impl FnMut(&Term)) {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| visit_terms(part, each)),
        Formula::Not(inner) | Formula::Exists(_, inner) | Formula::Forall(_, inner) => {
            visit_terms(inner, each);
        }
        Formula::Imply(left, right) => {
            visit_terms(left, each);
            visit_terms(right, each);
        }
        Formula::Atom(_, terms) => terms.iter().for_each(each),
        Formula::Equal(left, right) => {
            each(left);
            each(right);
        }
    }
}

/// Sorts the facts, assigns all final indexes and connects the gates.
#[expect(clippy::too_many_arguments, reason = "combines all parts of the task")]
fn assemble(
    model: &Model,
    objects: Vec<Arc<str>>,
    types: Types,
    is_static: &[bool],
    atoms: Atoms,
    init: &[(u16, Vec<ObjectId>)],
    mut ops: instances::GroundedOps,
    mut sub_gates: InputRows,
    goals: Goals,
) -> Task {
    let mut order: Vec<u32> = (0..atoms.len() as u32).collect();
    order.sort_unstable_by_key(|&atom| {
        let arguments = atoms.arguments(atom);
        let argument_key = |at: usize| arguments.get(at).map_or(0, |object| u64::from(object.0) + 1);
        (
            u64::from(atoms.predicate(atom)) << 48
                | argument_key(0) << 32
                | argument_key(1) << 16
                | argument_key(2),
            arguments.get(3..),
        )
    });
    let mut new_indexes = vec![0; order.len()];
    let mut fact_starts = Vec::with_capacity(order.len() + 1);
    let mut fact_arguments = Vec::new();
    let mut fact_predicates = Vec::with_capacity(order.len());
    let mut first_fact_of = vec![0_u32; model.predicates.len() + 1];
    fact_starts.push(0);
    for (at, &atom) in order.iter().enumerate() {
        new_indexes[atom as usize] = at as u32;
        fact_predicates.push(atoms.predicate(atom));
        fact_arguments.extend_from_slice(atoms.arguments(atom));
        fact_starts.push(fact_arguments.len() as u32);
        first_fact_of[usize::from(atoms.predicate(atom)) + 1] += 1;
    }
    for at in 0..model.predicates.len() {
        first_fact_of[at + 1] += first_fact_of[at];
    }
    let mut keys: AtomKeys = atoms.keys;
    keys.renumber(&new_indexes);

    let first_sub = ops.inputs.len();
    ops.inputs.renumber(&new_indexes, first_sub as u32);
    sub_gates.renumber(&new_indexes, first_sub as u32);
    for input in &mut ops.conditions {
        *input = input.renumbered(&new_indexes, first_sub as u32);
    }
    for effect in &mut ops.effects {
        effect.fact.0 = new_indexes[effect.fact.index()];
    }
    let renumbered = |condition| match condition {
        Condition::Input(input) => Condition::Input(input.renumbered(&new_indexes, first_sub as u32)),
        constant @ Condition::Constant(_) => constant,
    };
    let goal = renumbered(goals.goal);
    let goal_parts = goals.parts.into_iter().map(renumbered).collect();
    let gates = ops.inputs.iter().chain(sub_gates.iter());
    let fact_watchers = Watchers::from_gates(order.len(), gates, |source| match source {
        Source::Fact(fact) => Some(fact),
        Source::Gate(_) => None,
    });
    let gates = ops.inputs.iter().chain(sub_gates.iter());
    let gate_watchers = Watchers::from_gates(sub_gates.len(), gates, |source| match source {
        Source::Fact(_) => None,
        Source::Gate(gate) => Some(gate - first_sub as u32),
    });
    let mut facts = Bits::new(order.len());
    for (predicate, arguments) in init {
        if let Some(fact) = keys.find(*predicate, arguments) {
            facts.set(fact as usize, true);
        }
    }
    let start = State::new(facts, first_sub + sub_gates.len(), first_sub, |gate| {
        if gate < first_sub { ops.inputs.row(gate) } else { sub_gates.row(gate - first_sub) }
    });
    let (initial_facts, initial_unmet) = start.into_parts();
    let word = |name: Name| model.names.shared_word(name);
    let parameters = model.actions.iter().zip(&ops.parameter_types).map(|(action, kinds)| {
        action.parameters.iter().zip(kinds).map(|(variable, &kind)| (word(variable.name), kind)).collect()
    });
    Task {
        objects,
        predicates: model
            .predicates
            .iter()
            .map(|predicate| (word(predicate.name), predicate.arity))
            .collect(),
        is_changing: is_static.iter().map(|fixed| !fixed).collect(),
        actions: model.actions.iter().map(|action| (word(action.name), action.parameters.len())).collect(),
        parameters: parameters.collect(),
        types,
        fact_predicates,
        fact_starts,
        fact_arguments,
        first_fact_of,
        keys,
        op_actions: ops.actions,
        op_starts: ops.argument_starts,
        op_arguments: ops.arguments,
        effect_starts: ops.effect_starts,
        effects: ops.effects,
        conditions: ops.conditions,
        fact_watchers,
        gate_watchers,
        goal,
        goal_parts,
        initial_facts,
        initial_unmet,
    }
}
