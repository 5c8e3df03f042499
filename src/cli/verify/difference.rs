//! Describes how two results of an environment differ, briefly.

use crate::domain::{SCREENSHOT, StepResult, VERBS};
use crate::text::truncate;
use serde_json::Value;

/// Removes what no two results need to share: the picture of the end, and the verbs, which older sessions don't have.
pub(super) fn comparable(mut result: StepResult) -> StepResult {
    for (values, name) in [(&mut result.truth, SCREENSHOT), (&mut result.shown, VERBS)] {
        if let Some(object) = values.as_object_mut()
            && object.remove(name).is_some()
            && object.is_empty()
        {
            *values = Value::Null;
        }
    }
    result
}

/// Describes the first field in which two results differ; empty if none does.
pub(super) fn describe_difference(recorded: &StepResult, now: &StepResult) -> String {
    let fields = |result: &StepResult| {
        [
            ("observation", serde_json::json!(result.observation)),
            ("reward", serde_json::json!(result.reward)),
            ("progress", serde_json::json!(result.progress)),
            ("done", serde_json::json!(result.done)),
            ("won", serde_json::json!(result.won)),
            ("valid", serde_json::json!(result.valid)),
            ("shown", result.shown.clone()),
            ("truth", result.truth.clone()),
        ]
    };
    let first = fields(recorded).into_iter().zip(fields(now)).find(|(old, new)| old != new);
    first.map_or_else(String::new, |((name, old), (_, new))| {
        let (old, new) = (old.to_string(), new.to_string());
        let (old, new) = (excerpt_around(&old, &new), excerpt_around(&new, &old));
        format!("the environment now returns {name} = {new}, but the journal has {old}")
    })
}

/// Returns an excerpt of `text` around the first difference from `other`: an observation may be a megabyte long.
fn excerpt_around(text: &str, other: &str) -> String {
    const LEAD: usize = 40;
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(LEAD);
    let part: String = text.chars().skip(from).take(400).collect();
    format!("{}{}", if from > 0 { "..." } else { "" }, truncate(&part, 200, "..."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Regression: a picture that another browser draws differently, or that is no longer kept, was a difference.
    #[test]
    fn a_picture_of_the_end_is_not_compared() {
        let result = |truth: Value| comparable(StepResult { truth, ..StepResult::default() });
        assert_eq!(result(json!({"screenshot": "data:a"})), StepResult::default());
        assert_eq!(result(json!({"screenshot": "data:a", "html": "x"})), result(json!({"html": "x"})));
        assert_ne!(result(json!({"html": "x"})), result(json!({"html": "y"})));
    }

    /// Regression: an observation of a megabyte was printed in full, twice.
    #[test]
    fn a_difference_in_a_megabyte_is_described_briefly() {
        let result =
            |end: &str| StepResult { observation: "long ".repeat(200_000) + end, ..StepResult::default() };
        let text = describe_difference(&result("apple"), &result("pear"));
        assert!(text.len() < 400 && text.contains("apple") && text.contains("pear"), "{text}");
        let text = describe_difference(&StepResult::default(), &result("pear"));
        assert!(text.len() < 400, "{text}");
    }
}
