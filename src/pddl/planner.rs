//! Finding a way to the goal: best-first search on the grounded task, guided by the size of a plan that ignores harm.
//!
//! Promises: an answer is a plan that works, a proof that there is none, or the word that the search gave up; the effort is
//! bounded by counts, never by a clock, so the same question has the same answer everywhere. Plans are short, not shortest.

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

/// How much a search may do before it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// States looked at.
    pub states: usize,
    /// Elementary steps of the estimates, some nanoseconds each.
    pub work: u64,
}

impl SearchLimits {
    /// Enough for any problem that people would play by hand; some tenths of a second at most.
    pub const INTERACTIVE: Self = Self { states: 20_000, work: 60_000_000 };
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchOutcome {
    /// These instances, one after the other, reach the goal. None are needed where it holds already.
    Found(Vec<OpId>),
    /// The goal cannot be reached with the instances that may be used.
    Impossible,
    /// The effort was spent.
    GaveUp {
        /// States that were looked at.
        states: usize,
    },
}

/// One way to search. The first finds short plans; the second finds some plan where the first drowns.
#[derive(Clone, Copy)]
struct SearchStrategy {
    /// What a step already taken counts, and what one still expected.
    weights: (u32, u32),
    /// How often what the estimate proposes is followed for each state that is taken by its estimate alone.
    preferred_boost: u32,
    /// Its share of the effort: one of so many parts.
    limit_divisor: u32,
}

const STRATEGIES: [SearchStrategy; 2] = [
    SearchStrategy { weights: (1, 3), preferred_boost: 0, limit_divisor: 4 },
    SearchStrategy { weights: (0, 1), preferred_boost: 50, limit_divisor: 1 },
];

/// Searches in one task.
pub struct Planner<'t> {
    task: &'t Task,
    usable: Bits,
    heuristic: RelaxedPlanHeuristic,
}

/// A state that was reached.
struct Node {
    facts: Bits,
    /// From which node, and with which instance; the first node's own number at the start.
    parent: (u32, OpId),
    steps: u32,
}

/// A node that waits: how far the whole way is thought to be, how far the rest, whether the estimate did not propose it, number.
type QueueEntry = Reverse<(u32, u32, bool, u32)>;

impl<'t> Planner<'t> {
    /// Prepares for a task in which only some instances may be used.
    pub fn new(task: &'t Task, usable: impl Fn(OpId) -> bool) -> Self {
        let mut bits = Bits::new(task.op_count());
        for op in task.ops().filter(|&op| usable(op)) {
            bits.set(op.index(), true);
        }
        Self { task, heuristic: RelaxedPlanHeuristic::new(task, &bits), usable: bits }
    }

    /// Looks for a plan from a state of the task.
    pub fn find_plan(&mut self, from: &State, effort: SearchLimits) -> SearchOutcome {
        let mut states = 0;
        for style in STRATEGIES {
            let part = SearchLimits {
                states: effort.states / style.limit_divisor as usize,
                work: effort.work / u64::from(style.limit_divisor),
            };
            match self.search(from, part, style) {
                SearchOutcome::Found(plan) => {
                    return SearchOutcome::Found(shorten::shorten(self.task, from, plan));
                }
                SearchOutcome::Impossible => return SearchOutcome::Impossible,
                SearchOutcome::GaveUp { states: looked_at } => states += looked_at,
            }
        }
        SearchOutcome::GaveUp { states }
    }

    fn search(&mut self, from: &State, effort: SearchLimits, style: SearchStrategy) -> SearchOutcome {
        if from.is_goal(self.task) {
            return SearchOutcome::Found(Vec::new());
        }
        let mut state = from.clone();
        let mut work = 0;
        let mut nodes = vec![Node { facts: state.facts().clone(), parent: (0, OpId::FIRST), steps: 0 }];
        let mut known: FastSet<Bits> = FastSet::default();
        known.insert(state.facts().clone());
        if self.heuristic.estimate(self.task, &state, &mut work).is_none() {
            return SearchOutcome::Impossible;
        }
        let mut queues = Queues {
            all: BinaryHeap::new(),
            preferred: BinaryHeap::new(),
            boost_left: 0,
            taken_count: 0,
            best_estimate: u32::MAX,
        };
        queues.all.push(Reverse((0, 0, false, 0)));
        let mut seen = vec![false];
        while let Some(number) = queues.next(style) {
            if std::mem::replace(&mut seen[number as usize], true) {
                continue;
            }
            let (facts, steps) = (nodes[number as usize].facts.clone(), nodes[number as usize].steps);
            state.restore(self.task, &facts);
            // Asked again for what it proposes here: keeping that for every node would cost more than it saves.
            self.heuristic.estimate(self.task, &state, &mut work);
            let proposed: Vec<OpId> = self.heuristic.preferred_ops().collect();
            let open: Vec<OpId> =
                state.applicable(self.task).filter(|op| self.usable.get(op.index())).collect();
            for op in open {
                state.apply(self.task, op);
                if known.insert(state.facts().clone()) {
                    let next = nodes.len() as u32;
                    nodes.push(Node { facts: state.facts().clone(), parent: (number, op), steps: steps + 1 });
                    seen.push(false);
                    if state.is_goal(self.task) {
                        return SearchOutcome::Found(plan_to(&nodes, next));
                    }
                    if let Some(rest) = self.heuristic.estimate(self.task, &state, &mut work) {
                        let (past, future) = style.weights;
                        let whole = (past * (steps + 1)).saturating_add(future.saturating_mul(rest));
                        queues.add(Reverse((whole, rest, !proposed.contains(&op), next)), style);
                    }
                    if nodes.len() >= effort.states || work >= effort.work {
                        return SearchOutcome::GaveUp { states: nodes.len() };
                    }
                }
                state.restore(self.task, &facts);
            }
        }
        SearchOutcome::Impossible
    }
}

/// The nodes that wait, and apart from them those that the estimate proposed, which are asked for more often after progress.
struct Queues {
    all: BinaryHeap<QueueEntry>,
    preferred: BinaryHeap<QueueEntry>,
    boost_left: u32,
    taken_count: u64,
    best_estimate: u32,
}

impl Queues {
    fn add(&mut self, waiting: QueueEntry, style: SearchStrategy) {
        let Reverse((_, rest, unfavoured, _)) = waiting;
        self.all.push(waiting);
        if style.preferred_boost > 0 && !unfavoured {
            self.preferred.push(waiting);
        }
        if rest < self.best_estimate {
            self.best_estimate = rest;
            self.boost_left = style.preferred_boost * 20;
        }
    }

    fn next(&mut self, style: SearchStrategy) -> Option<u32> {
        let favour = self.boost_left > 0 || (style.preferred_boost > 0 && self.taken_count.is_multiple_of(2));
        self.taken_count += 1;
        self.boost_left = self.boost_left.saturating_sub(1);
        let first = if favour { self.preferred.pop().or_else(|| self.all.pop()) } else { self.all.pop() };
        first.or_else(|| self.preferred.pop()).map(|Reverse((.., number))| number)
    }
}

/// The instances on the way to a node.
fn plan_to(nodes: &[Node], last: u32) -> Vec<OpId> {
    let mut plan = Vec::new();
    let mut at = last;
    while at != 0 {
        let (before, op) = nodes[at as usize].parent;
        plan.push(op);
        at = before;
    }
    plan.reverse();
    plan
}
