//! Case-insensitive search.

use std::ops::Range;

/// Returns the byte ranges of `text` that match `pattern`, from left to right and not overlapping, ignoring case. An
/// empty `pattern` matches nothing.
pub fn search(text: &str, pattern: &str) -> Vec<Range<usize>> {
    if pattern.is_empty() {
        return Vec::new();
    }
    let pattern: String = pattern.chars().map(fold_case).collect();
    if text.is_ascii() {
        let folded = text.to_ascii_lowercase();
        return folded.match_indices(&pattern).map(|(start, found)| start..start + found.len()).collect();
    }
    let mut folded = String::with_capacity(text.len());
    // Folding changes the length of some characters, so pairs of offsets in both texts are recorded.
    let mut offsets = Vec::new();
    for (offset, c) in text.char_indices() {
        offsets.push((folded.len(), offset));
        folded.push(fold_case(c));
    }
    offsets.push((folded.len(), text.len()));
    let original_offset =
        |offset: usize| offsets.binary_search_by_key(&offset, |p| p.0).ok().map(|i| offsets[i].1);
    folded
        .match_indices(&pattern)
        .filter_map(|(start, found)| Some(original_offset(start)?..original_offset(start + found.len())?))
        .collect()
}

/// Returns the lower-case form if it is a single character, or else the character itself.
fn fold_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => c,
    }
}
