//! Text steering: a vector chooses among candidate sentences. Ours; it stands in for the paper's soft prompt, which needs a
//! model, and is always named as what it is.

use super::settings::ADVICE_SETTING;
use crate::bayes::RandomNumbers;
use crate::engine::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the screen and the journal call the instruction's source.
pub(super) const NAME: &str = "text steering, not the paper's soft prompt";

/// The longest file of candidate sentences, in bytes: each request for an instruction records them.
const MAX_FILE_BYTES: usize = 32 * 1024;

/// The most texts whose expected improvement is computed after a fit. Where there are more, these are drawn at random.
const MAX_TEXTS: usize = 4096;

/// Returns the candidate sentences of a run, in groups: those it was started with, else the built-in ones.
pub(super) fn candidates(state: &State) -> Vec<Vec<String>> {
    let recorded = state.run.as_ref().and_then(|run| run.settings.value(ADVICE_SETTING));
    recorded.and_then(|groups| Deserialize::deserialize(groups).ok()).unwrap_or_else(built_in)
}

fn built_in() -> Vec<Vec<String>> {
    parse(include_str!("prompts/advice.txt"))
}

/// Reads the candidate sentences of a file (`--advice`), one a line; a line that begins with `#` begins a group.
///
/// # Errors
/// Returns what is wrong with a file that has no choice to offer, or that is too long.
pub fn read_advice(file: &str) -> Result<Vec<Vec<String>>, String> {
    if file.len() > MAX_FILE_BYTES {
        return Err(format!("it is longer than {MAX_FILE_BYTES} bytes"));
    }
    let groups = parse(file);
    if groups.iter().all(|group| group.len() < 2) {
        return Err("a group of at least two sentences is needed, one a line; a line with # begins a group"
            .to_owned());
    }
    Ok(groups)
}

/// Reads candidate sentences, one a line; a line that begins with `#` begins a group.
fn parse(file: &str) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    for line in file.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            groups.push(Vec::new());
        } else if let Some(group) = groups.last_mut() {
            // The same sentence twice would make the same text twice.
            if !group.iter().any(|other| other == line) {
                group.push(line.to_owned());
            }
        } else {
            groups.push(vec![line.to_owned()]);
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Returns the index of the chosen sentence of each group. Each sentence has a random direction; of a group, the one whose
/// direction the vector follows most is chosen, of equal ones the first.
pub(super) fn choose(v: &[f64], groups: &[Vec<String>], seed: u64) -> Vec<usize> {
    let choose_one = |directions: &Vec<Vec<f64>>| {
        let (mut best, mut best_product) = (0, f64::NEG_INFINITY);
        for (index, direction) in directions.iter().enumerate() {
            let product: f64 = direction.iter().zip(v).map(|(a, b)| a * b).sum();
            if product > best_product {
                (best, best_product) = (index, product);
            }
        }
        best
    };
    directions(&sizes(groups), v.len(), seed).iter().map(choose_one).collect()
}

/// Returns how many sentences each group has.
pub(super) fn sizes(groups: &[Vec<String>]) -> Vec<usize> {
    groups.iter().map(Vec::len).collect()
}

/// Returns a random direction for each sentence of each group: a vector of length 1.
fn directions(sizes: &[usize], dimension: usize, seed: u64) -> Vec<Vec<Vec<f64>>> {
    let mut numbers = RandomNumbers::from_seed(seed);
    let mut direction = || {
        let mut direction: Vec<f64> = (0..dimension).map(|_| numbers.normal()).collect();
        let length = direction.iter().map(|value| value * value).sum::<f64>().sqrt();
        for value in &mut direction {
            *value /= length;
        }
        direction
    };
    sizes.iter().map(|size| (0..*size).map(|_| direction()).collect()).collect()
}

/// The texts that can be made of candidate sentences, one of each group, of which some have been evaluated. A text is the
/// indices of its sentences, and its vector the mean of their directions: texts that share sentences are near each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    /// How many sentences each group has.
    pub sizes: Vec<usize>,
    /// The seed of the sentences' directions.
    pub seed: u64,
    /// The texts with a known reward.
    pub known: Vec<Vec<usize>>,
}

impl Texts {
    /// Returns how many texts there are.
    pub(super) fn count(&self) -> usize {
        self.sizes.iter().fold(1, |count: usize, size| count.saturating_mul(*size))
    }

    /// Returns whether all of them are known.
    pub(super) fn are_all_known(&self) -> bool {
        self.known.iter().collect::<BTreeSet<_>>().len() >= self.count()
    }

    /// Returns those that aren't known, at most [`MAX_TEXTS`], in a random order.
    pub(super) fn unknown(&self, order_seed: u64) -> Vec<Vec<usize>> {
        let mut numbers = RandomNumbers::from_seed(order_seed);
        let mut seen: BTreeSet<Vec<usize>> = self.known.iter().cloned().collect();
        if self.count() <= MAX_TEXTS {
            let mut texts: Vec<Vec<usize>> = (0..self.count()).map(|number| self.numbered(number)).collect();
            texts.retain(|text| !seen.contains(text));
            numbers.shuffle(&mut texts);
            return texts;
        }
        let free = self.count().saturating_sub(seen.len()).min(MAX_TEXTS);
        let mut texts = Vec::new();
        while texts.len() < free {
            let text: Vec<usize> = self.sizes.iter().map(|size| numbers.below(*size)).collect();
            if seen.insert(text.clone()) {
                texts.push(text);
            }
        }
        texts
    }

    /// Returns the text with a number below [`Self::count`].
    fn numbered(&self, mut number: usize) -> Vec<usize> {
        let digit = |size: &usize| {
            let index = number % size;
            number /= size;
            index
        };
        self.sizes.iter().map(digit).collect()
    }

    /// Returns the vectors of texts.
    pub(super) fn vectors(&self, texts: &[Vec<usize>], dimension: usize) -> Vec<Vec<f64>> {
        let directions = directions(&self.sizes, dimension, self.seed);
        let vector = |text: &Vec<usize>| {
            let chosen: Vec<&Vec<f64>> =
                directions.iter().zip(text).filter_map(|(group, index)| group.get(*index)).collect();
            let mean = |axis: usize| {
                chosen.iter().map(|direction| direction[axis]).sum::<f64>() / chosen.len().max(1) as f64
            };
            (0..dimension).map(mean).collect()
        };
        texts.iter().map(vector).collect()
    }
}

/// Joins the chosen sentences.
pub(super) fn compose(groups: &[Vec<String>], chosen: &[usize]) -> String {
    let sentences = groups.iter().zip(chosen).filter_map(|(group, index)| group.get(*index));
    sentences.map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_three_groups_of_eight_different_sentences() {
        let groups = built_in();
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 8]);
        assert_eq!(groups.iter().flatten().collect::<BTreeSet<_>>().len(), 24);
    }

    #[test]
    fn every_sentence_can_be_chosen_and_equal_vectors_choose_the_same() {
        let groups = built_in();
        let mut numbers = RandomNumbers::from_seed(1);
        let mut seen = BTreeSet::new();
        for _ in 0..2000 {
            let v = numbers.point(10, [-1.0, 1.0]);
            let chosen = choose(&v, &groups, 7);
            assert_eq!(chosen, choose(&v, &groups, 7));
            seen.extend(chosen.into_iter().enumerate());
        }
        assert_eq!(seen.len(), 24);
    }

    #[test]
    fn a_zero_vector_chooses_the_first_of_each_group() {
        let groups = built_in();
        assert_eq!(choose(&[0.0; 4], &groups, 7), [0, 0, 0]);
        assert!(compose(&groups, &[0, 0, 0]).starts_with(&groups[0][0]));
    }

    #[test]
    fn a_file_without_a_choice_is_refused() {
        assert_eq!(read_advice("# a\none\ntwo\n# b\nthree").unwrap(), [vec!["one", "two"], vec!["three"]]);
        assert!(read_advice("# a\none\n# b\nthree").unwrap_err().contains("at least two sentences"));
        assert!(read_advice("").is_err());
        assert!(read_advice(&"a\n".repeat(20_000)).unwrap_err().contains("longer than"));
    }

    #[test]
    fn a_sentence_counts_once_in_its_group() {
        assert_eq!(parse("# a\none\ntwo\none\n# b\none"), [vec!["one", "two"], vec!["one"]]);
    }

    #[test]
    fn all_texts_but_the_known_ones_are_returned_once_in_the_order_of_the_seed() {
        let texts = Texts { sizes: vec![3, 2, 4], seed: 7, known: vec![vec![2, 1, 0], vec![0, 0, 3]] };
        let unknown = texts.unknown(1);
        assert_eq!(unknown.iter().collect::<BTreeSet<_>>().len(), 22);
        assert_eq!(unknown.len(), 22);
        assert!(unknown.iter().all(|text| !texts.known.contains(text)));
        assert_eq!(texts.unknown(1), unknown);
        assert_ne!(texts.unknown(2), unknown);
        let known = (0..24).map(|number| texts.numbered(number)).collect();
        assert!(!texts.are_all_known() && Texts { known, ..texts }.are_all_known());
    }

    #[test]
    fn of_many_texts_some_are_drawn() {
        let known = vec![vec![0; 9]];
        let texts = Texts { sizes: vec![200; 9], seed: 7, known };
        let unknown = texts.unknown(1);
        assert_eq!(unknown.iter().collect::<BTreeSet<_>>().len(), MAX_TEXTS);
        assert!(!texts.are_all_known() && !unknown.contains(&texts.known[0]));
    }

    #[test]
    fn texts_with_more_common_sentences_are_nearer() {
        let texts = Texts { sizes: vec![8, 8, 8], seed: 7, known: Vec::new() };
        let distance = |a: [usize; 3], b: [usize; 3]| {
            let vectors = texts.vectors(&[a.to_vec(), b.to_vec()], 10);
            let squares = vectors[0].iter().zip(&vectors[1]).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt()
        };
        // The distance is that of the other sentences, whatever the common ones are.
        let one = distance([0, 1, 2], [0, 1, 3]);
        assert!((distance([4, 5, 2], [4, 5, 3]) - one).abs() < 1e-12);
        assert!(one > 0.1 && distance([0, 1, 2], [5, 6, 3]) > one, "{one}");
    }

    #[test]
    fn lines_before_the_first_group_are_a_group() {
        assert_eq!(parse("one\n\n# next\ntwo\nthree\n# empty\n"), [vec!["one"], vec!["two", "three"]]);
    }
}
