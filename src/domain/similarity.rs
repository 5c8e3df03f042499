//! The similarity of two texts (`docs/EFFECT.md`).

use std::collections::BTreeMap;

/// How often each word occurs in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCounts(BTreeMap<String, u64>);

impl WordCounts {
    /// Counts the words of a text: runs of the letters a to z, regardless of case, as in DORA's public code.
    pub fn of(text: &str) -> Self {
        Self::of_words(lower_case_words(text))
    }

    /// Counts words.
    pub fn of_words(words: impl IntoIterator<Item = String>) -> Self {
        let mut counts = BTreeMap::new();
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
        Self(counts)
    }

    /// Returns the number of words, repetitions included.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the cosine of the angle between both counts: 1 for the same words equally often, 0 without a common word or if a
    /// text has none.
    pub fn cosine(&self, other: &Self) -> f64 {
        let product: u64 = self.0.iter().filter_map(|(word, n)| other.0.get(word).map(|m| n * m)).sum();
        // One root of the product, so that equal texts give exactly 1.
        let norm = (self.squares() as f64 * other.squares() as f64).sqrt();
        if norm > 0.0 { product as f64 / norm } else { 0.0 }
    }

    fn squares(&self) -> u64 {
        self.0.values().map(|n| n * n).sum()
    }
}

/// Returns the words of a text in lower case.
pub fn lower_case_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}
