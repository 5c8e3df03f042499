//! Resolves names, flags and profiles to the model servers of a run.
//!
//! The run's settings record the address, the profiles, the sampling parameters and which of the papers' settings are
//! not sent. They never contain keys, headers or query parameters, which are read again each time. A session from
//! somebody else can therefore name an address but never receives a key for it: on resume, requests go only to the
//! address configured here or to a server on this machine.

mod shared_options;

pub(super) use shared_options::redact_header_values;

use super::args::ModelArgs;
use super::config::{Config, ValueOrigin};
use super::error::{CliError, CliErrorKind};
use super::locate;
use super::settings::setting_origin;
use crate::domain::{ModelRole, RunSpec, Setting, SettingOrigin, Settings};
use crate::driver::{DriverError, ReplyOverride, open_recording};
use crate::provider::openai::{Endpoint, OpenAi, Profile, ProfileError};
use crate::provider::{CacheMode, CachedProvider, Provider};
use etcetera::BaseStrategy as _;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Server used when only `OPENAI_API_KEY` is set.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Copies the flags of the model servers into the configuration.
pub(super) fn apply_flags(config: &mut Config, models: &ModelArgs) -> Result<(), CliError> {
    for (name, text) in [
        ("run.base_url", &models.base_url),
        ("run.profile", &models.profile),
        ("run.key_env", &models.key_env),
        ("run.ca_file", &models.ca_file),
        ("run.api", &models.api),
        ("run.mentor_base_url", &models.mentor_base_url),
        ("run.mentor_profile", &models.mentor_profile),
        ("run.cache", &models.cache),
    ] {
        config.set_flag(name, text.as_deref())?;
    }
    if !models.header.is_empty() {
        config.set_flag("run.headers", Some(&models.header.join("\n")))?;
    }
    config.set_flag("run.prefetch", models.prefetch.then_some("true"))?;
    Ok(())
}

/// Resolves the endpoint of a model from the configuration; `resumed` holds the settings of a resumed run.
pub(super) fn resolve_endpoint(
    config: &Config,
    role: ModelRole,
    model: &str,
    resumed: Option<&Settings>,
) -> Result<Endpoint, CliError> {
    resolve_endpoint_with(config, role, model, resumed, &|name| std::env::var(name).ok())
}

fn resolve_endpoint_with(
    config: &Config,
    role: ModelRole,
    model: &str,
    resumed: Option<&Settings>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Endpoint, CliError> {
    let (role_name, mentor) = (role.name(), role == ModelRole::Mentor);
    let recorded = |name: &str| resumed.map_or("", |s| s.text(&format!("{role_name}.{name}"), ""));
    let mut profile = Profile::default();
    let names = profile_names(config, role);
    // A profile that a person chose during the run is newer than the flags of its start.
    let chosen = resumed.and_then(|s| s.0.get(&format!("{role_name}.profile")));
    let chosen = chosen.is_some_and(|s| s.origin == SettingOrigin::Person);
    let stays = recorded("profile").is_empty() || (is_set_by_flag(config, "run.profile") && !chosen);
    let names = if stays { names } else { recorded("profile") };
    // A built-in profile for a server on this machine knows only its usual address.
    let mut usual = false;
    for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        let next = config.profile(name)?;
        if let Some(address) = &next.base_url {
            usual = config.is_shipped(name) && Endpoint::new(address, "").is_loopback();
        }
        profile = next.merge_over(profile);
    }
    if config.origin("run.api") != &ValueOrigin::Default {
        profile.api = Some(config.text("run.api").to_owned());
    } else if !recorded("api").is_empty() {
        profile.api = Some(recorded("api").to_owned());
    }
    if !model.is_empty() {
        profile.model = Some(model.to_owned());
    }
    // A flag overrides a profile, a profile overrides the general address; the mentor's own overrides the shared one.
    let own_address = mentor && !config.text("run.mentor_base_url").is_empty();
    let own_profile = mentor && (chosen || !config.text("run.mentor_profile").is_empty());
    let name = if own_address { "run.mentor_base_url" } else { "run.base_url" };
    let set = config.text(name);
    let by_flag = is_set_by_flag(config, name);
    // Flags of the start don't count if a person has chosen a profile since.
    let usual = usual && !set.is_empty() && !(chosen && by_flag);
    let over = usual || (by_flag && !chosen);
    let over_profile = if own_address { over || !own_profile } else { over && !own_profile };
    let of_profile = profile.base_url.clone().filter(|_| !over_profile);
    let from_profile = of_profile.is_some();
    let hosted = config.text("run.key_env").is_empty();
    let key = shared_options::read_key(config, variable)?;
    let here = of_profile.or_else(|| (!set.is_empty()).then(|| set.to_owned()));
    // Only a key from `OPENAI_API_KEY` may go to the default server.
    let here =
        here.or_else(|| (hosted && key.is_some() && resumed.is_none()).then(|| DEFAULT_BASE_URL.to_owned()));
    let base_url = match (here, recorded("base_url")) {
        (Some(here), "") => here,
        (Some(here), was) if is_set_by_flag(config, name) || Endpoint::new(&here, "").base_url == was => here,
        (here, was) if !was.is_empty() => {
            let recorded_endpoint = Endpoint::new(was, "");
            let hosted = was == DEFAULT_BASE_URL && here.is_none();
            if !recorded_endpoint.is_loopback() && !hosted {
                let here = here.map_or_else(String::new, |h| format!("; configured here: {h}"));
                return Err(CliError::usage(
                    format!("the {role_name} of this run used the server {was}{here}"),
                    format!("choose one with --base-url, such as --base-url {was}"),
                ));
            }
            was.to_owned()
        }
        _ => {
            return Err(CliError::usage(
                format!("--{role_name} openai:{model}: no model server is configured"),
                "set its address with --base-url or OPENAI_BASE_URL, or choose a --profile; for OpenAI itself set OPENAI_API_KEY",
            ));
        }
    };
    profile.base_url = Some(base_url);
    let keyed = profile.key_env.is_some() || profile.key_file.is_some();
    let mut endpoint = profile.to_endpoint(variable).map_err(|e| profile_error(names, &e))?;
    if !from_profile || endpoint.is_loopback() {
        if !keyed {
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

fn is_set_by_flag(config: &Config, name: &str) -> bool {
    matches!(config.origin(name), ValueOrigin::Flag(_))
}

/// Returns the profiles of a role, separated by commas.
fn profile_names(config: &Config, role: ModelRole) -> &str {
    let mentors = config.text("run.mentor_profile");
    if role == ModelRole::Mentor && !mentors.is_empty() { mentors } else { config.text("run.profile") }
}

/// Returns whether any of the texts contains a secret of the configured model servers.
pub(super) fn contains_model_server_secret(config: &Config, texts: &[String]) -> bool {
    let variable = |name: &str| std::env::var(name).ok();
    let endpoint = |role| resolve_endpoint_with(config, role, "", None, &variable).ok();
    let mut endpoints: Vec<Endpoint> =
        [ModelRole::Actor, ModelRole::Mentor].into_iter().filter_map(endpoint).collect();
    // A key is secret even if no configured server would receive it.
    let keyed = |key| Endpoint { key: Some(key), ..Endpoint::new(DEFAULT_BASE_URL, "") };
    endpoints.extend(shared_options::read_key(config, &variable).ok().flatten().map(keyed));
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
    let mode = match config.text("run.cache") {
        "read" => CacheMode::Read,
        "read-write" => CacheMode::ReadWrite,
        _ => CacheMode::Off,
    };
    let identity = endpoint.identity();
    let provider: Arc<dyn Provider> = Arc::new(OpenAi::new(endpoint));
    Ok(match mode {
        CacheMode::Off => provider,
        _ => Arc::new(CachedProvider::new(provider, identity, &cache_folder(config), mode)),
    })
}

/// Returns the sources of replies that a person may use instead of a model's: a session by name or path, or the cached
/// replies of the role's model.
pub(super) fn reply_override(spec: &RunSpec, config: &Config) -> ReplyOverride {
    let (spec, config) = (spec.clone(), config.clone());
    Arc::new(move |role, source| {
        let driver_error = |error: CliError| DriverError::Refused(error.message, error.hint);
        if let Some(name) = source.strip_prefix("recorded:") {
            let role_name = role.name();
            let find = &mut |name: &str| {
                let opened = locate::open_session(&config, Some(name)).map_err(driver_error)?;
                Ok((opened.meta.session, opened.timeline))
            };
            return Ok(Arc::new(open_recording(role_name, name, find)?) as Arc<dyn Provider>);
        }
        let actor = if role == ModelRole::Actor { &spec.actor } else { &spec.mentor };
        let Some(model) = actor.strip_prefix("openai:").filter(|_| source == "cache") else {
            return Err(DriverError::Refused(
                format!("{source}: {actor} has no cached replies"),
                "take the reply from a recorded session".to_owned(),
            ));
        };
        cached_provider(&config, role, model, &spec.settings).map_err(driver_error)
    })
}

/// Returns a provider that reads only the cache of a role's model and never sends a request.
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
    config.path("cache").unwrap_or_else(|| {
        etcetera::choose_base_strategy()
            .map_or_else(|_| PathBuf::from("answers"), |s| s.cache_dir().join("retrospect").join("answers"))
    })
}

/// Returns the sampling parameters of an endpoint as recorded in the run's settings.
fn sampling_json(endpoint: &Endpoint, role: ModelRole) -> Value {
    let (sampling, number) = (&endpoint.sampling, |name: &str| endpoint.sampling_number(name));
    json!({
        "temperature": number("temperature"), "top_p": number("top_p"), "top_k": number("top_k").map(|k| k as u64),
        "repetition_penalty": number("repetition_penalty"), "max_tokens": endpoint.max_tokens(role), "seed": sampling.seed,
    })
}

/// Returns the server settings that a run lacks after its model was switched; all come from the profiles. A server that
/// cannot be resolved is skipped here and reported when it is called.
pub(super) fn missing_server_settings(spec: &RunSpec, config: &Config) -> Vec<(String, Setting)> {
    let mut noted = Vec::new();
    for (role, name) in [(ModelRole::Actor, &spec.actor), (ModelRole::Mentor, &spec.mentor)] {
        let Some(model) = name.strip_prefix("openai:") else { continue };
        let Ok(endpoint) = resolve_endpoint(config, role, model, Some(&spec.settings)) else { continue };
        for (part, value) in [
            ("base_url", json!(endpoint.display_url())),
            ("sampling", sampling_json(&endpoint, role)),
            ("unsent", json!(endpoint.unsent_settings())),
        ] {
            let setting = Setting { value, origin: SettingOrigin::Config };
            noted.push((format!("{}.{part}", role.name()), setting));
        }
    }
    noted
}

/// Records which servers a new run uses, without secrets.
pub(super) fn record_servers(
    config: &Config,
    actor: &str,
    mentor: &str,
    settings: &mut Settings,
) -> Result<(), CliError> {
    for (role, name) in [(ModelRole::Actor, actor), (ModelRole::Mentor, mentor)] {
        let Some(model) = name.strip_prefix("openai:") else { continue };
        let endpoint = resolve_endpoint(config, role, model, None)?;
        let role_name = role.name();
        let profile = profile_names(config, role);
        let from =
            if profile.is_empty() { config.origin("run.base_url") } else { config.origin("run.profile") };
        let from = setting_origin(from);
        let mut record = |name: &str, value: Value, from: SettingOrigin| {
            settings.set(&format!("{role_name}.{name}"), value, from);
        };
        record("base_url", json!(endpoint.display_url()), from);
        if !profile.is_empty() {
            record("profile", json!(profile), from);
        }
        if config.origin("run.api") != &ValueOrigin::Default {
            record("api", json!(config.text("run.api")), setting_origin(config.origin("run.api")));
        }
        record("sampling", sampling_json(&endpoint, role), SettingOrigin::Config);
        record("unsent", json!(endpoint.unsent_settings()), from);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
