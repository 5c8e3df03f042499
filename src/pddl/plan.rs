//! Finding a way to the goal: best-first search on the grounded task, guided by the size of a plan that ignores harm.
//!
//! Promises: an answer is a plan that works, a proof that there is none, or the word that the search gave up; the effort is
//! bounded by counts, never by a clock, so the same question has the same answer everywhere. Plans are short, not shortest.

mod relaxed;
mod shorten;

use super::bits::Bits;
use super::hash::FastSet;
use super::ids::OpId;
use super::state::State;
use super::task::Task;
use relaxed::Relaxed;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How much a search may do before it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// States looked at.
    pub states: usize,
    /// Elementary steps of the estimates, some nanoseconds each.
    pub work: u64,
}

impl Effort {
    /// Enough for any problem that people would play by hand; some tenths of a second at most.
    pub const MODEST: Self = Self { states: 20_000, work: 60_000_000 };
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
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
struct Style {
    /// What a step already taken counts, and what one still expected.
    weights: (u32, u32),
    /// How often what the estimate proposes is followed for each state that is taken by its estimate alone.
    favour: u32,
    /// Its share of the effort: one of so many parts.
    share: u32,
}

const STYLES: [Style; 2] =
    [Style { weights: (1, 3), favour: 0, share: 4 }, Style { weights: (0, 1), favour: 50, share: 1 }];

/// Searches in one task.
pub struct Planner<'t> {
    task: &'t Task,
    usable: Bits,
    relaxed: Relaxed,
}

/// A state that was reached.
struct Node {
    facts: Bits,
    /// From which node, and with which instance; the first node's own number at the start.
    from: (u32, OpId),
    steps: u32,
}

/// A node that waits: how far the whole way is thought to be, how far the rest, whether the estimate did not propose it, number.
type Waiting = Reverse<(u32, u32, bool, u32)>;

impl<'t> Planner<'t> {
    /// Prepares for a task in which only some instances may be used.
    pub fn new(task: &'t Task, usable: impl Fn(OpId) -> bool) -> Self {
        let mut bits = Bits::new(task.op_count());
        for op in task.ops().filter(|&op| usable(op)) {
            bits.set(op.index(), true);
        }
        Self { task, relaxed: Relaxed::of(task, &bits), usable: bits }
    }

    /// Looks for a plan from a state of the task.
    pub fn plan(&mut self, from: &State, effort: Effort) -> Outcome {
        let mut states = 0;
        for style in STYLES {
            let part = Effort {
                states: effort.states / style.share as usize,
                work: effort.work / u64::from(style.share),
            };
            match self.search(from, part, style) {
                Outcome::Found(plan) => return Outcome::Found(shorten::shorten(self.task, from, plan)),
                Outcome::Impossible => return Outcome::Impossible,
                Outcome::GaveUp { states: looked_at } => states += looked_at,
            }
        }
        Outcome::GaveUp { states }
    }

    fn search(&mut self, from: &State, effort: Effort, style: Style) -> Outcome {
        if from.is_goal(self.task) {
            return Outcome::Found(Vec::new());
        }
        let mut state = from.clone();
        let mut work = 0;
        let mut nodes = vec![Node { facts: state.facts().clone(), from: (0, OpId::FIRST), steps: 0 }];
        let mut known: FastSet<Bits> = FastSet::default();
        known.insert(state.facts().clone());
        if self.relaxed.estimate(self.task, &state, &mut work).is_none() {
            return Outcome::Impossible;
        }
        let mut queues =
            Queues { all: BinaryHeap::new(), favoured: BinaryHeap::new(), turn: 0, taken: 0, best: u32::MAX };
        queues.all.push(Reverse((0, 0, false, 0)));
        let mut seen = vec![false];
        while let Some(number) = queues.next(style) {
            if std::mem::replace(&mut seen[number as usize], true) {
                continue;
            }
            let (facts, steps) = (nodes[number as usize].facts.clone(), nodes[number as usize].steps);
            state.restore(self.task, &facts);
            // Asked again for what it proposes here: keeping that for every node would cost more than it saves.
            self.relaxed.estimate(self.task, &state, &mut work);
            let proposed: Vec<OpId> = self.relaxed.proposed().collect();
            let open: Vec<OpId> =
                state.applicable(self.task).filter(|op| self.usable.get(op.index())).collect();
            for op in open {
                state.apply(self.task, op);
                if known.insert(state.facts().clone()) {
                    let next = nodes.len() as u32;
                    nodes.push(Node { facts: state.facts().clone(), from: (number, op), steps: steps + 1 });
                    seen.push(false);
                    if state.is_goal(self.task) {
                        return Outcome::Found(way(&nodes, next));
                    }
                    if let Some(rest) = self.relaxed.estimate(self.task, &state, &mut work) {
                        let (past, future) = style.weights;
                        let whole = (past * (steps + 1)).saturating_add(future.saturating_mul(rest));
                        queues.add(Reverse((whole, rest, !proposed.contains(&op), next)), style);
                    }
                    if nodes.len() >= effort.states || work >= effort.work {
                        return Outcome::GaveUp { states: nodes.len() };
                    }
                }
                state.restore(self.task, &facts);
            }
        }
        Outcome::Impossible
    }
}

/// The nodes that wait, and apart from them those that the estimate proposed, which are asked for more often after progress.
struct Queues {
    all: BinaryHeap<Waiting>,
    favoured: BinaryHeap<Waiting>,
    turn: u32,
    taken: u64,
    best: u32,
}

impl Queues {
    fn add(&mut self, waiting: Waiting, style: Style) {
        let Reverse((_, rest, unfavoured, _)) = waiting;
        self.all.push(waiting);
        if style.favour > 0 && !unfavoured {
            self.favoured.push(waiting);
        }
        if rest < self.best {
            self.best = rest;
            self.turn = style.favour * 20;
        }
    }

    fn next(&mut self, style: Style) -> Option<u32> {
        let favour = self.turn > 0 || (style.favour > 0 && self.taken.is_multiple_of(2));
        self.taken += 1;
        self.turn = self.turn.saturating_sub(1);
        let first = if favour { self.favoured.pop().or_else(|| self.all.pop()) } else { self.all.pop() };
        first.or_else(|| self.favoured.pop()).map(|Reverse((.., number))| number)
    }
}

/// The instances on the way to a node.
fn way(nodes: &[Node], last: u32) -> Vec<OpId> {
    let mut plan = Vec::new();
    let mut at = last;
    while at != 0 {
        let (before, op) = nodes[at as usize].from;
        plan.push(op);
        at = before;
    }
    plan.reverse();
    plan
}
