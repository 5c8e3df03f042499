//! Ground conditions as AND gates: a gate is true while all of its inputs are true.
//!
//! An input is a fact or another gate, possibly negated, which is enough to express every condition (a disjunction is a
//! negated conjunction of negations). Each gate counts its unmet inputs, so changing a fact costs work only for the
//! gates that read it.

use super::error::{PddlError, too_large};
use super::limits;

/// A fact or a gate, possibly negated. Bit 0: negated; bit 1: a gate, not a fact; the other bits: its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Input(u32);

/// What an input reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Fact(u32),
    Gate(u32),
}

impl Input {
    pub(super) fn fact(fact: u32) -> Self {
        Self(fact << 2)
    }

    pub(super) fn gate(gate: u32) -> Self {
        Self(gate << 2 | 2)
    }

    /// Returns the negated input.
    pub(super) fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }

    #[inline]
    pub(super) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    #[inline]
    pub(super) fn source(self) -> Source {
        if self.0 & 2 == 0 { Source::Fact(self.0 >> 2) } else { Source::Gate(self.0 >> 2) }
    }

    /// Returns the same input after facts and gates have been renumbered.
    pub(super) fn renumbered(self, facts: &[u32], first_gate: u32) -> Self {
        let moved = match self.source() {
            Source::Fact(fact) => Self::fact(facts[fact as usize]),
            Source::Gate(gate) => Self::gate(gate + first_gate),
        };
        if self.is_negated() { moved.negated() } else { moved }
    }
}

/// A condition after its static parts have been evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Constant(bool),
    Input(Input),
}

/// The inputs of all gates, one row per gate.
#[derive(Clone, Debug)]
pub(super) struct InputRows {
    starts: Vec<u32>,
    cells: Vec<Input>,
}

impl Default for InputRows {
    fn default() -> Self {
        Self { starts: vec![0], cells: Vec::new() }
    }
}

impl InputRows {
    pub(super) fn push(&mut self, row: &[Input]) -> Result<u32, PddlError> {
        if row.len() > limits::GATE_INPUTS {
            return Err(too_large("parts of one ground condition", limits::GATE_INPUTS));
        }
        self.cells.extend_from_slice(row);
        if self.cells.len() > limits::INPUTS {
            return Err(too_large("parts of all ground conditions", limits::INPUTS));
        }
        self.starts.push(self.cells.len() as u32);
        Ok(self.len() as u32 - 1)
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn row(&self, at: usize) -> &[Input] {
        &self.cells[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Input]> + Clone {
        (0..self.len()).map(|at| self.row(at))
    }

    pub(super) fn renumber(&mut self, facts: &[u32], first_gate: u32) {
        for cell in &mut self.cells {
            *cell = cell.renumbered(facts, first_gate);
        }
    }
}

/// For each source, the gates that read it. An entry is the gate's index times two, plus one if the gate reads the
/// negation.
#[derive(Clone, Debug, Default)]
pub(super) struct Watchers {
    starts: Vec<u32>,
    gates: Vec<u32>,
}

impl Watchers {
    /// Collects the watchers of `count` sources from all gates. `pick` returns the index of a source of the wanted
    /// kind, and `None` for others.
    pub(super) fn from_gates<'a>(
        count: usize,
        gates: impl Iterator<Item = &'a [Input]> + Clone,
        pick: impl Fn(Source) -> Option<u32>,
    ) -> Self {
        let mut starts = vec![0_u32; count + 1];
        for input in gates.clone().flatten() {
            if let Some(at) = pick(input.source()) {
                starts[at as usize + 1] += 1;
            }
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[count] as usize];
        for (gate, row) in gates.enumerate() {
            for input in row {
                if let Some(at) = pick(input.source()) {
                    entries[next[at as usize] as usize] = (gate as u32) << 1 | u32::from(input.is_negated());
                    next[at as usize] += 1;
                }
            }
        }
        Self { starts, gates: entries }
    }

    #[inline]
    pub(super) fn watchers_of(&self, source: usize) -> &[u32] {
        match self.starts.get(source..source + 2) {
            Some(&[from, to]) => &self.gates[from as usize..to as usize],
            _ => &[],
        }
    }
}
