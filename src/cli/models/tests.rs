//! Which server is spoken to, and who gets which key.

use super::*;
use crate::provider::openai::Secret;

const KEY: &str = "sk-hosted-key-of-a-person";

/// What the endpoint comes to: its address and whether it gets the person's key; else the words of the refusal.
fn resolved_server(
    asked: ModelRole,
    file: &str,
    variables: &[(&str, &str)],
    flags: &[(&'static str, &str)],
    begun: &[(&str, &str)],
) -> Result<(String, bool), String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let variable = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
    let mut config = Config::load(Some(&path), variable).map_err(|f| f.message)?;
    for (name, value) in flags {
        config.set_flag(name, Some(value)).map_err(|f| f.message)?;
    }
    let mut settings = Settings::default();
    for (name, value) in begun {
        settings.set(name, *value, SettingOrigin::Flag);
    }
    let begun = (!begun.is_empty()).then_some(&settings);
    let endpoint = resolve_endpoint_with(&config, asked, "m", begun, &variable).map_err(|f| f.message)?;
    assert!(!format!("{endpoint:?}").contains(KEY));
    Ok((endpoint.base_url.clone(), endpoint.key == Some(Secret::new(KEY))))
}

#[test]
#[cfg_attr(not(feature = "tls"), ignore = "the hosted address needs https")]
fn a_flag_counts_more_than_a_profile_and_a_profile_more_than_what_is_set_for_all() {
    let keyed = ("OPENAI_API_KEY", KEY);
    let here = ("OPENAI_BASE_URL", "http://here/v1");
    let mine = "[models.mine]\nbase_url = \"http://mine/v1\"\n[models.local]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                [models.kept]\nbase_url = \"http://kept/v1\"\nkey_env = \"MY_KEY\"\n[models.style]\ntop_k = 5\n";
    let profile = ("run.profile", "mine");
    let flag = ("run.base_url", "http://flag/v1/");
    type Cases<'a> =
        &'a [(&'a [(&'a str, &'a str)], &'a [(&'static str, &'a str)], Result<(&'a str, bool), &'a str>)];
    let cases: Cases<'_> = &[
        (&[], &[], Err("no model server is known here")),
        (&[keyed], &[], Ok((DEFAULT_BASE_URL, true))),
        (&[keyed, here], &[], Ok(("http://here/v1", true))),
        (&[keyed, here], &[profile], Ok(("http://mine/v1", false))),
        (&[keyed, here], &[profile, flag], Ok(("http://flag/v1", true))),
        (&[keyed, here], &[("run.profile", "local")], Ok(("http://127.0.0.1:1/v1", true))),
        (&[keyed, here], &[("run.profile", "style, paper")], Ok(("http://here/v1", true))),
        // The address of a shipped profile of this machine is only where such a server usually is.
        (&[keyed, here], &[("run.profile", "llamacpp")], Ok(("http://here/v1", true))),
        (&[keyed], &[("run.profile", "llamacpp")], Ok(("http://127.0.0.1:8080/v1", true))),
        (&[keyed], &[("run.profile", "kept")], Err("the key is to be in $MY_KEY")),
        (&[keyed, ("MY_KEY", "sk-other-key")], &[("run.profile", "kept")], Ok(("http://kept/v1", false))),
        (&[keyed], &[("run.profile", "nobody")], Err("there is no profile \"nobody\"")),
        (&[here], &[], Ok(("http://here/v1", false))),
    ];
    for (variables, flags, want) in cases {
        let got = resolved_server(ModelRole::Actor, mine, variables, flags, &[]);
        match (&got, want) {
            (Ok(got), Ok(want)) => assert_eq!((got.0.as_str(), got.1), *want, "{variables:?} {flags:?}"),
            (Err(got), Err(want)) => assert!(got.contains(want), "{got}"),
            _ => panic!("{got:?} in place of {want:?}"),
        }
    }
}

#[test]
fn the_mentor_may_have_a_server_of_its_own() {
    let file = "[models.big]\nbase_url = \"http://big/v1\"\n[models.small]\nbase_url = \"http://small/v1\"\n";
    let both = [("run.profile", "small"), ("run.mentor_profile", "big")];
    let of = |asked, flags: &[(&'static str, &str)]| resolved_server(asked, file, &[], flags, &[]).unwrap().0;
    assert_eq!(of(ModelRole::Actor, &both), "http://small/v1");
    assert_eq!(of(ModelRole::Mentor, &both), "http://big/v1");
    assert_eq!(of(ModelRole::Mentor, &both[..1]), "http://small/v1");
    let local = [("run.base_url", "http://a/v1"), both[1]];
    assert_eq!(
        (of(ModelRole::Actor, &local), of(ModelRole::Mentor, &local)),
        ("http://a/v1".into(), "http://big/v1".into())
    );
    let moved = [both[0], ("run.mentor_base_url", "http://b/v1")];
    assert_eq!(
        (of(ModelRole::Actor, &moved), of(ModelRole::Mentor, &moved)),
        ("http://small/v1".into(), "http://b/v1".into())
    );
    let usual = [("run.base_url", "http://a/v1"), ("run.mentor_profile", "ollama")];
    assert_eq!(of(ModelRole::Mentor, &usual), "http://127.0.0.1:11434/v1");
    let address = [("run.base_url", "http://a/v1"), ("run.mentor_base_url", "http://b/v1")];
    assert_eq!(
        (of(ModelRole::Actor, &address), of(ModelRole::Mentor, &address)),
        ("http://a/v1".into(), "http://b/v1".into())
    );
    assert_eq!(of(ModelRole::Mentor, &address[..1]), "http://a/v1");
}

/// A session comes from anywhere; the address in it must not get this person's key by itself.
#[test]
#[cfg_attr(not(feature = "tls"), ignore = "the hosted address needs https")]
fn a_resume_asks_only_where_this_person_asks_anyway() {
    let keyed = ("OPENAI_API_KEY", KEY);
    let evil = ("actor.base_url", "http://evil.example/v1");
    let of = |variables: &[(&str, &str)], flags: &[(&'static str, &str)], begun: (&str, &str)| {
        resolved_server(ModelRole::Actor, "", variables, flags, &[begun])
    };
    assert!(of(&[keyed], &[], evil).unwrap_err().contains("was asked at http://evil.example/v1"));
    assert!(
        of(&[keyed, ("OPENAI_BASE_URL", "http://here/v1")], &[], evil)
            .unwrap_err()
            .contains("here it is http://here/v1")
    );
    let local = ("actor.base_url", "http://127.0.0.1:8080/v1");
    assert_eq!(of(&[keyed], &[], local).unwrap().0, "http://127.0.0.1:8080/v1");
    assert_eq!(
        of(&[keyed], &[], ("actor.base_url", DEFAULT_BASE_URL)),
        Ok((DEFAULT_BASE_URL.to_owned(), true))
    );
    assert_eq!(
        of(&[keyed, ("OPENAI_BASE_URL", "http://here/v1/")], &[], ("actor.base_url", "http://here/v1"))
            .unwrap()
            .0,
        "http://here/v1"
    );
    let flag = ("run.base_url", "http://other/v1");
    assert_eq!(of(&[keyed], &[flag], evil), Ok(("http://other/v1".to_owned(), true)));
    let profile = [("actor.base_url", "http://evil.example/v1"), ("actor.profile", "openrouter")];
    assert!(
        resolved_server(
            ModelRole::Actor,
            "",
            &[keyed, ("OPENROUTER_API_KEY", "sk-router-key")],
            &[],
            &profile
        )
        .is_err()
    );
}

/// After a switch nothing said any more what the new profile sends by itself.
#[test]
fn a_run_that_was_switched_says_what_its_new_profile_sends() {
    let file = "[models.far]\nbase_url = \"http://127.0.0.1:9/v1\"\ntemperature = 0.6\n[models.near]\n\
                base_url = \"http://127.0.0.1:8/v1\"\ntemperature = 0.1\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let mut config = Config::load(Some(&path), |_| None).unwrap();
    config.set_flag("run.profile", Some("near")).unwrap();
    let mut run: RunSpec = serde_json::from_value(json!({
        "method": "react", "actor": "openai:small", "mentor": "none", "interface": "raw", "tasks": [], "trials": 1,
        "seed": 0, "autonomy": "confirm", "limits": {"steps": 50}, "loop_detector": false,
    }))
    .unwrap();
    record_servers(&config, "openai:small", "none", &mut run.settings).unwrap();
    let of = |run: &RunSpec, part: &str| run.settings.0.get(&format!("actor.{part}")).cloned();
    assert_eq!(of(&run, "sampling").unwrap().value["temperature"], json!(0.1));
    for (words, model, temperature) in
        [("openai:big profile far", "big", 0.6), ("openai:other", "other", 0.1)]
    {
        let mut spec = crate::engine::with_model(&run, ModelRole::Actor, words);
        assert!(of(&spec, "sampling").is_none(), "{words}: what the old one sent is no more");
        for (name, setting) in missing_server_settings(&spec, &config) {
            spec.settings.0.entry(name).or_insert(setting);
        }
        assert_eq!(spec.actor, format!("openai:{model}"));
        let sampling = of(&spec, "sampling").unwrap();
        assert_eq!(
            (&sampling.value["temperature"], sampling.origin),
            (&json!(temperature), SettingOrigin::Config)
        );
        let from = of(&spec, "base_url").unwrap();
        assert!(from.value.as_str().unwrap().ends_with(if model == "big" { ":9/v1" } else { ":8/v1" }));
        assert!(of(&spec, "unsent").is_some());
        let record = crate::domain::PromptRecord::default();
        let told = spec.describe_request_sampling(&record, &[]).unwrap();
        assert!(
            told.contains(&format!("temperature {temperature}")) && !told.contains("its profile"),
            "{told}"
        );
        // It is taken up again as it is.
        assert!(
            resolve_endpoint_with(&config, ModelRole::Actor, model, Some(&spec.settings), &|_| None).is_ok()
        );
    }
}

/// A shipped profile that was chosen in the model box asked where such a server usually is, whatever was set.
#[test]
fn a_shipped_profile_that_is_chosen_on_the_way_asks_where_it_would_at_the_start() {
    let file = "[models.near]\nbase_url = \"http://127.0.0.1:8/v1\"\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let (set, usual) = ("http://127.0.0.1:5/v1", "http://127.0.0.1:11434/v1");
    let cases = [
        (Some(set), None, "ollama", set),
        (None, None, "ollama", usual),
        (Some(set), None, "near", "http://127.0.0.1:8/v1"),
        // What a person chooses is newer than the flags of the start.
        (None, Some("http://127.0.0.1:6/v1"), "ollama", usual),
    ];
    for (variable, flag, chosen, want) in cases {
        let variable = |name: &str| variable.filter(|_| name == "OPENAI_BASE_URL").map(str::to_owned);
        let mut config = Config::load(Some(&path), variable).unwrap();
        config.set_flag("run.profile", Some("near")).unwrap();
        config.set_flag("run.base_url", flag).unwrap();
        let mut run: RunSpec = serde_json::from_value(json!({
            "method": "react", "actor": "openai:small", "mentor": "none", "interface": "raw", "tasks": [], "trials": 1,
            "seed": 0, "autonomy": "confirm", "limits": {"steps": 50}, "loop_detector": false,
        }))
        .unwrap();
        record_servers(&config, "openai:small", "none", &mut run.settings).unwrap();
        let spec = crate::engine::with_model(&run, ModelRole::Actor, &format!("openai:big profile {chosen}"));
        let found =
            resolve_endpoint_with(&config, ModelRole::Actor, "big", Some(&spec.settings), &variable).unwrap();
        assert_eq!(found.base_url, want, "{chosen}");
    }
}

/// Without https a hosted address is refused before anything is begun.
#[cfg(not(feature = "tls"))]
#[test]
fn a_build_without_https_says_so() {
    let told = resolved_server(ModelRole::Actor, "", &[("OPENAI_API_KEY", KEY)], &[], &[]).unwrap_err();
    assert!(told.contains("built without https"), "{told}");
}
