//! Finds the facts that can become true and the action instances that can apply under delete relaxation.
//!
//! Semi-naive evaluation: facts are entered one at a time, and each new fact is joined only with what it completes.

use super::atoms::Atoms;
use super::condition::{Clause, Slot};
use super::error::{PddlError, too_large};
use super::hash::FastSet;
use super::ids::ObjectId;
use super::join::{JoinPlan, Joiner, UNBOUND, resolve};
use super::limits;
use super::schema::Schema;
use super::types::Types;

/// The instances of one disjunct of one action: rows of bindings, one object per slot.
pub(super) struct InstanceRows {
    pub(super) action: usize,
    pub(super) clause: usize,
    pub(super) width: usize,
    pub(super) rows: Vec<ObjectId>,
    pub(super) count: usize,
}

/// The conclusion of a rule.
enum RuleHead {
    Instance(usize),
    /// A fact that a conditional effect may add.
    Effect(usize),
}

/// A clause whose bindings are needed, with one join plan for each literal that may complete it.
struct Rule {
    action: usize,
    head: RuleHead,
    body: Clause,
    /// Whether two literals can match the same fact, so that a binding may be found twice.
    may_find_duplicates: bool,
    seen: FastSet<Box<[ObjectId]>>,
}

/// Completes a rule starting from one literal.
struct Trigger {
    rule: usize,
    literal: usize,
    plan: JoinPlan,
}

/// Runs to the fixpoint and returns the instances found.
pub(super) fn find_instances(
    schemas: &[Schema],
    types: &Types,
    is_static: &[bool],
    atoms: &mut Atoms,
    init: &[(u16, Vec<ObjectId>)],
    work: &mut u64,
) -> Result<Vec<InstanceRows>, PddlError> {
    let mut explorer =
        Explorer { schemas, types, is_static, instances: Vec::new(), rules: Vec::new(), count: 0 };
    explorer.build_rules();
    for (predicate, arguments) in init.iter().filter(|(predicate, _)| is_static[usize::from(*predicate)]) {
        atoms.add_known(*predicate, arguments)?;
    }
    while atoms.enter_next()?.is_some() {}
    for (predicate, arguments) in init.iter().filter(|(predicate, _)| !is_static[usize::from(*predicate)]) {
        atoms.add_known(*predicate, arguments)?;
    }
    let planned: usize = explorer.rules.iter().map(|rule| rule.body.positive.len() * rule.body.size()).sum();
    if planned > limits::JOIN_PLAN_LITERALS {
        return Err(too_large("literals to plan joins for", limits::JOIN_PLAN_LITERALS));
    }
    let mut triggers: Vec<Vec<Trigger>> = is_static.iter().map(|_| Vec::new()).collect();
    let mut at_once = Vec::new();
    for at in 0..explorer.rules.len() {
        explorer.plan_joins(at, &mut triggers, &mut at_once);
    }
    let mut found = Vec::new();
    for (rule, plan) in at_once {
        let width = explorer.binding_width(rule);
        let mut binding = vec![UNBOUND; width];
        explorer.new_joiner(atoms, work, rule).run(&plan, &mut binding, &mut found)?;
        explorer.record_bindings(rule, &mut found, atoms)?;
    }
    let mut binding = Vec::new();
    let mut undo = Vec::new();
    while let Some(atom) = atoms.enter_next()? {
        for trigger in &triggers[usize::from(atoms.predicate(atom))] {
            binding.clear();
            binding.resize(explorer.binding_width(trigger.rule), UNBOUND);
            undo.clear();
            let pattern = &explorer.rules[trigger.rule].body.positive[trigger.literal];
            let mut join = explorer.new_joiner(atoms, work, trigger.rule);
            if join.match_atom(pattern, atom, &mut binding, &mut undo) {
                join.run(&trigger.plan, &mut binding, &mut found)?;
                explorer.record_bindings(trigger.rule, &mut found, atoms)?;
            }
        }
    }
    Ok(explorer.instances)
}

struct Explorer<'a> {
    schemas: &'a [Schema],
    types: &'a Types,
    is_static: &'a [bool],
    instances: Vec<InstanceRows>,
    rules: Vec<Rule>,
    count: usize,
}

impl Explorer<'_> {
    fn build_rules(&mut self) {
        for (action, schema) in self.schemas.iter().enumerate() {
            for (at, clause) in schema.clauses.iter().enumerate() {
                let head = RuleHead::Instance(self.instances.len());
                let width = schema.scope.width();
                self.instances.push(InstanceRows { action, clause: at, width, rows: Vec::new(), count: 0 });
                self.add_rule(action, head, clause.clone());
                for (at, effect) in schema.effects.iter().enumerate() {
                    if !effect.is_add || effect.is_unconditional() {
                        continue;
                    }
                    for when in &effect.conditions {
                        let mut body = clause.clone();
                        body.merge(when);
                        self.add_rule(action, RuleHead::Effect(at), body);
                    }
                }
            }
        }
    }

    fn add_rule(&mut self, action: usize, head: RuleHead, body: Clause) {
        let mut changing: Vec<u16> = body
            .positive
            .iter()
            .map(|pattern| pattern.predicate)
            .filter(|&at| !self.is_static[usize::from(at)])
            .collect();
        changing.sort_unstable();
        let may_repeat = changing.windows(2).any(|pair| pair[0] == pair[1]);
        self.rules.push(Rule {
            action,
            head,
            body,
            may_find_duplicates: may_repeat,
            seen: FastSet::default(),
        });
    }

    fn plan_joins(&self, at: usize, triggers: &mut [Vec<Trigger>], at_once: &mut Vec<(usize, JoinPlan)>) {
        let rule = &self.rules[at];
        let schema = &self.schemas[rule.action];
        let slots = schema.scope.variable_types.len();
        let wanted: Vec<Slot> = schema.parameters.iter().chain(&rule.body.bound_variables).copied().collect();
        let mut changing = false;
        for (literal, pattern) in rule.body.positive.iter().enumerate() {
            if self.is_static[usize::from(pattern.predicate)] {
                continue;
            }
            changing = true;
            let plan = JoinPlan::new(&rule.body, slots, &[], &wanted, Some(literal), self.is_static);
            triggers[usize::from(pattern.predicate)].push(Trigger { rule: at, literal, plan });
        }
        if !changing {
            at_once.push((at, JoinPlan::new(&rule.body, slots, &[], &wanted, None, self.is_static)));
        }
    }

    fn binding_width(&self, rule: usize) -> usize {
        self.schemas[self.rules[rule].action].scope.width()
    }

    fn new_joiner<'j>(&'j self, atoms: &'j Atoms, work: &'j mut u64, rule: usize) -> Joiner<'j> {
        let kinds = &self.schemas[self.rules[rule].action].scope.variable_types;
        Joiner { atoms, types: self.types, variable_types: kinds, work }
    }

    /// Records the bindings found as instances, and adds the facts they produce to the known ones.
    fn record_bindings(
        &mut self,
        at: usize,
        found: &mut Vec<ObjectId>,
        atoms: &mut Atoms,
    ) -> Result<(), PddlError> {
        let width = self.binding_width(at);
        let rule = &mut self.rules[at];
        let schema = &self.schemas[rule.action];
        let mut arguments = Vec::new();
        for row in found.chunks_exact(width) {
            if rule.may_find_duplicates && !rule.seen.insert(row.into()) {
                continue;
            }
            let refuted = rule.body.negative.iter().any(|pattern| {
                self.is_static[usize::from(pattern.predicate)] && {
                    arguments.clear();
                    arguments.extend(pattern.arguments.iter().map(|&argument| resolve(argument, row)));
                    atoms.is_entered(pattern.predicate, &arguments)
                }
            });
            if refuted {
                continue;
            }
            let mut add = |effect: usize| {
                let pattern = &schema.effects[effect].pattern;
                arguments.clear();
                arguments.extend(pattern.arguments.iter().map(|&argument| resolve(argument, row)));
                atoms.add_known(pattern.predicate, &arguments)
            };
            match rule.head {
                RuleHead::Effect(effect) => {
                    add(effect)?;
                }
                RuleHead::Instance(instances) => {
                    for (effect, of) in schema.effects.iter().enumerate() {
                        if of.is_add && of.is_unconditional() {
                            add(effect)?;
                        }
                    }
                    self.count += 1;
                    if self.count > limits::INSTANCES {
                        return Err(too_large("action instances", limits::INSTANCES));
                    }
                    let instances = &mut self.instances[instances];
                    instances.rows.extend_from_slice(row);
                    instances.count += 1;
                }
            }
        }
        found.clear();
        Ok(())
    }
}
