//! The limit of discarded pairs (`docs/EFFECT.md`).

/// With fewer pairs than this, any share of them may be discarded.
const FEWEST_FOR_DISCARD_LIMIT: u64 = 20;
/// The largest share of discarded pairs with which there is a verdict: one in this many.
const DISCARD_LIMIT: u64 = 20;

/// Returns whether so many pairs were discarded that there is no verdict: more than 5 % of at least 20.
pub fn too_many_discarded(counted: u64, discarded: u64) -> bool {
    let all = counted + discarded;
    all >= FEWEST_FOR_DISCARD_LIMIT && discarded * DISCARD_LIMIT > all
}
