//! Text steering: a vector chooses among candidate sentences. Ours; it stands in for the paper's soft prompt, which needs a
//! model, and is always named as what it is.

use crate::bayes::RandomNumbers;

/// What the screen and the journal call the instruction's source.
pub(super) const NAME: &str = "text steering, not the paper's soft prompt";

/// Returns the candidate sentences, in groups.
pub(super) fn candidates() -> Vec<Vec<String>> {
    parse(include_str!("prompts/advice.txt"))
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
        let groups = candidates();
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 8]);
        assert_eq!(groups.iter().flatten().collect::<BTreeSet<_>>().len(), 24);
    }

    #[test]
    fn every_sentence_can_be_chosen_and_equal_vectors_choose_the_same() {
        let groups = candidates();
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
        let groups = candidates();
        assert_eq!(choose(&[0.0; 4], &groups, 7), [0, 0, 0]);
        assert!(compose(&groups, &[0, 0, 0]).starts_with(&groups[0][0]));
    }

    #[test]
    fn lines_before_the_first_group_are_a_group() {
        assert_eq!(parse("one\n\n# next\ntwo\nthree\n# empty\n"), [vec!["one"], vec!["two", "three"]]);
    }
}
