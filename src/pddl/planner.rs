//! Best-first search for a plan on the grounded task, guided by the size of a delete-relaxed plan.
//!
//! Guarantees: the outcome is a valid plan, a proof that no plan exists, or [`SearchOutcome::GaveUp`]. Effort is
//! limited by counters rather than a clock, so the same search returns the same result on every machine. Plans are
//! short, but not necessarily shortest.

mod relaxed_plan;
mod shorten;

use super::bits::Bits;
use super::hash::FastSet;
use super::ids::OpId;
use super::state::State;
use super::task::Task;
use relaxed_plan::RelaxedPlanHeuristic;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The limits at which a search gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Maximum number of distinct states generated.
    pub states: usize,
    /// Maximum number of elementary heuristic operations, each taking a few nanoseconds.
    pub work: u64,
}

impl SearchLimits {
    /// Enough for the problems that people play by hand; takes a few tenths of a second at most.
    pub const INTERACTIVE: Self = Self { states: 20_000, work: 60_000_000 };
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchOutcome {
    /// Applying these action instances in order reaches the goal. Empty if the goal already holds.
    Found(Vec<OpId>),
    /// No sequence of usable action instances reaches the goal.
    Impossible,
    /// The search exceeded its limits.
    GaveUp {
        /// Number of distinct states generated.
        states: usize,
    },
}

/// A search configuration.
#[derive(Clone, Copy)]
struct SearchStrategy {
    /// Weights of the path cost and of the heuristic value.
    weights: (u32, u32),
    /// After progress, the next `20 * preferred_boost` nodes come from the preferred queue, otherwise every second one
    /// does. At 0 the preferred queue is not used.
    preferred_boost: u32,
    /// The strategy's limits are the total limits divided by this number.
    limit_divisor: u32,
}

/// The first strategy finds short plans. The second is tried when the first exceeds its limits, and finds any plan.
const STRATEGIES: [SearchStrategy; 2] = [
    SearchStrategy { weights: (1, 3), preferred_boost: 0, limit_divisor: 4 },
    SearchStrategy { weights: (0, 1), preferred_boost: 50, limit_divisor: 1 },
];

/// A planner for one task.
pub struct Planner<'t> {
    task: &'t Task,
    usable: Bits,
    heuristic: RelaxedPlanHeuristic,
}

/// A state reached by the search.
struct Node {
    facts: Bits,
    /// The parent node, and the action instance that leads from it to this node. The root is its own parent.
    parent: (u32, OpId),
    steps: u32,
}

/// An open node: estimated total cost, heuristic value, whether it was *not* reached by a preferred operator, index.
type QueueEntry = Reverse<(u32, u32, bool, u32)>;

impl<'t> Planner<'t> {
    /// Creates a planner that applies only the action instances accepted by `usable`.
    pub fn new(task: &'t Task, usable: impl Fn(OpId) -> bool) -> Self {
        let mut bits = Bits::new(task.op_count());
        for op in task.ops().filter(|&op| usable(op)) {
            bits.set(op.index(), true);
        }
        Self { task, heuristic: RelaxedPlanHeuristic::new(task, &bits), usable: bits }
    }

    /// Searches for a plan from a state of the task.
    pub fn find_plan(&mut self, from: &State, limits: SearchLimits) -> SearchOutcome {
        let mut states = 0;
        for strategy in STRATEGIES {
            let strategy_limits = SearchLimits {
                states: limits.states / strategy.limit_divisor as usize,
                work: limits.work / u64::from(strategy.limit_divisor),
            };
            match self.search(from, strategy_limits, strategy) {
                SearchOutcome::Found(plan) => {
                    return SearchOutcome::Found(shorten::shorten(self.task, from, plan));
                }
                SearchOutcome::Impossible => return SearchOutcome::Impossible,
                SearchOutcome::GaveUp { states: generated } => states += generated,
            }
        }
        SearchOutcome::GaveUp { states }
    }

    fn search(&mut self, from: &State, limits: SearchLimits, strategy: SearchStrategy) -> SearchOutcome {
        if from.is_goal(self.task) {
            return SearchOutcome::Found(Vec::new());
        }
        let mut state = from.clone();
        let mut work = 0;
        let mut nodes = vec![Node { facts: state.facts().clone(), parent: (0, OpId::FIRST), steps: 0 }];
        let mut visited: FastSet<Bits> = FastSet::default();
        visited.insert(state.facts().clone());
        if self.heuristic.estimate(self.task, &state, &mut work).is_none() {
            return SearchOutcome::Impossible;
        }
        let mut queues = Queues {
            all: BinaryHeap::new(),
            preferred: BinaryHeap::new(),
            boost_left: 0,
            popped_count: 0,
            best_estimate: u32::MAX,
        };
        queues.all.push(Reverse((0, 0, false, 0)));
        let mut expanded = vec![false];
        while let Some(node) = queues.pop(strategy) {
            if std::mem::replace(&mut expanded[node as usize], true) {
                continue;
            }
            let (facts, steps) = (nodes[node as usize].facts.clone(), nodes[node as usize].steps);
            state.restore(self.task, &facts);
            // Recomputes the preferred operators: storing them for every node would cost more than it saves.
            self.heuristic.estimate(self.task, &state, &mut work);
            let preferred: Vec<OpId> = self.heuristic.preferred_ops().collect();
            let applicable: Vec<OpId> =
                state.applicable(self.task).filter(|op| self.usable.get(op.index())).collect();
            for op in applicable {
                state.apply(self.task, op);
                if visited.insert(state.facts().clone()) {
                    let next = nodes.len() as u32;
                    nodes.push(Node { facts: state.facts().clone(), parent: (node, op), steps: steps + 1 });
                    expanded.push(false);
                    if state.is_goal(self.task) {
                        return SearchOutcome::Found(plan_to(&nodes, next));
                    }
                    if let Some(estimate) = self.heuristic.estimate(self.task, &state, &mut work) {
                        let (cost_weight, estimate_weight) = strategy.weights;
                        let weighted_cost = cost_weight * (steps + 1);
                        let total = weighted_cost.saturating_add(estimate_weight.saturating_mul(estimate));
                        queues.push(Reverse((total, estimate, !preferred.contains(&op), next)), strategy);
                    }
                    if nodes.len() >= limits.states || work >= limits.work {
                        return SearchOutcome::GaveUp { states: nodes.len() };
                    }
                }
                state.restore(self.task, &facts);
            }
        }
        SearchOutcome::Impossible
    }
}

/// The open nodes, and a separate queue of those reached by preferred operators, which is favoured after progress.
struct Queues {
    all: BinaryHeap<QueueEntry>,
    preferred: BinaryHeap<QueueEntry>,
    boost_left: u32,
    popped_count: u64,
    best_estimate: u32,
}

impl Queues {
    fn push(&mut self, entry: QueueEntry, strategy: SearchStrategy) {
        let Reverse((_, estimate, is_not_preferred, _)) = entry;
        self.all.push(entry);
        if strategy.preferred_boost > 0 && !is_not_preferred {
            self.preferred.push(entry);
        }
        if estimate < self.best_estimate {
            self.best_estimate = estimate;
            self.boost_left = strategy.preferred_boost * 20;
        }
    }

    fn pop(&mut self, strategy: SearchStrategy) -> Option<u32> {
        let use_preferred =
            self.boost_left > 0 || (strategy.preferred_boost > 0 && self.popped_count.is_multiple_of(2));
        self.popped_count += 1;
        self.boost_left = self.boost_left.saturating_sub(1);
        let first =
            if use_preferred { self.preferred.pop().or_else(|| self.all.pop()) } else { self.all.pop() };
        first.or_else(|| self.preferred.pop()).map(|Reverse((.., node))| node)
    }
}

/// Returns the action instances on the path to a node.
fn plan_to(nodes: &[Node], last: u32) -> Vec<OpId> {
    let mut plan = Vec::new();
    let mut node = last;
    while node != 0 {
        let (parent, op) = nodes[node as usize].parent;
        plan.push(op);
        node = parent;
    }
    plan.reverse();
    plan
}
