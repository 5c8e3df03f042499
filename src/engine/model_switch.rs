//! Another model for a role, as the run that goes on from there.

use crate::domain::{ModelRole, RunSpec, SAMPLING_PARAMS, SettingOrigin};

/// What a run writes down of a role's server, by the last part of the settings' names.
const SERVER_SETTINGS: [&str; 5] = ["base_url", "profile", "api", "sampling", "unsent"];

/// The same run with another model for a role: `openai:MODEL`, `openai:MODEL profile NAME`, `rules`, `symbolic`, `none` or
/// `recorded:SESSION`. A model of the server in use keeps its address; where the role had no server yet, the other role's is
/// taken, and with a profile the profile says where. What a person chose of the role's sampling stays with a model, unless a profile
/// is named, which then says it.
pub fn with_model(run: &RunSpec, asked: ModelRole, words: &str) -> RunSpec {
    let mut run = run.clone();
    let words = words.trim();
    let (model, profile) = match words.split_once(" profile ") {
        Some((model, profile)) => (model.trim(), Some(profile.trim())),
        None => (words, None),
    };
    let (own, other) = match asked {
        ModelRole::Actor => ("actor", "mentor"),
        ModelRole::Mentor => ("mentor", "actor"),
    };
    let had = run.settings.0.contains_key(&format!("{own}.base_url"));
    for part in SERVER_SETTINGS {
        let name = format!("{own}.{part}");
        let stays =
            profile.is_none() && model.starts_with("openai:") && part != "sampling" && part != "unsent";
        if stays && had {
            continue;
        }
        run.settings.0.remove(&name);
        if stays && let Some(theirs) = run.settings.0.get(&format!("{other}.{part}")).cloned() {
            run.settings.0.insert(name, theirs);
        }
    }
    if profile.is_some() || !model.starts_with("openai:") {
        for knob in &SAMPLING_PARAMS {
            run.settings.0.remove(&knob.setting_name(asked));
        }
    }
    if let Some(profile) = profile {
        run.settings.set(&format!("{own}.profile"), profile, SettingOrigin::Person);
    }
    match asked {
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
        let told = run.settings.0.iter().map(|(name, s)| match &s.value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        });
        told.collect()
    }

    #[test]
    fn a_switch_keeps_of_the_server_what_stays_true() {
        let mut run = crate::engine::tests::run_spec(1);
        "openai:small".clone_into(&mut run.actor);
        "symbolic".clone_into(&mut run.mentor);
        for (name, value) in [
            ("actor.base_url", "http://h/v1"),
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
                    "actor.base_url=http://h/v1",
                    "actor.profile=paper",
                    "actor.temperature=0.7",
                    "mentor.top_p=0.5",
                    "r_freq=5",
                ],
            ),
            (
                ModelRole::Actor,
                " openai:big profile far ",
                &["actor.profile=far", "mentor.top_p=0.5", "r_freq=5"],
            ),
            (ModelRole::Actor, "rules", &["mentor.top_p=0.5", "r_freq=5"]),
            (ModelRole::Actor, "recorded:s1", &["mentor.top_p=0.5", "r_freq=5"]),
            (
                ModelRole::Mentor,
                "openai:big",
                &[
                    "actor.base_url=http://h/v1",
                    "actor.profile=paper",
                    "actor.sampling=y",
                    "actor.temperature=0.7",
                    "actor.unsent=x",
                    "mentor.base_url=http://h/v1",
                    "mentor.profile=paper",
                    "mentor.top_p=0.5",
                    "r_freq=5",
                ],
            ),
        ];
        for (asked, words, want) in cases {
            let other = with_model(&run, asked, words);
            assert_eq!(setting_lines(&other), want, "{words}");
            let model = words.trim().split(" profile ").next().unwrap_or_default();
            assert_eq!(if asked == ModelRole::Actor { &other.actor } else { &other.mentor }, model);
        }
    }
}
