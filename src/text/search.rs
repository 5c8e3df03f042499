//! Finding words.

use std::ops::Range;

/// Byte ranges of `text` in which `wanted` stands, from left to right and not overlapping; upper and lower case are the
/// same. Nothing wanted is found nowhere.
pub fn search(text: &str, wanted: &str) -> Vec<Range<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let wanted: String = wanted.chars().map(fold_case).collect();
    if text.is_ascii() {
        let folded = text.to_ascii_lowercase();
        return folded.match_indices(&wanted).map(|(at, found)| at..at + found.len()).collect();
    }
    let mut folded = String::with_capacity(text.len());
    // Folding changes the length of some characters, so the places of both texts are kept side by side.
    let mut places = Vec::new();
    for (at, c) in text.char_indices() {
        places.push((folded.len(), at));
        folded.push(fold_case(c));
    }
    places.push((folded.len(), text.len()));
    let back = |place: usize| places.binary_search_by_key(&place, |p| p.0).ok().map(|i| places[i].1);
    folded.match_indices(&wanted).filter_map(|(at, found)| Some(back(at)?..back(at + found.len())?)).collect()
}

/// The lower-case form where it is a single character; the rest stay as they are.
fn fold_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => c,
    }
}
