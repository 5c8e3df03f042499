//! Switching a role to another model.

use super::{ModelRole, RunSpec, SAMPLING_PARAMS, SettingOrigin};

/// The settings that describe a role's server, without the prefix `actor.` or `mentor.`. `sampling` holds the sampling
/// parameters of the server's profile. `unsent` lists the settings that the server rejects or requires other values for
/// ([`State::setting_deviations()`]). These two depend on the model, so a switch to another model removes them.
///
/// [`State::setting_deviations()`]: crate::engine::State::setting_deviations()
const SERVER_SETTINGS: [&str; 5] = ["base_url", "profile", "api", "sampling", "unsent"];

/// Returns a copy of the run in which `role` is played by `provider`: `openai:MODEL`, `openai:MODEL profile NAME`,
/// `rules`, `symbolic`, `none` or `recorded:SESSION`.
///
/// With `openai:MODEL`, the role keeps its server or, if it has none, gets the other role's server. With a profile, the
/// server is the profile's. Sampling parameters that a person set are kept only for `openai:MODEL` without a profile.
pub fn with_model(run: &RunSpec, role: ModelRole, provider: &str) -> RunSpec {
    let mut run = run.clone();
    let provider = provider.trim();
    let (model, profile) = match provider.split_once(" profile ") {
        Some((model, profile)) => (model.trim(), Some(profile.trim())),
        None => (provider, None),
    };
    let (prefix, other_prefix) = match role {
        ModelRole::Actor => ("actor", "mentor"),
        ModelRole::Mentor => ("mentor", "actor"),
    };
    let has_server = run.settings.contains(&format!("{prefix}.base_url"));
    for part in SERVER_SETTINGS {
        let name = format!("{prefix}.{part}");
        let is_kept =
            profile.is_none() && model.starts_with("openai:") && part != "sampling" && part != "unsent";
        if is_kept && has_server {
            continue;
        }
        run.settings.remove(&name);
        if is_kept && let Some(value) = run.settings.recorded(&format!("{other_prefix}.{part}")).cloned() {
            run.settings.insert(name, value);
        }
    }
    if profile.is_some() || !model.starts_with("openai:") {
        for param in &SAMPLING_PARAMS {
            run.settings.remove(&param.setting_name(role));
        }
    }
    if let Some(profile) = profile {
        run.settings.set(&format!("{prefix}.profile"), profile, SettingOrigin::Person);
    }
    match role {
        ModelRole::Actor => model.clone_into(&mut run.actor),
        ModelRole::Mentor => model.clone_into(&mut run.mentor),
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn setting_lines(run: &RunSpec) -> Vec<String> {
        let lines = run.settings.iter().map(|(name, s)| match &s.value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        });
        lines.collect()
    }

    #[test]
    fn switching_the_model_keeps_only_the_settings_that_still_apply() {
        let mut run = RunSpec::sample();
        "openai:small".clone_into(&mut run.actor);
        "symbolic".clone_into(&mut run.mentor);
        for (name, value) in [
            ("actor.base_url", "http://host/v1"),
            ("actor.profile", "paper"),
            ("actor.unsent", "x"),
            ("actor.sampling", "y"),
            ("r_freq", "5"),
            ("actor.temperature", "0.7"),
            ("mentor.top_p", "0.5"),
        ] {
            run.settings.set(name, value, SettingOrigin::Flag);
        }
        let cases: [(ModelRole, &str, &[&str]); 5] = [
            (
                ModelRole::Actor,
                "openai:big",
                &[
                    "actor.base_url=http://host/v1",
                    "actor.profile=paper",
                    "actor.temperature=0.7",
                    "mentor.top_p=0.5",
                    "r_freq=5",
                ],
            ),
            (
                ModelRole::Actor,
                " openai:big profile remote ",
                &["actor.profile=remote", "mentor.top_p=0.5", "r_freq=5"],
            ),
            (ModelRole::Actor, "rules", &["mentor.top_p=0.5", "r_freq=5"]),
            (ModelRole::Actor, "recorded:s1", &["mentor.top_p=0.5", "r_freq=5"]),
            (
                ModelRole::Mentor,
                "openai:big",
                &[
                    "actor.base_url=http://host/v1",
                    "actor.profile=paper",
                    "actor.sampling=y",
                    "actor.temperature=0.7",
                    "actor.unsent=x",
                    "mentor.base_url=http://host/v1",
                    "mentor.profile=paper",
                    "mentor.top_p=0.5",
                    "r_freq=5",
                ],
            ),
        ];
        for (role, provider, expected) in cases {
            let switched = with_model(&run, role, provider);
            assert_eq!(setting_lines(&switched), expected, "{provider}");
            let model = provider.trim().split(" profile ").next().unwrap_or_default();
            assert_eq!(if role == ModelRole::Actor { &switched.actor } else { &switched.mentor }, model);
        }
    }
}
