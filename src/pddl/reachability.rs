//! Finds the facts that can become true and the action instances that can become applicable under delete relaxation.
//!
//! Uses semi-naive evaluation: facts are entered one at a time, and each new fact is joined only with the rules that
//! have a literal it may match.

use super::atoms::Atoms;
use super::condition::{Clause, Slot};
use super::error::{PddlError, too_large};
use super::hash::FastSet;
use super::ids::ObjectId;
use super::join::{JoinPlan, Joiner, UNBOUND, resolve};
use super::limits;
use super::schema::Schema;
use super::types::Types;

/// The instances of one disjunct of one action's precondition: rows of bindings, one object per slot.
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

/// A clause whose bindings are searched for.
struct Rule {
    action: usize,
    head: RuleHead,
    body: Clause,
    /// Whether two literals can match the same fact, so that a binding may be found twice.
    may_find_duplicates: bool,
    seen: FastSet<Box<[ObjectId]>>,
}

/// Searches for the bindings of a rule in which one literal matches a newly entered fact.
struct Trigger {
    rule: usize,
    literal: usize,
    plan: JoinPlan,
}

/// Runs until no new fact can be derived and returns the instances found.
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
    let plan_work: usize =
        explorer.rules.iter().map(|rule| rule.body.positive.len() * rule.body.size()).sum();
    if plan_work > limits::JOIN_PLAN_LITERALS {
        return Err(too_large("literals in join plans", limits::JOIN_PLAN_LITERALS));
    }
    let mut triggers: Vec<Vec<Trigger>> = is_static.iter().map(|_| Vec::new()).collect();
    let mut static_rules = Vec::new();
    for rule in 0..explorer.rules.len() {
        explorer.plan_joins(rule, &mut triggers, &mut static_rules);
    }
    let mut found = Vec::new();
    for (rule, plan) in static_rules {
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
            for (clause_index, clause) in schema.clauses.iter().enumerate() {
                let head = RuleHead::Instance(self.instances.len());
                let width = schema.scope.binding_len();
                self.instances.push(InstanceRows {
                    action,
                    clause: clause_index,
                    width,
                    rows: Vec::new(),
                    count: 0,
                });
                self.add_rule(action, head, clause.clone());
                for (effect_index, effect) in schema.effects.iter().enumerate() {
                    if !effect.is_add || effect.is_unconditional() {
                        continue;
                    }
                    for when in &effect.conditions {
                        let mut body = clause.clone();
                        body.merge(when);
                        self.add_rule(action, RuleHead::Effect(effect_index), body);
                    }
                }
            }
        }
    }

    fn add_rule(&mut self, action: usize, head: RuleHead, body: Clause) {
        let mut fluents: Vec<u16> = body
            .positive
            .iter()
            .map(|pattern| pattern.predicate)
            .filter(|&predicate| !self.is_static[usize::from(predicate)])
            .collect();
        fluents.sort_unstable();
        let may_repeat = fluents.windows(2).any(|pair| pair[0] == pair[1]);
        self.rules.push(Rule {
            action,
            head,
            body,
            may_find_duplicates: may_repeat,
            seen: FastSet::default(),
        });
    }

    fn plan_joins(
        &self,
        rule_index: usize,
        triggers: &mut [Vec<Trigger>],
        static_rules: &mut Vec<(usize, JoinPlan)>,
    ) {
        let rule = &self.rules[rule_index];
        let schema = &self.schemas[rule.action];
        let slots = schema.scope.variable_types.len();
        let wanted: Vec<Slot> = schema.parameters.iter().chain(&rule.body.bound_variables).copied().collect();
        let mut has_fluents = false;
        for (literal, pattern) in rule.body.positive.iter().enumerate() {
            if self.is_static[usize::from(pattern.predicate)] {
                continue;
            }
            has_fluents = true;
            let plan = JoinPlan::new(&rule.body, slots, &[], &wanted, Some(literal), self.is_static);
            triggers[usize::from(pattern.predicate)].push(Trigger { rule: rule_index, literal, plan });
        }
        if !has_fluents {
            let plan = JoinPlan::new(&rule.body, slots, &[], &wanted, None, self.is_static);
            static_rules.push((rule_index, plan));
        }
    }

    fn binding_width(&self, rule: usize) -> usize {
        self.schemas[self.rules[rule].action].scope.binding_len()
    }

    fn new_joiner<'j>(&'j self, atoms: &'j Atoms, work: &'j mut u64, rule: usize) -> Joiner<'j> {
        let kinds = &self.schemas[self.rules[rule].action].scope.variable_types;
        Joiner { atoms, types: self.types, variable_types: kinds, work }
    }

    /// Records the bindings found as instances, and adds the facts they produce to the known ones.
    fn record_bindings(
        &mut self,
        rule_index: usize,
        found: &mut Vec<ObjectId>,
        atoms: &mut Atoms,
    ) -> Result<(), PddlError> {
        let width = self.binding_width(rule_index);
        let rule = &mut self.rules[rule_index];
        let schema = &self.schemas[rule.action];
        let mut arguments = Vec::new();
        for row in found.chunks_exact(width) {
            if rule.may_find_duplicates && !rule.seen.insert(row.into()) {
                continue;
            }
            let is_refuted = rule.body.negative.iter().any(|pattern| {
                self.is_static[usize::from(pattern.predicate)] && {
                    arguments.clear();
                    arguments.extend(pattern.arguments.iter().map(|&argument| resolve(argument, row)));
                    atoms.is_entered(pattern.predicate, &arguments)
                }
            });
            if is_refuted {
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
                    for (index, effect) in schema.effects.iter().enumerate() {
                        if effect.is_add && effect.is_unconditional() {
                            add(index)?;
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
