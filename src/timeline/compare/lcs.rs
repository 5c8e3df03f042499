//! The longest common subsequence of two lists of numbers, computed 64 columns at a time (bit-parallel).
//!
//! The table has one row per symbol of `a` and one bit per symbol of `b`. In the row of `a[i]`, the bit of `b[j]` is 0
//! if the longest common subsequence of `a[..=i]` with `b[..=j]` is one longer than that with `b[..j]`. Each row is
//! computed from the previous one by an addition with carry. If all rows fit into [`MAX_STORED_WORDS`], they are
//! stored, and the result is traced back through them; otherwise the lists are split where the halves have the most in
//! common (Hirschberg). At most `2 * a.len() * b.len() / 64` words are processed, in bounded memory. The result is
//! exact up to [`MAX_WORK`].

use std::collections::HashMap;

/// Maximum number of stored row words (16 MB), enough for two lists of 11,000.
const MAX_STORED_WORDS: usize = 2 << 20;
/// Maximum number of processed words; beyond it, both lists are split in the middle, and the result is a common
/// subsequence but not necessarily the longest.
const MAX_WORK: usize = 1 << 30;

/// Returns the index pairs (in `a`, in `b`) of a longest common subsequence, in order.
pub(super) fn lcs(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    collect_lcs(&SymbolList::new(a, 0), &SymbolList::new(b, 0), &mut found);
    found
}

/// Symbols of a list with their positions in it. Symbols that the other list doesn't have can be left out.
struct SymbolList {
    symbols: Vec<u32>,
    positions: Vec<usize>,
}

impl SymbolList {
    fn new(list: &[u32], from: usize) -> Self {
        Self { symbols: list.to_vec(), positions: (from..from + list.len()).collect() }
    }

    fn len(&self) -> usize {
        self.symbols.len()
    }

    fn split_at(&self, index: usize) -> (Self, Self) {
        let slice = |range: std::ops::Range<usize>| Self {
            symbols: self.symbols[range.clone()].to_vec(),
            positions: self.positions[range].to_vec(),
        };
        (slice(0..index), slice(index..self.len()))
    }

    /// Removes the symbols that the other list does not have.
    fn common_with(&self, other: &Self) -> Self {
        let other_symbols: std::collections::HashSet<u32> = other.symbols.iter().copied().collect();
        let kept = || self.symbols.iter().zip(&self.positions).filter(|(s, _)| other_symbols.contains(s));
        Self { symbols: kept().map(|k| *k.0).collect(), positions: kept().map(|k| *k.1).collect() }
    }
}

fn collect_lcs(a: &SymbolList, b: &SymbolList, found: &mut Vec<(usize, usize)>) {
    let (a, b) = (&a.common_with(b), &b.common_with(a));
    if a.len() == 0 || b.len() == 0 {
        return;
    }
    let words = b.len().div_ceil(64);
    if a.len() * words <= MAX_STORED_WORDS {
        return trace_back(a, b, found);
    }
    let a_split = a.len() / 2;
    let (first, second) = a.split_at(a_split);
    let b_split =
        if a.len().saturating_mul(words) > MAX_WORK { b.len() / 2 } else { split_point(&first, &second, b) };
    let (left, right) = b.split_at(b_split);
    collect_lcs(&first, &left, found);
    collect_lcs(&second, &right, found);
}

/// Returns the index at which to split `b` so that its parts have the most in common with the halves of `a`.
fn split_point(first: &SymbolList, second: &SymbolList, b: &SymbolList) -> usize {
    let forward = prefix_lengths(&first.symbols, &b.symbols);
    let reversed = |list: &[u32]| list.iter().rev().copied().collect::<Vec<_>>();
    let backward = prefix_lengths(&reversed(&second.symbols), &reversed(&b.symbols));
    let len = b.len();
    // Of equally good splits the first is chosen, so that the result depends only on the lists.
    (0..=len).rev().max_by_key(|j| forward[*j] + backward[len - j]).unwrap_or(0)
}

/// Returns, for each prefix of `b`, the length of the longest common subsequence with `a`.
fn prefix_lengths(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut masks = SymbolMasks::new(b);
    let mut row = vec![u64::MAX; masks.words];
    for symbol in a {
        masks.next_row(*symbol, &mut row);
    }
    let mut length = 0;
    let lengths = (0..b.len()).map(|j| {
        length += u32::from(!is_bit_set(&row, j));
        length
    });
    std::iter::once(0).chain(lengths).collect()
}

/// Stores every row and traces the result back from the end to the beginning.
fn trace_back(a: &SymbolList, b: &SymbolList, found: &mut Vec<(usize, usize)>) {
    let mut masks = SymbolMasks::new(&b.symbols);
    let words = masks.words;
    let mut rows: Vec<u64> = Vec::with_capacity(a.len() * words);
    let mut row = vec![u64::MAX; words];
    for symbol in &a.symbols {
        masks.next_row(*symbol, &mut row);
        rows.extend_from_slice(&row);
    }
    let is_set = |i: usize, j: usize| is_bit_set(&rows[i * words..(i + 1) * words], j);
    let (mut i, mut j) = (a.len(), b.len());
    let start = found.len();
    while i > 0 && j > 0 {
        if is_set(i - 1, j - 1) {
            j -= 1;
        } else {
            i -= 1;
            if i == 0 || is_set(i - 1, j - 1) {
                j -= 1;
                found.push((a.positions[i], b.positions[j]));
            }
        }
    }
    found[start..].reverse();
}

fn is_bit_set(row: &[u64], bit: usize) -> bool {
    row[bit / 64] >> (bit % 64) & 1 == 1
}

/// The positions of each symbol as bit masks. Frequent symbols, of which there are few, have a stored mask; the masks
/// of others are built in `scratch` when needed.
struct SymbolMasks {
    words: usize,
    positions: HashMap<u32, Vec<u32>>,
    stored_masks: HashMap<u32, Vec<u64>>,
    scratch: Vec<u64>,
}

impl SymbolMasks {
    fn new(b: &[u32]) -> Self {
        let words = b.len().div_ceil(64);
        let mut positions: HashMap<u32, Vec<u32>> = HashMap::new();
        for (index, symbol) in b.iter().enumerate() {
            positions.entry(*symbol).or_default().push(index as u32);
        }
        let mut stored_masks = HashMap::new();
        for (symbol, indices) in positions.iter().filter(|(_, indices)| indices.len() > words) {
            let mut mask = vec![0; words];
            set_bits(&mut mask, indices);
            stored_masks.insert(*symbol, mask);
        }
        Self { words, positions, stored_masks, scratch: vec![0; words] }
    }

    /// Computes the next row for one more symbol.
    fn next_row(&mut self, symbol: u32, row: &mut [u64]) {
        if let Some(mask) = self.stored_masks.get(&symbol) {
            return advance_row(row, mask);
        }
        let Some(positions) = self.positions.get(&symbol) else { return };
        set_bits(&mut self.scratch, positions);
        advance_row(row, &self.scratch);
        for position in positions {
            self.scratch[*position as usize / 64] = 0;
        }
    }
}

fn set_bits(mask: &mut [u64], positions: &[u32]) {
    for position in positions {
        mask[*position as usize / 64] |= 1 << (position % 64);
    }
}

fn advance_row(row: &mut [u64], mask: &[u64]) {
    let mut carry = false;
    for (word, mask) in row.iter_mut().zip(mask) {
        let common = *word & mask;
        let (sum, overflowed) = word.overflowing_add(common);
        let (sum, carry_overflowed) = sum.overflowing_add(u64::from(carry));
        carry = overflowed || carry_overflowed;
        *word = sum | (*word & !mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the length of a longest common subsequence, computed by the textbook algorithm.
    fn lcs_length(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
                corner = above;
            }
        }
        row[b.len()]
    }

    fn assert_lcs(a: &[u32], b: &[u32], found: &[(usize, usize)]) {
        assert!(found.iter().all(|(i, j)| a[*i] == b[*j]), "paired symbols are equal");
        assert!(found.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1), "in order: {found:?}");
        assert_eq!(found.len(), lcs_length(a, b), "not the longest: {a:?} {b:?}");
    }

    fn list() -> impl Strategy<Value = Vec<u32>> {
        prop_oneof![
            proptest::collection::vec(0..3_u32, 0..200),
            proptest::collection::vec(0..40_u32, 0..200),
            proptest::collection::vec(0..1000_u32, 0..100),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn the_result_is_a_longest_common_subsequence(a in list(), b in list()) {
            assert_lcs(&a, &b, &lcs(&a, &b));
        }

        #[test]
        fn splitting_preserves_the_length(a in list(), b in list()) {
            let cut = a.len() / 2;
            let (first, second) = SymbolList::new(&a, 0).split_at(cut);
            let at = split_point(&first, &second, &SymbolList::new(&b, 0));
            prop_assert_eq!(lcs_length(&a[..cut], &b[..at]) + lcs_length(&a[cut..], &b[at..]), lcs_length(&a, &b));
        }
    }

    #[test]
    fn long_lists_are_split() {
        let a: Vec<u32> = (0..14_000_u32).map(|n| n * n % 97).collect();
        let b: Vec<u32> = (0..14_000_u32).map(|n| n * n % 89).collect();
        assert!(a.len() * b.len().div_ceil(64) > MAX_STORED_WORDS);
        let found = lcs(&a, &b);
        assert!(found.iter().all(|(i, j)| a[*i] == b[*j]));
        assert!(found.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        assert_eq!(found.len() as u32, prefix_lengths(&a, &b)[b.len()]);
    }
}
