//! Resolves flags, profiles and configuration to the model servers of a run.
//!
//! The run's settings record the address, the profiles, the sampling parameters, and how these differ from the papers'.
//! They never contain keys, headers or query parameters, which are read again each time. A session from somebody else
//! can name an address, but that must not be enough to send your key there: on resume, requests go only to the address
//! that you have configured or typed since the program started, or to a server on your machine.

mod shared_options;

pub(super) use shared_options::redact_header_values;

use super::config::keys::ReplyCache;
use super::config::{Config, ValueOrigin, keys};
use super::error::{CliError, CliErrorKind};
use super::locate;
use super::settings::setting_origin;
use crate::domain::{ModelRole, RoleSource, RunSpec, Setting, SettingOrigin, Settings, with_base_url};
use crate::driver::{DriverError, ReplyOverride, open_recording};
use crate::provider::openai::{Endpoint, OpenAi, Profile, ProfileError};
use crate::provider::{CacheMode, CachedProvider, Provider};
use etcetera::BaseStrategy as _;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

/// Server used when only `OPENAI_API_KEY` is set.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Address of the server of a command that never calls a model.
const NO_SERVER: &str = "http://localhost";

/// Resolves the endpoint of a model from the configuration, and for a resumed run from its settings (`resumed`).
pub(super) fn resolve_endpoint(
    config: &Config,
    role: ModelRole,
    model: &str,
    resumed: Option<&Settings>,
) -> Result<Endpoint, CliError> {
    if config.calls_no_model {
        return endpoint_without_server(config, role, model);
    }
    resolve_endpoint_with(config, role, model, resumed, &|name| std::env::var(name).ok())
}

/// Returns an endpoint with the sampling parameters of the role's profiles that is never called. It reads no key, no variable
/// and no file.
fn endpoint_without_server(config: &Config, role: ModelRole, model: &str) -> Result<Endpoint, CliError> {
    let names = profile_names(config, role);
    let mut profile = Profile::default();
    for name in split_names(names) {
        profile = config.profile(name)?.merge_over(profile);
    }
    if config.origin(&keys::API) != &ValueOrigin::Default {
        profile.api = Some(config.get(keys::API).word().to_owned());
    }
    if !model.is_empty() {
        profile.model = Some(model.to_owned());
    }
    profile.base_url = Some(NO_SERVER.to_owned());
    profile.without_access().to_endpoint(&|_| None).map_err(|e| profile_error(names, &e))
}

/// Splits names of profiles that are separated by commas.
fn split_names(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty())
}

fn resolve_endpoint_with(
    config: &Config,
    role: ModelRole,
    model: &str,
    resumed: Option<&Settings>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Endpoint, CliError> {
    let (role_name, is_mentor) = (role.name(), role == ModelRole::Mentor);
    let recorded = |name: &str| resumed.map_or("", |s| s.text(&format!("{role_name}.{name}"), ""));
    let mut profile = Profile::default();
    // A profile that a person chose during the run is newer than the flags that started it.
    let recorded_profile = resumed.and_then(|s| s.recorded(&format!("{role_name}.profile")));
    let chosen_by_person = recorded_profile.is_some_and(|s| s.origin == SettingOrigin::Person);
    let use_configured =
        recorded("profile").is_empty() || (config.is_set_by_flag(&keys::PROFILE) && !chosen_by_person);
    let names = if use_configured { profile_names(config, role) } else { recorded("profile") };
    // The address in a built-in profile for a server on this machine is only a default.
    let mut is_default_address = false;
    for name in split_names(names) {
        let next = config.profile(name)?;
        if let Some(address) = &next.base_url {
            is_default_address = config.is_shipped(name) && Endpoint::new(address, "").is_loopback();
        }
        profile = next.merge_over(profile);
    }
    if config.origin(&keys::API) != &ValueOrigin::Default {
        profile.api = Some(config.get(keys::API).word().to_owned());
    } else if !recorded("api").is_empty() {
        profile.api = Some(recorded("api").to_owned());
    }
    if !model.is_empty() {
        profile.model = Some(model.to_owned());
    }
    // An address from a flag wins over a profile's, which wins over one from the configuration file or the environment.
    // The mentor's own address and profile win over those shared with the actor.
    let has_mentor_address = is_mentor && !config.get(keys::MENTOR_BASE_URL).is_empty();
    let has_mentor_profile = is_mentor && (chosen_by_person || !config.get(keys::MENTOR_PROFILE).is_empty());
    let address_key = if has_mentor_address { keys::MENTOR_BASE_URL } else { keys::BASE_URL };
    let configured_address = config.get(address_key);
    let is_flag = config.is_set_by_flag(&address_key);
    // A profile that a person has chosen since the start also wins over the flags.
    let replaces_default =
        is_default_address && !configured_address.is_empty() && !(chosen_by_person && is_flag);
    let wins_over_shared_profile = replaces_default || (is_flag && !chosen_by_person);
    let wins_over_profile = if has_mentor_address {
        wins_over_shared_profile || !has_mentor_profile
    } else {
        wins_over_shared_profile && !has_mentor_profile
    };
    let profile_address = profile.base_url.clone().filter(|_| !wins_over_profile);
    let typed = config.typed_servers.lock().unwrap_or_else(PoisonError::into_inner);
    let is_typed = typed.contains(recorded("base_url"));
    drop(typed);
    let is_from_profile = profile_address.is_some() && !is_typed;
    let uses_default_key = config.get(keys::KEY_ENV).is_empty();
    let key = shared_options::read_key(config, variable)?;
    let configured =
        profile_address.or_else(|| (!configured_address.is_empty()).then(|| configured_address.to_owned()));
    // Only a key from `OPENAI_API_KEY` may go to the default server.
    let configured = configured.or_else(|| {
        (uses_default_key && key.is_some() && resumed.is_none()).then(|| DEFAULT_BASE_URL.to_owned())
    });
    let base_url = match (configured, recorded("base_url")) {
        (_, typed) if is_typed => typed.to_owned(),
        (Some(configured), "") => configured,
        (Some(configured), recorded_url)
            if is_flag || Endpoint::new(&configured, "").base_url == recorded_url =>
        {
            configured
        }
        (configured, recorded_url) if !recorded_url.is_empty() => {
            let is_default_server = recorded_url == DEFAULT_BASE_URL && configured.is_none();
            if !Endpoint::new(recorded_url, "").is_loopback() && !is_default_server {
                let other = configured.map_or_else(
                    || "no server is configured now".to_owned(),
                    |url| format!("configured now: {url}"),
                );
                return Err(CliError::usage(
                    format!("the {role_name} of this run used the server {recorded_url}; {other}"),
                    format!(
                        "choose a server with --base-url; `--base-url {recorded_url}` accepts the recorded one, \
                         which then receives your API key, if you have set one"
                    ),
                ));
            }
            recorded_url.to_owned()
        }
        _ => {
            return Err(CliError::usage(
                format!("--{role_name} openai:{model}: no model server is configured"),
                "set its address with --base-url or OPENAI_BASE_URL, or choose a --profile; for OpenAI itself set OPENAI_API_KEY",
            ));
        }
    };
    profile.base_url = Some(base_url);
    let has_own_key = profile.key_env.is_some() || profile.key_file.is_some();
    let mut endpoint = profile.to_endpoint(variable).map_err(|e| profile_error(names, &e))?;
    if !is_from_profile || endpoint.is_loopback() {
        if !has_own_key {
            endpoint.key = key;
            endpoint.key_source = shared_options::key_source(config);
        }
        shared_options::add_headers(config, variable, &mut endpoint)?;
    }
    shared_options::set_ca_file(config, &mut endpoint)?;
    Ok(endpoint)
}

fn profile_error(names: &str, error: &ProfileError) -> CliError {
    let prefix = if names.is_empty() { String::new() } else { format!("profile {names}: ") };
    CliError::new(CliErrorKind::Config, format!("{prefix}{}", error.message), error.hint.clone())
}

/// Returns the profiles of a role, separated by commas.
fn profile_names(config: &Config, role: ModelRole) -> &str {
    let for_mentor = config.get(keys::MENTOR_PROFILE);
    if role == ModelRole::Mentor && !for_mentor.is_empty() { for_mentor } else { config.get(keys::PROFILE) }
}

/// Returns whether any of the texts contains a secret of the configured model servers.
pub(super) fn contains_model_server_secret(config: &Config, texts: &[String]) -> bool {
    let variable = |name: &str| std::env::var(name).ok();
    let endpoint = |role| resolve_endpoint_with(config, role, "", None, &variable).ok();
    let mut endpoints: Vec<Endpoint> =
        [ModelRole::Actor, ModelRole::Mentor].into_iter().filter_map(endpoint).collect();
    // A key is secret even if no configured server would receive it.
    let with_key = |key| Endpoint { key: Some(key), ..Endpoint::new(DEFAULT_BASE_URL, "") };
    endpoints.extend(shared_options::read_key(config, &variable).ok().flatten().map(with_key));
    let providers = endpoints.into_iter().map(|endpoint| OpenAi::with_quirks(endpoint, Arc::default()));
    providers.into_iter().any(|provider| texts.iter().any(|text| provider.contains_secret(text)))
}

/// Creates the provider of a model, with the configured cache.
pub(super) fn model_provider(
    config: &Config,
    role: ModelRole,
    model: &str,
    resumed: Option<&Settings>,
) -> Result<Arc<dyn Provider>, CliError> {
    let endpoint = resolve_endpoint(config, role, model, resumed)?;
    if endpoint.model.is_empty() {
        return Err(CliError::usage(
            format!("--{} openai: has no model name", role.name()),
            "write openai:MODEL; `retrospect doctor` lists the models of a server",
        ));
    }
    let mode = match config.get(keys::CACHE) {
        ReplyCache::Read => CacheMode::Read,
        ReplyCache::ReadWrite => CacheMode::ReadWrite,
        ReplyCache::Off => CacheMode::Off,
    };
    let identity = endpoint.identity();
    let provider: Arc<dyn Provider> = Arc::new(OpenAi::new(endpoint));
    Ok(match mode {
        CacheMode::Off => provider,
        _ => Arc::new(CachedProvider::new(provider, identity, &cache_folder(config), mode)),
    })
}

/// Returns a function that opens a source of replies for a person to use instead of the model: `recorded:SESSION` (by
/// name or path), or `cache` for the cached replies of the role's model.
pub(super) fn reply_override(spec: &RunSpec, config: &Config) -> ReplyOverride {
    let (spec, config) = (spec.clone(), config.clone());
    Arc::new(move |role, source| {
        let driver_error = |error: CliError| DriverError::Refused(error.message, error.hint);
        if let RoleSource::Recording(name) = RoleSource::parse(source) {
            let role_name = role.name();
            let find = &mut |name: &str| {
                let opened = locate::open_session(&config, Some(name)).map_err(driver_error)?;
                Ok((opened.meta.session, opened.timeline))
            };
            return Ok(Arc::new(open_recording(role_name, name, find)?) as Arc<dyn Provider>);
        }
        let model_name = spec.provider_spec(role);
        let Some(model) = spec.role_source(role).model().filter(|_| source == "cache") else {
            return Err(DriverError::Refused(
                format!("can't take the reply from {source:?}: {model_name} has no reply cache"),
                "take it from a recorded session: recorded:SESSION".to_owned(),
            ));
        };
        cached_provider(&config, role, model, &spec.settings).map_err(driver_error)
    })
}

/// Returns a provider that only reads the cache of a role's model: it never sends a request.
fn cached_provider(
    config: &Config,
    role: ModelRole,
    model: &str,
    resumed: &Settings,
) -> Result<Arc<dyn Provider>, CliError> {
    let endpoint = resolve_endpoint(config, role, model, Some(resumed))?;
    let identity = endpoint.identity();
    let inner: Arc<dyn Provider> = Arc::new(OpenAi::new(endpoint));
    Ok(Arc::new(CachedProvider::new(inner, identity, &cache_folder(config), CacheMode::Only)))
}

fn cache_folder(config: &Config) -> PathBuf {
    config.get(keys::CACHE_FOLDER).unwrap_or_else(|| {
        etcetera::choose_base_strategy()
            .map_or_else(|_| PathBuf::from("answers"), |s| s.cache_dir().join("retrospect").join("answers"))
    })
}

/// Returns the sampling parameters of an endpoint in the form that the run's settings record.
fn sampling_json(endpoint: &Endpoint, role: ModelRole) -> Value {
    let (sampling, number) = (&endpoint.sampling, |name: &str| endpoint.sampling_number(name));
    json!({
        "temperature": number("temperature"), "top_p": number("top_p"), "top_k": number("top_k").map(|k| k as u64),
        "repetition_penalty": number("repetition_penalty"), "max_tokens": endpoint.max_tokens(role), "seed": sampling.seed,
    })
}

/// Returns the server settings to record after a run's model was switched. A server that can't be resolved is skipped
/// here; the error is reported when the model is called.
pub(super) fn server_settings_to_record(spec: &RunSpec, config: &Config) -> Vec<(String, Setting)> {
    let mut missing = Vec::new();
    for role in ModelRole::ALL {
        let Some(model) = spec.role_source(role).model() else { continue };
        let Ok(endpoint) = resolve_endpoint(config, role, model, Some(&spec.settings)) else { continue };
        for (part, value) in [
            ("base_url", json!(endpoint.display_url())),
            ("sampling", sampling_json(&endpoint, role)),
            ("unsent", json!(endpoint.unsent_settings())),
        ] {
            let setting = Setting { value, origin: SettingOrigin::Config };
            missing.push((format!("{}.{part}", role.name()), setting));
        }
    }
    missing
}

/// Returns a resumed run with the addresses that the flags of this command give its servers. Returns `None` if they are
/// those of the session.
pub(super) fn with_servers_of_flags(spec: &RunSpec, config: &Config) -> Option<RunSpec> {
    if !config.is_set_by_flag(&keys::BASE_URL) && !config.is_set_by_flag(&keys::MENTOR_BASE_URL) {
        return None;
    }
    let mut changed = spec.clone();
    for role in ModelRole::ALL {
        let Some(model) = spec.role_source(role).model() else { continue };
        let Ok(endpoint) = resolve_endpoint(config, role, model, Some(&spec.settings)) else { continue };
        let url = endpoint.display_url();
        if url != spec.settings.text(&format!("{}.base_url", role.name()), "") {
            changed = with_base_url(&changed, role, &url, SettingOrigin::Flag);
        }
    }
    (changed != *spec).then_some(changed)
}

/// Returns the flags with which a run is resumed at the servers that it uses now, each after a blank: those that the
/// configuration doesn't name and that aren't on this machine. A session can name such a server, but only a person can
/// accept it.
pub(super) fn server_flags(config: &Config, run: &RunSpec) -> String {
    let mut flags = String::new();
    let mut shared = "";
    for role in ModelRole::ALL {
        let (text, is_actor) =
            (|part| run.settings.text(&format!("{}.{part}", role.name()), ""), role == ModelRole::Actor);
        let url = text("base_url");
        let key = if is_actor { keys::BASE_URL } else { keys::MENTOR_BASE_URL };
        let is_configured = config.get(key) == url && !config.is_set_by_flag(&key);
        let mut profiles = split_names(text("profile"));
        let is_of_profile =
            profiles.any(|name| config.profile(name).is_ok_and(|p| p.base_url.as_deref() == Some(url)));
        let is_known = is_configured || is_of_profile || url == DEFAULT_BASE_URL;
        if run.role_source(role).is_model()
            && url != shared
            && !is_known
            && !Endpoint::new(url, "").is_loopback()
        {
            let flag = if is_actor { "--base-url" } else { "--mentor-base-url" };
            flags.extend([" ", flag, " ", url]);
        }
        if is_actor {
            shared = url;
        }
    }
    flags
}

/// Records which servers a new run uses, without secrets.
pub(super) fn record_servers(
    config: &Config,
    actor: &str,
    mentor: &str,
    settings: &mut Settings,
) -> Result<(), CliError> {
    for (role, name) in [(ModelRole::Actor, actor), (ModelRole::Mentor, mentor)] {
        let Some(model) = RoleSource::parse(name).model() else { continue };
        let endpoint = resolve_endpoint(config, role, model, None)?;
        let role_name = role.name();
        let profile = profile_names(config, role);
        let origin_key = if profile.is_empty() { keys::BASE_URL } else { keys::PROFILE };
        let origin = setting_origin(config.origin(&origin_key));
        let mut record = |name: &str, value: Value, origin: SettingOrigin| {
            settings.set(&format!("{role_name}.{name}"), value, origin);
        };
        record("base_url", json!(endpoint.display_url()), origin);
        if !profile.is_empty() {
            record("profile", json!(profile), origin);
        }
        if config.origin(&keys::API) != &ValueOrigin::Default {
            record("api", json!(config.get(keys::API).word()), setting_origin(config.origin(&keys::API)));
        }
        record("sampling", sampling_json(&endpoint, role), SettingOrigin::Config);
        record("unsent", json!(endpoint.unsent_settings()), origin);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
