//! Two answers of a world in which something differs, told in words short enough to read.

use crate::domain::StepResult;
use crate::text::truncate;

/// The first field in which two answers differ, in words.
pub(super) fn describe_difference(recorded: &StepResult, now: &StepResult) -> String {
    let say = |turn: &StepResult| {
        [
            ("observation", serde_json::json!(turn.observation)),
            ("reward", serde_json::json!(turn.reward)),
            ("progress", serde_json::json!(turn.progress)),
            ("done", serde_json::json!(turn.done)),
            ("won", serde_json::json!(turn.won)),
            ("valid", serde_json::json!(turn.valid)),
            ("shown", turn.shown.clone()),
            ("truth", turn.truth.clone()),
        ]
    };
    let first = say(recorded).into_iter().zip(say(now)).find(|(was, is)| was != is);
    first.map_or_else(String::new, |((name, was), (_, is))| {
        let (was, is) = (was.to_string(), is.to_string());
        let (was, is) = (excerpt_around(&was, &is), excerpt_around(&is, &was));
        format!("the world now says {name} = {is} where the journal has {was}")
    })
}

/// The text around the place where it parts from the other: an observation may be a megabyte.
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

    /// An observation of a megabyte was printed whole, twice.
    #[test]
    fn a_difference_in_a_megabyte_is_told_in_a_few_words() {
        let turn =
            |end: &str| StepResult { observation: "long ".repeat(200_000) + end, ..StepResult::default() };
        let told = describe_difference(&turn("apple"), &turn("pear"));
        assert!(told.len() < 400 && told.contains("apple") && told.contains("pear"), "{told}");
        let told = describe_difference(&StepResult::default(), &turn("pear"));
        assert!(told.len() < 400, "{told}");
    }
}
