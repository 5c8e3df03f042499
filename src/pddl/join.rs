//! Finds the bindings of a clause by joining its literals one after another through an index.

use super::atoms::Atoms;
use super::condition::{Argument, Clause, Pattern, Slot};
use super::error::{PddlError, too_large};
use super::ids::ObjectId;
use super::limits;
use super::types::{TypeId, Types};

/// Marks a slot that isn't bound yet.
pub(super) const UNBOUND: ObjectId = ObjectId(u16::MAX);

/// One step of a join.
#[derive(Clone, Debug)]
enum JoinStep {
    /// All arguments are bound: the fact must have been entered.
    Check(Pattern),
    /// Scan the facts with the bound argument at this position (or all facts of the predicate) and bind the remaining
    /// arguments.
    Scan { pattern: Pattern, index_position: Option<usize> },
    /// Both sides are bound and must be equal, or must differ.
    Compare { left: Argument, right: Argument, same: bool },
    /// Bind a slot to the value of the other side.
    Assign { slot: Slot, from: Argument },
    /// Bind a slot to each object of its type in turn.
    ForEachObject { slot: Slot },
    /// The slot's value doesn't matter, but its type must have at least one object.
    RequireNonEmptyType { slot: Slot },
}

/// The order in which a clause is joined, given which slots are bound beforehand.
#[derive(Clone, Debug)]
pub(super) struct JoinPlan {
    steps: Vec<JoinStep>,
}

impl JoinPlan {
    /// Plans the join of `clause`. `bound` slots have values at the start, `wanted` slots must have values at the end,
    /// and the literal `skip` has already been matched.
    pub(super) fn new(
        clause: &Clause,
        slots: usize,
        bound: &[Slot],
        wanted: &[Slot],
        skip: Option<usize>,
        is_static: &[bool],
    ) -> Self {
        let mut known = vec![false; slots];
        for &slot in bound {
            known[usize::from(slot)] = true;
        }
        let mut literals: Vec<&Pattern> = Vec::new();
        for (at, pattern) in clause.positive.iter().enumerate() {
            if Some(at) == skip {
                let slots = pattern.arguments.iter().filter_map(|&argument| as_slot(argument));
                slots.for_each(|slot| known[usize::from(slot)] = true);
            } else {
                literals.push(pattern);
            }
        }
        let mut pairs: Vec<(Argument, Argument, bool)> =
            clause.equal.iter().map(|&(l, r)| (l, r, true)).collect();
        pairs.extend(clause.unequal.iter().map(|&(l, r)| (l, r, false)));
        let mut steps = Vec::new();
        loop {
            push_determined_steps(&mut steps, &mut pairs, &mut literals, &mut known);
            let best = literals.iter().enumerate().max_by_key(|(at, pattern)| {
                let bound = pattern.arguments.iter().filter(|argument| is_known(**argument, &known)).count();
                (bound > 0, is_static[usize::from(pattern.predicate)], bound, std::cmp::Reverse(*at))
            });
            if let Some((at, _)) = best {
                let pattern = literals.remove(at).clone();
                let index_position =
                    pattern.arguments.iter().position(|&argument| is_known(argument, &known));
                pattern
                    .arguments
                    .iter()
                    .filter_map(|&argument| as_slot(argument))
                    .for_each(|slot| known[usize::from(slot)] = true);
                steps.push(JoinStep::Scan { pattern, index_position });
                continue;
            }
            let unbound_slot =
                clause.bound_variables.iter().chain(wanted).find(|&&slot| !known[usize::from(slot)]);
            let Some(&slot) = unbound_slot else { break };
            known[usize::from(slot)] = true;
            let is_used = wanted.contains(&slot)
                || pairs.iter().any(|&(l, r, _)| l == Argument::Slot(slot) || r == Argument::Slot(slot))
                || clause.negative.iter().any(|pattern| pattern.arguments.contains(&Argument::Slot(slot)))
                || !clause.negated_disjunctions.is_empty();
            steps.push(if is_used {
                JoinStep::ForEachObject { slot }
            } else {
                JoinStep::RequireNonEmptyType { slot }
            });
        }
        Self { steps }
    }
}

/// Appends the steps that involve no choice: checks, comparisons and assignments whose sides are bound.
fn push_determined_steps(
    steps: &mut Vec<JoinStep>,
    pairs: &mut Vec<(Argument, Argument, bool)>,
    literals: &mut Vec<&Pattern>,
    known: &mut [bool],
) {
    loop {
        let before = steps.len();
        pairs.retain(|&(left, right, same)| {
            let (l, r) = (is_known(left, known), is_known(right, known));
            match (l, r, left, right) {
                (true, true, _, _) => steps.push(JoinStep::Compare { left, right, same }),
                (true, false, from, Argument::Slot(slot)) | (false, true, Argument::Slot(slot), from)
                    if same =>
                {
                    known[usize::from(slot)] = true;
                    steps.push(JoinStep::Assign { slot, from });
                }
                _ => return true,
            }
            false
        });
        literals.retain(|pattern| {
            let is_determined = pattern.arguments.iter().all(|&argument| is_known(argument, known));
            if is_determined {
                steps.push(JoinStep::Check((*pattern).clone()));
            }
            !is_determined
        });
        if steps.len() == before {
            return;
        }
    }
}

fn as_slot(argument: Argument) -> Option<Slot> {
    match argument {
        Argument::Slot(slot) => Some(slot),
        Argument::Object(_) => None,
    }
}

fn is_known(argument: Argument, known: &[bool]) -> bool {
    as_slot(argument).is_none_or(|slot| known[usize::from(slot)])
}

/// Returns the object an argument refers to under a binding.
#[inline]
pub(super) fn resolve(argument: Argument, binding: &[ObjectId]) -> ObjectId {
    match argument {
        Argument::Slot(slot) => binding[usize::from(slot)],
        Argument::Object(object) => object,
    }
}

/// The data a join reads, and a counter of the work done.
pub(super) struct Joiner<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) types: &'a Types,
    pub(super) variable_types: &'a [TypeId],
    /// Number of join steps run and facts examined, over all joins of one grounding.
    pub(super) work: &'a mut u64,
}

impl Joiner<'_> {
    /// Matches a fact against a pattern: binds the pattern's free slots and lists them in `undo`. Returns whether the
    /// fact matches.
    #[inline]
    pub(super) fn match_atom(
        &self,
        pattern: &Pattern,
        atom: u32,
        binding: &mut [ObjectId],
        undo: &mut Vec<Slot>,
    ) -> bool {
        for (&argument, &object) in pattern.arguments.iter().zip(self.atoms.arguments(atom)) {
            match argument {
                Argument::Object(wanted) if wanted == object => {}
                Argument::Object(_) => return false,
                Argument::Slot(slot) => {
                    let filled = binding[usize::from(slot)];
                    if filled == UNBOUND {
                        if !self.types.is_a(object, self.variable_types[usize::from(slot)]) {
                            return false;
                        }
                        binding[usize::from(slot)] = object;
                        undo.push(slot);
                    } else if filled != object {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Appends each complete binding to `found`.
    pub(super) fn run(
        &mut self,
        plan: &JoinPlan,
        binding: &mut [ObjectId],
        found: &mut Vec<ObjectId>,
    ) -> Result<(), PddlError> {
        self.run_steps(&plan.steps, binding, found)
    }

    /// Runs the remaining steps. Recurses only at steps that bind slots, so the depth is bounded by the number of
    /// slots.
    fn run_steps(
        &mut self,
        mut steps: &[JoinStep],
        binding: &mut [ObjectId],
        found: &mut Vec<ObjectId>,
    ) -> Result<(), PddlError> {
        let mut assigned = Vec::new();
        let done = loop {
            let Some((first, rest)) = steps.split_first() else {
                found.extend_from_slice(binding);
                if found.len() > limits::INSTANCES * 16 {
                    return Err(too_large("bindings of one condition", limits::INSTANCES));
                }
                break Ok(());
            };
            *self.work += 1;
            if *self.work > limits::JOIN_WORK {
                return Err(too_large("facts to examine", limits::JOIN_WORK as usize));
            }
            match first {
                JoinStep::Check(pattern) => {
                    let mut arguments = [UNBOUND; limits::ARITY];
                    for (position, &argument) in pattern.arguments.iter().enumerate() {
                        arguments[position] = resolve(argument, binding);
                    }
                    if !self.atoms.is_entered(pattern.predicate, &arguments[..pattern.arguments.len()]) {
                        break Ok(());
                    }
                }
                JoinStep::Compare { left, right, same } => {
                    if (resolve(*left, binding) == resolve(*right, binding)) != *same {
                        break Ok(());
                    }
                }
                JoinStep::Assign { slot, from } => {
                    let object = resolve(*from, binding);
                    if !self.types.is_a(object, self.variable_types[usize::from(*slot)]) {
                        break Ok(());
                    }
                    binding[usize::from(*slot)] = object;
                    assigned.push(*slot);
                }
                JoinStep::RequireNonEmptyType { slot } => {
                    let Some(any) = self.types.members(self.variable_types[usize::from(*slot)]).next() else {
                        break Ok(());
                    };
                    binding[usize::from(*slot)] = any;
                    assigned.push(*slot);
                }
                JoinStep::ForEachObject { slot } => {
                    let types = self.types;
                    let mut result = Ok(());
                    for object in types.members(self.variable_types[usize::from(*slot)]) {
                        binding[usize::from(*slot)] = object;
                        result = self.run_steps(rest, binding, found);
                        if result.is_err() {
                            break;
                        }
                    }
                    binding[usize::from(*slot)] = UNBOUND;
                    break result;
                }
                JoinStep::Scan { pattern, index_position } => {
                    break self.run_scan(pattern, *index_position, rest, binding, found);
                }
            }
            steps = rest;
        };
        for slot in assigned {
            binding[usize::from(slot)] = UNBOUND;
        }
        done
    }

    fn run_scan(
        &mut self,
        pattern: &Pattern,
        index_position: Option<usize>,
        rest: &[JoinStep],
        binding: &mut [ObjectId],
        found: &mut Vec<ObjectId>,
    ) -> Result<(), PddlError> {
        let atoms = self.atoms;
        let chain = match index_position {
            Some(position) => {
                atoms.entered_with(pattern.predicate, position, resolve(pattern.arguments[position], binding))
            }
            None => atoms.entered_of(pattern.predicate),
        };
        let mut undo = Vec::new();
        for atom in chain {
            *self.work += 1;
            let matches = self.match_atom(pattern, atom, binding, &mut undo);
            let result = if matches { self.run_steps(rest, binding, found) } else { Ok(()) };
            for slot in undo.drain(..) {
                binding[usize::from(slot)] = UNBOUND;
            }
            result?;
        }
        Ok(())
    }
}

/// Resolves the arguments of a pattern under a binding.
pub(super) fn resolve_all(arguments: &[Argument], binding: &[ObjectId], out: &mut Vec<ObjectId>) {
    out.clear();
    out.extend(arguments.iter().map(|&argument| resolve(argument, binding)));
}
