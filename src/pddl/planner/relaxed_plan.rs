//! The heuristic: the number of instances in a relaxed plan, in which a literal that has once been true stays true.
//!
//! Literals are *nodes*: each fact and each gate has one for being true and one for being false. *Rules* lead from
//! nodes to nodes: an instance produces its effects from its inputs at cost 1; a gate becomes true at no cost once all
//! of its inputs are met, and false once one of them is not. Input costs are added up, and the plan is extracted
//! backwards along the cheapest rule of each node.

use crate::pddl::bits::Bits;
use crate::pddl::gates::{Condition, Input, Source};
use crate::pddl::ids::OpId;
use crate::pddl::state::State;
use crate::pddl::task::Task;

const UNREACHED: u32 = u32::MAX;
/// Costs saturate at this value; plans of this size would not be found anyway.
const MAX_COST: u32 = 100_000;
/// Marks a rule that belongs to no instance.
const NO_OP: u32 = u32::MAX;

/// Rows of numbers in one flat vector.
#[derive(Debug, Default)]
struct NumberRows {
    starts: Vec<u32>,
    cells: Vec<u32>,
}

impl NumberRows {
    fn new() -> Self {
        Self { starts: vec![0], cells: Vec::new() }
    }

    fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.cells.extend(row);
        self.starts.push(self.cells.len() as u32);
    }

    #[inline]
    fn row(&self, at: u32) -> &[u32] {
        &self.cells[self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize]
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns, for each of `count` numbers, the rows that contain it.
    fn transposed(&self, count: usize) -> Self {
        let mut starts = vec![0_u32; count + 1];
        for &cell in &self.cells {
            starts[cell as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut cells = vec![0; self.cells.len()];
        for row in 0..self.len() as u32 {
            for &cell in self.row(row) {
                cells[next[cell as usize] as usize] = row;
                next[cell as usize] += 1;
            }
        }
        Self { starts, cells }
    }
}

#[derive(Debug)]
pub(super) struct RelaxedPlanHeuristic {
    fact_count: usize,
    rule_inputs: NumberRows,
    rule_outputs: NumberRows,
    rule_ops: Vec<u32>,
    /// By node: the rules that have it as an input.
    rules_by_input: NumberRows,
    goal: Option<u32>,
    is_impossible: bool,
    costs: Vec<u32>,
    cheapest_rules: Vec<u32>,
    missing_inputs: Vec<u32>,
    input_costs: Vec<u32>,
    queue: Vec<Vec<u32>>,
    marked: Vec<bool>,
    stack: Vec<u32>,
    used_rules: Vec<u32>,
    preferred_ops: Vec<OpId>,
}

impl RelaxedPlanHeuristic {
    pub(super) fn new(task: &Task, usable: &Bits) -> Self {
        let (facts, ops) = (task.fact_count(), task.op_count());
        let gates = task.gate_count();
        let inputs = gate_inputs(task, gates);
        let nodes = 2 * (facts + gates - ops);
        let node = |input: Input| match input.source() {
            Source::Fact(fact) => 2 * fact + u32::from(input.is_negated()),
            Source::Gate(gate) => 2 * (facts as u32 + gate - ops as u32) + u32::from(input.is_negated()),
        };
        let (mut rule_inputs, mut all_outputs, mut rule_ops) =
            (NumberRows::new(), NumberRows::new(), Vec::new());
        let mut add_rule =
            |from: &mut dyn Iterator<Item = u32>, to: &mut dyn Iterator<Item = u32>, op: u32| {
                rule_inputs.push(from);
                all_outputs.push(to);
                rule_ops.push(op);
            };
        for op in task.ops().filter(|op| usable.get(op.index())) {
            let row = &inputs[op.index()];
            let literal = |effect: &crate::pddl::OpEffect| 2 * effect.fact.0 + u32::from(!effect.is_add);
            let is_unconditional =
                |effect: &&crate::pddl::OpEffect| effect.conditions.0 == effect.conditions.1;
            let effects = task.effects(op);
            let mut always = effects.iter().filter(is_unconditional).map(literal);
            add_rule(&mut row.iter().map(|&input| node(input)), &mut always, op.0);
            for effect in effects.iter().filter(|effect| !is_unconditional(effect)) {
                let when = &task.conditions[effect.conditions.0 as usize..effect.conditions.1 as usize];
                let mut all = row.iter().chain(when).map(|&input| node(input)).collect::<Vec<u32>>();
                all.sort_unstable();
                all.dedup();
                add_rule(&mut all.into_iter(), &mut std::iter::once(literal(effect)), op.0);
            }
        }
        for (gate, row) in inputs.iter().enumerate().skip(ops) {
            let true_node = node(Input::gate(gate as u32));
            add_rule(&mut row.iter().map(|&input| node(input)), &mut std::iter::once(true_node), NO_OP);
            for &input in row {
                let mut one = std::iter::once(node(input.negated()));
                add_rule(&mut one, &mut std::iter::once(true_node + 1), NO_OP);
            }
        }
        let (goal, impossible) = match task.goal {
            Condition::Constant(holds) => (None, !holds),
            Condition::Input(input) => (Some(node(input)), false),
        };
        // A node that no rule needs doesn't have to be reached.
        let rules_by_input = rule_inputs.transposed(nodes);
        let wanted = |node: u32| !rules_by_input.row(node).is_empty() || Some(node) == goal;
        let mut outputs = NumberRows::new();
        for rule in 0..all_outputs.len() as u32 {
            outputs.push(all_outputs.row(rule).iter().copied().filter(|&node| wanted(node)));
        }
        Self {
            fact_count: facts,
            missing_inputs: vec![0; rule_inputs.len()],
            input_costs: vec![0; rule_inputs.len()],
            costs: vec![UNREACHED; nodes],
            cheapest_rules: vec![UNREACHED; nodes],
            marked: vec![false; nodes],
            rule_inputs,
            rule_outputs: outputs,
            rule_ops,
            rules_by_input,
            goal,
            is_impossible: impossible,
            queue: Vec::new(),
            stack: Vec::new(),
            used_rules: Vec::new(),
            preferred_ops: Vec::new(),
        }
    }

    /// Returns the number of instances in a relaxed plan from this state, or `None` if no relaxed plan exists.
    pub(super) fn estimate(&mut self, task: &Task, state: &State, work: &mut u64) -> Option<u32> {
        self.preferred_ops.clear();
        if self.is_impossible {
            return None;
        }
        let Some(goal) = self.goal else { return Some(0) };
        self.propagate_costs(task, state, goal, work);
        if self.costs[goal as usize] == UNREACHED { None } else { Some(self.extract_plan(goal, state)) }
    }

    /// Returns the instances of the last relaxed plan that are applicable in its starting state.
    pub(super) fn preferred_ops(&self) -> impl Iterator<Item = OpId> + '_ {
        self.preferred_ops.iter().copied()
    }

    /// Propagates costs from the literals that hold until the goal has its final cost.
    fn propagate_costs(&mut self, task: &Task, state: &State, goal: u32, work: &mut u64) {
        self.costs.fill(UNREACHED);
        for (missing, row) in self.missing_inputs.iter_mut().zip(self.rule_inputs.starts.windows(2)) {
            *missing = row[1] - row[0];
        }
        self.input_costs.fill(0);
        self.queue.iter_mut().for_each(Vec::clear);
        *work += (self.costs.len() + self.missing_inputs.len()) as u64 / 8;
        for node in (0..self.costs.len() as u32).step_by(2) {
            let at = (node / 2) as usize;
            let holds = if at < self.fact_count {
                state.facts().get(at)
            } else {
                state.holds_input(Input::gate((at - self.fact_count + task.op_count()) as u32))
            };
            self.lower_cost(node + u32::from(!holds), 0, UNREACHED);
        }
        for rule in 0..self.rule_ops.len() {
            if self.missing_inputs[rule] == 0 {
                self.fire_rule(rule as u32);
            }
        }
        let mut cost = 0;
        while cost < self.queue.len() {
            while let Some(node) = self.queue[cost].pop() {
                if (self.costs[node as usize] as usize) < cost {
                    continue;
                }
                if node == goal {
                    return;
                }
                let (from, to) = (
                    self.rules_by_input.starts[node as usize],
                    self.rules_by_input.starts[node as usize + 1],
                );
                *work += u64::from(to - from) + 1;
                for at in from..to {
                    let rule = self.rules_by_input.cells[at as usize];
                    self.input_costs[rule as usize] =
                        self.input_costs[rule as usize].saturating_add(cost as u32).min(MAX_COST);
                    self.missing_inputs[rule as usize] -= 1;
                    if self.missing_inputs[rule as usize] == 0 {
                        self.fire_rule(rule);
                    }
                }
            }
            cost += 1;
        }
    }

    fn fire_rule(&mut self, rule: u32) {
        let price = u32::from(self.rule_ops[rule as usize] != NO_OP);
        let cost = self.input_costs[rule as usize] + price;
        let (from, to) =
            (self.rule_outputs.starts[rule as usize], self.rule_outputs.starts[rule as usize + 1]);
        for at in from..to {
            self.lower_cost(self.rule_outputs.cells[at as usize], cost, rule);
        }
    }

    fn lower_cost(&mut self, node: u32, cost: u32, rule: u32) {
        if cost >= self.costs[node as usize] {
            return;
        }
        self.costs[node as usize] = cost;
        self.cheapest_rules[node as usize] = rule;
        let cost = cost as usize;
        if self.queue.len() <= cost {
            self.queue.resize(cost + 1, Vec::new());
        }
        self.queue[cost].push(node);
    }

    /// Extracts the relaxed plan behind the goal's cost, records its applicable instances as preferred, and returns its
    /// size.
    fn extract_plan(&mut self, goal: u32, state: &State) -> u32 {
        self.marked.fill(false);
        self.used_rules.clear();
        self.stack.clear();
        self.stack.push(goal);
        while let Some(node) = self.stack.pop() {
            if std::mem::replace(&mut self.marked[node as usize], true)
                || self.cheapest_rules[node as usize] == UNREACHED
            {
                continue;
            }
            let rule = self.cheapest_rules[node as usize];
            if self.rule_ops[rule as usize] != NO_OP {
                self.used_rules.push(self.rule_ops[rule as usize]);
            }
            self.stack.extend_from_slice(self.rule_inputs.row(rule));
        }
        self.used_rules.sort_unstable();
        self.used_rules.dedup();
        self.preferred_ops
            .extend(self.used_rules.iter().map(|&op| OpId(op)).filter(|&op| state.is_applicable(op)));
        self.used_rules.len() as u32
    }
}

/// Collects the inputs of every gate from the watcher lists.
fn gate_inputs(task: &Task, gates: usize) -> Vec<Vec<Input>> {
    let mut rows = vec![Vec::new(); gates];
    let mut add = |watchers: &[u32], input: Input| {
        for &watcher in watchers {
            let input = if watcher & 1 == 1 { input.negated() } else { input };
            rows[(watcher >> 1) as usize].push(input);
        }
    };
    for fact in 0..task.fact_count() {
        add(task.fact_watchers.watchers_of(fact), Input::fact(fact as u32));
    }
    for sub in 0..gates - task.op_count() {
        add(task.gate_watchers.watchers_of(sub), Input::gate((sub + task.op_count()) as u32));
    }
    rows
}
