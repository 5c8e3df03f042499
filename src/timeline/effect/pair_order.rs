//! The order in which pairs count, and the limit of discarded pairs (section 3 of `docs/EFFECT.md`).

use std::collections::BTreeMap;

/// With fewer pairs than this, any share of them may be discarded.
const FEWEST_FOR_DISCARD_LIMIT: u64 = 20;
/// The largest share of discarded pairs with which there is a verdict: one in this many.
const DISCARD_LIMIT: u64 = 20;

/// Passes pairs on in the order of their indices: one that finishes early waits until all before it are finished or
/// discarded. Pairs that counted in the order of completion would favour short episodes, which are the won ones.
#[derive(Clone, Debug)]
pub struct InOrder<T> {
    next: u64,
    /// Finished or discarded pairs that wait for an earlier one; `None` is a discarded one.
    waiting: BTreeMap<u64, Option<T>>,
    counted: u64,
    discarded: u64,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { next: 1, waiting: BTreeMap::new(), counted: 0, discarded: 0 }
    }
}

impl<T> InOrder<T> {
    /// Reports a finished pair, whose indices are counted from 1, and returns the pairs that count now. A pair that was reported
    /// before isn't counted again.
    pub fn finish(&mut self, pair: u64, result: T) -> Vec<(u64, T)> {
        self.report(pair, Some(result))
    }

    /// Reports a discarded pair and returns the pairs that count now.
    pub fn discard(&mut self, pair: u64) -> Vec<(u64, T)> {
        self.report(pair, None)
    }

    fn report(&mut self, pair: u64, result: Option<T>) -> Vec<(u64, T)> {
        if pair >= self.next {
            self.waiting.entry(pair).or_insert(result);
        }
        let mut ready = Vec::new();
        while let Some(result) = self.waiting.remove(&self.next) {
            match result {
                Some(result) => {
                    ready.push((self.next, result));
                    self.counted += 1;
                }
                None => self.discarded += 1,
            }
            self.next += 1;
        }
        ready
    }

    /// Returns the index of the first pair that hasn't been reported.
    pub fn next_pair(&self) -> u64 {
        self.next
    }

    /// Returns the number of finished pairs that wait for an earlier one.
    pub fn waiting(&self) -> usize {
        self.waiting.values().filter(|result| result.is_some()).count()
    }

    /// Returns the number of discarded pairs before the first one that hasn't been reported.
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Returns whether so many pairs were discarded that there is no verdict: more than 5 % of at least 20.
    pub fn has_too_many_discarded(&self) -> bool {
        too_many_discarded(self.counted, self.discarded)
    }
}

/// Returns whether so many pairs were discarded that there is no verdict: more than 5 % of at least 20.
pub fn too_many_discarded(counted: u64, discarded: u64) -> bool {
    let all = counted + discarded;
    all >= FEWEST_FOR_DISCARD_LIMIT && discarded * DISCARD_LIMIT > all
}
