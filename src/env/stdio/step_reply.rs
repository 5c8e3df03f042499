//! The reply to `reset` and `step`.

use super::message::{Fields, optional_flag, optional_number, optional_text, required_text, wrong_type};
use crate::domain::StepResult;
use crate::text::prefix;
use serde_json::{Map, Value};

/// The maximum length of an observation or a goal. Longer ones are cut, because they are part of prompts and journals.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// The maximum length of `shown` and `truth` as JSON. What is longer can't be cut and stay what the program means.
const MAX_OBJECT_BYTES: usize = 1 << 20;
/// The fields that are shown like those of `shown`, unless `shown` has them.
const SHOWN_FIELDS: [&str; 5] = ["goal", "score", "max_score", "moves", "pending_choice"];

/// The reply to `reset` and `step`.
#[derive(Debug, PartialEq)]
pub(super) struct StepReply {
    pub(super) result: StepResult,
    /// What the program adds, which is not interpreted.
    pub(super) info: Value,
}

impl StepReply {
    /// Reads the fields of a reply.
    ///
    /// # Errors
    /// Returns what violates the protocol.
    pub(super) fn from_fields(mut fields: Fields) -> Result<Self, String> {
        let observation = cut_text(required_text(&fields, "observation")?);
        let reward =
            optional_number(&fields, "reward")?.ok_or_else(|| wrong_type("reward", None, "a number"))?;
        let done =
            optional_flag(&fields, "done")?.ok_or_else(|| wrong_type("done", None, "true or false"))?;
        let truncated = optional_flag(&fields, "truncated")?.unwrap_or_default();
        let done = done || truncated;
        let said_won = optional_flag(&fields, "won")?;
        let progress = match (optional_number(&fields, "progress")?, score_rate(&fields)?) {
            (Some(rate), _) | (None, Some(rate)) => rate.clamp(0.0, 1.0),
            (None, None) => f64::from(said_won.unwrap_or_default()),
        };
        let valid = optional_flag(&fields, "accepted")?.unwrap_or(true);
        if let Some(goal) = optional_text(&fields, "goal")? {
            fields.insert("goal".to_owned(), cut_text(goal).into());
        }
        optional_flag(&fields, "pending_choice")?;
        let shown = shown_fields(&mut fields)?;
        let truth = object(&mut fields, "truth")?;
        let info = fields.remove("info").unwrap_or_default();
        // Progress of exactly 1 comes from a division of equal numbers, or is what the program wrote.
        let won = said_won.unwrap_or(done && progress >= 1.0);
        Ok(Self {
            result: StepResult { observation, reward, progress, done, won, valid, shown, truth },
            info,
        })
    }
}

/// Returns the score as a part of the maximum score.
fn score_rate(fields: &Fields) -> Result<Option<f64>, String> {
    let (score, max) = (optional_number(fields, "score")?, optional_number(fields, "max_score")?);
    Ok(score.zip(max).filter(|(_, max)| *max > 0.0).map(|(score, max)| score / max))
}

/// Returns `shown` with the fields that are shown anyway. Null if there are none.
fn shown_fields(fields: &mut Fields) -> Result<Value, String> {
    let mut shown = match object(fields, "shown")? {
        Value::Object(shown) => shown,
        _ => Map::new(),
    };
    for name in SHOWN_FIELDS {
        // In a merge patch null removes a value.
        let value = fields.remove(name).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|_| !shown.contains_key(name)) {
            shown.insert(name.to_owned(), value);
        }
    }
    Ok(if shown.is_empty() { Value::Null } else { Value::Object(shown) })
}

/// Returns a field that must be an object; null if it is absent.
fn object(fields: &mut Fields, name: &str) -> Result<Value, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(Value::Null),
        Some(value @ Value::Object(_)) => {
            let bytes = value.to_string().len();
            if bytes > MAX_OBJECT_BYTES {
                return Err(format!(
                    "`{name}` of a reply has {bytes} bytes; at most {MAX_OBJECT_BYTES} are kept"
                ));
            }
            Ok(value)
        }
        Some(value) => Err(wrong_type(name, Some(&value), "an object")),
    }
}

fn cut_text(text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let kept = prefix(&text, MAX_TEXT_BYTES);
    format!("{kept}\n[cut: {} more bytes]", text.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: Value) -> Result<StepReply, String> {
        let Value::Object(fields) = value else { panic!("{value}") };
        StepReply::from_fields(fields)
    }

    fn parse_with(more: &Value) -> StepResult {
        let mut turn = json!({"observation": "o", "reward": 1, "done": false});
        turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse(turn).unwrap().result
    }

    #[test]
    fn progress_and_success_follow_from_what_is_there() {
        let cases = [
            (json!({}), 0.0, false, false),
            (json!({"score": 1, "max_score": 2}), 0.5, false, false),
            (json!({"score": -5, "max_score": 2}), 0.0, false, false),
            (json!({"score": 1, "max_score": 0}), 0.0, false, false),
            (json!({"score": 1, "max_score": 2, "progress": 0.25}), 0.25, false, false),
            (json!({"progress": 7}), 1.0, false, false),
            (json!({"progress": 1, "done": true}), 1.0, true, true),
            (json!({"progress": 1, "done": true, "won": false}), 1.0, true, false),
            (json!({"won": true, "done": true}), 1.0, true, true),
            (json!({"truncated": true, "score": 2, "max_score": 2}), 1.0, true, true),
            (json!({"truncated": true}), 0.0, true, false),
            (json!({"won": null, "score": null, "truth": null, "shown": null}), 0.0, false, false),
        ];
        for (fields, progress, done, won) in cases {
            let result = parse_with(&fields);
            assert_eq!((result.progress, result.done, result.won), (progress, done, won), "{fields}");
            assert!(result.valid && (result.reward - 1.0).abs() < f64::EPSILON);
        }
        assert!(!parse_with(&json!({"accepted": false})).valid);
    }

    #[test]
    fn goal_and_score_are_shown() {
        let shown =
            parse_with(&json!({"goal": "g", "moves": 3, "score": 1.5, "shown": {"cell": 2, "moves": 4}}))
                .shown;
        assert_eq!(shown, json!({"goal": "g", "score": 1.5, "cell": 2, "moves": 4}));
        assert_eq!(parse_with(&json!({"score": null})).shown, Value::Null);
        let turn = parse(
            json!({"observation": "", "reward": 0, "done": true, "info": {"a": [1]}, "truth": {"t": 1}}),
        );
        let turn = turn.unwrap();
        assert_eq!((turn.info, turn.result.truth), (json!({"a": [1]}), json!({"t": 1})));
    }

    #[test]
    fn missing_and_wrong_fields_are_named() {
        let cases = [
            (json!({"reward": 0, "done": false}), "no `observation`; expected a string"),
            (
                json!({"observation": 3, "reward": 0, "done": false}),
                "`observation` of a reply is 3, not a string",
            ),
            (json!({"observation": "", "done": false}), "no `reward`; expected a number"),
            (
                json!({"observation": "", "reward": "NaN", "done": false}),
                "`reward` of a reply is \"NaN\", not a number",
            ),
            (json!({"observation": "", "reward": 0}), "no `done`; expected true or false"),
            (json!({"observation": "", "reward": 0, "done": 0}), "`done` of a reply is 0, not true or false"),
            (
                json!({"observation": "", "reward": 0, "done": false, "shown": [1]}),
                "`shown` of a reply is [1], not an object",
            ),
            (
                json!({"observation": "", "reward": 0, "done": false, "goal": 1}),
                "`goal` of a reply is 1, not a string",
            ),
            (
                json!({"observation": "", "reward": 0, "done": false, "accepted": "no"}),
                "`accepted` of a reply is \"no\"",
            ),
        ];
        for (turn, part) in cases {
            let what = parse(turn.clone()).unwrap_err();
            assert!(what.contains(part), "{turn}: {what}");
        }
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        let text = "é".repeat(600_000);
        let turn = json!({"observation": text, "goal": text, "reward": 0, "done": false});
        let result = parse(turn).unwrap().result;
        for cut in [result.observation.as_str(), result.shown["goal"].as_str().unwrap()] {
            assert!(cut.ends_with("\n[cut: 151424 more bytes]"), "{}", cut.len());
        }
    }

    /// Regression: 15 MB of `shown` were journaled with each step.
    #[test]
    fn long_objects_are_refused() {
        for name in ["shown", "truth"] {
            let mut turn = json!({"observation": "", "reward": 0, "done": false});
            turn[name] = json!({"map": "x".repeat(1 << 20)});
            let what = parse(turn).unwrap_err();
            assert!(what.contains(&format!("`{name}` of a reply has 1048586 bytes")), "{what}");
        }
    }
}
