//! Finds known names that are similar to a mistyped one.

use strsim::{levenshtein, osa_distance};

/// Returns the known name nearest to a mistyped one, or `None` if none is near enough to be meant. A third of its letters may
/// differ; two letters in the wrong order count once. Of names with full stops, such as `run.seed`, the last part may be meant alone.
pub fn nearest_name<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const MAX_CHARS: usize = 64;
    if name.chars().count() > MAX_CHARS {
        return None;
    }
    let last_part = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let edits = |k: &str| osa_distance(name, k).min(osa_distance(&last_part(name), &last_part(k)));
    let nearest = known.into_iter().map(|k| (edits(k), k)).min()?;
    (nearest.0 <= max_edits(nearest.1)).then_some(nearest.1)
}

/// Returns how many letters of a name may be mistyped.
fn max_edits(name: &str) -> usize {
    (name.len() / 3).max(1)
}

/// Returns up to three names that are similar or share a whole word with this one, most similar first.
pub fn similar_names<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
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
    candidates.retain(|(d, k)| *d <= max_edits(k) || shares_word(k));
    candidates.sort_unstable();
    // If one name is nearly identical, the others are noise.
    if candidates.first().is_some_and(|n| n.0 <= 2) {
        candidates.retain(|n| n.0 <= 2);
    }
    candidates.into_iter().take(MAX_NAMES).map(|(_, k)| k).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_the_name_that_was_meant() {
        let known = ["run.seed", "run.trials", "step", "end", "shelf first"];
        for (name, expected) in [
            ("run.sed", Some("run.seed")),
            ("sed", Some("run.seed")),
            ("run.trails", Some("run.trials")),
            ("setp", Some("step")),
            ("shelf fist", Some("shelf first")),
            ("ned", Some("end")),
            ("nowhere", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(name, known), expected, "{name}");
        }
        assert_eq!(nearest_name(&"step".repeat(20), known), None);
    }
}
