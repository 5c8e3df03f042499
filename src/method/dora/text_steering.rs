//! Text steering: a vector chooses among candidate sentences. Ours; it stands in for the paper's soft prompt, which needs a
//! model, and is always named as what it is.

use super::settings::ADVICE_SETTING;
use crate::bayes::RandomNumbers;
use crate::engine::State;
use serde::Deserialize;

/// What the screen and the journal call the instruction's source.
pub(super) const NAME: &str = "text steering, not the paper's soft prompt";

/// The longest file of candidate sentences, in bytes: each request for an instruction records them.
const MAX_FILE_BYTES: usize = 32 * 1024;

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
            group.push(line.to_owned());
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
    let mut numbers = RandomNumbers::from_seed(seed);
    let mut choose_one = |group: &Vec<String>| {
        let (mut best, mut best_product) = (0, f64::NEG_INFINITY);
        for index in 0..group.len() {
            let anchor: Vec<f64> = v.iter().map(|_| numbers.normal()).collect();
            let length = anchor.iter().map(|value| value * value).sum::<f64>().sqrt();
            let product = anchor.iter().zip(v).map(|(a, b)| a * b).sum::<f64>() / length;
            if product > best_product {
                (best, best_product) = (index, product);
            }
        }
        best
    };
    groups.iter().map(&mut choose_one).collect()
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
    fn lines_before_the_first_group_are_a_group() {
        assert_eq!(parse("one\n\n# next\ntwo\nthree\n# empty\n"), [vec!["one"], vec!["two", "three"]]);
    }
}
