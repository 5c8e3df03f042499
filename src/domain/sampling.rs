//! How a role's answers are sampled where a person wants it otherwise than its server's profile does: settings of the run by
//! the names `actor.temperature`, `mentor.max_tokens` and so on.

use super::{ModelRole, PromptRecord, RunSpec, SettingOrigin, Settings};
use serde_json::{Map, Value, json};

/// One thing that can be wanted otherwise.
#[derive(Debug, PartialEq, Eq)]
pub struct SamplingParam {
    /// Its name, behind the role's.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// What it may be, in words.
    pub allowed: &'static str,
    kind: ValueKind,
}

#[derive(Debug, PartialEq, Eq)]
enum ValueKind {
    /// A number from 0 on.
    Number,
    /// A number from 0 to 1.
    Fraction,
    /// A whole number from 0 on, of 32 bits.
    Integer,
    /// A whole number from 1 on, of 32 bits.
    PositiveInteger,
    /// Texts.
    Strings,
    /// A whole number, or whether it is sent.
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

/// All of them, in the order of lists.
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
        "a number from 0 to 1, off (not sent) or own (the profile's)",
        ValueKind::Fraction,
    ),
    param(
        "top_k",
        "sample only from this many of the most likely tokens",
        "a whole number, off (not sent) or own (the profile's)",
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
        "maximum tokens of a reply",
        "a whole number, at least 1; off (not sent: the server's own) or own (the profile's)",
        ValueKind::PositiveInteger,
    ),
    param(
        "stop",
        "texts that end a reply",
        "a text or a list like [\"\\n\", \"END\"], off (none) or own (the profile's)",
        ValueKind::Strings,
    ),
    param(
        "seed",
        "number from which the requests' seeds are derived, instead of the run's seed",
        "a whole number, on (the run's), off (not sent) or own (the profile's)",
        ValueKind::Seed,
    ),
];

/// The role and the knob that a setting's name stands for; none: it is about something else.
pub fn sampling_param(setting: &str) -> Option<(ModelRole, &'static SamplingParam)> {
    let (role, name) = setting.split_once('.')?;
    let asked = match role {
        "actor" => ModelRole::Actor,
        "mentor" => ModelRole::Mentor,
        _ => return None,
    };
    Some((asked, SAMPLING_PARAMS.iter().find(|k| k.name == name)?))
}

/// The value of a setting in words: what switches a knob off is called so.
pub fn describe_setting_value(setting: &str, value: &Value) -> String {
    if sampling_param(setting).is_some() { SamplingParam::format_value(value) } else { value.to_string() }
}

/// The bound that is sent in place of `value`, where that was raised for the model.
fn raised_value(why: &str, value: &Value) -> Option<u64> {
    let number = |words: &str| words.split(' ').next().and_then(|n| n.parse::<u64>().ok());
    let value = value.as_u64()?;
    if let Some(least) = why.strip_prefix("at least ").and_then(number) {
        return Some(value.max(least));
    }
    let (bound, cut) = why.split_once(" in place of ")?;
    (number(cut) == Some(value)).then(|| number(bound)).flatten()
}

impl SamplingParam {
    /// The name of its setting.
    pub fn setting_name(&self, asked: ModelRole) -> String {
        format!("{}.{}", asked.name(), self.name)
    }

    /// What a server is sent in place of `value`, after what was learnt of its model: the lines of
    /// [`State::unsent_settings`](crate::engine::State::unsent_settings). None: it is left out.
    pub fn sent_value(&self, value: &Value, unsent: &[String]) -> Option<Value> {
        // Older sessions have "not sent".
        const LEFT_OUT: [&str; 3] = ["the server refused", "left out", "not sent"];
        let lines = unsent.iter().filter_map(|line| line.split_once(": "));
        let mine = lines.filter(|(head, _)| head.split(' ').next() == Some(self.name)).map(|(_, why)| why);
        let mut raised = None;
        for why in mine {
            if LEFT_OUT.iter().any(|words| why.starts_with(words)) {
                return None;
            }
            raised = raised.max(raised_value(why, value));
        }
        Some(raised.map_or_else(|| value.clone(), Value::from))
    }

    /// It is drawn from by whoever is asked, a model or not: the number that seeds begin with.
    pub fn is_seed_number(&self, value: &Value) -> bool {
        self.kind == ValueKind::Seed && (value.is_null() || value.is_u64())
    }

    /// What was typed, as the setting's value: null for the profile's own.
    ///
    /// # Errors
    /// What was expected, in words.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match text.trim() {
            "own" | "default" => Value::Null,
            "off" => json!(false),
            "on" => json!(true),
            other => serde_json::from_str(other).unwrap_or_else(|_| json!(other)),
        };
        self.validate(&value).map(|()| value)
    }

    /// Whether it may have this value.
    ///
    /// # Errors
    /// What was expected, in words.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        let whole = || value.as_u64().is_some_and(|n| u32::try_from(n).is_ok());
        let number = || value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0);
        let left = *value == json!(false);
        let fits = value.is_null()
            || match self.kind {
                ValueKind::Number => left || number(),
                ValueKind::Fraction => left || (number() && value.as_f64() <= Some(1.0)),
                ValueKind::Integer => left || whole(),
                ValueKind::PositiveInteger => left || whole() && value.as_u64() > Some(0),
                ValueKind::Strings => left || !non_empty_strings(value).is_empty(),
                ValueKind::Seed => value.is_boolean() || value.is_u64(),
            };
        if fits { Ok(()) } else { Err(format!("expected {}", self.allowed)) }
    }

    /// A value in the words it is typed in.
    pub fn format_value(value: &Value) -> String {
        match value {
            Value::Null => "own".to_owned(),
            Value::Bool(true) => "on".to_owned(),
            Value::Bool(false) => "off".to_owned(),
            other => other.to_string(),
        }
    }
}

/// A text, or each of a list; none where there is anything else among them, or a text without a character.
fn non_empty_strings(value: &Value) -> Vec<String> {
    let one = |value: &Value| value.as_str().filter(|t| !t.is_empty()).map(str::to_owned);
    match value {
        Value::Array(all) => all.iter().map(one).collect::<Option<Vec<_>>>().unwrap_or_default(),
        other => one(other).into_iter().collect(),
    }
}

impl Settings {
    /// What a person wants otherwise of a role's sampling: by the names of the request's fields what is sent, `false` for
    /// what is left away. What is not named is the endpoint's own.
    pub fn sampling_overrides(&self, asked: ModelRole) -> Map<String, Value> {
        let chosen = SAMPLING_PARAMS.iter().filter_map(|knob| {
            let value = &self.0.get(&knob.setting_name(asked))?.value;
            let value = match (&knob.kind, value) {
                (_, Value::Null) => return None,
                // A number is what seeds are drawn from; the seed itself is the request's.
                (ValueKind::Seed, Value::Number(_)) => json!(true),
                (ValueKind::Strings, Value::String(_) | Value::Array(_)) => json!(non_empty_strings(value)),
                _ => value.clone(),
            };
            Some((knob.name.to_owned(), value))
        });
        chosen.collect()
    }

    /// The number that a role's seeds are drawn from in the place of the run's, where a person chose one.
    pub fn seed_override(&self, asked: ModelRole) -> Option<u64> {
        self.0.get(&format!("{}.seed", asked.name()))?.value.as_u64()
    }
}

/// A temperature that much warmer, up to 1; one that is higher by itself stays.
pub fn raised_temperature(own: f64, warmer: f64) -> f64 {
    // In fifths, the steps of the ladder, so that the steps from 0 on are 0.2, 0.4, 0.6 and so on to the last digit.
    ((own * 5.0 + warmer * 5.0) / 5.0).min(1.0).max(own)
}

impl PromptRecord {
    /// How much warmer it is asked than it would be: 0.2 for each rung of the ladder (Reflexion's public code), up to 1.
    pub fn temperature_increase(&self) -> f64 {
        f64::from(self.temperature_level.min(5)) / 5.0
    }
}

impl RunSpec {
    /// Who is asked in a role, as on the command line.
    pub fn provider_spec(&self, asked: ModelRole) -> &str {
        match asked {
            ModelRole::Actor => &self.actor,
            ModelRole::Mentor => &self.mentor,
        }
    }

    /// Whether whoever is asked in a role heeds a value of a knob.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn check_param_supported(
        &self,
        asked: ModelRole,
        knob: &SamplingParam,
        value: &Value,
    ) -> Result<(), String> {
        Err(match self.provider_spec(asked) {
            model if model.starts_with("openai:") => return Ok(()),
            "rules" if knob.is_seed_number(value) => return Ok(()),
            "rules" => {
                "the built-in rules have no sampling settings: they answer from the prompt and the seed alone"
                    .to_owned()
            }
            "symbolic" => "the symbolic rules are not asked, so nothing is sampled".to_owned(),
            "none" => "there is no mentor to be asked".to_owned(),
            "human" => "a person is not sampled".to_owned(),
            recorded if recorded.starts_with("recorded:") => {
                "a recording answers as it was recorded, whatever is set".to_owned()
            }
            other => format!("{other} has no sampling settings"),
        })
    }

    /// What of a role's sampling is known, in a few words; why there is none, where that is so.
    pub fn describe_sampling(&self, asked: ModelRole) -> String {
        let Some(first) = SAMPLING_PARAMS.first() else { return String::new() };
        if let Err(why) = self.check_param_supported(asked, first, &Value::Bool(false)) {
            return why;
        }
        let known = SAMPLING_PARAMS.iter().filter_map(|knob| {
            let (value, _) = self.effective_value(asked, knob);
            Some(format!("{} {}", knob.name, SamplingParam::format_value(&value?)))
        });
        let known: Vec<String> = known.collect();
        if known.is_empty() { "as its profile has it".to_owned() } else { known.join(", ") }
    }

    /// A knob as it stands for a role, and whether a person chose it; none: only the server's profile knows it.
    pub fn effective_value(&self, asked: ModelRole, knob: &SamplingParam) -> (Option<Value>, bool) {
        if let Some(chosen) = self.settings.0.get(&knob.setting_name(asked)).filter(|s| !s.value.is_null()) {
            return (Some(chosen.value.clone()), true);
        }
        let noted = self.settings.0.get(&format!("{}.sampling", asked.name()));
        let own = noted.and_then(|s| s.value.get(knob.name)).filter(|v| !v.is_null());
        (own.cloned(), false)
    }

    /// Who chose a value that was sent, in words: as long as it is in force its setting says so.
    fn describe_override_origin(
        &self,
        asked: ModelRole,
        knob: &SamplingParam,
        sent: Option<&Value>,
    ) -> &'static str {
        let in_force = self.settings.sampling_overrides(asked).get(knob.name) == sent;
        let setting = self.settings.0.get(&knob.setting_name(asked)).filter(|_| in_force);
        match setting.map(|setting| setting.origin) {
            Some(SettingOrigin::Flag) => " (by a flag)",
            Some(SettingOrigin::Config) => " (by the configuration)",
            _ => " (by a person)",
        }
    }

    /// How the request of a prompt is sampled, in words: what a person chose, and what the server's profile has as far as it
    /// was written down, with what `unsent` says of the model (what was learnt of it by then). None where no model is asked.
    pub fn describe_request_sampling(&self, record: &PromptRecord, unsent: &[String]) -> Option<String> {
        self.provider_spec(record.role).strip_prefix("openai:")?;
        let warmer = record.temperature_increase();
        let told = SAMPLING_PARAMS.iter().filter_map(|knob| {
            let sent = record.sampling.get(knob.name);
            let own =
                || self.settings.0.get(&format!("{}.sampling", record.role.name()))?.value.get(knob.name);
            let value = sent.or_else(own).filter(|v| !v.is_null())?;
            let by = if sent.is_some() { self.describe_override_origin(record.role, knob, sent) } else { "" };
            let value = &match knob.sent_value(value, unsent) {
                None => return None,
                Some(raised) if raised != *value => {
                    return Some(format!("{} {raised} (raised from {value})", knob.name));
                }
                Some(value) => value,
            };
            let value = match value {
                Value::Bool(true) => record.seed.to_string(),
                other => match other.as_f64().filter(|_| warmer > 0.0 && knob.name == "temperature") {
                    Some(own) => {
                        format!("{} ({warmer} above {own}, up to 1)", raised_temperature(own, warmer))
                    }
                    None => SamplingParam::format_value(other),
                },
            };
            Some(format!("{} {value}{by}", knob.name))
        });
        let mut told: Vec<String> = told.collect();
        if !self.settings.0.contains_key(&format!("{}.sampling", record.role.name())) {
            if warmer > 0.0 && !record.sampling.contains_key("temperature") {
                told.push(format!("temperature {warmer} above its profile's, up to 1"));
            }
            told.push("all else as its profile has it".to_owned());
        }
        Some(format!("sampling: {}", told.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with_actor(actor: &str) -> RunSpec {
        serde_json::from_value(json!({
            "method": "react", "actor": actor, "mentor": "none", "interface": "raw", "tasks": [], "trials": 1,
            "seed": 0, "autonomy": "confirm", "limits": {"steps": 50}, "loop_detector": false,
        }))
        .unwrap()
    }

    #[test]
    fn parses_only_allowed_values() {
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
        for (name, typed, want) in cases {
            let (asked, knob) = sampling_param(&format!("mentor.{name}")).unwrap();
            assert_eq!((asked, knob.parse(typed).ok()), (ModelRole::Mentor, want), "{name} {typed}");
        }
        assert_eq!(sampling_param("actor.base_url"), None);
        assert_eq!(sampling_param("critic.seed"), None);
        assert_eq!(sampling_param("temperature"), None);
    }

    /// It said "0.2 higher" of a profile's 0.6 where 0.2 was sent, and where nothing was.
    #[test]
    fn raised_temperature_is_described_as_sent() {
        let cases = [
            (json!({}), json!({"temperature": 0.6}), "temperature 0.8 (0.2 above 0.6, up to 1)"),
            (json!({}), json!({"temperature": 0.9}), "temperature 1 (0.2 above 0.9, up to 1)"),
            (json!({}), json!({"temperature": null}), ""),
            (json!({"temperature": false}), json!({"temperature": 0.6}), "temperature off (by a person)"),
            (
                json!({"temperature": 1.5}),
                json!({}),
                "temperature 1.5 (0.2 above 1.5, up to 1) (by a person)",
            ),
            (
                json!({}),
                Value::Null,
                "temperature 0.2 above its profile's, up to 1, all else as its profile has it",
            ),
        ];
        for (chosen, noted, want) in cases {
            let sampling = chosen.as_object().unwrap().clone();
            let record = PromptRecord { temperature_level: 1, sampling, ..PromptRecord::default() };
            let mut run = run_with_actor("openai:m");
            if !noted.is_null() {
                run.settings.set("actor.sampling", noted, SettingOrigin::Config);
            }
            assert_eq!(run.describe_request_sampling(&record, &[]).unwrap(), format!("sampling: {want}"));
        }
    }

    #[test]
    fn description_names_the_origin_of_each_override() {
        let cases = [
            (json!(64), SettingOrigin::Flag, "max_tokens 64 (by a flag)"),
            (json!(64), SettingOrigin::Config, "max_tokens 64 (by the configuration)"),
            (json!(64), SettingOrigin::Person, "max_tokens 64 (by a person)"),
            // Changed since.
            (json!(65), SettingOrigin::Flag, "max_tokens 64 (by a person)"),
        ];
        for (value, origin, want) in cases {
            let mut run = run_with_actor("openai:m");
            run.settings.set("actor.max_tokens", value, origin);
            let sampling = json!({"max_tokens": 64}).as_object().unwrap().clone();
            let record = PromptRecord { sampling, ..PromptRecord::default() };
            let words = run.describe_request_sampling(&record, &[]).unwrap();
            assert!(words.contains(want), "{words}");
        }
    }

    #[test]
    fn overrides_are_per_role_and_omit_profile_values() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("actor.temperature", json!(0.7)),
            ("actor.top_p", Value::Null),
            ("actor.top_k", json!(false)),
            ("actor.stop", json!("END")),
            ("actor.seed", json!(9)),
            ("mentor.max_tokens", json!(64)),
            ("actor.base_url", json!("http://h")),
        ] {
            settings.set(name, value, SettingOrigin::Person);
        }
        let actor = json!({"temperature": 0.7, "top_k": false, "stop": ["END"], "seed": true});
        assert_eq!(Value::Object(settings.sampling_overrides(ModelRole::Actor)), actor);
        assert_eq!(Value::Object(settings.sampling_overrides(ModelRole::Mentor)), json!({"max_tokens": 64}));
        assert_eq!(
            (settings.seed_override(ModelRole::Actor), settings.seed_override(ModelRole::Mentor)),
            (Some(9), None)
        );
    }
}
