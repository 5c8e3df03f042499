//! Turns clauses under a binding into inputs of AND gates. Negated disjunctions become gates of their own, shared
//! between equal bindings.

use crate::pddl::atoms::Atoms;
use crate::pddl::condition::{Clause, Scope};
use crate::pddl::error::PddlError;
use crate::pddl::gates::{Condition, Input, InputRows};
use crate::pddl::hash::FastMap;
use crate::pddl::ids::ObjectId;
use crate::pddl::join::{JoinPlan, Joiner, UNBOUND, resolve_all};
use crate::pddl::schema::Schema;
use crate::pddl::types::Types;

/// Grounds conditions over a complete set of atoms.
pub(super) struct Grounder<'a> {
    pub(super) atoms: &'a Atoms,
    types: &'a Types,
    is_static: &'a [bool],
    /// Passed on to [`Joiner::work`].
    work: &'a mut u64,
    gates: InputRows,
    /// Keyed by schema, index of the negated disjunction, and the objects bound to its free variables.
    cached_conditions: FastMap<(usize, usize, Vec<ObjectId>), Condition>,
    cached_plans: FastMap<(usize, usize), Vec<JoinPlan>>,
}

impl<'a> Grounder<'a> {
    pub(super) fn new(atoms: &'a Atoms, types: &'a Types, is_static: &'a [bool], work: &'a mut u64) -> Self {
        let (gates, known, plans) = (InputRows::default(), FastMap::default(), FastMap::default());
        Self { atoms, types, is_static, work, gates, cached_conditions: known, cached_plans: plans }
    }

    pub(super) fn into_gates(self) -> InputRows {
        self.gates
    }

    pub(super) fn is_static(&self, predicate: u16) -> bool {
        self.is_static[usize::from(predicate)]
    }

    pub(super) fn static_predicates(&self) -> &'a [bool] {
        self.is_static
    }

    /// Appends the bindings of a clause to `found`.
    pub(super) fn find_bindings(
        &mut self,
        scope: &Scope,
        plan: &JoinPlan,
        binding: &mut [ObjectId],
        found: &mut Vec<ObjectId>,
    ) -> Result<(), PddlError> {
        Joiner {
            atoms: self.atoms,
            types: self.types,
            variable_types: &scope.variable_types,
            work: self.work,
        }
        .run(plan, binding, found)
    }

    /// Writes the non-static literals of a clause to `out`, sorted. The binding must be complete. Returns false if the
    /// clause can never hold, for example because a positive fact is unreachable.
    pub(super) fn ground_clause(
        &mut self,
        in_schema: (usize, &Scope),
        clause: &Clause,
        binding: &mut [ObjectId],
        out: &mut Vec<Input>,
    ) -> Result<bool, PddlError> {
        out.clear();
        let mut arguments = Vec::new();
        for pattern in clause.positive.iter().filter(|pattern| !self.is_static(pattern.predicate)) {
            resolve_all(&pattern.arguments, binding, &mut arguments);
            match self.atoms.keys.find(pattern.predicate, &arguments) {
                Some(atom) => out.push(Input::fact(atom)),
                None => return Ok(false),
            }
        }
        for pattern in &clause.negative {
            resolve_all(&pattern.arguments, binding, &mut arguments);
            // The negation of a fact that can never become true always holds and needs no input. A static fact is
            // always true, so its negation never holds.
            if let Some(atom) = self.atoms.keys.find(pattern.predicate, &arguments) {
                if self.is_static(pattern.predicate) {
                    return Ok(false);
                }
                out.push(Input::fact(atom).negated());
            }
        }
        for &index in &clause.negated_disjunctions {
            match self.ground_negated_disjunction(in_schema, index, binding)? {
                Condition::Constant(true) => {}
                Condition::Constant(false) => return Ok(false),
                Condition::Input(input) => out.push(input),
            }
        }
        out.sort_unstable();
        out.dedup();
        Ok(!out.windows(2).any(|pair| pair[0].negated() == pair[1]))
    }

    fn ground_negated_disjunction(
        &mut self,
        (schema, scope): (usize, &Scope),
        index: usize,
        binding: &mut [ObjectId],
    ) -> Result<Condition, PddlError> {
        let disjunction = &scope.disjunctions[index];
        let bound: Vec<ObjectId> =
            disjunction.free_variables.iter().map(|&slot| binding[usize::from(slot)]).collect();
        let key = (schema, index, bound);
        if let Some(&known) = self.cached_conditions.get(&key) {
            return Ok(known);
        }
        let plans = self.cached_plans.entry((schema, index)).or_insert_with(|| {
            let plan = |clause: &Clause| {
                JoinPlan::new(
                    clause,
                    scope.variable_types.len(),
                    &disjunction.free_variables,
                    &[],
                    None,
                    self.is_static,
                )
            };
            disjunction.clauses.iter().map(plan).collect()
        });
        let plans = plans.clone();
        // Only variables that the disjunction mentions may be bound: others could clash with its own variables.
        let mut inner = vec![UNBOUND; scope.binding_len()];
        for &slot in &disjunction.free_variables {
            inner[usize::from(slot)] = binding[usize::from(slot)];
        }
        let condition =
            self.ground_no_clause_holds((schema, scope), &disjunction.clauses, &plans, &mut inner)?;
        self.cached_conditions.insert(key, condition);
        Ok(condition)
    }

    /// Returns the condition that no clause holds for any binding of the clause's own variables.
    fn ground_no_clause_holds(
        &mut self,
        in_schema: (usize, &Scope),
        clauses: &[Clause],
        cached_plans: &[JoinPlan],
        binding: &mut [ObjectId],
    ) -> Result<Condition, PddlError> {
        let mut parts = Vec::new();
        let mut inputs = Vec::new();
        let mut found = Vec::new();
        for (clause, plan) in clauses.iter().zip(cached_plans) {
            found.clear();
            self.find_bindings(in_schema.1, plan, binding, &mut found)?;
            for row in found.chunks_exact_mut(in_schema.1.binding_len()) {
                if !self.ground_clause(in_schema, clause, row, &mut inputs)? {
                    continue;
                }
                match inputs.as_slice() {
                    [] => return Ok(Condition::Constant(false)),
                    [only] => parts.push(only.negated()),
                    several => parts.push(Input::gate(self.gates.push(several)?).negated()),
                }
            }
        }
        parts.sort_unstable();
        parts.dedup();
        Ok(match parts.as_slice() {
            [] => Condition::Constant(true),
            [only] => Condition::Input(*only),
            several => Condition::Input(Input::gate(self.gates.push(several)?)),
        })
    }

    /// Grounds the goal: some clause holds, expressed as the negation of "no clause holds".
    pub(super) fn ground_goal(&mut self, schema: usize, goal: &Schema) -> Result<Condition, PddlError> {
        let slots = goal.scope.variable_types.len();
        let plans: Vec<JoinPlan> = goal
            .clauses
            .iter()
            .map(|clause| JoinPlan::new(clause, slots, &[], &[], None, self.is_static))
            .collect();
        let mut binding = vec![UNBOUND; goal.scope.binding_len()];
        let none = self.ground_no_clause_holds((schema, &goal.scope), &goal.clauses, &plans, &mut binding)?;
        Ok(match none {
            Condition::Constant(value) => Condition::Constant(!value),
            Condition::Input(input) => Condition::Input(input.negated()),
        })
    }
}
