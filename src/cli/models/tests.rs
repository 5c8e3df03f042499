//! Tests which server is used and which key it receives.

use super::*;
use crate::cli::config::find_entry;
use crate::provider::openai::Secret;

const KEY: &str = "sk-hosted-key-of-a-person";

/// Resolves an endpoint; returns its address and whether it receives the person's key, or the error message.
fn resolved_server(
    role: ModelRole,
    file: &str,
    variables: &[(&str, &str)],
    flags: &[(&'static str, &str)],
    resumed: &[(&str, &str)],
) -> Result<(String, bool), String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let variable = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
    let mut config = Config::load(Some(&path), variable).map_err(|f| f.message)?;
    for (name, value) in flags {
        config.set_flag(find_entry(name).unwrap(), Some(value)).map_err(|f| f.message)?;
    }
    let mut settings = Settings::default();
    for (name, value) in resumed {
        settings.set(name, *value, SettingOrigin::Flag);
    }
    let resumed = (!resumed.is_empty()).then_some(&settings);
    let endpoint = resolve_endpoint_with(&config, role, "m", resumed, &variable).map_err(|f| f.message)?;
    assert!(!format!("{endpoint:?}").contains(KEY));
    Ok((endpoint.base_url.clone(), endpoint.key == Some(Secret::new(KEY))))
}

#[test]
#[cfg_attr(not(feature = "tls"), ignore = "the hosted address needs https")]
fn flag_overrides_profile_and_profile_overrides_the_general_address() {
    let keyed = ("OPENAI_API_KEY", KEY);
    let general = ("OPENAI_BASE_URL", "http://here/v1");
    let mine = "[models.mine]\nbase_url = \"http://mine/v1\"\n[models.local]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                [models.kept]\nbase_url = \"http://kept/v1\"\nkey_env = \"MY_KEY\"\n[models.style]\ntop_k = 5\n";
    let profile = ("run.profile", "mine");
    let flag = ("run.base_url", "http://flag/v1/");
    type Cases<'a> =
        &'a [(&'a [(&'a str, &'a str)], &'a [(&'static str, &'a str)], Result<(&'a str, bool), &'a str>)];
    let cases: Cases<'_> = &[
        (&[], &[], Err("no model server is configured")),
        (&[keyed], &[], Ok((DEFAULT_BASE_URL, true))),
        (&[keyed, general], &[], Ok(("http://here/v1", true))),
        (&[keyed, general], &[profile], Ok(("http://mine/v1", false))),
        (&[keyed, general], &[profile, flag], Ok(("http://flag/v1", true))),
        (&[keyed, general], &[("run.profile", "local")], Ok(("http://127.0.0.1:1/v1", true))),
        (&[keyed, general], &[("run.profile", "style, paper")], Ok(("http://here/v1", true))),
        // The address in a built-in profile for this machine is only a default.
        (&[keyed, general], &[("run.profile", "llamacpp")], Ok(("http://here/v1", true))),
        (&[keyed], &[("run.profile", "llamacpp")], Ok(("http://127.0.0.1:8080/v1", true))),
        (
            &[keyed],
            &[("run.profile", "kept")],
            Err("$MY_KEY, which should hold the API key (key_env), is not set"),
        ),
        (&[keyed, ("MY_KEY", "sk-other-key")], &[("run.profile", "kept")], Ok(("http://kept/v1", false))),
        (&[keyed], &[("run.profile", "nobody")], Err("no profile named \"nobody\"")),
        (&[general], &[], Ok(("http://here/v1", false))),
    ];
    for (variables, flags, expected) in cases {
        let actual = resolved_server(ModelRole::Actor, mine, variables, flags, &[]);
        match (&actual, expected) {
            (Ok(actual), Ok(expected)) => {
                assert_eq!((actual.0.as_str(), actual.1), *expected, "{variables:?} {flags:?}");
            }
            (Err(actual), Err(expected)) => assert!(actual.contains(expected), "{actual}"),
            _ => panic!("got {actual:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn mentor_can_have_its_own_server() {
    let file = "[models.big]\nbase_url = \"http://big/v1\"\n[models.small]\nbase_url = \"http://small/v1\"\n";
    let both = [("run.profile", "small"), ("run.mentor_profile", "big")];
    let base_url_of =
        |role, flags: &[(&'static str, &str)]| resolved_server(role, file, &[], flags, &[]).unwrap().0;
    assert_eq!(base_url_of(ModelRole::Actor, &both), "http://small/v1");
    assert_eq!(base_url_of(ModelRole::Mentor, &both), "http://big/v1");
    assert_eq!(base_url_of(ModelRole::Mentor, &both[..1]), "http://small/v1");
    let local = [("run.base_url", "http://a/v1"), both[1]];
    assert_eq!(
        (base_url_of(ModelRole::Actor, &local), base_url_of(ModelRole::Mentor, &local)),
        ("http://a/v1".into(), "http://big/v1".into())
    );
    let moved = [both[0], ("run.mentor_base_url", "http://b/v1")];
    assert_eq!(
        (base_url_of(ModelRole::Actor, &moved), base_url_of(ModelRole::Mentor, &moved)),
        ("http://small/v1".into(), "http://b/v1".into())
    );
    let usual = [("run.base_url", "http://a/v1"), ("run.mentor_profile", "ollama")];
    assert_eq!(base_url_of(ModelRole::Mentor, &usual), "http://127.0.0.1:11434/v1");
    let address = [("run.base_url", "http://a/v1"), ("run.mentor_base_url", "http://b/v1")];
    assert_eq!(
        (base_url_of(ModelRole::Actor, &address), base_url_of(ModelRole::Mentor, &address)),
        ("http://a/v1".into(), "http://b/v1".into())
    );
    assert_eq!(base_url_of(ModelRole::Mentor, &address[..1]), "http://a/v1");
}

/// A session may come from anywhere; the address in it must not receive this person's key automatically.
#[test]
#[cfg_attr(not(feature = "tls"), ignore = "the hosted address needs https")]
fn resume_uses_only_a_server_that_is_configured_here() {
    let keyed = ("OPENAI_API_KEY", KEY);
    let evil = ("actor.base_url", "http://evil.example/v1");
    let resolve = |variables: &[(&str, &str)], flags: &[(&'static str, &str)], resumed: (&str, &str)| {
        resolved_server(ModelRole::Actor, "", variables, flags, &[resumed])
    };
    assert!(resolve(&[keyed], &[], evil).unwrap_err().contains("used the server http://evil.example/v1"));
    assert!(
        resolve(&[keyed, ("OPENAI_BASE_URL", "http://here/v1")], &[], evil)
            .unwrap_err()
            .contains("configured now: http://here/v1")
    );
    let local = ("actor.base_url", "http://127.0.0.1:8080/v1");
    assert_eq!(resolve(&[keyed], &[], local).unwrap().0, "http://127.0.0.1:8080/v1");
    assert_eq!(
        resolve(&[keyed], &[], ("actor.base_url", DEFAULT_BASE_URL)),
        Ok((DEFAULT_BASE_URL.to_owned(), true))
    );
    assert_eq!(
        resolve(&[keyed, ("OPENAI_BASE_URL", "http://here/v1/")], &[], ("actor.base_url", "http://here/v1"))
            .unwrap()
            .0,
        "http://here/v1"
    );
    let flag = ("run.base_url", "http://other/v1");
    assert_eq!(resolve(&[keyed], &[flag], evil), Ok(("http://other/v1".to_owned(), true)));
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

/// Regression: an address that was mended on the screen or by `resume --base-url` was forgotten.
#[test]
fn an_address_that_a_person_typed_is_used_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, "").unwrap();
    let new_config = || {
        let mut config = Config::load(Some(&path), |_| None).unwrap();
        config.set_flag(&keys::BASE_URL, Some("http://old/v1")).unwrap();
        config
    };
    let mut run = RunSpec { actor: "openai:m".to_owned(), mentor: "none".to_owned(), ..RunSpec::sample() };
    record_servers(&new_config(), "openai:m", "none", &mut run.settings).unwrap();
    let typed = "http://new/v1";
    let moved = crate::domain::with_model(&run, ModelRole::Actor, &format!("openai:m at {typed}")).unwrap();
    let keyed = |name: &str| (name == "OPENAI_API_KEY").then(|| KEY.to_owned());
    let resolve = |config: &Config, run: &RunSpec| {
        let endpoint = resolve_endpoint_with(config, ModelRole::Actor, "m", Some(&run.settings), &keyed);
        endpoint.map(|e| (e.base_url.clone(), e.key.is_some())).map_err(|e| e.message)
    };
    let config = new_config();
    config.typed_servers.lock().unwrap().insert(typed.to_owned());
    assert_eq!(resolve(&config, &moved), Ok((typed.to_owned(), true)));
    assert_eq!(server_flags(&config, &moved), " --base-url http://new/v1");
    // Another process uses it only if a flag accepts it. What the flag says is recorded.
    let plain = Config::load(Some(&path), |_| None).unwrap();
    assert!(resolve(&plain, &moved).unwrap_err().contains("used the server http://new/v1"));
    let mut accepting = Config::load(Some(&path), |_| None).unwrap();
    accepting.set_flag(&keys::BASE_URL, Some(typed)).unwrap();
    assert_eq!(with_servers_of_flags(&moved, &accepting), None);
    let kept = with_servers_of_flags(&run, &accepting).unwrap();
    assert_eq!(kept.settings.text("actor.base_url", ""), typed);
    // On this machine, the next resume needs no flag.
    accepting.set_flag(&keys::BASE_URL, Some("http://127.0.0.1:8765/v1")).unwrap();
    let kept = with_servers_of_flags(&run, &accepting).unwrap();
    assert_eq!(resolve(&plain, &kept).unwrap().0, "http://127.0.0.1:8765/v1");
    assert_eq!(server_flags(&accepting, &kept), "");
}

/// Regression: the settings of a new profile were missing after a switch.
#[test]
fn switched_run_records_what_its_new_profile_sends() {
    let file = "[models.far]\nbase_url = \"http://127.0.0.1:9/v1\"\ntemperature = 0.6\n[models.near]\n\
                base_url = \"http://127.0.0.1:8/v1\"\ntemperature = 0.1\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let mut config = Config::load(Some(&path), |_| None).unwrap();
    config.set_flag(&keys::PROFILE, Some("near")).unwrap();
    let mut run: RunSpec = serde_json::from_value(json!({
        "method": "react", "actor": "openai:small", "mentor": "none", "interface": "raw", "tasks": [], "trials": 1,
        "seed": 0, "autonomy": "confirm", "limits": {"steps": 50}, "loop_detector": false,
    }))
    .unwrap();
    record_servers(&config, "openai:small", "none", &mut run.settings).unwrap();
    let recorded = |run: &RunSpec, part: &str| run.settings.recorded(&format!("actor.{part}")).cloned();
    assert_eq!(recorded(&run, "sampling").unwrap().value["temperature"], json!(0.1));
    for (words, model, temperature) in
        [("openai:big profile far", "big", 0.6), ("openai:other", "other", 0.1)]
    {
        let mut spec = crate::domain::with_model(&run, ModelRole::Actor, words).unwrap();
        assert!(recorded(&spec, "sampling").is_none(), "{words}: settings of the old profile are removed");
        for (name, setting) in server_settings_to_record(&spec, &config) {
            spec.settings.insert_missing(&name, setting);
        }
        assert_eq!(spec.actor, format!("openai:{model}"));
        let sampling = recorded(&spec, "sampling").unwrap();
        assert_eq!(
            (&sampling.value["temperature"], sampling.origin),
            (&json!(temperature), SettingOrigin::Config)
        );
        let from = recorded(&spec, "base_url").unwrap();
        assert!(from.value.as_str().unwrap().ends_with(if model == "big" { ":9/v1" } else { ":8/v1" }));
        assert!(recorded(&spec, "unsent").is_some());
        let record = crate::domain::PromptRecord::default();
        let message = spec.describe_request_sampling(&record, &[]).unwrap();
        assert!(
            message.contains(&format!("temperature {temperature}")) && !message.contains("its profile"),
            "{message}"
        );
        // The changed run can be resumed.
        assert!(
            resolve_endpoint_with(&config, ModelRole::Actor, model, Some(&spec.settings), &|_| None).is_ok()
        );
    }
}

/// Regression: a built-in profile chosen during a run ignored the configured address.
#[test]
fn profile_chosen_during_a_run_resolves_as_at_the_start() {
    let file = "[models.near]\nbase_url = \"http://127.0.0.1:8/v1\"\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, file).unwrap();
    let (configured, usual) = ("http://127.0.0.1:5/v1", "http://127.0.0.1:11434/v1");
    let cases = [
        (Some(configured), None, "ollama", configured),
        (None, None, "ollama", usual),
        (Some(configured), None, "near", "http://127.0.0.1:8/v1"),
        // A person's choice is newer than the flags that started the run.
        (None, Some("http://127.0.0.1:6/v1"), "ollama", usual),
    ];
    for (variable, flag, chosen, expected) in cases {
        let variable = |name: &str| variable.filter(|_| name == "OPENAI_BASE_URL").map(str::to_owned);
        let mut config = Config::load(Some(&path), variable).unwrap();
        config.set_flag(&keys::PROFILE, Some("near")).unwrap();
        config.set_flag(&keys::BASE_URL, flag).unwrap();
        let mut run: RunSpec = serde_json::from_value(json!({
            "method": "react", "actor": "openai:small", "mentor": "none", "interface": "raw", "tasks": [], "trials": 1,
            "seed": 0, "autonomy": "confirm", "limits": {"steps": 50}, "loop_detector": false,
        }))
        .unwrap();
        record_servers(&config, "openai:small", "none", &mut run.settings).unwrap();
        let spec = crate::domain::with_model(&run, ModelRole::Actor, &format!("openai:big profile {chosen}"))
            .unwrap();
        let found =
            resolve_endpoint_with(&config, ModelRole::Actor, "big", Some(&spec.settings), &variable).unwrap();
        assert_eq!(found.base_url, expected, "{chosen}");
    }
}

/// Without https, a hosted address is rejected before the run starts.
#[cfg(not(feature = "tls"))]
#[test]
fn build_without_https_reports_it() {
    let message = resolved_server(ModelRole::Actor, "", &[("OPENAI_API_KEY", KEY)], &[], &[]).unwrap_err();
    assert!(message.contains("built without https"), "{message}");
}
