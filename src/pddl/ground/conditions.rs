//! Clauses under a binding become inputs; negated alternatives become gates of their own, shared where the binding agrees.

use crate::pddl::atoms::Atoms;
use crate::pddl::condition::{Clause, Scope};
use crate::pddl::error::PddlError;
use crate::pddl::gates::{Condition, Input, Rows};
use crate::pddl::hash::FastMap;
use crate::pddl::ids::ObjectId;
use crate::pddl::join::{FREE, Join, Plan, fill};
use crate::pddl::schema::Schema;
use crate::pddl::types::Types;

/// Grounds conditions over a finished set of atoms.
pub(super) struct Grounder<'a> {
    pub(super) atoms: &'a Atoms,
    types: &'a Types,
    is_static: &'a [bool],
    work: &'a mut u64,
    gates: Rows,
    /// By schema, nested alternative and what its free variables are bound to.
    known: FastMap<(usize, usize, Vec<ObjectId>), Condition>,
    plans: FastMap<(usize, usize), Vec<Plan>>,
}

impl<'a> Grounder<'a> {
    pub(super) fn new(atoms: &'a Atoms, types: &'a Types, is_static: &'a [bool], work: &'a mut u64) -> Self {
        let (gates, known, plans) = (Rows::default(), FastMap::default(), FastMap::default());
        Self { atoms, types, is_static, work, gates, known, plans }
    }

    pub(super) fn into_gates(self) -> Rows {
        self.gates
    }

    pub(super) fn is_static(&self, predicate: u16) -> bool {
        self.is_static[usize::from(predicate)]
    }

    pub(super) fn statics(&self) -> &'a [bool] {
        self.is_static
    }

    /// The bindings of a clause, appended to `found`.
    pub(super) fn join(
        &mut self,
        scope: &Scope,
        plan: &Plan,
        binding: &mut [ObjectId],
        found: &mut Vec<ObjectId>,
    ) -> Result<(), PddlError> {
        Join { atoms: self.atoms, types: self.types, kinds: &scope.kinds, work: self.work }
            .run(plan, binding, found)
    }

    /// The changing part of a clause under a complete binding whose positive facts can all be true, sorted, in `out`.
    /// False when the clause can never hold.
    pub(super) fn clause(
        &mut self,
        at: (usize, &Scope),
        clause: &Clause,
        binding: &mut [ObjectId],
        out: &mut Vec<Input>,
    ) -> Result<bool, PddlError> {
        out.clear();
        let mut arguments = Vec::new();
        for pattern in clause.holds.iter().filter(|pattern| !self.is_static(pattern.predicate)) {
            fill(&pattern.arguments, binding, &mut arguments);
            match self.atoms.keys.find(pattern.predicate, &arguments) {
                Some(atom) => out.push(Input::fact(atom)),
                None => return Ok(false),
            }
        }
        for pattern in &clause.fails {
            fill(&pattern.arguments, binding, &mut arguments);
            // What can never become true fails for good.
            if let Some(atom) = self.atoms.keys.find(pattern.predicate, &arguments) {
                if self.is_static(pattern.predicate) {
                    return Ok(false);
                }
                out.push(Input::fact(atom).not());
            }
        }
        for &nested in &clause.none_of {
            match self.none_of(at, nested, binding)? {
                Condition::Constant(true) => {}
                Condition::Constant(false) => return Ok(false),
                Condition::Input(input) => out.push(input),
            }
        }
        out.sort_unstable();
        out.dedup();
        Ok(!out.windows(2).any(|pair| pair[0].not() == pair[1]))
    }

    fn none_of(
        &mut self,
        (schema, scope): (usize, &Scope),
        nested: usize,
        binding: &mut [ObjectId],
    ) -> Result<Condition, PddlError> {
        let of = &scope.nested[nested];
        let bound: Vec<ObjectId> = of.free.iter().map(|&slot| binding[usize::from(slot)]).collect();
        let key = (schema, nested, bound);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let plans = self.plans.entry((schema, nested)).or_insert_with(|| {
            let plan =
                |clause: &Clause| Plan::new(clause, scope.kinds.len(), &of.free, &[], None, self.is_static);
            of.clauses.iter().map(plan).collect()
        });
        let plans = plans.clone();
        // Only what the alternatives speak of may be bound, or their own variables would clash with what is left over.
        let mut inner = vec![FREE; scope.width()];
        for &slot in &of.free {
            inner[usize::from(slot)] = binding[usize::from(slot)];
        }
        let condition = self.fails((schema, scope), &of.clauses, &plans, &mut inner)?;
        self.known.insert(key, condition);
        Ok(condition)
    }

    /// The condition that none of the clauses holds for any binding of their own variables.
    fn fails(
        &mut self,
        at: (usize, &Scope),
        clauses: &[Clause],
        plans: &[Plan],
        binding: &mut [ObjectId],
    ) -> Result<Condition, PddlError> {
        let mut parts = Vec::new();
        let mut inputs = Vec::new();
        let mut found = Vec::new();
        for (clause, plan) in clauses.iter().zip(plans) {
            found.clear();
            self.join(at.1, plan, binding, &mut found)?;
            for row in found.chunks_exact_mut(at.1.width()) {
                if !self.clause(at, clause, row, &mut inputs)? {
                    continue;
                }
                match inputs.as_slice() {
                    [] => return Ok(Condition::Constant(false)),
                    [only] => parts.push(only.not()),
                    several => parts.push(Input::gate(self.gates.push(several)?).not()),
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

    /// The goal: some clause holds, which is to say that not none of them does.
    pub(super) fn goal(&mut self, schema: usize, goal: &Schema) -> Result<Condition, PddlError> {
        let slots = goal.scope.kinds.len();
        let plans: Vec<Plan> = goal
            .clauses
            .iter()
            .map(|clause| Plan::new(clause, slots, &[], &[], None, self.is_static))
            .collect();
        let mut binding = vec![FREE; goal.scope.width()];
        let none = self.fails((schema, &goal.scope), &goal.clauses, &plans, &mut binding)?;
        Ok(match none {
            Condition::Constant(value) => Condition::Constant(!value),
            Condition::Input(input) => Condition::Input(input.not()),
        })
    }
}
