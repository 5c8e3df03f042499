//! Switching a role to another model.

use super::{ModelRole, RunSpec, SAMPLING_PARAMS, SettingOrigin, parse_base_url};

/// The settings that describe a role's server, without the prefix `actor.` or `mentor.`. `sampling` holds the sampling
/// parameters of the server's profile. `unsent` lists the settings that the server rejects or requires other values for
/// ([`State::setting_deviations()`]). These two depend on the model, so a switch to another model removes them.
///
/// [`State::setting_deviations()`]: crate::engine::State::setting_deviations()
const SERVER_SETTINGS: [&str; 5] = ["base_url", "profile", "api", "sampling", "unsent"];

/// The forms of a model's name that [`with_model`] reads, for messages.
const MODEL_FORMS: &str =
    "write openai:MODEL, openai:MODEL profile NAME or openai:MODEL at http://HOST:PORT/v1";

/// Splits `openai:MODEL [profile NAME] [at URL]` into its three parts. The word `at` may be left out.
fn split_model(provider: &str) -> Result<(&str, Option<&str>, Option<&str>), String> {
    let provider = provider.trim();
    if !provider.starts_with("openai:") {
        return Ok((provider, None, None));
    }
    let (rest, url) = match provider.rsplit_once(char::is_whitespace) {
        Some((rest, url)) if url.contains("://") || rest.trim_end().ends_with(" at") => {
            let rest = rest.trim_end();
            (rest.strip_suffix(" at").unwrap_or(rest).trim_end(), Some(url))
        }
        _ => (provider, None),
    };
    let (model, profile) = match rest.split_once(" profile ") {
        Some((model, profile)) => (model.trim_end(), Some(profile.trim())),
        None => (rest, None),
    };
    if model.contains(char::is_whitespace) {
        return Err(format!("a model's name has no blanks: {model:?}; {MODEL_FORMS}"));
    }
    if let Some(url) = url {
        parse_base_url(url)
            .map_err(|why| format!("wrong base URL: {why}; write it as http://127.0.0.1:8080/v1"))?;
    }
    Ok((model, profile, url.map(|url| url.trim_end_matches('/'))))
}

/// Returns whether two runs differ only in the addresses of their model servers and in what was recorded about these.
pub fn differs_only_in_servers(one: &RunSpec, other: &RunSpec) -> bool {
    let without_servers = |run: &RunSpec| {
        let mut run = run.clone();
        for role in ModelRole::ALL {
            for part in ["base_url", "sampling", "unsent"] {
                run.settings.remove(&format!("{}.{part}", role.name()));
            }
        }
        run
    };
    without_servers(one) == without_servers(other)
}

/// Returns a copy of the run in which the server of `role` has another address.
pub fn with_base_url(run: &RunSpec, role: ModelRole, url: &str, origin: SettingOrigin) -> RunSpec {
    let mut run = run.clone();
    for part in ["sampling", "unsent"] {
        run.settings.remove(&format!("{}.{part}", role.name()));
    }
    run.settings.set(&format!("{}.base_url", role.name()), url, origin);
    run
}

/// Returns a copy of the run in which `role` is played by `provider`: `openai:MODEL`, `openai:MODEL profile NAME`,
/// `openai:MODEL at URL`, `rules`, `symbolic`, `none` or `recorded:SESSION`.
///
/// With `openai:MODEL`, the role keeps its server or, if it has none, gets the other role's server. With a profile, the
/// server is the profile's, unless an address follows. Sampling parameters that a person set are kept only for
/// `openai:MODEL` without a profile.
///
/// # Errors
/// Returns what to write if the name of the model contains a blank or the address is no base URL.
pub fn with_model(run: &RunSpec, role: ModelRole, provider: &str) -> Result<RunSpec, String> {
    let mut run = run.clone();
    let (model, profile, url) = split_model(provider)?;
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
    if let Some(url) = url {
        run = with_base_url(&run, role, url, SettingOrigin::Person);
    }
    match role {
        ModelRole::Actor => model.clone_into(&mut run.actor),
        ModelRole::Mentor => model.clone_into(&mut run.mentor),
    }
    Ok(run)
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
        let cases: [(ModelRole, &str, &[&str]); 7] = [
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
            (
                ModelRole::Actor,
                "openai:big at http://127.0.0.1:9/v1/",
                &[
                    "actor.base_url=http://127.0.0.1:9/v1",
                    "actor.profile=paper",
                    "actor.temperature=0.7",
                    "mentor.top_p=0.5",
                    "r_freq=5",
                ],
            ),
            (
                ModelRole::Actor,
                "openai:big profile remote, paper http://other/v1",
                &[
                    "actor.base_url=http://other/v1",
                    "actor.profile=remote, paper",
                    "mentor.top_p=0.5",
                    "r_freq=5",
                ],
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
            let switched = with_model(&run, role, provider).unwrap();
            assert_eq!(setting_lines(&switched), expected, "{provider}");
            let model = provider.trim().split(' ').next().unwrap_or_default();
            assert_eq!(if role == ModelRole::Actor { &switched.actor } else { &switched.mentor }, model);
        }
    }

    /// Regression: `openai:fake http://HOST/v1` became the name of a model.
    #[test]
    fn a_blank_in_the_name_of_a_model_is_refused_with_what_to_write() {
        let run = RunSpec::sample();
        for (provider, message) in [
            ("openai:my model", "no blanks: \"openai:my model\"; write openai:MODEL, "),
            ("openai:m at 127.0.0.1:8765", "must start with http:// or https://"),
            ("openai:m at http://", "empty host"),
            ("openai:m at http://me:secret@host/v1", "user name or password"),
            ("openai:m http://host/v1?key=secret", "contains a query"),
        ] {
            let error = with_model(&run, ModelRole::Actor, provider).unwrap_err();
            assert!(error.contains(message) && !error.contains("secret"), "{provider}: {error}");
        }
    }
}
