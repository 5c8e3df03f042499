//! How an answer is compared with the right one: the data set's normalisation, exact match and F1.

use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static ARTICLES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b(a|an|the)\b").ok());

/// Answers that are right or wrong as a whole: against any other text their F1 is 0.
const WHOLE_ANSWERS: [&str; 3] = ["yes", "no", "noanswer"];

/// How good an answer is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// Whether it is the right one, apart from case, punctuation, articles and blanks.
    pub(super) is_exact: bool,
    /// The harmonic mean of precision and recall of its words, from 0 to 1.
    pub(super) f1: f64,
}

/// Returns a text in lower case without ASCII punctuation and articles, its words joined by single blanks.
pub(super) fn normalize(text: &str) -> String {
    let lower: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let without_articles = ARTICLES
        .as_ref()
        .map_or_else(|| lower.clone(), |articles| articles.replace_all(&lower, " ").into_owned());
    without_articles.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compares an answer with the right one.
pub(super) fn score(answer: &str, right_answer: &str) -> Score {
    let (answer, right) = (normalize(answer), normalize(right_answer));
    let is_exact = answer == right;
    let is_whole = |text: &str| WHOLE_ANSWERS.contains(&text);
    let f1 =
        if (is_whole(&answer) || is_whole(&right)) && !is_exact { 0.0 } else { word_f1(&answer, &right) };
    Score { is_exact, f1 }
}

fn word_f1(answer: &str, right: &str) -> f64 {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for word in right.split(' ').filter(|word| !word.is_empty()) {
        *left.entry(word).or_default() += 1;
    }
    let words: Vec<&str> = answer.split(' ').filter(|word| !word.is_empty()).collect();
    let common = words
        .iter()
        .filter(|word| match left.get_mut(**word) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        })
        .count();
    if common == 0 {
        return 0.0;
    }
    let right_count = right.split(' ').count();
    let (precision, recall) = (common as f64 / words.len() as f64, common as f64 / right_count as f64);
    2.0 * precision * recall / (precision + recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared_without_case_punctuation_and_articles() {
        // The numbers of the first three follow from the published evaluation script.
        for (answer, right, is_exact, f1) in [
            ("The Eiffel Tower!", "eiffel tower", true, 1.0),
            ("a b c", "b c d", false, 0.8),
            ("yes", "yes it is", false, 0.0),
            ("no", "No.", true, 1.0),
            ("an  apple\ta day", "apple day", true, 1.0),
            ("b b c", "b c c", false, 2.0 / 3.0),
            ("x", "y", false, 0.0),
            ("", "y", false, 0.0),
            ("theatre", "the atre", false, 0.0),
            ("U.S.", "US", true, 1.0),
            ("Müller-Straße", "müllerstraße", true, 1.0),
        ] {
            let found = score(answer, right);
            assert_eq!(found.is_exact, is_exact, "{answer} against {right}");
            assert!((found.f1 - f1).abs() < 1e-12, "{answer} against {right}: {}", found.f1);
            let turned = score(right, answer);
            assert!((turned.f1 - found.f1).abs() < 1e-12, "{answer} and {right} are not symmetric");
        }
    }
}
