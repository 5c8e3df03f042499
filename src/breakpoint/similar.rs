//! Finds known names that are similar to a mistyped one.

use strsim::levenshtein;

/// Returns the most similar word, or `None` if no word is similar enough.
pub(super) fn most_similar<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.chars().count() > 24 {
        return None;
    }
    let closest = known.iter().map(|k| (levenshtein(word, k), *k)).min();
    closest.filter(|(d, k)| *d <= 2.min(k.len() / 2)).map(|n| n.1)
}

/// Returns up to three names that are similar or share a whole word with this one, most similar first.
pub(super) fn similar_names<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const MAX_NAMES: usize = 3;
    const MIN_CHARS: usize = 4;
    if name.chars().count() > 40 {
        return Vec::new();
    }
    let shares_word = |k: &str| {
        let mut words = name.split('_').filter(|w| w.len() >= MIN_CHARS);
        words.any(|word| k.split('_').any(|other| other == word))
    };
    let mut candidates: Vec<(usize, &str)> = known.iter().map(|k| (levenshtein(name, k), *k)).collect();
    candidates.retain(|(d, k)| *d <= (k.len() / 3).max(1) || shares_word(k));
    candidates.sort_unstable();
    // If one name is nearly identical, the others are noise.
    if candidates.first().is_some_and(|n| n.0 <= 2) {
        candidates.retain(|n| n.0 <= 2);
    }
    candidates.into_iter().take(MAX_NAMES).map(|(_, k)| k).collect()
}
