//! Sampling parameters of a role. A run can override the values of the role's server profile with settings named
//! `actor.temperature`, `mentor.max_tokens` and so on.

use super::{ModelRole, PromptRecord};
use serde_json::{Map, Value, json};

/// A sampling parameter is a value such as `temperature` that controls how a model samples its replies.
#[derive(Debug, PartialEq, Eq)]
pub struct SamplingParam {
    /// The name without the role.
    pub name: &'static str,
    /// What it does, in one phrase.
    pub meaning: &'static str,
    /// The allowed values, described for people.
    pub allowed: &'static str,
    kind: ValueKind,
}

#[derive(Debug, PartialEq, Eq)]
enum ValueKind {
    /// A number, at least 0.
    Number,
    /// A number from 0 to 1.
    Fraction,
    /// An unsigned 32-bit number.
    Integer,
    /// An unsigned 32-bit number, at least 1.
    PositiveInteger,
    /// A non-empty string or a list of them.
    Strings,
    /// An unsigned number, or a boolean: whether the run's seed is used.
    Seed,
}

const fn param(
    name: &'static str,
    meaning: &'static str,
    allowed: &'static str,
    kind: ValueKind,
) -> SamplingParam {
    SamplingParam { name, meaning, allowed, kind }
}

/// All parameters, in the order in which they are listed.
pub const SAMPLING_PARAMS: [SamplingParam; 7] = [
    param(
        "temperature",
        "randomness of a reply; 0: always the most likely token",
        "a number, at least 0; off (not sent) or own (the profile's)",
        ValueKind::Number,
    ),
    param(
        "top_p",
        "sample only from the most likely tokens with this total probability",
        "a number from 0 to 1; off (not sent) or own (the profile's)",
        ValueKind::Fraction,
    ),
    param(
        "top_k",
        "sample only from this many of the most likely tokens",
        "a whole number; off (not sent) or own (the profile's)",
        ValueKind::Integer,
    ),
    param(
        "repetition_penalty",
        "above 1, repeated tokens are less likely",
        "a number, at least 0; off (not sent) or own (the profile's)",
        ValueKind::Number,
    ),
    param(
        "max_tokens",
        "maximum tokens per reply",
        "a whole number, at least 1; off (the server's limit) or own (the profile's)",
        ValueKind::PositiveInteger,
    ),
    param(
        "stop",
        "strings that end a reply",
        "a string, or a list such as [\"\\n\", \"END\"]; off (none) or own (the profile's)",
        ValueKind::Strings,
    ),
    param(
        "seed",
        "number from which the requests' seeds are derived, instead of the run's seed",
        "a whole number; on (the run's), off (not sent) or own (the profile's)",
        ValueKind::Seed,
    ),
];

/// Splits the name of a setting of a role, such as `actor.temperature`. Returns `None` for every other setting.
pub fn role_setting(setting: &str) -> Option<(ModelRole, &str)> {
    let (role, part) = setting.split_once('.')?;
    let named = [ModelRole::Actor, ModelRole::Mentor].into_iter().find(|named| named.name() == role);
    named.map(|role| (role, part))
}

/// Returns the role and the parameter of a setting, or `None` if it isn't a sampling parameter.
pub fn sampling_param(setting: &str) -> Option<(ModelRole, &'static SamplingParam)> {
    let (role, name) = role_setting(setting)?;
    Some((role, SAMPLING_PARAMS.iter().find(|param| param.name == name)?))
}

/// Formats the value of a setting. Values of sampling parameters are written as `on`, `off` and `own`.
pub fn describe_setting_value(setting: &str, value: &Value) -> String {
    if sampling_param(setting).is_some() { SamplingParam::format_value(value) } else { value.to_string() }
}

/// Returns the value that the server requires instead of `value`, parsed from the reason of a deviation (`at least N`,
/// `N in place of M`).
fn raised_value(reason: &str, value: &Value) -> Option<u64> {
    let leading_number = |text: &str| text.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    let value = value.as_u64()?;
    if let Some(minimum) = reason.strip_prefix("at least ").and_then(leading_number) {
        return Some(value.max(minimum));
    }
    let (raised, original) = reason.split_once(" in place of ")?;
    (leading_number(original) == Some(value)).then(|| leading_number(raised)).flatten()
}

impl SamplingParam {
    /// Returns the name of its setting.
    pub fn setting_name(&self, role: ModelRole) -> String {
        format!("{}.{}", role.name(), self.name)
    }

    /// Returns the value that is actually sent for `value`, or `None` if the parameter isn't sent. `deviations` lists
    /// the parameters that the server rejects, and those for which it requires another value, each with a reason
    /// ([`State::setting_deviations()`](crate::engine::State::setting_deviations())).
    pub fn sent_value(&self, value: &Value, deviations: &[String]) -> Option<Value> {
        // Older sessions have "the server refused" or "not sent".
        const NOT_SENT: [&str; 4] = ["rejected by the server", "the server refused", "left out", "not sent"];
        let entries = deviations.iter().filter_map(|entry| entry.split_once(": "));
        let reasons =
            entries.filter(|(head, _)| head.split(' ').next() == Some(self.name)).map(|(_, reason)| reason);
        let mut raised = None;
        for reason in reasons {
            if NOT_SENT.iter().any(|start| reason.starts_with(start)) {
                return None;
            }
            raised = raised.max(raised_value(reason, value));
        }
        Some(raised.map_or_else(|| value.clone(), Value::from))
    }

    /// Returns whether this is the seed parameter and `value` is a number or null (the default). The rule-based actor
    /// supports only these.
    pub fn is_seed_number(&self, value: &Value) -> bool {
        self.kind == ValueKind::Seed && (value.is_null() || value.is_u64())
    }

    /// Parses what a person typed into the value of the setting; null means the profile's value.
    ///
    /// # Errors
    /// Returns a description of the expected value.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match text.trim() {
            "own" | "default" => Value::Null,
            "off" => json!(false),
            "on" => json!(true),
            other => serde_json::from_str(other).unwrap_or_else(|_| json!(other)),
        };
        self.validate(&value).map(|()| value)
    }

    /// Checks that a value is allowed.
    ///
    /// # Errors
    /// Returns a description of the expected value.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        let whole = || value.as_u64().is_some_and(|n| u32::try_from(n).is_ok());
        let number = || value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0);
        let is_off = *value == json!(false);
        let fits = value.is_null()
            || match self.kind {
                ValueKind::Number => is_off || number(),
                ValueKind::Fraction => is_off || (number() && value.as_f64() <= Some(1.0)),
                ValueKind::Integer => is_off || whole(),
                ValueKind::PositiveInteger => is_off || whole() && value.as_u64() > Some(0),
                ValueKind::Strings => is_off || !non_empty_strings(value).is_empty(),
                ValueKind::Seed => value.is_boolean() || value.is_u64(),
            };
        if fits { Ok(()) } else { Err(format!("expected {}", self.allowed)) }
    }

    /// Formats a value as a person types it.
    pub fn format_value(value: &Value) -> String {
        match value {
            Value::Null => "own".to_owned(),
            Value::Bool(true) => "on".to_owned(),
            Value::Bool(false) => "off".to_owned(),
            other => other.to_string(),
        }
    }
}

/// Returns the string, or the strings of a list. Returns nothing if any of them is empty or not a string.
fn non_empty_strings(value: &Value) -> Vec<String> {
    let non_empty = |value: &Value| value.as_str().filter(|t| !t.is_empty()).map(str::to_owned);
    match value {
        Value::Array(all) => all.iter().map(non_empty).collect::<Option<Vec<_>>>().unwrap_or_default(),
        other => non_empty(other).into_iter().collect(),
    }
}

/// Returns the overridden sampling parameters of a role, by the names of the request's fields; `false` means not sent.
/// `recorded` returns what is recorded for a parameter.
pub(super) fn sampling_overrides<'a>(recorded: impl Fn(&str) -> Option<&'a Value>) -> Map<String, Value> {
    let overrides = SAMPLING_PARAMS.iter().filter_map(|param| {
        let value = recorded(param.name)?;
        let value = match (&param.kind, value) {
            (_, Value::Null) => return None,
            // Seeds are derived from the number; each request has its own.
            (ValueKind::Seed, Value::Number(_)) => json!(true),
            (ValueKind::Strings, Value::String(_) | Value::Array(_)) => json!(non_empty_strings(value)),
            _ => value.clone(),
        };
        Some((param.name.to_owned(), value))
    });
    overrides.collect()
}

/// Raises a temperature by `increase`, up to 1. A temperature that is already higher stays.
pub fn raised_temperature(base: f64, increase: f64) -> f64 {
    // Computed in fifths, because each retry adds 0.2: starting at 0, the results are exactly 0.2, 0.4, 0.6 and so on.
    ((base * 5.0 + increase * 5.0) / 5.0).min(1.0).max(base)
}

impl PromptRecord {
    /// Returns the strings that end its reply unless the run or the profile has others. One line is a step; a mentor may
    /// write any number of lines.
    pub fn own_stops(&self) -> Vec<String> {
        let is_line = self.role == ModelRole::Actor && !self.whole_reply;
        if is_line { vec!["\n".to_owned()] } else { Vec::new() }
    }

    /// Returns the increase of its temperature: 0.2 for each retry (Reflexion's public code), up to 1.
    pub fn temperature_increase(&self) -> f64 {
        f64::from(self.temperature_level.min(5)) / 5.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_accepts_only_allowed_values() {
        let cases = [
            ("temperature", "0.7", Some(json!(0.7))),
            ("temperature", "off", Some(json!(false))),
            ("temperature", " own ", Some(Value::Null)),
            ("temperature", "-1", None),
            ("temperature", "hot", None),
            ("temperature", "on", None),
            ("top_p", "1", Some(json!(1))),
            ("top_p", "1.1", None),
            ("top_k", "50", Some(json!(50))),
            ("top_k", "0.5", None),
            ("max_tokens", "64", Some(json!(64))),
            ("max_tokens", "0", None),
            ("max_tokens", "off", Some(json!(false))),
            ("max_tokens", "on", None),
            ("max_tokens", "4294967296", None),
            ("stop", "END", Some(json!("END"))),
            ("stop", "[\"\\n\", \"END\"]", Some(json!(["\n", "END"]))),
            ("stop", "[\"a\", 1]", None),
            ("stop", "[\"\"]", None),
            ("stop", "[]", None),
            ("seed", "7", Some(json!(7))),
            ("seed", "on", Some(json!(true))),
            ("seed", "-7", None),
            ("seed", "seven", None),
        ];
        for (name, typed, expected) in cases {
            let (role, param) = sampling_param(&format!("mentor.{name}")).unwrap();
            assert_eq!((role, param.parse(typed).ok()), (ModelRole::Mentor, expected), "{name} {typed}");
        }
        assert_eq!(sampling_param("actor.base_url"), None);
        assert_eq!(sampling_param("critic.seed"), None);
        assert_eq!(sampling_param("temperature"), None);
    }
}
