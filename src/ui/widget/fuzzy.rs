//! Fuzzy ranking of rows by a query.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Returns the indices of matching rows, best first. Ties keep their order, and an empty query matches all rows in
/// order.
pub(crate) fn rank<'a>(query: &str, rows: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let query = query.trim();
    if query.is_empty() {
        return (0..rows.count()).collect();
    }
    let pattern = Pattern::new(query, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut scored: Vec<(usize, u32)> = rows
        .enumerate()
        .filter_map(|(place, row)| {
            Some((place, pattern.score(Utf32Str::new(row, &mut letters), &mut matcher)?))
        })
        .collect();
    scored.sort_by_key(|(place, score)| (std::cmp::Reverse(*score), *place));
    scored.into_iter().map(|s| s.0).collect()
}
