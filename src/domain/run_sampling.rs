//! The sampling parameters of a run's requests: which its models support, which are in force, and who chose them.

use super::{
    ModelRole, PromptRecord, RoleSource, RunSpec, SAMPLING_PARAMS, SamplingParam, SettingOrigin,
    raised_temperature,
};
use serde_json::{Map, Value, json};

impl RunSpec {
    /// Returns the provider of a role, as written on the command line.
    pub fn provider_spec(&self, role: ModelRole) -> &str {
        match role {
            ModelRole::Actor => &self.actor,
            ModelRole::Mentor => &self.mentor,
        }
    }

    /// Returns what is behind the name of a role's provider.
    pub fn role_source(&self, role: ModelRole) -> RoleSource<'_> {
        RoleSource::parse(self.provider_spec(role))
    }

    /// Returns whether the rules play. They read each prompt, but nothing is called.
    pub fn is_played_by_rules(&self) -> bool {
        self.role_source(ModelRole::Actor) == RoleSource::Rules
    }

    /// Returns whether the rules play and no model, or recording of one, reflects.
    pub fn is_without_model(&self) -> bool {
        self.is_played_by_rules() && !self.role_source(ModelRole::Mentor).replies_as_model()
    }

    /// Returns what a counted request is called.
    pub fn request_word(&self) -> &'static str {
        if self.is_played_by_rules() { "prompt" } else { "call" }
    }

    /// Checks that the provider of a role supports a value of a parameter.
    ///
    /// # Errors
    /// Returns why it doesn't.
    pub fn check_param_supported(
        &self,
        role: ModelRole,
        param: &SamplingParam,
        value: &Value,
    ) -> Result<(), String> {
        Err(match self.role_source(role) {
            RoleSource::Model(_) => return Ok(()),
            RoleSource::Rules if param.is_seed_number(value) => return Ok(()),
            RoleSource::Rules => {
                "the rule-based actor has no sampling parameters; it uses only the prompt and the seed"
                    .to_owned()
            }
            RoleSource::Symbolic => "symbolic rules call no model, so nothing is sampled".to_owned(),
            RoleSource::Nobody => "there is no mentor".to_owned(),
            RoleSource::Person => "a person plays, so nothing is sampled".to_owned(),
            RoleSource::Recording(_) => {
                "a recording replies as it was recorded; settings don't change it".to_owned()
            }
            RoleSource::Unknown(other) => format!("{other} has no sampling parameters"),
        })
    }

    /// Describes the known sampling parameters of a role, or says why it has none.
    pub fn describe_sampling(&self, role: ModelRole) -> String {
        let Some(first) = SAMPLING_PARAMS.first() else { return String::new() };
        if let Err(reason) = self.check_param_supported(role, first, &Value::Bool(false)) {
            return reason;
        }
        let known = SAMPLING_PARAMS.iter().filter_map(|param| {
            let (value, _) = self.effective_value(role, param);
            Some(format!("{} {}", param.name, SamplingParam::format_value(&value?)))
        });
        let known: Vec<String> = known.collect();
        if known.is_empty() { "as in its profile".to_owned() } else { known.join(", ") }
    }

    /// Returns the current value of a parameter for a role, and whether a setting overrides it. The value is `None` if
    /// it is the profile's and the run didn't record it.
    pub fn effective_value(&self, role: ModelRole, param: &SamplingParam) -> (Option<Value>, bool) {
        if let Some(set) = self.settings.recorded(&param.setting_name(role)).filter(|s| !s.value.is_null()) {
            return (Some(set.value.clone()), true);
        }
        let profile = self.settings.recorded(&format!("{}.sampling", role.name()));
        let value = profile.and_then(|s| s.value.get(param.name)).filter(|v| !v.is_null());
        (value.cloned(), false)
    }

    /// Says who chose a value that was sent. If the setting has changed since, its origin says nothing about that
    /// value, which is then attributed to a person.
    fn describe_override_origin(
        &self,
        role: ModelRole,
        param: &SamplingParam,
        sent: Option<&Value>,
    ) -> &'static str {
        let unchanged = self.settings.typed().role(role).sampling.get(param.name) == sent;
        let setting = self.settings.recorded(&param.setting_name(role)).filter(|_| unchanged);
        match setting.map(|setting| setting.origin) {
            Some(SettingOrigin::Flag) => " (by a flag)",
            Some(SettingOrigin::Config) => " (by the configuration)",
            Some(SettingOrigin::Paper) => " (by the paper)",
            Some(SettingOrigin::Code) => " (by the public code)",
            Some(SettingOrigin::BuiltIn) => " (by default)",
            Some(SettingOrigin::Mentor | SettingOrigin::Person) | None => " (by a person)",
        }
    }

    /// Returns the sampling parameters that a prompt's request sends, by the names of its fields: the overrides, the profile's
    /// values if they were recorded, and the prompt's own stops where neither has any. Empty if the role has no model.
    pub fn request_sampling(&self, record: &PromptRecord) -> Map<String, Value> {
        if !self.role_source(record.role).is_model() {
            return Map::new();
        }
        let profile = self.settings.recorded(&format!("{}.sampling", record.role.name()));
        let sent = SAMPLING_PARAMS.iter().filter_map(|param| {
            let of_profile = || profile?.value.get(param.name);
            let value = record.sampling.get(param.name).or_else(of_profile)?;
            let value = match value {
                Value::Null | Value::Bool(false) => return None,
                Value::Bool(true) => json!(record.seed),
                value if param.name == "max_tokens" => {
                    json!(value.as_u64()?.max(record.summary_tokens.into()))
                }
                value if param.name == "temperature" && record.temperature_level > 0 => {
                    json!(raised_temperature(value.as_f64()?, record.temperature_increase()))
                }
                value => value.clone(),
            };
            Some((param.name.to_owned(), value))
        });
        let mut sent: Map<String, Value> = sent.collect();
        let chosen = record.sampling.get("stop").or_else(|| profile?.value.get("stop"));
        let own_stops = record.own_stops();
        if chosen.is_none_or(Value::is_null) && !own_stops.is_empty() {
            sent.insert("stop".to_owned(), json!(own_stops));
        }
        sent
    }

    /// Describes the sampling parameters of a prompt's request: the overrides, and the profile's values if they were
    /// recorded. `deviations` lists what was known about the model's server at that time (see
    /// [`SamplingParam::sent_value`]). Returns `None` if the role has no model.
    pub fn describe_request_sampling(&self, record: &PromptRecord, deviations: &[String]) -> Option<String> {
        self.provider_spec(record.role).strip_prefix("openai:")?;
        let increase = record.temperature_increase();
        let parts = SAMPLING_PARAMS.iter().filter_map(|param| {
            let sent = record.sampling.get(param.name);
            let profile_value =
                || self.settings.recorded(&format!("{}.sampling", record.role.name()))?.value.get(param.name);
            let value = sent.or_else(profile_value).filter(|v| !v.is_null())?;
            let origin =
                if sent.is_some() { self.describe_override_origin(record.role, param, sent) } else { "" };
            let value = &match param.sent_value(value, deviations) {
                None => return None,
                Some(raised) if raised != *value => {
                    return Some(format!("{} {raised} (raised from {value})", param.name));
                }
                Some(value) => value,
            };
            let long = u64::from(record.summary_tokens);
            if param.name == "max_tokens" && value.as_u64().is_some_and(|tokens| tokens < long) {
                return Some(format!("{} {long} (for a long reply)", param.name));
            }
            let value = match value {
                Value::Bool(true) => record.seed.to_string(),
                other => match other.as_f64().filter(|_| increase > 0.0 && param.name == "temperature") {
                    Some(base) => {
                        let raised = raised_temperature(base, increase);
                        let reason = format!(" ({base} + {increase} for retries, capped at 1)");
                        format!("{raised}{}", if raised > base { reason.as_str() } else { "" })
                    }
                    None => SamplingParam::format_value(other),
                },
            };
            Some(format!("{} {value}{origin}", param.name))
        });
        let mut parts: Vec<String> = parts.collect();
        if !self.settings.contains(&format!("{}.sampling", record.role.name())) {
            if increase > 0.0 && !record.sampling.contains_key("temperature") {
                parts.push(format!("temperature {increase} above its profile's, capped at 1"));
            }
            parts.push("the rest as in its profile".to_owned());
        }
        Some(format!("sampling: {}", parts.join(", ")))
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

    /// Regression: the description said only "0.2 higher", whatever temperature was raised and sent.
    #[test]
    fn description_of_a_retry_has_the_raised_temperature() {
        let cases = [
            (json!({}), json!({"temperature": 0.6}), "temperature 0.8 (0.6 + 0.2 for retries, capped at 1)"),
            (json!({}), json!({"temperature": 0.9}), "temperature 1 (0.9 + 0.2 for retries, capped at 1)"),
            (json!({}), json!({"temperature": null}), ""),
            (json!({"temperature": false}), json!({"temperature": 0.6}), "temperature off (by a person)"),
            (json!({"temperature": 1.5}), json!({}), "temperature 1.5 (by a person)"),
            (
                json!({}),
                Value::Null,
                "temperature 0.2 above its profile's, capped at 1, the rest as in its profile",
            ),
        ];
        for (overrides, profile, expected) in cases {
            let sampling = overrides.as_object().unwrap().clone();
            let record = PromptRecord { temperature_level: 1, sampling, ..PromptRecord::default() };
            let mut run = run_with_actor("openai:m");
            if !profile.is_null() {
                run.settings.set("actor.sampling", profile, SettingOrigin::Config);
            }
            assert_eq!(run.describe_request_sampling(&record, &[]).unwrap(), format!("sampling: {expected}"));
        }
    }

    #[test]
    fn request_parameters_are_those_that_are_sent() {
        let mut run = run_with_actor("openai:m");
        let profile = json!({"temperature": 0.6, "max_tokens": 100, "top_p": null, "seed": true});
        run.settings.set("actor.sampling", profile, SettingOrigin::Config);
        let sampling = json!({"top_k": false, "repetition_penalty": 1}).as_object().unwrap().clone();
        let record = PromptRecord { seed: 7, sampling, ..PromptRecord::default() };
        let expected = json!({"temperature": 0.6, "max_tokens": 100, "seed": 7, "repetition_penalty": 1, "stop": ["\n"]});
        assert_eq!(Value::Object(run.request_sampling(&record)), expected);
        let retried = PromptRecord { temperature_level: 1, summary_tokens: 4096, ..record.clone() };
        let expected = json!({
            "temperature": 0.8, "max_tokens": 4096, "seed": 7, "repetition_penalty": 1, "stop": ["\n"]
        });
        assert_eq!(Value::Object(run.request_sampling(&retried)), expected);
        let mut without = retried.clone();
        without.sampling.insert("stop".to_owned(), json!(false));
        assert!(!run.request_sampling(&without).contains_key("stop"));
        let mentor = PromptRecord { role: ModelRole::Mentor, ..PromptRecord::default() };
        assert!(!run_with_actor("openai:m").request_sampling(&mentor).contains_key("stop"));
        assert!(run_with_actor("rules").request_sampling(&record).is_empty());
    }

    #[test]
    fn description_of_a_request_says_who_chose_each_value() {
        let cases = [
            (json!(64), SettingOrigin::Flag, "max_tokens 64 (by a flag)"),
            (json!(64), SettingOrigin::Config, "max_tokens 64 (by the configuration)"),
            (json!(64), SettingOrigin::Person, "max_tokens 64 (by a person)"),
            (json!(64), SettingOrigin::Paper, "max_tokens 64 (by the paper)"),
            (json!(64), SettingOrigin::Code, "max_tokens 64 (by the public code)"),
            (json!(64), SettingOrigin::BuiltIn, "max_tokens 64 (by default)"),
            // The setting was changed after the request.
            (json!(65), SettingOrigin::Flag, "max_tokens 64 (by a person)"),
        ];
        for (value, origin, expected) in cases {
            let mut run = run_with_actor("openai:m");
            run.settings.set("actor.max_tokens", value, origin);
            let sampling = json!({"max_tokens": 64}).as_object().unwrap().clone();
            let record = PromptRecord { sampling, ..PromptRecord::default() };
            let description = run.describe_request_sampling(&record, &[]).unwrap();
            assert!(description.contains(expected), "{description}");
        }
    }

    #[test]
    fn overrides_are_per_role_and_omit_profile_values() {
        let mut settings = crate::domain::Settings::default();
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
        assert_eq!(Value::Object(settings.typed().role(ModelRole::Actor).sampling.clone()), actor);
        assert_eq!(
            Value::Object(settings.typed().role(ModelRole::Mentor).sampling.clone()),
            json!({"max_tokens": 64})
        );
        assert_eq!(
            (settings.typed().role(ModelRole::Actor).seed, settings.typed().role(ModelRole::Mentor).seed),
            (Some(9), None)
        );
    }
}
