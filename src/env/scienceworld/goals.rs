//! The simulator's list of a task's goals, and which of them are reached.

use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// A row of the list: its number, whether it is reached, its kind and what it demands.
static ROW: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\d+\t(true|false)\t\s*\w+\t(.*)$").ok());

/// A goal, which must be reached to win (`sequential`), or helps with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Goal<'a> {
    pub(super) is_sequential: bool,
    pub(super) is_reached: bool,
    pub(super) text: &'a str,
}

/// Parses the text of `getGoalProgressStr`. Rows that aren't understood are left out.
pub(super) fn parse_goals(text: &str) -> Vec<Goal<'_>> {
    let mut is_sequential = true;
    let mut goals = Vec::new();
    for line in text.lines() {
        if line.starts_with("Unordered and Optional") {
            is_sequential = false;
        }
        let Some(found) = ROW.as_ref().and_then(|row| row.captures(line)) else { continue };
        let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
        goals.push(Goal { is_sequential, is_reached: part(1) == "true", text: part(2) });
    }
    goals
}

/// Returns the goals as the ground truth has them: what each demands, and whether it is reached.
pub(super) fn goals_as_json(text: &str) -> Value {
    let goals = parse_goals(text);
    let of_kind = |is_sequential: bool| -> Vec<Value> {
        let goals = goals.iter().filter(|goal| goal.is_sequential == is_sequential);
        goals.map(|goal| json!({ "goal": goal.text, "reached": goal.is_reached })).collect()
    };
    json!({ "in_order": of_kind(true), "helpful": of_kind(false) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_lists_are_read() {
        let text = "Completed keys: \n-----\nSequential Subgoals:\n-----\n\
                    0\ttrue\t                                GoalFind\tfocus on substance\n\
                    1\tfalse\t                 GoalChangeStateOfMatter\tsubstance is in a gaseous state (or combusting)\n\
                    -----\nUnordered and Optional Subgoals:\n-----\n\
                    0\ttrue\t                    GoalInRoomWithObject\tbe in same location as lead\n-----\n";
        let goals = parse_goals(text);
        let expected = [
            (true, true, "focus on substance"),
            (true, false, "substance is in a gaseous state (or combusting)"),
            (false, true, "be in same location as lead"),
        ];
        assert_eq!(goals.len(), expected.len());
        for (goal, (is_sequential, is_reached, text)) in goals.iter().zip(expected) {
            assert_eq!(*goal, Goal { is_sequential, is_reached, text });
        }
        let json = goals_as_json(text);
        assert_eq!(json["helpful"], json!([{ "goal": "be in same location as lead", "reached": true }]));
        assert_eq!(json["in_order"].as_array().map(Vec::len), Some(2));
        assert!(parse_goals("nothing").is_empty());
    }
}
