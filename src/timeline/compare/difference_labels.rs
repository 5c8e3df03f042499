//! Names and values of differences in the words of the screen. The JSON output has the names of the journal.

use crate::domain::sampling_param;
use serde_json::Value;

/// The fields of a run that are not settings of their own, and what the screen calls them.
const RUN_LABELS: [(&str, &str); 6] = [
    ("limits.steps", "step limit"),
    ("limits.moves", "move limit"),
    ("limits.wall_seconds", "time limit (s)"),
    ("loop_detector", "loop detector"),
    ("trials", "trials per task"),
    ("interface", "interface"),
];

/// Returns the label of a field or setting of a run. Settings keep their names, by which a person sets them; a
/// parameter of a model says whose it is.
pub(super) fn setting_label(name: &str) -> String {
    if let Some((_, label)) = RUN_LABELS.iter().find(|(field, _)| *field == name) {
        return (*label).to_owned();
    }
    match name.split_once('.') {
        Some((role, param)) if sampling_param(name).is_some() => format!("{role} {param}"),
        _ => name.replace('.', " "),
    }
}

/// Returns the label of a value of a run: limits that are off have none.
pub(super) fn run_value_label(name: &str, text: &str) -> String {
    let is_limit = name.starts_with("limits.") || text.parse() == Ok(u64::from(u32::MAX));
    match text {
        "null" => "not set".to_owned(),
        _ if is_limit && text.parse::<u64>().is_ok_and(|limit| limit >= u64::from(u32::MAX)) => {
            "unlimited".to_owned()
        }
        "true" => "on".to_owned(),
        "false" => "off".to_owned(),
        _ => value_label(text),
    }
}

/// Returns the label of something that the agent may know, such as `seen, shelf 3: items`.
pub(super) fn fact_label(name: &str) -> String {
    let words = name.replace('_', " ");
    match words.rsplit_once('.') {
        Some((place, what)) => format!("{}: {what}", place.replace('.', ", ")),
        None => words,
    }
}

/// Returns a value without the signs of JSON: a list as its items, a switch as yes or no.
pub(super) fn value_label(text: &str) -> String {
    let is_structured = text.starts_with(['[', '{']) || matches!(text, "true" | "false" | "null");
    match serde_json::from_str::<Value>(text).ok().filter(|_| is_structured) {
        Some(value) => json_label(&value),
        None => text.to_owned(),
    }
}

fn json_label(value: &Value) -> String {
    let join = |each: Vec<String>| if each.is_empty() { "nothing".to_owned() } else { each.join(", ") };
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => join(items.iter().map(json_label).collect()),
        Value::Object(map) => join(
            map.iter().map(|(name, value)| format!("{}: {}", fact_label(name), json_label(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_those_of_the_screen() {
        for (name, label) in [
            ("limits.steps", "step limit"),
            ("seed", "seed"),
            ("s_freq", "s_freq"),
            ("actor.temperature", "actor temperature"),
        ] {
            assert_eq!(setting_label(name), label);
        }
        for (name, value, label) in [
            ("limits.steps", "4294967295", "unlimited"),
            ("limits.steps", "50", "50"),
            ("s_freq", "4294967295", "unlimited"),
            ("seed", "4294967297", "4294967297"),
            ("kind_error", "false", "off"),
            ("actor", "openai:small", "openai:small"),
        ] {
            assert_eq!(run_value_label(name, value), label, "{name}");
        }
        for (name, label) in [
            ("holding", "holding"),
            ("seen.shelf 3.items", "seen, shelf 3: items"),
            ("seen.shelf 3.is_open", "seen, shelf 3: is open"),
        ] {
            assert_eq!(fact_label(name), label);
        }
        for (value, label) in [
            ("cellphone 1", "cellphone 1"),
            ("[]", "nothing"),
            ("[\"cup 2\",\"plate 1\"]", "cup 2, plate 1"),
            ("true", "yes"),
            ("{\"shelf 1\":{\"open\":true}}", "shelf 1: open: yes"),
            ("[not json", "[not json"),
        ] {
            assert_eq!(value_label(value), label);
        }
    }
}
