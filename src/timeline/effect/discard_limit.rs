//! The limits of discarded pairs and of failed calls (`docs/EFFECT.md`).

/// With fewer pairs than this, any share of them may be discarded, and a measurement with failed calls goes on.
const FEWEST_FOR_LIMIT: u64 = 20;
/// The largest share of discarded pairs with which there is a verdict: one in this many.
const LIMIT: u64 = 20;

/// Returns whether so many pairs were discarded that there is no verdict: more than 5 % of at least 20.
pub fn too_many_discarded(counted: u64, discarded: u64) -> bool {
    let all = counted + discarded;
    all >= FEWEST_FOR_LIMIT && discarded * LIMIT > all
}

/// Returns whether so many episodes of an arm ended at a failed call that they show the server: more than half, however few there are.
pub(super) fn is_above_failure_limit(episodes: u64, failed: u64) -> bool {
    failed * 2 > episodes
}

/// Returns whether enough pairs are played to say that failed calls stay the rule.
pub(super) fn is_enough_for_limit(pairs: u64) -> bool {
    pairs >= FEWEST_FOR_LIMIT
}
