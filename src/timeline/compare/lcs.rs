//! A longest common subsequence of two lists of numbers.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Up to this product of the lengths the result is exact: 2,000 steps each, some 40 ms if they have little in common.
const MAX_EXACT_CELLS: usize = 4_000_000;

/// Returns the index pairs (in `a`, in `b`) of a longest common subsequence, in order. For longer lists that differ much, it
/// is a common subsequence but perhaps not the longest.
pub(super) fn lcs(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let is_short = a.len().saturating_mul(b.len()) <= MAX_EXACT_CELLS;
    let algorithm = if is_short { Algorithm::RawMyers } else { Algorithm::Myers };
    let equal = |change: DiffOp| match change {
        DiffOp::Equal { old_index, new_index, len } => Some((old_index..old_index + len).zip(new_index..)),
        _ => None,
    };
    capture_diff_slices(algorithm, a, b).into_iter().filter_map(equal).flatten().collect()
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
    }

    #[test]
    fn long_lists_that_differ_have_a_common_subsequence_in_bounded_time() {
        let a: Vec<u32> = (0..14_000_u32).map(|n| n * n % 97).collect();
        let b: Vec<u32> = (0..14_000_u32).map(|n| n * n % 89).collect();
        assert!(a.len() * b.len() > MAX_EXACT_CELLS);
        let found = lcs(&a, &b);
        assert!(found.iter().all(|(i, j)| a[*i] == b[*j]));
        assert!(found.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        assert!(found.len() * 10 > lcs_length(&a, &b) * 9, "{} pairs", found.len());
    }
}
