//! A state of a task, with incrementally updated applicable instances.

use super::bits::Bits;
use super::gates::{Condition, Input, Source};
use super::ids::{FactId, OpId};
use super::task::{OpEffect, Task};

/// A fact that became true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub fact: FactId,
    /// Whether the fact is true now.
    pub is_true: bool,
}

/// An action instance that became applicable or inapplicable. Within one step, an instance may flip more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    pub op: OpId,
    /// Whether the instance is applicable now.
    pub is_applicable: bool,
}

/// The true facts, and the number of unmet inputs of each gate. Methods take the task that the state belongs to.
#[derive(Clone, Debug, Default)]
pub struct State {
    facts: Bits,
    unmet_inputs: Vec<u16>,
    changes: Vec<Change>,
    flips: Vec<Flip>,
    fired: Vec<bool>,
}

impl State {
    /// Creates the state with these facts. `gates` are the inputs of all gates; sub-gates start at `first_sub`, each
    /// after the gates it reads.
    pub(super) fn new<'a>(
        facts: Bits,
        count: usize,
        first_sub: usize,
        row: impl Fn(usize) -> &'a [Input],
    ) -> Self {
        let mut state = Self { facts, unmet_inputs: vec![0; count], ..Self::default() };
        for gate in (first_sub..count).chain(0..first_sub) {
            state.unmet_inputs[gate] =
                row(gate).iter().filter(|&&input| !state.holds_input(input)).count() as u16;
        }
        state
    }

    /// Returns the true facts and the unmet input counts, as a task stores them for its initial state.
    pub(super) fn into_parts(self) -> (Bits, Vec<u16>) {
        (self.facts, self.unmet_inputs)
    }

    /// Returns whether a fact is true.
    #[inline]
    pub fn holds(&self, fact: FactId) -> bool {
        self.facts.get(fact.index())
    }

    /// Returns the true facts.
    pub fn facts(&self) -> &Bits {
        &self.facts
    }

    /// Returns whether an action instance is applicable.
    #[inline]
    pub fn is_applicable(&self, op: OpId) -> bool {
        self.unmet_inputs[op.index()] == 0
    }

    /// Iterates over the applicable instances in ascending order. An action with a disjunctive precondition may have
    /// several instances with the same arguments, which count as one action.
    pub fn applicable(&self, task: &Task) -> impl Iterator<Item = OpId> {
        self.unmet_inputs[..task.op_count()]
            .iter()
            .enumerate()
            .filter(|&(_, &unmet)| unmet == 0)
            .map(|(at, _)| OpId(at as u32))
    }

    /// Returns whether the goal holds.
    #[inline]
    pub fn is_goal(&self, task: &Task) -> bool {
        self.holds_condition(task.goal)
    }

    /// Returns whether a part of the goal holds. Parts are numbered from 0 in the order of
    /// [`super::Model::goal_conjuncts`]; out of range is false.
    pub fn holds_part(&self, task: &Task, part: usize) -> bool {
        task.goal_parts.get(part).is_some_and(|&condition| self.holds_condition(condition))
    }

    /// Returns whether an effect of an instance would fire now.
    pub fn would_fire(&self, task: &Task, effect: &OpEffect) -> bool {
        let (from, to) = effect.conditions;
        task.conditions[from as usize..to as usize].iter().all(|&input| self.holds_input(input))
    }

    /// Applies an instance's effects, deletes first. [`Self::changes`] and [`Self::flips`] report what changed, until
    /// the next change.
    pub fn apply(&mut self, task: &Task, op: OpId) {
        self.changes.clear();
        self.flips.clear();
        let effects = task.effects(op);
        let mut fired = std::mem::take(&mut self.fired);
        fired.clear();
        fired.extend(effects.iter().map(|effect| self.would_fire(task, effect)));
        for (effect, _) in effects.iter().zip(&fired).filter(|(effect, fired)| **fired && !effect.is_add) {
            let is_added_too = effects
                .iter()
                .zip(&fired)
                .any(|(other, &fires)| fires && other.is_add && other.fact == effect.fact);
            if !is_added_too {
                self.set_fact(task, effect.fact, false);
            }
        }
        for (effect, _) in effects.iter().zip(&fired).filter(|(effect, fired)| **fired && effect.is_add) {
            self.set_fact(task, effect.fact, true);
        }
        self.fired = fired;
    }

    /// Moves to the state in which exactly these facts are true.
    pub fn restore(&mut self, task: &Task, facts: &Bits) {
        self.changes.clear();
        self.flips.clear();
        let differing: Vec<usize> = self.facts.differing_indexes(facts).collect();
        for at in differing {
            self.set_fact(task, FactId(at as u32), facts.get(at));
        }
    }

    /// Returns to the initial state, without recording changes.
    pub fn reset(&mut self, task: &Task) {
        self.facts.copy_from(&task.initial_facts);
        self.unmet_inputs.clone_from(&task.initial_unmet);
        self.changes.clear();
        self.flips.clear();
    }

    /// Returns the facts changed by the last [`Self::apply`] or [`Self::restore`].
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the instances whose applicability the last [`Self::apply`] or [`Self::restore`] changed, in order.
    pub fn flips(&self) -> &[Flip] {
        &self.flips
    }

    fn set_fact(&mut self, task: &Task, fact: FactId, value: bool) {
        if self.facts.get(fact.index()) == value {
            return;
        }
        self.facts.set(fact.index(), value);
        self.changes.push(Change { fact, is_true: value });
        self.notify_gates(task, task.fact_watchers.watchers_of(fact.index()), value);
    }

    /// Updates the gates that read a source whose value is now `value`. Recurses only along nested quantifiers, whose
    /// depth the parser bounds.
    fn notify_gates(&mut self, task: &Task, watchers: &[u32], value: bool) {
        for &watcher in watchers {
            let gate = (watcher >> 1) as usize;
            let met = value != (watcher & 1 == 1);
            let unmet = &mut self.unmet_inputs[gate];
            let flipped = if met {
                *unmet -= 1;
                *unmet == 0
            } else {
                *unmet += 1;
                *unmet == 1
            };
            if flipped {
                if gate < task.op_count() {
                    self.flips.push(Flip { op: OpId(gate as u32), is_applicable: met });
                } else {
                    self.notify_gates(task, task.gate_watchers.watchers_of(gate - task.op_count()), met);
                }
            }
        }
    }

    #[inline]
    fn holds_condition(&self, condition: Condition) -> bool {
        match condition {
            Condition::Constant(value) => value,
            Condition::Input(input) => self.holds_input(input),
        }
    }

    #[inline]
    pub(super) fn holds_input(&self, input: Input) -> bool {
        let value = match input.source() {
            Source::Fact(fact) => self.facts.get(fact as usize),
            Source::Gate(gate) => self.unmet_inputs[gate as usize] == 0,
        };
        value != input.is_negated()
    }
}

impl Task {
    /// Returns the initial state.
    pub fn initial(&self) -> State {
        State {
            facts: self.initial_facts.clone(),
            unmet_inputs: self.initial_unmet.clone(),
            ..State::default()
        }
    }
}
