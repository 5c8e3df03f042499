//! The lines of the protocol: requests, and what every reply has in common.

use crate::text::{one_line, prefix};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The version of the protocol that this program speaks.
pub(super) const PROTOCOL_VERSION: u64 = 1;
/// How much of a reply that can't be understood is quoted.
const QUOTED_BYTES: usize = 200;
/// How much of a message from the program is kept.
const MESSAGE_BYTES: usize = 2_000;

/// The fields of a JSON object.
pub(super) type Fields = Map<String, Value>;

/// Why a reply brings no result.
#[derive(Debug, PartialEq)]
pub(super) enum Rejection {
    /// The reply violates the protocol.
    Invalid(String),
    /// The program reports an error.
    Reported(ReportedError),
}

/// An error that the program reports.
#[derive(Debug, PartialEq)]
pub(super) struct ReportedError {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) is_fatal: bool,
    /// Whether the environment is as it was before the request.
    pub(super) is_unchanged: bool,
    /// The versions that the program speaks, if it doesn't speak ours.
    pub(super) supported: Vec<u64>,
}

/// What becomes of the process after an error that it reported.
#[derive(Debug, PartialEq)]
pub(super) enum Consequence {
    /// It can still be used.
    Kept(String),
    /// It violated the protocol.
    Protocol(String),
    /// The environment is in an unknown state.
    Died(String),
}

/// Returns the line of a request. `fields` must be an object.
pub(super) fn request_line(id: u64, operation: &str, fields: &Value) -> String {
    let mut line = format!("{{\"id\":{id},\"op\":{}", json!(operation));
    for (name, value) in fields.as_object().into_iter().flatten() {
        // Writing to a string doesn't fail.
        let _ = write!(line, ",{}:{value}", json!(name));
    }
    line.push('}');
    line
}

/// Returns the fields of the reply to the request with this id.
pub(super) fn parse_reply(line: &str, id: u64) -> Result<Fields, Rejection> {
    let invalid = |what: String| Rejection::Invalid(format!("{what}: {}", quote(line)));
    let mut fields = match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => fields,
        // It begins with a brace, so it is an object or no JSON.
        Ok(_) => return Err(invalid("a reply is not a JSON object".to_owned())),
        Err(error) => return Err(invalid(format!("a reply is not JSON ({error})"))),
    };
    match fields.remove("id") {
        None => return Err(invalid("a reply has no `id`".to_owned())),
        Some(value) if value.as_u64() == Some(id) => {}
        Some(value) => {
            return Err(invalid(format!(
                "a reply has the id {}, but the reply to request {id} is due",
                quote(&value.to_string())
            )));
        }
    }
    match fields.remove("ok") {
        Some(Value::Bool(true)) => Ok(fields),
        Some(Value::Bool(false)) => Err(match parse_error(&fields) {
            Ok(reported) => Rejection::Reported(reported),
            Err(what) => invalid(what),
        }),
        _ => Err(invalid("`ok` of a reply is neither true nor false".to_owned())),
    }
}

fn parse_error(fields: &Fields) -> Result<ReportedError, String> {
    let Some(Value::Object(error)) = fields.get("error") else {
        return Err("a reply with `ok` false has no `error`".to_owned());
    };
    let code = error.get("code").and_then(Value::as_str).ok_or("an `error` has no `code`")?;
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let flag = |name: &str| error.get(name) == Some(&Value::Bool(true));
    let supported = error.get("supported").and_then(Value::as_array);
    Ok(ReportedError {
        code: clean_message(code),
        message: clean_message(message),
        is_fatal: flag("fatal"),
        is_unchanged: flag("unchanged"),
        supported: supported.into_iter().flatten().filter_map(Value::as_u64).collect(),
    })
}

impl ReportedError {
    /// Returns what becomes of the process.
    pub(super) fn consequence(&self) -> Consequence {
        let text = if self.message.is_empty() { &self.code } else { &self.message };
        match self.code.as_str() {
            "version" => {
                let supported: Vec<String> = self.supported.iter().map(u64::to_string).collect();
                let spoken =
                    if supported.is_empty() { "another one".to_owned() } else { supported.join(", ") };
                Consequence::Protocol(version_mismatch(&spoken))
            }
            code @ ("protocol" | "bad_request") => {
                Consequence::Protocol(format!("the program reports the error {code}: {text}"))
            }
            _ if self.is_fatal => Consequence::Died(text.clone()),
            "bad_task" | "unsupported" | "not_reset" => Consequence::Kept(text.clone()),
            "env_error" if self.is_unchanged => Consequence::Kept(text.clone()),
            _ => Consequence::Died(text.clone()),
        }
    }
}

/// Returns the error for a program that speaks another version.
pub(super) fn version_mismatch(spoken: &str) -> String {
    format!("the program speaks version {spoken} of the protocol, and this one version {PROTOCOL_VERSION}")
}

/// Returns the beginning of a text from the program, on one line.
pub(super) fn quote(text: &str) -> String {
    one_line(prefix(text, QUOTED_BYTES)).into_owned()
}

/// Returns a message from the program on one line, without control sequences, cut if it is long.
pub(super) fn clean_message(text: &str) -> String {
    one_line(prefix(text, MESSAGE_BYTES)).into_owned()
}

/// Returns the required text of a field.
pub(super) fn required_text(fields: &Fields, name: &str) -> Result<String, String> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        other => Err(wrong_type(name, other, "a string")),
    }
}

/// Returns the text of a field that may be absent or null.
pub(super) fn optional_text(fields: &Fields, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        _ => required_text(fields, name).map(Some),
    }
}

/// Returns the number in a field that may be absent or null.
pub(super) fn optional_number(fields: &Fields, name: &str) -> Result<Option<f64>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(wrong_type(name, Some(value), "a number")),
        },
    }
}

/// Returns the count in a field that may be absent or null.
pub(super) fn optional_count(fields: &Fields, name: &str) -> Result<Option<u64>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None => Err(wrong_type(name, Some(value), "a whole number")),
        },
    }
}

/// Returns the truth value of a field that may be absent or null.
pub(super) fn optional_flag(fields: &Fields, name: &str) -> Result<Option<bool>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        other => Err(wrong_type(name, other, "true or false")),
    }
}

/// Returns the texts in a list.
pub(super) fn text_list(fields: &Fields, name: &str, max: usize) -> Result<Vec<String>, String> {
    let Some(Value::Array(elements)) = fields.get(name) else {
        return Err(wrong_type(name, fields.get(name), "a list of strings"));
    };
    let text = |element: &Value| {
        element
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| wrong_type(name, Some(element), "a list of strings"))
    };
    elements.iter().take(max).map(text).collect()
}

/// Returns the message for a field with a value of the wrong type.
pub(super) fn wrong_type(name: &str, value: Option<&Value>, expected: &str) -> String {
    match value {
        None => format!("a reply has no `{name}`; expected {expected}"),
        Some(value) => format!("`{name}` of a reply is {}, not {expected}", quote(&value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(line: &str) -> String {
        match parse_reply(line, 7) {
            Err(Rejection::Invalid(what)) => what,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_request_is_one_line_that_begins_with_its_id() {
        let line = request_line(6, "step", &json!({ "action": "say \"a\nb\" \u{2028}é" }));
        assert_eq!(line, "{\"id\":6,\"op\":\"step\",\"action\":\"say \\\"a\\nb\\\" \u{2028}é\"}");
        assert_eq!(request_line(17, "close", &json!({})), r#"{"id":17,"op":"close"}"#);
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let fields = parse_reply(r#"{"id":7,"ok":true,"observation":"a","future":{"x":[1]}}"#, 7).unwrap();
        assert_eq!(required_text(&fields, "observation").unwrap(), "a");
    }

    #[test]
    fn invalid_replies_are_described() {
        let deep = format!("{{\"id\":7,\"ok\":true,\"x\":{}", "[".repeat(100_000));
        let cases = [
            ("{\"id\":7", "a reply is not JSON (EOF"),
            ("{'id':7}", "a reply is not JSON (key must be a string"),
            (r#"{"id":7,"ok":true,"reward":NaN}"#, "a reply is not JSON (expected value"),
            ("{\"id\":7,\"ok\":true,\"a\":\"\u{1b}[31m\"}", "a reply is not JSON (control character"),
            ("{\"id\":7,\"ok\":true,\"a\":\"\0\"}", "a reply is not JSON (control character"),
            (r#"{"id":7,"ok":true} {"id":8}"#, "a reply is not JSON (trailing characters"),
            (deep.as_str(), "a reply is not JSON (recursion limit exceeded"),
            (r#"{"ok":true}"#, "a reply has no `id`"),
            (r#"{"id":6,"ok":true}"#, "a reply has the id 6, but the reply to request 7 is due"),
            (r#"{"id":"7","ok":true}"#, "a reply has the id \"7\", but"),
            (r#"{"id":7.5,"ok":true}"#, "a reply has the id 7.5, but"),
            (r#"{"id":7}"#, "`ok` of a reply is neither true nor false"),
            (r#"{"id":7,"ok":"yes"}"#, "`ok` of a reply is neither true nor false"),
            (r#"{"id":7,"ok":false}"#, "a reply with `ok` false has no `error`"),
            (r#"{"id":7,"ok":false,"error":{}}"#, "an `error` has no `code`"),
        ];
        for (line, part) in cases {
            let what = invalid(line);
            assert!(what.starts_with(part), "{line}: {what}");
            assert!(what.len() < 500 && !what.contains(char::is_control), "{what:?}");
        }
    }

    #[test]
    fn reported_errors_keep_or_end_the_process() {
        let cases = [
            (r#""code":"bad_task","message":"none"}"#, Consequence::Kept("none".to_owned())),
            (r#""code":"unsupported","message":"x"}"#, Consequence::Kept("x".to_owned())),
            (r#""code":"not_reset"}"#, Consequence::Kept("not_reset".to_owned())),
            (r#""code":"env_error","message":"x","unchanged":true}"#, Consequence::Kept("x".to_owned())),
            (r#""code":"env_error","message":"x"}"#, Consequence::Died("x".to_owned())),
            (r#""code":"bad_task","message":"x","fatal":true}"#, Consequence::Died("x".to_owned())),
            (r#""code":"of_a_later_version","message":"x"}"#, Consequence::Died("x".to_owned())),
            (
                r#""code":"bad_request","message":"x\u001b[31m"}"#,
                Consequence::Protocol("the program reports the error bad_request: x".to_owned()),
            ),
            (
                r#""code":"version","supported":[2,3]}"#,
                Consequence::Protocol(
                    "the program speaks version 2, 3 of the protocol, and this one version 1".to_owned(),
                ),
            ),
        ];
        for (error, expected) in cases {
            let line = format!("{{\"id\":7,\"ok\":false,\"error\":{{{error}}}");
            match parse_reply(&line, 7) {
                Err(Rejection::Reported(reported)) => assert_eq!(reported.consequence(), expected, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
