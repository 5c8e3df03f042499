//! Lessons that say the same or the opposite.

use super::{DUPLICATE_COSINE, Finding, LessonRef};
use crate::domain::{Lesson, ReflectionKind, Scope, WordCounts};

/// The words that turn a sentence into its opposite, as they stand in [`split_words`]; "do" goes with "not".
const NEGATIONS: [&str; 4] = ["not", "never", "don't", "avoid"];
/// The words before a place.
const PLACE_PREPOSITIONS: [&str; 9] = ["in", "on", "in/on", "at", "with", "using", "inside", "into", "from"];
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// A text prepared for comparisons.
pub(super) struct Prepared {
    counts: WordCounts,
    counts_without_negations: WordCounts,
    is_negated: bool,
    words: Vec<String>,
}

impl Prepared {
    pub(super) fn new(text: &str) -> Self {
        let words = split_words(text);
        let is_negation = |word: &str| NEGATIONS.contains(&word);
        let mut positive = Vec::with_capacity(words.len());
        for (index, word) in words.iter().enumerate() {
            let belongs_to_not = word == "do" && words.get(index + 1).is_some_and(|next| next == "not");
            if !is_negation(word) && !belongs_to_not {
                positive.push(word.as_str());
            }
        }
        Self {
            // Exactly as in DORA's public code; what follows is ours.
            counts: WordCounts::of(text),
            counts_without_negations: WordCounts::of(&positive.join(" ")),
            is_negated: words.iter().any(|word| is_negation(word)),
            words,
        }
    }

    /// Returns whether two texts ask for opposite things, by their words: one negates what the other says, or both are the same
    /// sentence with different places. Most contradictions aren't found this way.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        let is_opposite = self.is_negated != other.is_negated
            && self.counts_without_negations.cosine(&other.counts_without_negations) >= DUPLICATE_COSINE;
        is_opposite || self.names_another_place(other)
    }

    /// Returns whether both are the same sentence with different places: all words but one are equal, and that one follows a
    /// preposition and perhaps an article.
    fn names_another_place(&self, other: &Self) -> bool {
        if self.words.len() != other.words.len() {
            return false;
        }
        // An article may differ with the place: a shelf, an ottoman.
        let is_article = |word: &str| ARTICLES.contains(&word);
        let mut different = self
            .words
            .iter()
            .zip(&other.words)
            .enumerate()
            .filter(|(_, (x, y))| x != y && !(is_article(x) && is_article(y)));
        let (Some((index, _)), None) = (different.next(), different.next()) else { return false };
        let mut before = self.words.get(..index).unwrap_or_default().iter().rev().map(String::as_str);
        let last = before.next().filter(|word| !is_article(word)).or_else(|| before.next());
        last.is_some_and(|word| PLACE_PREPOSITIONS.contains(&word))
    }
}

/// Returns the contradictions and duplicates among active lessons. Progress lessons describe one moment and aren't compared.
pub(super) fn compare_lessons(
    lessons: &[&Lesson],
    tasks: impl Fn(&Lesson) -> Option<String>,
) -> Vec<Finding> {
    let compared: Vec<(&Lesson, Prepared, Option<String>)> = lessons
        .iter()
        .filter(|lesson| lesson.kind != ReflectionKind::Progress && lesson.scope != Scope::Episode)
        .map(|lesson| {
            let task = (lesson.scope == Scope::Task).then(|| tasks(lesson)).flatten();
            (*lesson, Prepared::new(&lesson.text().normalized()), task)
        })
        .collect();
    let (mut contradictions, mut duplicates) = (Vec::new(), Vec::new());
    for (index, (first, first_text, first_task)) in compared.iter().enumerate() {
        for (second, second_text, second_task) in compared.iter().skip(index + 1) {
            if first_task.is_some() && second_task.is_some() && first_task != second_task {
                continue;
            }
            let lessons = || [LessonRef::new(first), LessonRef::new(second)];
            let cosine = first_text.counts.cosine(&second_text.counts);
            if first_text.contradicts(second_text) {
                contradictions.push(Finding::Contradiction { lessons: lessons() });
            } else if cosine >= DUPLICATE_COSINE {
                duplicates.push(Finding::Duplicate { lessons: lessons(), cosine: cosine.min(1.0) });
            }
        }
    }
    contradictions.append(&mut duplicates);
    contradictions
}

/// Returns the words of a text in lower case, without punctuation around them, nouns in the singular: "a shelf" and "the shelves" name the same place.
fn split_words(text: &str) -> Vec<String> {
    text.replace('\u{2019}', "'")
        .split_whitespace()
        .map(|word| singular(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns a word without the ending of a plural, as far as spelling tells.
fn singular(word: &str) -> String {
    let stem = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.len() > 1);
    if let Some(stem) = stem("ves") {
        return format!("{stem}f");
    }
    if let Some(stem) = stem("ies") {
        return format!("{stem}y");
    }
    let is_plural = !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is");
    stem("s").filter(|_| is_plural).unwrap_or(word).to_owned()
}
